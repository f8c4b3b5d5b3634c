/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proof.h - the trials of prove on the hardware, and their results. Part of facts.h, which includes it: rules read
 * it as they read any facts. No probe fills it; it comes from prove.h, or from the document that an earlier run
 * wrote (doctor --with).
 */
#ifndef PROOF_H
#define PROOF_H

#include "facts/fact.h"

#define PROOF_FORMAT "nvnodecheck-proof" /* of the document that prove writes */

struct node;

/*
 * The kinds of trial. A job is a process without capabilities, as schedulers and container engines
 * start it; the caller is the process that runs prove, with its own rights.
 */
#define PROOF_DOORBELL_CALLER "doorbell-caller" /* a page that is not memory, mapped for the GPU */
#define PROOF_DOORBELL_JOB "doorbell-job"
#define PROOF_UAR_CALLER "uar-caller" /* a doorbell page of an mlx5 NIC, mapped for the GPU */
#define PROOF_UAR_JOB "uar-job"
#define PROOF_STREAM_V1 "stream-v1"	    /* stream memory operations, first version */
#define PROOF_STREAM_V2 "stream-v2"	    /* and the version of CUDA 11.7 */
#define PROOF_DMABUF_EXPORT "dmabuf-export" /* GPU memory as a DMA-BUF */
#define PROOF_DMABUF_REGISTRATION "dmabuf-registration"	  /* and that DMA-BUF with the NIC */
#define PROOF_PEERMEM_REGISTRATION "peermem-registration" /* GPU memory by its address */
#define PROOF_RDMA_WRITE "rdma-write" /* the NIC writes into GPU memory, data verified */
#define PROOF_GDRCOPY "gdrcopy"	      /* the CPU writes through gdrdrv, data verified */

/* The result of one trial. */
struct proof_try {
	struct fact_str id;	/* "stream-v1 0000:1b:00.0 write32" */
	struct fact_str kind;	/* one of the words above */
	struct fact_str gpu;	/* BDF */
	struct fact_str device; /* RDMA device; absent: none is involved */
	struct fact_str what;	/* which of several operations: write32; absent: there is one */
	struct fact_bool works; /* unknown: not tried, or without evidence */
	struct fact_str error;	/* CUDA_ERROR_NOT_PERMITTED (800), EOPNOTSUPP; absent: none */
	struct fact_str seen;	/* the result, for people */
};

/* The wrong content of a copy's destination. */
enum proof_damage {
	DAMAGE_NONE,
	DAMAGE_ZEROS,
	DAMAGE_STALE,	/* the previous content */
	DAMAGE_SHIFTED, /* the right data at the wrong place */
	DAMAGE_OTHER,
};
extern const char *const proof_damage_words[];

/* A copy from one GPU's memory to another's, read back and compared. */
struct proof_copy {
	struct fact_str id;   /* "0000:1b:00.0 0000:43:00.0" */
	struct fact_str from; /* BDF of the source GPU */
	struct fact_str to;   /* BDF of the destination GPU */
	/* access to each other's memory is possible; otherwise through the host */
	struct fact_bool access;
	struct fact_str path;		/* NVLink, or as topology has it: PIX ... SYS */
	struct fact_u64 bytes;		/* that were compared */
	struct fact_u64 bad_bytes;	/* unknown: the copy did not finish */
	struct fact_u64 first_bad_byte; /* absent: none */
	struct fact_enum damage;	/* enum proof_damage: the kind of most of the bad bytes */
	struct fact_u64 mb_per_s;	/* 10^6 bytes; one direction */
	/* bandwidth of the links; absent: not known for this path */
	struct fact_u64 wanted_mb_per_s;
	struct fact_str error; /* why it did not finish; absent: it did */
};

struct proof_gpu {
	struct fact_str bdf;		 /* 0000:1b:00.0 */
	struct fact_u64 nvlinks;	 /* that are up; absent: it has none */
	struct fact_u64 nvlink_mb_per_s; /* of one of them, one direction */
	LIST(const char *) nvlink_peers; /* BDFs that it reaches through them */
};

/* Trials that prove made on the hardware. Only doctor --with has them; no probe reads them. */
struct proof_facts {
	enum fact_state state;	      /* unknown: no proof was given */
	struct fact_str boot_id;      /* of the boot in which it was made */
	struct fact_str driver;	      /* NVIDIA's, as in driver.version */
	struct fact_u64 time_s;	      /* Unix time of its end */
	struct fact_u64 duration_ms;  /* of all trials together */
	struct fact_bool quick;	      /* it was prove --quick */
	struct fact_u64 uid;	      /* the caller's, effective */
	struct fact_bool sys_admin;   /* the caller had CAP_SYS_ADMIN */
	struct fact_u64 cuda_version; /* 12080 is CUDA 12.8; absent: no libcuda */
	struct fact_str stopped;      /* why it is not complete; absent: it is */
	LIST(struct proof_gpu) gpus;  /* that CUDA shows */
	LIST(struct proof_try) tries; /* trials, in their order */
	LIST(struct proof_copy) copies;
};

extern const struct desc proof_facts_desc;

/* The trial that concerns a rule's subject. */
enum proof_trial {
	TRIAL_NONE,
	TRIAL_DOORBELL_AS_JOB,
	TRIAL_STREAM_MEMORY_OPERATIONS,
	TRIAL_REGISTRATION,	     /* GPU memory with any NIC */
	TRIAL_REGISTRATION_WITH_NIC, /* with the one that the subject names */
	TRIAL_PEER_COPIES,
};

/* The effect of a proof on the verdict of a rule about the configuration. */
enum proof_word {
	PROOF_SILENT, /* nothing was tried that speaks of it */
	PROOF_GOOD,   /* what the rule fears did not happen */
	PROOF_BAD,    /* it did */
};

/* SUBJECT: of the rule's answer, or NULL. SEEN is set to one sentence, in ARENA, unless silent. */
enum proof_word proof_of_trial(const struct node *node, enum proof_trial trial, const char *subject,
			       struct arena *arena, const char **seen);

/* What copies usually reach, by the kind of path that they took. */
struct proof_speeds {
	struct arena *arena;
	struct text_map *usual;
};
struct proof_speeds proof_speeds_of(const struct proof_facts *proof, struct arena *arena);
/* Half of what the links carry, or half of what the others of its kind reach: less is too slow. */
bool proof_copy_is_slow(const struct proof_speeds *speeds, const struct proof_copy *copy,
			uint64_t *usual_mb_per_s);

#endif
