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

const char *link_errors_text(struct arena *arena, const struct node *node,
			     const struct pci_device *device, const char **fact)
{
	static const struct {
		const char *pattern, *what;
	} kinds[] = { { "pcie-error", "uncorrected" }, { "pcie-corrected", "corrected" } };
	const struct pci_device *above[PATH_PORTS_MAX];
	size_t n = topology_above(node, device, above);

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct log_line *line = node_log(node, kinds[i].pattern);
		struct found found = { NULL };

		take(line, device, &found);
		for (size_t k = 0; k < n; k++)
			take(line, above[k], &found);
		if (!found.own)
			continue;
		if (fact)
			*fact = log_device_fact(arena, line, found.own->name.value, "count");
		return arena_printf(arena,
				    "; its link had %" PRIu64 " %s PCIe error%s in this boot (%s)",
				    found.own->count.value, kinds[i].what,
				    found.own->count.value == 1 ? "" : "s", found.own->name.value);
	}
	return "";
}
