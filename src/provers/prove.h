/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prove.h - trials on the hardware. Every file in src/provers/ tries one thing, in steps (a GPU, a pair of them),
 * inside a child that shares the arena. If a broken GPU crashes that process, this is a result. A step that hangs or
 * crashes loses only its own result, and a new child continues with the next one.
 *
 * Nothing outlives the children: their GPU memory, mappings and registrations end with them.
 */
#ifndef PROVE_H
#define PROVE_H

#include "facts/facts.h"
#include "probes/gpu/nvml-library.h"
#include "probes/network/verbs-library.h"
#include "provers/libcuda.h"

#define PROVE_GPUS_MAX 32
#define PROVE_STEP_MS 10000	 /* a step's deadline: the slowest is a copy through a busy host */
#define PROVE_STEP_QUICK_MS 3000 /* an eighth of the bytes */
#define PROVE_INIT_MS 60000 /* cuInit and contexts: 4 s on eight GPUs, more without persistence */

/* Processes that use the GPUs. */
struct gpu_user {
	struct fact_u64 pid;
	struct fact_str name; /* comm; absent: not visible from here */
	struct fact_u64 gpu;  /* NVML's index */
};

/* The state of one GPU in the child that uses it. */
struct prove_gpu {
	cu_device device;
	cu_context context;
	cu_address buffer; /* of peer.c: made at its first copy */
	bool filled;	   /* with its own pattern */
};

enum prove_group {
	PROVE_LOOK,   /* NVML: the users of the GPUs, before any trial */
	PROVE_CALLER, /* with the caller's rights */
	PROVE_JOB,    /* without capabilities, on the first GPU only */
	PROVE_GROUPS,
};

/* The state of all provers. Each child has a copy. The parent takes over its proof, and the first child's users. */
struct proving {
	const struct node *node;
	struct arena *arena;
	struct proof_facts *proof;
	LIST(struct gpu_user) users;
	bool users_known; /* NVML was available */
	bool quick;
	enum prove_group group; /* that is being tried */

	/* The state of the running child; zeroed for the next one. */
	struct prove_child {
		struct cuda cuda;
		struct verbs verbs;
		struct prove_gpu gpus[PROVE_GPUS_MAX];
		size_t gpus_count;
		void *pattern, *back; /* of peer.c: pinned memory */
	} child;
};

/* A prover. src/provers/NAME.c defines prover_NAME. */
struct prover {
	const char *name;
	unsigned int groups;	  /* bits by enum prove_group */
	int order;		  /* among those of its group */
	unsigned int deadline_ms; /* of a step; 0: PROVE_STEP_MS, or the quick one */
	/* Returns the number of steps; called in both processes. NULL: one. */
	size_t (*steps)(const struct proving *p);
	void (*run)(struct proving *p, size_t step);
	/* Runs in the parent and records that the child of a step hung or crashed; WHY says which. */
	void (*fail_step)(struct proving *p, size_t step, const char *why);
};

struct prove_options {
	bool quick;
	bool in_use;		 /* continue if other processes use the GPUs */
	unsigned int timeout_ms; /* for all; 0: 300 s, or 60 s with --quick */
};

/* Fills node->proof. Returns 0; -EBUSY if other processes use the GPUs, or (with users->count 0) if this is not known;
 * -ENODEV without a running driver; another errno. NODE is in ARENA. */
int prove_run(struct node *node, struct arena *arena, const struct prove_options *options,
	      struct proving **proving);

/* ---- for provers ---- */

/* Returns a trial's record, with an unknown outcome; GPU and DEVICE may be NULL. An existing record of that name is
 * returned: a step begins it before it tries, so that fail_step() finds it. */
struct proof_try *prove_try(struct proving *p, const char *kind, const char *gpu,
			    const char *device, const char *what);
/* These record the outcome of TRY. The formatted text describes it. ERROR NULL or "": no error. */
void prove_works(struct proving *p, struct proof_try *try, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void prove_fails(struct proving *p, struct proof_try *try, const char *error, const char *format,
		 ...) __attribute__((format(printf, 4, 5)));
void prove_unknown(struct proving *p, struct proof_try *try, const char *error, const char *format,
		   ...) __attribute__((format(printf, 4, 5)));
/* The RDMA devices nearest to each GPU, as pairs: the steps of some provers. */
size_t prove_pairs(const struct proving *p);
bool prove_pair(const struct proving *p, size_t pair, size_t *gpu,
		const struct rdma_device **device);

/* prove-cuda.c: loads libcuda, finds the GPUs and makes their contexts. False: no trial is possible; proof->stopped has
 * the reason. */
bool prove_begin_cuda(struct proving *p);
/* An error of the GPU stays with its context, and every later call would return it again. */
bool prove_is_broken(struct proving *p);
/* Runs in a child and makes GPU's context the current one. */
bool prove_use(struct proving *p, size_t gpu);
static inline const char *prove_bdf(const struct proving *p, size_t gpu)
{
	return p->proof->gpus.items[gpu].bdf.value;
}

#endif
