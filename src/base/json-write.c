/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json-write.h"

#include <inttypes.h>
#include <json-c/json_object_iterator.h>
#include <string.h>

#include "base/json-scan.h"
#include "parse/utf8.h"
#include "version.h"

static void flush(struct json_writer *w)
{
	fwrite(w->text, 1, w->used, w->out);
	w->used = 0;
}

/* Of nearly all that is put, the length is known to the compiler. */
static inline void put(struct json_writer *w, const char *s, size_t n)
{
	if (n > sizeof(w->text) - w->used)
		flush(w);
	if (n > sizeof(w->text)) {
		fwrite(s, 1, n, w->out);
		return;
	}
	memcpy(w->text + w->used, s, n);
	w->used += n;
}

static void put_line(struct json_writer *w)
{
	put(w, "\n", 1);
	for (unsigned int i = 0; i < w->depth; i++)
		put(w, "  ", 2);
}

/* What comes before a value. */
static void put_key(struct json_writer *w, const char *key)
{
	if (w->begun)
		put(w, ",", 1);
	if (w->indented && w->depth)
		put_line(w);
	w->begun = true;
	if (!key)
		return;
	put(w, "\"", 1);
	put(w, key, strlen(key));
	put(w, "\": ", w->indented ? 3 : 2);
}

/* How C is written in a string; NULL: as it stands. */
static const char *escape_of(unsigned char c, char buffer[8])
{
	static const char names[] = "\bb\nn\rr\tt\ff\"\"\\\\";

	if (c >= ' ' && c != '"' && c != '\\')
		return NULL;
	for (size_t i = 0; names[i]; i += 2)
		if ((unsigned char)names[i] == c) {
			snprintf(buffer, 8, "\\%c", names[i + 1]);
			return buffer;
		}
	snprintf(buffer, 8, "\\u%04x", c);
	return buffer;
}

/* UTF-8. */
static void put_string(struct json_writer *w, const char *s, size_t n)
{
	const char *end = s + n, *escape, *plain;
	char buffer[8];

	put(w, "\"", 1);
	while ((plain = json_pass_plain(s, end)) < end) {
		put(w, s, (size_t)(plain - s));
		escape = escape_of((unsigned char)*plain, buffer);
		put(w, escape ? escape : plain, escape ? strlen(escape) : 1);
		s = plain + 1;
	}
	put(w, s, (size_t)(end - s));
	put(w, "\"", 1);
}

void json_write_begin(struct json_writer *w, FILE *out, bool indented)
{
	w->out = out;
	w->indented = indented;
	w->depth = 0;
	w->begun = false;
	w->used = 0;
}

void json_write_end(struct json_writer *w)
{
	put(w, "\n", 1);
	flush(w);
}

void json_write_open(struct json_writer *w, const char *key, char bracket)
{
	put_key(w, key);
	put(w, &bracket, 1);
	w->depth++;
	w->begun = false;
}

void json_write_close(struct json_writer *w, char bracket)
{
	w->depth--;
	if (w->indented)
		put_line(w);
	put(w, &bracket, 1);
	w->begun = true;
}

void json_write_string(struct json_writer *w, const char *key, const char *s)
{
	size_t n = s ? strlen(s) : 0;
	_cleanup_free_ char *clean = NULL;

	put_key(w, key);
	if (!s) {
		put(w, "null", 4);
	} else if (json_pass_plain(s, s + n) == s + n || utf8_is_plain(s, n)) {
		put_string(w, s, n);
	} else {
		clean = memory_need(malloc(utf8_clean_size(s, n)));
		utf8_clean(clean, s, n);
		put_string(w, clean, strlen(clean));
	}
}

void json_write_number(struct json_writer *w, const char *key, uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), value <= JSON_EXACT_MAX ? "%" PRIu64 : "\"%" PRIu64 "\"", value);
	put_key(w, key);
	put(w, digits, strlen(digits));
}

void json_write_true(struct json_writer *w, const char *key)
{
	put_key(w, key);
	put(w, "true", 4);
}

static void write_members(struct json_writer *w, struct json_object *object)
{
	struct json_object_iterator at = json_object_iter_begin(object);
	struct json_object_iterator end = json_object_iter_end(object);

	for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at))
		json_write_value(w, json_object_iter_peek_name(&at), json_object_iter_peek_value(&at));
}

void json_write_value(struct json_writer *w, const char *key, struct json_object *value)
{
	const char *text;

	switch (json_object_get_type(value)) {
	case json_type_object:
		json_write_open(w, key, '{');
		write_members(w, value);
		json_write_close(w, '}');
		break;
	case json_type_array:
		json_write_open(w, key, '[');
		for (size_t i = 0; i < json_object_array_length(value); i++)
			json_write_value(w, NULL, json_object_array_get_idx(value, i));
		json_write_close(w, ']');
		break;
	case json_type_string:
		put_key(w, key);
		put_string(w, json_object_get_string(value),
			   (size_t)json_object_get_string_len(value));
		break;
	default:
		text = json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);
		put_key(w, key);
		put(w, text, strlen(text));
	}
}

void json_write_document(struct json_writer *w, const char *format)
{
	json_write_open(w, NULL, '{');
	json_write_string(w, "format", format);
	json_write_open(w, "format_version", '[');
	json_write_number(w, NULL, FORMAT_MAJOR);
	json_write_number(w, NULL, FORMAT_MINOR);
	json_write_close(w, ']');
	json_write_string(w, "tool_version", NVNODECHECK_VERSION);
}
