/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu-memory.h - a piece of GPU memory in the form that a NIC needs, and its registration with one, for provers. */
#ifndef GPU_MEMORY_H
#define GPU_MEMORY_H

#include "base/cleanup.h"
#include "provers/prove.h"

/* The alignment of large cuMemAlloc allocations, so that a DMA-BUF of it begins and ends at pages of any size. */
#define GPU_MEMORY_BYTES ((size_t)2 << 20)

struct gpu_memory {
	struct proving *p;
	cu_address address;
	int dmabuf; /* -1: not exported */
};

/* Allocates on the GPU whose context is current. Synchronous copies from this memory wait for the NIC's writes. */
cu_result gpu_memory_begin(struct gpu_memory *m, struct proving *p);
/* Also CU_NOT_SUPPORTED if libcuda has no such call. */
cu_result gpu_memory_export(struct gpu_memory *m);
void gpu_memory_end(struct gpu_memory *m);

/* The size and seed of the pattern (pattern.h) that is written at its beginning and compared. 64 KiB is a GPU page, the
 * smallest size that can be pinned. */
#define GPU_MEMORY_TRIED ((size_t)64 << 10)
#define GPU_MEMORY_SEED UINT64_C(0xfedcba9876543210)

/* Overwrites the memory, so that the content of an earlier run is not mistaken for this run's. */
cu_result gpu_memory_make_stale(const struct gpu_memory *m);
/* Reads it back and records in TRY whether it is the data written HOW ("by the NIC"). */
void gpu_memory_compare(const struct gpu_memory *m, struct proof_try *try, const char *how);
#define _cleanup_gpu_memory_ _cleanup_(gpu_memory_end)

/* An RDMA device that was opened. */
struct rdma_handle {
	const struct verbs *v;
	struct ibv_context *context;
	struct ibv_pd *pd;
};

/* 0, or negative errno; -ELIBACC without libibverbs. */
int rdma_open(struct rdma_handle *h, struct proving *p, const struct rdma_device *device);
void rdma_close(struct rdma_handle *h);
#define _cleanup_rdma_ _cleanup_(rdma_close)

/* Local and remote writes into GPU memory: by its DMA-BUF, or by its address with nvidia-peermem. NULL with errno
 * set. */
struct ibv_mr *rdma_register_dmabuf(const struct rdma_handle *h, const struct gpu_memory *m);
struct ibv_mr *rdma_register_address(const struct rdma_handle *h, const struct gpu_memory *m);

#endif
