/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-services.c - the descriptions of the structs in facts-services.h, innermost first. */
#include "facts/facts.h"

const char *const licence_state_words[] = {
	[LICENCE_ACQUIRED] = "acquired",
	[LICENCE_FAILED] = "failed",
	[LICENCE_NOT_CONFIGURED] = "not-configured",
	NULL,
};

static const struct field service_line_fields[] = {
	F_STR(service_line, text, NULL),
	F_STR(service_line, file, NULL),
};
static const struct desc service_line_desc = DESC(service_line, .ordered = true);

static const struct field service_fields[] = {
	F_STR(service, unit, NULL),
	F_STR(service, load, NULL),
	F_STR(service, active, NULL),
	F_STR(service, enabled, NULL),
	F_U64(service, started_ms, "/proc"),
	F_STR(service, result, NULL),
	F_U64(service, exit_status, NULL),
	F_U64(service, restarts, NULL),
	F_STR(service, program, NULL),
	F_STRS(service, missing_libraries, NULL),
	F_LIST(service, last_lines, service_line_desc, NULL),
};
const struct desc service_desc = DESC(service);

static const struct field services_facts_fields[] = {
	F_BOOL(services_facts, manager, "/run/systemd/system"),
	F_LIST(services_facts, units, service_desc, "/etc/systemd/system"),
	F_U64(services_facts, gpu_held_since_ms, "/proc"),
	F_STR(services_facts, driver_container, "/run/nvidia/driver"),
	F_U64(services_facts, fabric_mode, "/usr/share/nvidia/nvswitch/fabricmanager.cfg"),
	F_STRS(services_facts, uvm_sleep_hooks, "/usr/lib/systemd/system-sleep"),
	F_ENUM(services_facts, licence, licence_state_words, NULL),
};
const struct desc services_facts_desc = DESC(services_facts);

static const struct field mps_daemon_fields[] = {
	F_U64(mps_daemon, pid, NULL),
	F_U64(mps_daemon, uid, "/proc/{0}/status"),
	F_BOOL(mps_daemon, elsewhere, "/proc/{0}/ns/mnt"),
	F_BOOL(mps_daemon, is_default, "/proc/{0}/environ"),
	F_BOOL(mps_daemon, is_jobs, "/proc/{0}/environ"),
};
static const struct desc mps_daemon_desc = DESC(mps_daemon);

static const struct field mps_facts_fields[] = {
	F_LIST(mps_facts, daemons, mps_daemon_desc, "/proc"),
	F_BOOL(mps_facts, has_control, NULL),
};
const struct desc mps_facts_desc = DESC(mps_facts);
