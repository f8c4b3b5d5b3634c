/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cuda.c - the driver that a CUDA release needs: the table data/cuda.tsv. */
#include "query/cuda.h"

#include <stddef.h>
#include <stdio.h>

#include "base/array.h"
#include "parse/version.h"

/* Written from data/cuda.tsv when the program is built. */
static const struct cuda_release releases[] = {
#include "cuda.inc"
};

const struct cuda_release *cuda_release(const char *version)
{
	const struct cuda_release *found = NULL;
	unsigned int major, minor = 0;

	if (sscanf(version, "%3u.%3u", &major, &minor) < 1)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(releases); i++)
		if (releases[i].major == major && releases[i].minor <= minor)
			found = &releases[i];
	return found;
}

unsigned int cuda_major_of_driver(const char *driver)
{
	unsigned int major = 0;

	for (size_t i = 0; i < ARRAY_SIZE(releases); i++)
		if (releases[i].major > major && version_compare(driver, releases[i].own) >= 0)
			major = releases[i].major;
	return major;
}
