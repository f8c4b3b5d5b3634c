/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log-join.c - the NVIDIA driver writes some messages over several lines, of which each begins with "NVRM:" and the
 * reason is not in the first.
 */
#include "probes/log/log-join.h"

#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "parse/kmsg-own.h"
#include "probes/log/log-scan.h"

#define LINES_MAX 12
/* Lines of one call have one time; some messages are several calls in a row, and a serial console delays each. */
#define APART_US 2000000

static const char nvrm[] = "NVRM:";

/* A line of the driver without its prefix. */
static struct span after_prefix(struct span message)
{
	return span_trim((struct span){ message.p + strlen(nvrm), message.n - strlen(nvrm) });
}

static bool starts_with_one_of(struct span s, const char *const *starts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (span_starts(s, starts[i]))
			return true;
	return false;
}

#define STARTS_WITH_ONE_OF(s, starts) starts_with_one_of(s, starts, ARRAY_SIZE(starts))

static bool begins_message(struct span rest)
{
	static const char *const starts[] = {
		"The NVIDIA ",
		"This PCI I/O region",
		"request_mem_region failed",
		"Open nvidia.ko is",
	};

	return !rest.n || STARTS_WITH_ONE_OF(rest, starts);
}

/* "kgspBootstrap_GH100: ...": a line of the resource manager names its function. */
static bool names_function(struct span rest)
{
	struct span word;

	return span_word(&rest, &word) && word.p[word.n - 1] == ':';
}

static bool is_message_of_its_own(struct span rest)
{
	static const char *const starts[] = {
		"GPU ",	   "GPU0",     "GPU at",  "Xid",	   "No NVIDIA", "None of",
		"loading", "nvAssert", "rm_init", "RmInitAdapter", "failed to", "NVRM:",
	};

	return !rest.n || begins_message(rest) || STARTS_WITH_ONE_OF(rest, starts) ||
	       names_function(rest);
}

/* Where to read more: cut from the quotation, and so is what follows it. */
static bool is_advice(struct span rest)
{
	static const char *const starts[] = { "Please see", "Please visit", "Please check" };

	return STARTS_WITH_ONE_OF(rest, starts);
}

static void log_join_append(struct log_join *join, struct span s)
{
	size_t room = sizeof(join->text) - join->n;

	if (s.n + 1 >= room)
		s.n = room > 2 ? utf8_cut(s.p, room - 1) : 0;
	if (!s.n)
		return;
	join->text[join->n++] = ' ';
	memcpy(join->text + join->n, s.p, s.n);
	join->n += s.n;
}

static struct span held(const struct log_join *join)
{
	return (struct span){ join->text + join->message_at, join->n - join->message_at };
}

/* A time that is not known is near. */
static bool is_near(const struct log_join *join, uint64_t time_us)
{
	return time_us == LOG_NO_TIME || join->last_us == LOG_NO_TIME ||
	       (time_us >= join->last_us && time_us - join->last_us <= APART_US);
}

/* Lines of one record have one time, which is before each; a user's text can have blanks after it. */
static bool has_prefix_of(const struct log_join *join, struct span text, struct span message)
{
	size_t n = text.n ? (size_t)(message.p - text.p) : 0, first = join->message_at;

	return !n || (first && n >= first && memcmp(join->text, text.p, first) == 0);
}

/* Returns true if the last held line, which begins at AT, belongs to the message before it. */
static bool is_of_message(const struct log_join *join, const struct kmsg_users *users,
			  const char *at)
{
	const struct span *last = &users->texts[users->count - 1];

	if (users->open)
		return true;
	/* A message that had its end continues only if that was a user's copy of it. */
	return users->whole && (!join->whole || last->p + last->n > at);
}

static bool continue_message(struct log_join *join, uint64_t time_us, struct span text,
			     struct span message)
{
	struct kmsg_users users;
	size_t n = join->n;

	if (join->ended || !is_near(join, time_us) || !has_prefix_of(join, text, message) ||
	    message.n + 1 > sizeof(join->text) - n)
		return false;
	join->text[n] = '\n';
	memcpy(join->text + n + 1, message.p, message.n);
	join->n += 1 + message.n;
	if (!kmsg_find_users(held(join), &users) || !is_of_message(join, &users, join->text + n)) {
		join->n = n;
		return false;
	}
	join->lines++;
	join->whole = users.whole;
	join->ended = !users.open;
	join->sure |= !text.n;
	return true;
}

bool log_join_continue(struct log_join *join, uint64_t time_us, struct span text,
		       struct span message)
{
	struct span rest;

	if (join->lines && join->of_user)
		return continue_message(join, time_us, text, message);
	if (!join->lines || join->lines == LINES_MAX || !span_starts(message, nvrm) ||
	    !is_near(join, time_us))
		return false;
	rest = after_prefix(message);
	/* A first line without words says nothing by itself: whatever follows is of it, but for an Xid. */
	if (is_message_of_its_own(rest) &&
	    !(rest.n && held(join).n <= strlen(nvrm) && !span_starts(rest, "Xid")))
		return false;
	join->lines++;
	join->last_us = time_us == LOG_NO_TIME ? join->last_us : time_us;
	join->advice |= is_advice(rest);
	if (!join->advice)
		log_join_append(join, rest);
	return true;
}

bool log_join_is_first(struct span message)
{
	return span_starts(message, nvrm) && begins_message(after_prefix(message));
}

bool log_join_begin(struct log_join *join, uint64_t time_us, int level, struct span text,
		    struct span message)
{
	size_t at = (size_t)(message.p - text.p);
	struct kmsg_users users;
	bool of_user = kmsg_find_users(message, &users) && users.open;

	if ((!of_user && !log_join_is_first(message)) || text.n >= sizeof(join->text))
		return false;
	*join = (struct log_join){ .n = text.n,
				   .message_at = at,
				   .time_us = time_us,
				   .last_us = time_us,
				   .level = level,
				   .lines = 1,
				   .of_user = of_user,
				   .whole = of_user && users.whole };
	memcpy(join->text, text.p, text.n);
	while (join->n > at && join->text[join->n - 1] == ' ')
		join->n--;
	return true;
}
