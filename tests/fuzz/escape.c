/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes on their way out: what a sink gets says what a terminal gets, by the sink's own rules, and nothing in
 * it means something else there. A document of JSON is the same one. */
#include <stdio.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/utf8.h"
#include "fuzz.h"

static struct arena *arena;

static const char *written(enum sink sink, struct span text)
{
	char *out = NULL;
	size_t n;
	FILE *file = open_memstream(&out, &n);
	const char *copy;

	escape_span(file, sink, text);
	fclose(file);
	copy = arena_strndup(arena, out, n);
	assert(strlen(copy) == n);
	free(out);
	return copy;
}

/* Nothing in it is hidden: what is escaped once more stays as it is. */
static void check_shown(const char *text)
{
	size_t n = strlen(text);

	assert(utf8_clean_size(text, n) == n + 1);
	for (size_t i = 0; i < n; i++)
		assert((unsigned char)text[i] >= ' ' && text[i] != 0x7f);
	assert(strcmp(written(SINK_TERMINAL, span_of(text)), text) == 0);
}

struct escape {
	const char *from, *to;
};

/* TEXT with each FROM as TO; what ALONE has does not stand in it otherwise. */
static const char *undone(const char *text, const struct escape *escapes, const char *alone)
{
	char *out = arena_strdup(arena, text), *to = out;

	while (*text) {
		const struct escape *e = escapes;

		while (e->from && strncmp(text, e->from, strlen(e->from)) != 0)
			e++;
		assert(e->from || !strchr(alone, *text));
		*to++ = e->from ? *e->to : *text;
		text += e->from ? strlen(e->from) : 1;
	}
	*to = '\0';
	return out;
}

static const struct escape xml[] = {
	{ "&amp;", "&" },   { "&lt;", "<" },  { "&gt;", ">" },
	{ "&quot;", "\"" }, { "&#39;", "'" }, { NULL, NULL },
};
static const struct escape prometheus[] = { { "\\\\", "\\" }, { "\\\"", "\"" }, { NULL, NULL } };
static const struct escape roff[] = {
	{ "\\e", "\\" },  { "\\-", "-" },   { "\\(aq", "'" }, { "\\(ga", "`" },
	{ "\\(ha", "^" }, { "\\(ti", "~" }, { NULL, NULL },
};

static void check_sinks(struct span text)
{
	const char *shown = written(SINK_TERMINAL, text), *other;

	check_shown(shown);
	other = written(SINK_XML, text);
	check_shown(other);
	assert(strcmp(undone(other, xml, "<>&\"'"), shown) == 0);
	other = written(SINK_PROMETHEUS, text);
	check_shown(other);
	assert(strcmp(undone(other, prometheus, "\"\\"), shown) == 0);
	other = written(SINK_ROFF, text);
	check_shown(other);
	assert(*other != '.' && *other != '\'');
	assert(strcmp(undone(strncmp(other, "\\&", 2) == 0 ? other + 2 : other, roff, "\\-'`^~"),
		      shown) == 0);
	other = written(SINK_NAGIOS, text);
	check_shown(other);
	assert(!strchr(other, '|') && strlen(other) == strlen(shown));
}

/* json-c takes what stands in it for the same. */
static void check_json(struct span text)
{
	_cleanup_json_ struct json_object *json = json_object_new_object(), *same = NULL;
	struct json_error error;
	const char *out;

	json_put(json, "text", json_text(text.p, text.n));
	out = written(SINK_JSON,
		      span_of(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY)));
	same = json_parse(out, strlen(out), &error);
	assert(same && json_object_equal(json, same));
	for (; *out; out++)
		assert(((unsigned char)*out >= ' ' && *out != 0x7f) || *out == '\n');
}

static void check_printf(struct span text, int width, int precision)
{
	const char *value = arena_strndup(arena, text.p, text.n);
	size_t n;
	char *out = NULL;
	FILE *file = open_memstream(&out, &n);
	int columns = escape_printf(file, SINK_TERMINAL, "%*s%-*s", width, value, width, value);

	assert(columns >= 2 * width);
	columns = escape_printf(file, SINK_TERMINAL, "%.*s%.7s", precision, value, value);
	assert(columns >= 0);
	fclose(file);
	check_shown(out);
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = fuzz_span(data, size);
	int width = fuzz_byte(&text), precision = fuzz_byte(&text);

	arena = fuzz_arena();
	check_sinks(text);
	check_json(text);
	check_printf(text, width, precision);
	assert(utf8_cut(text.p, text.n) <= text.n && text.n - utf8_cut(text.p, text.n) < 4);
	return 0;
}
