/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-files.c - the NVIDIA driver on disk: its module, and the user space that has to fit it. */
#include "query/driver-files.h"

#include <string.h>

#include "parse/version.h"

static bool is_library(const struct software_item *item)
{
	return (str_is(item->name, "libcuda") || str_is(item->name, "libnvidia-ml")) &&
	       is_known(item->version) && !strstr(item->path.value, "/stubs/");
}

/* cuda-compat installs into the toolkit's folder "compat" (CUDA Compatibility, forward). */
bool driver_is_compat_library(const struct software_item *item)
{
	return is_library(item) && strstr(item->path.value, "/compat/");
}

bool driver_is_library(const struct software_item *item)
{
	return is_library(item) && !strstr(item->path.value, "/compat/");
}

/* Finds the library NAME. Files of other versions do not matter if the right one exists. */
static void find_library(const struct node *node, const char *name, struct driver_libraries *found)
{
	const struct software_item *same = NULL, *other = NULL;

	for_each(item, &node->software.items) {
		if (!driver_is_library(item) || !str_is(item->name, name))
			continue;
		if (str_is(item->version, node->driver.version.value))
			same = item;
		else if (!other || version_compare(item->version.value, other->version.value) > 0)
			other = item;
	}
	if (same)
		found->same = same;
	else if (other)
		found->other = other;
}

struct driver_libraries driver_libraries(const struct node *node)
{
	struct driver_libraries found = { 0 };

	find_library(node, "libnvidia-ml", &found);
	find_library(node, "libcuda", &found);
	return found;
}

const struct module_file *driver_file(const struct node *node, const char *kernel)
{
	const struct module_file *found = NULL;

	for_each(f, &node->modules.files) {
		if (!str_is(f->name, "nvidia") || !str_is(f->kernel, kernel))
			continue;
		if (!found || known_is(f->indexed, true))
			found = f;
	}
	return found;
}
