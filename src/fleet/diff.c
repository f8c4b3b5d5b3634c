/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diff.c - the table of facts and values, and the additions of one node to it. */
#include "fleet/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/siphash.h"
#include "facts/facts.h"

#define PATH_BYTES 512
#define THERE "there"
#define PIECE 24 /* bytes that malloc() needs for one piece of memory, about */

/* ---- the table ---- */

void diff_init(struct diff *diff, size_t nodes)
{
	*diff = (struct diff){ .nodes = nodes, .root.path = memory_need(strdup("")) };
	siphash_secret(diff->secret);
}

static size_t bytes_of(const struct diff_value *value)
{
	return sizeof(*value) + 3 * PIECE + strlen(value->text) +
	       value->nodes.room * sizeof(struct node_run);
}

void diff_free_values(struct diff *diff, struct diff_key *key)
{
	for (size_t i = 0; i < key->count; i++) {
		diff->bytes -= bytes_of(&key->values[i]);
		free(key->values[i].text);
		node_set_free(&key->values[i].nodes);
	}
	free(key->values);
	key->values = NULL;
	key->count = 0;
}

void diff_free(struct diff *diff)
{
	for (size_t i = 0; i < diff->count; i++) {
		diff_free_values(diff, diff->keys[i]);
		free(diff->keys[i]->path);
		free(diff->keys[i]);
	}
	free(diff->root.path);
	free(diff->keys);
	free(diff->index);
}

static size_t slot_of(const struct diff *diff, const char *path)
{
	return siphash(diff->secret, path, strlen(path)) & (diff->slots - 1);
}

static void place(struct diff *diff, struct diff_key *key)
{
	size_t slot = slot_of(diff, key->path);

	while (diff->index[slot])
		slot = (slot + 1) & (diff->slots - 1);
	diff->index[slot] = key;
}

static void make_room(struct diff *diff)
{
	if (diff->count < diff->room)
		return;
	diff->room = diff->room ? diff->room * 2 : 1024;
	diff->keys = memory_need(realloc(diff->keys, diff->room * sizeof(*diff->keys)));
	free(diff->index);
	diff->slots = diff->room * 2;
	diff->index = memory_need(calloc(diff->slots, sizeof(*diff->index)));
	for (size_t i = 0; i < diff->count; i++)
		place(diff, diff->keys[i]);
}

struct diff_key *diff_find_key(const struct diff *diff, const char *path)
{
	size_t slot;

	if (!diff->slots)
		return NULL;
	for (slot = slot_of(diff, path); diff->index[slot]; slot = (slot + 1) & (diff->slots - 1))
		if (strcmp(diff->index[slot]->path, path) == 0)
			return diff->index[slot];
	return NULL;
}

struct diff_key *diff_key(struct diff *diff, const char *path)
{
	struct diff_key *key = diff_find_key(diff, path);

	if (key)
		return key;
	make_room(diff);
	key = memory_need(malloc(sizeof(*key)));
	*key = (struct diff_key){ .path = memory_need(strdup(path)), .own = fleet_is_own(path) };
	place(diff, key);
	diff->keys[diff->count++] = key;
	diff->bytes += sizeof(*key) + strlen(path) +
		       4 * sizeof(key); /* with its places in both lists */
	return key;
}

struct diff_value *diff_value(struct diff *diff, struct diff_key *key, const char *text)
{
	struct diff_value *value;

	if (key->last < key->count && strcmp(key->values[key->last].text, text) == 0)
		return &key->values[key->last];
	for (key->last = 0; key->last < key->count; key->last++)
		if (strcmp(key->values[key->last].text, text) == 0)
			return &key->values[key->last];
	if (key->count == DIFF_VALUES_MAX) {
		diff_free_values(diff, key);
		key->various = true;
		return NULL;
	}
	key->values = memory_need(realloc(key->values, (key->count + 1) * sizeof(*key->values)));
	value = &key->values[key->count++];
	*value = (struct diff_value){ .text = memory_need(strdup(text)) };
	diff->bytes += bytes_of(value);
	return value;
}

void diff_add_nodes(struct diff *diff, struct diff_value *value, struct node_run nodes)
{
	size_t room = value->nodes.room;

	node_set_add(&value->nodes, nodes);
	diff->bytes += (value->nodes.room - room) * sizeof(struct node_run);
}

/* ---- one node ---- */

struct walk {
	struct diff *diff;
	struct diff_key *at; /* the last one that was met */
	struct node_run node;
};

static bool is_item(const struct diff_key *key, const char *item)
{
	size_t n = strlen(item);

	return strncmp(key->item, item, n) == 0 && strcmp(key->item + n, "]") == 0;
}

/* The key of field F below the key above, or of an item of the list above. Nodes are much alike: it is mostly the next
 * key of the node before. */
static struct diff_key *get_key(struct walk *w, const struct diff_key *above, const struct field *f,
				const char *item)
{
	struct diff_key *key = w->at->next;
	char path[PATH_BYTES];
	size_t end;

	if (!key || key->above != above || key->field != f || (item && !is_item(key, item))) {
		snprintf(path, sizeof(path),
			 item		? "%s[%s]"
			 : *above->path ? "%s.%s"
					: "%s%s",
			 above->path, item ? item : f->name);
		key = diff_key(w->diff, path);
		end = strlen(above->path);
		key->above = above;
		key->field = f;
		key->item = key->path + (key->path[end] ? end + 1 : end);
		w->at->next = key;
	}
	w->at = key;
	return key;
}

static void note(struct walk *w, struct diff_key *key, const char *text)
{
	struct diff_value *value;

	if (key->own || key->various)
		return;
	value = diff_value(w->diff, key, text);
	if (value)
		diff_add_nodes(w->diff, value, w->node);
	key->numbered = false;
}

/* Returns true if it is the same number as in the node before, whose text can be used again. */
static bool note_again(struct walk *w, struct diff_key *key, uint64_t number)
{
	if (!key->numbered || key->number != number || key->own || key->various)
		return false;
	diff_add_nodes(w->diff, &key->values[key->last], w->node);
	return true;
}

static void note_number(struct walk *w, struct diff_key *key, uint64_t number, const char *text)
{
	note(w, key, text);
	key->numbered = true;
	key->number = number;
}

static void walk_struct(struct walk *w, const struct diff_key *above, const struct desc *desc,
			const void *facts);

static void walk_list(struct walk *w, struct diff_key *above, const struct field *f,
		      const struct fact_list *list)
{
	char number[24];

	if (!note_again(w, above, list->count))
		note_number(w, above, list->count, fact_decimal(list->count, number));
	for (uint32_t i = 0; i < list->count && w->diff->bytes <= DIFF_BYTES_MAX; i++) {
		const void *item = (const char *)list->items + i * f->sub->size;
		const char *name = desc_name(f->sub, item, number);
		char place[25] = "#";
		struct diff_key *key;

		if (!name)
			strcpy(place + 1, fact_decimal(i, number));
		key = get_key(w, above, NULL, name ? name : place);
		if (name) {
			key->presence = true;
			note(w, key, THERE);
		}
		walk_struct(w, key, f->sub, item);
	}
}

static const char *text_of(const struct diff_key *key, const void *value, char buffer[32])
{
	const struct fact_u64 *number = value;

	if (strcmp(key->path, "os.memory_bytes") != 0)
		return field_text(key->field, value, buffer);
	/* The firmware keeps some, not always the same. */
	snprintf(buffer, 32, "%.0f GiB", (double)number->value / (1u << 30));
	return buffer;
}

static uint64_t number_of(const struct field *f, const void *value)
{
	if (f->type == FIELD_BOOL)
		return ((const struct fact_bool *)value)->value;
	if (f->type == FIELD_ENUM)
		return (uint64_t)((const struct fact_enum *)value)->value;
	return ((const struct fact_u64 *)value)->value;
}

static void walk_value(struct walk *w, struct diff_key *key, const void *value)
{
	_cleanup_json_ struct json_object *json = NULL;
	const struct field *f = key->field;
	uint64_t number;
	char text[32];

	if (f->type == FIELD_STR) {
		note(w, key, ((const struct fact_str *)value)->value);
	} else if (f->type == FIELD_STRS) {
		json = field_to_json(f, value);
		note(w, key, json_object_get_string(json));
	} else {
		number = number_of(f, value);
		if (!note_again(w, key, number))
			note_number(w, key, number, text_of(key, value, text));
	}
}

static void walk_struct(struct walk *w, const struct diff_key *above, const struct desc *desc,
			const void *facts)
{
	for (size_t i = 0; i < desc->count; i++) {
		const struct field *f = &desc->fields[i];
		const void *value = (const char *)facts + f->offset;
		enum fact_state state = field_state(f, value);
		struct diff_key *key;

		if (state == FACT_UNKNOWN)
			continue;
		key = get_key(w, above, f, NULL);
		if (key->own)
			continue;
		if (state == FACT_ABSENT)
			note(w, key, "null");
		else if (f->type == FIELD_STRUCT)
			walk_struct(w, key, f->sub, value);
		else if (f->type == FIELD_LIST)
			walk_list(w, key, f, value);
		else
			walk_value(w, key, value);
	}
}

void diff_add(struct diff *diff, size_t node, const struct node *facts)
{
	struct walk w = { .diff = diff,
			  .at = &diff->root,
			  .node = { (uint32_t)node, (uint32_t)node + 1 } };

	walk_struct(&w, &diff->root, &node_desc, facts);
}
