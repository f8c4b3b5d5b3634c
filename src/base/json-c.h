/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json-c.h - json-c, which is opened when the first document is read or written: preflight on a healthy node does
 * neither. Its functions are called by their own names; base/json.h includes this. */
#ifndef JSON_C_H
#define JSON_C_H

#include <json-c/json_object.h>
#include <json-c/json_tokener.h>
#include <json-c/linkhash.h>

#include "base/library.h"

#define JSON_C_FUNCTIONS(F)               \
	F(json_object_array_add)          \
	F(json_object_array_get_idx)      \
	F(json_object_array_length)       \
	F(json_object_get)                \
	F(json_object_get_int)            \
	F(json_object_get_int64)          \
	F(json_object_get_object)         \
	F(json_object_get_string)         \
	F(json_object_get_string_len)     \
	F(json_object_get_uint64)         \
	F(json_object_is_type)            \
	F(json_object_new_array)          \
	F(json_object_new_boolean)        \
	F(json_object_new_int)            \
	F(json_object_new_int64)          \
	F(json_object_new_object)         \
	F(json_object_new_string)         \
	F(json_object_new_string_len)     \
	F(json_object_new_uint64)         \
	F(json_object_object_add_ex)      \
	F(json_object_object_get_ex)      \
	F(json_object_object_length)      \
	F(json_object_put)                \
	F(json_object_to_json_string_ext) \
	F(json_tokener_error_desc)        \
	F(json_tokener_free)              \
	F(json_tokener_get_error)         \
	F(json_tokener_get_parse_end)     \
	F(json_tokener_new_ex)            \
	F(json_tokener_parse)             \
	F(json_tokener_parse_ex)

struct json_c {
	JSON_C_FUNCTIONS(LIBRARY_SLOT)
};

/* Ends the program where the library is not installed: memory_end(). */
const struct json_c *json_c(void);

/* json-c.c itself needs the names as they are. */
#ifndef JSON_C_NAMES
#define json_object_array_get_idx json_c()->json_object_array_get_idx
#define json_object_array_length json_c()->json_object_array_length
#define json_object_get json_c()->json_object_get
#define json_object_get_int json_c()->json_object_get_int
#define json_object_get_int64 json_c()->json_object_get_int64
#define json_object_get_object json_c()->json_object_get_object
#define json_object_get_string json_c()->json_object_get_string
#define json_object_get_string_len json_c()->json_object_get_string_len
#define json_object_get_uint64 json_c()->json_object_get_uint64
#define json_object_is_type json_c()->json_object_is_type
#define json_object_new_uint64 json_c()->json_object_new_uint64
#define json_object_object_add_ex json_c()->json_object_object_add_ex
#define json_object_object_get_ex json_c()->json_object_object_get_ex
#define json_object_object_length json_c()->json_object_object_length
#define json_object_put json_c()->json_object_put
#define json_tokener_error_desc json_c()->json_tokener_error_desc
#define json_tokener_free json_c()->json_tokener_free
#define json_tokener_get_error json_c()->json_tokener_get_error
#define json_tokener_get_parse_end json_c()->json_tokener_get_parse_end
#define json_tokener_new_ex json_c()->json_tokener_new_ex
#define json_tokener_parse json_c()->json_tokener_parse
#define json_tokener_parse_ex json_c()->json_tokener_parse_ex
#endif

#endif
