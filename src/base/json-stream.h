/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json-stream.h - writes a long document piece by piece, in the form of json_print(). Objects of json-c take up to fifty
 * times the memory of their text, so a document that grows with its input never is in memory as a whole. */
#ifndef JSON_STREAM_H
#define JSON_STREAM_H

#include "base/json.h"

struct json_stream {
	FILE *out;
	int flags;
	bool in_list, any; /* ANY: the open list or object has a part before this one */
};

/* Begins the document with the members of HEAD. This and each VALUE below is freed. */
void json_stream_begin(struct json_stream *s, FILE *out, int flags, struct json_object *head);
void json_stream_put(struct json_stream *s, const char *key, struct json_object *value);
/* A member that is a list: begin it, add its items, end it. */
void json_stream_list(struct json_stream *s, const char *key);
void json_stream_add(struct json_stream *s, struct json_object *value);
void json_stream_list_end(struct json_stream *s);
/* Ends the document and its last line. */
void json_stream_end(struct json_stream *s);

#endif
