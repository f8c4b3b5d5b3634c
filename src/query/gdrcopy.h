/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gdrcopy.h - GDRCopy with and without its kernel module. Pure. */
#ifndef GDRCOPY_H
#define GDRCOPY_H

#include "facts/facts.h"

/* Returns true if GDRCopy works without gdrdrv. From 2.6 on it falls back to DMA-BUF with the driver of CUDA 13.3 or
 * later (its CHANGELOG.md; README.md, DMA-BUF mmap backend). */
struct fact_bool gdrcopy_has_dmabuf(const struct node *node);

#endif
