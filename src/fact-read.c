/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fact-read.c - facts from JSON, by their descriptions, straight from the text. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fact.h"
#include "json-walk.h"

/* Where in the document, for messages alone: a key, or the number of an item. */
struct place {
	const struct place *above;
	struct span key;
	size_t index;
};

struct reader {
	struct arena *arena;
	bool lenient;
	struct fact_error *error;
	const char *at;
};

static size_t write_place(const struct place *place, char *text, size_t room)
{
	size_t n;

	if (!place)
		return 0;
	n = write_place(place->above, text, room);
	if (place->key.p)
		n += (size_t)snprintf(text + n, room - n, "%s%.*s", n ? "." : "",
				      SPAN_FMT(place->key));
	else
		n += (size_t)snprintf(text + n, room - n, "[%zu]", place->index);
	return n < room ? n : room - 1;
}

__attribute__((format(printf, 3, 4))) static int
refuse(struct reader *r, const struct place *place, const char *format, ...)
{
	char where[160] = "facts", what[96];
	va_list ap;

	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	write_place(place, where, sizeof(where));
	snprintf(r->error->text, sizeof(r->error->text), "%s: %s", where, what);
	return -EINVAL;
}

static int expect(struct reader *r, const struct place *place, enum json_type type,
		  const char *word)
{
	enum json_type found = walk_type(r->at);

	if (found == type)
		return 0;
	return refuse(r, place, "expected %s, found %s", word, json_type_word(found));
}

/* What a string means: mostly what stands there. */
static struct span meaning(struct reader *r, struct span raw)
{
	char *text;

	if (!walk_has_escapes(raw))
		return raw;
	text = arena_alloc(r->arena, raw.n);
	return (struct span){ text, walk_decode(text, raw) };
}

static const char *read_text(struct reader *r)
{
	struct span s = meaning(r, walk_string(&r->at));

	return arena_strndup(r->arena, s.p, s.n);
}

static int read_bool(struct reader *r, const struct place *place, struct fact_bool *fact)
{
	int rc = expect(r, place, json_type_boolean, "true or false");

	if (rc)
		return rc;
	*fact = fact_bool(*r->at == 't');
	walk_pass(&r->at);
	return 0;
}

static int read_enum(struct reader *r, const struct place *place, const struct field *f,
		     struct fact_enum *fact)
{
	struct span word;
	int rc = expect(r, place, json_type_string, "a string");

	if (rc)
		return rc;
	word = meaning(r, walk_string(&r->at));
	for (int i = 0; f->words[i]; i++) {
		if (span_is(word, f->words[i])) {
			*fact = fact_enum(i);
			return 0;
		}
	}
	return refuse(r, place, "unknown word \"%.*s\"", (int)(word.n < 40 ? word.n : 40), word.p);
}

static int read_u64(struct reader *r, const struct place *place, const struct field *f,
		    struct fact_u64 *fact)
{
	enum json_type type = walk_type(r->at);
	bool negative;
	struct span s;

	if (f->type != FIELD_HEX && type == json_type_int) {
		*fact = fact_u64(walk_integer(&r->at, &negative));
		return negative && fact->value ? refuse(r, place, "must not be negative") : 0;
	}
	if (type != json_type_string)
		return refuse(r, place, "expected %s, found %s",
			      f->type == FIELD_HEX ? "a string such as \"0x1d\"" : "a number",
			      json_type_word(type));
	s = meaning(r, walk_string(&r->at));
	if (f->type == FIELD_LIMIT && span_is(s, "unlimited")) {
		*fact = fact_u64(FACT_UNLIMITED);
		return 0;
	}
	if (span_u64(s, f->type == FIELD_HEX ? 16 : 10, &fact->value))
		return refuse(r, place, "\"%.*s\" is not a number", (int)(s.n < 40 ? s.n : 40), s.p);
	fact->state = FACT_KNOWN;
	return 0;
}

static int read_str(struct reader *r, const struct place *place, struct fact_str *fact)
{
	int rc = expect(r, place, json_type_string, "a string");

	if (!rc)
		*fact = (struct fact_str){ FACT_KNOWN, read_text(r) };
	return rc;
}

static int read_strings(struct reader *r, const struct place *place, struct fact_list *list)
{
	int rc = expect(r, place, json_type_array, "a list");

	if (rc)
		return rc;
	for (walk_enter(&r->at); walk_next(&r->at);) {
		rc = expect(r, place, json_type_string, "a list of strings");
		if (rc)
			return rc;
		*(const char **)fact_list_add(r->arena, list, sizeof(char *)) = read_text(r);
	}
	list->state = FACT_KNOWN;
	return 0;
}

static int read_struct(struct reader *r, const struct place *place, const struct desc *desc,
		       void *facts);

static int read_list(struct reader *r, const struct place *place, const struct desc *desc,
		     struct fact_list *list)
{
	struct place item = { .above = place };
	int rc = expect(r, place, json_type_array, "a list");

	if (rc)
		return rc;
	for (walk_enter(&r->at); walk_next(&r->at); item.index++) {
		rc = read_struct(r, &item, desc, fact_list_add(r->arena, list, desc->size));
		if (rc)
			return rc;
	}
	list->state = FACT_KNOWN;
	return 0;
}

static int read_field(struct reader *r, const struct place *place, const struct field *f,
		      void *value)
{
	if (walk_type(r->at) == json_type_null) {
		if (f->type == FIELD_STRUCT && !f->sub->optional)
			return refuse(r, place, "must not be null");
		walk_pass(&r->at);
		*(enum fact_state *)value = FACT_ABSENT;
		return 0;
	}
	switch (f->type) {
	case FIELD_BOOL:
		return read_bool(r, place, value);
	case FIELD_ENUM:
		return read_enum(r, place, f, value);
	case FIELD_U64:
	case FIELD_HEX:
	case FIELD_LIMIT:
		return read_u64(r, place, f, value);
	case FIELD_STR:
		return read_str(r, place, value);
	case FIELD_STRS:
		return read_strings(r, place, value);
	case FIELD_LIST:
		return read_list(r, place, f->sub, value);
	case FIELD_STRUCT:
		return read_struct(r, place, f->sub, value);
	}
	return -EINVAL;
}

/* The field of that name. Keys mostly come in the description's order, so it is likely *NEXT. */
static const struct field *find_field(const struct desc *desc, struct span key, size_t *next)
{
	for (size_t i = 0; i < desc->count; i++) {
		size_t at = *next + i < desc->count ? *next + i : *next + i - desc->count;

		if (span_is(key, desc->fields[at].name)) {
			*next = at + 1;
			return &desc->fields[at];
		}
	}
	return NULL;
}

/* A document is the struct NODE with the keys of every document beside its own. */
static bool is_beside(const struct place *place, struct span key)
{
	return !place && (span_is(key, "format") || span_is(key, "format_version") ||
			  span_is(key, "tool_version"));
}

static int read_struct(struct reader *r, const struct place *place, const struct desc *desc,
		       void *facts)
{
	struct place member = { .above = place };
	size_t next = 0;
	int rc = expect(r, place, json_type_object, "an object");

	if (rc)
		return rc;
	for (walk_enter(&r->at); walk_next(&r->at);) {
		const struct field *f;

		member.key = meaning(r, walk_key(&r->at));
		f = find_field(desc, member.key, &next);
		if (f)
			rc = read_field(r, &member, f, (char *)facts + f->offset);
		else if (r->lenient || is_beside(place, member.key))
			walk_pass(&r->at);
		else
			rc = refuse(r, &member, "no such fact");
		if (rc)
			return rc;
	}
	if (desc->optional)
		*(enum fact_state *)facts = FACT_KNOWN;
	return 0;
}

int fact_from_json(const struct desc *desc, void *facts, const char *json, struct arena *arena,
		   bool lenient, struct fact_error *error)
{
	struct reader r = { .arena = arena, .lenient = lenient, .error = error };

	r.at = json + strspn(json, " \t\r\n");
	return read_struct(&r, NULL, desc, facts);
}
