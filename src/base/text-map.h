/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text-map.h - values by texts, so that two long lists are not compared item by item. The list of a stranger can have
 * thousands of items. */
#ifndef TEXT_MAP_H
#define TEXT_MAP_H

#include "base/arena.h"
#include "base/span.h"

struct text_map;

/* For at most MOST texts, in ARENA. */
struct text_map *text_map_new(struct arena *arena, size_t most);
/* The place of KEY's value, NULL until it is set. KEY is not copied. */
void **text_map_at(struct text_map *map, struct span key);
/* Returns the value of KEY, or NULL. */
void *text_map_get(const struct text_map *map, struct span key);

#endif
