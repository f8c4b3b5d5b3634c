/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fact.c - what one observed value is, and the descriptions of the structs of facts. */
#include "facts/fact.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"

bool str_starts(struct fact_str fact, const char *prefix)
{
	return fact.state == FACT_KNOWN && starts_with(fact.value, prefix);
}

bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

struct fact_str fact_strn(struct arena *arena, const char *s, size_t n)
{
	char *copy = arena_alloc(arena, utf8_clean_size(s, n));

	utf8_clean(copy, s, n);
	return (struct fact_str){ FACT_KNOWN, copy };
}

struct fact_str fact_str(struct arena *arena, const char *s)
{
	return fact_strn(arena, s, strlen(s));
}

/* Returns the capacity of a list that has COUNT items. */
static size_t room_for(size_t count)
{
	size_t room = 4;

	while (room < count)
		room *= 2;
	return room;
}

void *fact_list_room(struct arena *arena, size_t count, size_t item_size)
{
	return arena_alloc(arena, room_for(count) * item_size);
}

void *fact_list_add(struct arena *arena, void *list, size_t item_size)
{
	struct fact_list *l = list;
	size_t room = room_for(l->count);

	/* A list that was emptied keeps its capacity. */
	if (!l->items || l->count == room) {
		void *items = arena_alloc(arena, (l->count ? room * 2 : room) * item_size);

		if (l->count)
			memcpy(items, l->items, l->count * item_size);
		l->items = items;
	}
	l->state = FACT_KNOWN;
	return (char *)l->items + l->count++ * item_size;
}

void fact_list_sort(void *list, size_t item_size, int (*compare)(const void *, const void *))
{
	struct fact_list *l = list;

	if (l->count > 1)
		qsort(l->items, l->count, item_size, compare);
}

/* ---- by name ---- */

static const struct fact_str *name_at(const struct fact_list *list, size_t item_size, uint32_t i)
{
	return (const void *)((const char *)list->items + i * item_size);
}

/* Items without a name come first. */
static int compare_names(const struct fact_str *a, const struct fact_str *b)
{
	if (!is_known(*a) || !is_known(*b))
		return is_known(*a) - is_known(*b);
	return strcmp(a->value, b->value);
}

/* Returns the first item of a settled list whose name does not come before KEY. */
static uint32_t first_from(const struct fact_list *list, size_t item_size, const char *key)
{
	const struct fact_str wanted = { FACT_KNOWN, key };
	uint32_t from = 0, to = list->count;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (compare_names(name_at(list, item_size, middle), &wanted) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

const void *fact_list_find(const void *list, size_t item_size, const char *key)
{
	const struct fact_list *l = list;
	bool settled = l->sorted == l->count;

	/* A probe looks into a list that it has not finished. */
	for (uint32_t i = settled ? first_from(l, item_size, key) : 0; i < l->count; i++) {
		const struct fact_str *name = name_at(l, item_size, i);

		if (str_is(*name, key))
			return name;
		if (settled)
			break;
	}
	return NULL;
}

static int compare_places(const void *a, const void *b)
{
	const struct fact_str *x = *(const struct fact_str *const *)a;
	const struct fact_str *y = *(const struct fact_str *const *)b;
	int order = compare_names(x, y);

	/* Those of one name stay in their order. */
	return order ? order : x < y ? -1 : x > y;
}

static bool is_sorted(const struct fact_list *list, size_t item_size)
{
	for (uint32_t i = 1; i < list->count; i++)
		if (compare_names(name_at(list, item_size, i - 1), name_at(list, item_size, i)) > 0)
			return false;
	return true;
}

/* Moves the items of one circle of PLACES, each to where it belongs: a stranger's list is large, and has no second. */
static void move_circle(char **places, char *items, size_t item_size, size_t first, char *spare)
{
	size_t at = first, from;

	memcpy(spare, items + first * item_size, item_size);
	for (; (from = (size_t)(places[at] - items) / item_size) != first; at = from) {
		memcpy(items + at * item_size, places[at], item_size);
		places[at] = items + at * item_size;
	}
	memcpy(items + at * item_size, spare, item_size);
	places[at] = items + at * item_size;
}

static void sort(struct fact_list *list, size_t item_size)
{
	char **places = memory_need(malloc(list->count * sizeof(*places)));
	char *items = list->items, *spare = memory_need(malloc(item_size));

	for (uint32_t i = 0; i < list->count; i++)
		places[i] = items + i * item_size;
	qsort(places, list->count, sizeof(*places), compare_places);
	for (uint32_t i = 0; i < list->count; i++)
		if (places[i] != items + i * item_size)
			move_circle(places, items, item_size, i, spare);
	free(spare);
	free(places);
}

void fact_list_order(const struct desc *desc, struct fact_list *list)
{
	if (desc->ordered || desc->fields[0].type != FIELD_STR || desc->fields[0].offset)
		return;
	if (!is_sorted(list, desc->size))
		sort(list, desc->size);
	list->sorted = list->count;
}

const struct field *desc_field(const struct desc *desc, const char *name, size_t n)
{
	for (size_t i = 0; i < desc->count; i++) {
		const struct field *f = &desc->fields[i];

		/* The first character distinguishes nearly all. */
		if (f->name[0] == *name && strncmp(f->name, name, n) == 0 && f->name[n] == '\0')
			return f;
	}
	return NULL;
}

const char *fact_decimal(uint64_t number, char buffer[24])
{
	char *at = buffer + 23;

	*at = '\0';
	do {
		*--at = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	return at;
}

const char *desc_key(const struct desc *desc, const void *item, char buffer[24])
{
	const struct field *f = &desc->fields[0];
	const void *value = (const char *)item + f->offset;

	if (f->type == FIELD_STR && is_known(*(const struct fact_str *)value))
		return ((const struct fact_str *)value)->value;
	if (f->type == FIELD_U64 && is_known(*(const struct fact_u64 *)value))
		return fact_decimal(((const struct fact_u64 *)value)->value, buffer);
	return NULL;
}

const char *desc_name(const struct desc *desc, const void *item, char buffer[24])
{
	return desc->ordered && !desc->distinct ? NULL : desc_key(desc, item, buffer);
}

/* The items of a list whose state is unknown are dropped, because JSON cannot express that state. */
static void close_list(const struct desc *desc, struct fact_list *list)
{
	if (list->state != FACT_KNOWN)
		list->count = 0;
	for (uint32_t i = 0; desc && i < list->count; i++)
		fact_close_holes(desc, (char *)list->items + i * desc->size);
	if (desc)
		fact_list_order(desc, list);
}

void field_close_holes(const struct field *field, void *value)
{
	if (field->type == FIELD_STR && !is_known(*(struct fact_str *)value))
		((struct fact_str *)value)->value = "";
	else if (field->type == FIELD_STRUCT)
		fact_close_holes(field->sub, value);
	else if (field->type == FIELD_LIST || field->type == FIELD_STRS)
		close_list(field->sub, value);
}

void fact_close_holes(const struct desc *desc, void *facts)
{
	const struct field *end = desc->fields + desc->count;

	/* Most are numbers, which hold no string or list: skipping them saves a tenth of the time of preflight. */
	for (const struct field *f = desc->fields; f < end; f++)
		if (f->type == FIELD_STR || f->type == FIELD_STRUCT || f->type == FIELD_LIST ||
		    f->type == FIELD_STRS)
			field_close_holes(f, (char *)facts + f->offset);
}

enum fact_state field_state(const struct field *field, const void *value)
{
	/* A struct without a state of its own is known if any of its members is. */
	if (field->type == FIELD_STRUCT && !field->sub->optional) {
		for (size_t i = 0; i < field->sub->count; i++) {
			const struct field *f = &field->sub->fields[i];

			if (field_state(f, (const char *)value + f->offset) != FACT_UNKNOWN)
				return FACT_KNOWN;
		}
		return FACT_UNKNOWN;
	}
	return *(const enum fact_state *)value;
}
