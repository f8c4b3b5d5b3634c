/* SPDX-License-Identifier: GPL-2.0-or-later */
/* iomem.c - /proc/iomem: the physical addresses, and the names that reserved them (kernel/resource.c, r_show()). */
#include "parse/iomem.h"

#include <stdio.h>
#include <string.h>

#include "parse/pcie.h"

static size_t depth_of(struct span line)
{
	size_t n = 0;

	while (n < line.n && line.p[n] == ' ')
		n++;
	return n / 2;
}

/* "d0000000-dfffffff : NAME" */
static bool cut_range(struct span line, struct iomem_claim *claim)
{
	struct span start, end;

	line = span_trim(line);
	if (!span_cut(&line, '-', &start) || !span_cut(&line, ':', &end))
		return false;
	claim->holder = span_trim(line);
	return claim->holder.n && span_u64(start, 16, &claim->start) == 0 &&
	       span_u64(span_trim(end), 16, &claim->end) == 0 && claim->end >= claim->start;
}

bool iomem_next(struct span *rest, struct iomem_walk *walk, struct iomem_claim *claim)
{
	struct span line;

	while (span_cut(rest, '\n', &line)) {
		struct pci_address address;
		size_t depth = depth_of(line);

		if (!cut_range(line, claim))
			continue;
		if (*walk->bdf && depth <= walk->depth)
			*walk->bdf = '\0';
		if (pci_address_parse(claim->holder, &address) &&
		    claim->holder.n < sizeof(walk->bdf)) {
			walk->depth = depth;
			snprintf(walk->bdf, sizeof(walk->bdf), "%.*s", SPAN_FMT(claim->holder));
		} else if (*walk->bdf) {
			memcpy(claim->bdf, walk->bdf, sizeof(claim->bdf));
			return true;
		}
	}
	return false;
}
