/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verbs.c - a libibverbs with one device, mlx5_0, whose answers are chosen when it is
 * built: -DREGISTER=EBADF is what registering a DMA-BUF fails with, -DOPEN=EACCES what opening
 * fails with, -DHANG opens and does not come back.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#undef ibv_query_port

#ifndef OPEN
#define OPEN 0
#endif
#ifndef REGISTER
#define REGISTER EBADF
#endif

static struct ibv_device device;
static struct ibv_device *list[] = { &device, NULL };
static struct ibv_context context;
static struct ibv_pd pd;

struct ibv_device **ibv_get_device_list(int *count)
{
	fprintf(stderr, "libibverbs: Warning: couldn't load driver 'x'\n");
	*count = 1;
	return list;
}

void ibv_free_device_list(struct ibv_device **devices)
{
	(void)devices;
}

const char *ibv_get_device_name(struct ibv_device *of)
{
	(void)of;
	return "mlx5_0";
}

struct ibv_context *ibv_open_device(struct ibv_device *of)
{
	(void)of;
#ifdef HANG
	pause();
#endif
	errno = OPEN;
	return OPEN ? NULL : &context;
}

int ibv_close_device(struct ibv_context *of)
{
	(void)of;
	return 0;
}

int ibv_query_port(struct ibv_context *of, uint8_t port, struct _compat_ibv_port_attr *answer)
{
	struct ibv_port_attr attributes = { .state = IBV_PORT_ACTIVE,
					    .active_mtu = IBV_MTU_4096,
					    .flags = IBV_QPF_GRH_REQUIRED };

	(void)of;
	(void)port;
	/* The old structure ends before port_cap_flags2. */
	memcpy(answer, &attributes, offsetof(struct ibv_port_attr, port_cap_flags2));
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

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *of, uint64_t offset, size_t length, uint64_t iova,
				 int fd, int access)
{
	(void)of;
	(void)offset;
	(void)length;
	(void)iova;
	(void)access;
	errno = fd == -1 ? REGISTER : EIO;
	return NULL;
}

ssize_t _ibv_query_gid_table(struct ibv_context *of, struct ibv_gid_entry *entries, size_t max,
			     uint32_t flags, size_t size)
{
	static const uint8_t mapped[16] = { [10] = 0xff, 0xff, 192, 0, 2, 7 };

	(void)of;
	(void)flags;
	if (max < 2 || size != sizeof(*entries))
		return -EINVAL;
	memset(entries, 0, 2 * size);
	entries[0].port_num = entries[1].port_num = 1;
	entries[0].gid.raw[0] = 0xfe;
	entries[1].gid_index = 40;
	entries[1].gid_type = IBV_GID_TYPE_ROCE_V2;
	memcpy(entries[1].gid.raw, mapped, sizeof(mapped));
	return 2;
}
