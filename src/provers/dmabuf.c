/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dmabuf.c - checks that the driver exports GPU memory as a DMA-BUF. */
#include "provers/gpu-memory.h"

static size_t dmabuf_steps(const struct proving *p)
{
	return p->proof->gpus.count;
}

static void dmabuf_run(struct proving *p, size_t step)
{
	struct proof_try *try = prove_try(p, PROOF_DMABUF_EXPORT, prove_bdf(p, step), NULL, NULL);
	const struct cuda *c = &p->child.cuda;
	_cleanup_gpu_memory_ struct gpu_memory m = { 0 };
	cu_result rc = prove_use(p, step) ? gpu_memory_begin(&m, p) : CU_NO_DEVICE;

	if (rc != CU_SUCCESS) {
		prove_unknown(p, try, cuda_error(c, rc), "no memory could be allocated on the GPU");
		return;
	}
	rc = gpu_memory_export(&m);
	if (rc == CU_SUCCESS && m.dmabuf >= 0)
		prove_works(p, try, "GPU memory is exported as a DMA-BUF");
	else
		prove_fails(p, try, cuda_error(c, rc), "GPU memory is not exported as a DMA-BUF");
}

static void dmabuf_fail_step(struct proving *p, size_t step, const char *why)
{
	prove_fails(p, prove_try(p, PROOF_DMABUF_EXPORT, prove_bdf(p, step), NULL, NULL), NULL,
		    "%s", why);
}

const struct prover prover_dmabuf = {
	.name = "dmabuf",
	.groups = 1 << PROVE_CALLER,
	.order = 4,
	.steps = dmabuf_steps,
	.run = dmabuf_run,
	.fail_step = dmabuf_fail_step,
};
