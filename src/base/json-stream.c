/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json-stream.c - a long document, written piece by piece. */
#include "base/json-stream.h"

#include <string.h>

#include "base/escape.h"

#define INDENT 2 /* of json-c, for each level */

static bool is_pretty(const struct json_stream *s)
{
	return s->flags & JSON_C_TO_STRING_PRETTY;
}

/* The beginning of a line at LEVEL. */
static void begin_line(const struct json_stream *s, int level)
{
	if (!is_pretty(s))
		return;
	putc('\n', s->out);
	for (int i = 0; i < INDENT * level; i++)
		putc(' ', s->out);
}

static void begin_part(struct json_stream *s)
{
	if (s->any)
		putc(',', s->out);
	begin_line(s, s->in_list ? 2 : 1);
	s->any = true;
}

/* A line break is never inside a string: there it is \n. */
static void put_value(const struct json_stream *s, struct json_object *value)
{
	_cleanup_json_ struct json_object *own = value;
	const char *text = json_object_to_json_string_ext(own, s->flags), *end;

	for (; (end = strchr(text, '\n')); text = end + 1) {
		escape_span(s->out, SINK_JSON, (struct span){ text, (size_t)(end - text) });
		begin_line(s, s->in_list ? 2 : 1);
	}
	escape_text(s->out, SINK_JSON, text);
}

static void put_key(struct json_stream *s, const char *key)
{
	begin_part(s);
	putc('"', s->out);
	escape_text(s->out, SINK_JSON, key);
	fputs("\":", s->out);
	if (s->flags & JSON_C_TO_STRING_SPACED)
		putc(' ', s->out);
}

void json_stream_begin(struct json_stream *s, FILE *out, int flags, struct json_object *head)
{
	_cleanup_json_ struct json_object *own = head;

	*s = (struct json_stream){ .out = out, .flags = flags };
	putc('{', out);
	json_object_object_foreach(own, key, value)
		json_stream_put(s, key, json_object_get(value));
}

void json_stream_put(struct json_stream *s, const char *key, struct json_object *value)
{
	put_key(s, key);
	put_value(s, value);
}

void json_stream_list(struct json_stream *s, const char *key)
{
	put_key(s, key);
	putc('[', s->out);
	s->in_list = true;
	s->any = false;
}

void json_stream_add(struct json_stream *s, struct json_object *value)
{
	begin_part(s);
	put_value(s, value);
}

void json_stream_list_end(struct json_stream *s)
{
	s->in_list = false;
	begin_line(s, 1);
	putc(']', s->out);
	s->any = true;
}

void json_stream_end(struct json_stream *s)
{
	begin_line(s, 0);
	fputs("}\n", s->out);
}
