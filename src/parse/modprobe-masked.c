/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modprobe-masked.c - the settings of a file that is masked by a file of the same name. The nvidia.conf of a site often
 * masks NVIDIA's own blacklist of nouveau unintentionally. */
#include <string.h>

#include "parse/modname.h"
#include "parse/modprobe-private.h"

#define LOST_MAX 32	  /* lines listed */
#define COMPARED_MAX 1024 /* lines looked for in the other file */

/* Words divided by one blank or by several are the same. */
static bool same_words(struct span a, struct span b)
{
	for (;;) {
		struct span x = modprobe_cut_token(&a), y = modprobe_cut_token(&b);

		if (!x.p || !y.p)
			return !x.p && !y.p;
		if (x.n != y.n || memcmp(x.p, y.p, x.n) != 0)
			return false;
	}
}

/* COMMAND MODULE ...; in "alias NAME MODULE" either may be one of ours. */
static bool is_about_ours(struct span line)
{
	struct span command = modprobe_cut_token(&line), name = modprobe_cut_token(&line);
	struct span target = modprobe_cut_token(&line);

	if (!name.p)
		return false;
	return modname_is_ours(name) ||
	       (span_is(command, "alias") && target.p && modname_is_ours(target));
}

struct lines {
	LIST(struct span) all;
};

static void read_lines(struct lines *lines, struct arena *arena, struct span text)
{
	struct modprobe_reader reader = { .rest = text, .arena = arena };
	struct modprobe_line line;

	while (modprobe_next_line(&reader, &line))
		if (line.text.n && line.text.p[0] != '#' && is_about_ours(line.text))
			*LIST_ADD(arena, &lines->all) = line.text;
}

static bool has_line(const struct lines *lines, struct span wanted)
{
	for_each(line, &lines->all)
		if (same_words(*line, wanted))
			return true;
	return false;
}

void modprobe_find_masked(struct modprobe_file *file, struct arena *arena, struct span masked,
			  struct span counts)
{
	struct lines theirs = { 0 }, ours = { 0 };
	size_t compared = 0;

	file->lost.state = FACT_KNOWN;
	read_lines(&theirs, arena, masked);
	read_lines(&ours, arena, counts);
	for_each(line, &theirs.all) {
		struct span text = span_trim(*line);

		if (file->lost.count == LOST_MAX || compared == COMPARED_MAX)
			break;
		compared++;
		if (!has_line(&ours, *line))
			*LIST_ADD(arena, &file->lost) = fact_strn(arena, text.p, text.n).value;
	}
}
