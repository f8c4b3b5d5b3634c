/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu-reset.c - the commands that reset all GPUs of a node. */
#include "query/gpu-reset.h"

#include "base/array.h"
#include "base/shell.h"
#include "query/node-find.h"

/* In the order in which they are started: GPUs join the fabric that fabric manager has made. */
static const char *const holders[] = {
	"nvidia-fabricmanager",
	"nvidia-persistenced",
	"nvidia-dcgm",
};

const char *shell_reset_gpus(struct arena *arena, const struct node *node)
{
	const char *list = "";

	for (size_t i = 0; i < ARRAY_SIZE(holders); i++) {
		const struct service *s =
			node_service(node, arena_printf(arena, "%s.service", holders[i]));

		if (s && str_is(s->active, "active"))
			list = arena_printf(arena, "%s %s", list, holders[i]);
	}
	if (!*list)
		return "sudo nvidia-smi -r";
	return arena_printf(arena,
			    "sudo systemctl stop%s\nsudo nvidia-smi -r\nsudo systemctl start%s",
			    list, list);
}
