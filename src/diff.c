/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fact.h"
#include "json.h"
#include "memory.h"

#define PATH_BYTES 512
#define THERE "there"
#define MISSING "not there"

/* ---- the table ---- */

void diff_init(struct diff *diff, size_t nodes)
{
	*diff = (struct diff){ .nodes = nodes };
}

static void free_values(struct diff_key *key)
{
	for (size_t i = 0; i < key->count; i++) {
		free(key->values[i].text);
		free(key->values[i].nodes);
	}
	free(key->values);
	key->values = NULL;
	key->count = 0;
}

void diff_free(struct diff *diff)
{
	for (size_t i = 0; i < diff->count; i++) {
		free_values(&diff->keys[i]);
		free(diff->keys[i].path);
	}
	free(diff->keys);
	free(diff->index);
}

/* FNV-1a */
static uint32_t hash(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h;
}

static void place(struct diff *diff, size_t i)
{
	size_t slot = hash(diff->keys[i].path) & (diff->slots - 1);

	while (diff->index[slot])
		slot = (slot + 1) & (diff->slots - 1);
	diff->index[slot] = (uint32_t)i + 1;
}

static void make_room(struct diff *diff)
{
	if (diff->count < diff->room)
		return;
	diff->room = diff->room ? diff->room * 2 : 1024;
	diff->keys = memory_need(realloc(diff->keys, diff->room * sizeof(*diff->keys)));
	free(diff->index);
	diff->slots = diff->room * 4;
	diff->index = memory_need(calloc(diff->slots, sizeof(*diff->index)));
	for (size_t i = 0; i < diff->count; i++)
		place(diff, i);
}

static struct diff_key *find_key(struct diff *diff, const char *path)
{
	size_t slot;

	if (!diff->slots)
		return NULL;
	for (slot = hash(path) & (diff->slots - 1); diff->index[slot];
	     slot = (slot + 1) & (diff->slots - 1)) {
		struct diff_key *key = &diff->keys[diff->index[slot] - 1];

		if (strcmp(key->path, path) == 0)
			return key;
	}
	return NULL;
}

/* Valid until the next call. Nodes are much alike: after a fact comes mostly the one that came after it
 * before. */
static struct diff_key *get_key(struct diff *diff, const char *path)
{
	struct diff_key *key = diff->next < diff->count ? &diff->keys[diff->next] : NULL;

	if (!key || strcmp(key->path, path) != 0)
		key = find_key(diff, path);
	if (!key) {
		make_room(diff);
		key = &diff->keys[diff->count];
		*key = (struct diff_key){ .path = memory_need(strdup(path)), .own = fleet_is_own(path) };
		place(diff, diff->count++);
	}
	diff->next = (size_t)(key - diff->keys) + 1;
	return key;
}

static struct diff_value *get_value(struct diff *diff, struct diff_key *key, const char *text)
{
	struct diff_value *value;

	for (size_t i = 0; i < key->count; i++)
		if (strcmp(key->values[i].text, text) == 0)
			return &key->values[i];
	if (key->count == DIFF_VALUES_MAX) {
		free_values(key);
		key->various = true;
		return NULL;
	}
	key->values = memory_need(realloc(key->values, (key->count + 1) * sizeof(*key->values)));
	value = &key->values[key->count++];
	*value = (struct diff_value){ .text = memory_need(strdup(text)),
				      .nodes = memory_need(calloc(diff->nodes / 8 + 1, 1)) };
	return value;
}

static void set_bit(struct diff_value *value, size_t node)
{
	if (!diff_has(value, node))
		value->count++;
	value->nodes[node / 8] |= (uint8_t)(1u << node % 8);
}

/* ---- one node ---- */

struct walk {
	struct diff *diff;
	size_t node;
	char path[PATH_BYTES];
};

/* Adds up to three pieces to the path, whose first END bytes stay. */
static void extend(struct walk *w, size_t end, const char *a, const char *b, const char *c)
{
	const char *const pieces[] = { a, b, c };

	for (size_t i = 0; i < 3; i++) {
		size_t n = strlen(pieces[i]), room = sizeof(w->path) - 1 - end;

		n = n < room ? n : room;
		memcpy(w->path + end, pieces[i], n);
		end += n;
	}
	w->path[end] = '\0';
}

static void note(struct walk *w, struct diff_key *key, const char *text)
{
	struct diff_value *value;

	if (key->own || key->various)
		return;
	value = get_value(w->diff, key, text);
	if (value)
		set_bit(value, w->node);
}

static void walk_struct(struct walk *w, const struct desc *desc, const void *facts);

static void walk_list(struct walk *w, struct diff_key *key, const struct field *f,
		      const struct fact_list *list)
{
	size_t end = strlen(w->path);
	char number[24];

	snprintf(number, sizeof(number), "%u", list->count);
	note(w, key, number);
	for (uint32_t i = 0; i < list->count; i++) {
		const void *item = (const char *)list->items + i * f->sub->size;
		const char *name = f->sub->ordered ? NULL : desc_key(f->sub, item, number);

		if (name) {
			extend(w, end, "[", name, "]");
			key = get_key(w->diff, w->path);
			key->presence = true;
			note(w, key, THERE);
		} else {
			snprintf(number, sizeof(number), "%u", i);
			extend(w, end, "[#", number, "]");
		}
		walk_struct(w, f->sub, item);
	}
}

static void walk_value(struct walk *w, struct diff_key *key, const struct field *f,
		       const void *value)
{
	_cleanup_json_ struct json_object *json = NULL;
	const struct fact_u64 *number = value;
	char text[32];

	if (strcmp(w->path, "os.memory_bytes") == 0) {
		/* The firmware keeps some, not always the same. */
		snprintf(text, sizeof(text), "%.0f GiB", (double)number->value / (1u << 30));
		note(w, key, text);
	} else if (f->type != FIELD_STRS) {
		note(w, key, field_text(f, value, text));
	} else {
		json = field_to_json(f, value);
		note(w, key, json_object_get_string(json));
	}
}

static void walk_struct(struct walk *w, const struct desc *desc, const void *facts)
{
	size_t end = strlen(w->path);

	for (size_t i = 0; i < desc->count; i++) {
		const struct field *f = &desc->fields[i];
		const void *value = (const char *)facts + f->offset;
		enum fact_state state = field_state(f, value);
		struct diff_key *key;

		if (state == FACT_UNKNOWN)
			continue;
		extend(w, end, end ? "." : "", f->name, "");
		key = get_key(w->diff, w->path);
		if (key->own)
			continue;
		if (state == FACT_ABSENT)
			note(w, key, "null");
		else if (f->type == FIELD_STRUCT)
			walk_struct(w, f->sub, value);
		else if (f->type == FIELD_LIST)
			walk_list(w, key, f, value);
		else
			walk_value(w, key, f, value);
	}
	w->path[end] = '\0';
}

void diff_add(struct diff *diff, size_t node, const struct node *facts)
{
	struct walk w = { .diff = diff, .node = node };

	walk_struct(&w, &node_desc, facts);
}

/* ---- between processes ---- */

static void put_text(FILE *out, const char *text)
{
	uint32_t n = (uint32_t)strlen(text);

	fwrite(&n, sizeof(n), 1, out);
	fwrite(text, n, 1, out);
}

static char *get_text(FILE *in)
{
	uint32_t n;
	char *text;

	if (fread(&n, sizeof(n), 1, in) != 1)
		return NULL;
	text = memory_need(malloc((size_t)n + 1));
	text[n] = '\0';
	if (n && fread(text, n, 1, in) != 1) {
		free(text);
		return NULL;
	}
	return text;
}

int diff_write(const struct diff *diff, FILE *out)
{
	for (size_t i = 0; i < diff->count; i++) {
		const struct diff_key *key = &diff->keys[i];
		uint32_t head[3] = { (uint32_t)key->count, key->various, key->presence };

		if (key->own || (!key->count && !key->various))
			continue;
		put_text(out, key->path);
		fwrite(head, sizeof(head), 1, out);
		for (size_t k = 0; k < key->count; k++) {
			put_text(out, key->values[k].text);
			fwrite(key->values[k].nodes, diff->nodes / 8 + 1, 1, out);
		}
	}
	return ferror(out) ? -EIO : 0;
}

static int merge_value(struct diff *diff, struct diff_key *key, FILE *in, uint8_t *bits)
{
	struct diff_value *value;
	char *text = get_text(in);

	if (!text || fread(bits, diff->nodes / 8 + 1, 1, in) != 1) {
		free(text);
		return -EIO;
	}
	value = key->various ? NULL : get_value(diff, key, text);
	free(text);
	for (size_t node = 0; value && node < diff->nodes; node++)
		if (bits[node / 8] & 1u << node % 8)
			set_bit(value, node);
	return 0;
}

int diff_merge(struct diff *diff, FILE *in)
{
	uint8_t *bits = memory_need(malloc(diff->nodes / 8 + 1));
	uint32_t head[3];
	char *path;
	int rc = 0;

	while (rc == 0 && (path = get_text(in))) {
		struct diff_key *key = get_key(diff, path);

		free(path);
		if (fread(head, sizeof(head), 1, in) != 1) {
			rc = -EIO;
			break;
		}
		if (head[1]) {
			free_values(key);
			key->various = true;
		}
		key->presence |= head[2];
		for (uint32_t i = 0; rc == 0 && i < head[0]; i++)
			rc = merge_value(diff, key, in, bits);
	}
	free(bits);
	return rc;
}

/* ---- the result ---- */

/* The nodes that say how many items the list has, and have not this one. */
static void add_missing(struct diff *diff, struct diff_key *key)
{
	char *list = memory_need(strdup(key->path));
	struct diff_value *missing;
	struct diff_key *above;
	char *bracket = strrchr(list, '[');

	if (bracket)
		*bracket = '\0';
	above = find_key(diff, list);
	free(list);
	if (!above || key->count != 1)
		return;
	missing = get_value(diff, key, MISSING);
	for (size_t i = 0; i < above->count; i++)
		for (size_t node = 0; node < diff->nodes; node++)
			if (diff_has(&above->values[i], node) && !diff_has(&key->values[0], node))
				set_bit(missing, node);
	if (!missing->count) {
		free(missing->text);
		free(missing->nodes);
		key->count--;
	}
}

static int compare_values(const void *a, const void *b)
{
	const struct diff_value *x = a, *y = b;

	return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
				    : strcmp(x->text, y->text);
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(((const struct diff_key *)a)->path, ((const struct diff_key *)b)->path);
}

void diff_finish(struct diff *diff)
{
	size_t kept = 0;

	for (size_t i = 0; i < diff->count; i++)
		if (diff->keys[i].presence)
			add_missing(diff, &diff->keys[i]);
	free(diff->index);
	diff->index = NULL;
	diff->slots = 0;
	for (size_t i = 0; i < diff->count; i++) {
		struct diff_key *key = &diff->keys[i];

		if (key->own || (key->count < 2 && !key->various)) {
			free_values(key);
			free(key->path);
			continue;
		}
		if (key->count)
			qsort(key->values, key->count, sizeof(*key->values), compare_values);
		diff->keys[kept++] = *key;
	}
	diff->count = kept;
	if (kept)
		qsort(diff->keys, kept, sizeof(*diff->keys), compare_keys);
}

const struct diff_value *diff_majority(const struct diff_key *key)
{
	size_t all = 0;

	for (size_t i = 0; i < key->count; i++)
		all += key->values[i].count;
	return key->count && key->values[0].count * 2 > all ? &key->values[0] : NULL;
}

size_t *diff_odd(const struct diff *diff)
{
	size_t *odd = memory_need(calloc(diff->nodes + 1, sizeof(*odd)));

	for (size_t i = 0; i < diff->count; i++) {
		const struct diff_key *key = &diff->keys[i];
		const struct diff_value *most = diff_majority(key);

		for (size_t k = 0; most && k < key->count; k++)
			for (size_t node = 0; &key->values[k] != most && node < diff->nodes; node++)
				odd[node] += diff_has(&key->values[k], node);
	}
	return odd;
}
