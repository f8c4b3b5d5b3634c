/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json.h - the only file that deals with the traps of json-c: lax parsing by default, duplicate keys kept silently,
 * getters that return 0 for the wrong type, out-of-range numbers clamped.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/json-c.h"
#include "base/json-scan.h"
#include "base/memory.h"

/* Numbers beyond this lose digits in readers that keep them as doubles. */
#define JSON_EXACT_MAX ((UINT64_C(1) << 53) - 1)

/* Returns TEXT as objects of json-c, which the caller owns; or NULL with ERROR filled. */
struct json_object *json_parse(const char *text, size_t n, struct json_error *error);

/* Members of an object; NULL or false when missing or of another type. */
struct json_object *json_member(struct json_object *object, const char *key);
const char *json_string(struct json_object *object, const char *key);
bool json_number(struct json_object *object, const char *key, uint64_t *value);

/* Add a member; each takes ownership of VALUE. A NULL string is written as null. KEY is not copied, and
 * is mostly a literal. */
void json_put(struct json_object *object, const char *key, struct json_object *value);
void json_put_string(struct json_object *object, const char *key, const char *value);
void json_put_number(struct json_object *object, const char *key, uint64_t value);
/* The three keys that every document starts with. */
struct json_object *json_document(const char *format);
/* Returns an object with format and format_version, if TEXT has them. The rest of TEXT is not read. The caller owns the
 * object. */
struct json_object *json_head(const char *text, size_t n);
/* Returns 0 if JSON is a document of FORMAT that this program reads; else -EINVAL and why. LATER is set for a later
 * minor version: keys that this program does not know are then ignored. */
int json_check_document(struct json_object *json, const char *format, bool *later,
			struct json_error *error);

#define json_object_to_json_string_ext(json, flags) \
	((const char *)memory_need((void *)json_written(json, flags)))

/* JSON as a text that JSON owns; NULL: memory ran out. */
const char *json_written(struct json_object *json, int flags);

/* Writes JSON and a newline, for every document that a terminal can show. Invisible characters are escaped, as JSON
 * does it. */
void json_print(FILE *out, struct json_object *json, int flags);

/* A JSON string of any bytes. Bytes that are not UTF-8 become U+FFFD. */
struct json_object *json_text(const char *s, size_t n);
struct json_object *json_text_or_null(const char *s);
/* A number; beyond JSON_EXACT_MAX, a string with the number. */
struct json_object *json_u64(uint64_t value);

static inline void json_unref(struct json_object **object)
{
	if (*object)
		json_object_put(*object);
}
#define _cleanup_json_ _cleanup_(json_unref)

#endif
