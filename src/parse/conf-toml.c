/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conf-toml.c - checks that a file is TOML (toml.io, 1.0), and that its reader accepts its keys. In TOML a key or table
 * that is defined twice is an error.
 */
#include <ctype.h>
#include <stdio.h>

#include "base/array.h"
#include "parse/conf-keys.h"

#define NAME_MAX_BYTES 512
#define SEEN_MAX 1024
#define DEPTH_MAX 16

struct reading {
	enum conf_format format;
	conf_report *report;
	void *user;
	struct span text, rest;
	char table[NAME_MAX_BYTES]; /* of the section, its parts normalized */
	size_t table_n;
	uint64_t seen[SEEN_MAX]; /* hashes of tables, and of keys with their table */
	size_t seen_count;
	uint64_t scope; /* of an array of tables each element is one */
	uint64_t version;
	const char *wrong; /* NULL: nothing */
	const char *wrong_at;
	bool incomplete, plugin_reported;
};

static size_t line_of(const struct reading *r, const char *at)
{
	size_t line = 1;

	for (const char *p = r->text.p; p < at; p++)
		line += *p == '\n';
	return line;
}

static bool fail(struct reading *r, const char *at, const char *wrong)
{
	if (!r->wrong) {
		r->wrong = wrong;
		r->wrong_at = at;
	}
	return false;
}

/* ---- blanks ---- */

static void advance(struct reading *r, size_t n)
{
	r->rest = (struct span){ r->rest.p + n, r->rest.n - n };
}

static char peek(const struct reading *r)
{
	return r->rest.n ? *r->rest.p : '\0';
}

static void skip_blanks(struct reading *r)
{
	while (r->rest.n && (peek(r) == ' ' || peek(r) == '\t'))
		advance(r, 1);
}

static void skip_comment(struct reading *r)
{
	if (peek(r) == '#')
		advance(r, span_find(r->rest, '\n'));
}

/* Over blanks, comments and ends of lines. */
static void skip_lines(struct reading *r)
{
	for (;;) {
		skip_blanks(r);
		skip_comment(r);
		if (peek(r) != '\n' && peek(r) != '\r')
			return;
		advance(r, 1);
	}
}

static bool end_line(struct reading *r)
{
	skip_blanks(r);
	skip_comment(r);
	if (peek(r) == '\r')
		advance(r, 1);
	if (!r->rest.n)
		return true;
	if (peek(r) != '\n')
		return fail(r, r->rest.p, "more text after the value");
	advance(r, 1);
	return true;
}

/* ---- strings ---- */

static bool read_long_string(struct reading *r, char quote)
{
	const char *start = r->rest.p;

	advance(r, 3);
	while (r->rest.n >= 3) {
		if (peek(r) == '\\' && quote == '"') {
			advance(r, 2);
			continue;
		}
		if (r->rest.p[0] == quote && r->rest.p[1] == quote && r->rest.p[2] == quote) {
			advance(r, 3);
			while (peek(r) == quote)
				advance(r, 1);
			return true;
		}
		advance(r, 1);
	}
	return fail(r, start, "a text whose quotes do not end");
}

static bool read_string(struct reading *r, struct span *out)
{
	const char *start = r->rest.p;
	char quote = *start;

	if (r->rest.n >= 3 && start[1] == quote && start[2] == quote) {
		*out = (struct span){ start, 0 };
		return read_long_string(r, quote);
	}
	advance(r, 1);
	while (r->rest.n && peek(r) != quote && peek(r) != '\n')
		advance(r, peek(r) == '\\' && quote == '"' && r->rest.n > 1 ? 2 : 1);
	if (peek(r) != quote)
		return fail(r, start, "a text whose quotes do not end");
	*out = (struct span){ start + 1, (size_t)(r->rest.p - start) - 1 };
	advance(r, 1);
	return true;
}

/* ---- names ---- */

static bool is_bare(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

static bool read_part(struct reading *r, struct span *part)
{
	size_t n = 0;

	if (peek(r) == '"' || peek(r) == '\'')
		return read_string(r, part);
	while (n < r->rest.n && is_bare(r->rest.p[n]))
		n++;
	if (!n)
		return fail(r, r->rest.p, "no name of a key or table");
	*part = (struct span){ r->rest.p, n };
	advance(r, n);
	return true;
}

/* Adds a part to a name; one with a dot in it stays in quotes. */
static bool add_part(char *name, size_t *n, struct span part)
{
	bool quoted = memchr(part.p, '.', part.n) || !part.n;
	int more = snprintf(name + *n, NAME_MAX_BYTES - *n, "%s%s%.*s%s", *n ? "." : "",
			    quoted ? "\"" : "", SPAN_FMT(part), quoted ? "\"" : "");

	if (more < 0 || (size_t)more >= NAME_MAX_BYTES - *n)
		return false;
	*n += (size_t)more;
	return true;
}

/* Reads a.b."c.d" after the parts that NAME has already; LAST is its last part. */
static bool read_name(struct reading *r, char *name, size_t *n, struct span *last)
{
	for (;;) {
		skip_blanks(r);
		if (!read_part(r, last))
			return false;
		if (!add_part(name, n, *last))
			return fail(r, r->rest.p, "a name that is too long");
		skip_blanks(r);
		if (peek(r) != '.')
			return true;
		advance(r, 1);
	}
}

/* ---- defined once ---- */

static uint64_t hash(uint64_t seed, const char *name, size_t n)
{
	for (size_t i = 0; i < n; i++)
		seed = (seed ^ (unsigned char)name[i]) * UINT64_C(1099511628211);
	return seed;
}

static bool is_first(struct reading *r, uint64_t name)
{
	for (size_t i = 0; i < r->seen_count; i++)
		if (r->seen[i] == name)
			return false;
	if (r->seen_count < SEEN_MAX)
		r->seen[r->seen_count++] = name;
	else
		r->incomplete = true;
	return true;
}

/* ---- values ---- */

static bool read_value(struct reading *r, const char **type, unsigned int depth);

static bool begins_number(struct span word)
{
	if (word.n > 1 && (word.p[0] == '-' || word.p[0] == '+'))
		word.p++;
	return isdigit((unsigned char)word.p[0]);
}

/* Numbers, dates, true and false. */
static bool read_word(struct reading *r, const char **type)
{
	static const char *const numbers[] = { "inf", "nan", "+inf", "-inf", "+nan", "-nan" };
	struct span word = { r->rest.p, 0 };

	while (word.n < r->rest.n && (is_bare(word.p[word.n]) || memchr("+.:", word.p[word.n], 3)))
		word.n++;
	*type = "number";
	if (span_is(word, "true") || span_is(word, "false"))
		*type = "bool";
	else if (!word.n && (!r->rest.n || memchr("\r\n#", *word.p, 3)))
		return fail(r, word.p, "a key without a value");
	else if (!word.n)
		return fail(r, word.p, "a text without quotes");
	else if (!begins_number(word)) {
		bool number = false;

		for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
			number |= span_is(word, numbers[i]);
		if (!number)
			return fail(r, word.p, "a text without quotes");
	}
	advance(r, word.n);
	return true;
}

static bool read_list(struct reading *r, unsigned int depth)
{
	const char *start = r->rest.p, *type;

	advance(r, 1);
	for (;;) {
		skip_lines(r);
		if (!r->rest.n)
			return fail(r, start, "a list whose bracket does not close");
		if (peek(r) == ']')
			break;
		if (!read_value(r, &type, depth + 1))
			return false;
		skip_lines(r);
		if (peek(r) == ',')
			advance(r, 1);
		else if (peek(r) != ']')
			return fail(r, r->rest.p, "a list without a comma between two values");
	}
	advance(r, 1);
	return true;
}

static bool read_inline_table(struct reading *r, unsigned int depth)
{
	const char *start = r->rest.p, *type;
	struct span last;

	advance(r, 1);
	for (;;) {
		char name[NAME_MAX_BYTES];
		size_t n = 0;

		skip_lines(r);
		if (!r->rest.n)
			return fail(r, start, "a table whose brace does not close");
		if (peek(r) == '}')
			break;
		if (!read_name(r, name, &n, &last))
			return false;
		if (peek(r) != '=')
			return fail(r, r->rest.p, "a key without \"=\"");
		advance(r, 1);
		if (!read_value(r, &type, depth + 1))
			return false;
		skip_lines(r);
		if (peek(r) == ',')
			advance(r, 1);
		else if (peek(r) != '}')
			return fail(r, r->rest.p, "a table without a comma between two keys");
	}
	advance(r, 1);
	return true;
}

static bool read_value(struct reading *r, const char **type, unsigned int depth)
{
	struct span string;

	skip_blanks(r);
	if (depth > DEPTH_MAX)
		return fail(r, r->rest.p, "lists in lists that are too deep");
	switch (peek(r)) {
	case '"':
	case '\'':
		*type = "text";
		return read_string(r, &string);
	case '[':
		*type = "list";
		return read_list(r, depth);
	case '{':
		*type = "table";
		return read_inline_table(r, depth);
	default:
		return read_word(r, type);
	}
}

/* ---- keys ---- */

static bool has_key(enum conf_format format, struct span section, struct span key)
{
	struct conf_key buffer;

	return conf_key_find(format, section, key, &buffer);
}

/* Returns true if SECTION is of the plugin for Kubernetes. Each of the others has its own keys. */
static bool is_of_cri(struct span section)
{
	static const char *const names[] = { "plugins.cri", "plugins.\"io.containerd.grpc.v1.cri\"",
					     "plugins.\"io.containerd.cri.v1.runtime\"" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (span_starts(section, names[i]))
			return true;
	return false;
}

/* Where KEY belongs, for a section that does not have it; NULL: nowhere, or anything can be meant. OPEN: the section takes
 * keys that are not in the table. */
static const struct conf_key *find_elsewhere(struct reading *r, struct span key, bool open,
					     struct conf_key *buffer)
{
	struct span section = { r->table, r->table_n };
	const struct conf_key *other = conf_key_elsewhere(r->format, key, buffer);

	if (!other || (r->format != CONF_TOOLKIT && !conf_section(r->format, section)))
		return NULL;
	if (open && !(is_of_cri(section) && span_starts(span_of(other->section), "plugins.*.")))
		return NULL;
	return other;
}

static void compare_key(struct reading *r, struct span key, const char *at, const char *type)
{
	struct span section = { r->table, r->table_n };
	const char *known = conf_section(r->format, section);
	struct conf_wrong wrong = { .section = known && section.n ? span_of(known) : section,
				    .key = key,
				    .line = line_of(r, at) };
	struct conf_key buffer;
	const struct conf_key *row = conf_key_find(r->format, section, key, &buffer);
	bool open = row && strcmp(row->name, "*") == 0;

	if (open)
		row = NULL;
	else if (!row && !known && r->format != CONF_TOOLKIT)
		return;
	if (row && (strcmp(row->type, "any") == 0 || strcmp(row->type, type) == 0))
		return;
	if (row) {
		wrong.kind = CONF_TYPE;
		wrong.wanted = row->type;
	} else {
		row = find_elsewhere(r, key, open, &buffer);
		if (!row && has_key(r->format, section, key))
			return;
		wrong.kind = row ? CONF_PLACE : CONF_UNKNOWN;
		wrong.wanted = row ? row->section : NULL;
	}
	r->report(r->user, &wrong);
}

static struct span digits_of(struct span value)
{
	size_t n = 0;

	while (n < value.n && isdigit((unsigned char)value.p[n]))
		n++;
	return (struct span){ value.p, n };
}

static bool read_pair(struct reading *r)
{
	const char *at = r->rest.p, *type = NULL;
	struct span value;
	char name[NAME_MAX_BYTES];
	size_t n = 0;
	struct span last;

	if (!read_name(r, name, &n, &last))
		return false;
	if (peek(r) != '=')
		return fail(r, at, "a line that is neither KEY = VALUE nor a table");
	advance(r, 1);
	skip_blanks(r);
	value = r->rest;
	if (!read_value(r, &type, 0) || !end_line(r))
		return false;
	if (!is_first(r, hash(hash(r->scope, r->table, r->table_n) * 31u, name, n)))
		return fail(r, at, "a key for the second time");
	if (!r->table_n && span_is(last, "version"))
		(void)span_u64(digits_of(value), 10, &r->version);
	/* a.b = 1 is a key of the table a, which is not compared. */
	if (n == last.n)
		compare_key(r, last, at, type);
	return true;
}

/* ---- tables ---- */

/* Version 1 has plugins.cri, later versions plugins."io.containerd.grpc.v1.cri" (containerd 1.7:
 * services/server/config/config.go, Decode(), ValidateV2()). */
static void compare_plugin(struct reading *r, const char *at)
{
	static const char first[] = "plugins.cri", full[] = "plugins.\"io.containerd.";
	struct span table = { r->table, r->table_n };
	bool is_short = span_starts(table, first) &&
			(table.n == strlen(first) || table.p[strlen(first)] == '.');
	struct conf_wrong wrong = { .kind = CONF_PLACE, .line = line_of(r, at) };

	if (r->format != CONF_CONTAINERD || r->plugin_reported)
		return;
	if (is_short && r->version > 1) {
		wrong.section = span_of(first);
		wrong.wanted = "plugins.\"io.containerd.grpc.v1.cri\"";
	} else if (span_starts(table, full) && r->version <= 1) {
		wrong.section = SPAN("plugins.\"io.containerd.grpc.v1.cri\"");
		wrong.wanted = "version 2";
		wrong.since = "2.0";
	} else {
		return;
	}
	r->plugin_reported = true;
	r->report(r->user, &wrong);
}

static void compare_table(struct reading *r, const char *at)
{
	struct span table = { r->table, r->table_n };
	struct conf_wrong wrong = { .kind = CONF_UNKNOWN,
				    .section = table,
				    .line = line_of(r, at) };

	if (r->format == CONF_TOOLKIT && !conf_section(r->format, table) &&
	    !span_is(table, "nvidia-container-runtime.modes"))
		r->report(r->user, &wrong);
	compare_plugin(r, at);
}

static bool read_table(struct reading *r)
{
	const char *at = r->rest.p;
	bool element = r->rest.n > 1 && at[1] == '[';
	struct span last;

	advance(r, 1u + element);
	r->table_n = 0;
	if (!read_name(r, r->table, &r->table_n, &last))
		return false;
	if (r->rest.n < 1u + element || r->rest.p[0] != ']' || (element && r->rest.p[1] != ']'))
		return fail(r, at, "a table whose bracket does not close");
	advance(r, 1u + element);
	if (!end_line(r))
		return false;
	/* The tables below an element are its own. */
	if (element)
		r->scope++;
	else if (!is_first(r, hash(r->scope, r->table, r->table_n)))
		return fail(r, at, "a table for the second time");
	compare_table(r, at);
	return true;
}

bool conf_check_toml(enum conf_format format, struct span text, conf_report *report, void *user)
{
	struct reading r = { .format = format,
			     .report = report,
			     .user = user,
			     .text = text,
			     .rest = text,
			     .scope = UINT64_C(14695981039346656037) };

	for (skip_lines(&r); r.rest.n && !r.wrong; skip_lines(&r))
		if (!(peek(&r) == '[' ? read_table(&r) : read_pair(&r)))
			break;
	if (r.wrong)
		report(user, &(struct conf_wrong){ .kind = CONF_SYNTAX,
						   .wanted = r.wrong,
						   .line = line_of(&r, r.wrong_at) });
	return !r.incomplete;
}
