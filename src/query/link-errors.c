/* SPDX-License-Identifier: GPL-2.0-or-later */
/* link-errors.c - PCIe errors in the kernel log of the links that lead to a device. */
#include "query/link-errors.h"

#include <inttypes.h>

#include "base/array.h"
#include "query/node-find.h"
#include "query/topology.h"

struct found {
	const struct log_line *line;
	const struct log_subject *own;
};

static void take(const struct log_line *line, const struct pci_device *device, struct found *found)
{
	const struct log_subject *own = log_of_device(line, device->bdf.value);

	if (own && is_known(own->count) && own->count.value &&
	    (!found->own || own->count.value > found->own->count.value))
		*found = (struct found){ line, own };
}

struct link_errors link_errors_find(struct arena *arena, const struct node *node,
				    const struct pci_device *device)
{
	static const char *const patterns[] = { "pcie-error", "pcie-corrected" };
	const struct pci_device *above[PATH_PORTS_MAX];
	size_t n = topology_above(node, device, above);

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		const struct log_line *line = node_log(node, patterns[i]);
		struct found found = { NULL };

		take(line, device, &found);
		for (size_t k = 0; k < n; k++)
			take(line, above[k], &found);
		if (found.own)
			return (struct link_errors){
				.count = found.own->count.value,
				.uncorrected = i == 0,
				.bdf = found.own->name.value,
				.last = found.own->last.value,
				.fact = log_device_fact(arena, line, found.own->name.value,
							"count"),
			};
	}
	return (struct link_errors){ 0 };
}

const char *link_errors_text(struct arena *arena, const struct node *node,
			     const struct pci_device *device, const char **fact)
{
	struct link_errors errors = link_errors_find(arena, node, device);

	if (!errors.count)
		return "";
	if (fact)
		*fact = errors.fact;
	return arena_printf(arena, "; its link had %" PRIu64 " %s PCIe error%s in this boot (%s)",
			    errors.count, errors.uncorrected ? "uncorrected" : "corrected",
			    errors.count == 1 ? "" : "s", errors.bdf);
}
