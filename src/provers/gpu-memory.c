/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu-memory.c - a piece of GPU memory in the form that a NIC needs, and its registration with one, for provers. */
#include "provers/gpu-memory.h"

#include <errno.h>
#include <unistd.h>

#include "base/array.h"
#include "provers/pattern.h"

#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

cu_result gpu_memory_begin(struct gpu_memory *m, struct proving *p)
{
	const unsigned int on = 1;
	cu_result rc;

	*m = (struct gpu_memory){ .p = p, .dmabuf = -1 };
	rc = p->child.cuda.alloc(&m->address, GPU_MEMORY_BYTES);
	if (rc == CU_SUCCESS)
		rc = p->child.cuda.pointer_set(&on, CU_POINTER_SYNC_MEMOPS, m->address);
	return rc;
}

cu_result gpu_memory_export(struct gpu_memory *m)
{
	const struct cuda *c = &m->p->child.cuda;

	if (!c->range_handle)
		return CU_NOT_SUPPORTED;
	return c->range_handle(&m->dmabuf, m->address, GPU_MEMORY_BYTES, CU_RANGE_HANDLE_DMA_BUF,
			       0);
}

void gpu_memory_end(struct gpu_memory *m)
{
	if (m->p && m->dmabuf >= 0)
		close(m->dmabuf);
	if (m->p && m->address)
		m->p->child.cuda.free(m->address);
}

cu_result gpu_memory_make_stale(const struct gpu_memory *m)
{
	const struct cuda *c = &m->p->child.cuda;
	cu_result rc = c->fill32(m->address, PATTERN_STALE, GPU_MEMORY_TRIED / 4);

	return rc == CU_SUCCESS ? c->stream_sync(NULL) : rc;
}

void gpu_memory_compare(const struct gpu_memory *m, struct proof_try *try, const char *how)
{
	static uint64_t back[GPU_MEMORY_TRIED / sizeof(uint64_t)];
	const struct cuda *c = &m->p->child.cuda;
	cu_result rc = c->to_host(back, m->address, sizeof(back));
	struct pattern_check check;

	if (rc != CU_SUCCESS) {
		prove_unknown(m->p, try, cuda_error(c, rc), "GPU memory could not be read back");
		return;
	}
	check = pattern_compare(back, ARRAY_SIZE(back), GPU_MEMORY_SEED);
	if (check.bad_bytes == 0)
		prove_works(m->p, try, "%zu KiB written %s arrived undamaged", sizeof(back) >> 10,
			    how);
	else
		prove_fails(m->p, try, proof_damage_words[check.damage],
			    "no error, and %llu of %zu bytes written %s are wrong (%s)",
			    (unsigned long long)check.bad_bytes, sizeof(back), how,
			    proof_damage_words[check.damage]);
}

int rdma_open(struct rdma_handle *h, struct proving *p, const struct rdma_device *device)
{
	struct verbs *v = &p->child.verbs;
	struct ibv_device *found;
	int rc = verbs_open(v);

	*h = (struct rdma_handle){ .v = v };
	if (rc)
		return rc;
	found = verbs_find(v, device->name.value);
	if (!found)
		return -ENODEV;
	errno = EIO;
	h->context = v->open_device(found);
	if (h->context)
		h->pd = v->alloc_pd(h->context);
	return h->pd ? 0 : -errno;
}

void rdma_close(struct rdma_handle *h)
{
	if (h->pd)
		h->v->dealloc_pd(h->pd);
	if (h->context)
		h->v->close_device(h->context);
}

struct ibv_mr *rdma_register_dmabuf(const struct rdma_handle *h, const struct gpu_memory *m)
{
	errno = ENOSYS;
	if (!h->v->reg_dmabuf_mr)
		return NULL;
	return h->v->reg_dmabuf_mr(h->pd, 0, GPU_MEMORY_BYTES, m->address, m->dmabuf, ACCESS);
}

struct ibv_mr *rdma_register_address(const struct rdma_handle *h, const struct gpu_memory *m)
{
	errno = ENOSYS;
	if (!h->v->reg_mr)
		return NULL;
	return h->v->reg_mr(h->pd, (void *)(uintptr_t)m->address, GPU_MEMORY_BYTES, ACCESS);
}
