/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json-c.h - json-c, which is opened when one of its functions is first called: a run that calls none does not pay
 * for it. They have their own names here. Without the library the process ends (library_need()).
 */
#ifndef JSON_C_H
#define JSON_C_H

#include <json-c/json_object.h>
#include <json-c/json_tokener.h>
#include <json-c/linkhash.h>

#include "base/library.h"
#include "base/memory.h"

/* Without "json_", because the whole names are macros below. */
#define JSON_C_FUNCTIONS(F)          \
	F(object_array_add)          \
	F(object_array_get_idx)      \
	F(object_array_length)       \
	F(object_get)                \
	F(object_get_int)            \
	F(object_get_int64)          \
	F(object_get_object)         \
	F(object_get_string)         \
	F(object_get_uint64)         \
	F(object_is_type)            \
	F(object_new_array)          \
	F(object_new_boolean)        \
	F(object_new_int)            \
	F(object_new_int64)          \
	F(object_new_object)         \
	F(object_new_string)         \
	F(object_new_string_len)     \
	F(object_new_uint64)         \
	F(object_object_add_ex)      \
	F(object_object_get_ex)      \
	F(object_object_length)      \
	F(object_put)                \
	F(object_to_json_string_ext) \
	F(tokener_error_desc)        \
	F(tokener_free)              \
	F(tokener_get_error)         \
	F(tokener_get_parse_end)     \
	F(tokener_new_ex)            \
	F(tokener_parse)             \
	F(tokener_parse_ex)

#define JSON_C_SLOT(name) typeof(&json_##name) name;
struct json_c {
	JSON_C_FUNCTIONS(JSON_C_SLOT)
};
#undef JSON_C_SLOT

const struct json_c *json_c(void);

/*
 * json-c returns NULL when memory runs out, and a document that silently lacks a member would be worse than none: see
 * memory_need().
 */
#define json_object_array_add(array, value) \
	(void)memory_need(json_c()->object_array_add(array, value) == 0 ? (array) : NULL)
#define json_object_array_get_idx json_c()->object_array_get_idx
#define json_object_array_length json_c()->object_array_length
#define json_object_get json_c()->object_get
#define json_object_get_int json_c()->object_get_int
#define json_object_get_int64 json_c()->object_get_int64
#define json_object_get_object json_c()->object_get_object
#define json_object_get_string json_c()->object_get_string
#define json_object_get_uint64 json_c()->object_get_uint64
#define json_object_is_type json_c()->object_is_type
#define json_object_new_array() ((struct json_object *)memory_need(json_c()->object_new_array()))
#define json_object_new_boolean(b) \
	((struct json_object *)memory_need(json_c()->object_new_boolean(b)))
#define json_object_new_int(i) ((struct json_object *)memory_need(json_c()->object_new_int(i)))
#define json_object_new_int64(i) ((struct json_object *)memory_need(json_c()->object_new_int64(i)))
#define json_object_new_object() ((struct json_object *)memory_need(json_c()->object_new_object()))
#define json_object_new_string(s) \
	((struct json_object *)memory_need(json_c()->object_new_string(s)))
#define json_object_new_string_len(s, n) \
	((struct json_object *)memory_need(json_c()->object_new_string_len(s, n)))
#define json_object_new_uint64 json_c()->object_new_uint64
#define json_object_object_add_ex json_c()->object_object_add_ex
#define json_object_object_get_ex json_c()->object_object_get_ex
#define json_object_object_length json_c()->object_object_length
#define json_object_put json_c()->object_put
#define json_tokener_error_desc json_c()->tokener_error_desc
#define json_tokener_free json_c()->tokener_free
#define json_tokener_get_error json_c()->tokener_get_error
#define json_tokener_get_parse_end json_c()->tokener_get_parse_end
#define json_tokener_new_ex json_c()->tokener_new_ex
#define json_tokener_parse json_c()->tokener_parse
#define json_tokener_parse_ex json_c()->tokener_parse_ex

#endif
