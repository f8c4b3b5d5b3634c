/* SPDX-License-Identifier: GPL-2.0-or-later */
/* verbs-library.h - the part of libibverbs that is called, opened when there is an RDMA device to ask. */
#ifndef VERBS_LIBRARY_H
#define VERBS_LIBRARY_H

#include <infiniband/verbs.h>

/* Functions of the library, each with the version that its type belongs to (libibverbs.map.in). */
struct verbs {
	struct ibv_device **devices; /* NULL: not opened */
	int devices_count;
	typeof(ibv_get_device_list) *get_device_list;
	typeof(ibv_free_device_list) *free_device_list;
	typeof(ibv_get_device_name) *get_device_name;
	typeof(ibv_open_device) *open_device;
	typeof(ibv_close_device) *close_device;
	typeof(ibv_query_port) *query_port;
	typeof(ibv_alloc_pd) *alloc_pd;
	typeof(ibv_dealloc_pd) *dealloc_pd;
	typeof(ibv_dereg_mr) *dereg_mr;
	/* The rest is NULL where the library has none: those two are younger than some ... */
	typeof(_ibv_query_gid_table) *query_gid_table; /* rdma-core 32 */
	typeof(ibv_reg_dmabuf_mr) *reg_dmabuf_mr;      /* rdma-core 34 */
	/* ... and these only prove needs. */
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t length, int access);
	typeof(ibv_query_gid) *query_gid;
	typeof(ibv_create_cq) *create_cq;
	typeof(ibv_destroy_cq) *destroy_cq;
	typeof(ibv_create_qp) *create_qp;
	typeof(ibv_modify_qp) *modify_qp;
	typeof(ibv_destroy_qp) *destroy_qp;
};

/* Loads the library and lists the devices, once. 0; -ELIBACC without the library, else errno. */
int verbs_open(struct verbs *v);
/* Gives the list back; the library stays, since providers leave threads and handlers. */
void verbs_close(struct verbs *v);
/* NULL: there is none of that name. */
struct ibv_device *verbs_find(const struct verbs *v, const char *name);

#endif
