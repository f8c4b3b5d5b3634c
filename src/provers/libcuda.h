/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libcuda.h - the part of the CUDA driver API that prove calls, opened at run time. NVIDIA's library is never linked;
 * without it the proofs are unknown.
 *
 * Names, argument order and numbers are those of cuda.h (CUDA 13.0), whose macros give cuMemAlloc and others a suffix.
 * The suffix here is the one that the library has exported since CUDA 4 (_v2). The stream memory operations without a
 * suffix are the first version of that interface, _v2 the second, of CUDA 11.7.
 */
#ifndef LIBCUDA_H
#define LIBCUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int cu_result;		       /* CUresult; 0: success */
typedef int cu_device;		       /* CUdevice */
typedef unsigned long long cu_address; /* CUdeviceptr */
typedef void *cu_context;
typedef void *cu_stream;
typedef void *cu_event;

enum {
	CU_SUCCESS = 0,
	CU_NO_DEVICE = 100,
	CU_NOT_READY = 600,
	CU_PEER_ACCESS_ALREADY_ENABLED = 704,
	CU_NOT_PERMITTED = 800,
	CU_NOT_SUPPORTED = 801,
};

enum {
	CU_HOST_REGISTER_PORTABLE = 0x01, /* CU_MEMHOSTREGISTER_... */
	CU_HOST_REGISTER_DEVICEMAP = 0x02,
	CU_HOST_REGISTER_IOMEMORY = 0x04,
	CU_HOST_ALLOC_PORTABLE = 0x01, /* CU_MEMHOSTALLOC_PORTABLE */
	CU_STREAM_NON_BLOCKING = 0x1,
	CU_STREAM_WAIT_EQ = 0x1,       /* CU_STREAM_WAIT_VALUE_EQ */
	CU_STREAM_WRITE_DEFAULT = 0x0, /* CU_STREAM_WRITE_VALUE_DEFAULT */
	CU_RANGE_HANDLE_DMA_BUF = 0x1, /* CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD */
	CU_POINTER_SYNC_MEMOPS = 6,    /* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS */
};

typedef cu_result cu_stream_value32(cu_stream stream, cu_address address, uint32_t value,
				    unsigned int flags);
typedef cu_result cu_stream_value64(cu_stream stream, cu_address address, uint64_t value,
				    unsigned int flags);

struct cuda {
	cu_result (*init)(unsigned int flags);
	cu_result (*driver_version)(int *version);
	cu_result (*error_name)(cu_result code, const char **name);
	cu_result (*device_count)(int *count);
	cu_result (*device)(cu_device *device, int ordinal);
	cu_result (*device_bus_id)(char *text, int size, cu_device device);
	cu_result (*context_retain)(cu_context *context, cu_device device);
	cu_result (*context_set)(cu_context context);
	cu_result (*can_access_peer)(int *can, cu_device device, cu_device peer);
	cu_result (*enable_peer_access)(cu_context peer, unsigned int flags);
	cu_result (*alloc)(cu_address *address, size_t bytes);
	cu_result (*free)(cu_address address);
	cu_result (*host_alloc)(void **host, size_t bytes, unsigned int flags);
	cu_result (*host_register)(void *host, size_t bytes, unsigned int flags);
	cu_result (*host_unregister)(void *host);
	cu_result (*to_device)(cu_address to, const void *from, size_t bytes);
	cu_result (*to_host)(void *to, cu_address from, size_t bytes);
	cu_result (*fill32)(cu_address to, unsigned int value, size_t words);
	cu_result (*copy_peer)(cu_address to, cu_context to_context, cu_address from,
			       cu_context from_context, size_t bytes, cu_stream stream);
	cu_result (*stream_create)(cu_stream *stream, unsigned int flags);
	cu_result (*stream_query)(cu_stream stream);
	cu_result (*stream_sync)(cu_stream stream);
	cu_result (*stream_destroy)(cu_stream stream);
	cu_result (*event_create)(cu_event *event, unsigned int flags);
	cu_result (*event_record)(cu_event event, cu_stream stream);
	cu_result (*event_elapsed)(float *milliseconds, cu_event start, cu_event end);
	cu_result (*event_destroy)(cu_event event);
	cu_result (*pointer_set)(const void *value, int attribute, cu_address address);
	/* The rest is NULL if the library is too old for it. */
	cu_stream_value32 *write32[2], *wait32[2]; /* by version, the first and the second */
	cu_stream_value64 *write64[2], *wait64[2];
	cu_result (*range_handle)(void *handle, cu_address address, size_t bytes, int type,
				  unsigned long long flags);
};

/* 0, or -ELIBACC. */
int cuda_open(struct cuda *cuda);

/* "CUDA_ERROR_NOT_PERMITTED (800)"; "" for success. In a static buffer. */
const char *cuda_error(const struct cuda *cuda, cu_result code);

#endif
