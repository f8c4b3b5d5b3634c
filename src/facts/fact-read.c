/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fact-read.c - facts from JSON, by their descriptions, in one pass through the text. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/json-scan.h"
#include "base/utf8.h"
#include "facts/fact.h"

/* The position in the document for messages: a key, or the number of an item. */
struct place {
	const struct place *above;
	struct span key;
	size_t index;
};

struct reader {
	struct json_scan scan;
	struct arena *arena;
	struct fact_series *series; /* NULL: this is the only document */
	bool lenient;
	struct fact_error *error;
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

__attribute__((format(printf, 3, 4))) static int refuse(struct reader *r, const struct place *place,
							const char *format, ...)
{
	char where[160] = "facts", what[96];
	va_list ap;

	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	write_place(place, where, sizeof(where));
	snprintf(r->error->text, sizeof(r->error->text), "%s: %s", where, what);
	utf8_drop_cut(r->error->text);
	return -EINVAL;
}

static int refuse_type(struct reader *r, const struct place *place, const char *wanted,
		       enum json_type found)
{
	return refuse(r, place, "expected %s, found %s", wanted, json_type_word(found));
}

/* Returns true if there is room for BYTES more. The items of a list are larger than their text. */
static bool has_room(const struct reader *r, size_t bytes)
{
	size_t used = arena_used(r->arena);

	return used <= FACT_BYTES_MAX && bytes <= FACT_BYTES_MAX - used;
}

static int refuse_size(struct reader *r, const struct place *place)
{
	return refuse(r, place, "more than %u MiB of facts", FACT_BYTES_MAX >> 20);
}

/* Before one more item of ITEM_SIZE is added. */
static int check_list(struct reader *r, const struct place *place, const struct fact_list *list,
		      size_t item_size)
{
	if (list->count == FACT_ITEMS_MAX)
		return refuse(r, place, "more than %d items", FACT_ITEMS_MAX);
	return has_room(r, 2 * list->count * item_size) ? 0 : refuse_size(r, place);
}

/* The meaning of a string: usually the text itself. */
static struct span meaning(struct reader *r, struct json_raw raw)
{
	char *text;

	/* No field has a name of this length. */
	if (!raw.escapes || !has_room(r, raw.text.n))
		return raw.text;
	text = arena_alloc(r->arena, raw.text.n);
	return (struct span){ text, json_decode(text, raw.text) };
}

/* Returns true if a value of this kind begins here. */
static int expect(struct reader *r, const struct place *place, char first, const char *wanted)
{
	if (r->scan.at < r->scan.end && *r->scan.at == first)
		return 0;
	return refuse_type(r, place, wanted, json_scan_type(&r->scan));
}

static int read_text(struct reader *r, const struct place *place, const char **text)
{
	struct json_raw raw;
	struct span s;

	if (!json_scan_string(&r->scan, &raw))
		return -EINVAL;
	if (!has_room(r, 2 * raw.text.n))
		return refuse_size(r, place);
	s = meaning(r, raw);
	*text = arena_strndup(r->arena, s.p, s.n);
	return 0;
}

static int read_bool(struct reader *r, const struct place *place, struct fact_bool *fact)
{
	bool value = *r->scan.at == 't';

	if (!value && *r->scan.at != 'f')
		return refuse_type(r, place, "true or false", json_scan_type(&r->scan));
	*fact = fact_bool(value);
	return json_scan_value(&r->scan) ? 0 : -EINVAL;
}

static int read_enum(struct reader *r, const struct place *place, const struct field *f,
		     struct fact_enum *fact)
{
	int rc = expect(r, place, '"', "a string");
	struct json_raw raw;
	struct span word;

	if (rc || !json_scan_string(&r->scan, &raw))
		return -EINVAL;
	word = meaning(r, raw);
	for (int i = 0; f->words[i]; i++) {
		if (span_is(word, f->words[i])) {
			*fact = fact_enum(i);
			return 0;
		}
	}
	return refuse(r, place, "unknown word \"%.*s\"", (int)(word.n < 40 ? word.n : 40), word.p);
}

static int read_number(struct reader *r, const struct place *place, struct fact_u64 *fact)
{
	struct json_digits number;

	if (!json_scan_number(&r->scan, &number))
		return -EINVAL;
	if (!number.whole)
		return refuse_type(r, place, "a number", json_type_double);
	*fact = fact_u64(number.value);
	return number.negative && number.value ? refuse(r, place, "must not be negative") : 0;
}

static int read_u64(struct reader *r, const struct place *place, const struct field *f,
		    struct fact_u64 *fact)
{
	char first = *r->scan.at;
	struct json_raw raw;
	struct span s;

	if (f->type != FIELD_HEX && (first == '-' || (first >= '0' && first <= '9')))
		return read_number(r, place, fact);
	if (first != '"')
		return refuse_type(r, place,
				   f->type == FIELD_HEX ? "a string such as \"0x1d\"" : "a number",
				   json_scan_type(&r->scan));
	if (!json_scan_string(&r->scan, &raw))
		return -EINVAL;
	s = meaning(r, raw);
	if (f->type == FIELD_LIMIT && span_is(s, "unlimited")) {
		*fact = fact_u64(FACT_UNLIMITED);
		return 0;
	}
	if (span_u64(s, f->type == FIELD_HEX ? 16 : 10, &fact->value))
		return refuse(r, place, "\"%.*s\" is not a number", (int)(s.n < 40 ? s.n : 40),
			      s.p);
	fact->state = FACT_KNOWN;
	return 0;
}

static int read_str(struct reader *r, const struct place *place, struct fact_str *fact)
{
	int rc = expect(r, place, '"', "a string");

	fact->state = FACT_KNOWN;
	return rc ? rc : read_text(r, place, &fact->value);
}

static int read_strings(struct reader *r, const struct place *place, struct fact_list *list)
{
	int rc = expect(r, place, '[', "a list");

	if (rc)
		return rc;
	json_scan_enter(&r->scan);
	while (json_scan_next(&r->scan, ']')) {
		rc = expect(r, place, '"', "a list of strings");
		rc = rc ? rc : check_list(r, place, list, sizeof(char *));
		if (rc || read_text(r, place, fact_list_add(r->arena, list, sizeof(char *))))
			return -EINVAL;
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
	int rc = expect(r, place, '[', "a list");

	if (rc)
		return rc;
	json_scan_enter(&r->scan);
	for (; json_scan_next(&r->scan, ']'); item.index++) {
		rc = check_list(r, place, list, desc->size);
		if (rc == 0)
			rc = read_struct(r, &item, desc, fact_list_add(r->arena, list, desc->size));
		if (rc)
			return rc;
	}
	list->state = FACT_KNOWN;
	fact_list_order(desc, list);
	return 0;
}

static int read_field(struct reader *r, const struct place *place, const struct field *f,
		      void *value)
{
	if (*r->scan.at == 'n') {
		if (f->type == FIELD_STRUCT && !f->sub->optional)
			return refuse(r, place, "must not be null");
		*(enum fact_state *)value = FACT_ABSENT;
		field_close_holes(f, value);
		return json_scan_value(&r->scan) ? 0 : -EINVAL;
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

/* A document is the struct NODE with the keys of every document beside its own. */
static bool is_beside(const struct place *place, struct span key)
{
	return !place && (span_is(key, "format") || span_is(key, "format_version") ||
			  span_is(key, "tool_version"));
}

/* An object of which some keys have been taken. */
struct members {
	const struct desc *desc;
	size_t next;	/* after the field that came last: mostly keys are in their order */
	uint64_t taken; /* fields, a bit each */
	size_t count;	/* of those */
	size_t first;	/* of the other keys */
	uint64_t seen[4];
};

/* Reads a key into KEY. F is its field, or NULL: unknown key. */
static int read_key(struct reader *r, struct members *m, struct span *key, const struct field **f)
{
	struct json_raw raw;

	for (size_t i = m->next; i < m->desc->count; i++) {
		*f = &m->desc->fields[i];
		if (json_scan_is_key(&r->scan, (*f)->name, (*f)->length)) {
			*key = (struct span){ (*f)->name, (*f)->length };
			m->next = i + 1;
			return 0;
		}
	}
	if (!json_scan_key(&r->scan, &raw))
		return -EINVAL;
	*key = meaning(r, raw);
	*f = desc_field(m->desc, key->p, key->n);
	if (*f)
		m->next = (size_t)(*f - m->desc->fields) + 1;
	return *f || json_scan_once(&r->scan, m->first, m->seen, raw.text) ? 0 : -EINVAL;
}

/* Reads a section of the document. A section with the same text as in the previous document is copied. */
static int read_section(struct reader *r, const struct place *place, const struct field *f,
			struct fact_section *before, void *value)
{
	const char *start = r->scan.at;
	int rc;

	if (before->text.n && (size_t)(r->scan.end - start) >= before->text.n &&
	    memcmp(start, before->text.p, before->text.n) == 0) {
		memcpy(value, before->facts, f->sub->size);
		r->scan.at += before->text.n;
		return 0;
	}
	rc = read_field(r, place, f, value);
	/* Sections are remembered if they were read without an error. One that is mostly blanks is not worth the
	 * memory. */
	if (rc == 0 && !r->scan.wrong && has_room(r, (size_t)(r->scan.at - start))) {
		size_t n = (size_t)(r->scan.at - start);

		before->text = (struct span){ arena_strndup(r->arena, start, n), n };
		before->facts = memcpy(arena_alloc(r->arena, f->sub->size), value, f->sub->size);
	}
	return rc;
}

static int read_member(struct reader *r, const struct place *above, struct members *m, void *facts)
{
	struct place member = { .above = above };
	const struct field *f;
	uint64_t bit;

	if (read_key(r, m, &member.key, &f) || !json_scan_colon(&r->scan))
		return -EINVAL;
	if (!f && (r->lenient || is_beside(above, member.key)))
		return json_scan_value(&r->scan) ? 0 : -EINVAL;
	if (!f)
		return refuse(r, &member, "no such fact");
	bit = UINT64_C(1) << (m->next - 1);
	if (m->taken & bit)
		return refuse(r, &member, "listed twice");
	m->taken |= bit;
	m->count++;
	if (!above && r->series && f->type == FIELD_STRUCT)
		return read_section(r, &member, f, &r->series->sections[f - m->desc->fields],
				    (char *)facts + f->offset);
	return read_field(r, &member, f, (char *)facts + f->offset);
}

static void close_fields_not_given(const struct desc *desc, uint64_t taken, void *facts)
{
	for (size_t i = 0; i < desc->count; i++)
		if (!(taken >> i & 1))
			field_close_holes(&desc->fields[i], (char *)facts + desc->fields[i].offset);
}

static int read_struct(struct reader *r, const struct place *place, const struct desc *desc,
		       void *facts)
{
	struct members members = { .desc = desc, .first = r->scan.keys_count };
	int rc = expect(r, place, '{', "an object");

	if (rc)
		return rc;
	json_scan_enter(&r->scan);
	while (json_scan_next(&r->scan, '}')) {
		rc = read_member(r, place, &members, facts);
		if (rc)
			return rc;
	}
	if (r->scan.keys_count - members.first + members.count > JSON_KEYS_MAX)
		return refuse(r, place, "too many keys");
	r->scan.keys_count = members.first;
	if (members.count < desc->count)
		close_fields_not_given(desc, members.taken, facts);
	if (desc->optional)
		*(enum fact_state *)facts = FACT_KNOWN;
	return 0;
}

static int read_document(struct reader *r, const struct desc *desc, void *facts, struct span json)
{
	struct json_error why;
	int rc;

	json_scan_begin(&r->scan, json.p, json.n, &why);
	rc = read_struct(r, NULL, desc, facts);
	if (!rc && !r->scan.wrong)
		json_scan_finish(&r->scan);
	if (r->scan.wrong)
		snprintf(r->error->text, sizeof(r->error->text), "line %zu: %s", why.line,
			 why.text);
	json_scan_end(&r->scan);
	return r->scan.wrong ? -EINVAL : rc;
}

int fact_from_json(const struct desc *desc, void *facts, struct span json, struct arena *arena,
		   bool lenient, struct fact_error *error)
{
	struct reader r = { .arena = arena, .lenient = lenient, .error = error };

	return read_document(&r, desc, facts, json);
}

/* ---- documents that are alike ---- */

/* Sections of documents before are left in the arena until there are this many bytes of them. */
#define SERIES_BYTES (2u << 20)

int fact_series_read(struct fact_series *series, const struct desc *desc, void *facts,
		     struct span json, bool lenient, struct fact_error *error)
{
	struct reader r = { .series = series, .lenient = lenient, .error = error };

	if (!series->arena)
		series->arena = arena_new(ARENA_BYTES, "facts");
	if (!series->arena) {
		snprintf(error->text, sizeof(error->text), "out of memory");
		return -EINVAL;
	}
	/* A key that a lenient read passes over is an error in a strict one, so a change of mode drops the
	 * remembered sections. */
	if (lenient != series->lenient || arena_used(series->arena) > SERIES_BYTES) {
		arena_reset(series->arena);
		*series = (struct fact_series){ .arena = series->arena, .lenient = lenient };
	}
	r.arena = series->arena;
	return read_document(&r, desc, facts, json);
}

void fact_series_end(struct fact_series *series)
{
	arena_free(series->arena);
}
