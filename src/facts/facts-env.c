/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-env.c - the descriptions of the structs in facts-env.h, innermost first. */
#include "facts/facts.h"

const char *const folder_access_words[] = {
	[FOLDER_WRITABLE] = "writable",	  [FOLDER_FULL] = "full",
	[FOLDER_REFUSED] = "refused",	  [FOLDER_READ_ONLY] = "read-only",
	[FOLDER_NO_FOLDER] = "no-folder", NULL,
};
const char *const seccomp_mode_words[] = {
	[SECCOMP_DISABLED] = "disabled",
	[SECCOMP_STRICT] = "strict",
	[SECCOMP_FILTER] = "filter",
	NULL,
};

static const struct field env_variable_fields[] = {
	F_STR(env_variable, name, NULL),
	F_STR(env_variable, value, NULL),
	F_STR(env_variable, file, "/etc/environment"),
	F_U64(env_variable, line, NULL),
};
static const struct desc env_variable_desc = DESC(env_variable);

static const struct field env_setting_fields[] = {
	F_STR(env_setting, name, NULL),
	F_STR(env_setting, value, NULL),
	F_STR(env_setting, file, NULL),
	F_U64(env_setting, line, NULL),
};
static const struct desc env_setting_desc = DESC(env_setting, .ordered = true);

static const struct field env_facts_fields[] = {
	F_U64(env_facts, pid, NULL),
	F_U64(env_facts, uid, "/proc/self/status"),
	F_U64(env_facts, login_uid, "/proc/self/loginuid"),
	F_HEX(env_facts, capabilities, "/proc/self/status"),
	F_HEX(env_facts, bounding, "/proc/self/status"),
	F_ENUM(env_facts, seccomp, seccomp_mode_words, "/proc/self/status"),
	F_STR(env_facts, cpus, "/proc/self/status"),
	F_BOOL(env_facts, initial_user_namespace, "/proc/self/uid_map"),
	F_STR(env_facts, container, "/proc/self/cgroup"),
	F_LIST(env_facts, variables, env_variable_desc, "/proc/self/environ"),
	F_STRS(env_facts, nccl, "/proc"),
	F_LIST(env_facts, nccl_conf, env_setting_desc, "/etc/nccl.conf"),
	F_LIST(env_facts, nvshmem_conf, env_setting_desc, "/etc/nvshmem.conf"),
	F_STR(env_facts, nccl_topology, NULL),
	F_ENUM(env_facts, deepep_cache, folder_access_words, NULL),
};
const struct desc env_facts_desc = DESC(env_facts);
