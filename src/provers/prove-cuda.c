/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prove-cuda.c - the start of every child that uses the GPUs. */
#include <ctype.h>
#include <string.h>

#include "provers/prove.h"

#define BDF_SIZE 16

static bool prove_cuda_stop(struct proving *p, const char *what, cu_result rc)
{
	p->proof->stopped = fact_str(
		p->arena, arena_printf(p->arena, "%s: %s", what, cuda_error(&p->child.cuda, rc)));
	return false;
}

/* Gets the address in lower case, as in sysfs. */
static cu_result find_bdf(const struct cuda *c, cu_device device, char bdf[BDF_SIZE])
{
	cu_result rc = c->device_bus_id(bdf, BDF_SIZE, device);

	for (char *s = bdf; rc == CU_SUCCESS && s < bdf + BDF_SIZE && *s; s++)
		*s = (char)tolower((unsigned char)*s);
	return rc;
}

/* The list is made by the first child; later ones find the same GPUs, or (a job) its first. False
 * when a GPU is not the one that was there: results would be reported for another GPU. */
static bool add_gpu(struct proving *p, size_t i, const char *bdf)
{
	if (i == p->proof->gpus.count)
		LIST_ADD(p->arena, &p->proof->gpus)->bdf = fact_str(p->arena, bdf);
	return strcmp(prove_bdf(p, i), bdf) == 0;
}

static bool begin_gpu(struct proving *p, size_t i)
{
	struct cuda *c = &p->child.cuda;
	struct prove_gpu *gpu = &p->child.gpus[i];
	char bdf[BDF_SIZE] = "";
	cu_result rc = c->device(&gpu->device, (int)i);

	if (rc == CU_SUCCESS)
		rc = find_bdf(c, gpu->device, bdf);
	bdf[BDF_SIZE - 1] = '\0';
	if (rc == CU_SUCCESS)
		rc = c->context_retain(&gpu->context, gpu->device);
	if (rc != CU_SUCCESS)
		return prove_cuda_stop(p, arena_printf(p->arena, "GPU %zu %s", i, bdf), rc);
	if (add_gpu(p, i, bdf))
		return true;
	p->proof->stopped = fact_str(p->arena, "CUDA no longer shows the same GPUs");
	return false;
}

bool prove_begin_cuda(struct proving *p)
{
	struct cuda *c = &p->child.cuda;
	int count = 0, version = 0;
	cu_result rc;

	if (cuda_open(c)) {
		p->proof->cuda_version = FACT_NONE(fact_u64);
		p->proof->stopped = fact_str(p->arena,
					     "libcuda.so.1 is not installed, or lacks a function");
		return false;
	}
	if (c->driver_version(&version) == CU_SUCCESS)
		p->proof->cuda_version = fact_u64((uint64_t)version);
	rc = c->init(0);
	if (rc != CU_SUCCESS)
		return prove_cuda_stop(p, "cuInit", rc);
	rc = c->device_count(&count);
	if (rc != CU_SUCCESS)
		return prove_cuda_stop(p, "cuDeviceGetCount", rc);
	count = count < 0 ? 0 : count;
	p->child.gpus_count = count < PROVE_GPUS_MAX ? (size_t)count : PROVE_GPUS_MAX;
	for (size_t i = 0; i < p->child.gpus_count; i++)
		if (!begin_gpu(p, i))
			return false;
	if (p->group != PROVE_JOB && p->child.gpus_count < p->proof->gpus.count) {
		p->proof->stopped = fact_str(p->arena, "CUDA shows fewer GPUs than before");
		return false;
	}
	return count > 0 || prove_cuda_stop(p, "cuDeviceGetCount", CU_NO_DEVICE);
}

bool prove_is_broken(struct proving *p)
{
	const struct cuda *c = &p->child.cuda;

	for (size_t i = 0; i < p->child.gpus_count; i++) {
		cu_result rc = c->context_set(p->child.gpus[i].context);

		if (rc == CU_SUCCESS)
			rc = c->stream_query(NULL);
		if (rc != CU_SUCCESS && rc != CU_NOT_READY)
			return true;
	}
	return false;
}

bool prove_use(struct proving *p, size_t gpu)
{
	return gpu < p->child.gpus_count &&
	       p->child.cuda.context_set(p->child.gpus[gpu].context) == CU_SUCCESS;
}
