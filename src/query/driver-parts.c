/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-parts.c - the components that must have the driver's version: data/driver-parts.tsv. */
#include "query/driver-parts.h"

#include <stddef.h>
#include <string.h>

const struct driver_part driver_parts[] = {
#include "driver-parts.inc"
	{ .name = NULL },
};

bool driver_same_branch(const char *version, const char *driver)
{
	size_t n = strcspn(driver, ".");

	return strcspn(version, ".") == n && strncmp(version, driver, n) == 0;
}
