/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verbs.c - what the verbs interface reports about an RDMA device: whether libibverbs can drive it and open it, and the
 * state of its ports. Only it reports the MTU in use, whether memory can be registered by DMA-BUF, and GIDs that rdma.c
 * did not reach in sysfs. A question opens the device's node below /dev/infiniband for a moment, which no tree has and
 * which belongs to no GPU.
 *
 * libibverbs is opened when there is a device to ask about. Each question is kept under the node's path, which is also
 * where the facts say that they come from.
 */
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "probes/network/verbs-library.h"
#include "probes/probe.h"

#define NODES "/dev/infiniband"
#define NOT_LIVE "only a running host can be asked through verbs"
/* GIDs of all ports of one device: what fits the 16 bits that an attribute of the uverbs ioctl has
 * for its length (rdma/rdma_user_ioctl_cmds.h). rxe has room for 1024, mlx5 for 256 a port. */
#define GIDS_MAX (UINT16_MAX / sizeof(struct ibv_gid_entry))

/* The library warns on standard error of every provider that it cannot load: its stream is ours, so
 * that is put aside while it works. Returns the stream to be put back. */
static int hush(void)
{
	int saved = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	_cleanup_close_ int aside = memfd_create("libibverbs", MFD_CLOEXEC);

	if (saved >= 0 && aside >= 0)
		dup2(aside, STDERR_FILENO);
	return saved;
}

static void unhush(int saved)
{
	if (saved < 0)
		return;
	dup2(saved, STDERR_FILENO);
	close(saved);
}

/*
 * NCCL's test (src/transport/net_ib/gdr.cc): registering the file descriptor -1 fails in any case,
 * with EBADF when kernel and provider got as far as looking at it. EOPNOTSUPP is a kernel driver,
 * or a provider, that cannot do it, EPROTONOSUPPORT a kernel before 5.12.
 */
static int ask_dmabuf(const struct verbs *v, struct ibv_context *context, struct fact_bool *fact)
{
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	int error;

	if (!v->reg_dmabuf_mr)
		return -ENOSYS;
	errno = EIO;
	pd = v->alloc_pd(context);
	if (!pd)
		return -errno;
	errno = 0;
	mr = v->reg_dmabuf_mr(pd, 0, 0, 0, -1, 0);
	error = mr ? EBADF : errno;
	if (mr)
		v->dereg_mr(mr);
	v->dealloc_pd(pd);
	if (error != EBADF && error != EOPNOTSUPP && error != EPROTONOSUPPORT)
		return -error;
	*fact = fact_bool(error == EBADF);
	return 0;
}

/* if_indextoname(3) by a socket of netlink: its own could reach every Unix socket of the host. */
static bool find_interface(unsigned int index, struct ifreq *found)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	*found = (struct ifreq){ .ifr_ifindex = (int)index };
	return fd >= 0 && ioctl(fd, SIOCGIFNAME, found) == 0;
}

static void add_gid(struct rdma_port *port, struct arena *arena, const struct ibv_gid_entry *entry)
{
	struct rdma_gid *gid = LIST_ADD(arena, &port->gids);
	char text[8 * 5 + 1];
	struct ifreq interface;

	for (size_t i = 0; i < 8; i++)
		snprintf(text + 5 * i, 6, "%02x%02x:", entry->gid.raw[2 * i],
			 entry->gid.raw[2 * i + 1]);
	gid->index = fact_u64(entry->gid_index);
	gid->gid = fact_strn(arena, text, 8 * 5 - 1);
	/* The words of the kernel (core/cache.c, gid_type_str). */
	gid->type = fact_str(arena,
			     entry->gid_type == IBV_GID_TYPE_ROCE_V2 ? "RoCE v2" : "IB/RoCE v1");
	gid->netdev = entry->ndev_ifindex && find_interface(entry->ndev_ifindex, &interface)
			      ? fact_str(arena, interface.ifr_name)
			      : FACT_NONE(fact_str);
}

static int ask_gids(const struct verbs *v, struct ibv_context *context, struct rdma_device *answer,
		    struct arena *arena)
{
	_cleanup_free_ struct ibv_gid_entry *entries = calloc(GIDS_MAX, sizeof(*entries));
	ssize_t n;

	if (!entries)
		return -ENOMEM;
	if (!v->query_gid_table)
		return -ENOSYS;
	n = v->query_gid_table(context, entries, GIDS_MAX, 0, sizeof(*entries));
	if (n < 0)
		return (int)n;
	for_each_mut(port, &answer->ports) {
		port->gids.state = FACT_KNOWN;
		for (ssize_t i = 0; i < n; i++)
			if (known_is(port->port, entries[i].port_num))
				add_gid(port, arena, &entries[i]);
	}
	return 0;
}

static void ask_ports(const struct verbs *v, struct ibv_context *context,
		      const struct rdma_device *device, struct rdma_device *answer,
		      struct arena *arena)
{
	for_each(known, &device->ports) {
		struct rdma_port *port = LIST_ADD(arena, &answer->ports);
		struct ibv_port_attr attributes = { 0 };

		port->port = known->port;
		/* The old form of the call fills the front part of the structure. */
		if (v->query_port(context, (uint8_t)known->port.value,
				  (struct _compat_ibv_port_attr *)&attributes))
			continue;
		/* Numbers as in sysfs: enum ibv_port_state is the kernel's ib_port_state. */
		if ((unsigned int)attributes.state <= RDMA_PORT_ACTIVE_DEFER)
			port->state = fact_enum((int)attributes.state);
		port->lid = fact_u64(attributes.lid);
		port->sm_lid = fact_u64(attributes.sm_lid);
		/* enum ibv_mtu: 1 is 256 bytes, 5 is 4096. */
		if (attributes.active_mtu >= IBV_MTU_256 && attributes.active_mtu <= IBV_MTU_4096)
			port->active_mtu_bytes = fact_u64(128ull << attributes.active_mtu);
		port->grh_required = fact_bool(attributes.flags & IBV_QPF_GRH_REQUIRED);
	}
}

struct question {
	struct verbs *verbs;
	const struct rdma_device *device;
};

/* The library passes over a device whose node is not there, too (libibverbs/init.c, try_access_device): in a
 * container that was not given it. That says nothing of its drivers. */
static bool has_node(struct host *host, const struct rdma_device *device, struct arena *arena)
{
	return host_exists(host, arena_printf(arena, NODES "/%s", device->uverbs.value));
}

static int ask_device(struct host *host, const struct question *question,
		      struct rdma_device *answer, struct arena *arena)
{
	struct verbs *v = question->verbs;
	struct ibv_device *device;
	struct ibv_context *context;
	int rc = verbs_open(v);

	if (rc)
		return rc;
	answer->name = question->device->name;
	device = verbs_find(v, question->device->name.value);
	if (!device && !has_node(host, question->device, arena))
		return -ENODEV;
	/* libibverbs warns about a driver of another release: "does not support the kernel ABI of 6". */
	answer->offered = fact_bool(device != NULL);
	if (!device)
		return 0;
	errno = EIO;
	context = v->open_device(device);
	/* Missing permission of this process says nothing about the device. */
	if (!context && (errno == EACCES || errno == EPERM))
		return -errno;
	answer->open_error = context ? FACT_NONE(fact_str)
				     : fact_str(arena, host_error_word(-errno));
	if (!context)
		return 0;
	ask_ports(v, context, question->device, answer, arena);
	/* A value that one of them does not report stays unknown. */
	ask_gids(v, context, answer, arena);
	ask_dmabuf(v, context, &answer->dmabuf);
	v->close_device(context);
	return 0;
}

static int verbs_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	int saved = hush();
	int rc = ask_device(host, user, facts, arena);

	unhush(saved);
	return rc;
}

/* ---- into the facts of rdma.c ---- */

static bool has_gid(const struct rdma_port *port, uint64_t index)
{
	for_each(gid, &port->gids)
		if (known_is(gid->index, index))
			return true;
	return false;
}

/* Verbs ask the driver now, as a job does. */
static void merge_state(struct rdma_port *port, const struct rdma_port *answer)
{
	if (!is_known(answer->state))
		return;
	port->sysfs_state = FACT_NONE(fact_enum);
	if (is_known(port->state) && port->state.value != answer->state.value)
		port->sysfs_state = port->state;
	port->state = answer->state;
	port->lid = answer->lid;
	port->sm_lid = answer->sm_lid;
}

static void merge_port(struct probe_context *ctx, struct rdma_port *port,
		       const struct rdma_port *answer)
{
	merge_state(port, answer);
	port->active_mtu_bytes = answer->active_mtu_bytes;
	port->grh_required = answer->grh_required;
	for_each(gid, &answer->gids)
		if (is_known(port->gids) && !has_gid(port, gid->index.value))
			*LIST_ADD(ctx->arena, &port->gids) = *gid;
}

static void merge(struct probe_context *ctx, const char *key, struct rdma_device *device,
		  const struct rdma_device *answer)
{
	bool mtu = true, gids = true;

	device->offered = answer->offered;
	if (known_is(device->offered, false)) {
		host_gap_note(ctx->host, key, -ENODEV, "libibverbs has no driver that fits it");
		return;
	}
	device->open_error = answer->open_error;
	if (is_known(device->open_error)) {
		host_gap_note(ctx->host, key, -EIO, "libibverbs could not open it");
		return;
	}
	device->dmabuf = answer->dmabuf;
	for_each_mut(port, &device->ports) {
		for_each(found, &answer->ports)
			if (known_is(found->port, port->port.value))
				merge_port(ctx, port, found);
		mtu = mtu && is_known(port->active_mtu_bytes);
	}
	for_each(found, &answer->ports)
		gids = gids && is_known(found->gids);
	/* Only the first gap of a path is kept. */
	if (is_unknown(device->dmabuf))
		host_gap_note(ctx->host, key, -EOPNOTSUPP, "could not be asked about DMA-BUF");
	if (!mtu)
		host_gap_note(ctx->host, key, -EIO, "a port did not answer");
	if (!gids)
		host_gap_note(ctx->host, key, -EOPNOTSUPP,
			      "could not be asked for the whole GID table");
}

/* A tree has no devices: it says what a capture of it would. */
static int ask_live(struct probe_context *ctx, const char *key, struct rdma_device *answer,
		    struct question *question)
{
	if (host_kind(ctx->host) != HOST_TREE)
		return host_query(ctx->host, key, &rdma_device_desc, answer, ctx->arena, verbs_ask,
				  question);
	host_gap_note(ctx->host, key, -ENODATA, NULL);
	return -ENODATA;
}

/* Files alone were read, so there is no second answer to hold against them. */
static void leave_all(struct rdma_facts *rdma)
{
	for_each_mut(device, &rdma->devices)
		device->offered.state = FACT_ABSENT;
}

static void verbs_run(struct probe_context *ctx)
{
	_cleanup_(verbs_close) struct verbs verbs = { 0 };
	struct rdma_facts *rdma = &ctx->node->rdma;

	for_each_mut(device, &rdma->devices) {
		struct question question = { .verbs = &verbs, .device = device };
		struct rdma_device answer = { 0 };
		char key[PATH_MAX];
		int rc;

		if (!is_known(device->uverbs)) {
			host_gap_note(ctx->host, NODES, -ENODEV,
				      "ib_uverbs has no node for one of the devices");
			continue;
		}
		snprintf(key, sizeof(key), NODES "/%s", device->uverbs.value);
		rc = ask_live(ctx, key, &answer, &question);
		if (rc == 0)
			merge(ctx, key, device, &answer);
		/* Without the library, or a record of its answers, the others are not told either. */
		if (rc == -ENODATA) {
			host_gap_note(ctx->host, NODES, rc, NOT_LIVE);
			leave_all(rdma);
		}
		if (rc == -ELIBACC || rc == -ENODATA)
			return;
	}
}

/* After rdma, whose section it fills. */
const struct probe probe_verbs = {
	.name = "verbs",
	.phase = PHASE_SECOND,
	.is_hardware = true,
	.asks = ASKS_RDMA,
	.run = verbs_run,
};
