/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peermem.h - decides whether the RDMA stack reaches GPU memory by peer memory or by DMA-BUF. Pure. */
#ifndef PEERMEM_H
#define PEERMEM_H

#include "facts/facts.h"

/* Drivers have had nvidia-peermem since R470 (nv_peer_memory a15f0f6, README.md); before, nv_peer_mem was the only
 * module for it. */
#define PEERMEM_SINCE "470"
/* NCCL user guide, usage/deviceapi.rst: GIN GDAKI needs DMA-BUF with kernel 6.1 or later, or nvidia-peermem. */
#define KERNEL_UMEM_DMABUF "6.1"

/* Returns whether the driver is of a branch with nvidia-peermem. */
struct fact_bool driver_has_peermem(const struct node *node);
/* Returns the remedy for a driver without nvidia-peermem. */
const char *peermem_remedy(struct arena *arena, const struct node *node);

enum dmabuf { DMABUF_UNKNOWN, DMABUF_NO, DMABUF_YES };
/* Returns whether the driver and the RDMA stack can register GPU memory by DMA-BUF. WHY gets the reason. */
enum dmabuf dmabuf_path(const struct node *node, struct arena *arena, const char **why);
/* Returns true if the kernel's RDMA modules are older than DMA-BUF, and no OFED replaces them. */
bool kernel_lacks_dmabuf(const struct node *node);
/* Returns true if the NIC's control buffers can be a DMA-BUF too, as GPU-initiated networking needs: it places them
 * in GPU memory. */
bool dmabuf_supports_umem(const struct node *node);

#endif
