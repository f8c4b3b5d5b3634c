/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "json.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <json-c/json_tokener.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse/utf8.h"
#include "version.h"

/* Each is compared with those before it. Structs of facts have some forty. */
#define KEYS_MAX 1024

#define JSON_DEPTH_MAX 16

__attribute__((format(printf, 5, 6))) static void
set_error(struct json_error *error, const char *text, size_t n, size_t offset, const char *format,
	  ...)
{
	va_list ap;

	error->line = 1;
	for (size_t i = 0; i < offset && i < n; i++)
		error->line += text[i] == '\n';
	va_start(ap, format);
	vsnprintf(error->text, sizeof(error->text), format, ap);
	va_end(ap);
}

/*
 * json-c keeps the last of two equal keys without a word, takes 'key' for "key" and stores a number
 * that does not fit as the nearest one that does. So the text is walked once beforehand: it only
 * has to find strings, keys and numbers, json-c judges the grammar.
 */
struct scan {
	const char *text;
	size_t n;
	size_t at;
	struct json_error *error;
};

struct key {
	const char *p;
	size_t n;
};

static bool scan_fail(struct scan *s, size_t at, const char *what, struct key key)
{
	set_error(s->error, s->text, s->n, at, "%s%s%.*s%s", what, key.n ? " \"" : "",
		  (int)(key.n < 80 ? key.n : 80), key.n ? key.p : "", key.n ? "\"" : "");
	return false;
}

static void scan_blank(struct scan *s)
{
	while (s->at < s->n && isspace((unsigned char)s->text[s->at]))
		s->at++;
}

static struct key scan_string(struct scan *s)
{
	size_t start = ++s->at;

	while (s->at < s->n && s->text[s->at] != '"')
		s->at += s->text[s->at] == '\\' ? 2 : 1;
	if (s->at > s->n)
		s->at = s->n;
	return (struct key){ s->text + start, s->at++ - start };
}

static bool scan_number(struct scan *s)
{
	size_t start = s->at;
	char digits[32];
	size_t n;

	while (s->at < s->n && strchr("+-.0123456789eE", s->text[s->at]))
		s->at++;
	n = s->at - start;
	if (n == 0)
		s->at++;
	if (n == 0 || n >= sizeof(digits))
		return n == 0 || scan_fail(s, start, "number too long", (struct key){ 0 });
	memcpy(digits, s->text + start, n);
	digits[n] = '\0';
	errno = 0;
	(void)strtoull(digits, NULL, 10);
	return (errno == 0 && isfinite(strtod(digits, NULL))) || scan_fail(s, start, "number out of range", (struct key){ 0 });
}

static bool scan_value(struct scan *s, int depth);

static bool scan_key(struct scan *s, struct key **keys, size_t *count)
{
	size_t at = s->at;
	struct key key;

	if (s->text[s->at] == '\'')
		return scan_fail(s, s->at, "a key must stand in double quotes", (struct key){ 0 });
	if (s->text[s->at] != '"')
		return true;
	key = scan_string(s);
	if (*count == KEYS_MAX)
		return scan_fail(s, at, "more than 1024 keys in one object, with", key);
	for (size_t i = 0; i < *count; i++)
		if ((*keys)[i].n == key.n && memcmp((*keys)[i].p, key.p, key.n) == 0)
			return scan_fail(s, at, "the same key twice:", key);
	if ((*count & (*count - 1)) == 0) {
		struct key *more = realloc(*keys, (*count ? *count * 2 : 1) * sizeof(**keys));

		if (!more)
			return scan_fail(s, at, "out of memory", (struct key){ 0 });
		*keys = more;
	}
	(*keys)[(*count)++] = key;
	return true;
}

static bool scan_object(struct scan *s, int depth)
{
	_cleanup_free_ struct key *keys = NULL;
	size_t count = 0;

	for (s->at++; s->at < s->n; ) {
		scan_blank(s);
		if (s->at >= s->n || s->text[s->at] == '}')
			break;
		if (s->text[s->at] == ',') {
			s->at++;
			continue;
		}
		if (!scan_key(s, &keys, &count))
			return false;
		scan_blank(s);
		if (s->at < s->n && s->text[s->at] == ':')
			s->at++;
		if (!scan_value(s, depth + 1))
			return false;
	}
	s->at++;
	return true;
}

static bool scan_array(struct scan *s, int depth)
{
	for (s->at++; s->at < s->n; ) {
		scan_blank(s);
		if (s->at >= s->n || s->text[s->at] == ']')
			break;
		if (s->text[s->at] == ',')
			s->at++;
		else if (!scan_value(s, depth + 1))
			return false;
	}
	s->at++;
	return true;
}

static bool scan_value(struct scan *s, int depth)
{
	scan_blank(s);
	if (s->at >= s->n)
		return true;
	if (depth > JSON_DEPTH_MAX)
		return scan_fail(s, s->at, "nested too deeply", (struct key){ 0 });
	switch (s->text[s->at]) {
	case '{':
		return scan_object(s, depth);
	case '[':
		return scan_array(s, depth);
	case '"':
		scan_string(s);
		return true;
	default:
		return scan_number(s);
	}
}

struct json_object *json_parse(const char *text, size_t n, struct json_error *error)
{
	struct json_tokener *tokener = json_tokener_new_ex(JSON_DEPTH_MAX + 1);
	struct scan scan = { text, n, 0, error };
	struct json_object *json = NULL;
	enum json_tokener_error what;
	const char *nul;

	if (!tokener || n > INT32_MAX) {
		set_error(error, text, n, 0, tokener ? "document too large" : "out of memory");
		json_tokener_free(tokener);
		return NULL;
	}
	/* json-c takes it for the end, and would not look at what comes after it. */
	nul = memchr(text, '\0', n);
	if (nul)
		set_error(error, text, n, (size_t)(nul - text), "a NUL byte: this is not a text");
	else if (scan_value(&scan, 0)) {
		json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
		json = json_tokener_parse_ex(tokener, text, (int)n);
		what = json_tokener_get_error(tokener);
		if (what == json_tokener_continue) {
			set_error(error, text, n, n, "the document is cut short");
		} else if (!json) {
			set_error(error, text, n, json_tokener_get_parse_end(tokener), "%s",
				  what == json_tokener_success ? "not a JSON object"
							       : json_tokener_error_desc(what));
		}
	}
	json_tokener_free(tokener);
	return json;
}

struct json_object *json_member(struct json_object *object, const char *key)
{
	struct json_object *value = NULL;

	if (json_object_is_type(object, json_type_object))
		json_object_object_get_ex(object, key, &value);
	return value;
}

const char *json_string(struct json_object *object, const char *key)
{
	struct json_object *value = json_member(object, key);

	return json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
}

bool json_number(struct json_object *object, const char *key, uint64_t *value)
{
	struct json_object *number = json_member(object, key);

	if (!json_object_is_type(number, json_type_int) || json_object_get_int64(number) < 0)
		return false;
	*value = json_object_get_uint64(number);
	return true;
}

void json_put(struct json_object *object, const char *key, struct json_object *value)
{
	memory_need(json_object_object_add(object, key, value) == 0 ? object : NULL);
}

void json_put_string(struct json_object *object, const char *key, const char *value)
{
	json_put(object, key, value ? json_text(value, strlen(value)) : NULL);
}

void json_put_number(struct json_object *object, const char *key, uint64_t value)
{
	json_put(object, key, json_u64(value));
}

struct json_object *json_text(const char *s, size_t n)
{
	_cleanup_free_ char *clean = memory_need(malloc(utf8_clean_size(s, n)));

	utf8_clean(clean, s, n);
	return json_object_new_string(clean);
}

struct json_object *json_u64(uint64_t value)
{
	char digits[24];

	if (value <= JSON_EXACT_MAX)
		return json_object_new_int64((int64_t)value);
	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	return json_object_new_string(digits);
}

struct json_object *json_document(const char *format)
{
	struct json_object *json = json_object_new_object();
	struct json_object *version = json_object_new_array();

	json_object_array_add(version, json_object_new_int(FORMAT_MAJOR));
	json_object_array_add(version, json_object_new_int(FORMAT_MINOR));
	json_put_string(json, "format", format);
	json_put(json, "format_version", version);
	json_put_string(json, "tool_version", NVNODECHECK_VERSION);
	return json;
}

int json_check_document(struct json_object *json, const char *format, bool *later,
			struct json_error *error)
{
	struct json_object *version = json_member(json, "format_version");
	const char *found = json_string(json, "format");
	int major, minor;

	error->line = 1;
	if (!found || strcmp(found, format) != 0) {
		snprintf(error->text, sizeof(error->text), "\"format\" is %s%.60s%s, expected \"%s\"",
			 found ? "\"" : "", found ? found : "missing", found ? "\"" : "", format);
		return -EINVAL;
	}
	if (!json_object_is_type(version, json_type_array) ||
	    json_object_array_length(version) != 2 ||
	    !json_object_is_type(json_object_array_get_idx(version, 0), json_type_int) ||
	    !json_object_is_type(json_object_array_get_idx(version, 1), json_type_int)) {
		snprintf(error->text, sizeof(error->text),
			 "\"format_version\" must be [MAJOR, MINOR]");
		return -EINVAL;
	}
	major = json_object_get_int(json_object_array_get_idx(version, 0));
	minor = json_object_get_int(json_object_array_get_idx(version, 1));
	*later = minor > FORMAT_MINOR;
	if (major != FORMAT_MAJOR) {
		snprintf(error->text, sizeof(error->text),
			 "%s version %d.%d; this program reads version %d", format, major, minor,
			 FORMAT_MAJOR);
		return -EINVAL;
	}
	return 0;
}

const char *json_type_word(struct json_object *object)
{
	switch (json_object_get_type(object)) {
	case json_type_null:
		return "null";
	case json_type_boolean:
		return "true or false";
	case json_type_int:
		return "a number";
	case json_type_double:
		return "a fraction";
	case json_type_string:
		return "a string";
	case json_type_array:
		return "a list";
	case json_type_object:
		return "an object";
	}
	return "nothing";
}
