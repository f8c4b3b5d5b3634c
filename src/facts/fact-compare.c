/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fact-compare.c - compares two sets of facts. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text-map.h"
#include "facts/fact.h"

struct compare {
	fact_differs *differs;
	void *user;
	struct arena *arena;
	size_t count;
	char path[512];
};

static void compare_struct(struct compare *c, const struct desc *desc, const void *a,
			   const void *b);

static void report(struct compare *c, const struct field *f, const void *a, const void *b)
{
	_cleanup_json_ struct json_object *ja = NULL;
	_cleanup_json_ struct json_object *jb = NULL;

	c->count++;
	if (!c->differs)
		return;
	ja = a && field_state(f, a) == FACT_KNOWN ? field_to_json(f, a) : NULL;
	jb = b && field_state(f, b) == FACT_KNOWN ? field_to_json(f, b) : NULL;
	c->differs(c->user, c->path, ja, jb);
}

static const void *list_item(const struct desc *desc, const struct fact_list *list, uint32_t i)
{
	return i < list->count ? (const char *)list->items + i * desc->size : NULL;
}

static bool is_named(const struct desc *desc, const void *item, const char *key)
{
	char buffer[24];
	const char *name = desc_name(desc, item, buffer);

	return name && strcmp(name, key) == 0;
}

/* The items of LIST by their names; of some with one name the first. */
static struct text_map *by_name(struct compare *c, const struct desc *desc,
				const struct fact_list *list)
{
	struct text_map *names = text_map_new(c->arena, list->count);

	for (uint32_t i = 0; i < list->count; i++) {
		const void *item = list_item(desc, list, i);
		char buffer[24];
		const char *name = desc_name(desc, item, buffer);
		void **at;

		if (name == buffer)
			name = arena_strdup(c->arena, name);
		at = name ? text_map_at(names, span_of(name)) : NULL;
		if (at && !*at)
			*at = (void *)item;
	}
	return names;
}

/* Mostly it stands at the same place; of items that have one name against the rule, each has its own. NAMES is made
 * when an item does not. */
static const void *partner(struct compare *c, const struct desc *desc, const struct fact_list *list,
			   const char *key, uint32_t i, struct text_map **names)
{
	const void *item = list_item(desc, list, i);

	if (!key || (item && is_named(desc, item, key)))
		return item;
	if (!*names)
		*names = by_name(c, desc, list);
	return text_map_get(*names, span_of(key));
}

/* Items of A with their partners in B, then (A and B changed over) those that B has alone. */
static void compare_items(struct compare *c, const struct field *f, const struct fact_list *a,
			  const struct fact_list *b, bool turned)
{
	const struct field whole = { .name = "", .type = FIELD_STRUCT, .sub = f->sub };
	size_t end = strlen(c->path);
	struct text_map *names = NULL;

	for (uint32_t i = 0; i < a->count; i++) {
		const void *item = list_item(f->sub, a, i);
		char buffer[24];
		const char *key = desc_name(f->sub, item, buffer);
		const void *other = partner(c, f->sub, b, key, i, &names);

		if (key)
			snprintf(c->path + end, sizeof(c->path) - end, "[%s]", key);
		else
			snprintf(c->path + end, sizeof(c->path) - end, "[#%u]", i);
		if (!other)
			report(c, &whole, turned ? NULL : item, turned ? item : NULL);
		else if (!turned)
			compare_struct(c, f->sub, item, other);
	}
	c->path[end] = '\0';
}

static bool same_strings(const struct fact_list *a, const struct fact_list *b)
{
	if (a->count != b->count)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (strcmp(((const char **)a->items)[i], ((const char **)b->items)[i]) != 0)
			return false;
	return true;
}

static bool same_value(const struct field *f, const void *a, const void *b)
{
	switch (f->type) {
	case FIELD_BOOL:
		return ((const struct fact_bool *)a)->value == ((const struct fact_bool *)b)->value;
	case FIELD_ENUM:
		return ((const struct fact_enum *)a)->value == ((const struct fact_enum *)b)->value;
	case FIELD_U64:
	case FIELD_HEX:
	case FIELD_LIMIT:
		return ((const struct fact_u64 *)a)->value == ((const struct fact_u64 *)b)->value;
	case FIELD_STR:
		return strcmp(((const struct fact_str *)a)->value,
			      ((const struct fact_str *)b)->value) == 0;
	case FIELD_STRS:
		return same_strings(a, b);
	default:
		return true;
	}
}

static void compare_field(struct compare *c, const struct field *f, const void *a, const void *b)
{
	enum fact_state sa = field_state(f, a);
	enum fact_state sb = field_state(f, b);

	if (sa != sb)
		report(c, f, a, b);
	else if (sa != FACT_KNOWN)
		return;
	else if (f->type == FIELD_STRUCT)
		compare_struct(c, f->sub, a, b);
	else if (f->type == FIELD_LIST) {
		compare_items(c, f, a, b, false);
		compare_items(c, f, b, a, true);
	} else if (!same_value(f, a, b))
		report(c, f, a, b);
}

static void compare_struct(struct compare *c, const struct desc *desc, const void *a, const void *b)
{
	size_t end = strlen(c->path);

	for (size_t i = 0; i < desc->count; i++) {
		const struct field *f = &desc->fields[i];

		snprintf(c->path + end, sizeof(c->path) - end, "%s%s", end ? "." : "", f->name);
		compare_field(c, f, (const char *)a + f->offset, (const char *)b + f->offset);
	}
	c->path[end] = '\0';
}

size_t fact_compare(const struct desc *desc, const void *a, const void *b, struct arena *arena,
		    fact_differs *differs, void *user)
{
	struct compare c = { .differs = differs, .user = user, .arena = arena };

	compare_struct(&c, desc, a, b);
	return c.count;
}
