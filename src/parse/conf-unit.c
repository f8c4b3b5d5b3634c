/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conf-unit.c - units and drop-ins as systemd reads them: a key that it does not know, a key in another section or in
 * none, and a value of another type are ignored, with a line in the journal.
 */
#include <ctype.h>
#include <strings.h>

#include "base/array.h"
#include "parse/conf-keys.h"

static bool is_one_of(struct span value, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (value.n == strlen(words[i]) && strncasecmp(value.p, words[i], value.n) == 0)
			return true;
	return false;
}

/* systemd.syntax(7): boolean arguments. */
static bool is_yes(struct span value)
{
	static const char *const words[] = { "1", "yes", "y", "true",  "t", "on",
					     "0", "no",	 "n", "false", "f", "off" };

	return !value.n || is_one_of(value, words, ARRAY_SIZE(words));
}

/* "infinity", or a number with a unit; of both for soft:hard (systemd.exec(5), "Process properties"). */
static bool is_limit(struct span value)
{
	struct span part;

	while (span_cut(&value, ':', &part)) {
		part = span_trim(part);
		if (part.n && !isdigit((unsigned char)part.p[0]) && part.p[0] != '+' &&
		    part.p[0] != '-' && !span_is(part, "infinity"))
			return false;
	}
	return true;
}

/* Keys that begin with X- are for others. */
static bool is_foreign(const struct unit_assignment *a)
{
	return span_starts(a->key, "X-") || span_starts(a->section, "X-");
}

void conf_check_unit(const struct unit_assignment *a, conf_report *report, void *user)
{
	struct conf_key buffer;
	const struct conf_key *row = conf_key_find(CONF_UNIT, a->section, a->key, &buffer);
	struct conf_wrong wrong = {
		.section = a->section, .key = a->key, .value = a->value, .line = a->line
	};

	if (is_foreign(a))
		return;
	if (!row) {
		row = conf_key_elsewhere(CONF_UNIT, a->key, &buffer);
		wrong.kind = row ? CONF_PLACE : CONF_UNKNOWN;
		wrong.wanted = row ? row->section : NULL;
		report(user, &wrong);
	} else if ((strcmp(row->type, "yes") == 0 && !is_yes(a->value)) ||
		   (strcmp(row->type, "limit") == 0 && !is_limit(a->value))) {
		wrong.kind = CONF_TYPE;
		wrong.wanted = row->type;
		report(user, &wrong);
	}
}
