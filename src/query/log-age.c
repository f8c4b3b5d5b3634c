/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-age.c - later events in the kernel log that make an earlier message obsolete. */
#include "query/log-age.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "query/node-find.h"

/* Cuts "0x2 (Node Reboot Required)" off the end of S. */
static bool cut_action(struct span *s, struct span *words)
{
	size_t open, n;

	if (!s->n || s->p[s->n - 1] != ')')
		return false;
	for (open = s->n - 1; open && s->p[open] != '('; open--)
		;
	*words = (struct span){ s->p + open + 1, s->n - open - 2 };
	for (n = open; n && s->p[n - 1] == ' '; n--)
		;
	s->n = n;
	while (n && span_digit(s->p[n - 1]) >= 0)
		n--;
	if (!open || n == s->n)
		return false;
	s->n = n;
	return true;
}

/* The name of a process is before this text, so it is read from the end. */
struct span log_recovery_action(const char *line)
{
	static const char before[] = "GPU recovery action changed from 0x";
	struct span rest = span_trim(span_of(line)), to, from;

	if (cut_action(&rest, &to) && span_ends(rest, " to 0x")) {
		rest.n -= strlen(" to 0x");
		if (cut_action(&rest, &from) && span_ends(rest, before))
			return to;
	}
	return (struct span){ line, 0 };
}

static bool is_after(struct fact_u64 time, struct fact_u64 after_us)
{
	return is_known(time) && is_known(after_us) && time.value > after_us.value;
}

/* The last of PATTERN's lines about the GPU, where it is younger. */
static const struct log_subject *younger(const struct node *node, const char *pattern,
					 const char *bdf, struct fact_u64 after_us)
{
	const struct log_subject *own = log_of_device(node_log(node, pattern), bdf);

	return own && is_after(own->last_us, after_us) ? own : NULL;
}

const char *log_new_life(struct arena *arena, const struct node *node, const char *bdf,
			 struct fact_u64 after_us)
{
	static const char *const patterns[][2] = {
		{ "gpu-enumerated", "the kernel found it on the bus again" },
		{ "device-reset", "it was reset" },
	};
	const struct log_line *loaded = node_log(node, "driver-begins");
	const struct log_subject *own;

	if (loaded && is_after(loaded->last_us, after_us))
		return arena_printf(arena, "the driver was loaded again: %s", loaded->last.value);
	for (size_t i = 0; bdf && i < ARRAY_SIZE(patterns); i++) {
		own = younger(node, patterns[i][0], bdf, after_us);
		if (own)
			return arena_printf(arena, "%s: %s", patterns[i][1], own->last.value);
	}
	own = bdf ? younger(node, "xid-154", bdf, after_us) : NULL;
	if (own && span_is(log_recovery_action(own->last.value), "None"))
		return arena_printf(arena, "the driver asks for nothing any more: %s",
				    own->last.value);
	return NULL;
}
