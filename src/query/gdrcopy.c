/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gdrcopy.c - GDRCopy with and without its kernel module. */
#include "query/gdrcopy.h"

#include "parse/version.h"
#include "query/cuda.h"
#include "query/node-find.h"

#define DMABUF_GDRCOPY "2.6"
#define DMABUF_CUDA "13.3"

struct fact_bool gdrcopy_has_dmabuf(const struct node *node)
{
	const struct software_item *library = node_software(node, "gdrcopy");

	if (!is_known(node->driver.version))
		return (struct fact_bool){ 0 };
	if (version_compare(node->driver.version.value, cuda_release(DMABUF_CUDA)->own) < 0)
		return fact_bool(false);
	if (!was_read(node->software.items))
		return (struct fact_bool){ 0 };
	return fact_bool(library && is_known(library->version) &&
			 version_compare(library->version.value, DMABUF_GDRCOPY) >= 0);
}
