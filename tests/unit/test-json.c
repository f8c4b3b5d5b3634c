/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strict JSON: what json-c would let pass is refused, with the line. */
#include <string.h>

#include "base/json-pick.h"
#include "base/json.h"
#include "cmocka-all.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void test_taken(void **state)
{
	static const char *const right[] = {
		"{}",
		"[]",
		"[ ]",
		"{ }",
		" {\"a\": 1} \n",
		"[1, -2, 3.5, 1e3, true, false, null, \"x\"]",
		"{\"a\": {\"a\": 1}, \"b\": {\"a\": 1}}",
		"[18446744073709551615]",
		"\"\\u00e4 \\\\ \\\" \\n\"",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(right); i++) {
		struct json_error error = { "", 0 };
		struct json_object *json = json_parse(right[i], strlen(right[i]), &error);

		if (!json)
			fail_msg("%s: %s", right[i], error.text);
		json_object_put(json);
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *text;
		size_t line;
	} rows[] = {
		{ "", 1 },
		{ "{", 1 },
		{ "{\"a\":1,}", 1 },
		{ "[1,]", 1 },
		{ "[1, ]", 1 },
		{ "{\"a\":1, }", 1 },
		{ "[, 1]", 1 },
		{ "[,1]", 1 },
		{ "{, \"a\": 1}", 1 },
		{ "{\"a\", 1}", 1 },
		{ "[1, , 2]", 1 },
		{ "[1, 2, ", 1 },
		{ "{\"a\": ", 1 },
		{ "{\n\"a\": 1,\n\"a\": 2}", 3 },
		{ "{'a': 1}", 1 },
		{ "{\"a\": 1} more", 1 },
		{ "{} {}", 1 },
		{ "{\"a\": 18446744073709551616}", 1 },
		{ "{/* c */}", 1 },
		{ "{\"a\": \"\xff\"}", 1 },
		{ "{\"a\": 1e999}", 1 },
		{ "nonsense", 1 },
		{ "[1 2]", 1 },
		{ "{\"a\" 1}", 1 },
		{ "[01]", 1 },
		{ "[-]", 1 },
		{ "[1.]", 1 },
		{ "[-9223372036854775809]", 1 },
		{ "[\n\"a\tb\"]", 2 },
		{ "[\"\\x\"]", 1 },
		{ "[\"\\u12g4\"]", 1 },
		{ "[\"\xc0\x80\"]", 1 },
		{ "{\"a\": 1, \"b\": 2, \"a\": 3}", 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct json_error error = { "", 0 };
		struct json_object *json = json_parse(rows[i].text, strlen(rows[i].text), &error);

		if (json || !*error.text || error.line != rows[i].line)
			fail_msg("%s: %s, line %zu", rows[i].text, json ? "taken" : error.text,
				 error.line);
	}
}

/* json-c would take it for the end of the text. */
static void test_nul(void **state)
{
	struct json_error error = { "", 0 };

	(void)state;
	assert_null(json_parse("{}\n\0{", 5, &error));
	assert_int_equal(error.line, 2);
	assert_non_null(strstr(error.text, "NUL"));
}

/* Brackets without end must not be followed as deep as they go. */
static void test_depth(void **state)
{
	char text[100000];
	struct json_error error = { "", 0 };

	(void)state;
	memset(text, '[', sizeof(text));
	assert_null(json_parse(text, sizeof(text), &error));
	for (size_t i = 0; i + 5 < sizeof(text); i += 5)
		memcpy(text + i, "{\"a\":", 5);
	assert_null(json_parse(text, sizeof(text) - 10, &error));
	assert_true(*error.text != '\0');
}

/* What json_check() lets pass is right for json-c as well, whatever one byte is changed to: facts are read
 * without it. */
static void test_agrees_with_json_c(void **state)
{
	static const char right[] = "{\"a\": [1, -2.5e3, true, null, {}, []], \"b\\u00e4\": "
				    "\"x\\n\xc3\xa4\", \"c\": {\"d\": false, \"e\": 10}}";
	static const char bytes[] = " \"\\{}[]:,-+.e01u/n\x01\x80\xff";
	char text[sizeof(right)];
	size_t passed = 0;

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(right); i++) {
		for (size_t k = 0; k < sizeof(bytes); k++) {
			struct json_error error;
			struct json_object *json;

			memcpy(text, right, sizeof(right));
			text[i] = bytes[k];
			if (!json_check(text, sizeof(text) - 1, &error))
				continue;
			json = json_parse(text, sizeof(text) - 1, &error);
			if (!json)
				fail_msg("%s: %s", text, error.text);
			json_object_put(json);
			passed++;
		}
	}
	assert_true(passed > 100);
}

static void check_meaning(const char *written, const char *meant)
{
	struct json_error error;
	struct json_scan s;
	struct json_raw raw;
	char out[64];

	json_scan_begin(&s, written, strlen(written), &error);
	assert_true(json_scan_string(&s, &raw) && json_scan_finish(&s));
	assert_int_equal(raw.escapes, strchr(written, '\\') != NULL);
	assert_int_equal(json_decode(out, raw.text), strlen(meant));
	assert_memory_equal(out, meant, strlen(meant));
}

static void test_strings(void **state)
{
	(void)state;
	check_meaning("\"plain\"", "plain");
	check_meaning("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t");
	check_meaning("\"\\u0041\\u00e4\\u20AC\"", "A\xc3\xa4\xe2\x82\xac");
	check_meaning("\"\\ud83d\\ude00.\"", "\xf0\x9f\x98\x80.");
	check_meaning("\"\\u0000\\ud800x\\udc00\"", "\xef\xbf\xbd\xef\xbf\xbdx\xef\xbf\xbd");
	check_meaning("\"\\ud800\\u0041\"", "\xef\xbf\xbd"
					    "A");
}

/* Each byte at each place of the eight that are looked at together, and behind them. */
static void test_every_byte(void **state)
{
	(void)state;
	for (unsigned int byte = 0; byte < 256; byte++) {
		bool plain = byte >= ' ' && byte < 0x80 && byte != '"' && byte != '\\';

		for (size_t place = 1; place < 19; place++) {
			char text[] = "\"\x7f !#[]0123456789~.z\"";
			struct json_error error;

			text[place] = (char)byte;
			if (json_check(text, sizeof(text) - 1, &error) != plain)
				fail_msg("byte 0x%02x at %zu: %s", byte, place, error.text);
			if (!plain)
				assert_non_null(strstr(error.text, byte == 0	  ? "NUL"
								   : byte == '"'  ? "more text"
								   : byte == '\\' ? "escape"
								   : byte < ' '	  ? "control"
										  : "UTF-8"));
		}
	}
}

/* Passing a value over ends where reading it would. */
static void test_pass(void **state)
{
	static const char *const values[] = {
		"1",
		"-1.5e+3",
		"true",
		"null",
		"\"a\\\"}]\"",
		"[]",
		"{}",
		"[1, [2], {\"]\": \"[\"}]",
		"{\"a\": {\"b\": [{}]}, \"}\": \"{\"}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(values); i++) {
		struct json_error error;
		struct json_scan s;
		char text[64];

		snprintf(text, sizeof(text), "%s,1", values[i]);
		json_scan_begin(&s, text, strlen(text), &error);
		assert_true(json_scan_value(&s));
		assert_int_equal(s.at - text, strlen(values[i]));
		json_scan_end(&s);
	}
}

static void test_document(void **state)
{
	_cleanup_json_ struct json_object *json = json_document("nvnodecheck-facts");
	struct json_error error;
	bool later = true;

	(void)state;
	assert_int_equal(json_check_document(json, "nvnodecheck-facts", &later, &error), 0);
	assert_false(later);
	assert_int_not_equal(json_check_document(json, "nvnodecheck-report", &later, &error), 0);
}

static void test_members(void **state)
{
	struct json_error error;
	const char *text = "{\"s\":\"x\",\"n\":7,\"b\":true}";
	_cleanup_json_ struct json_object *json = json_parse(text, strlen(text), &error);
	uint64_t n = 0;

	(void)state;
	assert_string_equal(json_string(json, "s"), "x");
	assert_null(json_string(json, "n"));
	assert_null(json_string(json, "none"));
	assert_true(json_number(json, "n", &n) && n == 7);
	assert_false(json_number(json, "s", &n));
	assert_false(json_number(json, "b", &n));
	assert_null(json_member(NULL, "s"));
}

/* The last of two equal names is taken, as json-c does: it matters only where one is written with escapes. */
static void test_pick(void **state)
{
	static const char *const names[] = { "s", "n", "none" };
	static const char text[] = " {\"x\": [{\"s\": 1}], \"\\u0073\": \"a\\n\", \"n\": 7 } ";
	struct json_error error;
	struct span values[COUNT(names)];
	uint64_t number = 0;
	char *meant;
	size_t n;

	(void)state;
	assert_true(json_pick(SPAN(text), names, COUNT(names), values, &error));
	assert_true(span_is(values[0], "\"a\\n\"") && span_is(values[1], "7") && !values[2].n);
	assert_true(json_picked_number(values[1], &number) && number == 7);
	assert_false(json_picked_number(values[0], &number));
	assert_false(json_picked_number(values[2], &number));
	meant = json_picked_string(values[0], &n);
	assert_true(meant && n == 2 && strcmp(meant, "a\n") == 0);
	free(meant);
	assert_null(json_picked_string(values[1], &n));
	assert_null(json_picked_string(values[2], &n));
	assert_true(json_pick(SPAN("[1]"), names, COUNT(names), values, &error) && !values[0].n);
	assert_false(json_pick(SPAN("{\"s\":1,\"s\":2}"), names, COUNT(names), values, &error));
	assert_false(json_pick(SPAN("{\"s\":1} x"), names, COUNT(names), values, &error));
	assert_false(json_pick(SPAN("{\"s\":"), names, COUNT(names), values, &error));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken),	cmocka_unit_test(test_refused),
		cmocka_unit_test(test_depth),	cmocka_unit_test(test_document),
		cmocka_unit_test(test_members), cmocka_unit_test(test_nul),
		cmocka_unit_test(test_strings), cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_pass),	cmocka_unit_test(test_agrees_with_json_c),
		cmocka_unit_test(test_pick),
	};

	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
