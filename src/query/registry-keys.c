/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * registry-keys.c - keys of NVreg_RegistryDwords: which of them switch NVLink off, whether two values agree, and what
 * several assignments of it set together.
 */
#include "query/registry-keys.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/span.h"
#include "query/setting.h"

#define OPTION "NVreg_RegistryDwords"

/*
 * nvrm_registry.h: bit 0 of RMNvLinkControl forces NVLink off (which is what NvLinkDisable=1 sets),
 * RMNvLinkDisableLinks* takes away the links of its bits, RMNvLinkEnable leaves only those of its bits.
 */
const char *const registry_nvlink_keys[] = { "RMNvLinkControl", "RMNvLinkDisableLinks",
					     "RMNvLinkDisableLinks2", "RMNvLinkEnable", NULL };

static bool switches_nvlink_off(const char *key, uint64_t number)
{
	if (strcmp(key, "RMNvLinkControl") == 0)
		return number & 1;
	if (strcmp(key, "RMNvLinkEnable") == 0)
		return (uint32_t)number != UINT32_MAX;
	return number != 0;
}

bool registry_nvlink_off(const char *value, struct registry_entry *entry)
{
	for (const char *const *key = registry_nvlink_keys; value && *key; key++)
		if (registry_find(span_of(value), *key, entry) &&
		    switches_nvlink_off(*key, entry->number))
			return true;
	return false;
}

static const char *nvlink_off_text(struct arena *arena, const char *value)
{
	struct registry_entry entry;

	return registry_nvlink_off(value, &entry)
		       ? arena_printf(arena, "%.*s=%.*s", SPAN_FMT(entry.key),
				      SPAN_FMT(entry.value))
		       : NULL;
}

static bool leaves_nvlink_on(struct arena *arena, const struct registry_entry *entry)
{
	struct registry_entry found;
	size_t used = arena_used(arena);
	const char *text = arena_printf(arena, "%.*s=%.*s", SPAN_FMT(entry->key),
					SPAN_FMT(entry->value));
	bool on = !registry_nvlink_off(text, &found);

	arena_rewind(arena, used);
	return on;
}

/* The valid entries of VALUE that leave NVLink on, and whose keys what was added lacks. */
static void add_keys(struct arena_text *keys, const char *value)
{
	struct span rest = span_of(value);
	struct registry_entry entry, found;
	char key[64];

	/* kernel/params.c: the module does not load with more than 1024 bytes of it. */
	while (keys->n <= 2048 && registry_next(&rest, &entry)) {
		if (entry.problem || entry.skipped || entry.key.n >= sizeof(key) ||
		    !leaves_nvlink_on(keys->arena, &entry))
			continue;
		snprintf(key, sizeof(key), "%.*s", SPAN_FMT(entry.key));
		if (!registry_find(span_of(arena_added(keys)), key, &found))
			arena_add(keys, "%s=%.*s;", key, SPAN_FMT(entry.value));
	}
}

/* Returns true if VALUE lacks a key of OTHER, or, with NUMBERS, sets it to another number. */
static bool lacks_key(const char *value, const char *other, bool numbers,
		      struct registry_entry *missing)
{
	struct span rest = span_of(other);
	struct registry_entry last, found;

	while (registry_next(&rest, missing)) {
		char key[1025]; /* the kernel takes no longer value */

		if (missing->skipped)
			continue;
		snprintf(key, sizeof(key), "%.*s", SPAN_FMT(missing->key));
		/* Of a key that is there twice the last number counts. */
		if (!registry_find(span_of(value), key, &found) ||
		    (numbers && registry_find(span_of(other), key, &last) &&
		     last.number != found.number))
			return true;
	}
	return false;
}

static bool is_registry(const char *text)
{
	struct span rest = span_of(text);
	struct registry_entry entry;

	return strchr(text, '=') && registry_next(&rest, &entry);
}

/* Where "pci=" divides the entries among devices their order counts: the keys cannot be compared one by one. */
static bool is_per_device(const char *text)
{
	struct registry_entry entry;

	return registry_find(span_of(text), "pci", &entry);
}

bool param_gives(const char *value, const char *other)
{
	struct registry_entry missing;
	uint64_t x, y;

	if (strcmp(value, other) == 0)
		return true;
	if (is_registry(value) && is_registry(other))
		return !is_per_device(value) && !is_per_device(other) &&
		       !lacks_key(value, other, true, &missing);
	return span_u64(span_of(value), 0, &x) == 0 && span_u64(span_of(other), 0, &y) == 0 &&
	       (uint32_t)x == (uint32_t)y;
}

bool param_keeps(const char *configured, const char *running)
{
	struct registry_entry missing;

	if (!configured || !*configured)
		return false;
	return !is_registry(running) || is_per_device(configured) || is_per_device(running) ||
	       !lacks_key(configured, running, false, &missing);
}

static void add_assignment(struct registry_merge *m, struct arena_text *keys,
			   const struct modprobe_assignment *a)
{
	struct arena *arena = keys->arena;
	struct registry_entry key;
	bool missing = is_known(a->value) && is_known(m->last->value) && !m->missing &&
		       lacks_key(m->last->value.value, a->value.value, false, &key);

	if (missing || !m->other)
		m->other = a;
	if (missing)
		m->missing = arena_strndup(arena, key.key.p, key.key.n);
	if (!is_known(a->value))
		return;
	add_keys(keys, a->value.value);
	if (!m->nvlink_off)
		m->nvlink_off = nvlink_off_text(arena, a->value.value);
}

struct registry_merge registry_merge(const struct node *node, struct arena *arena)
{
	const struct modprobe_facts *modprobe = &node->modprobe;
	struct registry_merge m = { .last = setting_nvidia_assignment(node, modprobe, OPTION) };
	struct arena_text keys = { .arena = arena };

	if (m.last && is_known(m.last->value)) {
		add_keys(&keys, m.last->value.value);
		m.nvlink_off = nvlink_off_text(arena, m.last->value.value);
	}
	for_each(a, &modprobe->assignments) {
		if (!str_is(a->param, OPTION))
			continue;
		m.count++;
		if (m.last && a != m.last)
			add_assignment(&m, &keys, a);
	}
	m.keys = arena_added(&keys);
	return m;
}
