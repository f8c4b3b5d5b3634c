/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream.c - stream memory operations: the GPU's front end writes a value, then waits for it. The value is read back.
 * The first version of the interface needs EnableStreamMemOPs on current drivers, the second (CUDA 11.7) does not. The
 * trial shows which of them this node has.
 */
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "provers/prove.h"

#define VALUE UINT64_C(0x6e766e6f64650001)
#define WAIT_MS 1000 /* a wait for a value that is already there takes microseconds */

struct operation {
	const char *kind, *what;
	int version; /* index in struct cuda */
	bool wide, wait;
};

static const struct operation operations[] = {
	{ PROOF_STREAM_V1, "write32", 0, false, false },
	{ PROOF_STREAM_V1, "wait32", 0, false, true },
	{ PROOF_STREAM_V1, "write64", 0, true, false },
	{ PROOF_STREAM_V1, "wait64", 0, true, true },
	{ PROOF_STREAM_V2, "write32", 1, false, false },
	{ PROOF_STREAM_V2, "wait32", 1, false, true },
	{ PROOF_STREAM_V2, "write64", 1, true, false },
	{ PROOF_STREAM_V2, "wait64", 1, true, true },
};
#define OPERATIONS (ARRAY_SIZE(operations))

struct bench {
	cu_stream stream;
	cu_address cell; /* of 64 bits */
};

/* CU_NOT_SUPPORTED if the library is too old for the call. */
static cu_result enqueue(const struct cuda *c, const struct operation *op, const struct bench *b)
{
	unsigned int flags = op->wait ? CU_STREAM_WAIT_EQ : CU_STREAM_WRITE_DEFAULT;
	cu_stream_value64 *wide = op->wait ? c->wait64[op->version] : c->write64[op->version];
	cu_stream_value32 *narrow = op->wait ? c->wait32[op->version] : c->write32[op->version];

	if (op->wide)
		return wide ? wide(b->stream, b->cell, VALUE, flags) : CU_NOT_SUPPORTED;
	return narrow ? narrow(b->stream, b->cell, (uint32_t)VALUE, flags) : CU_NOT_SUPPORTED;
}

static cu_result wait_for_stream(const struct cuda *c, cu_stream stream)
{
	const struct timespec pause = { .tv_nsec = 100000 };
	uint64_t until = clock_ms() + WAIT_MS;
	cu_result rc = c->stream_query(stream);

	while (rc == CU_NOT_READY && clock_ms() < until) {
		nanosleep(&pause, NULL);
		rc = c->stream_query(stream);
	}
	return rc;
}

/* A write finds a cell of zeros and leaves the value; a wait finds the value there. */
static cu_result prepare(const struct cuda *c, const struct operation *op, const struct bench *b)
{
	uint64_t value = !op->wait ? 0 : op->wide ? VALUE : (uint32_t)VALUE;

	cu_result rc = c->to_device(b->cell, &value, sizeof(value));

	/* The call may return before the value is written, and the stream below does not wait for it. */
	return rc == CU_SUCCESS ? c->stream_sync(NULL) : rc;
}

static void try_operation(struct proving *p, const struct operation *op, const struct bench *b,
			  struct proof_try *try)
{
	const struct cuda *c = &p->child.cuda;
	uint64_t wanted = op->wide ? VALUE : (uint32_t)VALUE, value = 0;
	cu_result rc = prepare(c, op, b);

	if (rc != CU_SUCCESS) {
		prove_unknown(p, try, cuda_error(c, rc), "its memory could not be prepared");
		return;
	}
	rc = enqueue(c, op, b);
	if (rc != CU_SUCCESS) {
		prove_fails(p, try, cuda_error(c, rc), "refused");
		return;
	}
	rc = wait_for_stream(c, b->stream);
	if (rc == CU_NOT_READY)
		prove_fails(p, try, NULL, "it did not finish within %d s", WAIT_MS / 1000);
	else if (rc == CU_SUCCESS)
		rc = c->to_host(&value, b->cell, sizeof(value));
	if (rc == CU_SUCCESS && value == wanted)
		prove_works(p, try, "it works, and the value was written");
	else if (rc == CU_SUCCESS)
		prove_fails(p, try, NULL, "it reports success, but the value was not written");
	else if (rc != CU_NOT_READY)
		prove_fails(p, try, cuda_error(c, rc), "it fails on the GPU");
}

static bool stream_begin(const struct cuda *c, struct bench *b)
{
	return c->alloc(&b->cell, sizeof(uint64_t)) == CU_SUCCESS &&
	       c->stream_create(&b->stream, CU_STREAM_NON_BLOCKING) == CU_SUCCESS;
}

static size_t stream_steps(const struct proving *p)
{
	return p->proof->gpus.count * OPERATIONS;
}

static void stream_run(struct proving *p, size_t step)
{
	const struct operation *op = &operations[step % OPERATIONS];
	size_t gpu = step / OPERATIONS;
	struct proof_try *try = prove_try(p, op->kind, prove_bdf(p, gpu), NULL, op->what);
	const struct cuda *c = &p->child.cuda;
	struct bench b = { 0 };

	if (!prove_use(p, gpu) || !stream_begin(c, &b))
		prove_unknown(p, try, NULL, "no memory or stream could be allocated on the GPU");
	else
		try_operation(p, op, &b, try);
	if (b.stream)
		c->stream_destroy(b.stream);
	if (b.cell)
		c->free(b.cell);
}

static void stream_fail_step(struct proving *p, size_t step, const char *why)
{
	const struct operation *op = &operations[step % OPERATIONS];
	struct proof_try *try = prove_try(p, op->kind, prove_bdf(p, step / OPERATIONS), NULL,
					  op->what);

	prove_fails(p, try, NULL, "%s", why);
}

const struct prover prover_stream = {
	.name = "stream",
	.groups = 1 << PROVE_CALLER,
	.order = 2,
	.steps = stream_steps,
	.run = stream_run,
	.fail_step = stream_fail_step,
};
