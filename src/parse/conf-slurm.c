/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conf-slurm.c - slurm.conf, gres.conf and cgroup.conf as Slurm reads them (Slurm 26.05: src/common/parse_config.c,
 * parse_value.c): lines of KEY=VALUE. Some keys take the rest of their line.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "base/array.h"
#include "parse/conf-keys.h"

struct reading {
	enum conf_format format;
	conf_report *report;
	void *user;
	size_t line;
};

#define VALUE_MAX 64 /* of a number */

/* ---- values ---- */

static bool is_word(const char *value, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcasecmp(value, words[i]) == 0)
			return true;
	return false;
}

static bool is_flag(const char *value)
{
	static const char *const words[] = { "yes", "up", "true", "1", "no", "down", "false", "0" };

	return is_word(value, words, ARRAY_SIZE(words));
}

static bool is_unlimited(const char *value)
{
	static const char *const words[] = { "UNLIMITED", "INFINITE" };

	return is_word(value, words, ARRAY_SIZE(words));
}

/* A "k" multiplies all but 16-bit numbers; base 0 takes 0x and a leading 0 as C does. */
static bool is_whole(const char *value, unsigned long long max, bool kilo)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(value, &end, 0);
	if (end == value || errno == ERANGE || value[0] == '-' || number > max)
		return false;
	if (kilo && (*end == 'k' || *end == 'K'))
		end++;
	return *end == '\0';
}

static bool is_float(const char *value)
{
	char *end;

	(void)strtod(value, &end);
	return end != value && *end == '\0';
}

/* "{full,nvml}": Slurm looks for these words within the value. */
static bool is_listed(const char *type, const char *value)
{
	struct span rest = { type + 1, strlen(type) - 2 }, one;
	char word[VALUE_MAX];

	while (span_cut(&rest, ',', &one)) {
		if (one.n >= sizeof(word))
			continue;
		memcpy(word, one.p, one.n);
		word[one.n] = '\0';
		if (strcasestr(value, word))
			return true;
	}
	return false;
}

static bool is_of_type(const char *type, struct span value)
{
	char text[VALUE_MAX];

	if (strcmp(type, "text") == 0 || strcmp(type, "line") == 0)
		return true;
	if (value.n >= sizeof(text))
		return false;
	memcpy(text, value.p, value.n);
	text[value.n] = '\0';
	if (strcmp(type, "flag") == 0)
		return is_flag(text);
	if (type[0] == '{')
		return is_listed(type, text);
	if (is_unlimited(text))
		return true;
	if (strcmp(type, "u16") == 0)
		return is_whole(text, UINT16_MAX, false);
	if (strcmp(type, "u32") == 0)
		return is_whole(text, UINT32_MAX, true);
	if (strcmp(type, "u64") == 0)
		return is_whole(text, UINT64_MAX, true);
	return is_float(text);
}

/* ---- one KEY=VALUE ---- */

static bool is_key_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static void skip_blanks(struct span *rest)
{
	while (rest->n && isspace((unsigned char)*rest->p)) {
		rest->p++;
		rest->n--;
	}
}

/* Returns how many bytes the value at AT has: in double quotes, or up to the next blank. */
static size_t cut_value(struct span at, struct span *value)
{
	size_t n = 0;

	if (at.n > 1 && *at.p == '"') {
		struct span inside = { at.p + 1, at.n - 1 };

		inside.n = span_find(inside, '"');
		n = inside.n + 2;
		*value = inside;
		if (n == at.n || (n < at.n && isspace((unsigned char)at.p[n])))
			return n;
	}
	for (n = 0; n < at.n && !isspace((unsigned char)at.p[n]);)
		n++;
	*value = (struct span){ at.p, n };
	return n;
}

/* Cuts KEY = VALUE off REST; the value may be in double quotes. Operators such as += belong to the key's sign. */
static bool cut_pair(struct span *rest, struct span *key, struct span *value)
{
	struct span at = *rest;
	size_t n = 0;

	skip_blanks(&at);
	while (n < at.n && is_key_char(at.p[n]))
		n++;
	*key = (struct span){ at.p, n };
	at = (struct span){ at.p + n, at.n - n };
	skip_blanks(&at);
	if (key->n && at.n > 1 && memchr("-*+/", *at.p, 4) && at.p[1] == '=')
		at = (struct span){ at.p + 1, at.n - 1 };
	if (!key->n || !at.n || *at.p != '=')
		return false;
	at = (struct span){ at.p + 1, at.n - 1 };
	skip_blanks(&at);
	n = cut_value(at, value);
	*rest = (struct span){ at.p + n, at.n - n };
	return n > 0;
}

static void report_key(struct reading *r, struct span section, struct span key)
{
	struct conf_key buffer;
	const struct conf_key *other = conf_key_elsewhere(r->format, key, &buffer);
	struct conf_wrong wrong = {
		.kind = CONF_UNKNOWN, .section = section, .key = key, .line = r->line
	};

	if (other) {
		wrong.kind = CONF_PLACE;
		wrong.wanted = strcmp(other->section, "-") == 0 ? "a line of its own"
								: other->section;
	}
	r->report(r->user, &wrong);
}

/* Returns the key's row. */
static const struct conf_key *check_pair(struct reading *r, struct span section, struct span key,
					 struct span value, struct conf_key *buffer)
{
	const struct conf_key *row = conf_key_find(r->format, section, key, buffer);
	struct conf_wrong wrong = {
		.section = section, .key = key, .value = value, .line = r->line
	};

	if (!row) {
		report_key(r, section, key);
		return NULL;
	}
	if (!is_of_type(row->type, value)) {
		wrong.kind = CONF_TYPE;
		wrong.wanted = row->type;
		r->report(r->user, &wrong);
	}
	if (row->since || row->gone) {
		wrong.kind = CONF_RELEASE;
		wrong.wanted = NULL;
		wrong.since = row->since;
		wrong.gone = row->gone;
		r->report(r->user, &wrong);
	}
	return row;
}

/* ---- lines ---- */

static bool is_blank(struct span s)
{
	return !span_trim(s).n;
}

static void check_line(struct reading *r, struct span rest)
{
	struct span section = { NULL, 0 }, key, value, first = rest;
	struct conf_key buffer;
	const struct conf_key *row;

	if (!span_word(&first, &key) || (key.n == 7 && strncasecmp(key.p, "include", 7) == 0))
		return;
	while (!is_blank(rest)) {
		if (!cut_pair(&rest, &key, &value)) {
			r->report(r->user,
				  &(struct conf_wrong){ .kind = CONF_SYNTAX,
							.wanted = "text that is not KEY=VALUE",
							.line = r->line });
			return;
		}
		row = check_pair(r, section, key, value, &buffer);
		/* Slurm stops at the first key of a line that it does not know. */
		if (!row)
			return;
		if (section.n || strcmp(row->type, "line") != 0)
			continue;
		if (!conf_section(r->format, key))
			return;
		section = key;
	}
}

/* "#" begins a comment unless a backslash is before it. */
static size_t comment_of(struct span line)
{
	for (size_t i = 0; i < line.n; i++)
		if (line.p[i] == '#' && (!i || line.p[i - 1] != '\\'))
			return i;
	return line.n;
}

#define LINE_MAX_BYTES 8192

bool conf_check_slurm(enum conf_format format, struct span text, conf_report *report, void *user)
{
	struct reading r = { .format = format, .report = report, .user = user };
	char joined[LINE_MAX_BYTES];
	struct span line;
	size_t n = 0, number = 0;

	while (span_cut(&text, '\n', &line)) {
		bool continued;

		number++;
		if (!n)
			r.line = number;
		line.n = comment_of(line);
		line = span_trim(line);
		continued = line.n && line.p[line.n - 1] == '\\';
		line.n -= continued;
		if (n + line.n >= sizeof(joined))
			return false;
		memcpy(joined + n, line.p, line.n);
		n += line.n;
		if (continued)
			continue;
		check_line(&r, (struct span){ joined, n });
		n = 0;
	}
	return true;
}
