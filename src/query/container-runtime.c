/* SPDX-License-Identifier: GPL-2.0-or-later */
/* container-runtime.c - whether jobs of the node can run in containers. */
#include "query/container-runtime.h"

#include "base/array.h"

enum fact_state container_runtime(const struct node *node, const char **name)
{
	static const char *const words[] = { "kubelet", "containerd", "dockerd", "crio" };

	for_each(p, &node->limits.launchers)
		for (size_t i = 0; i < ARRAY_SIZE(words); i++)
			if (str_is(p->name, words[i])) {
				*name = p->name.value;
				return FACT_KNOWN;
			}
	return was_read(node->limits.launchers) ? FACT_ABSENT : FACT_UNKNOWN;
}

bool node_runs_containers(const struct node *node, const char **runtime)
{
	return !is_known(node->os.container) && container_runtime(node, runtime) == FACT_KNOWN;
}
