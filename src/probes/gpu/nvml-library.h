/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvml-library.h - the functions of the NVIDIA Management Library that are called, for facts and by prove. Names,
 * numbers and layouts are those of nvml.h of NVML 13 (driver 580). Any of them can be missing in a library of another
 * release: NULL. The library is thread-safe, as its header says.
 */
#ifndef NVML_LIBRARY_H
#define NVML_LIBRARY_H

#include <stdint.h>

typedef void *nvml_handle; /* nvmlDevice_t */

/* nvmlReturn_t */
enum {
	NVML_DONE = 0,
	NVML_INVALID_ARGUMENT = 2,
	NVML_UNSUPPORTED = 3,
	NVML_NOT_FOUND = 6,
	NVML_TOO_SMALL = 7,
	NVML_NO_FUNCTION = 13,
	NVML_OTHER_VERSION = 25,
};

enum {
	NVML_THRESHOLD_SHUTDOWN = 0, /* nvmlTemperatureThresholds_t */
	NVML_THRESHOLD_SLOWDOWN = 1,
	NVML_SENSOR_GPU = 0,	  /* nvmlTemperatureSensors_t */
	NVML_ERROR_CORRECTED = 0, /* nvmlMemoryErrorType_t */
	NVML_ERROR_UNCORRECTED = 1,
	NVML_COUNTS_VOLATILE = 0, /* nvmlEccCounterType_t */
	NVML_COUNTS_AGGREGATE = 1,
	NVML_CAN_READ = 0, /* nvmlGpuP2PCapsIndex_t */
	NVML_CAN_WRITE = 1,
	NVML_CAN_NVLINK = 2,
	NVML_CAN_ATOMICS = 3,
	NVML_CAN_PCIE = 4,
	NVML_LINKS = 36,	   /* NVML_NVLINK_MAX_LINKS */
	NVML_AFFINITY_OF_NODE = 0, /* NVML_AFFINITY_SCOPE_NODE */
	NVML_PAGES_CORRECTED = 0,  /* nvmlPageRetirementCause_t */
	NVML_PAGES_UNCORRECTED = 1,
};

/* Numbers of nvmlDeviceGetFieldValues(); those of NVLink have the link as their scope. */
enum {
	NVML_FIELD_LINK_SPEED_COMMON = 90, /* of all links of the GPU that are up */
	NVML_FIELD_LINK_COUNT = 91,
	NVML_FIELD_LINK_REPLAYS = 161,
	NVML_FIELD_LINK_RECOVERIES = 162,
	NVML_FIELD_LINK_CRC = 163,
	NVML_FIELD_LINK_SPEED = 164,
	NVML_FIELD_LINK_STATE = 165, /* 0 inactive, 1 active, 2 asleep */
	NVML_FIELD_LINK_VERSION = 166,
	NVML_FIELD_LINK_POWER = 167, /* 0 full speed, 1 low power */
	NVML_FIELD_RECOVERY_ACTION = 230,
};

/* nvmlFieldValue_t. The type of the value is nvmlValueType_t. */
struct nvml_field_value {
	unsigned int field, scope;
	long long timestamp_us, latency_us;
	int type;
	int result;
	union {
		double d;
		unsigned int u;
		unsigned long long ull;
		unsigned short us;
		int i;
	} value;
};

/* nvmlPciInfo_t */
struct nvml_pci {
	char legacy[16];
	unsigned int domain, bus, device, ids, subsystem;
	char text[32];
};

/* nvmlMemory_t, nvmlMemory_v2_t, nvmlBAR1Memory_t */
struct nvml_memory_v1 {
	unsigned long long total, free, used;
};
struct nvml_memory_v2 {
	unsigned int version;
	unsigned long long total, reserved, free, used;
};
struct nvml_bar1 {
	unsigned long long total, free, used;
};

/* nvmlRowRemapperHistogramValues_t */
struct nvml_histogram {
	unsigned int max, high, partial, low, none;
};

/* nvmlEccSramErrorStatus_v1_t */
struct nvml_sram {
	unsigned int version;
	unsigned long long counts[11];
	unsigned int threshold_exceeded;
};

/* nvmlRepairStatus_v1_t */
struct nvml_repairs {
	unsigned int version, channel_pending, tpc_pending;
};

/* nvmlMarginTemperature_v1_t */
struct nvml_margin {
	unsigned int version;
	int degrees;
};

/* nvmlDeviceAttributes_t */
struct nvml_attributes {
	unsigned int multiprocessors, shared[5], gpu_slices, compute_slices;
	unsigned long long memory_mib;
};

/* nvmlConfComputeSystemState_t, nvmlSystemConfComputeSettings_v1_t */
struct nvml_cc_state {
	unsigned int environment, feature, dev_tools;
};
struct nvml_cc_settings {
	unsigned int version;
	struct nvml_cc_state state;
	unsigned int multi_gpu;
};

/* nvmlProcessInfo_t, as nvmlDeviceGetComputeRunningProcesses_v3() fills it. */
struct nvml_process {
	unsigned int pid;
	unsigned long long memory_bytes;
	unsigned int gpu_instance;
	unsigned int compute_instance;
};

/* nvmlGpuFabricInfo_t, nvmlGpuFabricInfo_v2_t */
struct nvml_fabric_v1 {
	unsigned char cluster[16];
	int status;
	unsigned int clique;
	unsigned char state;
};
struct nvml_fabric_v2 {
	unsigned int version;
	unsigned char cluster[16];
	int status;
	unsigned int clique;
	unsigned char state;
	unsigned int health_mask;
};

/* NVML_STRUCT_VERSION: the size, and the version from bit 24 on. */
#define NVML_VERSION_OF(type, version) ((unsigned int)sizeof(type) | (version) << 24)

#define NVML_FUNCTIONS(F)                                                                          \
	F(nvmlInit_v2, (void))                                                                     \
	F(nvmlDeviceGetCount_v2, (unsigned int *))                                                 \
	F(nvmlDeviceGetHandleByIndex_v2, (unsigned int, nvml_handle *))                            \
	F(nvmlDeviceGetHandleByPciBusId_v2, (const char *, nvml_handle *))                         \
	F(nvmlDeviceGetComputeRunningProcesses_v3,                                                 \
	  (nvml_handle, unsigned int *, struct nvml_process *))                                    \
	F(nvmlDeviceGetGraphicsRunningProcesses_v3,                                                \
	  (nvml_handle, unsigned int *, struct nvml_process *))                                    \
	F(nvmlSystemGetConfComputeSettings, (struct nvml_cc_settings *))                           \
	F(nvmlSystemGetConfComputeState, (struct nvml_cc_state *))                                 \
	F(nvmlDeviceGetPciInfo_v3, (nvml_handle, struct nvml_pci *))                               \
	F(nvmlDeviceGetMinorNumber, (nvml_handle, unsigned int *))                                 \
	F(nvmlDeviceGetUUID, (nvml_handle, char *, unsigned int))                                  \
	F(nvmlDeviceGetSerial, (nvml_handle, char *, unsigned int))                                \
	F(nvmlDeviceGetMemoryInfo, (nvml_handle, struct nvml_memory_v1 *))                         \
	F(nvmlDeviceGetMemoryInfo_v2, (nvml_handle, struct nvml_memory_v2 *))                      \
	F(nvmlDeviceGetBAR1MemoryInfo, (nvml_handle, struct nvml_bar1 *))                          \
	F(nvmlDeviceGetEccMode, (nvml_handle, int *, int *))                                       \
	F(nvmlDeviceGetTotalEccErrors, (nvml_handle, int, int, unsigned long long *))              \
	F(nvmlDeviceGetRetiredPagesPendingStatus, (nvml_handle, int *))                            \
	F(nvmlDeviceGetRetiredPages, (nvml_handle, int, unsigned int *, unsigned long long *))     \
	F(nvmlDeviceGetSramEccErrorStatus, (nvml_handle, struct nvml_sram *))                      \
	F(nvmlDeviceGetRepairStatus, (nvml_handle, struct nvml_repairs *))                         \
	F(nvmlDeviceGetUnrepairableMemoryFlag_v1, (nvml_handle, unsigned int *))                   \
	F(nvmlDeviceGetRemappedRows,                                                               \
	  (nvml_handle, unsigned int *, unsigned int *, unsigned int *, unsigned int *))           \
	F(nvmlDeviceGetRowRemapperHistogram, (nvml_handle, struct nvml_histogram *))               \
	F(nvmlDeviceGetNvLinkState, (nvml_handle, unsigned int, int *))                            \
	F(nvmlDeviceGetNvLinkRemotePciInfo_v2, (nvml_handle, unsigned int, struct nvml_pci *))     \
	F(nvmlDeviceGetNvLinkRemoteDeviceType, (nvml_handle, unsigned int, int *))                 \
	F(nvmlDeviceGetFieldValues, (nvml_handle, int, struct nvml_field_value *))                 \
	F(nvmlDeviceGetGpuFabricInfo, (nvml_handle, struct nvml_fabric_v1 *))                      \
	F(nvmlDeviceGetGpuFabricInfoV, (nvml_handle, struct nvml_fabric_v2 *))                     \
	F(nvmlDeviceGetCurrentClocksThrottleReasons, (nvml_handle, unsigned long long *))          \
	F(nvmlDeviceGetTemperature, (nvml_handle, int, unsigned int *))                            \
	F(nvmlDeviceGetTemperatureThreshold, (nvml_handle, int, unsigned int *))                   \
	F(nvmlDeviceGetMarginTemperature, (nvml_handle, struct nvml_margin *))                     \
	F(nvmlDeviceGetPowerManagementLimit, (nvml_handle, unsigned int *))                        \
	F(nvmlDeviceGetPowerManagementDefaultLimit, (nvml_handle, unsigned int *))                 \
	F(nvmlDeviceGetEnforcedPowerLimit, (nvml_handle, unsigned int *))                          \
	F(nvmlDeviceGetComputeMode, (nvml_handle, int *))                                          \
	F(nvmlDeviceGetMigMode, (nvml_handle, unsigned int *, unsigned int *))                     \
	F(nvmlDeviceGetMaxMigDeviceCount, (nvml_handle, unsigned int *))                           \
	F(nvmlDeviceGetMigDeviceHandleByIndex, (nvml_handle, unsigned int, nvml_handle *))         \
	F(nvmlDeviceGetGpuInstanceId, (nvml_handle, unsigned int *))                               \
	F(nvmlDeviceGetComputeInstanceId, (nvml_handle, unsigned int *))                           \
	F(nvmlDeviceGetAttributes_v2, (nvml_handle, struct nvml_attributes *))                     \
	F(nvmlDeviceGetPersistenceMode, (nvml_handle, int *))                                      \
	F(nvmlDeviceGetDisplayActive, (nvml_handle, int *))                                        \
	F(nvmlDeviceGetAccountingMode, (nvml_handle, int *))                                       \
	F(nvmlDeviceGetMemoryAffinity, (nvml_handle, unsigned int, unsigned long *, unsigned int)) \
	F(nvmlDeviceGetNumaNodeId, (nvml_handle, unsigned int *))                                  \
	F(nvmlDeviceGetTopologyCommonAncestor, (nvml_handle, nvml_handle, int *))                  \
	F(nvmlDeviceGetVirtualizationMode, (nvml_handle, int *))                                   \
	F(nvmlDeviceGetGspFirmwareVersion, (nvml_handle, char *))                                  \
	F(nvmlDeviceGetP2PStatus, (nvml_handle, nvml_handle, int, int *))                          \
	F(nvmlDeviceGetPcieReplayCounter, (nvml_handle, unsigned int *))                           \
	F(nvmlDeviceGetCurrPcieLinkGeneration, (nvml_handle, unsigned int *))                      \
	F(nvmlDeviceGetMaxPcieLinkGeneration, (nvml_handle, unsigned int *))                       \
	F(nvmlDeviceGetCurrPcieLinkWidth, (nvml_handle, unsigned int *))                           \
	F(nvmlDeviceGetMaxPcieLinkWidth, (nvml_handle, unsigned int *))

struct nvml_library {
#define NVML_SLOT(name, arguments) int(*name) arguments;
	NVML_FUNCTIONS(NVML_SLOT)
#undef NVML_SLOT
};

/* Opens the library at PATH; NULL: as the dynamic loader finds it. Returns 0 or -ELIBACC. */
int nvml_library_open(struct nvml_library *lib, const char *path);
/* Opens the library as the dynamic loader finds it, and initialises it. Returns 0 or -ELIBACC. */
int nvml_library_start(struct nvml_library *lib);
/* NVML_ERROR_UNKNOWN (999) */
const char *nvml_error_word(int error);

#endif
