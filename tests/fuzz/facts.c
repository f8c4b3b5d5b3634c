/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A document of facts, as --from takes it: what is accepted is written as the same again, and evaluated;
 * every path that leads to a fact has a value or none, and nothing else. */
#include "node.h"

#include <errno.h>

static void find(struct arena *arena, const struct node *node, struct span text)
{
	struct fact_ref ref;
	const char *path = arena_strndup(arena, text.p, text.n);
	int rc = fact_find(&node_desc, node, path, arena, &ref);

	assert(rc == 0 || rc == -ENOENT || rc == -EINVAL);
	if (rc == 0) {
		_cleanup_json_ struct json_object *json = fact_ref_json(&ref);

		assert(!json || fact_ref_state(&ref) == FACT_KNOWN);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span rest = fuzz_span(data, size), path = { "", 0 };
	struct arena *arena = fuzz_arena();
	struct node *node = arena_alloc(arena, sizeof(*node));
	struct json_error why;
	const char *text;
	struct fact_error error;

	span_cut(&rest, '\n', &path);
	find(arena, node, path);
	if (!rest.p)
		return 0;
	text = arena_strndup(arena, rest.p, rest.n);
	if (fact_from_json(&node_desc, node, (struct span){ text, rest.n }, arena, true, &error)) {
		assert(*error.text);
		return 0;
	}
	assert(json_check(text, rest.n, &why));
	node_check_json(arena, node);
	find(arena, node, path);
	assert(fact_compare(&node_desc, node, node, arena, NULL, NULL) == 0);
	node_evaluate(arena, node, (uint8_t)size);
	return 0;
}
