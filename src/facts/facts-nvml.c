/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-nvml.c - the descriptions of the structs in facts-nvml.h, innermost first. A fact comes from the function
 * that its row names. */
#include "facts/facts.h"

const char *const nvml_p2p_words[] = {
	[NVML_P2P_IS_OK] = "ok",
	[NVML_P2P_CHIPSET] = "chipset-not-supported",
	[NVML_P2P_GPU] = "gpu-not-supported",
	[NVML_P2P_TOPOLOGY] = "topology-not-supported",
	[NVML_P2P_REGISTRY] = "disabled-by-registry-key",
	[NVML_P2P_NOT_SUPPORTED] = "not-supported",
	[NVML_P2P_UNKNOWN] = "unknown",
	NULL,
};
const char *const nvml_level_words[] = {
	[NVML_LEVEL_INTERNAL] = "internal",
	[NVML_LEVEL_PIX] = "pix",
	[NVML_LEVEL_PXB] = "pxb",
	[NVML_LEVEL_PHB] = "phb",
	[NVML_LEVEL_NODE] = "node",
	[NVML_LEVEL_SYS] = "sys",
	NULL,
};
const char *const nvml_cc_environment_words[] = {
	[NVML_CC_UNAVAILABLE] = "unavailable",
	[NVML_CC_SIMULATION] = "simulation",
	[NVML_CC_PRODUCTION] = "production",
	NULL,
};
const char *const nvml_cc_multi_gpu_words[] = {
	[NVML_CC_ONE_GPU] = "none",
	[NVML_CC_PROTECTED_PCIE] = "protected-pcie",
	[NVML_CC_NVLE] = "nvle",
	NULL,
};
const char *const nvml_remote_words[] = {
	[NVML_REMOTE_GPU] = "gpu",
	[NVML_REMOTE_NPU] = "npu",
	[NVML_REMOTE_SWITCH] = "switch",
	[NVML_REMOTE_UNKNOWN] = "unknown",
	NULL,
};
const char *const nvml_fabric_state_words[] = {
	[NVML_FABRIC_NOT_SUPPORTED] = "not-supported",
	[NVML_FABRIC_NOT_STARTED] = "not-started",
	[NVML_FABRIC_IN_PROGRESS] = "in-progress",
	[NVML_FABRIC_COMPLETED] = "completed",
	NULL,
};
const char *const nvml_compute_mode_words[] = {
	[NVML_COMPUTE_DEFAULT] = "default",
	[NVML_COMPUTE_EXCLUSIVE_THREAD] = "exclusive-thread",
	[NVML_COMPUTE_PROHIBITED] = "prohibited",
	[NVML_COMPUTE_EXCLUSIVE_PROCESS] = "exclusive-process",
	NULL,
};
const char *const nvml_virtualization_words[] = {
	[NVML_VIRTUALIZATION_NONE] = "none",
	[NVML_VIRTUALIZATION_PASSTHROUGH] = "passthrough",
	[NVML_VIRTUALIZATION_VGPU] = "vgpu",
	[NVML_VIRTUALIZATION_HOST_VGPU] = "host-vgpu",
	[NVML_VIRTUALIZATION_HOST_VSGA] = "host-vsga",
	NULL,
};
const char *const nvml_recovery_words[] = {
	[NVML_RECOVERY_NONE] = "none",
	[NVML_RECOVERY_GPU_RESET] = "gpu-reset",
	[NVML_RECOVERY_NODE_REBOOT] = "node-reboot",
	[NVML_RECOVERY_DRAIN_P2P] = "drain-p2p",
	[NVML_RECOVERY_DRAIN_AND_RESET] = "drain-and-reset",
	[NVML_RECOVERY_IMEX_DOMAIN] = "recover-imex-domain",
	NULL,
};

static const struct field nvml_memory_fields[] = {
	F_U64(nvml_memory, total_bytes, "nvmlDeviceGetMemoryInfo"),
	F_U64(nvml_memory, used_bytes, "nvmlDeviceGetMemoryInfo"),
	F_U64(nvml_memory, reserved_bytes, "nvmlDeviceGetMemoryInfo"),
	F_U64(nvml_memory, bar1_total_bytes, "nvmlDeviceGetBAR1MemoryInfo"),
	F_U64(nvml_memory, bar1_used_bytes, "nvmlDeviceGetBAR1MemoryInfo"),
};
static const struct desc nvml_memory_desc = DESC(nvml_memory);

static const struct field nvml_ecc_fields[] = {
	F_BOOL(nvml_ecc, enabled, "nvmlDeviceGetEccMode"),
	F_BOOL(nvml_ecc, pending, "nvmlDeviceGetEccMode"),
	F_U64(nvml_ecc, corrected_volatile, "nvmlDeviceGetTotalEccErrors"),
	F_U64(nvml_ecc, uncorrected_volatile, "nvmlDeviceGetTotalEccErrors"),
	F_U64(nvml_ecc, corrected_aggregate, "nvmlDeviceGetTotalEccErrors"),
	F_U64(nvml_ecc, uncorrected_aggregate, "nvmlDeviceGetTotalEccErrors"),
	F_BOOL(nvml_ecc, retirement_pending, "nvmlDeviceGetRetiredPagesPendingStatus"),
	F_U64(nvml_ecc, pages_corrected, "nvmlDeviceGetRetiredPages"),
	F_U64(nvml_ecc, pages_uncorrected, "nvmlDeviceGetRetiredPages"),
	F_BOOL(nvml_ecc, sram_threshold_exceeded, "nvmlDeviceGetSramEccErrorStatus"),
	F_BOOL(nvml_ecc, unrepairable, "nvmlDeviceGetUnrepairableMemoryFlag_v1"),
	F_BOOL(nvml_ecc, channel_repair_pending, "nvmlDeviceGetRepairStatus"),
	F_BOOL(nvml_ecc, tpc_repair_pending, "nvmlDeviceGetRepairStatus"),
};
static const struct desc nvml_ecc_desc = DESC(nvml_ecc);

static const struct field nvml_rows_fields[] = {
	F_U64(nvml_rows, correctable, "nvmlDeviceGetRemappedRows"),
	F_U64(nvml_rows, uncorrectable, "nvmlDeviceGetRemappedRows"),
	F_BOOL(nvml_rows, pending, "nvmlDeviceGetRemappedRows"),
	F_BOOL(nvml_rows, failed, "nvmlDeviceGetRemappedRows"),
	F_U64(nvml_rows, banks_max, "nvmlDeviceGetRowRemapperHistogram"),
	F_U64(nvml_rows, banks_high, "nvmlDeviceGetRowRemapperHistogram"),
	F_U64(nvml_rows, banks_partial, "nvmlDeviceGetRowRemapperHistogram"),
	F_U64(nvml_rows, banks_low, "nvmlDeviceGetRowRemapperHistogram"),
	F_U64(nvml_rows, banks_none, "nvmlDeviceGetRowRemapperHistogram"),
};
static const struct desc nvml_rows_desc = DESC(nvml_rows);

static const struct field nvml_link_fields[] = {
	F_U64(nvml_link, link, NULL),
	F_BOOL(nvml_link, active, "nvmlDeviceGetFieldValues"),
	F_U64(nvml_link, version, "nvmlDeviceGetFieldValues"),
	F_STR(nvml_link, remote, "nvmlDeviceGetNvLinkRemotePciInfo_v2"),
	F_ENUM(nvml_link, remote_is, nvml_remote_words, "nvmlDeviceGetNvLinkRemoteDeviceType"),
	F_U64(nvml_link, mb_per_s, "nvmlDeviceGetFieldValues"),
	F_U64(nvml_link, replays, "nvmlDeviceGetFieldValues"),
	F_U64(nvml_link, recoveries, "nvmlDeviceGetFieldValues"),
	F_U64(nvml_link, crc_errors, "nvmlDeviceGetFieldValues"),
	F_BOOL(nvml_link, low_power, "nvmlDeviceGetFieldValues"),
};
static const struct desc nvml_link_desc = DESC(nvml_link);

static const struct field nvml_fabric_fields[] = {
	F_ENUM(nvml_fabric, state, nvml_fabric_state_words, "nvmlDeviceGetGpuFabricInfoV"),
	F_STR(nvml_fabric, error, "nvmlDeviceGetGpuFabricInfoV"),
	F_U64(nvml_fabric, clique, "nvmlDeviceGetGpuFabricInfoV"),
	F_STR(nvml_fabric, cluster_uuid, "nvmlDeviceGetGpuFabricInfoV"),
	F_HEX(nvml_fabric, health_mask, "nvmlDeviceGetGpuFabricInfoV"),
};
static const struct desc nvml_fabric_desc = DESC(nvml_fabric);

static const struct field nvml_clocks_fields[] = {
	F_HEX(nvml_clocks, reasons, "nvmlDeviceGetCurrentClocksThrottleReasons"),
	F_U64(nvml_clocks, temperature_c, "nvmlDeviceGetTemperature"),
	F_U64(nvml_clocks, slowdown_c, "nvmlDeviceGetTemperatureThreshold"),
	F_U64(nvml_clocks, shutdown_c, "nvmlDeviceGetTemperatureThreshold"),
	F_U64(nvml_clocks, margin_c, "nvmlDeviceGetMarginTemperature"),
	F_U64(nvml_clocks, power_limit_mw, "nvmlDeviceGetPowerManagementLimit"),
	F_U64(nvml_clocks, power_default_mw, "nvmlDeviceGetPowerManagementDefaultLimit"),
	F_U64(nvml_clocks, power_enforced_mw, "nvmlDeviceGetEnforcedPowerLimit"),
};
static const struct desc nvml_clocks_desc = DESC(nvml_clocks);

static const struct field nvml_pcie_fields[] = {
	F_U64(nvml_pcie, replays, "nvmlDeviceGetPcieReplayCounter"),
	F_U64(nvml_pcie, generation, "nvmlDeviceGetCurrPcieLinkGeneration"),
	F_U64(nvml_pcie, generation_max, "nvmlDeviceGetMaxPcieLinkGeneration"),
	F_U64(nvml_pcie, width, "nvmlDeviceGetCurrPcieLinkWidth"),
	F_U64(nvml_pcie, width_max, "nvmlDeviceGetMaxPcieLinkWidth"),
};
static const struct desc nvml_pcie_desc = DESC(nvml_pcie);

static const struct field nvml_peer_fields[] = {
	F_STR(nvml_peer, bdf, NULL),
	F_ENUM(nvml_peer, read, nvml_p2p_words, "nvmlDeviceGetP2PStatus"),
	F_ENUM(nvml_peer, write, nvml_p2p_words, "nvmlDeviceGetP2PStatus"),
	F_ENUM(nvml_peer, nvlink, nvml_p2p_words, "nvmlDeviceGetP2PStatus"),
	F_ENUM(nvml_peer, atomics, nvml_p2p_words, "nvmlDeviceGetP2PStatus"),
	F_ENUM(nvml_peer, pcie, nvml_p2p_words, "nvmlDeviceGetP2PStatus"),
	F_ENUM(nvml_peer, level, nvml_level_words, "nvmlDeviceGetTopologyCommonAncestor"),
	F_U64(nvml_peer, links, "nvmlDeviceGetNvLinkRemotePciInfo_v2"),
};
static const struct desc nvml_peer_desc = DESC(nvml_peer);

static const struct field nvml_mig_device_fields[] = {
	F_U64(nvml_mig_device, index, NULL),
	F_U64(nvml_mig_device, gpu_instance, "nvmlDeviceGetGpuInstanceId"),
	F_U64(nvml_mig_device, compute_instance, "nvmlDeviceGetComputeInstanceId"),
	F_STR(nvml_mig_device, uuid, "nvmlDeviceGetUUID"),
	F_U64(nvml_mig_device, memory_bytes, "nvmlDeviceGetAttributes_v2"),
	F_U64(nvml_mig_device, multiprocessors, "nvmlDeviceGetAttributes_v2"),
};
static const struct desc nvml_mig_device_desc = DESC(nvml_mig_device);

static const struct field nvml_gpu_fields[] = {
	F_STR(nvml_gpu, bdf, NULL),
	F_U64(nvml_gpu, index, NULL),
	F_U64(nvml_gpu, minor, "nvmlDeviceGetMinorNumber"),
	F_STR(nvml_gpu, uuid, "nvmlDeviceGetUUID"),
	F_STR(nvml_gpu, serial, "nvmlDeviceGetSerial"),
	F_STRUCT(nvml_gpu, memory, nvml_memory_desc, NULL),
	F_STRUCT(nvml_gpu, ecc, nvml_ecc_desc, NULL),
	F_STRUCT(nvml_gpu, rows, nvml_rows_desc, NULL),
	F_LIST(nvml_gpu, links, nvml_link_desc, "nvmlDeviceGetNvLinkState"),
	F_STRUCT(nvml_gpu, fabric, nvml_fabric_desc, NULL),
	F_STRUCT(nvml_gpu, clocks, nvml_clocks_desc, NULL),
	F_STRUCT(nvml_gpu, pcie, nvml_pcie_desc, NULL),
	F_ENUM(nvml_gpu, compute_mode, nvml_compute_mode_words, "nvmlDeviceGetComputeMode"),
	F_BOOL(nvml_gpu, mig, "nvmlDeviceGetMigMode"),
	F_BOOL(nvml_gpu, mig_pending, "nvmlDeviceGetMigMode"),
	F_LIST(nvml_gpu, mig_devices, nvml_mig_device_desc, "nvmlDeviceGetMigDeviceHandleByIndex"),
	F_BOOL(nvml_gpu, persistence, "nvmlDeviceGetPersistenceMode"),
	F_BOOL(nvml_gpu, display_active, "nvmlDeviceGetDisplayActive"),
	F_BOOL(nvml_gpu, accounting, "nvmlDeviceGetAccountingMode"),
	F_STR(nvml_gpu, numa_affinity, "nvmlDeviceGetMemoryAffinity"),
	F_U64(nvml_gpu, numa_node, "nvmlDeviceGetNumaNodeId"),
	F_ENUM(nvml_gpu, virtualization, nvml_virtualization_words,
	       "nvmlDeviceGetVirtualizationMode"),
	F_STR(nvml_gpu, gsp_firmware, "nvmlDeviceGetGspFirmwareVersion"),
	F_ENUM(nvml_gpu, recovery, nvml_recovery_words, "nvmlDeviceGetFieldValues"),
	F_LIST(nvml_gpu, peers, nvml_peer_desc, "nvmlDeviceGetP2PStatus"),
};
static const struct desc nvml_gpu_desc = DESC(nvml_gpu);

static const struct field nvml_failure_fields[] = {
	F_STR(nvml_failure, function, NULL),
	F_STR(nvml_failure, gpu, NULL),
	F_STR(nvml_failure, error, NULL),
};
static const struct desc nvml_failure_desc = DESC(nvml_failure, .ordered = true);

static const struct field nvml_cc_fields[] = {
	F_BOOL(nvml_cc, enabled, "nvmlSystemGetConfComputeSettings"),
	F_BOOL(nvml_cc, dev_tools, "nvmlSystemGetConfComputeSettings"),
	F_ENUM(nvml_cc, environment, nvml_cc_environment_words, "nvmlSystemGetConfComputeSettings"),
	F_ENUM(nvml_cc, multi_gpu, nvml_cc_multi_gpu_words, "nvmlSystemGetConfComputeSettings"),
};
static const struct desc nvml_cc_desc = DESC(nvml_cc);

static const struct field nvml_facts_fields[] = {
	F_STR(nvml_facts, refused, "libnvidia-ml.so.1"),
	F_STR(nvml_facts, library, "libnvidia-ml.so.1"),
	F_STR(nvml_facts, library_version, "libnvidia-ml.so.1"),
	F_STRUCT(nvml_facts, cc, nvml_cc_desc, NULL),
	F_LIST(nvml_facts, gpus, nvml_gpu_desc, "libnvidia-ml.so.1"),
	F_LIST(nvml_facts, failures, nvml_failure_desc, "libnvidia-ml.so.1"),
};
const struct desc nvml_facts_desc = DESC(nvml_facts, .optional = true);
