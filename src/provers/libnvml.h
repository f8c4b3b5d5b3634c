/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libnvml.h - the part of the NVIDIA Management Library that prove calls, opened at run time: who uses
 * the GPUs, and what NVLink lies between them. Names, numbers and layouts are those of nvml.h.
 */
#ifndef LIBNVML_H
#define LIBNVML_H

#include <stdint.h>

typedef int nvml_return;   /* nvmlReturn_t; 0: success */
typedef void *nvml_device; /* nvmlDevice_t */

enum {
	NVML_SUCCESS = 0,
	NVML_P2P_NVLINK = 2,		  /* NVML_P2P_CAPS_INDEX_NVLINK */
	NVML_P2P_OK = 0,		  /* NVML_P2P_STATUS_OK */
	NVML_FI_NVLINK_SPEED = 164,	  /* NVML_FI_DEV_NVLINK_GET_SPEED: of the link in scope */
	NVML_FI_NVLINK_SPEED_COMMON = 90, /* NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON */
	NVML_LINKS_MAX = 18,		  /* NVML_NVLINK_MAX_LINKS */
};

/* nvmlProcessInfo_t, as nvmlDeviceGetComputeRunningProcesses_v3 fills it. */
struct nvml_process {
	unsigned int pid;
	unsigned long long memory_bytes;
	unsigned int gpu_instance;
	unsigned int compute_instance;
};

/* nvmlFieldValue_t */
struct nvml_field {
	unsigned int id;
	unsigned int scope;
	long long timestamp_us;
	long long latency_us;
	unsigned int type;
	nvml_return result;
	union {
		double d;
		unsigned int u32;
		unsigned long long u64;
	} value;
};

typedef nvml_return nvml_processes(nvml_device device, unsigned int *count,
				   struct nvml_process *processes);

struct nvml {
	nvml_return (*init)(void);
	nvml_return (*device_count)(unsigned int *count);
	nvml_return (*device)(unsigned int index, nvml_device *device);
	nvml_return (*device_by_bus_id)(const char *bdf, nvml_device *device);
	nvml_processes *compute, *graphics;
	nvml_return (*p2p_status)(nvml_device a, nvml_device b, int what, int *status);
	nvml_return (*link_state)(nvml_device device, unsigned int link, int *up);
	nvml_return (*fields)(nvml_device device, int count, struct nvml_field *fields);
};

/* 0, or -ELIBACC. */
int nvml_open(struct nvml *nvml);

#endif
