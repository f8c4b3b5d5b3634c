/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A capture, as --from takes it: all probes run on what it answers, and the facts are written and read
 * as the same. */
#include "node.h"

#include <errno.h>

#include "probes/probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = fuzz_span(data, size);
	struct arena *arena = fuzz_arena();
	struct node *node = arena_alloc(arena, sizeof(*node));
	char error[256] = "";
	struct host *host = host_open_capture("capture", text.p, text.n, error);

	if (!host) {
		assert(strncmp(error, "capture:", 8) == 0);
		return 0;
	}
	assert(node_observe(host, arena, node, &(struct observation){ 0 }) == 0);
	host_close(host);
	fact_close_holes(&node_desc, node);
	node_check_json(arena, node);
	node_evaluate(arena, node, (uint8_t)size);
	return 0;
}
