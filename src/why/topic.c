/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topic.c - the subject of a line that reads like an error, by the names in it: data/topics.tsv. */
#include "why/topic.h"

#include <ctype.h>
#include <string.h>

#define LINE_MAX_BYTES 2048

/* Small letters, and "-" for "_": names are written in both ways. The words of the table have this form already. */
static struct span make_plain(struct span line, char room[LINE_MAX_BYTES])
{
	size_t n = line.n < LINE_MAX_BYTES ? line.n : LINE_MAX_BYTES;

	for (size_t i = 0; i < n; i++)
		room[i] = line.p[i] == '_' ? '-' : (char)tolower((unsigned char)line.p[i]);
	return (struct span){ room, n };
}

/* Returns true if WORD, which is at AT, ends there. A longer word continues with letters or digits. */
static bool is_whole(struct span line, const char *at, struct span word, bool is_open)
{
	const char *end = at + word.n;

	if (at > line.p && isalnum((unsigned char)at[-1]) && isalnum((unsigned char)*word.p))
		return false;
	return is_open || end == line.p + line.n || !isalnum((unsigned char)*end);
}

/* "libcuda*": as the beginning of a longer word, too */
static bool has_word(struct span line, struct span word)
{
	bool is_open = word.p[word.n - 1] == '*';
	const char *end = line.p + line.n, *at = line.p;

	word.n -= is_open;
	while ((at = memmem(at, (size_t)(end - at), word.p, word.n))) {
		if (is_whole(line, at, word, is_open))
			return true;
		at++;
	}
	return false;
}

static bool has_one(struct span line, const char *words)
{
	struct span rest = span_of(words), word;

	while (span_cut(&rest, '|', &word))
		if (has_word(line, word))
			return true;
	return false;
}

const struct message *topic_find(struct span line)
{
	char room[LINE_MAX_BYTES];
	struct span text = make_plain(line, room);
	size_t count;
	const struct message *all = message_all(&count);

	for (size_t i = 0; i < count; i++)
		if (all[i].when && has_one(text, all[i].words) &&
		    (!all[i].reasons || has_one(text, all[i].reasons)))
			return &all[i];
	return NULL;
}
