/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvml-ask.c - calls NVML. The driver opens several GPUs faster at once, so each has a thread for that. After that the
 * GPUs are asked one after the other: with two H200 and driver 580.159.04 the error counters of their links take 40 ms
 * so, and 60 ms from two threads. What concerns the machine, and no GPU, is asked beside. Where no thread can be had,
 * the work is done without.
 */
#include "probes/gpu/nvml-ask.h"

#include <pthread.h>
#include <string.h>

#include "probes/gpu/nvml-ask-private.h"

#define GPUS_MAX 64
/* 36 links, 63 peers and 64 MIG devices take less than half of it. */
#define GPU_ARENA_BYTES (128u << 10)
/* Stacks count in what the confined child may have (CONFINE_MEMORY). */
#define STACK_BYTES (2u << 20)
#define NODE_WORDS 16 /* 1024 NUMA nodes, the most that Linux has */
#define WORD_BITS (8 * sizeof(unsigned long))

/* ---- shared with nvml-gpu.c and nvml-links.c ---- */

static bool has_failure(const struct asking *a, const char *function)
{
	for_each(f, &a->failures)
		if (str_is(f->function, function))
			return true;
	return false;
}

void asking_note(struct asking *a, const char *function, const char *why)
{
	struct nvml_failure *failure;

	if (has_failure(a, function))
		return;
	failure = LIST_ADD(a->arena, &a->failures);
	failure->function = fact_str(a->arena, function);
	failure->gpu = is_known(a->gpu.bdf) ? a->gpu.bdf : FACT_NONE(fact_str);
	failure->error = fact_str(a->arena, why);
}

static void add_failure(struct asking *a, const char *function, int error)
{
	asking_note(a, function,
		    error == NVML_NO_FUNCTION
			    ? "this release of the library does not have the function"
			    : arena_printf(a->arena, "%s (%d)", nvml_error_word(error), error));
}

enum fact_state asking_result(struct asking *a, const char *function, int error)
{
	if (error == NVML_DONE)
		return FACT_KNOWN;
	if (error == NVML_UNSUPPORTED)
		return FACT_ABSENT;
	add_failure(a, function, error);
	return FACT_UNKNOWN;
}

struct fact_u64 asking_number(enum fact_state state, uint64_t value)
{
	return state == FACT_KNOWN ? fact_u64(value) : (struct fact_u64){ .state = state };
}

struct fact_bool asking_flag(enum fact_state state, int value)
{
	return state == FACT_KNOWN ? fact_bool(value != 0) : (struct fact_bool){ .state = state };
}

struct fact_enum asking_word(enum fact_state state, int value, const char *const *words)
{
	int count = 0;

	while (words[count])
		count++;
	if (state != FACT_KNOWN)
		return (struct fact_enum){ .state = state };
	return value >= 0 && value < count ? fact_enum(value) : (struct fact_enum){ 0 };
}

struct fact_str asking_address(struct arena *arena, const struct nvml_pci *pci)
{
	return fact_str(
		arena, arena_printf(arena, "%04x:%02x:%02x.0", pci->domain, pci->bus, pci->device));
}

/* ---- threads ---- */

struct job {
	void (*work)(void *user);
	void *user;
	pthread_t thread;
	bool has_thread;
};

static void *run_job(void *user)
{
	const struct job *job = user;

	job->work(job->user);
	return NULL;
}

static void start_job(struct job *job, void (*work)(void *user), void *user)
{
	pthread_attr_t attributes;

	*job = (struct job){ .work = work, .user = user };
	if (pthread_attr_init(&attributes))
		return;
	job->has_thread = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
			  pthread_create(&job->thread, &attributes, run_job, job) == 0;
	pthread_attr_destroy(&attributes);
}

static void end_job(struct job *job)
{
	if (job->has_thread)
		pthread_join(job->thread, NULL);
	else
		job->work(job->user);
}

/* ---- one GPU ---- */

/* The driver initialises a GPU in the first of these calls. */
static void open_gpu(void *gpu)
{
	struct asking *a = gpu;
	struct nvml_pci pci = { 0 };
	unsigned int index = (unsigned int)a->gpu.index.value;
	int error = TRY(a, nvmlDeviceGetHandleByIndex_v2, index, &a->handle);

	if (asking_result(a, "nvmlDeviceGetHandleByIndex_v2", error) == FACT_KNOWN &&
	    ASK(a, nvmlDeviceGetPciInfo_v3, &pci) == FACT_KNOWN)
		a->gpu.bdf = asking_address(a->arena, &pci);
}

static void open_each(struct asking *gpus, size_t count)
{
	struct job jobs[GPUS_MAX];

	for (size_t i = 0; i < count; i++)
		start_job(&jobs[i], open_gpu, &gpus[i]);
	for (size_t i = 0; i < count; i++)
		end_job(&jobs[i]);
}

static void ask_gpu(struct asking *a)
{
	asking_gpu(a);
	asking_links(a);
	asking_peers(a);
}

/* ---- where the GPUs are ---- */

/* A thread of its own asks for the topology of the machine. It keeps the answers only: the facts of the GPUs are being
 * written meanwhile. */
struct places {
	const struct asking *gpus;
	size_t count;
	struct place {
		int affinity_error, node_error;
		unsigned long affinity[NODE_WORDS];
		unsigned int node;
		int level_errors[GPUS_MAX], levels[GPUS_MAX]; /* to those before it */
	} * of;
};

static void ask_places(void *user)
{
	struct places *places = user;

	for (size_t i = 0; i < places->count; i++) {
		const struct asking *a = &places->gpus[i];
		struct place *place = &places->of[i];

		place->affinity_error = TRY(a, nvmlDeviceGetMemoryAffinity, a->handle, NODE_WORDS,
					    place->affinity, NVML_AFFINITY_OF_NODE);
		place->node_error = TRY(a, nvmlDeviceGetNumaNodeId, a->handle, &place->node);
		for (size_t k = 0; k < i; k++)
			place->level_errors[k] = TRY(a, nvmlDeviceGetTopologyCommonAncestor,
						     a->handle, places->gpus[k].handle,
						     &place->levels[k]);
	}
}

static bool is_near(const struct place *place, size_t node)
{
	return node < NODE_WORDS * WORD_BITS &&
	       place->affinity[node / WORD_BITS] >> node % WORD_BITS & 1;
}

/* "0,2-3"; absent: none. */
static struct fact_str node_list(struct arena *arena, const struct place *place)
{
	const char *text = "";

	for (size_t node = 0; node < NODE_WORDS * WORD_BITS; node++) {
		size_t last = node;

		if (!is_near(place, node))
			continue;
		while (is_near(place, last + 1))
			last++;
		text = arena_printf(arena, last > node ? "%s%s%zu-%zu" : "%s%s%zu", text,
				    *text ? "," : "", node, last);
		node = last;
	}
	return *text ? fact_str(arena, text) : FACT_NONE(fact_str);
}

/* The levels are those of nvmlGpuTopologyLevel_t: 0, 10 ... 50. */
static struct fact_enum level_of(struct asking *a, int error, int level)
{
	enum fact_state state = asking_result(a, "nvmlDeviceGetTopologyCommonAncestor", error);

	return asking_word(state, level % 10 ? -1 : level / 10, nvml_level_words);
}

static void set_places(struct asking *gpus, const struct places *places)
{
	for (size_t i = 0; i < places->count; i++) {
		struct asking *a = &gpus[i];
		const struct place *place = &places->of[i];
		enum fact_state state = asking_result(a, "nvmlDeviceGetMemoryAffinity",
						      place->affinity_error);

		a->gpu.numa_affinity.state = state;
		if (state == FACT_KNOWN)
			a->gpu.numa_affinity = node_list(a->arena, place);
		state = asking_result(a, "nvmlDeviceGetNumaNodeId", place->node_error);
		a->gpu.numa_node = asking_number(state, place->node);
		/* The peers of a GPU are in the order of the GPUs, without itself. */
		for (size_t k = 0; k < i; k++) {
			a->gpu.peers.items[k].level = level_of(a, place->level_errors[k],
							       place->levels[k]);
			gpus[k].gpu.peers.items[i - 1].level = a->gpu.peers.items[k].level;
		}
	}
}

static void ask_gpus(struct asking *gpus, size_t count, struct arena *arena)
{
	struct places places = { gpus, count, arena_alloc(arena, count * sizeof(struct place)) };
	struct job beside;

	start_job(&beside, ask_places, &places);
	for (size_t i = 0; i < count; i++)
		ask_gpu(&gpus[i]);
	end_job(&beside);
	set_places(gpus, &places);
}

/* ---- the system ---- */

/* Older drivers do not say how several GPUs are protected. */
static void ask_confidential(struct asking *a, struct nvml_cc *cc)
{
	struct nvml_cc_settings settings = { .version = NVML_VERSION_OF(settings, 1) };
	int error = TRY(a, nvmlSystemGetConfComputeSettings, &settings);
	enum fact_state detail = asking_result(a, "nvmlSystemGetConfComputeSettings", error);
	enum fact_state state = detail;

	if (error == NVML_NO_FUNCTION || error == NVML_OTHER_VERSION) {
		error = TRY(a, nvmlSystemGetConfComputeState, &settings.state);
		state = asking_result(a, "nvmlSystemGetConfComputeState", error);
	}
	cc->enabled = asking_flag(state, (int)settings.state.feature);
	cc->dev_tools = asking_flag(state, (int)settings.state.dev_tools);
	cc->environment = asking_word(state, (int)settings.state.environment,
				      nvml_cc_environment_words);
	cc->multi_gpu = asking_word(detail, (int)settings.multi_gpu, nvml_cc_multi_gpu_words);
}

static int compare_gpus(const void *a, const void *b)
{
	const struct nvml_gpu *x = a, *y = b;

	return strcmp(x->bdf.value, y->bdf.value);
}

static int compare_peers(const void *a, const void *b)
{
	const struct nvml_peer *x = a, *y = b;

	return strcmp(x->bdf.value, y->bdf.value);
}

static void take_failures(struct nvml_facts *facts, const struct asking *a, struct arena *arena)
{
	for_each(failure, &a->failures)
		*LIST_ADD(arena, &facts->failures) = *failure;
}

static void take_gpus(struct nvml_facts *facts, struct asking *gpus, size_t count,
		      struct arena *arena)
{
	for (size_t i = 0; i < count; i++) {
		fact_list_sort(&gpus[i].gpu.peers, sizeof(struct nvml_peer), compare_peers);
		*LIST_ADD(arena, &facts->gpus) = gpus[i].gpu;
		take_failures(facts, &gpus[i], arena);
	}
	fact_list_sort(&facts->gpus, sizeof(struct nvml_gpu), compare_gpus);
}

/* Returns how many GPUs the driver shows; they are moved to the front. */
static size_t find_gpus(struct asking *gpus, size_t count, struct nvml_facts *facts,
			struct arena *arena)
{
	size_t shown = 0;

	open_each(gpus, count);
	for (size_t i = 0; i < count; i++)
		if (is_known(gpus[i].gpu.bdf))
			gpus[shown++] = gpus[i];
		else
			take_failures(facts, &gpus[i], arena);
	for (size_t i = 0; i < shown; i++)
		gpus[i].count = shown;
	return shown;
}

const char *nvml_ask(struct nvml_facts *facts, struct arena *arena, bool serials)
{
	struct nvml_library lib;
	struct asking system = { .lib = &lib, .arena = arena }, *gpus;
	unsigned int count = 0;
	size_t shown;
	int error;

	if (nvml_library_open(&lib, facts->library.value))
		return "the dynamic loader does not load libnvidia-ml.so.1";
	error = TRY(&system, nvmlInit_v2);
	if (error != NVML_DONE)
		return arena_printf(arena, "nvmlInit_v2: %s (%d)", nvml_error_word(error), error);
	error = TRY(&system, nvmlDeviceGetCount_v2, &count);
	if (error != NVML_DONE)
		return arena_printf(arena, "nvmlDeviceGetCount_v2: %s (%d)", nvml_error_word(error),
				    error);
	count = count < GPUS_MAX ? count : GPUS_MAX;
	facts->gpus.state = facts->failures.state = FACT_KNOWN;
	gpus = arena_alloc(arena, count * sizeof(*gpus));
	for (unsigned int i = 0; i < count; i++)
		gpus[i] = (struct asking){ .lib = &lib,
					   .arena = arena_part(arena, GPU_ARENA_BYTES),
					   .all = gpus,
					   .serials = serials,
					   .gpu.index = fact_u64(i) };
	shown = find_gpus(gpus, count, facts, arena);
	ask_gpus(gpus, shown, arena);
	ask_confidential(&system, &facts->cc);
	take_gpus(facts, gpus, shown, arena);
	take_failures(facts, &system, arena);
	return NULL;
}
