/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "provers/libnvml.h"

#include <stddef.h>

#include "base/library.h"

#define MUST(member, symbol)                \
	{                                   \
		&n->member, symbol, NULL, 0 \
	}

int nvml_open(struct nvml *n)
{
	const struct library_symbol symbols[] = {
		MUST(init, "nvmlInit_v2"),
		MUST(device_count, "nvmlDeviceGetCount_v2"),
		MUST(device, "nvmlDeviceGetHandleByIndex_v2"),
		MUST(device_by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2"),
		MUST(compute, "nvmlDeviceGetComputeRunningProcesses_v3"),
		MUST(graphics, "nvmlDeviceGetGraphicsRunningProcesses_v3"),
		MUST(p2p_status, "nvmlDeviceGetP2PStatus"),
		MUST(link_state, "nvmlDeviceGetNvLinkState"),
		MUST(fields, "nvmlDeviceGetFieldValues"),
	};

	return library_load(LIBNVIDIA_ML, symbols, LIBRARY_COUNT(symbols));
}
