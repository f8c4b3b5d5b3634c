/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libcuda.c - the part of the CUDA driver API that prove calls, opened at run time. */
#include "provers/libcuda.h"

#include <stdio.h>

#include "base/library.h"

#define MUST(member, symbol)                    \
	{                                       \
		&c->member, symbol, NULL, false \
	}
#define MAY(member, symbol)                    \
	{                                      \
		&c->member, symbol, NULL, true \
	}

int cuda_open(struct cuda *c)
{
	const struct library_symbol symbols[] = {
		MUST(init, "cuInit"),
		MUST(driver_version, "cuDriverGetVersion"),
		MUST(error_name, "cuGetErrorName"),
		MUST(device_count, "cuDeviceGetCount"),
		MUST(device, "cuDeviceGet"),
		MUST(device_bus_id, "cuDeviceGetPCIBusId"),
		MUST(context_retain, "cuDevicePrimaryCtxRetain"),
		MUST(context_set, "cuCtxSetCurrent"),
		MUST(can_access_peer, "cuDeviceCanAccessPeer"),
		MUST(enable_peer_access, "cuCtxEnablePeerAccess"),
		MUST(alloc, "cuMemAlloc_v2"),
		MUST(free, "cuMemFree_v2"),
		MUST(host_alloc, "cuMemHostAlloc"),
		MUST(host_register, "cuMemHostRegister_v2"),
		MUST(host_unregister, "cuMemHostUnregister"),
		MUST(to_device, "cuMemcpyHtoD_v2"),
		MUST(to_host, "cuMemcpyDtoH_v2"),
		MUST(fill32, "cuMemsetD32_v2"),
		MUST(copy_peer, "cuMemcpyPeerAsync"),
		MUST(stream_create, "cuStreamCreate"),
		MUST(stream_query, "cuStreamQuery"),
		MUST(stream_sync, "cuStreamSynchronize"),
		MUST(stream_destroy, "cuStreamDestroy_v2"),
		MUST(event_create, "cuEventCreate"),
		MUST(event_record, "cuEventRecord"),
		MUST(event_elapsed, "cuEventElapsedTime"),
		MUST(event_destroy, "cuEventDestroy_v2"),
		MUST(pointer_set, "cuPointerSetAttribute"),
		MAY(write32[0], "cuStreamWriteValue32"),
		MAY(write32[1], "cuStreamWriteValue32_v2"),
		MAY(wait32[0], "cuStreamWaitValue32"),
		MAY(wait32[1], "cuStreamWaitValue32_v2"),
		MAY(write64[0], "cuStreamWriteValue64"),
		MAY(write64[1], "cuStreamWriteValue64_v2"),
		MAY(wait64[0], "cuStreamWaitValue64"),
		MAY(wait64[1], "cuStreamWaitValue64_v2"),
		MAY(range_handle, "cuMemGetHandleForAddressRange"),
	};

	return library_load(LIBCUDA, symbols, LIBRARY_COUNT(symbols));
}

const char *cuda_error(const struct cuda *c, cu_result code)
{
	static char text[80];
	const char *name = NULL;

	if (code == CU_SUCCESS)
		return "";
	if (c->error_name(code, &name) != CU_SUCCESS || !name)
		name = "CUDA error";
	snprintf(text, sizeof(text), "%s (%d)", name, code);
	return text;
}
