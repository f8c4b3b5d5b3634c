/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Journals of transactions: what is read is a beginning of what was written, whatever became of the
 * rest. */
#include "fuzz.h"

#include <stdio.h>

#include "parse/journal.h"

#define ID "20261121T123456Z-0123456789abcdef"
#define LINES_MAX 64

/* The lines of the input as events, each with its check. */
static size_t write_journal(struct span rest, char *out, struct span events[LINES_MAX])
{
	char previous[JOURNAL_ID_MAX] = ID, check[JOURNAL_CHECK];
	size_t n = 0, count = 0;
	struct span line;

	while (count < LINES_MAX && span_cut(&rest, '\n', &line)) {
		if (!line.n)
			continue;
		events[count++] = line;
		assert(journal_check(previous, line, check) == 0);
		memcpy(out + n, line.p, line.n);
		n += line.n + (size_t)sprintf(out + n + line.n, " %s\n", check);
		strcpy(previous, check);
	}
	return n;
}

/* Events that are read are the first of those. */
static size_t check_prefix(struct span text, const struct span events[LINES_MAX])
{
	struct journal journal;
	struct span event;
	size_t n = 0;

	assert(journal_begin(&journal, ID, text) == 0);
	while (journal_next(&journal, &event)) {
		assert(event.n == events[n].n && memcmp(event.p, events[n].p, event.n) == 0);
		n++;
	}
	assert(journal.good <= text.n);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = fuzz_span(data, size), event, events[LINES_MAX];
	struct arena *arena = fuzz_arena();
	char *out = arena_alloc(arena, size * 2 + LINES_MAX * (JOURNAL_CHECK + 2));
	struct journal journal;
	size_t n;

	assert(journal_begin(&journal, ID, text) == 0);
	while (journal_next(&journal, &event))
		check_inside(text, event);
	n = write_journal(text, out, events);
	check_prefix((struct span){ out, n }, events);
	if (n < 4)
		return 0;
	/* Cut off anywhere, and one byte another one anywhere. */
	check_prefix((struct span){ out, data[0] * n / 256 }, events);
	out[data[size - 1] * n / 256] ^= 1 + data[size / 2] % 255;
	check_prefix((struct span){ out, n }, events);
	return 0;
}
