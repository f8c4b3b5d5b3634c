/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fact-json.c - facts to JSON, by their descriptions. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "facts/fact.h"

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

const char *field_text(const struct field *field, const void *value, char buffer[24])
{
	const struct fact_u64 *number = value;

	switch (field->type) {
	case FIELD_BOOL:
		return ((const struct fact_bool *)value)->value ? "true" : "false";
	case FIELD_ENUM:
		return field->words[((const struct fact_enum *)value)->value];
	case FIELD_STR:
		return ((const struct fact_str *)value)->value;
	case FIELD_LIMIT:
		if (number->value == FACT_UNLIMITED)
			return "unlimited";
		break;
	case FIELD_HEX:
		snprintf(buffer, 24, "0x%" PRIx64, number->value);
		return buffer;
	default:
		break;
	}
	return fact_decimal(number->value, buffer);
}

static struct json_object *u64_to_json(const struct field *field, const struct fact_u64 *fact)
{
	char text[24];

	if (field->type == FIELD_U64 ||
	    (field->type == FIELD_LIMIT && fact->value != FACT_UNLIMITED))
		return json_u64(fact->value);
	return json_object_new_string(field_text(field, fact, text));
}

struct json_object *field_to_json(const struct field *field, const void *value)
{
	switch (field->type) {
	case FIELD_BOOL:
		return json_object_new_boolean(((const struct fact_bool *)value)->value);
	case FIELD_ENUM:
	case FIELD_STR:
		return json_object_new_string(field_text(field, value, NULL));
	case FIELD_U64:
	case FIELD_HEX:
	case FIELD_LIMIT:
		return u64_to_json(field, value);
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
