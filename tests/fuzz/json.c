/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Documents: what json_check() lets pass is right for json-c, is written as the same again, and is read as
 * facts or refused with a reason; nothing else is read as facts. And the codes for bytes in them: what is
 * made clean is clean, base64 gives its bytes back. */
#include <stdlib.h>

#include "base/json.h"
#include "base/utf8.h"
#include "facts/facts.h"
#include "fuzz.h"
#include "parse/base64.h"

/* What is not a right text is not taken, whatever it says. */
static void check_facts(struct span text, bool right)
{
	struct arena *arena = fuzz_arena();
	struct fact_error error = { "" };
	struct node *node = arena_alloc(arena, sizeof(*node));

	if (fact_from_json(&node_desc, node, text, arena, *text.p == ' ', &error))
		assert(*error.text);
	else
		assert(right);
}

/* A document that is read after one much like it is what it is alone. */
static void check_series(struct span text, uint8_t change)
{
	struct fact_series series = { 0 };
	struct arena *arena = fuzz_arena();
	struct node *alone = arena_alloc(arena, sizeof(*alone));
	struct fact_error error;
	char *like = arena_strndup(arena, text.p, text.n);

	(void)fact_series_read(&series, &node_desc, arena_alloc(arena, sizeof(struct node)), text,
			       change & 1, &error);
	if (text.n)
		like[change * 31 % text.n] ^= (char)(change >> 4);
	for (int lenient = 0; lenient < 2; lenient++) {
		struct node *node = arena_alloc(arena, sizeof(*node));
		struct span same = { like, text.n };
		int rc = fact_series_read(&series, &node_desc, node, same, lenient, &error);

		memset(alone, 0, sizeof(*alone));
		assert(rc == fact_from_json(&node_desc, alone, same, arena, lenient, &error));
		assert(rc || fact_compare(&node_desc, node, alone, arena, NULL, NULL) == 0);
	}
	fact_series_end(&series);
}

static void check_written(struct json_object *json)
{
	_cleanup_json_ struct json_object *same = NULL;
	struct json_error error;
	const char *written;

	if (!json_object_is_type(json, json_type_object))
		return;
	written = json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN);
	same = json_parse(written, strlen(written), &error);
	assert(same && json_object_equal(json, same));
}

static void check_clean(struct span text)
{
	size_t n = utf8_clean_size(text.p, text.n);
	char *one = arena_alloc(fuzz_arena(), n);

	utf8_clean(one, text.p, text.n);
	assert(strlen(one) + 1 == n && utf8_clean_size(one, n - 1) == n);
}

static void check_base64(struct span text)
{
	_cleanup_free_ char *coded = base64_encode(text.p, text.n), *bytes = NULL, *other = NULL;
	size_t n = 0;

	bytes = base64_decode(span_of(coded), &n);
	assert(bytes && n == text.n && memcmp(bytes, text.p, n) == 0);
	free(coded);
	coded = strndup(text.p, text.n);
	other = base64_decode(span_of(coded), &n);
	assert(!other || n <= text.n);
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
		check_written(json);
		json_object_put(json);
		check_facts((struct span){ text, size }, true);
	} else {
		assert(*error.text && error.line);
		check_facts((struct span){ text, size }, false);
	}
	json_object_put(json_head(text, size));
	if (size)
		check_series((struct span){ text, size }, data[size - 1] ^ (uint8_t)size);
	free(text);
	if (size) {
		check_clean(fuzz_span(data, size));
		check_base64(fuzz_span(data, size));
	}
	return 0;
}
