/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conf-limits.c - limits.conf(5) as pam_limits reads it: a line with another item, type or value is skipped, with a
 * debug message (Linux-PAM 1.5.2: modules/pam_limits/pam_limits.c, process_limit()).
 */
#include <ctype.h>
#include <strings.h>

#include "base/array.h"
#include "parse/conf-keys.h"

static bool is_one_of(struct span word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (word.n == strlen(words[i]) && strncasecmp(word.p, words[i], word.n) == 0)
			return true;
	return false;
}

static bool is_value(struct span word)
{
	static const char *const words[] = { "-", "unlimited", "infinity" };
	size_t n = word.n && (*word.p == '-' || *word.p == '+');

	/* Text after the digits is ignored: 64k is 64. */
	return is_one_of(word, words, ARRAY_SIZE(words)) ||
	       (word.n > n && isdigit((unsigned char)word.p[n]));
}

static void check_line(struct span line, size_t number, conf_report *report, void *user)
{
	static const char *const types[] = { "soft", "hard", "-" };
	struct conf_wrong wrong = { .kind = CONF_SYNTAX, .line = number };
	struct span domain, type, item, value;
	struct conf_key buffer;

	line.n = span_find(line, '#');
	/* "DOMAIN -" without more excepts a user or group from all limits. */
	if (!span_word(&line, &domain) || !span_word(&line, &type) || !span_word(&line, &item))
		return;
	if (!span_word(&line, &value))
		wrong.wanted = "a line without a value";
	else if (!is_one_of(type, types, ARRAY_SIZE(types)))
		wrong.wanted = "a type that is not soft, hard or -";
	else if (!conf_key_find(CONF_LIMITS, (struct span){ NULL, 0 }, item, &buffer))
		wrong = (struct conf_wrong){ .kind = CONF_UNKNOWN, .key = item, .line = number };
	/* chroot has a path. */
	else if (strcmp(buffer.name, "chroot") != 0 && !is_value(value))
		wrong.wanted = "a value that is neither a number nor unlimited";
	else
		return;
	report(user, &wrong);
}

bool conf_check_limits(struct span text, conf_report *report, void *user)
{
	struct span line;

	for (size_t number = 1; span_cut(&text, '\n', &line); number++)
		check_line(line, number, report, user);
	return true;
}
