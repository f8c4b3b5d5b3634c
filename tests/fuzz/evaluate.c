/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts of a whole node (the first byte says which), changed here and there: what is known becomes
 * unknown, absent, empty, huge, or another's; lists lose items and get one twice. The input is triples:
 * how many facts to leave alone, in two bytes, and what becomes of the next one.
 */
#include "node.h"

#include <errno.h>
#include <stdlib.h>

/* The Makefile makes them of tests/nodes. */
#define FACTS "build-fuzz/facts/%s.json"

static const char *const names[] = { "rtx4090-p2p", "grace-gh200-cx8", "vm-h200-passthrough",
				     "debian-nvidia-current" };
#define NAMES (sizeof(names) / sizeof(names[0]))

static const char *const words[] = {
	"",
	"0",
	"N/A",
	"mlx5_0",
	"nvidia",
	"0000:1b:00.0",
	"99999999999999999999",
	"%s%n%s",
	"\n",
	"a,b=c;d=\"",
	"/",
	"=",
	"18446744073709551615",
	"-1",
	"\xef\xbf\xbd",
	"580.999",
};
#define WORDS (sizeof(words) / sizeof(words[0]))

struct change {
	struct arena *arena;
	struct span bytes;
	unsigned int skip;
	const char *seen; /* a text of another fact */
};

static void next(struct change *c)
{
	c->skip = fuzz_byte(&c->bytes);
	c->skip |= (unsigned int)fuzz_byte(&c->bytes) << 8;
	if (!c->bytes.n)
		c->skip = UINT32_MAX;
}

static void change_string(struct change *c, struct fact_str *fact, uint8_t what)
{
	if (what < 128)
		*fact = (struct fact_str){ FACT_KNOWN, words[what % WORDS] };
	else if (what < 192 && c->seen)
		*fact = (struct fact_str){ FACT_KNOWN, c->seen };
	else if (is_known(*fact))
		c->seen = fact->value;
}

/* The list's own copy has room for one more. */
static void change_list(struct fact_list *list, size_t size, uint8_t what)
{
	if (what < 64)
		list->count = 0;
	else if (what < 128 && list->count)
		list->count--;
	else if (list->count)
		memcpy((char *)list->items + list->count++ * size, list->items, size);
}

static void change(struct change *c, const struct field *f, void *value)
{
	static const uint64_t numbers[] = { 0, 1, 255, 4096, UINT32_MAX, UINT64_MAX };
	enum fact_state *state = value;
	uint8_t what;

	if (f->type == FIELD_STRUCT && !f->sub->optional)
		return;
	if (c->skip--)
		return;
	what = fuzz_byte(&c->bytes);
	next(c);
	if (what < 64) {
		*state = what % 2 ? FACT_ABSENT : FACT_UNKNOWN;
		return;
	}
	what = (uint8_t)((what - 64) * 4 / 3);
	if (f->type == FIELD_STR)
		change_string(c, value, what);
	else if (f->type == FIELD_LIST)
		change_list(value, f->sub->size, what);
	else if (f->type == FIELD_STRS)
		change_list(value, sizeof(char *), what);
	else if (f->type == FIELD_BOOL)
		*(struct fact_bool *)value = fact_bool(what % 2);
	else if (f->type == FIELD_U64 || f->type == FIELD_HEX || f->type == FIELD_LIMIT)
		*(struct fact_u64 *)value =
			fact_u64(numbers[what % (sizeof(numbers) / sizeof(numbers[0]))]);
	else if (f->type == FIELD_ENUM)
		*(struct fact_enum *)value = fact_enum(0);
}

static void copy_list(struct change *c, struct fact_list *list, size_t size)
{
	size_t room = 4;
	void *items;

	while (room < list->count + 1)
		room *= 2;
	items = arena_alloc(c->arena, room * size);
	if (list->count)
		memcpy(items, list->items, list->count * size);
	list->items = items;
}

static void copy(struct change *c, const struct desc *desc, void *facts)
{
	for (size_t i = 0; i < desc->count; i++) {
		const struct field *f = &desc->fields[i];
		void *value = (char *)facts + f->offset;
		struct fact_list *list = value;

		if (f->type == FIELD_LIST || f->type == FIELD_STRS)
			copy_list(c, list, f->sub ? f->sub->size : sizeof(char *));
		change(c, f, value);
		if (f->type == FIELD_STRUCT)
			copy(c, f->sub, value);
		else if (f->type == FIELD_LIST)
			for (uint32_t k = 0; k < list->count; k++)
				copy(c, f->sub, (char *)list->items + k * f->sub->size);
	}
}

static struct node *load(const char *name)
{
	static char text[1 << 20];
	struct arena *arena = arena_new(ARENA_BYTES, "facts");
	struct node *node = arena_alloc(arena, sizeof(*node));
	_cleanup_json_ struct json_object *json = NULL;
	struct json_error why;
	struct fact_error error;
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), FACTS, name);
	file = fopen(path, "r");
	assert(file);
	json = json_parse(text, fread(text, 1, sizeof(text), file), &why);
	fclose(file);
	json_object_object_del(json, "format");
	json_object_object_del(json, "format_version");
	json_object_object_del(json, "tool_version");
	assert(fact_from_json(&node_desc, node, span_of(json_object_to_json_string(json)), arena,
			      true, &error) == 0);
	return node;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct node *nodes[NAMES];
	struct change c = { .arena = fuzz_arena(), .bytes = fuzz_span(data, size) };
	struct node *node = arena_alloc(c.arena, sizeof(*node));
	uint8_t which = fuzz_byte(&c.bytes) % NAMES, how = fuzz_byte(&c.bytes);

	if (!nodes[which])
		nodes[which] = load(names[which]);
	*node = *nodes[which];
	next(&c);
	copy(&c, &node_desc, node);
	node_evaluate(c.arena, node, how);
	/* It takes longer than the rest. */
	if (how % 16 == 15)
		node_check_json(c.arena, node);
	return 0;
}
