/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmdline-edit.c - changes one kernel argument in a line of text. */
#include "fixes/cmdline-edit.h"

#include <string.h>

/* The characters that may surround a word, in each form. */
static bool is_edge(char c, enum cmdline_form form)
{
	return c == ' ' || c == '\t' || c == '\r' ||
	       (form == CMDLINE_SHELL && (c == '"' || c == '\'' || c == '\\'));
}

static const char *find_word(struct span line, const char *word, enum cmdline_form form)
{
	size_t n = strlen(word);

	for (const char *at = line.p; at + n <= line.p + line.n; at++)
		if (memcmp(at, word, n) == 0 && (at == line.p || is_edge(at[-1], form)) &&
		    (at + n == line.p + line.n || is_edge(at[n], form)))
			return at;
	return NULL;
}

static const char *join(struct arena *arena, struct span before, const char *middle,
			struct span after)
{
	return arena_printf(arena, "%.*s%s%.*s", SPAN_FMT(before), middle, SPAN_FMT(after));
}

/* "arguments": a quote of the shell's right after the sign of equality, and its partner at the end.
 */
static bool find_end(struct span line, enum cmdline_form form, size_t *end, bool *empty)
{
	size_t equals = span_find(line, '=');

	*end = span_trim(line).n ? (size_t)(span_trim(line).p + span_trim(line).n - line.p) : 0;
	*empty = *end == 0;
	if (form != CMDLINE_SHELL)
		return true;
	if (equals + 2 >= *end || line.p[*end - 1] != line.p[equals + 1] ||
	    !strchr("\"'", line.p[equals + 1]))
		return false;
	*end -= 1;
	*empty = *end == equals + 2;
	return true;
}

/* GRUB's own script would end the command at ";": such a word gets quotes of its own within. */
static const char *quote_within(struct span line, enum cmdline_form form, const char *word)
{
	size_t equals = span_find(line, '=');

	if (form != CMDLINE_SHELL || !strchr(word, ';'))
		return "";
	return equals + 1 < line.n && line.p[equals + 1] == '\'' ? "\"" : "\\\"";
}

static const char *add_word(struct arena *arena, struct span line, enum cmdline_form form,
			    const char *word)
{
	const char *quote = quote_within(line, form, word);
	size_t end;
	bool empty;

	if (!find_end(line, form, &end, &empty))
		return NULL;
	return join(arena, (struct span){ line.p, end },
		    arena_printf(arena, "%s%s%s%s", empty ? "" : " ", quote, word, quote),
		    (struct span){ line.p + end, line.n - end });
}

const char *cmdline_edit(struct arena *arena, struct span line, enum cmdline_form form,
			 const char *old, const char *with)
{
	const char *at, *end, *quote;

	if (!old)
		return add_word(arena, line, form, with);
	at = find_word(line, old, form);
	if (!at)
		return NULL;
	end = at + strlen(old);
	/* Removing a word removes one of the two blanks around it. */
	if (!with && at > line.p && at[-1] == ' ')
		at--;
	else if (!with && end < line.p + line.n && *end == ' ')
		end++;
	quote = with && !strchr(old, ';') ? quote_within(line, form, with) : "";
	return join(arena, (struct span){ line.p, (size_t)(at - line.p) },
		    arena_printf(arena, "%s%s%s", quote, with ? with : "", quote),
		    (struct span){ end, (size_t)(line.p + line.n - end) });
}
