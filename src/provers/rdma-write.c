/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rdma-write.c - the NIC writes into GPU memory, and the data is compared. An RDMA device is connected with itself (no
 * other node is involved), over its first active port. The adapter loops the data back internally, so this tests the
 * path between NIC and GPU.
 */
#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "provers/gpu-memory.h"
#include "provers/pattern.h"

#define BYTES GPU_MEMORY_TRIED
#define PSN 0x1234   /* any number: the same for both directions of one queue pair */
#define WAIT_MS 1000 /* a write inside the adapter takes microseconds; two fit the quick deadline */

struct link {
	const struct rdma_handle *h;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *gpu, *host, *control;
	uint8_t port;
	uint8_t gid_index;
	struct ibv_port_attr attributes;
	union ibv_gid gid;
};

static void link_end(struct link *l)
{
	if (l->gpu)
		l->h->v->dereg_mr(l->gpu);
	if (l->host)
		l->h->v->dereg_mr(l->host);
	if (l->control)
		l->h->v->dereg_mr(l->control);
	if (l->qp)
		l->h->v->destroy_qp(l->qp);
	if (l->cq)
		l->h->v->destroy_cq(l->cq);
}

/* The first port that carries traffic. False: none does. */
static bool find_port(struct link *l, const struct rdma_device *device)
{
	for_each(port, &device->ports) {
		memset(&l->attributes, 0, sizeof(l->attributes));
		l->port = (uint8_t)port->port.value;
		/* The old form of the call fills the front part of the structure. */
		if (l->h->v->query_port(l->h->context, l->port,
					(struct _compat_ibv_port_attr *)&l->attributes) == 0 &&
		    l->attributes.state == IBV_PORT_ACTIVE)
			return true;
	}
	return false;
}

static bool is_empty(const union ibv_gid *gid)
{
	static const union ibv_gid empty;

	return memcmp(gid, &empty, sizeof(empty)) == 0;
}

/* RoCE v2 reaches an IPv4 address of its own if there is one; the last matching GID is used. */
static bool find_gid(struct link *l)
{
	bool found = false;

	for (int i = 0; i < l->attributes.gid_tbl_len && i < 16; i++) {
		union ibv_gid gid;

		if (l->h->v->query_gid(l->h->context, l->port, i, &gid) || is_empty(&gid))
			continue;
		l->gid = gid;
		l->gid_index = (uint8_t)i;
		found = true;
	}
	return found;
}

static int to_init(const struct link *l)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT,
				 .port_num = l->port,
				 .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };

	return l->h->v->modify_qp(
		l->qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

/* The queue pair is its own peer. */
static int to_ready(const struct link *l)
{
	bool ethernet = l->attributes.link_layer == IBV_LINK_LAYER_ETHERNET;
	struct ibv_qp_attr a = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = l->attributes.active_mtu,
		.dest_qp_num = l->qp->qp_num,
		.rq_psn = PSN,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12, /* 0.64 ms (InfiniBand specification, table 45) */
		.ah_attr = { .dlid = l->attributes.lid,
			     .is_global = ethernet,
			     .port_num = l->port,
			     .grh = { .dgid = l->gid,
				      .sgid_index = l->gid_index,
				      .hop_limit = 64 } },
	};

	return l->h->v->modify_qp(l->qp, &a,
				  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					  IBV_QP_MIN_RNR_TIMER);
}

static int to_send(const struct link *l)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_RTS,
				 .timeout = 14, /* 4.096 us * 2^14: 67 ms */
				 .retry_cnt = 7,
				 .rnr_retry = 7,
				 .sq_psn = PSN,
				 .max_rd_atomic = 1 };

	return l->h->v->modify_qp(l->qp, &a,
				  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					  IBV_QP_MAX_QP_RD_ATOMIC);
}

/* 0, or errno. */
static int connect_link(struct link *l)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 }
	};
	int rc;

	errno = EIO;
	l->cq = l->h->v->create_cq(l->h->context, 1, NULL, NULL, 0);
	if (!l->cq)
		return errno;
	init.send_cq = init.recv_cq = l->cq;
	l->qp = l->h->v->create_qp(l->h->pd, &init);
	if (!l->qp)
		return errno;
	rc = to_init(l);
	if (!rc)
		rc = to_ready(l);
	return rc ? rc : to_send(l);
}

static int write_to(const struct link *l, void *host, uint64_t address, uint32_t rkey)
{
	struct ibv_sge sge = { .addr = (uintptr_t)host, .length = BYTES, .lkey = l->host->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_RDMA_WRITE,
				  .send_flags = IBV_SEND_SIGNALED,
				  .wr.rdma = { .remote_addr = address, .rkey = rkey } };
	const struct timespec pause = { .tv_nsec = 100000 };
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	uint64_t until = clock_ms() + WAIT_MS;
	int rc = ibv_post_send(l->qp, &wr, &bad), n;

	if (rc)
		return rc;
	while ((n = ibv_poll_cq(l->cq, 1, &wc)) == 0 && clock_ms() < until)
		nanosleep(&pause, NULL);
	if (n <= 0)
		return n < 0 ? EIO : ETIMEDOUT;
	return wc.status == IBV_WC_SUCCESS ? 0 : EREMOTEIO;
}

/* First into host memory: a device that does not reach itself is no evidence about the GPU. */
static int write_control(struct link *l, void *host)
{
	static uint64_t control[BYTES / sizeof(uint64_t)] __attribute__((aligned(4096)));
	int rc;

	l->control = l->h->v->reg_mr(l->h->pd, control, BYTES,
				     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!l->control)
		return errno;
	rc = write_to(l, host, (uintptr_t)control, l->control->rkey);
	return rc ? rc : memcmp(control, host, BYTES) == 0 ? 0 : EIO;
}

static void try_write(struct proving *p, struct proof_try *try, struct link *l,
		      struct gpu_memory *m)
{
	static uint64_t data[BYTES / sizeof(uint64_t)] __attribute__((aligned(4096)));
	const char *how = "by the NIC (DMA-BUF)";
	int rc;

	if (gpu_memory_export(m) == CU_SUCCESS)
		l->gpu = rdma_register_dmabuf(l->h, m);
	if (!l->gpu) {
		how = "by the NIC (peermem)";
		l->gpu = rdma_register_address(l->h, m);
	}
	if (!l->gpu) {
		prove_unknown(p, try, strerrorname_np(errno), "GPU memory could not be registered");
		return;
	}
	pattern_fill(data, BYTES / sizeof(uint64_t), GPU_MEMORY_SEED);
	l->host = l->h->v->reg_mr(l->h->pd, data, BYTES, IBV_ACCESS_LOCAL_WRITE);
	rc = l->host ? connect_link(l) : errno;
	if (rc == 0)
		rc = write_control(l, data);
	if (rc) {
		prove_unknown(p, try, strerrorname_np(rc), "it cannot connect to itself: %s",
			      strerror(rc));
		return;
	}
	if (gpu_memory_make_stale(m) != CU_SUCCESS) {
		prove_unknown(p, try, NULL, "GPU memory could not be prepared");
		return;
	}
	rc = write_to(l, data, m->address, l->gpu->rkey);
	if (rc)
		prove_fails(p, try, strerrorname_np(rc), "writing %s fails: %s", how, strerror(rc));
	else
		gpu_memory_compare(m, try, how);
}

static void rdma_write_run(struct proving *p, size_t step)
{
	_cleanup_rdma_ struct rdma_handle h = { 0 };
	_cleanup_gpu_memory_ struct gpu_memory m = { 0 };
	_cleanup_(link_end) struct link l = { .h = &h };
	const struct rdma_device *device;
	struct proof_try *try;
	size_t gpu;

	if (!prove_pair(p, step, &gpu, &device))
		return;
	try = prove_try(p, PROOF_RDMA_WRITE, prove_bdf(p, gpu), device->name.value, NULL);
	if (!prove_use(p, gpu) || rdma_open(&h, p, device))
		prove_unknown(p, try, NULL, "%s could not be opened", device->name.value);
	else if (!h.v->create_qp || !h.v->query_gid || !h.v->reg_mr)
		prove_unknown(p, try, "ELIBACC", "libibverbs lacks a function");
	else if (!find_port(&l, device))
		prove_unknown(p, try, NULL, "no port of %s is active", device->name.value);
	else if (l.attributes.link_layer == IBV_LINK_LAYER_ETHERNET && !find_gid(&l))
		prove_unknown(p, try, NULL, "no port of %s has a GID", device->name.value);
	else if (gpu_memory_begin(&m, p) != CU_SUCCESS)
		prove_unknown(p, try, NULL, "no memory could be allocated on the GPU");
	else
		try_write(p, try, &l, &m);
}

static void rdma_write_fail_step(struct proving *p, size_t step, const char *why)
{
	const struct rdma_device *device;
	size_t gpu;

	if (prove_pair(p, step, &gpu, &device))
		prove_fails(
			p,
			prove_try(p, PROOF_RDMA_WRITE, prove_bdf(p, gpu), device->name.value, NULL),
			NULL, "the NIC's write: %s", why);
}

const struct prover prover_rdma_write = {
	.name = "rdma-write",
	.groups = 1 << PROVE_CALLER,
	.order = 6,
	.steps = prove_pairs,
	.run = rdma_write_run,
	.fail_step = rdma_write_fail_step,
};
