/* SPDX-License-Identifier: GPL-2.0-or-later */
/* syslog.c - lines of /var/log/syslog and messages, and the messages of systemd about a unit. */
#include "parse/syslog.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

bool syslog_line_parse(struct span line, struct syslog_line *out)
{
	struct span word;
	size_t colon;
	/* "2025-03-03T22:54:22+00:00" is one word, "Mar  3 22:54:22" three; then the host. */
	int words = line.n && isdigit((unsigned char)line.p[0]) ? 2 : 4;

	while (words--)
		if (!span_word(&line, &word))
			return false;
	line = span_trim(line);
	colon = span_find(line, ':');
	if (colon == line.n)
		return false;
	out->ident = (struct span){ line.p, colon };
	out->ident.n = span_find(out->ident, '[');
	out->text = span_trim((struct span){ line.p + colon + 1, line.n - colon - 1 });
	return out->ident.n && span_find(out->ident, ' ') == out->ident.n;
}

/* The number after WORD in S. */
static bool number_behind(struct span s, const char *word, uint64_t *value)
{
	const char *at = span_search(s, word);
	size_t n = 0;

	if (!at)
		return false;
	at += strlen(word);
	while (at + n < s.p + s.n && isdigit((unsigned char)at[n]))
		n++;
	return n && span_u64((struct span){ at, n }, 10, value) == 0;
}

static void take_result(struct unit_outcome *outcome, struct span text)
{
	const char *quote = memchr(text.p, '\'', text.n);
	struct span word;

	if (!quote)
		return;
	word = (struct span){ quote + 1, (size_t)(text.p + text.n - quote - 1) };
	word.n = span_find(word, '\'');
	if (word.n < sizeof(outcome->result))
		snprintf(outcome->result, sizeof(outcome->result), "%.*s", SPAN_FMT(word));
}

bool unit_outcome_update(struct unit_outcome *outcome, const char *unit, struct span message)
{
	size_t n = strlen(unit);
	struct span text;

	/* "Starting nvidia-fabricmanager.service - NVIDIA fabric manager service..." */
	if (span_starts(message, "Starting ") || span_starts(message, "Started ")) {
		const char *at = span_search(message, unit);

		if (at)
			*outcome = (struct unit_outcome){ .has_restarts = outcome->has_restarts,
							  .restarts = outcome->restarts };
		return at;
	}
	if (message.n < n + 2 || strncmp(message.p, unit, n) != 0 || message.p[n] != ':')
		return false;
	text = span_trim((struct span){ message.p + n + 1, message.n - n - 1 });
	if (span_starts(text, "Failed with result"))
		take_result(outcome, text);
	else if (span_starts(text, "Deactivated successfully"))
		snprintf(outcome->result, sizeof(outcome->result), "success");
	else if (span_starts(text, "Main process exited") || span_starts(text, "Control process"))
		outcome->has_status = number_behind(text, "status=", &outcome->status);
	else if (span_starts(text, "Scheduled restart job"))
		outcome->has_restarts = number_behind(text, "restart counter is at ",
						      &outcome->restarts);
	return true;
}
