/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON, and the codes for bytes in it: what is read is written as the same again; what is made clean is
 * clean; base64 gives its bytes back. */
#include "json.h"

#include "fuzz.h"
#include "parse/base64.h"
#include "parse/utf8.h"

static void read_json(struct span text)
{
	struct json_error error = { 0 };
	_cleanup_json_ struct json_object *json = json_parse(text.p, text.n, &error), *same = NULL;
	const char *written;
	bool later;

	if (!json) {
		/* The word null alone is read, and is no object. */
		assert(*error.text && error.line >= 1 && error.line <= text.n + 1);
		return;
	}
	/* Whether a number has ended is seen by what follows it, so json-c takes none alone. */
	if (!json_object_is_type(json, json_type_object))
		return;
	(void)json_check_document(json, "nvnodecheck-facts", &later, &error);
	written = json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN);
	same = json_parse(written, strlen(written), &error);
	assert(same && json_object_equal(json, same));
}

static void clean(struct arena *arena, struct span text)
{
	size_t n = utf8_clean_size(text.p, text.n);
	char *one = arena_alloc(arena, n);

	utf8_clean(one, text.p, text.n);
	assert(strlen(one) + 1 == n && utf8_clean_size(one, n - 1) == n);
}

static void code(struct span text)
{
	_cleanup_free_ char *coded = base64_encode(text.p, text.n), *bytes = NULL, *other = NULL;
	size_t n = 0;

	bytes = base64_decode(coded, &n);
	assert(bytes && n == text.n && memcmp(bytes, text.p, n) == 0);
	free(coded);
	coded = strndup(text.p, text.n);
	other = base64_decode(coded, &n);
	assert(!other || n <= text.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = fuzz_span(data, size);

	if (!size)
		return 0;
	read_json(text);
	clean(fuzz_arena(), text);
	code(text);
	return 0;
}
