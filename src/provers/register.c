/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * register.c - GPU memory registered with the nearest NICs, in both ways: with a DMA-BUF, which the open kernel modules
 * export, and with nvidia-peermem, which lets the RDMA core use the address itself. One of them is enough. The error of
 * the other explains why it is not available.
 */
#include <errno.h>
#include <string.h>

#include "provers/gpu-memory.h"

static void put_result(struct proving *p, struct proof_try *try, const struct rdma_handle *h,
		       struct ibv_mr *mr, const char *how)
{
	int error = errno;

	if (!mr) {
		prove_fails(p, try, strerrorname_np(error), "%s fails: %s", how, strerror(error));
		return;
	}
	h->v->dereg_mr(mr);
	prove_works(p, try, "%s works", how);
}

static void try_both(struct proving *p, const struct rdma_handle *h, struct proof_try *dmabuf,
		     struct proof_try *peermem)
{
	_cleanup_gpu_memory_ struct gpu_memory m = { 0 };
	const struct cuda *c = &p->child.cuda;
	cu_result rc = gpu_memory_begin(&m, p);

	if (rc != CU_SUCCESS) {
		prove_unknown(p, dmabuf, cuda_error(c, rc),
			      "no memory could be allocated on the GPU");
		prove_unknown(p, peermem, cuda_error(c, rc),
			      "no memory could be allocated on the GPU");
		return;
	}
	put_result(p, peermem, h, rdma_register_address(h, &m),
		   "registration by address (peermem)");
	rc = gpu_memory_export(&m);
	if (rc != CU_SUCCESS)
		prove_fails(p, dmabuf, cuda_error(c, rc), "there was no DMA-BUF to register");
	else
		put_result(p, dmabuf, h, rdma_register_dmabuf(h, &m), "registration by DMA-BUF");
}

static void register_run(struct proving *p, size_t step)
{
	_cleanup_rdma_ struct rdma_handle h = { 0 };
	const struct rdma_device *device;
	struct proof_try *dmabuf, *peermem;
	size_t gpu;
	int rc;

	if (!prove_pair(p, step, &gpu, &device))
		return;
	/* Made one after the other: a list that grows moves its items. */
	prove_try(p, PROOF_DMABUF_REGISTRATION, prove_bdf(p, gpu), device->name.value, NULL);
	peermem = prove_try(p, PROOF_PEERMEM_REGISTRATION, prove_bdf(p, gpu), device->name.value,
			    NULL);
	dmabuf = prove_try(p, PROOF_DMABUF_REGISTRATION, prove_bdf(p, gpu), device->name.value,
			   NULL);
	rc = prove_use(p, gpu) ? rdma_open(&h, p, device) : -ENODEV;
	if (rc == 0) {
		try_both(p, &h, dmabuf, peermem);
		return;
	}
	prove_unknown(p, dmabuf, strerrorname_np(-rc), "%s could not be opened: %s",
		      device->name.value, strerror(-rc));
	prove_unknown(p, peermem, strerrorname_np(-rc), "%s could not be opened: %s",
		      device->name.value, strerror(-rc));
}

static void register_fail_step(struct proving *p, size_t step, const char *why)
{
	static const char *const kinds[] = { PROOF_PEERMEM_REGISTRATION,
					     PROOF_DMABUF_REGISTRATION };
	const struct rdma_device *device;
	size_t gpu;

	if (!prove_pair(p, step, &gpu, &device))
		return;
	/* The one that was at work is the first without a result. */
	for (size_t i = 0; i < 2; i++) {
		struct proof_try *try = prove_try(p, kinds[i], prove_bdf(p, gpu),
						  device->name.value, NULL);

		if (is_known(try->works))
			continue;
		prove_fails(p, try, NULL, "registration: %s", why);
		return;
	}
}

const struct prover prover_register = {
	.name = "register",
	.groups = 1 << PROVE_CALLER,
	.order = 5,
	.steps = prove_pairs,
	.run = register_run,
	.fail_step = register_fail_step,
};
