/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json-write.h - a document written as it is told, member by member: a report has some ten thousand values,
 * and as objects of json-c they took as long as reading and judging the node. The text is what json-c
 * writes.
 */
#ifndef JSON_WRITE_H
#define JSON_WRITE_H

#include <stdio.h>

#include "base/json.h"

struct json_writer {
	FILE *out;
	bool indented;		/* else all on one line */
	unsigned int depth;	/* of what is open */
	bool begun;		/* what is open has a member */
	size_t used;
	char text[8192];	/* not yet written */
};

void json_write_begin(struct json_writer *w, FILE *out, bool indented);
/* The newline behind it, and all that is still here. */
void json_write_end(struct json_writer *w);

/* KEY in an object, which is not escaped and mostly a literal; NULL in a list and for the document itself. */
void json_write_open(struct json_writer *w, const char *key, char bracket);
void json_write_close(struct json_writer *w, char bracket);
/* Any bytes, as json_text(); NULL is null. */
void json_write_string(struct json_writer *w, const char *key, const char *s);
/* As json_u64(). */
void json_write_number(struct json_writer *w, const char *key, uint64_t value);
void json_write_true(struct json_writer *w, const char *key);
void json_write_value(struct json_writer *w, const char *key, struct json_object *value);
/* The three keys that every document starts with. */
void json_write_document(struct json_writer *w, const char *format);

#endif
