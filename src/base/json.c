/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json.c - the only file that deals with the traps of json-c: lax parsing by default, duplicate keys kept silently,
 * getters that return 0 for the wrong type, out-of-range numbers clamped.
 */
#include "base/json.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "base/utf8.h"
#include "base/version.h"

struct json_object *json_parse(const char *text, size_t n, struct json_error *error)
{
	struct json_tokener *tokener = json_tokener_new_ex(JSON_DEPTH_MAX + 1);
	struct json_object *json = NULL;

	if (!tokener || n > INT32_MAX) {
		json_set_error(error, text, text, tokener ? "document too large" : "out of memory");
	} else if (json_check(text, n, error)) {
		/* json_check() is stricter than JSON_TOKENER_STRICT, with which json-c 0.18 refuses every
		 * string that has more than ASCII where char is signed (json_tokener.c, "c <= 0x1f"). */
		json = json_tokener_parse_ex(tokener, text, (int)n);
		if (!json)
			json_set_error(
				error, text, text + json_tokener_get_parse_end(tokener), "%s",
				json_tokener_get_error(tokener) == json_tokener_success
					? "not a JSON object"
					: json_tokener_error_desc(json_tokener_get_error(tokener)));
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
	memory_need(json_object_object_add_ex(object, key, value, JSON_C_OBJECT_KEY_IS_CONSTANT) ==
				    0
			    ? object
			    : NULL);
}

void json_put_string(struct json_object *object, const char *key, const char *value)
{
	json_put(object, key, json_text_or_null(value));
}

void json_put_number(struct json_object *object, const char *key, uint64_t value)
{
	json_put(object, key, json_u64(value));
}

/* json-c drops text for which it has no memory (printbuf_memappend(), 0.13 to 0.18): the result then lacks a piece,
 * perhaps in the middle of a name. realloc() records that. */
const char *json_written(struct json_object *json, int flags)
{
	const char *text;

	errno = 0;
	text = json_c()->object_to_json_string_ext(json, flags);
	return errno == ENOMEM ? NULL : text;
}

void json_print(FILE *out, struct json_object *json, int flags)
{
	escape_text(out, SINK_JSON, json_object_to_json_string_ext(json, flags));
	putc('\n', out);
}

struct json_object *json_text(const char *s, size_t n)
{
	_cleanup_free_ char *clean = NULL;

	if (utf8_is_plain(s, n))
		return json_object_new_string_len(s, (int)n);
	clean = memory_need(malloc(utf8_clean_size(s, n)));
	utf8_clean(clean, s, n);
	return json_object_new_string(clean);
}

struct json_object *json_text_or_null(const char *s)
{
	return s ? json_text(s, strlen(s)) : NULL;
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
		snprintf(error->text, sizeof(error->text),
			 "\"format\" is %s%.60s%s, expected \"%s\"", found ? "\"" : "",
			 found ? found : "missing", found ? "\"" : "", format);
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

/* Two numbers, or a name. A longer value is neither, and not worth its memory. */
#define HEAD_VALUE_MAX 1024

struct json_object *json_head(const char *text, size_t n)
{
	_cleanup_scan_ struct json_scan s;
	struct json_object *head = json_object_new_object();
	struct json_error error;
	struct json_raw key;

	json_scan_begin(&s, text, n, &error);
	if (json_scan_type(&s) != json_type_object)
		return head;
	json_scan_enter(&s);
	while (json_object_object_length(head) < 2 && json_scan_next(&s, '}')) {
		const char *value;

		if (!json_scan_key(&s, &key) || !json_scan_colon(&s))
			break;
		value = s.at;
		if (!json_scan_value(&s))
			break;
		if (s.at - value > HEAD_VALUE_MAX)
			continue;
		if (span_is(key.text, "format") || span_is(key.text, "format_version"))
			json_put(head, key.text.n == strlen("format") ? "format" : "format_version",
				 json_parse(value, (size_t)(s.at - value), &error));
	}
	return head;
}
