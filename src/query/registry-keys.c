/* SPDX-License-Identifier: GPL-2.0-or-later */
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

/* A key of VALUE that IN_EFFECT lacks, or NULL. */
static const char *missing_key(struct arena *arena, const char *in_effect, const char *value)
{
	struct span rest = span_of(value);
	struct registry_entry entry, found;

	while (registry_next(&rest, &entry)) {
		const char *key = arena_strndup(arena, entry.key.p, entry.key.n);

		if (!entry.skipped && !registry_find(span_of(in_effect), key, &found))
			return key;
	}
	return NULL;
}

static void add_assignment(struct registry_merge *m, struct arena_text *keys,
			   const struct modprobe_assignment *a)
{
	struct arena *arena = keys->arena;
	const char *missing = NULL;

	if (is_known(a->value) && is_known(m->last->value) && !m->missing)
		missing = missing_key(arena, m->last->value.value, a->value.value);
	if (missing || !m->other)
		m->other = a;
	m->missing = missing ? missing : m->missing;
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
