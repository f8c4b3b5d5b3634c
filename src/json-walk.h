/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json-walk.h - from value to value through a text that json_check() has found to be right, which is
 * why nothing is checked here. A place is a pointer to the first character of a value; reading the
 * value moves it behind that value. A text ends with a NUL.
 */
#ifndef JSON_WALK_H
#define JSON_WALK_H

#include "json.h"
#include "parse/span.h"

enum json_type walk_type(const char *at);

/* Into an object or list, whose members are then read in turn: while (walk_next()). When there is none
 * left, the place is behind the closing bracket. */
void walk_enter(const char **at);
bool walk_next(const char **at);
/* The key of a member, as it is written; the place is at its value then. */
struct span walk_key(const char **at);

/* A string as it is written, without its quotes. Where it has escapes, walk_decode() writes what it
 * means, which is never longer; a NUL or half a surrogate pair becomes U+FFFD. */
struct span walk_string(const char **at);
bool walk_has_escapes(struct span raw);
size_t walk_decode(char *out, struct span raw);

/* Of a json_type_int: its digits. */
uint64_t walk_integer(const char **at, bool *negative);
void walk_pass(const char **at);

/* What json_check_document() asks of a document, without the rest. The caller owns the object. */
struct json_object *walk_head(const char *text);

#endif
