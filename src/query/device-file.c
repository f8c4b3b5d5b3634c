/* SPDX-License-Identifier: GPL-2.0-or-later */
/* device-file.c - finds a device file of the node. */
#include "query/device-file.h"

#include <string.h>

/* Below the root of the driver container: "/run/nvidia/driver" and then the path. */
static bool is_below(const char *root, const char *path, const char *whole)
{
	size_t n = strlen(root);

	return strncmp(whole, root, n) == 0 && strcmp(whole + n, path) == 0;
}

const struct device_node *device_file_find(const struct node *node, const char *path)
{
	for_each(n, &node->dev.nodes)
		if (str_is(n->path, path))
			return n;
	for_each(n, &node->dev.nodes)
		if (is_known(n->path) && is_below("/run/nvidia/driver", path, n->path.value))
			return n;
	return NULL;
}

bool device_file_is_for_group(uint64_t mode)
{
	return (mode & READ_WRITE_GROUP) == READ_WRITE_GROUP &&
	       (mode & READ_WRITE_OTHERS) != READ_WRITE_OTHERS;
}
