/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/log-age.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "query/node-find.h"

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
	if (own && strstr(own->last.value, " (None)") && strstr(own->last.value, " to 0x0 "))
		return arena_printf(arena, "the driver asks for nothing any more: %s",
				    own->last.value);
	return NULL;
}
