/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rdma.c - a libibverbs, a libmlx5 and a libgdrapi for tests of prove. Every RDMA device is there by the
 * name that STANDIN_RDMA lists; a queue pair that is connected with itself copies what is sent.
 * STANDIN_FAULTS, separated by commas:
 *
 *   no-open                       EACCES
 *   dmabuf-eopnotsupp dmabuf-eprotonosupport dmabuf-hangs
 *   reg-efault                    ibv_reg_mr of GPU memory, which is known by its size: no peermem
 *   port-down no-loopback
 *   write-zeros write-fails write-hangs              into GPU memory: the second write
 *   no-uar                        mlx5dv_devx_alloc_uar
 *   no-gdrdrv pin-einval gdr-lost
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_get_device_list

#define DEVICES_MAX 16

static bool has(const char *name)
{
	const char *faults = getenv("STANDIN_FAULTS");
	size_t n = strlen(name);

	while (faults && *faults) {
		size_t word = strcspn(faults, ",");

		if (word == n && strncmp(faults, name, n) == 0)
			return true;
		faults += word + (faults[word] == ',');
	}
	return false;
}

static struct ibv_device devices[DEVICES_MAX];
static struct ibv_device *list[DEVICES_MAX + 1];
static struct ibv_context context;
static struct ibv_pd pd;
static struct ibv_cq cq;
static struct ibv_qp qp;
static struct ibv_mr mr;
static int sent;

struct ibv_device **ibv_get_device_list(int *count)
{
	const char *names = getenv("STANDIN_RDMA");
	int n = 0;

	while (names && *names && n < DEVICES_MAX) {
		size_t word = strcspn(names, ",");

		snprintf(devices[n].name, sizeof(devices[n].name), "%.*s", (int)word, names);
		list[n] = &devices[n];
		n++;
		names += word + (names[word] == ',');
	}
	*count = n;
	return list;
}

void ibv_free_device_list(struct ibv_device **of)
{
	(void)of;
}

const char *ibv_get_device_name(struct ibv_device *of)
{
	return of->name;
}

/* ---- the data path ---- */

static int post_send(struct ibv_qp *of, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	void *to = (void *)(uintptr_t)wr->wr.rdma.remote_addr;

	(void)of;
	(void)bad;
	sent++;
	if (has("write-zeros") && sent > 1)
		memset(to, 0, wr->sg_list->length);
	else
		memcpy(to, (void *)(uintptr_t)wr->sg_list->addr, wr->sg_list->length);
	return 0;
}

static int poll_cq(struct ibv_cq *of, int count, struct ibv_wc *wc)
{
	(void)of;
	(void)count;
	if (!sent || (has("write-hangs") && sent > 1))
		return 0;
	wc->status = (has("write-fails") && sent > 1) || has("no-loopback") ? IBV_WC_RETRY_EXC_ERR
									    : IBV_WC_SUCCESS;
	return 1;
}

struct ibv_context *ibv_open_device(struct ibv_device *of)
{
	context.device = of;
	context.ops.post_send = post_send;
	context.ops.poll_cq = poll_cq;
	cq.context = qp.context = &context;
	errno = EACCES;
	return has("no-open") ? NULL : &context;
}

int ibv_close_device(struct ibv_context *of)
{
	(void)of;
	return 0;
}

int ibv_query_port(struct ibv_context *of, uint8_t port, struct _compat_ibv_port_attr *answer)
{
	struct ibv_port_attr attributes = {
		.state = has("port-down") ? IBV_PORT_DOWN : IBV_PORT_ACTIVE,
		.active_mtu = IBV_MTU_4096,
		.gid_tbl_len = 4,
		.link_layer = IBV_LINK_LAYER_ETHERNET,
	};

	(void)of;
	(void)port;
	/* The old structure ends before port_cap_flags2. */
	memcpy(answer, &attributes, offsetof(struct ibv_port_attr, port_cap_flags2));
	return 0;
}

int ibv_query_gid(struct ibv_context *of, uint8_t port, int index, union ibv_gid *gid)
{
	(void)of;
	(void)port;
	memset(gid, index == 3 ? 0xfe : 0, sizeof(*gid));
	return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *of)
{
	(void)of;
	return &pd;
}

int ibv_dealloc_pd(struct ibv_pd *of)
{
	(void)of;
	return 0;
}

int ibv_dereg_mr(struct ibv_mr *of)
{
	(void)of;
	return 0;
}

/* gpu-memory.h: GPU memory comes in pieces of 2 MiB. */
struct ibv_mr *ibv_reg_mr(struct ibv_pd *of, void *addr, size_t length, int access)
{
	(void)of;
	(void)addr;
	(void)access;
	errno = EFAULT;
	return has("reg-efault") && length == 2 << 20 ? NULL : &mr;
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *of, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access)
{
	(void)of;
	(void)offset;
	(void)length;
	(void)iova;
	(void)access;
	if (has("dmabuf-hangs") && fd >= 0)
		pause();
	errno = has("dmabuf-eopnotsupp")	? EOPNOTSUPP
		: has("dmabuf-eprotonosupport") ? EPROTONOSUPPORT
						: EBADF;
	return errno == EBADF && fd >= 0 ? &mr : NULL;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *of, int cqe, void *user,
			     struct ibv_comp_channel *channel, int vector)
{
	(void)of;
	(void)cqe;
	(void)user;
	(void)channel;
	(void)vector;
	sent = 0;
	return &cq;
}

int ibv_destroy_cq(struct ibv_cq *of)
{
	(void)of;
	return 0;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *of, struct ibv_qp_init_attr *init)
{
	(void)of;
	(void)init;
	return &qp;
}

int ibv_modify_qp(struct ibv_qp *of, struct ibv_qp_attr *attributes, int mask)
{
	(void)of;
	(void)attributes;
	(void)mask;
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *of)
{
	(void)of;
	return 0;
}

/* ---- libmlx5 ---- */

struct mlx5dv_devx_uar *mlx5dv_devx_alloc_uar(struct ibv_context *of, uint32_t flags)
{
	static struct mlx5dv_devx_uar uar;

	(void)of;
	(void)flags;
	errno = EOPNOTSUPP;
	uar.reg_addr = aligned_alloc(4096, 4096);
	return has("no-uar") ? NULL : &uar;
}

void mlx5dv_devx_free_uar(struct mlx5dv_devx_uar *uar)
{
	free(uar->reg_addr);
}

/* ---- libgdrapi ---- */

typedef struct {
	unsigned long h;
} handle;

void *gdr_open(void)
{
	return has("no-gdrdrv") ? NULL : &sent;
}

int gdr_close(void *g)
{
	(void)g;
	return 0;
}

int gdr_pin_buffer(void *g, unsigned long address, size_t bytes, uint64_t token, uint32_t space,
		   handle *h)
{
	(void)g;
	(void)bytes;
	(void)token;
	(void)space;
	h->h = address;
	return has("pin-einval") ? EINVAL : 0;
}

int gdr_unpin_buffer(void *g, handle h)
{
	(void)g;
	(void)h;
	return 0;
}

int gdr_map(void *g, handle h, void **va, size_t bytes)
{
	(void)g;
	(void)bytes;
	*va = (void *)h.h;
	return 0;
}

int gdr_unmap(void *g, handle h, void *va, size_t bytes)
{
	(void)g;
	(void)h;
	(void)va;
	(void)bytes;
	return 0;
}

int gdr_copy_to_mapping(handle h, void *to, const void *from, size_t bytes)
{
	(void)h;
	if (!has("gdr-lost"))
		memcpy(to, from, bytes);
	return 0;
}
