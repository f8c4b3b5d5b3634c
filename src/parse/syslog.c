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

static void set_result(struct unit_outcome *outcome, const char *result)
{
	snprintf(outcome->result, sizeof(outcome->result), "%s", result);
}

/* Cuts NAME and the blanks after it off MESSAGE. */
static bool cut_name(struct span *message, const char *name)
{
	size_t n = strlen(name);

	if (message->n < n || strncmp(message->p, name, n) != 0)
		return false;
	*message = span_trim((struct span){ message->p + n, message->n - n });
	return true;
}

/* "Started Slurm node daemon.": VERB, and the unit by its description alone or by its name. */
static bool is_job(const struct unit_names *names, const char *verb, struct span message)
{
	size_t n = names->description ? strlen(names->description) : 0;

	if (!cut_name(&message, verb))
		return false;
	if (span_search(message, names->unit))
		return true;
	return n && message.n > n && strncmp(message.p, names->description, n) == 0 &&
	       message.p[n] == '.';
}

static bool is_dependency(const struct unit_names *names, struct span message)
{
	return is_job(names, "Dependency failed for ", message) ||
	       (is_job(names, "Job ", message) && span_search(message, "result 'dependency'"));
}

bool unit_is_meant(const struct unit_names *names, struct span message)
{
	return span_search(message, names->unit) || is_job(names, "Starting ", message) ||
	       is_job(names, "Started ", message) || is_job(names, "Failed to start ", message) ||
	       is_dependency(names, message);
}

/* ---- systemd before 224: the unit's name is in other places, and no message has the result ---- */

static void take_ending(struct unit_outcome *outcome, struct span text)
{
	outcome->has_status = number_behind(text, "status=", &outcome->status);
	set_result(outcome, "");
	snprintf(outcome->ended, sizeof(outcome->ended), "%s",
		 span_search(text, "code=exited")   ? "exit-code"
		 : span_search(text, "code=killed") ? "signal"
		 : span_search(text, "code=dumped") ? "core-dump"
						    : "");
}

static void take_failure(struct unit_outcome *outcome)
{
	if (!outcome->result[0])
		set_result(outcome, outcome->ended[0] ? outcome->ended : "failed");
}

/* TEXT: what follows the unit's name. */
static void update_older(struct unit_outcome *outcome, struct span text)
{
	if (span_starts(text, "failed."))
		take_failure(outcome);
	else if (span_starts(text, "failed to run '"))
		set_result(outcome, "resources");
	else if (span_starts(text, "start") && span_search(text, " timed out."))
		set_result(outcome, "timeout");
	else if (span_search(text, "holdoff time") && span_search(text, "scheduling restart")) {
		outcome->has_restarts = true;
		outcome->restarts++;
	}
}

static void update_newer(struct unit_outcome *outcome, struct span text)
{
	if (span_starts(text, "Failed with result"))
		take_result(outcome, text);
	else if (span_starts(text, "Deactivated successfully"))
		set_result(outcome, "success");
	else if (span_starts(text, "Main process exited") || span_starts(text, "Control process"))
		outcome->has_status = number_behind(text, "status=", &outcome->status);
	else if (span_starts(text, "main process exited") ||
		 span_starts(text, "control process exited"))
		take_ending(outcome, text);
	else if (span_starts(text, "Scheduled restart job"))
		outcome->has_restarts = number_behind(text, "restart counter is at ",
						      &outcome->restarts);
}

bool unit_outcome_update(struct unit_outcome *outcome, const struct unit_names *names,
			 struct span message)
{
	struct span text = message;

	/* "Starting nvidia-fabricmanager.service - NVIDIA fabric manager service..." */
	if (is_job(names, "Starting ", message) || is_job(names, "Started ", message))
		*outcome = (struct unit_outcome){ .has_restarts = outcome->has_restarts,
						  .restarts = outcome->restarts };
	else if (is_dependency(names, message))
		set_result(outcome, "dependency");
	else if (is_job(names, "Failed to start ", message))
		take_failure(outcome);
	else if (cut_name(&text, "start request repeated too quickly for ") &&
		 span_is(text, names->unit))
		set_result(outcome, "start-limit");
	else if (cut_name(&text, "Unit ") && cut_name(&text, names->unit) &&
		 span_starts(text, "entered failed state"))
		take_failure(outcome);
	else if (text = message, !cut_name(&text, names->unit))
		return false;
	else if (cut_name(&text, ":"))
		update_newer(outcome, text);
	else
		update_older(outcome, text);
	return true;
}
