/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fact-json.c - facts to JSON and back, by their descriptions. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fact.h"
#include "json.h"
#include "parse/span.h"

/* ---- to JSON ---- */

static struct json_object *strings_to_json(const struct fact_list *list)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < list->count; i++) {
		const char *s = ((const char **)list->items)[i];

		json_object_array_add(array, json_text(s, strlen(s)));
	}
	return array;
}

static struct json_object *list_to_json(const struct desc *desc, const struct fact_list *list)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < list->count; i++)
		json_object_array_add(
			array, fact_to_json(desc, (const char *)list->items + i * desc->size));
	return array;
}

static struct json_object *u64_to_json(enum field_type type, uint64_t value)
{
	char text[24];

	if (type == FIELD_HEX) {
		snprintf(text, sizeof(text), "0x%" PRIx64, value);
		return json_object_new_string(text);
	}
	if (type == FIELD_LIMIT && value == FACT_UNLIMITED)
		return json_object_new_string("unlimited");
	return json_u64(value);
}

struct json_object *field_to_json(const struct field *field, const void *value)
{
	switch (field->type) {
	case FIELD_BOOL:
		return json_object_new_boolean(((const struct fact_bool *)value)->value);
	case FIELD_ENUM:
		return json_object_new_string(
			field->words[((const struct fact_enum *)value)->value]);
	case FIELD_U64:
	case FIELD_HEX:
	case FIELD_LIMIT:
		return u64_to_json(field->type, ((const struct fact_u64 *)value)->value);
	case FIELD_STR: {
		const char *s = ((const struct fact_str *)value)->value;

		return json_object_new_string(s);
	}
	case FIELD_STRS:
		return strings_to_json(value);
	case FIELD_STRUCT:
		return fact_to_json(field->sub, value);
	case FIELD_LIST:
		return list_to_json(field->sub, value);
	}
	return NULL;
}

struct json_object *fact_to_json(const struct desc *desc, const void *facts)
{
	struct json_object *json = json_object_new_object();

	for (size_t i = 0; i < desc->count; i++) {
		const struct field *f = &desc->fields[i];
		const void *value = (const char *)facts + f->offset;
		enum fact_state state = field_state(f, value);

		if (state != FACT_UNKNOWN)
			json_object_object_add_ex(
				json, f->name, state == FACT_KNOWN ? field_to_json(f, value) : NULL,
				JSON_C_OBJECT_ADD_KEY_IS_NEW | JSON_C_OBJECT_KEY_IS_CONSTANT);
	}
	return json;
}

/* ---- from JSON ---- */

struct reader {
	struct arena *arena;
	bool lenient;
	struct fact_error *error;
	char path[160];
};

__attribute__((format(printf, 2, 3))) static int refuse(struct reader *r, const char *format, ...)
{
	char what[96];
	va_list ap;

	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	snprintf(r->error->text, sizeof(r->error->text), "%s: %s", *r->path ? r->path : "facts",
		 what);
	return -EINVAL;
}

static int read_struct(struct reader *r, const struct desc *desc, void *facts,
		       struct json_object *json);

static int expect(struct reader *r, struct json_object *json, enum json_type type,
		  const char *word)
{
	if (json_object_is_type(json, type))
		return 0;
	return refuse(r, "expected %s, found %s", word, json_type_word(json));
}

static int read_enum(struct reader *r, const struct field *f, struct fact_enum *fact,
		     struct json_object *json)
{
	const char *word;
	int rc = expect(r, json, json_type_string, "a string");

	if (rc)
		return rc;
	word = json_object_get_string(json);
	for (int i = 0; f->words[i]; i++) {
		if (strcmp(f->words[i], word) == 0) {
			*fact = fact_enum(i);
			return 0;
		}
	}
	return refuse(r, "unknown word \"%.40s\"", word);
}

static int read_u64(struct reader *r, const struct field *f, struct fact_u64 *fact,
		    struct json_object *json)
{
	const char *text;

	if (f->type != FIELD_HEX && json_object_is_type(json, json_type_int)) {
		if (json_object_get_int64(json) < 0)
			return refuse(r, "must not be negative");
		*fact = fact_u64(json_object_get_uint64(json));
		return 0;
	}
	if (!json_object_is_type(json, json_type_string))
		return refuse(r, "expected %s, found %s",
			      f->type == FIELD_HEX ? "a string such as \"0x1d\"" : "a number",
			      json_type_word(json));
	text = json_object_get_string(json);
	if (f->type == FIELD_LIMIT && strcmp(text, "unlimited") == 0) {
		*fact = fact_u64(FACT_UNLIMITED);
		return 0;
	}
	if (span_u64(span_of(text), f->type == FIELD_HEX ? 16 : 10, &fact->value))
		return refuse(r, "\"%.40s\" is not a number", text);
	fact->state = FACT_KNOWN;
	return 0;
}

static int read_strings(struct reader *r, struct fact_list *list, struct json_object *json)
{
	size_t n = json_object_array_length(json);

	for (size_t i = 0; i < n; i++) {
		struct json_object *item = json_object_array_get_idx(json, i);
		int rc = expect(r, item, json_type_string, "a list of strings");

		if (rc)
			return rc;
		*(const char **)fact_list_add(r->arena, list, sizeof(char *)) =
			arena_strdup(r->arena, json_object_get_string(item));
	}
	list->state = FACT_KNOWN;
	return 0;
}

static int read_list(struct reader *r, const struct desc *desc, struct fact_list *list,
		     struct json_object *json)
{
	size_t n = json_object_array_length(json);
	size_t end = strlen(r->path);

	for (size_t i = 0; i < n; i++) {
		int rc;

		snprintf(r->path + end, sizeof(r->path) - end, "[%zu]", i);
		rc = read_struct(r, desc, fact_list_add(r->arena, list, desc->size),
				 json_object_array_get_idx(json, i));
		if (rc)
			return rc;
	}
	r->path[end] = '\0';
	list->state = FACT_KNOWN;
	return 0;
}

static int read_field(struct reader *r, const struct field *f, void *value,
		      struct json_object *json)
{
	int rc;

	if (!json) {
		if (f->type == FIELD_STRUCT && !f->sub->optional)
			return refuse(r, "must not be null");
		*(enum fact_state *)value = FACT_ABSENT;
		return 0;
	}
	switch (f->type) {
	case FIELD_BOOL:
		rc = expect(r, json, json_type_boolean, "true or false");
		if (!rc)
			*(struct fact_bool *)value = fact_bool(json_object_get_boolean(json));
		return rc;
	case FIELD_ENUM:
		return read_enum(r, f, value, json);
	case FIELD_U64:
	case FIELD_HEX:
	case FIELD_LIMIT:
		return read_u64(r, f, value, json);
	case FIELD_STR:
		rc = expect(r, json, json_type_string, "a string");
		if (!rc)
			*(struct fact_str *)value = fact_strn(
				r->arena, json_object_get_string(json),
				(size_t)json_object_get_string_len(json));
		return rc;
	case FIELD_STRS:
		rc = expect(r, json, json_type_array, "a list");
		return rc ? rc : read_strings(r, value, json);
	case FIELD_LIST:
		rc = expect(r, json, json_type_array, "a list");
		return rc ? rc : read_list(r, f->sub, value, json);
	case FIELD_STRUCT:
		return read_struct(r, f->sub, value, json);
	}
	return -EINVAL;
}

static int read_struct(struct reader *r, const struct desc *desc, void *facts,
		       struct json_object *json)
{
	size_t end = strlen(r->path);
	int rc = expect(r, json, json_type_object, "an object");

	if (rc)
		return rc;
	json_object_object_foreach(json, key, member) {
		const struct field *f = desc_field(desc, key, strlen(key));

		snprintf(r->path + end, sizeof(r->path) - end, "%s%s", end ? "." : "", key);
		if (!f && r->lenient)
			continue;
		rc = f ? read_field(r, f, (char *)facts + f->offset, member)
		       : refuse(r, "no such fact");
		if (rc)
			return rc;
	}
	r->path[end] = '\0';
	if (desc->optional)
		*(enum fact_state *)facts = FACT_KNOWN;
	return 0;
}

int fact_from_json(const struct desc *desc, void *facts, struct json_object *json,
		   struct arena *arena, bool lenient, struct fact_error *error)
{
	struct reader r = { .arena = arena, .lenient = lenient, .error = error };

	return read_struct(&r, desc, facts, json);
}
