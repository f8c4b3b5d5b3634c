/* SPDX-License-Identifier: GPL-2.0-or-later */
/* since.c - the changes on a node since an earlier facts file. */
#include "fleet/since.h"

#include "base/json.h"
#include "facts/facts.h"
#include "fleet/fleet.h"

struct taking {
	struct changes *changes;
	struct arena *arena;
};

static const char *text_of(struct arena *arena, struct json_object *json)
{
	return json ? arena_strdup(arena, json_object_to_json_string_ext(
						  json, JSON_C_TO_STRING_PLAIN |
								JSON_C_TO_STRING_NOSLASHESCAPE))
		    : NULL;
}

static void take(void *user, const char *path, struct json_object *before,
		 struct json_object *after)
{
	struct taking *t = user;
	struct change *change;

	/* Facts that always change are left out. Unlike between nodes, a new device number or BAR address is a
	 * change here. */
	if (fleet_is_volatile(path))
		return;
	change = LIST_ADD(t->arena, &t->changes->items);
	change->fact = arena_strdup(t->arena, path);
	change->before = text_of(t->arena, before);
	change->after = text_of(t->arena, after);
}

void since_compare(struct changes *changes, const struct node *before, const struct node *after,
		   struct arena *arena)
{
	struct taking taking = { changes, arena };

	changes->items.state = FACT_KNOWN;
	fact_compare(&node_desc, before, after, arena, take, &taking);
}
