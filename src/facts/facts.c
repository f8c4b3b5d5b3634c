/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts.c - descriptions of structs of the data model, innermost first, and of the whole node; other sections have facts-NAME.c. */
#include "facts/facts.h"

#define PCI "/sys/bus/pci/devices/{0}/"

const char *const path_class_words[] = {
	[PATH_PIX] = "PIX",   [PATH_PXB] = "PXB", [PATH_PHB] = "PHB",
	[PATH_NODE] = "NODE", [PATH_SYS] = "SYS", NULL,
};
const char *const nic_role_words[] = {
	[NIC_COMPUTE] = "compute",
	[NIC_STORAGE] = "storage",
	[NIC_MANAGEMENT] = "management",
	NULL,
};
const char *const driver_flavour_words[] = {
	[FLAVOUR_OPEN] = "open",
	[FLAVOUR_PROPRIETARY] = "proprietary",
	NULL,
};
const char *const module_state_words[] = {
	[MODULE_LIVE] = "live",
	[MODULE_LOADING] = "loading",
	[MODULE_UNLOADING] = "unloading",
	[MODULE_BUILTIN] = "builtin",
	NULL,
};
const char *const boot_loader_words[] = {
	[BOOT_GRUB] = "grub",
	[BOOT_GRUB_BLS] = "grub-bls",
	[BOOT_SYSTEMD_BOOT] = "systemd-boot",
	[BOOT_UKI] = "uki",
	NULL,
};
const char *const device_node_type_words[] = {
	[DEVICE_NODE_CHARACTER] = "character",
	[DEVICE_NODE_BLOCK] = "block",
	[DEVICE_NODE_FILE] = "file",
	[DEVICE_NODE_FOLDER] = "folder",
	[DEVICE_NODE_LINK] = "link",
	[DEVICE_NODE_OTHER] = "other",
	NULL,
};
const char *const probe_state_words[] = {
	[PROBE_OK] = "ok",
	[PROBE_PARTIAL] = "partial",
	[PROBE_FAILED] = "failed",
	[PROBE_TIMED_OUT] = "timed-out",
	NULL,
};

/* ---- topology, gpu ---- */

static const struct field topology_path_fields[] = {
	F_STR(topology_path, bdf, NULL),
	F_ENUM(topology_path, class, path_class_words, NULL),
	F_U64(topology_path, ports, NULL),
	F_BOOL(topology_path, redirected, NULL),
};
static const struct desc topology_path_desc = DESC(topology_path);

static const struct field topology_gpu_fields[] = {
	F_STR(topology_gpu, bdf, NULL),
	F_LIST(topology_gpu, gpus, topology_path_desc, NULL),
	F_LIST(topology_gpu, nics, topology_path_desc, NULL),
	F_STRS(topology_gpu, nearest_nics, NULL),
	F_STR(topology_gpu, nearest_nic, NULL),
};
static const struct desc topology_gpu_desc = DESC(topology_gpu);

static const struct field topology_nic_fields[] = {
	F_STR(topology_nic, bdf, NULL),
	F_ENUM(topology_nic, role, nic_role_words, NULL),
};
static const struct desc topology_nic_desc = DESC(topology_nic);

static const struct field topology_facts_fields[] = {
	F_LIST(topology_facts, gpus, topology_gpu_desc, "/sys/bus/pci/devices"),
	F_LIST(topology_facts, nics, topology_nic_desc, "/sys/bus/pci/devices"),
};
const struct desc topology_facts_desc = DESC(topology_facts);

#define INFORMATION "/proc/driver/nvidia/gpus/{0}/information"

static const struct field gpu_fields[] = {
	F_STR(gpu, bdf, NULL),
	F_STR(gpu, model, INFORMATION),
	F_STR(gpu, uuid, INFORMATION),
	F_U64(gpu, minor, INFORMATION),
	F_STR(gpu, firmware, INFORMATION),
	F_STR(gpu, video_bios, INFORMATION),
	F_BOOL(gpu, excluded, INFORMATION),
	F_U64(gpu, mig_instances, "/proc/driver/nvidia/capabilities"),
	F_U64(gpu, dma_bits, "/proc/driver/nvidia/gpus/{0}/information"),
	F_STRS(gpu, displays, PCI "drm"),
};
static const struct desc gpu_desc = DESC(gpu);

static const struct field gpu_facts_fields[] = {
	F_LIST(gpu_facts, devices, gpu_desc, "/sys/bus/pci/devices"),
};
static const struct desc gpu_facts_desc = DESC(gpu_facts);

/* ---- driver, modules ---- */

static const struct field driver_param_fields[] = {
	F_STR(driver_param, name, NULL),
	F_STR(driver_param, value, NULL),
	F_U64(driver_param, line, NULL),
};
static const struct desc driver_param_desc = DESC(driver_param, .ordered = true, .distinct = true);

static const struct field driver_facts_fields[] = {
	F_BOOL(driver_facts, loaded, "/sys/module/nvidia"),
	F_STR(driver_facts, version, "/proc/driver/nvidia/version"),
	F_ENUM(driver_facts, flavour, driver_flavour_words, "/proc/driver/nvidia/version"),
	F_STR(driver_facts, builder, "/proc/driver/nvidia/version"),
	F_STR(driver_facts, banner, "/proc/driver/nvidia/version"),
	F_LIST(driver_facts, params, driver_param_desc, "/proc/driver/nvidia/params"),
	F_STRS(driver_facts, gsp_firmware, "/lib/firmware/nvidia"),
	F_STR(driver_facts, installer_error, "/var/log/nvidia-installer.log"),
	F_STR(driver_facts, installer_version, "/var/log/nvidia-installer.log"),
};
const struct desc driver_facts_desc = DESC(driver_facts);

static const struct field module_param_fields[] = {
	F_STR(module_param, name, NULL),
	F_STR(module_param, value, "/sys/module/{0}/parameters/{1}"),
};
static const struct desc module_param_desc = DESC(module_param);

static const struct field module_fields[] = {
	F_STR(module, name, NULL),
	F_ENUM(module, state, module_state_words, "/proc/modules"),
	F_U64(module, refcnt, "/proc/modules"),
	F_STRS(module, holders, "/proc/modules"),
	F_STR(module, version, "/sys/module/{0}/version"),
	F_STR(module, srcversion, "/sys/module/{0}/srcversion"),
	F_STR(module, taint, "/sys/module/{0}/taint"),
	F_LIST(module, params, module_param_desc, "/sys/module/{0}/parameters"),
};
static const struct desc module_desc = DESC(module);

static const struct field module_symbol_fields[] = {
	F_STR(module_symbol, name, NULL),
	F_HEX(module_symbol, crc, NULL),
};
static const struct desc module_symbol_desc = DESC(module_symbol);

static const struct field module_file_fields[] = {
	F_STR(module_file, path, NULL),
	F_STR(module_file, name, "{0}"),
	F_STR(module_file, file_name, "{0}"),
	F_STR(module_file, kernel, "{0}"),
	F_BOOL(module_file, indexed, "{0}"),
	F_STR(module_file, version, "{0}"),
	F_STR(module_file, srcversion, "{0}"),
	F_STR(module_file, vermagic, "{0}"),
	F_STR(module_file, license, "{0}"),
	F_STR(module_file, description, "{0}"),
	F_STR(module_file, signer, "{0}"),
	F_STRS(module_file, depends, "{0}"),
	F_STRS(module_file, parameters, "{0}"),
	F_STRS(module_file, parameter_types, "{0}"),
	F_LIST(module_file, imports, module_symbol_desc, "{0}"),
	F_LIST(module_file, exports, module_symbol_desc, "{0}"),
	F_STRS(module_file, looked_up, NULL),
};
const struct desc module_file_desc = DESC(module_file);

static const struct field kernel_tree_fields[] = {
	F_STR(kernel_tree, release, NULL),
	F_BOOL(kernel_tree, indexed, "/lib/modules/{0}/modules.dep"),
};
static const struct desc kernel_tree_desc = DESC(kernel_tree);

static const struct field module_at_boot_fields[] = {
	F_STR(module_at_boot, name, NULL),
	F_STR(module_at_boot, file, NULL),
	F_U64(module_at_boot, line, NULL),
};
static const struct desc module_at_boot_desc = DESC(module_at_boot, .ordered = true);

static const struct field module_view_fields[] = {
	F_STR(module_view, name, NULL),
	F_ENUM(module_view, libkmod, module_state_words, NULL),
	F_ENUM(module_view, file, module_state_words, NULL),
};
static const struct desc module_view_desc = DESC(module_view);

static const struct field modules_facts_fields[] = {
	F_LIST(modules_facts, loaded, module_desc, "/proc/modules"),
	F_LIST(modules_facts, views, module_view_desc, "libkmod"),
	F_LIST(modules_facts, kernels, kernel_tree_desc, "/lib/modules"),
	F_LIST(modules_facts, files, module_file_desc, "/lib/modules"),
	F_LIST(modules_facts, at_boot, module_at_boot_desc, "/etc/modules-load.d"),
};
const struct desc modules_facts_desc = DESC(modules_facts);

/* ---- modprobe, initramfs ---- */

static const struct field modprobe_file_fields[] = {
	F_STR(modprobe_file, path, NULL),
	F_STR(modprobe_file, masked_by, NULL),
	F_STRS(modprobe_file, lost, NULL),
	F_U64(modprobe_file, mtime_s, NULL),
};
static const struct desc modprobe_file_desc = DESC(modprobe_file, .ordered = true,
						   .distinct = true);

static const struct field modprobe_options_fields[] = {
	F_STR(modprobe_options, module, NULL),
	F_STR(modprobe_options, text, NULL),
	F_STR(modprobe_options, file, NULL),
	F_U64(modprobe_options, line, NULL),
};
static const struct desc modprobe_options_desc = DESC(modprobe_options, .ordered = true);

static const struct field modprobe_assignment_fields[] = {
	F_STR(modprobe_assignment, module, NULL), F_STR(modprobe_assignment, param, NULL),
	F_STR(modprobe_assignment, value, NULL),  F_BOOL(modprobe_assignment, effective, NULL),
	F_STR(modprobe_assignment, file, NULL),	  F_U64(modprobe_assignment, line, NULL),
};
static const struct desc modprobe_assignment_desc = DESC(modprobe_assignment, .ordered = true);

static const struct field modprobe_command_fields[] = {
	F_STR(modprobe_command, module, NULL),
	F_STR(modprobe_command, text, NULL),
	F_STR(modprobe_command, file, NULL),
	F_U64(modprobe_command, line, NULL),
};
static const struct desc modprobe_command_desc = DESC(modprobe_command, .ordered = true);

static const struct field modprobe_bad_line_fields[] = {
	F_STR(modprobe_bad_line, text, NULL),
	F_STR(modprobe_bad_line, why, NULL),
	F_STR(modprobe_bad_line, file, NULL),
	F_U64(modprobe_bad_line, line, NULL),
};
static const struct desc modprobe_bad_line_desc = DESC(modprobe_bad_line, .ordered = true);

static const struct field modprobe_facts_fields[] = {
	F_BOOL(modprobe_facts, complete, "/etc/modprobe.d"),
	F_BOOL(modprobe_facts, etc_complete, "/etc/modprobe.d"),
	F_LIST(modprobe_facts, files, modprobe_file_desc, "/etc/modprobe.d"),
	F_LIST(modprobe_facts, options, modprobe_options_desc, "/etc/modprobe.d"),
	F_LIST(modprobe_facts, assignments, modprobe_assignment_desc, "/etc/modprobe.d"),
	F_LIST(modprobe_facts, blacklist, modprobe_command_desc, "/etc/modprobe.d"),
	F_LIST(modprobe_facts, install, modprobe_command_desc, "/etc/modprobe.d"),
	F_LIST(modprobe_facts, remove, modprobe_command_desc, "/etc/modprobe.d"),
	F_LIST(modprobe_facts, alias, modprobe_command_desc, "/etc/modprobe.d"),
	F_LIST(modprobe_facts, softdep, modprobe_command_desc, "/etc/modprobe.d"),
	F_LIST(modprobe_facts, bad_lines, modprobe_bad_line_desc, "/etc/modprobe.d"),
};
static const struct desc modprobe_facts_desc = DESC(modprobe_facts);

static const struct field initramfs_module_fields[] = {
	F_STR(initramfs_module, path, NULL),
	F_STR(initramfs_module, name, NULL),
	F_STR(initramfs_module, version, NULL),
};
static const struct desc initramfs_module_desc = DESC(initramfs_module);

static const struct field initramfs_image_fields[] = {
	F_STR(initramfs_image, path, NULL),
	F_STR(initramfs_image, kernel, NULL),
	F_BOOL(initramfs_image, running, NULL),
	F_BOOL(initramfs_image, next, NULL),
	F_U64(initramfs_image, size_bytes, NULL),
	F_U64(initramfs_image, mtime_s, NULL),
	F_STR(initramfs_image, generator, NULL),
	F_STRS(initramfs_image, compressors, NULL),
	F_BOOL(initramfs_image, complete, NULL),
	F_STR(initramfs_image, problem, NULL),
	F_LIST(initramfs_image, modules, initramfs_module_desc, NULL),
	F_STRUCT(initramfs_image, modprobe, modprobe_facts_desc, NULL),
};
const struct desc initramfs_image_desc = DESC(initramfs_image, .archive = true);

static const struct field initramfs_facts_fields[] = {
	F_LIST(initramfs_facts, images, initramfs_image_desc, "/boot"),
};
static const struct desc initramfs_facts_desc = DESC(initramfs_facts);

/* ---- cmdline, boot, iommu ---- */

static const struct field cmdline_arg_fields[] = {
	F_STR(cmdline_arg, key, NULL),
	F_STR(cmdline_arg, value, NULL),
};
static const struct desc cmdline_arg_desc = DESC(cmdline_arg, .ordered = true);

static const struct field cmdline_text_fields[] = {
	F_STR(cmdline_text, kernel, NULL), F_STR(cmdline_text, variable, NULL),
	F_STR(cmdline_text, text, NULL),   F_STR(cmdline_text, file, NULL),
	F_U64(cmdline_text, line, NULL),
};
static const struct desc cmdline_text_desc = DESC(cmdline_text, .ordered = true);

static const struct field cmdline_facts_fields[] = {
	F_STR(cmdline_facts, running, "/proc/cmdline"),
	F_LIST(cmdline_facts, args, cmdline_arg_desc, "/proc/cmdline"),
	F_STRUCT(cmdline_facts, staged, cmdline_text_desc, "/boot"),
	F_LIST(cmdline_facts, sources, cmdline_text_desc, "/etc/default/grub"),
};
static const struct desc cmdline_facts_desc = DESC(cmdline_facts);

static const struct field boot_entry_fields[] = {
	F_STR(boot_entry, id, NULL),	  F_STR(boot_entry, title, NULL),
	F_STR(boot_entry, kernel, NULL),  F_STR(boot_entry, initrd, NULL),
	F_STR(boot_entry, cmdline, NULL), F_STR(boot_entry, file, NULL),
	F_U64(boot_entry, line, NULL),
};
const struct desc boot_entry_desc = DESC(boot_entry, .ordered = true);

static const struct field boot_facts_fields[] = {
	F_ENUM(boot_facts, loader, boot_loader_words, "/boot"),
	F_LIST(boot_facts, entries, boot_entry_desc, "/boot"),
	F_STR(boot_facts, next_entry, "/boot"),
	F_STR(boot_facts, next_kernel, "/boot"),
	F_STR(boot_facts, next_initrd, "/boot"),
	F_BOOL(boot_facts, reboot_required, "/run/reboot-required"),
};
static const struct desc boot_facts_desc = DESC(boot_facts);

static const struct field iommu_device_fields[] = {
	F_STR(iommu_device, bdf, NULL),
	F_U64(iommu_device, group, PCI "iommu_group"),
	F_STR(iommu_device, type, PCI "iommu_group/type"),
};
static const struct desc iommu_device_desc = DESC(iommu_device);

static const struct field iommu_facts_fields[] = {
	F_STRS(iommu_facts, units, "/sys/class/iommu"),
	F_LIST(iommu_facts, devices, iommu_device_desc, "/sys/kernel/iommu_groups"),
};
static const struct desc iommu_facts_desc = DESC(iommu_facts);

/* ---- dev, limits ---- */

static const struct field device_node_fields[] = {
	F_STR(device_node, path, NULL),	 F_ENUM(device_node, kind, device_node_type_words, NULL),
	F_U64(device_node, major, NULL), F_U64(device_node, minor, NULL),
	F_U64(device_node, mode, NULL),	 F_U64(device_node, group, NULL),
};
static const struct desc device_node_desc = DESC(device_node);

static const struct field device_group_fields[] = {
	F_STR(device_group, gid, NULL),
	F_BOOL(device_group, exists, NULL),
	F_BOOL(device_group, has_members, NULL),
	F_BOOL(device_group, has_process, NULL),
};
static const struct desc device_group_desc = DESC(device_group);

static const struct field device_major_fields[] = {
	F_STR(device_major, name, NULL),
	F_U64(device_major, major, NULL),
};
static const struct desc device_major_desc = DESC(device_major);

static const struct field dev_facts_fields[] = {
	F_LIST(dev_facts, nodes, device_node_desc, "/dev"),
	F_LIST(dev_facts, majors, device_major_desc, "/proc/devices"),
	F_STRS(dev_facts, char_links, "/dev/char"),
	F_LIST(dev_facts, groups, device_group_desc, "/etc/group"),
};
const struct desc dev_facts_desc = DESC(dev_facts);

static const struct field process_limits_fields[] = {
	F_STR(process_limits, name, NULL),
	F_U64(process_limits, pid, NULL),
	F_LIMIT(process_limits, memlock_soft_bytes, NULL),
	F_LIMIT(process_limits, memlock_hard_bytes, NULL),
	F_LIMIT(process_limits, nofile_soft, NULL),
	F_LIMIT(process_limits, nofile_hard, NULL),
	F_LIMIT(process_limits, processes_soft, NULL),
	F_LIMIT(process_limits, stack_soft_bytes, NULL),
	F_STR(process_limits, unit, NULL),
};
static const struct desc process_limits_desc = DESC(process_limits);

static const struct field limit_setting_fields[] = {
	F_STR(limit_setting, item, NULL), F_STR(limit_setting, scope, NULL),
	F_STR(limit_setting, kind, NULL), F_STR(limit_setting, value, NULL),
	F_STR(limit_setting, file, NULL), F_U64(limit_setting, line, NULL),
};
static const struct desc limit_setting_desc = DESC(limit_setting, .ordered = true);

static const struct field rdma_limit_fields[] = {
	F_STR(rdma_limit, device, NULL),
	F_LIMIT(rdma_limit, handles, NULL),
	F_LIMIT(rdma_limit, objects, NULL),
};
static const struct desc rdma_limit_desc = DESC(rdma_limit);

static const struct field group_limits_fields[] = {
	F_LIMIT(group_limits, tasks, NULL),
	F_LIMIT(group_limits, memory_bytes, NULL),
};
static const struct desc group_limits_desc = DESC(group_limits);

static const struct field login_facts_fields[] = {
	F_BOOL(login_facts, ssh_uses_pam, "/etc/ssh/sshd_config"),
	F_BOOL(login_facts, ssh_has_limits, "/etc/pam.d/sshd"),
};
static const struct desc login_facts_desc = DESC(login_facts);

static const struct field limits_facts_fields[] = {
	F_STRUCT(limits_facts, self, process_limits_desc, "/proc/self/limits"),
	F_STRUCT(limits_facts, group, group_limits_desc, "/sys/fs/cgroup"),
	F_LIST(limits_facts, rdma, rdma_limit_desc, "/sys/fs/cgroup"),
	F_LIST(limits_facts, launchers, process_limits_desc, "/proc"),
	F_LIST(limits_facts, daemons, process_limits_desc, "/proc"),
	F_LIST(limits_facts, settings, limit_setting_desc, "/etc/security"),
	F_STRUCT(limits_facts, logins, login_facts_desc, "/etc/pam.d"),
	F_U64(limits_facts, shm_bytes, "/dev/shm"),
};
const struct desc limits_facts_desc = DESC(limits_facts);

/* ---- the node ---- */

static const struct field kind_fact_fields[] = {
	F_STR(kind_fact, name, NULL),
	F_BOOL(kind_fact, is, NULL),
	F_STR(kind_fact, reason, NULL),
	F_STR(kind_fact, fact, NULL),
};
static const struct desc kind_fact_desc = DESC(kind_fact, .ordered = true, .distinct = true);

static const struct field gap_fields[] = {
	F_STR(gap, path, NULL),
	F_STR(gap, error, NULL),
	F_STR(gap, why, NULL),
	F_STR(gap, probe, NULL),
};
static const struct desc gap_desc = DESC(gap, .ordered = true, .distinct = true);

static const struct field probe_result_fields[] = {
	F_STR(probe_result, name, NULL),
	F_ENUM(probe_result, state, probe_state_words, NULL),
	F_U64(probe_result, duration_us, NULL),
	F_STR(probe_result, stuck_at, NULL),
};
static const struct desc probe_result_desc = DESC(probe_result, .ordered = true);

static const struct field node_fields[] = {
	F_STRUCT(node, os, os_facts_desc, NULL),
	F_STRUCT(node, numa, numa_facts_desc, NULL),
	F_STRUCT(node, pci, pci_facts_desc, NULL),
	F_STRUCT(node, topology, topology_facts_desc, NULL),
	F_STRUCT(node, gpu, gpu_facts_desc, NULL),
	F_STRUCT(node, driver, driver_facts_desc, NULL),
	F_STRUCT(node, modules, modules_facts_desc, NULL),
	F_STRUCT(node, modprobe, modprobe_facts_desc, NULL),
	F_STRUCT(node, initramfs, initramfs_facts_desc, NULL),
	F_STRUCT(node, cmdline, cmdline_facts_desc, NULL),
	F_STRUCT(node, boot, boot_facts_desc, NULL),
	F_STRUCT(node, iommu, iommu_facts_desc, NULL),
	F_STRUCT(node, rdma, rdma_facts_desc, NULL),
	F_STRUCT(node, net, net_facts_desc, NULL),
	F_STRUCT(node, dev, dev_facts_desc, NULL),
	F_STRUCT(node, containers, containers_facts_desc, NULL),
	F_STRUCT(node, limits, limits_facts_desc, NULL),
	F_STRUCT(node, services, services_facts_desc, NULL),
	F_STRUCT(node, mps, mps_facts_desc, NULL),
	F_STRUCT(node, software, software_facts_desc, NULL),
	F_STRUCT(node, log, log_facts_desc, NULL),
	F_STRUCT(node, env, env_facts_desc, NULL),
	F_STRUCT(node, proof, proof_facts_desc, NULL),
	F_STRUCT(node, repairs, repairs_facts_desc, NULL),
	F_STRUCT(node, references, references_facts_desc, NULL),
	F_STRUCT(node, acknowledged, acknowledged_facts_desc, NULL),
	F_STRUCT(node, libraries, libraries_facts_desc, NULL),
	F_STRUCT(node, loads, loads_facts_desc, NULL),
	F_STRUCT(node, dkms, dkms_facts_desc, NULL),
	F_STRUCT(node, nvml, nvml_facts_desc, NULL),
	F_LIST(node, kinds, kind_fact_desc, NULL),
	F_LIST(node, gaps, gap_desc, NULL),
	F_LIST(node, probes, probe_result_desc, NULL),
};
const struct desc node_desc = DESC(node);
