/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modname.h - the modules for which configuration and initramfs images are searched. */
#ifndef PARSE_MODNAME_H
#define PARSE_MODNAME_H

#include "base/span.h"

/*
 * Returns true for GPU drivers, their peer-memory modules, RDMA, and drivers that can take a GPU from its driver:
 * nvidia* (also nvidia_current, nvidia_fs), nouveau, nova*, gdrdrv, nv_peer_mem, mlx*, ib_*, rdma*, vfio*, efa*. NAME
 * may have dashes or underscores.
 */
bool modname_is_ours(struct span name);

#endif
