/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unified.c - two texts as a unified diff, in the format of patch(1). */
#include "fixes/unified.h"

#include <string.h>

#include "base/escape.h"
#include "facts/fact.h"

/* Cells of the table that finds the longest common subsequence. Beyond it, all lines between the first and the last
 * difference are shown as replaced. Configuration files are far below. */
#define CELLS_MAX (4u << 20)

struct lines {
	LIST(struct span) list;
};

/* A line of the diff: ' ', '-' or '+'. */
struct entry {
	char mark;
	struct span line; /* with its newline, if it has one */
};

struct diff {
	struct arena *arena;
	LIST(struct entry) entries;
	char *text;
	size_t n, room;
};

static void split(struct arena *arena, struct span text, struct lines *lines)
{
	while (text.n) {
		size_t at = span_find(text, '\n');
		size_t n = at < text.n ? at + 1 : at;

		*LIST_ADD(arena, &lines->list) = (struct span){ text.p, n };
		text = (struct span){ text.p + n, text.n - n };
	}
}

static bool same(struct span a, struct span b)
{
	return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

static void unified_add(struct diff *d, char mark, const struct span *lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		*LIST_ADD(d->arena, &d->entries) = (struct entry){ mark, lines[i] };
}

/* LENGTH[i][k]: of the longest common subsequence of a from i and b from k. */
static void compare(struct diff *d, const struct span *a, size_t n, const struct span *b, size_t m)
{
	size_t i = 0, k = 0, width = m + 1;
	uint32_t *length;

	if ((n + 1) * width > CELLS_MAX) {
		unified_add(d, '-', a, n);
		unified_add(d, '+', b, m);
		return;
	}
	length = arena_alloc(d->arena, (n + 1) * width * sizeof(*length));
	for (i = n; i-- > 0;)
		for (k = m; k-- > 0;) {
			uint32_t down = length[(i + 1) * width + k],
				 right = length[i * width + k + 1];

			length[i * width + k] = same(a[i], b[k])
							? length[(i + 1) * width + k + 1] + 1
						: down > right ? down
							       : right;
		}
	for (i = k = 0; i < n && k < m;) {
		if (same(a[i], b[k])) {
			unified_add(d, ' ', &a[i++], 1);
			k++;
		} else if (length[(i + 1) * width + k] >= length[i * width + k + 1]) {
			unified_add(d, '-', &a[i++], 1);
		} else {
			unified_add(d, '+', &b[k++], 1);
		}
	}
	unified_add(d, '-', a + i, n - i);
	unified_add(d, '+', b + k, m - k);
}

/* ---- writing ---- */

static void put(struct diff *d, const char *s, size_t n)
{
	if (d->n + n + 1 > d->room) {
		size_t room = 2 * (d->n + n + 1);
		char *text = arena_alloc(d->arena, room);

		memcpy(text, d->text ? d->text : "", d->n);
		d->text = text;
		d->room = room;
	}
	memcpy(d->text + d->n, s, n);
	d->n += n;
}

static void put_text(struct diff *d, const char *text)
{
	put(d, text, strlen(text));
}

static void put_entry(struct diff *d, const struct entry *e)
{
	put(d, &e->mark, 1);
	put(d, e->line.p, e->line.n);
	if (e->line.p[e->line.n - 1] != '\n')
		put_text(d, "\n\\ No newline at end of file\n");
}

/* A range of no lines is named by the line before it. */
static const char *range(struct diff *d, size_t first, size_t count)
{
	if (count == 1)
		return arena_printf(d->arena, "%zu", first + 1);
	return arena_printf(d->arena, "%zu,%zu", count ? first + 1 : first, count);
}

static size_t count_marks(const struct diff *d, size_t from, size_t to, char not_mark)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++)
		n += d->entries.items[i].mark != not_mark;
	return n;
}

static void put_hunk(struct diff *d, size_t from, size_t to)
{
	put_text(d, arena_printf(
			    d->arena, "@@ -%s +%s @@\n",
			    range(d, count_marks(d, 0, from, '+'), count_marks(d, from, to, '+')),
			    range(d, count_marks(d, 0, from, '-'), count_marks(d, from, to, '-'))));
	for (size_t i = from; i < to; i++)
		put_entry(d, &d->entries.items[i]);
}

/* The end of the hunk that begins with the change at FROM: changes with no more than twice the
 * context between them are in one. */
static size_t hunk_end(const struct diff *d, size_t from)
{
	size_t last = from;

	for (size_t i = from; i < d->entries.count && i <= last + 2 * UNIFIED_CONTEXT + 1; i++)
		if (d->entries.items[i].mark != ' ')
			last = i;
	return last + 1;
}

static void put_hunks(struct diff *d)
{
	size_t count = d->entries.count, at = 0;

	while (at < count) {
		size_t from, to;

		if (d->entries.items[at].mark == ' ') {
			at++;
			continue;
		}
		to = hunk_end(d, at);
		from = at > UNIFIED_CONTEXT ? at - UNIFIED_CONTEXT : 0;
		at = to;
		to = to + UNIFIED_CONTEXT < count ? to + UNIFIED_CONTEXT : count;
		put_hunk(d, from, to);
	}
}

const char *unified_diff(struct arena *arena, const char *path, struct span before,
			 struct span after)
{
	struct diff d = { .arena = arena };
	struct lines a = { 0 }, b = { 0 };
	size_t head = 0, tail = 0;

	if (!before.p == !after.p && same(before, after))
		return "";
	split(arena, before, &a);
	split(arena, after, &b);
	while (head < a.list.count && head < b.list.count &&
	       same(a.list.items[head], b.list.items[head]))
		head++;
	while (tail < a.list.count - head && tail < b.list.count - head &&
	       same(a.list.items[a.list.count - 1 - tail], b.list.items[b.list.count - 1 - tail]))
		tail++;
	unified_add(&d, ' ', a.list.items, head);
	compare(&d, a.list.items + head, a.list.count - head - tail, b.list.items + head,
		b.list.count - head - tail);
	unified_add(&d, ' ', a.list.items + a.list.count - tail, tail);
	/* A name that holds a new line would begin one of the diff. */
	path = escape_string(arena, SINK_TERMINAL, path);
	put_text(&d, arena_printf(arena, "--- %s%s\n", before.p ? "a" : "/dev/null",
				  before.p ? path : ""));
	put_text(&d, arena_printf(arena, "+++ %s%s\n", after.p ? "b" : "/dev/null",
				  after.p ? path : ""));
	put_hunks(&d);
	put(&d, "", 1);
	return d.text;
}
