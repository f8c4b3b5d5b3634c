/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "parse/cpulist.h"

#include <errno.h>

/* More than any kernel is built for (NR_CPUS is 8192 at most). */
#define CPU_MAX (1u << 20)

int cpulist_parse(struct span text, struct cpulist *list)
{
	struct span rest = span_trim(text), range;

	*list = (struct cpulist){ 0 };
	while (span_cut(&rest, ',', &range)) {
		size_t dash = span_find(range, '-');
		uint64_t first, last;

		if (span_u64((struct span){ range.p, dash }, 10, &first))
			return -EINVAL;
		last = first;
		if (dash < range.n &&
		    span_u64((struct span){ range.p + dash + 1, range.n - dash - 1 }, 10, &last))
			return -EINVAL;
		if (last < first || last > CPU_MAX)
			return -EINVAL;
		if (!list->count || first < list->first)
			list->first = first;
		list->count += last - first + 1;
	}
	return 0;
}
