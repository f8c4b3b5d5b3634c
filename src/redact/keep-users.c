/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep-users.c - names and numbers of users. */
#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/array.h"
#include "redact/keep-private.h"

/* Linux: Documentation/admin-guide/sysctl/fs.rst, overflowuid */
#define NOBODY 65534

void keep_user_number(struct keeping *k, struct span number)
{
	uint64_t value;

	if (span_u64(number, 10, &value))
		keep_instead(k, number);
	else if (value < 10000 || value == NOBODY || value == UINT32_MAX)
		keep_as_it_is(k, number);
	else
		redact_put_number(k->redact, k->out, number);
}

/* A user, @group, a range of numbers, everybody. */
void keep_who(struct keeping *k, struct span who)
{
	static const char *const anybody[] = { "\\*", "%", "root", "systemd", "docker", NULL };
	bool group = who.n && (who.p[0] == '@' || who.p[0] == '%');
	/* A range of IDs, or a number of few digits: a longer number can be the name of a user. */
	bool numbers = who.n <= 5 || span_find(who, ':') < who.n;

	for (size_t i = 0; i < who.n; i++)
		numbers &= isdigit((unsigned char)who.p[i]) || who.p[i] == ':';
	if (numbers || keep_has(anybody, who)) {
		keep_as_it_is(k, who);
	} else if (span_ends(who, ".service")) {
		keep_unit_name(k, who);
	} else {
		if (group)
			putc(*who.p, k->out);
		keep_instead(k, (struct span){ who.p + group, who.n - group });
	}
}

/* "user-1000.slice", "user@1000.service", "session-7.scope", "session-c2.scope": systemd-logind's names. */
bool keep_login_unit(struct keeping *k, struct span part)
{
	static const struct {
		const char *start, *end;
	} forms[] = { { "user-", ".slice" },
		      { "user@", ".service" },
		      { "session-c", ".scope" },
		      { "session-", ".scope" } };

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		size_t start = strlen(forms[i].start), end = strlen(forms[i].end);
		struct span number = { part.p + start, part.n - start - end };
		uint64_t value;

		if (part.n <= start + end || !span_starts(part, forms[i].start) ||
		    !span_ends(part, forms[i].end) || span_u64(number, 10, &value))
			continue;
		fputs(forms[i].start, k->out);
		keep_user_number(k, number);
		fputs(forms[i].end, k->out);
		return true;
	}
	return false;
}

/* ---- files of a process ---- */

/* Words, of which the first USERS that are numbers are users'. */
static void put_user_numbers(struct keeping *k, struct span words, unsigned int users)
{
	struct span word;

	for (const char *at = words.p; span_word(&words, &word); at = word.p + word.n) {
		uint64_t number;
		bool is_user = users && span_u64(word, 10, &number) == 0;

		fprintf(k->out, "%.*s", (int)(word.p - at), at);
		(is_user ? keep_user_number : keep_free_text)(k, word);
		users -= is_user;
	}
}

/* One number: 4294967295 for a process that no login started. */
void keep_login(struct keeping *k, struct span text)
{
	put_user_numbers(k, span_trim(text), 1);
	putc('\n', k->out);
}

/* user_namespaces(7): the first ID inside, the first outside, and how many. */
static void put_user_map(struct keeping *k, struct span line)
{
	put_user_numbers(k, line, 2);
}

void keep_user_map(struct keeping *k, struct span text)
{
	keep_each_line(k, text, line)
		put_user_map(k, line);
}

static void put_status(struct keeping *k, struct span line)
{
	static const char *const names[] = { "CapEff", "CapBnd", "Seccomp", "Cpus_allowed_list",
					     NULL };

	if (span_starts(line, "Uid:"))
		put_user_numbers(k, line, 4);
	else
		keep_fields(k, line, names);
}

void keep_status(struct keeping *k, struct span text)
{
	keep_each_line(k, text, line)
		put_status(k, line);
}
