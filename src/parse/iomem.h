/* SPDX-License-Identifier: GPL-2.0-or-later */
/* iomem.h - /proc/iomem: the physical addresses, and the names that reserved them (kernel/resource.c, r_show()). Each level
 * is two blanks deeper, as in
 *     d0000000-dfffffff : 0000:01:00.0
 *       d0000000-d0ffffff : BOOTFB */
#ifndef PARSE_IOMEM_H
#define PARSE_IOMEM_H

#include "base/span.h"

#define IOMEM_BDF_MAX 24

struct iomem_claim {
	char bdf[IOMEM_BDF_MAX]; /* of the function whose BAR has it */
	uint64_t start, end;	 /* both 0: the kernel hides addresses from this user */
	struct span holder;	 /* the name under which it is reserved */
};

struct iomem_walk {
	size_t depth; /* of the BAR */
	char bdf[IOMEM_BDF_MAX];
};

/* Finds the next range inside a BAR that is reserved under a name, not by a function or bus. WALK is zeroed first. */
bool iomem_next(struct span *rest, struct iomem_walk *walk, struct iomem_claim *claim);

#endif
