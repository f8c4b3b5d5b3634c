/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-log.c - the descriptions of the structs of the log in facts.h, and of those in facts-failures.h, innermost first. */
#include "facts/facts.h"

static const struct field log_subject_fields[] = {
	F_STR(log_subject, name, NULL),	    F_U64(log_subject, count, NULL),
	F_STR(log_subject, first, NULL),    F_STR(log_subject, last, NULL),
	F_U64(log_subject, first_us, NULL), F_U64(log_subject, last_us, NULL),
};
static const struct desc log_subject_desc = DESC(log_subject);

static const struct field log_line_fields[] = {
	F_STR(log_line, pattern, NULL),
	F_U64(log_line, count, NULL),
	F_STR(log_line, first, NULL),
	F_STR(log_line, last, NULL),
	F_U64(log_line, first_us, NULL),
	F_U64(log_line, last_us, NULL),
	F_LIST(log_line, devices, log_subject_desc, NULL),
	F_LIST(log_line, modules, log_subject_desc, NULL),
};
static const struct desc log_line_desc = DESC(log_line);

const char *const failure_kind_words[] = {
	[FAILURE_UNKNOWN_SYMBOL] = "unknown-symbol",
	[FAILURE_SYMBOL_VERSION] = "symbol-version",
	[FAILURE_NAMESPACE] = "namespace",
	[FAILURE_LICENSE] = "license",
	[FAILURE_SYMBOL_GET] = "symbol-get",
	[FAILURE_DUPLICATE_SYMBOL] = "duplicate-symbol",
	[FAILURE_VERSION_MAGIC] = "version-magic",
	[FAILURE_SIGNATURE] = "signature",
	[FAILURE_BLACKLISTED] = "blacklisted",
	[FAILURE_PARAMETER] = "parameter",
	[FAILURE_KERNEL_PARAMETERS] = "kernel-parameters",
	[FAILURE_KERNEL_ARGUMENT] = "kernel-argument",
	[FAILURE_PROBE] = "probe",
	[FAILURE_FIRMWARE] = "firmware",
	[FAILURE_DEVICE] = "device",
	[FAILURE_CRASH] = "crash",
	NULL,
};

static const struct field log_failure_fields[] = {
	F_STR(log_failure, subject, NULL),  F_ENUM(log_failure, kind, failure_kind_words, NULL),
	F_STR(log_failure, module, NULL),   F_STR(log_failure, device, NULL),
	F_STRS(log_failure, details, NULL), F_U64(log_failure, error, NULL),
	F_U64(log_failure, count, NULL),    F_STR(log_failure, last, NULL),
	F_U64(log_failure, first_us, NULL), F_U64(log_failure, last_us, NULL),
};
static const struct desc log_failure_desc = DESC(log_failure, .ordered = true);

static const struct field log_message_fields[] = {
	F_STR(log_message, text, NULL),	    F_STR(log_message, driver, NULL),
	F_U64(log_message, level, NULL),    F_U64(log_message, count, NULL),
	F_U64(log_message, first_us, NULL), F_U64(log_message, last_us, NULL),
};
static const struct desc log_message_desc = DESC(log_message, .ordered = true);

const char *const denial_policy_words[] = {
	[POLICY_SELINUX] = "selinux",
	[POLICY_APPARMOR] = "apparmor",
	NULL,
};

static const struct field log_denial_fields[] = {
	F_STR(log_denial, target, NULL), F_ENUM(log_denial, policy, denial_policy_words, NULL),
	F_STR(log_denial, action, NULL), F_STR(log_denial, program, NULL),
	F_STR(log_denial, domain, NULL), F_STR(log_denial, label, NULL),
	F_STR(log_denial, class, NULL),	 F_U64(log_denial, count, NULL),
	F_STR(log_denial, record, NULL),
};
static const struct desc log_denial_desc = DESC(log_denial, .ordered = true);

static const struct field log_facts_fields[] = {
	F_STR(log_facts, source, "/dev/kmsg"),
	F_BOOL(log_facts, complete, "/dev/kmsg"),
	F_LIST(log_facts, lines, log_line_desc, "/dev/kmsg"),
	F_LIST(log_facts, failures, log_failure_desc, "/dev/kmsg"),
	F_LIST(log_facts, unexplained, log_message_desc, "/dev/kmsg"),
	F_LIST(log_facts, denials, log_denial_desc, "/var/log/audit/audit.log"),
};
const struct desc log_facts_desc = DESC(log_facts);
