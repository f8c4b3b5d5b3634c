/* SPDX-License-Identifier: GPL-2.0-or-later */
/* container-runtime.c - whether jobs of the node can run in containers. */
#include "query/container-runtime.h"

#include "base/array.h"
#include "query/node-find.h"

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

static const char *item_version(const struct node *node, const char *name)
{
	const struct software_item *item = node_software(node, name);

	return item && is_known(item->version) ? item->version.value : NULL;
}

const char *container_toolkit_version(const struct node *node, const char **fact)
{
	static const char *const packages[] = { "nvidia-container-toolkit-base",
						"nvidia-container-toolkit",
						"libnvidia-container-tools",
						"libnvidia-container1" };
	const char *version = item_version(node, "container-toolkit");

	*fact = "software.items";
	if (!version)
		version = item_version(node, "libnvidia-container");
	for (size_t i = 0; !version && i < ARRAY_SIZE(packages); i++)
		for_each(p, &node->software.packages)
			if (str_is(p->name, packages[i]) && is_known(p->version)) {
				*fact = "software.packages";
				version = p->version.value;
			}
	return version;
}
