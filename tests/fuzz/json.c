/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Documents: what json_check() lets pass is right for json-c, is walked to its end, and is read as facts
 * or refused with a reason. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "facts.h"
#include "json-walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_walk(const char *text, size_t size)
{
	const char *at = text;

	while (json_is_blank(*at))
		at++;
	walk_pass(&at);
	while (json_is_blank(*at))
		at++;
	assert(at == text + size);
}

static void check_facts(const char *text)
{
	static struct arena *arena;
	struct fact_error error = { "" };
	struct node *node;

	if (!arena)
		arena = arena_new(ARENA_BYTES);
	node = arena_alloc(arena, sizeof(*node));
	if (fact_from_json(&node_desc, node, text, arena, text[0] == ' ', &error))
		assert(*error.text);
	else
		fact_settle(&node_desc, node);
	arena_reset(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct json_error error = { "", 0 };
	struct json_object *json;

	memcpy(text, data, size);
	text[size] = '\0';
	if (json_check(text, size, &error)) {
		json = json_parse(text, size, &error);
		/* json-c has no object for null, and waits for more digits after a number. */
		assert(json || !strchr("{[\"", text[strspn(text, " \t\r\n")]));
		json_object_put(json);
		check_walk(text, size);
		check_facts(text);
		json_object_put(walk_head(text));
	} else {
		assert(*error.text && error.line);
	}
	free(text);
	return 0;
}
