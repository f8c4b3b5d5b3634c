/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/driver/nvidia: version, params, and RegistryDwords, whose entries written again are the same
 * entries. */
#include "fuzz.h"

#include <stdio.h>

#include "parse/nvidia.h"
#include "parse/version.h"

static void param(void *user, struct span name, struct span value, size_t line)
{
	const struct span *text = user;

	assert(name.n && line >= 1 && line <= text->n);
	check_inside(*text, name);
	check_inside(*text, value);
}

/* The driver takes blanks and an entry's form as they come; the last one of a key counts. */
static void read_registry(struct span text)
{
	struct span rest = text, again;
	struct registry_entry entry, same;
	char line[8192];

	while (registry_next(&rest, &entry)) {
		check_inside(text, entry.text);
		check_inside(text, entry.key);
		check_inside(text, entry.value);
		assert(!entry.skipped || entry.problem);
		/* The driver's string ends at a NUL. */
		if (span_find(entry.text, '\0') < entry.text.n || entry.problem ||
		    entry.key.n + entry.value.n + 2 > sizeof(line))
			continue;
		again.p = line;
		again.n = (size_t)snprintf(line, sizeof(line), "%.*s=%.*s", SPAN_FMT(entry.key),
					   SPAN_FMT(entry.value));
		assert(registry_next(&again, &same) && !same.problem);
		assert(same.number == entry.number && same.key.n == entry.key.n);
	}
	if (registry_find(text, "PeerMappingOverride", &entry))
		assert(!entry.skipped && entry.key.n);
}

static void compare(struct span text)
{
	struct span rest = text, a = { 0 }, b = { 0 };
	struct arena *arena = fuzz_arena();
	const char *x, *y;

	span_cut(&rest, '\n', &a);
	span_cut(&rest, '\n', &b);
	x = arena_strndup(arena, a.n ? a.p : "", a.n);
	y = arena_strndup(arena, b.n ? b.p : "", b.n);
	assert(version_compare(x, x) == 0);
	assert((version_compare(x, y) > 0) == (version_compare(y, x) < 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = fuzz_span(data, size);
	struct nvidia_banner banner;

	if (nvidia_banner_parse(text, &banner) == 0) {
		assert(banner.version.n);
		check_inside(banner.line, banner.version);
		check_inside(text, banner.builder);
	}
	assert(nvidia_params_parse(text, param, &text) <= text.n + 1);
	read_registry(text);
	compare(text);
	return 0;
}
