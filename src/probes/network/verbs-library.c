/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verbs-library.c - the part of libibverbs that is called, opened when there is an RDMA device to ask. */
#include "probes/network/verbs-library.h"

#include <errno.h>
#include <string.h>

#include "base/library.h"

#define MUST(member, symbol)                         \
	{                                            \
		&v->member, symbol, "IBVERBS_1.1", 0 \
	}
#define MAY(member, symbol, version)           \
	{                                      \
		&v->member, symbol, version, 1 \
	}

static int verbs_library_load(struct verbs *v)
{
	const struct library_symbol symbols[] = {
		MUST(get_device_list, "ibv_get_device_list"),
		MUST(free_device_list, "ibv_free_device_list"),
		MUST(get_device_name, "ibv_get_device_name"),
		MUST(open_device, "ibv_open_device"),
		MUST(close_device, "ibv_close_device"),
		MUST(query_port, "ibv_query_port"),
		MUST(alloc_pd, "ibv_alloc_pd"),
		MUST(dealloc_pd, "ibv_dealloc_pd"),
		MUST(dereg_mr, "ibv_dereg_mr"),
		MAY(query_gid_table, "_ibv_query_gid_table", "IBVERBS_1.11"),
		MAY(reg_dmabuf_mr, "ibv_reg_dmabuf_mr", "IBVERBS_1.12"),
		MAY(reg_mr, "ibv_reg_mr", "IBVERBS_1.1"),
		MAY(query_gid, "ibv_query_gid", "IBVERBS_1.1"),
		MAY(create_cq, "ibv_create_cq", "IBVERBS_1.1"),
		MAY(destroy_cq, "ibv_destroy_cq", "IBVERBS_1.1"),
		MAY(create_qp, "ibv_create_qp", "IBVERBS_1.1"),
		MAY(modify_qp, "ibv_modify_qp", "IBVERBS_1.1"),
		MAY(destroy_qp, "ibv_destroy_qp", "IBVERBS_1.1"),
	};

	return library_load(LIBIBVERBS, symbols, LIBRARY_COUNT(symbols));
}

/* The last that it must have is set when all of them are. */
int verbs_open(struct verbs *v)
{
	if (v->devices)
		return 0;
	if (!v->dereg_mr && verbs_library_load(v))
		return -ELIBACC;
	errno = ENODEV;
	v->devices = v->get_device_list(&v->devices_count);
	return v->devices ? 0 : -errno;
}

void verbs_close(struct verbs *v)
{
	if (v->devices)
		v->free_device_list(v->devices);
	v->devices = NULL;
}

struct ibv_device *verbs_find(const struct verbs *v, const char *name)
{
	for (int i = 0; i < v->devices_count; i++)
		if (strcmp(v->get_device_name(v->devices[i]), name) == 0)
			return v->devices[i];
	return NULL;
}
