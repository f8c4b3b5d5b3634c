/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peer.c - copies from every GPU to every other one, read back through the host and compared, whether
 * the driver says that they reach each other's memory or not; and how fast they are.
 *
 * Every copy starts from the source's own pattern. Its destination was filled with something else,
 * so zeros, a copy that did not happen and data at the wrong place are distinguished.
 */
#include <string.h>

#include "provers/pattern.h"
#include "provers/prove.h"
#include "query/node-find.h"
#include "query/topology.h"

#define BYTES_QUICK (UINT64_C(32) << 20)
#define BYTES (UINT64_C(256) << 20)
/* A small copy uses another path in the driver. Its size is not a multiple of a page or a line. */
#define SMALL_WORDS 1237
#define REPEATS 4 /* of the copies that are timed */

/* A link's worth in 10^6 bytes a second: 128b/130b encoding from 8 GT/s on (PCIe 6.0, 4.2.2). */
static uint64_t link_mb_per_s(const struct pci_link *link)
{
	if (!is_known(link->speed_max_mts) || !is_known(link->width_max))
		return 0;
	if (link->speed_max_mts.value < 8000)
		return link->speed_max_mts.value * link->width_max.value / 10;
	return link->speed_max_mts.value * link->width_max.value * 128 / 130 / 8;
}

struct pair {
	size_t from, to;
	const char *from_bdf, *to_bdf;
};

static struct pair pair_of(const struct proving *p, size_t step)
{
	size_t others = p->proof->gpus.count - 1;
	struct pair pair = { .from = step / others, .to = step % others };

	pair.to += pair.to >= pair.from;
	pair.from_bdf = prove_bdf(p, pair.from);
	pair.to_bdf = prove_bdf(p, pair.to);
	return pair;
}

static size_t peer_steps(const struct proving *p)
{
	size_t gpus = p->proof->gpus.count;

	return gpus ? gpus * (gpus - 1) : 0;
}

static struct proof_copy *copy_of(struct proving *p, const struct pair *pair)
{
	const char *id = arena_printf(p->arena, "%s %s", pair->from_bdf, pair->to_bdf);
	struct proof_copy *copy;

	for_each_mut(c, &p->proof->copies)
		if (str_is(c->id, id))
			return c;
	copy = LIST_ADD(p->arena, &p->proof->copies);
	copy->id = fact_str(p->arena, id);
	copy->from = fact_str(p->arena, pair->from_bdf);
	copy->to = fact_str(p->arena, pair->to_bdf);
	return copy;
}

/* ---- the path, and its expected bandwidth ---- */

static bool over_nvlink(const struct proof_gpu *from, const char *to)
{
	for_each(peer, &from->nvlink_peers)
		if (strcmp(*peer, to) == 0)
			return true;
	return false;
}

static void put_path(struct proving *p, struct proof_copy *copy, const struct pair *pair)
{
	const struct proof_gpu *from = &p->proof->gpus.items[pair->from];
	const struct pci_device *a = node_pci(p->node, pair->from_bdf);
	const struct pci_device *b = node_pci(p->node, pair->to_bdf);
	uint64_t mine = a ? link_mb_per_s(&a->link) : 0, other = b ? link_mb_per_s(&b->link) : 0;
	struct pci_path path;

	copy->wanted_mb_per_s = FACT_NONE(fact_u64);
	if (over_nvlink(from, pair->to_bdf)) {
		copy->path = fact_str(p->arena, "NVLink");
		if (is_known(from->nvlinks) && is_known(from->nvlink_mb_per_s))
			copy->wanted_mb_per_s =
				fact_u64(from->nvlink_mb_per_s.value * from->nvlinks.value);
		return;
	}
	/* Without NVML's word it could be either. */
	if (!a || !b || is_unknown(from->nvlink_peers))
		return;
	topology_path(p->node, a, b, &path);
	if (path.class == PATH_UNKNOWN)
		return;
	copy->path = fact_str(p->arena, path_class_words[path.class]);
	/* The rate of a host bridge between peers is not documented. */
	if (path.class <= PATH_PXB && mine && other && known_is(copy->access, true))
		copy->wanted_mb_per_s = fact_u64(mine < other ? mine : other);
}

/* ---- one copy ---- */

static size_t words_of(const struct proving *p)
{
	return (p->quick ? BYTES_QUICK : BYTES) / sizeof(uint64_t);
}

static cu_result begin_host(struct proving *p)
{
	const struct cuda *c = &p->child.cuda;
	size_t bytes = words_of(p) * sizeof(uint64_t);
	cu_result rc = CU_SUCCESS;

	if (!p->child.pattern)
		rc = c->host_alloc(&p->child.pattern, bytes, CU_HOST_ALLOC_PORTABLE);
	if (rc == CU_SUCCESS && !p->child.back)
		rc = c->host_alloc(&p->child.back, bytes, CU_HOST_ALLOC_PORTABLE);
	return rc;
}

static uint64_t seed_of(size_t gpu)
{
	return (gpu + 1) * UINT64_C(0x0123456789abcdef);
}

static cu_result begin_buffer(struct proving *p, size_t gpu)
{
	const struct cuda *c = &p->child.cuda;
	struct prove_gpu *g = &p->child.gpus[gpu];
	cu_result rc = c->context_set(g->context);

	if (rc == CU_SUCCESS && !g->buffer)
		rc = c->alloc(&g->buffer, words_of(p) * sizeof(uint64_t));
	return rc;
}

/* The source's pattern stays in its buffer until the GPU is itself copied to. */
static cu_result fill_source(struct proving *p, size_t gpu)
{
	struct prove_gpu *g = &p->child.gpus[gpu];
	cu_result rc;

	if (g->filled)
		return CU_SUCCESS;
	pattern_fill(p->child.pattern, words_of(p), seed_of(gpu));
	rc = p->child.cuda.to_device(g->buffer, p->child.pattern, words_of(p) * sizeof(uint64_t));
	g->filled = rc == CU_SUCCESS;
	return rc;
}

static cu_result fill_target(struct proving *p, size_t gpu)
{
	struct prove_gpu *g = &p->child.gpus[gpu];
	cu_result rc = p->child.cuda.context_set(g->context);

	g->filled = false;
	if (rc == CU_SUCCESS)
		rc = p->child.cuda.fill32(g->buffer, PATTERN_STALE, words_of(p) * 2);
	/* The fill is in another stream than the copy: it must be over before that begins. */
	return rc == CU_SUCCESS ? p->child.cuda.stream_sync(NULL) : rc;
}

static cu_result copy_words(const struct proving *p, const struct pair *pair, size_t words,
			    cu_stream stream)
{
	const struct prove_gpu *from = &p->child.gpus[pair->from], *to = &p->child.gpus[pair->to];

	return p->child.cuda.copy_peer(to->buffer, to->context, from->buffer, from->context,
				       words * sizeof(uint64_t), stream);
}

/* Adds the damage of the WORDS that a copy should have written. */
static cu_result verify(struct proving *p, const struct pair *pair, size_t words,
			struct proof_copy *copy)
{
	const struct prove_gpu *to = &p->child.gpus[pair->to];
	cu_result rc = p->child.cuda.to_host(p->child.back, to->buffer, words * sizeof(uint64_t));
	struct pattern_check check;

	if (rc != CU_SUCCESS)
		return rc;
	check = pattern_compare(p->child.back, words, seed_of(pair->from));
	copy->bytes.value += words * sizeof(uint64_t);
	copy->bytes.state = FACT_KNOWN;
	if (!is_known(copy->bad_bytes))
		copy->bad_bytes = fact_u64(0);
	if (check.bad_bytes && copy->bad_bytes.value == 0) {
		copy->first_bad_byte = fact_u64(check.first_bad_byte);
		copy->damage = fact_enum(check.damage);
	}
	copy->bad_bytes.value += check.bad_bytes;
	return CU_SUCCESS;
}

static cu_result copy_and_verify(struct proving *p, const struct pair *pair, size_t words,
				 cu_stream stream, struct proof_copy *copy)
{
	const struct cuda *c = &p->child.cuda;
	cu_result rc = fill_target(p, pair->to);

	if (rc == CU_SUCCESS)
		rc = c->context_set(p->child.gpus[pair->from].context);
	if (rc == CU_SUCCESS)
		rc = copy_words(p, pair, words, stream);
	if (rc == CU_SUCCESS)
		rc = c->stream_sync(stream);
	if (rc == CU_SUCCESS)
		rc = c->context_set(p->child.gpus[pair->to].context);
	return rc == CU_SUCCESS ? verify(p, pair, words, copy) : rc;
}

/* Measures the copy. The source's context, which STREAM belongs to, is current. */
static cu_result measure(struct proving *p, const struct pair *pair, cu_stream stream,
			 struct proof_copy *copy)
{
	const struct cuda *c = &p->child.cuda;
	cu_event start = NULL, end = NULL;
	float ms = 0;
	cu_result rc = c->context_set(p->child.gpus[pair->from].context);

	if (rc == CU_SUCCESS)
		rc = c->event_create(&start, 0);
	if (rc == CU_SUCCESS)
		rc = c->event_create(&end, 0);
	if (rc == CU_SUCCESS)
		rc = c->event_record(start, stream);
	for (int i = 0; rc == CU_SUCCESS && i < REPEATS; i++)
		rc = copy_words(p, pair, words_of(p), stream);
	if (rc == CU_SUCCESS)
		rc = c->event_record(end, stream);
	if (rc == CU_SUCCESS)
		rc = c->stream_sync(stream);
	if (rc == CU_SUCCESS)
		rc = c->event_elapsed(&ms, start, end);
	if (rc == CU_SUCCESS && ms > 0)
		copy->mb_per_s = fact_u64((uint64_t)((double)words_of(p) * sizeof(uint64_t) *
						     REPEATS / 1e3 / (double)ms));
	if (start)
		c->event_destroy(start);
	if (end)
		c->event_destroy(end);
	return rc;
}

/* Enables access to the peer; the source's context is current. Without it the driver copies through the host. */
static cu_result enable_access(struct proving *p, const struct pair *pair, struct proof_copy *copy)
{
	const struct cuda *c = &p->child.cuda;
	int can = 0;
	cu_result rc = c->can_access_peer(&can, p->child.gpus[pair->from].device,
					  p->child.gpus[pair->to].device);

	if (rc == CU_SUCCESS && can)
		rc = c->enable_peer_access(p->child.gpus[pair->to].context, 0);
	if (rc == CU_PEER_ACCESS_ALREADY_ENABLED)
		rc = CU_SUCCESS;
	if (rc == CU_SUCCESS)
		copy->access = fact_bool(can);
	return rc;
}

static cu_result try_copies(struct proving *p, const struct pair *pair, cu_stream *stream,
			    struct proof_copy *copy)
{
	cu_result rc = begin_host(p);

	if (rc == CU_SUCCESS)
		rc = begin_buffer(p, pair->to);
	if (rc == CU_SUCCESS)
		rc = begin_buffer(p, pair->from);
	if (rc == CU_SUCCESS)
		rc = p->child.cuda.stream_create(stream, CU_STREAM_NON_BLOCKING);
	if (rc == CU_SUCCESS)
		rc = enable_access(p, pair, copy);
	put_path(p, copy, pair);
	if (rc == CU_SUCCESS)
		rc = fill_source(p, pair->from);
	if (rc == CU_SUCCESS)
		rc = copy_and_verify(p, pair, SMALL_WORDS, *stream, copy);
	if (rc == CU_SUCCESS)
		rc = copy_and_verify(p, pair, words_of(p), *stream, copy);
	if (rc == CU_SUCCESS)
		rc = measure(p, pair, *stream, copy);
	return rc;
}

static void peer_run(struct proving *p, size_t step)
{
	const struct cuda *c = &p->child.cuda;
	const struct pair pair = pair_of(p, step);
	struct proof_copy *copy = copy_of(p, &pair);
	cu_stream stream = NULL;
	cu_result rc = prove_use(p, pair.from) ? try_copies(p, &pair, &stream, copy) : CU_NO_DEVICE;

	copy->error = rc == CU_SUCCESS ? FACT_NONE(fact_str)
				       : fact_str(p->arena, cuda_error(c, rc));
	/* A part that arrived undamaged does not show that all did. */
	if (rc != CU_SUCCESS && known_is(copy->bad_bytes, 0))
		copy->bad_bytes = (struct fact_u64){ 0 };
	if (stream)
		c->stream_destroy(stream);
}

static void peer_fail_step(struct proving *p, size_t step, const char *why)
{
	const struct pair pair = pair_of(p, step);
	struct proof_copy *copy = copy_of(p, &pair);

	/* The bytes that were compared before do not show that the rest is undamaged. */
	copy->bad_bytes = (struct fact_u64){ 0 };
	copy->error = fact_str(p->arena, why);
}

const struct prover prover_peer = {
	.name = "peer",
	.groups = 1 << PROVE_CALLER,
	.order = 3,
	.steps = peer_steps,
	.run = peer_run,
	.fail_step = peer_fail_step,
};
