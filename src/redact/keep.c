/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep.c - the allow list: for each file, the parts that probes need. */
#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "redact/keep-private.h"

char *keep_string(struct keeping *k, void (*put)(struct keeping *k, struct span text),
		  struct span text)
{
	FILE *out = k->out;
	char *made = NULL;
	size_t n;

	k->out = open_memstream(&made, &n);
	if (k->out) {
		put(k, text);
		if (fclose(k->out)) {
			free(made);
			made = NULL;
		}
	}
	k->out = out;
	return made;
}

static void keep_plain_text(struct keeping *k, struct span text)
{
	keep_as_it_is(k, text);
}

static void keep_bytes(struct keeping *k, struct span bytes)
{
	fwrite(bytes.p, 1, bytes.n, k->out);
}

/* ---- fields ---- */

#define FIELDS(scope, name, ...)                                          \
	scope void keep_##name(struct keeping *k, struct span text)       \
	{                                                                 \
		static const char *const names[] = { __VA_ARGS__, NULL }; \
		keep_fields(k, text, names);                              \
	}

FIELDS(static, cpuinfo, "processor", "vendor_id", "cpu family", "model", "model name", "stepping",
       "flags", "physical id", "cpu cores", "siblings", "CPU implementer", "CPU architecture",
       "CPU part", "CPU variant", "CPU revision")
FIELDS(static, meminfo, "MemTotal", "Node * MemTotal", "Hugepagesize", "HugePages_*")
FIELDS(static, stat, "btime *")
FIELDS(static, gpu_information, "Model", "IRQ", "GPU UUID", "Video BIOS", "Bus Type", "DMA Size",
       "DMA Mask", "Bus Location", "Device Minor", "GPU Firmware", "GPU Excluded")
FIELDS(, os_release, "ID", "ID_LIKE", "NAME", "PRETTY_NAME", "VERSION", "VERSION_ID",
       "VERSION_CODENAME", "VARIANT_ID")
FIELDS(static, uevent, "DRIVER", "PCI_*", "MODALIAS")

static void keep_ufw(struct keeping *k, struct span text)
{
	static const char *const names[] = { "ENABLED", NULL };

	keep_plain_fields(k, text, names);
}

static void keep_fabric(struct keeping *k, struct span text)
{
	static const char *const names[] = { "FABRIC_MODE", NULL };

	keep_plain_fields(k, text, names);
}

/* Keeps the description of software RDMA, which identifies it; for hardware it is the host's name. */
static void keep_node_description(struct keeping *k, struct span text)
{
	if (span_is(span_trim(text), "Software iWARP stack"))
		keep_as_it_is(k, text);
	else
		keep_instead(k, span_trim(text));
}

/* ---- the list ---- */

#define CONF_D(folder, keep)                                                              \
	{ "/etc/" folder, keep }, { "/run/" folder, keep }, { "/usr/lib/" folder, keep }, \
		{ "/usr/local/lib/" folder, keep },                                       \
	{                                                                                 \
		"/lib/" folder, keep                                                      \
	}

/* Finds the first row that matches; "*" matches anything but "/". */
static const struct {
	const char *path;
	void (*keep)(struct keeping *k, struct span text);
} kept[] = {
	{ "/proc/*/cgroup", keep_cgroup },
	{ "/proc/*/comm", keep_command_name },
	{ "/proc/*/limits", keep_plain_text },
	{ "/proc/*/loginuid", keep_login },
	{ "/proc/*/mounts", keep_mounts },
	{ "/proc/*/status", keep_status },
	{ "/proc/*/uid_map", keep_user_map },
	{ "/proc/2/task/2/children", keep_plain_text },
	{ "/proc/cmdline", keep_arguments },
	{ "/proc/cpuinfo", keep_cpuinfo },
	{ "/proc/device-tree/hypervisor/compatible", keep_plain_text },
	{ "/proc/device-tree/model", keep_plain_text },
	{ "/proc/devices", keep_plain_text },
	{ "/proc/driver/nvidia/gpus/*/information", keep_gpu_information },
	{ "/proc/driver/nvidia/params", keep_driver_params },
	{ "/proc/driver/nvidia/version", keep_driver_version },
	{ "/proc/iomem", keep_iomem },
	{ "/proc/meminfo", keep_meminfo },
	{ "/proc/modules", keep_modules },
	{ "/proc/mounts", keep_mounts },
	{ "/proc/net/fib_trie", keep_plain_text },
	{ "/proc/net/if_inet6", keep_inet6 },
	{ "/proc/net/route", keep_plain_text },
	{ "/proc/stat", keep_stat },
	{ "/proc/sys/fs/file-max", keep_plain_text },
	{ "/proc/sys/fs/inotify/max_user_instances", keep_plain_text },
	{ "/proc/sys/kernel/hostname", keep_hostname },
	{ "/proc/sys/kernel/*", keep_plain_text },
	{ "/proc/sys/kernel/*/*", keep_plain_text },
	{ "/proc/sys/net/*/*", keep_plain_text },
	{ "/proc/sys/net/ipv4/conf/*/*", keep_plain_text },
	{ "/proc/sys/user/*", keep_plain_text },
	{ "/proc/sys/vm/*", keep_plain_text },
	{ "/proc/xen/capabilities", keep_plain_text },
	{ "/sys/bus/pci/devices/*/config", keep_bytes },
	{ "/sys/bus/pci/devices/*/uevent", keep_uevent },
	{ "/sys/bus/pci/devices/*/*", keep_plain_text },
	{ "/sys/bus/pci/devices/*/drm/*/*/status", keep_plain_text },
	{ "/sys/bus/pci/devices/*/power/runtime_status", keep_plain_text },
	{ "/sys/class/dmi/id/*_vendor", keep_plain_text },
	{ "/sys/class/dmi/id/product_name", keep_plain_text },
	{ "/sys/class/dmi/id/product_version", keep_plain_text },
	{ "/sys/class/infiniband/*/node_desc", keep_node_description },
	{ "/sys/class/infiniband/*/*", keep_plain_text },
	{ "/sys/class/infiniband/*/ports/*/*", keep_plain_text },
	{ "/sys/class/infiniband/*/ports/*/*/*", keep_plain_text },
	{ "/sys/class/infiniband/*/ports/*/*/*/*", keep_plain_text },
	{ "/sys/class/infiniband/*/tc/*/traffic_class", keep_plain_text },
	{ "/sys/class/infiniband_verbs/*/ibdev", keep_plain_text },
	{ "/sys/class/net/*/carrier", keep_plain_text },
	{ "/sys/class/net/*/speed", keep_plain_text },
	{ "/sys/class/net/*/mtu", keep_plain_text },
	{ "/sys/class/net/*/operstate", keep_plain_text },
	{ "/sys/devices/system/clocksource/*/available_clocksource", keep_plain_text },
	{ "/sys/devices/system/cpu/*", keep_plain_text },
	{ "/sys/devices/system/cpu/*/topology/*", keep_plain_text },
	{ "/sys/devices/system/node/*/cpulist", keep_plain_text },
	{ "/sys/devices/system/node/*/meminfo", keep_meminfo },
	{ "/sys/firmware/acpi/tables/FACP", keep_bytes },
	{ "/sys/firmware/efi/efivars/Loader*", keep_efi_variable },
	{ "/sys/firmware/efi/efivars/SecureBoot-*", keep_bytes },
	{ "/sys/fs/selinux/booleans/*", keep_plain_text },
	{ "/sys/fs/selinux/enforce", keep_plain_text },
	{ "/sys/hypervisor/type", keep_plain_text },
	{ "/sys/kernel/iommu_groups/*/type", keep_plain_text },
	{ "/sys/kernel/mm/hugepages/*/nr_hugepages", keep_plain_text },
	{ "/sys/kernel/security/lockdown", keep_plain_text },
	{ "/sys/module/*/*", keep_plain_text },
	{ "/run/host/container-manager", keep_plain_text },
	{ "/run/systemd/container", keep_plain_text },
	{ "/boot/loader/entries/*", keep_bls },
	{ "/boot/efi/loader/entries/*", keep_bls },
	{ "/efi/loader/entries/*", keep_bls },
	{ "/boot/loader/loader.conf", keep_loader },
	{ "/boot/efi/loader/loader.conf", keep_loader },
	{ "/efi/loader/loader.conf", keep_loader },
	{ "/etc/driverctl.d/*", keep_driver },
	{ "/etc/default/grub", keep_shell },
	{ "/etc/default/grub.d/*", keep_shell },
	{ "/etc/tuned/bootcmdline", keep_shell },
	{ "/etc/kernel/cmdline", keep_argument_lines },
	{ "/usr/lib/kernel/cmdline", keep_argument_lines },
	{ "/etc/fstab", keep_mounts },
	{ "/etc/hosts", keep_hosts },
	{ "/etc/nsswitch.conf", keep_nsswitch },
	{ "/etc/ufw/ufw.conf", keep_ufw },
	{ "/etc/os-release", keep_os_release },
	{ "/usr/lib/os-release", keep_os_release },
	{ "/etc/ld.so.conf.d/*", keep_path_lines },
	{ "/etc/libibverbs.d/*", keep_path_lines },
	{ "/usr/local/etc/libibverbs.d/*", keep_path_lines },
	{ "/opt/*/etc/libibverbs.d/*", keep_path_lines },
	{ "/etc/modules", keep_module_names },
	{ "/etc/nvnodecheck.conf", keep_settings },
	{ "/etc/nvnodecheck.conf.d/*", keep_settings },
	{ "/etc/security/limits.conf", keep_limits },
	{ "/etc/security/limits.d/*", keep_limits },
	CONF_D("modprobe.d/*", keep_modprobe),
	{ "/lib/modules/*/modules.softdep", keep_modprobe },
	CONF_D("modules-load.d/*", keep_module_names),
	CONF_D("systemd/system.conf", keep_unit),
	CONF_D("systemd/system.conf.d/*", keep_unit),
	CONF_D("systemd/system/*", keep_unit),
	CONF_D("systemd/system/*.d/*", keep_unit),
	{ "/usr/lib/systemd/system-sleep/*", keep_uvm_names },
	{ "/usr/share/nvidia/nvswitch/fabricmanager.cfg", keep_fabric },
	{ "/run/nvidia/driver/usr/share/nvidia/nvswitch/fabricmanager.cfg", keep_fabric },
	{ "/usr/bin/ofed_info", keep_ofed_version },
	{ "/opt/mellanox/doca/applications/VERSION", keep_version },
};

/* The value of a variable, whose name gives its meaning. */
static const char module_parameter[] = "/sys/module/*/parameters/*";

static bool fits(const char *pattern, const char *path)
{
	return fnmatch(pattern, path, FNM_PATHNAME) == 0;
}

bool keep_text(struct keeping *k, const char *path, struct span text)
{
	/* These exist wherever CUDA and NVSHMEM were installed. */
	if (span_ends(span_of(path), "/version.json")) {
		keep_cuda_version(k, text);
		return true;
	}
	if (span_ends(span_of(path), "/nvshmem_version.h")) {
		keep_nvshmem_version(k, text);
		return true;
	}
	if (fits(module_parameter, path)) {
		keep_live_value(k, span_of(strrchr(path, '/') + 1), text);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		if (!fits(kept[i].path, path))
			continue;
		kept[i].keep(k, text);
		return true;
	}
	/* grub.cfg, and the files that it reads. */
	if (!span_starts(span_of(path), "/boot/"))
		return false;
	if (span_ends(span_of(path), "/grubenv"))
		keep_grubenv(k, text);
	else
		keep_grub(k, text);
	return true;
}

/* ---- words ---- */

/* Words that may stay in these files, in paths and in logs, in addition to the words of the list's own paths. */
static const char *const words[] = {
	"alias",    "amd64",	  "arm64",	 "blacklist",  "block",	    "bus",	"chosen",
	"command",  "core",	  "cpu",	 "cuda",       "debian",    "depends",	"devices",
	"dkms",	    "docker",	  "driver",	 "drivers",    "echo",	    "editenv",	"else",
	"env",	    "eth0",	  "ethernet",	 "export",     "extra",	    "fallback", "fedora",
	"file",	    "function",	  "gnu",	 "grub",       "grub2",	    "grubenv",	"cfg",
	"gpio",	    "gpu",	  "graphics",	 "h100",       "h200",	    "head",	"home",
	"host",	    "ib0",	  "id",		 "initramfs",  "initrd",    "insmod",	"install",
	"internal", "journal",	  "kernel",	 "lan",	       "link",	    "linux",	"list",
	"load",	    "local",	  "localdomain", "localhost",  "log",	    "machine",	"media",
	"mellanox", "menu",	  "menuentry",	 "mlx5",       "mlx5_core", "module",	"name",
	"network",  "next",	  "node",	 "none",       "nouveau",   "null",	"nvme",
	"nvswitch", "off",	  "opt",	 "options",    "path",	    "pci",	"pcieport",
	"platform", "prefix",	  "proc",	 "process",    "query",	    "quiet",	"rdma",
	"read",	    "recordfail", "redhat",	 "remove",     "rhel",	    "rocky",	"root",
	"run",	    "saved",	  "saved_entry", "next_entry", "search",    "serial",	"server",
	"service",  "set",	  "software",	 "source",     "srv",	    "src",	"state",
	"submenu",  "test",	  "text",	 "then",       "timeout",   "tmp",	"true",
	"type",	    "ubuntu",	  "unix",	 "unset",      "updates",   "user",	"var",
	"virtual",  "vmlinux",	  "vmlinuz",	 "xid",	       "com",	    "net",	"org",
	NULL,
};

static bool same_word(struct span a, struct span b)
{
	return a.n == b.n && strncasecmp(a.p, b.p, b.n) == 0;
}

/* Returns true if NAME is one of the words of a path in the list. */
static bool is_in_path(struct span name, struct span path)
{
	while (path.n) {
		size_t n = 0;

		while (n < path.n && (isalnum((unsigned char)path.p[n]) || path.p[n] == '_'))
			n++;
		if (same_word(name, (struct span){ path.p, n }))
			return true;
		n += n < path.n;
		path = (struct span){ path.p + n, path.n - n };
	}
	return false;
}

bool keep_is_word(struct span name)
{
	if (name.n < 3 || !isalnum((unsigned char)name.p[0]))
		return true;
	for (size_t i = 0; words[i]; i++)
		if (same_word(name, span_of(words[i])))
			return true;
	if (is_in_path(name, span_of(module_parameter)))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		if (is_in_path(name, span_of(kept[i].path)))
			return true;
	return false;
}
