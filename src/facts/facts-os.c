/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-os.c - the descriptions of the structs of os and numa, innermost first. */
#include "facts/facts.h"

static const struct field kernel_option_fields[] = {
	F_STR(kernel_option, name, NULL),
	F_STR(kernel_option, value, NULL),
};
static const struct desc kernel_option_desc = DESC(kernel_option);

static const struct field sysctl_fields[] = {
	F_STR(sysctl, name, NULL),
	F_STR(sysctl, value, "/proc/sys/{0/}"),
};
static const struct desc sysctl_desc = DESC(sysctl);

const char *const sysctl_names[] = { "fs.file-max",
				     "fs.inotify.max_user_instances",
				     "kernel.apparmor_restrict_unprivileged_userns",
				     "kernel.modules_disabled",
				     "kernel.numa_balancing",
				     "kernel.pid_max",
				     "kernel.shmmax",
				     "kernel.threads-max",
				     "kernel.unprivileged_userns_clone",
				     "kernel.yama.ptrace_scope",
				     "net.core.rmem_max",
				     "net.core.wmem_max",
				     "net.ipv4.conf.all.arp_announce",
				     "net.ipv4.conf.all.arp_ignore",
				     "net.ipv4.conf.all.rp_filter",
				     "user.max_user_namespaces",
				     "vm.max_map_count",
				     "vm.nr_hugepages",
				     "vm.overcommit_memory",
				     "vm.zone_reclaim_mode",
				     NULL };

static const struct field hugepages_fields[] = {
	F_U64(hugepages, size_bytes, NULL),
	F_U64(hugepages, pages, "/sys/kernel/mm/hugepages"),
};
static const struct desc hugepages_desc = DESC(hugepages);

static const struct field mount_point_fields[] = {
	F_STR(mount_point, point, NULL),
	F_STR(mount_point, type, "/proc/self/mountinfo"),
	F_STR(mount_point, source, "/proc/self/mountinfo"),
	F_STR(mount_point, options, "/proc/self/mountinfo"),
};
static const struct desc mount_point_desc = DESC(mount_point);

static const struct field os_facts_fields[] = {
	F_STR(os_facts, hostname, "/proc/sys/kernel/hostname"),
	F_STR(os_facts, id, "/etc/os-release"),
	F_STR(os_facts, like, "/etc/os-release"),
	F_STR(os_facts, version, "/etc/os-release"),
	F_STR(os_facts, name, "/etc/os-release"),
	F_STR(os_facts, kernel, "/proc/sys/kernel/osrelease"),
	F_STR(os_facts, next_boot, "/lib/modules"),
	F_STR(os_facts, machine, "/proc/cpuinfo"),
	F_STR(os_facts, boot_id, "/proc/sys/kernel/random/boot_id"),
	F_U64(os_facts, boot_time_s, "/proc/stat"),
	F_U64(os_facts, observed_time_s, NULL),
	F_U64(os_facts, observed_uid, NULL),
	F_STR(os_facts, cpu_vendor, "/proc/cpuinfo"),
	F_STR(os_facts, cpu_model, "/proc/cpuinfo"),
	F_U64(os_facts, cpu_family, "/proc/cpuinfo"),
	F_U64(os_facts, cpu_model_number, "/proc/cpuinfo"),
	F_U64(os_facts, cpus, "/sys/devices/system/cpu/online"),
	F_BOOL(os_facts, cpu_ibt, "/proc/cpuinfo"),
	F_U64(os_facts, memory_bytes, "/proc/meminfo"),
	F_STR(os_facts, hypervisor, "/proc/cpuinfo"),
	F_STR(os_facts, product, "/sys/class/dmi/id/product_name"),
	F_STR(os_facts, cloud, "/sys/class/dmi/id/chassis_asset_tag"),
	F_STR(os_facts, container, "/proc/1/environ"),
	F_BOOL(os_facts, secure_boot,
	       "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"),
	F_STR(os_facts, lockdown, "/sys/kernel/security/lockdown"),
	F_STR(os_facts, image_based, "/run/ostree-booted"),
	F_STRS(os_facts, apparmor_profiles, "/etc/apparmor.d"),
	F_LIST(os_facts, kernel_config, kernel_option_desc, "/boot"),
	F_LIST(os_facts, sysctls, sysctl_desc, "/proc/sys"),
	F_LIST(os_facts, hugepages, hugepages_desc, "/sys/kernel/mm/hugepages"),
	F_LIST(os_facts, mounts, mount_point_desc, "/proc/self/mountinfo"),
};
const struct desc os_facts_desc = DESC(os_facts);

static const struct field numa_node_fields[] = {
	F_U64(numa_node, id, NULL),
	F_STR(numa_node, cpus, "/sys/devices/system/node/node{0}/cpulist"),
	F_U64(numa_node, memory_bytes, "/sys/devices/system/node/node{0}/meminfo"),
	F_U64(numa_node, socket, "/sys/devices/system/cpu"),
};
static const struct desc numa_node_desc = DESC(numa_node);

static const struct field numa_facts_fields[] = {
	F_LIST(numa_facts, nodes, numa_node_desc, "/sys/devices/system/node"),
};
const struct desc numa_facts_desc = DESC(numa_facts);
