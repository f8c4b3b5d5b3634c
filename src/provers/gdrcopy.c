/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gdrcopy.c - the CPU writes into GPU memory that gdrdrv pinned and mapped, through libgdrapi, and the data is
 * compared. On a node without the library the result is unknown.
 */
#include <string.h>

#include "base/library.h"
#include "provers/gpu-memory.h"
#include "provers/pattern.h"

#define BYTES GPU_MEMORY_TRIED

/* gdrapi.h of GDRCopy 2: handles are opaque, and one of them is passed by value. */
typedef struct {
	unsigned long h;
} gdr_mh;

struct gdrapi {
	void *(*open)(void);
	int (*close)(void *g);
	int (*pin)(void *g, unsigned long address, size_t bytes, uint64_t token, uint32_t space,
		   gdr_mh *handle);
	int (*unpin)(void *g, gdr_mh handle);
	int (*map)(void *g, gdr_mh handle, void **va, size_t bytes);
	int (*unmap)(void *g, gdr_mh handle, void *va, size_t bytes);
	int (*copy)(gdr_mh handle, void *to, const void *from, size_t bytes);
};

static int open_library(struct gdrapi *a)
{
	const struct library_symbol symbols[] = {
		{ &a->open, "gdr_open", NULL, 0 },
		{ &a->close, "gdr_close", NULL, 0 },
		{ &a->pin, "gdr_pin_buffer", NULL, 0 },
		{ &a->unpin, "gdr_unpin_buffer", NULL, 0 },
		{ &a->map, "gdr_map", NULL, 0 },
		{ &a->unmap, "gdr_unmap", NULL, 0 },
		{ &a->copy, "gdr_copy_to_mapping", NULL, 0 },
	};

	return library_load(LIBGDRAPI, symbols, LIBRARY_COUNT(symbols));
}

static void copy_mapped(struct proving *p, struct proof_try *try, const struct gdrapi *a, void *g,
			const struct gpu_memory *m)
{
	static uint64_t data[BYTES / sizeof(uint64_t)];
	void *va = NULL;
	gdr_mh handle;
	int rc = a->pin(g, m->address, BYTES, 0, 0, &handle);

	if (rc) {
		prove_fails(p, try, strerrorname_np(rc), "gdrdrv does not pin GPU memory: %s",
			    strerror(rc));
		return;
	}
	rc = a->map(g, handle, &va, BYTES);
	if (rc) {
		prove_fails(p, try, strerrorname_np(rc), "gdrdrv does not map GPU memory: %s",
			    strerror(rc));
	} else {
		pattern_fill(data, BYTES / sizeof(uint64_t), GPU_MEMORY_SEED);
		a->copy(handle, va, data, BYTES);
		gpu_memory_compare(m, try, "through gdrdrv");
		a->unmap(g, handle, va, BYTES);
	}
	a->unpin(g, handle);
}

static void gdrcopy_run(struct proving *p, size_t step)
{
	_cleanup_gpu_memory_ struct gpu_memory m = { 0 };
	struct proof_try *try;
	struct gdrapi a;
	void *g;

	if (open_library(&a))
		return;
	try = prove_try(p, PROOF_GDRCOPY, prove_bdf(p, step), NULL, NULL);
	g = a.open();
	if (!g) {
		prove_unknown(p, try, NULL, "gdrdrv could not be opened: is the module loaded?");
		return;
	}
	if (!prove_use(p, step) || gpu_memory_begin(&m, p) != CU_SUCCESS ||
	    gpu_memory_make_stale(&m) != CU_SUCCESS)
		prove_unknown(p, try, NULL, "no memory could be allocated on the GPU");
	else
		copy_mapped(p, try, &a, g, &m);
	a.close(g);
}

static size_t gdrcopy_steps(const struct proving *p)
{
	return p->proof->gpus.count;
}

static void gdrcopy_fail_step(struct proving *p, size_t step, const char *why)
{
	prove_fails(p, prove_try(p, PROOF_GDRCOPY, prove_bdf(p, step), NULL, NULL), NULL,
		    "writing through gdrdrv: %s", why);
}

const struct prover prover_gdrcopy = {
	.name = "gdrcopy",
	.groups = 1 << PROVE_CALLER,
	.order = 7,
	.steps = gdrcopy_steps,
	.run = gdrcopy_run,
	.fail_step = gdrcopy_fail_step,
};
