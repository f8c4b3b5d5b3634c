/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fact-path.c - finds the value, and its file, of a path such as "pci.devices[0000:1b:00.0].numa_node". */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/span.h"
#include "facts/fact.h"

#define KEYS_MAX 4

struct walk {
	struct arena *arena;
	struct span keys[KEYS_MAX];
	size_t keys_count;
	const char *source;  /* a template */
	const char *file;    /* of the nearest struct that names its own */
	const char *archive; /* that this file is in */
	uint64_t line;
};

/* An item may name its own file. */
static void note_own_source(struct walk *w, const struct desc *desc, const void *item)
{
	const struct field *file = desc_field(desc, desc->archive ? "path" : "file", 4);
	const struct field *line = desc_field(desc, "line", 4);

	if (!file)
		file = desc_field(desc, "source", 6);
	if (file && file->type == FIELD_STR) {
		const struct fact_str *s = (const void *)((const char *)item + file->offset);

		if (is_known(*s) && desc->archive)
			w->archive = s->value;
		else if (is_known(*s))
			w->file = s->value;
	}
	if (line && line->type == FIELD_U64) {
		const struct fact_u64 *u = (const void *)((const char *)item + line->offset);

		if (is_known(*u))
			w->line = u->value;
	}
}

static const void *find_item(const struct desc *desc, const struct fact_list *list, struct span key)
{
	char buffer[24];
	uint64_t index;

	for (uint32_t i = 0; i < list->count; i++) {
		const void *item = (const char *)list->items + i * desc->size;
		const char *name = desc_key(desc, item, buffer);

		if (name && strncmp(name, key.p, key.n) == 0 && !name[key.n])
			return item;
	}
	/* Lists whose items have no names use numbers: "#0" is the first. */
	if (key.n > 1 && key.p[0] == '#' &&
	    span_u64((struct span){ key.p + 1, key.n - 1 }, 10, &index) == 0 && index < list->count)
		return (const char *)list->items + index * desc->size;
	return NULL;
}

/* Cuts the next key: "[...]", where an item's name can be empty, or a name up to '.' or '['. */
static bool next_key(const char **path, struct span *key)
{
	bool is_item = **path == '[';
	const char *end;

	if (is_item) {
		end = strchr(*path, ']');
		if (!end)
			return false;
		*key = (struct span){ *path + 1, (size_t)(end - *path) - 1 };
		*path = end + 1;
	} else {
		end = *path + strcspn(*path, ".[");
		*key = (struct span){ *path, (size_t)(end - *path) };
		*path = end;
	}
	/* A dot leads on. */
	if (**path == '.' && !*++*path)
		return false;
	return is_item || key->n > 0;
}

/* The key for "{0}" or "{0/}" at T, and the length of the latter. Without p: T has neither. */
static struct span key_at(const struct walk *w, const char *t, size_t *length)
{
	size_t key = (size_t)(t[0] == '{' ? t[1] - '0' : KEYS_MAX);

	if (key >= w->keys_count)
		return (struct span){ 0 };
	*length = t[2] == '/' ? 4 : 3;
	return t[*length - 1] == '}' ? w->keys[key] : (struct span){ 0 };
}

static const char *fill_source(struct walk *w)
{
	char text[512];
	size_t n = 0, length;

	for (const char *t = w->source; *t && n < sizeof(text); t += length) {
		struct span key = key_at(w, t, &length);
		bool slashes = key.p && t[length - 2] == '/';

		if (!key.p) {
			key = (struct span){ t, 1 };
			length = 1;
		}
		for (size_t i = 0; i < key.n && n < sizeof(text); i++)
			text[n++] = slashes && key.p[i] == '.' ? '/' : key.p[i];
	}
	return arena_strndup(w->arena, text, n);
}

/* An item as a whole, which no struct describes. */
static const struct field *item_field(struct arena *arena, const struct field *list)
{
	struct field *item = arena_alloc(arena, sizeof(*item));

	*item = (struct field){ .name = list->name, .type = FIELD_STRUCT, .sub = list->sub };
	return item;
}

const char *fact_path(struct arena *arena, const char *list, const char *key, const char *member)
{
	size_t list_n = strlen(list), key_n = strlen(key), member_n = strlen(member);
	char *path = arena_alloc(arena, list_n + key_n + member_n + sizeof("[]."));
	char *at = mempcpy(path, list, list_n);

	*at++ = '[';
	at = mempcpy(at, key, key_n);
	*at++ = ']';
	*at++ = '.';
	memcpy(at, member, member_n + 1);
	return path;
}

const char *fact_item_path(struct arena *arena, const char *list, size_t index, const char *member)
{
	char number[24];

	return fact_path(arena, list, arena_printf(arena, "#%s", fact_decimal(index, number)),
			 member);
}

int fact_find(const struct desc *desc, const void *facts, const char *path, struct arena *arena,
	      struct fact_ref *ref)
{
	struct walk w = { .arena = arena };
	const struct field *field = NULL;
	const void *value = facts;
	struct span key;

	while (*path) {
		if (!desc || !next_key(&path, &key))
			return -EINVAL;
		field = desc_field(desc, key.p, key.n);
		if (!field)
			return -EINVAL;
		value = (const char *)value + field->offset;
		if (field->source)
			w.source = field->source;
		desc = field->type == FIELD_STRUCT ? field->sub : NULL;
		if (desc)
			note_own_source(&w, desc, value);
		if (field->type != FIELD_LIST || !*path)
			continue;
		if (!next_key(&path, &key) || w.keys_count == KEYS_MAX)
			return -EINVAL;
		w.keys[w.keys_count++] = key;
		value = find_item(field->sub, value, key);
		if (!value)
			return -ENOENT;
		desc = field->sub;
		note_own_source(&w, desc, value);
		if (!*path)
			field = item_field(arena, field);
	}
	if (!field)
		return -EINVAL;
	ref->field = field;
	ref->value = value;
	ref->source = w.file ? w.file : w.archive ? w.archive : w.source ? fill_source(&w) : NULL;
	if (w.archive && w.file)
		ref->source = arena_printf(arena, "%s:%s", w.archive, w.file);
	ref->line = w.line;
	return 0;
}

enum fact_state fact_ref_state(const struct fact_ref *ref)
{
	return field_state(ref->field, ref->value);
}

struct json_object *fact_ref_json(const struct fact_ref *ref)
{
	return fact_ref_state(ref) == FACT_KNOWN ? field_to_json(ref->field, ref->value) : NULL;
}
