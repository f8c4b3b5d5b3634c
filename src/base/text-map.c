/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text-map.c - values by texts, so that two long lists are not compared item by item. */
#include "base/text-map.h"

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
	siphash_secret(map->secret);
	return map;
}

static size_t place_of(const struct text_map *map, struct span key)
{
	size_t at = siphash(map->secret, key.p, key.n) & map->mask;

	for (const struct entry *entry = &map->entries[at];
	     entry->key.p && (entry->key.n != key.n || memcmp(entry->key.p, key.p, key.n) != 0);
	     entry = &map->entries[at])
		at = (at + 1) & map->mask;
	return at;
}

void **text_map_at(struct text_map *map, struct span key)
{
	struct entry *entry = &map->entries[place_of(map, key)];

	entry->key = key;
	return &entry->value;
}

void *text_map_get(const struct text_map *map, struct span key)
{
	return map->entries[place_of(map, key)].value;
}
