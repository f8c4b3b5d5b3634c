/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-containers.c - the descriptions of the structs in facts-containers.h, innermost first. */
#include "facts/facts.h"

static const struct field cdi_spec_fields[] = {
	F_STR(cdi_spec, path, NULL),
	F_STR(cdi_spec, driver_version, "{0}"),
	F_STR(cdi_spec, cdi_version, "{0}"),
};
static const struct desc cdi_spec_desc = DESC(cdi_spec);

static const struct field engine_config_fields[] = {
	F_STR(engine_config, path, NULL),
	F_BOOL(engine_config, nvidia, "{0}"),
};
static const struct desc engine_config_desc = DESC(engine_config);

static const struct field engine_message_fields[] = {
	F_STR(engine_message, program, NULL), F_STR(engine_message, text, NULL),
	F_STR(engine_message, time, NULL),    F_U64(engine_message, count, NULL),
	F_STR(engine_message, file, NULL),
};
static const struct desc engine_message_desc = DESC(engine_message, .ordered = true);

static const struct field containers_facts_fields[] = {
	F_STR(containers_facts, toolkit, "/usr/bin"),
	F_BOOL(containers_facts, no_cgroups, "/etc/nvidia-container-runtime/config.toml"),
	F_BOOL(containers_facts, cgroup2, "/proc/self/cgroup"),
	F_BOOL(containers_facts, selinux_enforcing, "/sys/fs/selinux/enforce"),
	F_BOOL(containers_facts, container_use_devices,
	       "/sys/fs/selinux/booleans/container_use_devices"),
	F_BOOL(containers_facts, kubelet_uses_docker, "/var/lib/kubelet"),
	F_LIST(containers_facts, cdi, cdi_spec_desc, "/etc/cdi"),
	F_LIST(containers_facts, configs, engine_config_desc, "/etc"),
	F_STR(containers_facts, kubelet, "/var/lib/kubelet"),
	F_STRS(containers_facts, kubelet_plugins, "/var/lib/kubelet/plugins"),
	F_STRS(containers_facts, device_plugins, "/var/lib/kubelet/device-plugins"),
	F_BOOL(containers_facts, gpu_resource,
	       "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"),
	F_STRS(containers_facts, rootless, "/proc"),
	F_STRS(containers_facts, docker_desktop, "/home"),
	F_LIST(containers_facts, messages, engine_message_desc, "/var/log"),
};
const struct desc containers_facts_desc = DESC(containers_facts);
