/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modprobe-dry-run.c - would these modules be loaded, for tests/vm/loads.py. Not installed.
 *
 *     modprobe-dry-run ROOT RELEASE < NAMES
 *
 * Prints a line for each name: NAME yes|no|unknown WHY.
 */
#include <stdio.h>
#include <string.h>

#include "host/host.h"
#include "host/root.h"
#include "probes/kernel/loads.h"
#include "query/modprobe-dry-run.h"

static const char *wanted;

static bool is_wanted(const struct node *node, const char *name)
{
	(void)node;
	return strcmp(name, wanted) == 0;
}

static void try_one(struct host *host, struct arena *arena, const char *release, const char *name)
{
	static const char *const words[] = { "unknown", "yes", "no" };
	struct node *node = arena_alloc(arena, sizeof(*node));
	struct kernel_option *option = LIST_ADD(arena, &node->os.kernel_config);
	struct load_verdict verdict;

	wanted = name;
	node->os.kernel = fact_str(arena, release);
	node->modprobe.complete = fact_bool(true);
	/* Debian's kernels are built so. */
	option->name = fact_str(arena, "CONFIG_MODULE_ALLOW_MISSING_NAMESPACE_IMPORTS");
	option->value = FACT_NONE(fact_str);
	if (loads_read(host, node, is_wanted, arena, &node->loads)) {
		printf("%s unknown modules.dep\n", name);
		return;
	}
	verdict = modprobe_dry_run(arena, node, name);
	printf("%s %s %s\n", name, words[verdict.answer], verdict.why ? verdict.why : "");
}

int main(int argc, char **argv)
{
	struct arena *arena = arena_new(ARENA_BYTES, "facts");
	char error[256], name[256];
	struct root root;
	struct host *host;

	if (argc != 3 || !arena || root_open(&root, argv[1]))
		return 2;
	host = host_open_tree(&root, error);
	while (host && scanf("%255s", name) == 1) {
		try_one(host, arena, argv[2], name);
		fflush(stdout);
		arena_reset(arena);
	}
	return host ? 0 : 2;
}
