/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line of kernel arguments with one changed: what was added is there for the kernel, the others stay
 * as they were, and taking it out again gives the old words. */
#include "fuzz.h"

#include "fixes/cmdline-edit.h"
#include "parse/kparam.h"

#define WORD "iommu=pt"

static bool is_even(struct span line, char quote)
{
	size_t count = 0;

	for (size_t i = 0; i < line.n; i++)
		count += line.p[i] == quote;
	return count % 2 == 0;
}

/* All arguments of A are those of B, in their order, and no others. */
static void check_same(struct span a, struct span b)
{
	struct kparam_iter x = { .text = a }, y = { .text = b };
	struct kparam one, other;
	bool more;

	while ((more = kparam_next(&x, &one))) {
		assert(kparam_next(&y, &other));
		assert(one.name.n == other.name.n && one.value.n == other.value.n);
		assert(memcmp(one.name.p, other.name.p, one.name.n) == 0);
	}
	assert(!kparam_next(&y, &other));
}

static void edit_plain(struct arena *arena, struct span line)
{
	const char *added = cmdline_edit(arena, line, CMDLINE_PLAIN, NULL, WORD), *back;

	assert(added);
	/* A word that is there already, also within quotes or in a list, is none of those to be put back. */
	if (!is_even(line, '"') || span_search(line, "--") || span_search(line, WORD) ||
	    cmdline_has(line, "iommu", "pt"))
		return;
	assert(cmdline_has(span_of(added), "iommu", "pt"));
	back = cmdline_edit(arena, span_of(added), CMDLINE_PLAIN, WORD, NULL);
	assert(back && !cmdline_has(span_of(back), "iommu", "pt"));
	check_same(line, span_of(back));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span line = fuzz_span(data, size);
	struct arena *arena = fuzz_arena();
	const char *text;

	/* A line of a file has neither. */
	if (memchr(data, '\0', size) || memchr(data, '\n', size))
		return 0;
	edit_plain(arena, line);
	text = cmdline_edit(arena, line, CMDLINE_SHELL, NULL, "a;b");
	assert(!text || strlen(text) > line.n);
	text = cmdline_edit(arena, line, CMDLINE_SHELL, WORD, NULL);
	assert(!text || strlen(text) < line.n);
	(void)cmdline_edit(arena, line, CMDLINE_ENTRY, WORD, "iommu=off");
	return 0;
}
