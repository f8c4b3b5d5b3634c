/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gdrcopy.c - the CPU writes into GPU memory that gdrdrv pinned and mapped, through libgdrapi, and the
 * data is there. Nothing is said of a node that has not got the library.
 */
#include <string.h>

#include "gpu-memory.h"
#include "library.h"
#include "pattern.h"

#define BYTES ((size_t)64 << 10)	/* a GPU page: what can be pinned at the least */
#define SEED UINT64_C(0x0f1e2d3c4b5a6978)

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
		{ &a->open, "gdr_open", NULL, 0 },	 { &a->close, "gdr_close", NULL, 0 },
		{ &a->pin, "gdr_pin_buffer", NULL, 0 },	 { &a->unpin, "gdr_unpin_buffer", NULL, 0 },
		{ &a->map, "gdr_map", NULL, 0 },	 { &a->unmap, "gdr_unmap", NULL, 0 },
		{ &a->copy, "gdr_copy_to_mapping", NULL, 0 },
	};

	return library_load("libgdrapi.so.2", symbols, LIBRARY_COUNT(symbols));
}

static void compare(struct proving *p, struct proof_try *try, const struct gpu_memory *m)
{
	const struct cuda *c = &p->child.cuda;
	static uint64_t back[BYTES / sizeof(uint64_t)];
	cu_result rc = c->to_host(back, m->address, BYTES);
	struct pattern_check check;

	if (rc != CU_SUCCESS) {
		prove_unknown(p, try, cuda_error(c, rc), "GPU memory could not be read back");
		return;
	}
	check = pattern_compare(back, BYTES / sizeof(uint64_t), SEED);
	if (check.bad_bytes == 0)
		prove_works(p, try, "%zu KiB written through gdrdrv arrived whole", BYTES >> 10);
	else
		prove_fails(p, try, proof_damage_words[check.damage],
			    "%llu of %zu bytes written through gdrdrv are wrong",
			    (unsigned long long)check.bad_bytes, BYTES);
}

/* What an earlier run left there must not be taken for this one's. */
static cu_result make_stale(const struct cuda *c, const struct gpu_memory *m)
{
	cu_result rc = c->fill32(m->address, PATTERN_STALE, BYTES / 4);

	return rc == CU_SUCCESS ? c->stream_sync(NULL) : rc;
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
		pattern_fill(data, BYTES / sizeof(uint64_t), SEED);
		a->copy(handle, va, data, BYTES);
		compare(p, try, m);
		a->unmap(g, handle, va, BYTES);
	}
	a->unpin(g, handle);
}

static void run(struct proving *p, size_t step)
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
	    make_stale(&p->child.cuda, &m) != CU_SUCCESS)
		prove_unknown(p, try, NULL, "no memory could be had on the GPU");
	else
		copy_mapped(p, try, &a, g, &m);
	a.close(g);
}

static size_t steps(const struct proving *p)
{
	return p->proof->gpus.count;
}

static void lost(struct proving *p, size_t step, const char *why)
{
	prove_fails(p, prove_try(p, PROOF_GDRCOPY, prove_bdf(p, step), NULL, NULL), NULL,
		    "writing through gdrdrv: %s", why);
}

const struct prover prover_gdrcopy = {
	.name = "gdrcopy",
	.groups = 1 << PROVE_CALLER,
	.order = 7,
	.steps = steps,
	.run = run,
	.lost = lost,
};
