/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proof.c - the trials of prove on the hardware, and their results. */
#include "facts/proof.h"

#include <stdlib.h>
#include <string.h>

#include "base/text-map.h"
#include "facts/facts.h"

const char *const proof_damage_words[] = {
	[DAMAGE_NONE] = "none",	      [DAMAGE_ZEROS] = "zeros", [DAMAGE_STALE] = "stale",
	[DAMAGE_SHIFTED] = "shifted", [DAMAGE_OTHER] = "other", NULL,
};

static const struct field proof_try_fields[] = {
	F_STR(proof_try, id, NULL),    F_STR(proof_try, kind, NULL),
	F_STR(proof_try, gpu, NULL),   F_STR(proof_try, device, NULL),
	F_STR(proof_try, what, NULL),  F_BOOL(proof_try, works, NULL),
	F_STR(proof_try, error, NULL), F_STR(proof_try, seen, NULL),
};
static const struct desc proof_try_desc = DESC(proof_try, .ordered = true);

static const struct field proof_copy_fields[] = {
	F_STR(proof_copy, id, NULL),
	F_STR(proof_copy, from, NULL),
	F_STR(proof_copy, to, NULL),
	F_BOOL(proof_copy, access, NULL),
	F_STR(proof_copy, path, NULL),
	F_U64(proof_copy, bytes, NULL),
	F_U64(proof_copy, bad_bytes, NULL),
	F_U64(proof_copy, first_bad_byte, NULL),
	F_ENUM(proof_copy, damage, proof_damage_words, NULL),
	F_U64(proof_copy, mb_per_s, NULL),
	F_U64(proof_copy, wanted_mb_per_s, NULL),
	F_STR(proof_copy, error, NULL),
};
static const struct desc proof_copy_desc = DESC(proof_copy, .ordered = true);

static const struct field proof_gpu_fields[] = {
	F_STR(proof_gpu, bdf, NULL),
	F_U64(proof_gpu, nvlinks, NULL),
	F_U64(proof_gpu, nvlink_mb_per_s, NULL),
	F_STRS(proof_gpu, nvlink_peers, NULL),
};
static const struct desc proof_gpu_desc = DESC(proof_gpu, .ordered = true);

static const struct field proof_facts_fields[] = {
	F_STR(proof_facts, boot_id, NULL),
	F_STR(proof_facts, driver, NULL),
	F_U64(proof_facts, time_s, NULL),
	F_U64(proof_facts, duration_ms, NULL),
	F_BOOL(proof_facts, quick, NULL),
	F_U64(proof_facts, uid, NULL),
	F_BOOL(proof_facts, sys_admin, NULL),
	F_U64(proof_facts, cuda_version, NULL),
	F_STR(proof_facts, stopped, NULL),
	F_LIST(proof_facts, gpus, proof_gpu_desc, NULL),
	F_LIST(proof_facts, tries, proof_try_desc, NULL),
	F_LIST(proof_facts, copies, proof_copy_desc, NULL),
};
const struct desc proof_facts_desc = DESC(proof_facts, .optional = true);

/* ---- evidence about the configuration ---- */

/* Combines all trials of KIND: one that failed decides. */
static enum proof_word word_of_tries(const struct node *node, const char *kind, struct arena *arena,
				     const char **seen)
{
	enum proof_word word = PROOF_SILENT;

	for_each(t, &node->proof.tries) {
		if (!str_is(t->kind, kind) || !is_known(t->works) || word == PROOF_BAD)
			continue;
		word = t->works.value ? PROOF_GOOD : PROOF_BAD;
		*seen = is_known(t->what)
				? arena_printf(arena, "%s: %s", t->what.value, t->seen.value)
				: t->seen.value;
	}
	return word;
}

/* The evidence about a path from DEVICE (or any) to GPU memory. By DMA-BUF or by address: one is enough. */
static enum proof_word word_of_registration(const struct node *node, const char *device,
					    const char **seen)
{
	enum proof_word word = PROOF_SILENT;

	for_each(t, &node->proof.tries) {
		if ((!str_is(t->kind, PROOF_DMABUF_REGISTRATION) &&
		     !str_is(t->kind, PROOF_PEERMEM_REGISTRATION)) ||
		    !is_known(t->works) || (device && !str_is(t->device, device)))
			continue;
		if (t->works.value || word == PROOF_SILENT)
			*seen = t->seen.value;
		word = t->works.value || word == PROOF_GOOD ? PROOF_GOOD : PROOF_BAD;
	}
	return word;
}

static bool is_nvlink(const struct proof_copy *copy)
{
	return str_is(copy->path, "NVLink");
}

/* Only copies over PCI Express are evidence about the path between PCI functions; NVLink bypasses it. */
static enum proof_word word_of_copies(const struct node *node, struct arena *arena,
				      const char **seen)
{
	size_t good = 0;

	for_each(c, &node->proof.copies) {
		if (!is_known(c->path) || is_nvlink(c) || !known_is(c->access, true) ||
		    !is_known(c->bad_bytes))
			continue;
		if (c->bad_bytes.value) {
			*seen = arena_printf(arena, "a copy from %s to %s arrived damaged (%s)",
					     c->from.value, c->to.value,
					     proof_damage_words[c->damage.value]);
			return PROOF_BAD;
		}
		good += !is_known(c->error);
	}
	/* Copies between GPUs do not show that NICs can reach GPU memory. */
	if (!good || node->rdma.devices.count)
		return PROOF_SILENT;
	*seen = arena_printf(arena, "%zu cop%s between GPUs over PCI Express arrived undamaged",
			     good, good == 1 ? "y" : "ies");
	return PROOF_GOOD;
}

enum proof_word proof_of_trial(const struct node *node, enum proof_trial trial, const char *subject,
			       struct arena *arena, const char **seen)
{
	if (node->proof.state != FACT_KNOWN)
		return PROOF_SILENT;
	switch (trial) {
	case TRIAL_DOORBELL_AS_JOB:
		return word_of_tries(node, PROOF_DOORBELL_JOB, arena, seen);
	case TRIAL_STREAM_MEMORY_OPERATIONS:
		return word_of_tries(node, PROOF_STREAM_V1, arena, seen);
	case TRIAL_REGISTRATION:
		return word_of_registration(node, NULL, seen);
	case TRIAL_REGISTRATION_WITH_NIC:
		return word_of_registration(node, subject, seen);
	case TRIAL_PEER_COPIES:
		return word_of_copies(node, arena, seen);
	case TRIAL_NONE:
		break;
	}
	return PROOF_SILENT;
}

/* ---- speed ---- */

/* The kind of path that it took; NULL: not known. */
static const char *kind_of(const struct proof_copy *copy, struct arena *arena)
{
	return is_known(copy->path) && is_known(copy->access)
		       ? arena_printf(arena, "%s\n%d", copy->path.value, copy->access.value)
		       : NULL;
}

struct speed {
	const char *kind;
	uint64_t mb_per_s;
};

static int compare_speeds(const void *a, const void *b)
{
	const struct speed *x = a, *y = b;
	int order = strcmp(x->kind, y->kind);

	if (order)
		return order;
	return x->mb_per_s < y->mb_per_s ? -1 : x->mb_per_s > y->mb_per_s;
}

struct proof_speeds proof_speeds_of(const struct proof_facts *proof, struct arena *arena)
{
	struct proof_speeds speeds = { arena, text_map_new(arena, proof->copies.count) };
	struct speed *all = arena_alloc(arena, proof->copies.count * sizeof(*all));
	size_t n = 0, end;

	for_each(c, &proof->copies) {
		all[n].kind = is_known(c->mb_per_s) ? kind_of(c, arena) : NULL;
		all[n].mb_per_s = c->mb_per_s.value;
		n += all[n].kind != NULL;
	}
	qsort(all, n, sizeof(*all), compare_speeds);
	for (size_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && strcmp(all[end].kind, all[i].kind) == 0;)
			end++;
		/* The median. */
		*text_map_at(speeds.usual, span_of(all[i].kind)) = &all[i + (end - i) / 2].mb_per_s;
	}
	return speeds;
}

bool proof_copy_is_slow(const struct proof_speeds *speeds, const struct proof_copy *copy,
			uint64_t *usual_mb_per_s)
{
	const char *kind = kind_of(copy, speeds->arena);
	const uint64_t *usual = kind ? text_map_get(speeds->usual, span_of(kind)) : NULL;

	if (!is_known(copy->mb_per_s) || !is_known(copy->access))
		return false;
	*usual_mb_per_s = usual ? *usual : 0;
	if (is_known(copy->wanted_mb_per_s) && copy->wanted_mb_per_s.value > *usual_mb_per_s)
		*usual_mb_per_s = copy->wanted_mb_per_s.value;
	return copy->mb_per_s.value < *usual_mb_per_s &&
	       copy->mb_per_s.value < *usual_mb_per_s - copy->mb_per_s.value;
}
