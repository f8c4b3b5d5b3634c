/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text-map.h"

#include <sys/random.h>

#include "base/siphash.h"

struct entry {
	struct span key; /* p is NULL: an empty slot */
	void *value;
};

struct text_map {
	size_t mask;
	uint64_t secret[2];
	struct entry entries[];
};

struct text_map *text_map_new(struct arena *arena, size_t most)
{
	size_t places = 4;
	struct text_map *map;

	while (places < 2 * most)
		places *= 2;
	map = arena_alloc(arena, sizeof(*map) + places * sizeof(struct entry));
	map->mask = places - 1;
	/* Without randomness a list could be made that takes long. */
	if (getrandom(map->secret, sizeof(map->secret), GRND_NONBLOCK) < 0)
		memset(map->secret, 0, sizeof(map->secret));
	return map;
}

void **text_map_at(struct text_map *map, struct span key)
{
	size_t at = siphash(map->secret, key.p, key.n) & map->mask;
	struct entry *entry = &map->entries[at];

	while (entry->key.p && (entry->key.n != key.n || memcmp(entry->key.p, key.p, key.n) != 0)) {
		at = (at + 1) & map->mask;
		entry = &map->entries[at];
	}
	entry->key = key;
	return &entry->value;
}
