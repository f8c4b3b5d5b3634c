/* SPDX-License-Identifier: GPL-2.0-or-later */
/* expect-match.c - the right side of KEY = VALUE in an [expect] section. */
#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/escape.h"
#include "base/span.h"
#include "evaluate/expect.h"
#include "parse/mountinfo.h"
#include "parse/version.h"

#define WORD_MAX 192 /* a line of a configuration has 199 bytes at most */
#define FROM "from="

const char *const expect_kind_help[] = {
	[EXPECT_NUMBER] = "a number, or conditions: 8, >=8, 4..8",
	[EXPECT_AT_LEAST] = "a number, the minimum",
	[EXPECT_VERSION] =
		"a version, its beginning, a shell pattern or conditions: 580.159.04, 580, "
		"580.*, 570..580, >=570 <590",
	[EXPECT_WORD] = "one of these words",
	[EXPECT_TEXT] = "a text that the value contains",
	[EXPECT_MOUNT] =
		"the type as a shell pattern, required options, and from=SOURCE, also a shell "
		"pattern",
};

static struct span after(struct span s, size_t n)
{
	return (struct span){ s.p + n, s.n - n };
}

/* A word as a string; false for one that no line can hold. */
static bool copy(struct span word, char out[WORD_MAX])
{
	if (word.n >= WORD_MAX)
		return false;
	memcpy(out, word.p, word.n);
	out[word.n] = '\0';
	return true;
}

/* "8 x " at the beginning of an alternative is taken off it. */
static bool take_count(struct span *alternative, uint64_t *count)
{
	struct span rest = *alternative, number, x;

	if (!span_word(&rest, &number) || span_u64(number, 10, count) || !span_word(&rest, &x) ||
	    !span_is(x, "x") || !span_trim(rest).n)
		return false;
	*alternative = span_trim(rest);
	return true;
}

/* ---- numbers and versions ---- */

/* <0, 0, >0. A limit with fewer parts stands for all versions that begin with it. */
static int compare(const char *version, const char *limit)
{
	size_t n = strlen(limit);

	if (strncmp(version, limit, n) == 0 && n && (version[n] == '.' || version[n] == '-'))
		return 0;
	return version_compare(version, limit);
}

static bool in_range(const char *version, struct span word)
{
	const char *dots = span_search(word, "..");
	struct span from = { word.p, (size_t)(dots - word.p) };
	char low[WORD_MAX], high[WORD_MAX];

	return copy(from, low) && copy(after(word, from.n + 2), high) &&
	       compare(version, low) >= 0 && compare(version, high) <= 0;
}

static bool version_fits(const char *version, struct span word)
{
	size_t n = 0;
	char limit[WORD_MAX];
	int order;

	if (span_search(word, ".."))
		return in_range(version, word);
	while (n < word.n && strchr("<>=", word.p[n]) && word.p[n])
		n++;
	if (!copy(after(word, n), limit))
		return false;
	if (n == 0 && strpbrk(limit, "*?["))
		return fnmatch(limit, version, 0) == 0;
	if (n == 0)
		return strcmp(version, limit) == 0 ||
		       (starts_with(version, limit) && compare(version, limit) == 0);
	order = compare(version, limit);
	return (word.p[0] == '<' && order < 0) || (word.p[0] == '>' && order > 0) ||
	       (word.p[n - 1] == '=' && order == 0);
}

static bool conditions_fit(const char *value, struct span wanted)
{
	struct span word;

	while (span_word(&wanted, &word))
		if (!version_fits(value, word))
			return false;
	return true;
}

static bool operator_is_right(struct span word)
{
	static const char *const operators[] = { "", "<", ">", "<=", ">=", "=" };
	size_t n = 0;

	while (n < word.n && word.p[n] && strchr("<>=", word.p[n]))
		n++;
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (span_is((struct span){ word.p, n }, operators[i]))
			return n < word.n;
	return false;
}

static bool is_number(struct span s)
{
	uint64_t number;

	return span_u64(s, 10, &number) == 0;
}

static bool word_is_number(struct span word)
{
	const char *dots = span_search(word, "..");
	size_t n = 0;

	if (dots)
		return is_number((struct span){ word.p, (size_t)(dots - word.p) }) &&
		       is_number(after(word, (size_t)(dots - word.p) + 2));
	while (n < word.n && word.p[n] && strchr("<>=", word.p[n]))
		n++;
	return is_number(after(word, n));
}

/* ---- the other kinds ---- */

/* Matches whole words: H20 is not in "NVIDIA H200". */
static bool contains(const char *value, struct span wanted)
{
	char text[WORD_MAX];

	if (!copy(wanted, text))
		return false;
	for (const char *at = value; *text && (at = strstr(at, text)); at++)
		if ((at == value || !isalnum((unsigned char)at[-1])) &&
		    !isalnum((unsigned char)at[strlen(text)]))
			return true;
	return false;
}

/* A source may have brackets of its own: [fd00::1]:/export. */
static bool pattern_fits(struct span pattern, struct span value)
{
	char p[WORD_MAX], v[PATH_MAX];

	if (!copy(pattern, p) || value.n >= sizeof(v))
		return false;
	memcpy(v, value.p, value.n);
	v[value.n] = '\0';
	return strcmp(p, v) == 0 || fnmatch(p, v, 0) == 0;
}

/* VALUE is "TYPE OPTIONS SOURCE". */
static bool mount_fits(const char *value, struct span wanted)
{
	struct span rest = span_of(value), type, options, source, word;

	if (!span_word(&rest, &type) || !span_word(&rest, &options))
		return false;
	source = span_trim(rest);
	if (!span_word(&wanted, &word) || !pattern_fits(word, type))
		return false;
	while (span_word(&wanted, &word)) {
		if (span_starts(word, FROM)) {
			if (!pattern_fits(after(word, strlen(FROM)), source))
				return false;
		} else if (!mount_has_option(options, word)) {
			return false;
		}
	}
	return true;
}

static bool reaches(const char *value, struct span wanted)
{
	uint64_t seen = 0, least = 0;

	return span_u64(span_of(value), 10, &seen) == 0 && span_u64(wanted, 10, &least) == 0 &&
	       seen >= least;
}

static bool alternative_fits(enum expect_kind kind, const char *value, struct span wanted)
{
	switch (kind) {
	case EXPECT_NUMBER:
	case EXPECT_VERSION:
		return conditions_fit(value, wanted);
	case EXPECT_AT_LEAST:
		return reaches(value, wanted);
	case EXPECT_WORD:
		return span_is(wanted, value);
	case EXPECT_TEXT:
		return contains(value, wanted);
	case EXPECT_MOUNT:
		return mount_fits(value, wanted);
	}
	return false;
}

bool expect_fits(const struct expect_key *key, const char *value, const char *wanted, size_t *which)
{
	struct span rest = span_of(wanted), alternative;
	uint64_t count;

	for (size_t i = 0; span_cut(&rest, ',', &alternative); i++) {
		alternative = span_trim(alternative);
		take_count(&alternative, &count);
		if (!alternative_fits(key->kind, value, alternative))
			continue;
		if (which)
			*which = i;
		return true;
	}
	return false;
}

bool expect_count(const char *wanted, size_t which, uint64_t *count)
{
	struct span rest = span_of(wanted), alternative;

	for (size_t i = 0; span_cut(&rest, ',', &alternative); i++) {
		alternative = span_trim(alternative);
		if (i == which)
			return take_count(&alternative, count);
	}
	return false;
}

/* ---- what a configuration may say ---- */

static bool is_one_of(struct span value, const char *words)
{
	struct span rest = span_of(words), word;
	char text[WORD_MAX];

	if (!copy(value, text))
		return false;
	while (span_cut(&rest, ',', &word))
		if (span_is(span_trim(word), text))
			return true;
	return false;
}

static bool alternative_is_right(const struct expect_key *key, struct span alternative)
{
	struct span rest = alternative, word;

	if (!alternative.n)
		return false;
	if (key->kind == EXPECT_WORD)
		return is_one_of(alternative, key->words);
	if (key->kind == EXPECT_AT_LEAST)
		return is_number(alternative);
	if (key->kind != EXPECT_NUMBER && key->kind != EXPECT_VERSION)
		return true;
	while (span_word(&rest, &word))
		if (!operator_is_right(word) ||
		    (key->kind == EXPECT_NUMBER && !word_is_number(word)))
			return false;
	return true;
}

const char *expect_refuse(const struct expect_key *key, const char *value)
{
	struct span rest = span_of(value), alternative;
	bool any = false;
	uint64_t count;

	while (span_cut(&rest, ',', &alternative)) {
		alternative = span_trim(alternative);
		take_count(&alternative, &count);
		if (!alternative_is_right(key, alternative))
			return key->words ? key->words : expect_kind_help[key->kind];
		any = true;
	}
	return any ? NULL : key->words ? key->words : expect_kind_help[key->kind];
}

/* ---- what a node would be expected to be ---- */

static uint64_t count_of(const struct expect_look *look, const char *value)
{
	uint64_t n = 0;

	for_each(seen, &look->seen)
		n += strcmp(seen->value, value) == 0;
	return n;
}

static bool seen_before(const struct expect_look *look, const struct expect_seen *seen)
{
	for (const struct expect_seen *s = look->seen.items; s < seen; s++)
		if (strcmp(s->value, seen->value) == 0)
			return true;
	return false;
}

/* TYPE OPTIONS SOURCE -> TYPE rw from=SOURCE. A local device's name is each node's own. */
static const char *mount_value(struct arena *arena, const char *value)
{
	struct span rest = span_of(value), type, options, source;
	bool local;

	if (!span_word(&rest, &type) || !span_word(&rest, &options))
		return NULL;
	source = span_trim(rest);
	local = span_starts(source, "/dev/") || !span_search(source, "/") ||
		span_find(source, ' ') < source.n || span_find(source, ',') < source.n;
	return arena_printf(arena, "%.*s %s%s%.*s", SPAN_FMT(type),
			    mount_has_option(options, SPAN("ro")) ? "ro" : "rw",
			    local ? "" : " " FROM, local ? 0 : (int)source.n, source.p);
}

const char *expect_value(const struct expect_key *key, const struct expect_look *look)
{
	const char *text = "";
	size_t kinds = 0;

	for_each(seen, &look->seen) {
		if (seen->state != FACT_KNOWN || !*seen->value)
			return NULL;
		kinds += !seen_before(look, seen);
	}
	for_each(seen, &look->seen) {
		const char *value = key->kind == EXPECT_MOUNT
					    ? mount_value(look->arena, seen->value)
					    : seen->value;

		if (seen_before(look, seen))
			continue;
		if (!value || strchr(value, ','))
			return NULL;
		text = kinds == 1 ? value
				  : arena_printf(look->arena, "%s%s%" PRIu64 " x %s", text,
						 *text ? ", " : "", count_of(look, seen->value),
						 value);
	}
	return !*text || strpbrk(text, "\n\r") || strstr(text, " ;") || expect_refuse(key, text)
		       ? NULL
		       : text;
}

static bool any_is(const struct expect_look *look, enum fact_state state)
{
	for_each(seen, &look->seen)
		if (seen->state == state)
			return true;
	return false;
}

static const char *why_none(const struct expect_look *look)
{
	if (!look->seen.count)
		return look->none ? look->none : "none found";
	return any_is(look, FACT_UNKNOWN)  ? "not known"
	       : any_is(look, FACT_ABSENT) ? "not there"
					   : "no value for a line";
}

/* Returns true if TEXT survives being written to a configuration and read again. */
static bool is_plain(struct arena *arena, const char *text)
{
	return strcmp(escape_string(arena, SINK_TERMINAL, text), text) == 0;
}

const char *expect_line_value(const struct expect_key *key, const char *name,
			      const struct expect_look *look, const char **reason)
{
	const char *value = expect_value(key, look);

	if (value && is_plain(look->arena, name) && is_plain(look->arena, value) &&
	    strlen(name) + strlen(value) + strlen(" = ") <= EXPECT_LINE_MAX)
		return value;
	*reason = value ? "too long for a line, or with characters that a line cannot hold"
			: why_none(look);
	return NULL;
}
