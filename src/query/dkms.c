/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/dkms.h"
#include "base/command.h"
#include "query/distribution.h"

#include <string.h>

#include "query/node-find.h"

static const struct software_item *find_only(const struct node *node, const char *name)
{
	const struct software_item *found = NULL;

	for_each(item, &node->software.items) {
		if (!str_is(item->name, name))
			continue;
		if (found)
			return NULL;
		found = item;
	}
	return found;
}

/* DKMS has its sources in /usr/src/MODULE-VERSION and names them MODULE/VERSION (dkms(8)). */
const char *command_dkms_rebuild(struct arena *arena, const struct node *node, const char *sources)
{
	const struct software_item *item = find_only(node, sources);
	const char *folder = item ? strrchr(item->path.value, '/') : NULL, *dash, *name;

	if (!folder || !node_software(node, "dkms"))
		return NULL;
	dash = strrchr(folder, '-');
	if (!dash)
		return NULL;
	name = arena_printf(arena, "%.*s/%s", (int)(dash - folder - 1), folder + 1, dash + 1);
	return command_printf(arena, "sudo dkms build --force %s\nsudo dkms install --force %s",
			      name, name);
}
