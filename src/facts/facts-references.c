/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-references.c - the descriptions of the structs in facts-references.h, innermost first. */
#include "facts/facts.h"

const char *const reference_format_words[] = {
	[REFERENCE_CDI] = "cdi",
	[REFERENCE_TOOLKIT] = "toolkit",
	[REFERENCE_ENGINE] = "engine",
	[REFERENCE_GRES] = "gres",
	[REFERENCE_MODULES_LOAD] = "modules-load",
	[REFERENCE_MODPROBE] = "modprobe",
	[REFERENCE_SYSCTL] = "sysctl",
	[REFERENCE_UDEV] = "udev",
	[REFERENCE_UNIT] = "unit",
	[REFERENCE_IMEX] = "imex",
	[REFERENCE_FABRIC] = "fabric",
	[REFERENCE_ENVIRONMENT] = "environment",
	[REFERENCE_SPANK] = "spank",
	[REFERENCE_TOPOLOGY] = "topology",
	[REFERENCE_LXC] = "lxc",
	[REFERENCE_NUMBERS] = "numbers",
	[REFERENCE_LIMITS] = "limits",
	[REFERENCE_REGISTERS] = "registers",
	NULL,
};
const char *const reference_kind_words[] = {
	[REFERENCE_DEVICE] = "device",
	[REFERENCE_FILE] = "file",
	[REFERENCE_PROGRAM] = "program",
	[REFERENCE_LIBRARY] = "library",
	[REFERENCE_MODULE] = "module",
	[REFERENCE_INTERFACE] = "interface",
	[REFERENCE_FUNCTION] = "function",
	[REFERENCE_ADDRESS] = "address",
	[REFERENCE_SETTING] = "setting",
	[REFERENCE_USER] = "user",
	[REFERENCE_PROCESSOR] = "processor",
	[REFERENCE_AMOUNT] = "amount",
	[REFERENCE_RUNTIME] = "runtime",
	[REFERENCE_DRIVER] = "driver",
	[REFERENCE_VALUE] = "value",
	[REFERENCE_REGISTER] = "register",
	NULL,
};

static const struct field reference_fields[] = {
	F_STR(reference, name, NULL),
	F_ENUM(reference, kind, reference_kind_words, NULL),
	F_ENUM(reference, format, reference_format_words, NULL),
	F_STR(reference, role, NULL),
	F_STR(reference, claim, NULL),
	F_STR(reference, found, NULL),
	F_STR(reference, file, NULL),
	F_U64(reference, line, NULL),
};
static const struct desc reference_desc = DESC(reference, .ordered = true);

static const struct field reference_file_fields[] = {
	F_STR(reference_file, path, NULL),
	F_ENUM(reference_file, format, reference_format_words, "{0}"),
	F_BOOL(reference_file, complete, "{0}"),
	F_BOOL(reference_file, compared, "{0}"),
};
static const struct desc reference_file_desc = DESC(reference_file);

static const struct field gres_record_fields[] = {
	F_STR(gres_record, type, NULL),	 F_U64(gres_record, devices, NULL),
	F_U64(gres_record, count, NULL), F_STR(gres_record, repeated, NULL),
	F_STR(gres_record, file, NULL),	 F_U64(gres_record, line, NULL),
};
static const struct desc gres_record_desc = DESC(gres_record, .ordered = true);

const char *const conf_format_words[] = {
	[CONF_SLURM] = "slurm",	  [CONF_GRES] = "gres",	      [CONF_CGROUP] = "cgroup",
	[CONF_DOCKER] = "docker", [CONF_TOOLKIT] = "toolkit", [CONF_CONTAINERD] = "containerd",
	[CONF_UNIT] = "unit",	  [CONF_LIMITS] = "limits",   NULL,
};
const char *const conf_fault_kind_words[] = {
	[CONF_SYNTAX] = "syntax",
	[CONF_UNKNOWN] = "unknown",
	[CONF_PLACE] = "place",
	[CONF_TYPE] = "type",
	[CONF_RELEASE] = "release",
	[CONF_TWICE] = "twice",
	NULL,
};

static const struct field conf_fault_fields[] = {
	F_STR(conf_fault, file, NULL),
	F_U64(conf_fault, line, NULL),
	F_ENUM(conf_fault, format, conf_format_words, NULL),
	F_ENUM(conf_fault, kind, conf_fault_kind_words, NULL),
	F_STR(conf_fault, section, NULL),
	F_STR(conf_fault, key, NULL),
	F_STR(conf_fault, value, NULL),
	F_STR(conf_fault, wanted, NULL),
	F_STR(conf_fault, since, NULL),
	F_STR(conf_fault, gone, NULL),
};
static const struct desc conf_fault_desc = DESC(conf_fault, .ordered = true);

static const struct field skipped_file_fields[] = {
	F_STR(skipped_file, path, NULL),
	F_STR(skipped_file, reader, NULL),
	F_STR(skipped_file, ending, NULL),
};
static const struct desc skipped_file_desc = DESC(skipped_file);

static const struct field references_facts_fields[] = {
	F_LIST(references_facts, files, reference_file_desc, "/etc"),
	F_LIST(references_facts, items, reference_desc, "/etc"),
	F_LIST(references_facts, gres, gres_record_desc, "/etc"),
	F_LIST(references_facts, faults, conf_fault_desc, "/etc"),
	F_LIST(references_facts, skipped, skipped_file_desc, "/etc"),
	F_BOOL(references_facts, complete, "/etc"),
};
const struct desc references_facts_desc = DESC(references_facts);
