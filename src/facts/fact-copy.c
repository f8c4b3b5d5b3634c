/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fact-copy.c - copies facts that another process wrote into memory of this process. */
#include <string.h>

#include "base/utf8.h"
#include "facts/fact.h"

struct copy {
	const struct window *from; /* NULL: the facts are this process's */
	struct arena *to;
};

static void copy_struct(const struct copy *c, const struct desc *desc, char *to, const char *from);

static enum fact_state read_state(const void *fact)
{
	enum fact_state state = WINDOW_READ(*(const enum fact_state *)fact);

	return state == FACT_KNOWN || state == FACT_ABSENT ? state : FACT_UNKNOWN;
}

/* NULL: not valid text. The window may change while it is read, the copy does not. */
static const char *copy_text(const struct copy *c, const char *text)
{
	size_t n = 0;
	char *own;

	if (!c->from)
		return text ? arena_strdup(c->to, text) : NULL;
	if (!text || !window_text(c->from, text, &n))
		return NULL;
	own = arena_strndup(c->to, text, n);
	return utf8_is_plain(own, n) ? own : fact_strn(c->to, own, n).value;
}

static void copy_string(const struct copy *c, struct fact_str *to, const struct fact_str *from)
{
	enum fact_state state = read_state(from);
	const char *text = state == FACT_KNOWN ? copy_text(c, WINDOW_READ(from->value)) : NULL;

	*to = (struct fact_str){ state == FACT_KNOWN && !text ? FACT_UNKNOWN : state, text };
}

/* An item of FIELD_STRS is a pointer. */
static size_t item_size(const struct field *f)
{
	return f->type == FIELD_STRS ? sizeof(char *) : f->sub->size;
}

static void copy_item(const struct copy *c, const struct field *f, char *to, const char *from)
{
	const char *text;

	if (f->type == FIELD_LIST) {
		copy_struct(c, f->sub, to, from);
		return;
	}
	text = copy_text(c, WINDOW_READ(*(const char *const *)from));
	*(const char **)to = text ? text : "";
}

/* A list that is not known keeps its items: its probe may continue with it. */
static void copy_list(const struct copy *c, const struct field *f, struct fact_list *to,
		      const struct fact_list *from)
{
	size_t size = item_size(f);
	uint32_t count = WINDOW_READ(from->count);
	const char *items = WINDOW_READ(from->items);

	to->state = read_state(from);
	if (!count)
		return;
	if (c->from && !window_holds(c->from, items, count, size)) {
		to->state = FACT_UNKNOWN;
		return;
	}
	to->count = count;
	to->items = fact_list_room(c->to, count, size);
	for (uint32_t i = 0; i < count; i++)
		copy_item(c, f, (char *)to->items + i * size, items + i * size);
}

static void copy_enum(const struct field *f, struct fact_enum *to, const struct fact_enum *from)
{
	int value = WINDOW_READ(from->value), words = 0;

	to->state = read_state(from);
	while (f->words[words])
		words++;
	if (value >= 0 && value < words)
		to->value = value;
	else if (to->state == FACT_KNOWN)
		to->state = FACT_UNKNOWN;
}

/* Returns true if all bytes are zero: the facts are unknown, as most sections are in preflight. */
static bool is_empty(const char *from, size_t n)
{
	return *from == 0 && memcmp(from, from + 1, n - 1) == 0;
}

static void copy_field(const struct copy *c, const struct field *f, char *to, const char *from)
{
	switch (f->type) {
	case FIELD_BOOL:
		*(struct fact_bool *)to = (struct fact_bool){
			read_state(from),
			*(const volatile uint8_t *)(from + offsetof(struct fact_bool, value)) != 0
		};
		break;
	case FIELD_ENUM:
		copy_enum(f, (struct fact_enum *)to, (const struct fact_enum *)from);
		break;
	case FIELD_U64:
	case FIELD_HEX:
	case FIELD_LIMIT:
		*(struct fact_u64 *)to = (struct fact_u64){
			read_state(from), WINDOW_READ(((const struct fact_u64 *)from)->value)
		};
		break;
	case FIELD_STR:
		copy_string(c, (struct fact_str *)to, (const struct fact_str *)from);
		break;
	case FIELD_STRS:
	case FIELD_LIST:
		copy_list(c, f, (struct fact_list *)to, (const struct fact_list *)from);
		break;
	case FIELD_STRUCT:
		if (!is_empty(from, f->sub->size))
			copy_struct(c, f->sub, to, from);
		break;
	}
}

static void copy_struct(const struct copy *c, const struct desc *desc, char *to, const char *from)
{
	const struct field *end = desc->fields + desc->count;

	if (desc->optional)
		*(enum fact_state *)to = read_state(from);
	for (const struct field *f = desc->fields; f < end; f++)
		copy_field(c, f, to + f->offset, from + f->offset);
}

void fact_copy(const struct desc *desc, void *to, struct arena *arena, const void *from,
	       const struct window *window)
{
	const struct copy c = { .from = window, .to = arena };

	memset(to, 0, desc->size);
	copy_struct(&c, desc, to, from);
}
