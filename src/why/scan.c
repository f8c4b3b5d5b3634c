/* SPDX-License-Identifier: GPL-2.0-or-later */
/* scan.c - finds the messages of the table in bytes, all of them in one pass. */
#include "why/scan.h"

#include <string.h>

#include "base/arena.h"

#define BLOCK 4 /* last bytes of a window, by which the table is indexed */
#define BITS 15
#define FARTHEST (MESSAGE_WINDOW - BLOCK + 1)
#define NONE UINT16_MAX

struct scanner {
	uint8_t shift[1 << BITS];  /* by the hash of a block; 0: a window may end with it */
	uint16_t first[1 << BITS]; /* message whose anchor ends with it */
	uint16_t *next;		   /* by message: the next message of the same hash */
	uint32_t *tried;	   /* by message: the line that it was compared with last */
	uint32_t line;
	const struct message *messages;
	size_t count;
};

static inline uint32_t hash(const char *block)
{
	uint32_t x;

	memcpy(&x, block, sizeof(x));
	return x * 2654435761u >> (32 - BITS);
}

static void add(struct scanner *s, uint16_t number)
{
	const char *anchor = s->messages[number].anchor;

	for (int i = 0; i + BLOCK <= MESSAGE_WINDOW; i++) {
		uint8_t *shift = &s->shift[hash(anchor + i)];
		uint8_t distance = (uint8_t)(MESSAGE_WINDOW - BLOCK - i);

		if (distance < *shift)
			*shift = distance;
	}
	s->next[number] = s->first[hash(anchor + MESSAGE_WINDOW - BLOCK)];
	s->first[hash(anchor + MESSAGE_WINDOW - BLOCK)] = number;
}

struct scanner *scanner_new(struct arena *arena)
{
	struct scanner *s = arena_alloc(arena, sizeof(*s));

	s->messages = message_all(&s->count);
	s->next = arena_alloc(arena, s->count * sizeof(*s->next));
	s->tried = arena_alloc(arena, s->count * sizeof(*s->tried));
	memset(s->shift, FARTHEST, sizeof(s->shift));
	memset(s->first, 0xff, sizeof(s->first));
	/* Backwards, so that each chain is in the order of the table. */
	for (size_t i = s->count; i-- > 0;)
		if (s->messages[i].anchor)
			add(s, (uint16_t)i);
	return s;
}

static bool is_anchor(const struct scanner *s, uint16_t number, const char *window)
{
	return memcmp(s->messages[number].anchor, window, MESSAGE_WINDOW) == 0;
}

/* The next message whose anchor is at WINDOW, from NUMBER on in its chain. */
static uint16_t find_anchor(const struct scanner *s, uint16_t number, const char *window)
{
	while (number != NONE && !is_anchor(s, number, window))
		number = s->next[number];
	return number;
}

const char *scanner_next(const struct scanner *s, struct span text, const char *from)
{
	const char *last = text.p + text.n - MESSAGE_WINDOW;

	if (text.n < MESSAGE_WINDOW)
		return NULL;
	while (from <= last) {
		uint32_t h = hash(from + MESSAGE_WINDOW - BLOCK);
		uint8_t shift = s->shift[h];

		if (shift) {
			from += shift;
			continue;
		}
		if (find_anchor(s, s->first[h], from) != NONE)
			return from;
		from++;
	}
	return NULL;
}

/* Returns true if the first part of a message is where its anchor at AT implies. A message whose anchor is in another
 * part can begin anywhere. */
static bool can_be(const struct message *m, struct span line, const char *at)
{
	const struct message_part *part = m->parts;
	const char *begin = at - m->anchor_at;

	return m->anchor_at < 0 ||
	       (at - line.p >= m->anchor_at && (size_t)(line.p + line.n - begin) >= part->n &&
		memcmp(begin, part->text, part->n) == 0);
}

/* Each message is compared with a line once, however often the line has its anchor. */
static bool try_match(struct scanner *s, uint16_t number, struct span line, const char *at,
		      struct message_match *match)
{
	const struct message *m = &s->messages[number];

	if (s->tried[number] == s->line || !can_be(m, line, at))
		return false;
	s->tried[number] = s->line;
	return message_match(m, line, m->anchor_at < 0 ? line.p : at - m->anchor_at, match);
}

size_t scanner_match(struct scanner *s, struct span line, const char *from,
		     struct message_match matches[SCAN_MATCHES_MAX])
{
	size_t count = 0;

	s->line++;
	for (const char *at = from; (at = scanner_next(s, line, at)); at++) {
		uint16_t number = s->first[hash(at + MESSAGE_WINDOW - BLOCK)];

		for (number = find_anchor(s, number, at); number != NONE;
		     number = find_anchor(s, s->next[number], at)) {
			if (count == SCAN_MATCHES_MAX)
				return count;
			count += try_match(s, number, line, at, &matches[count]);
		}
	}
	return count;
}
