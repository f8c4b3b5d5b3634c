/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpulist.c - lists of processors as the kernel writes them: 0-31,64-95 (lib/bitmap.c). */
#include "parse/cpulist.h"

#include <errno.h>

/* More than any kernel is built for (NR_CPUS is 8192 at most). */
#define CPU_MAX (1u << 20)

static bool parse_range(struct span range, uint64_t *first, uint64_t *last)
{
	size_t dash = span_find(range, '-');

	if (span_u64((struct span){ range.p, dash }, 10, first))
		return false;
	*last = *first;
	if (dash < range.n &&
	    span_u64((struct span){ range.p + dash + 1, range.n - dash - 1 }, 10, last))
		return false;
	return *last >= *first && *last <= CPU_MAX;
}

int cpulist_parse(struct span text, struct cpulist *list)
{
	struct span rest = span_trim(text), range;
	uint64_t first, last;

	*list = (struct cpulist){ 0 };
	while (span_cut(&rest, ',', &range)) {
		if (!parse_range(range, &first, &last))
			return -EINVAL;
		if (!list->count || first < list->first)
			list->first = first;
		list->count += last - first + 1;
	}
	return 0;
}

static bool overlaps_range(struct span list, uint64_t first, uint64_t last)
{
	struct span rest = span_trim(list), range;
	uint64_t from, to;

	while (span_cut(&rest, ',', &range))
		if (parse_range(range, &from, &to) && from <= last && first <= to)
			return true;
	return false;
}

bool cpulist_overlap(struct span a, struct span b)
{
	struct span rest = span_trim(a), range;
	uint64_t first, last;

	while (span_cut(&rest, ',', &range))
		if (parse_range(range, &first, &last) && overlaps_range(b, first, last))
			return true;
	return false;
}
