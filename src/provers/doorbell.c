/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doorbell.c - checks that a page that is not memory can be mapped for the GPU. GPU-initiated networking does that with
 * the NIC's doorbell. The driver refuses it to callers without CAP_SYS_ADMIN unless PeerMappingOverride is set
 * (open-gpu-kernel-modules, osCreateOsDescriptorFromIoMemory).
 *
 * No NIC is needed: the driver checks whether the pages are mapped by page frame number (VM_PFNMAP), and the first page
 * of every process's own [vvar] is. It is mapped for a moment and never accessed. With an mlx5 NIC, a doorbell page
 * (UAR) of its own is tried as well, as IBGDA does.
 */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/mlx5dv.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/library.h"
#include "provers/prove.h"

#define FLAGS (CU_HOST_REGISTER_IOMEMORY | CU_HOST_REGISTER_DEVICEMAP | CU_HOST_REGISTER_PORTABLE)

static const char *doorbell_kind(const struct proving *p)
{
	return p->group == PROVE_JOB ? PROOF_DOORBELL_JOB : PROOF_DOORBELL_CALLER;
}

static const char *uar_kind(const struct proving *p)
{
	return p->group == PROVE_JOB ? PROOF_UAR_JOB : PROOF_UAR_CALLER;
}

/* The kernel's own data page for this process, or NULL. */
static void *find_vvar(void)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/self/maps", "re");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		unsigned long start;

		if (strstr(line, "[vvar]") && sscanf(line, "%lx-", &start) == 1)
			return (void *)start;
	}
	return NULL;
}

static void try_page(struct proving *p, struct proof_try *try, void *page)
{
	const struct cuda *c = &p->child.cuda;
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	cu_result rc = c->host_register(page, bytes, FLAGS);
	const char *who = p->group == PROVE_JOB ? "without capabilities"
						: "with the caller's rights";

	if (rc == CU_SUCCESS) {
		c->host_unregister(page);
		prove_works(p, try, "%s the mapping is allowed", who);
	} else if (rc == CU_NOT_PERMITTED) {
		prove_fails(p, try, cuda_error(c, rc), "%s the mapping is refused", who);
	} else {
		prove_unknown(p, try, cuda_error(c, rc), "the page could not be registered: %s",
			      cuda_error(c, rc));
	}
}

static void try_vvar(struct proving *p)
{
	struct proof_try *try = prove_try(p, doorbell_kind(p), prove_bdf(p, 0), NULL, NULL);
	void *page = find_vvar();

	if (!page)
		prove_unknown(p, try, NULL, "this process has no [vvar] page");
	else if (!prove_use(p, 0))
		prove_unknown(p, try, NULL, "the GPU's context could not be used");
	else
		try_page(p, try, page);
}

/* ---- a doorbell page of an mlx5 NIC ---- */

struct mlx5 {
	typeof(mlx5dv_devx_alloc_uar) *alloc_uar;
	typeof(mlx5dv_devx_free_uar) *free_uar;
};

/* NVSHMEM asks for a page without write combining first, and takes one with it (ibgda.cpp). */
static struct mlx5dv_devx_uar *alloc_uar(const struct mlx5 *m, struct ibv_context *context)
{
	struct mlx5dv_devx_uar *uar = m->alloc_uar(context, MLX5DV_UAR_ALLOC_TYPE_NC);

	return uar ? uar : m->alloc_uar(context, MLX5DV_UAR_ALLOC_TYPE_BF);
}

static void try_uar_of(struct proving *p, struct proof_try *try, const struct mlx5 *m,
		       struct ibv_context *context)
{
	struct mlx5dv_devx_uar *uar;
	uintptr_t page;

	errno = EIO;
	uar = alloc_uar(m, context);
	if (!uar) {
		prove_unknown(p, try, strerrorname_np(errno),
			      "the NIC provided no doorbell page: %s", strerror(errno));
		return;
	}
	page = (uintptr_t)uar->reg_addr & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
	try_page(p, try, (void *)page);
	m->free_uar(uar);
}

static void try_uar(struct proving *p, const struct rdma_device *device)
{
	struct mlx5 m;
	const struct library_symbol symbols[] = {
		{ &m.alloc_uar, "mlx5dv_devx_alloc_uar", NULL, 0 },
		{ &m.free_uar, "mlx5dv_devx_free_uar", NULL, 0 },
	};
	struct proof_try *try = prove_try(p, uar_kind(p), prove_bdf(p, 0), device->name.value,
					  NULL);
	struct verbs *v = &p->child.verbs;
	struct ibv_device *found;
	struct ibv_context *context;

	if (verbs_open(v) || library_load(LIBMLX5, symbols, LIBRARY_COUNT(symbols))) {
		prove_unknown(p, try, NULL, "libibverbs.so.1 or libmlx5.so.1 is not installed");
		return;
	}
	found = verbs_find(v, device->name.value);
	errno = ENODEV;
	context = found ? v->open_device(found) : NULL;
	if (!context) {
		prove_unknown(p, try, strerrorname_np(errno),
			      "the RDMA device could not be opened: %s", strerror(errno));
		return;
	}
	try_uar_of(p, try, &m, context);
	v->close_device(context);
}

/* The nearest NICs of the first GPU that have such pages; step 0 is the page that needs none. */
static const struct rdma_device *uar_device(const struct proving *p, size_t step)
{
	const struct rdma_device *device;
	size_t gpu;

	for (size_t pair = 0; prove_pair(p, pair, &gpu, &device) && gpu == 0; pair++)
		if (str_is(device->driver, "mlx5_core") && --step == 0)
			return device;
	return NULL;
}

static size_t doorbell_steps(const struct proving *p)
{
	size_t n = 1;

	while (uar_device(p, n))
		n++;
	return n;
}

static void doorbell_run(struct proving *p, size_t step)
{
	if (step == 0)
		try_vvar(p);
	else
		try_uar(p, uar_device(p, step));
}

static void doorbell_fail_step(struct proving *p, size_t step, const char *why)
{
	const struct rdma_device *device = step ? uar_device(p, step) : NULL;
	struct proof_try *try = prove_try(p, step ? uar_kind(p) : doorbell_kind(p), prove_bdf(p, 0),
					  device ? device->name.value : NULL, NULL);

	prove_unknown(p, try, NULL, "%s", why);
}

const struct prover prover_doorbell = {
	.name = "doorbell",
	.groups = 1 << PROVE_CALLER | 1 << PROVE_JOB,
	.order = 1,
	.steps = doorbell_steps,
	.run = doorbell_run,
	.fail_step = doorbell_fail_step,
};
