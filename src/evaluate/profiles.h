/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profiles.h - the profiles: the work that a node is for. */
#ifndef PROFILES_H
#define PROFILES_H

#include "base/arena.h"
#include "base/span.h"

enum profile {
	PROFILE_BASE = 1 << 0,
	PROFILE_P2P = 1 << 1,
	PROFILE_RDMA = 1 << 2,	    /* between nodes, with or without GPUs */
	PROFILE_GPUDIRECT = 1 << 3, /* gpudirect-rdma */
	PROFILE_DEEPEP = 1 << 4,
	PROFILE_NCCL_GIN = 1 << 5, /* NCCL's device API without DeepEP or NVSHMEM */
};
#define PROFILES_ALL ((PROFILE_NCCL_GIN << 1) - 1)
/* Each of these includes the one below it. A rule names all profiles that it is for, so a report with gpudirect-rdma
 * does not have rdma too. */
#define PROFILE_GIN_ANY (PROFILE_DEEPEP | PROFILE_NCCL_GIN)
#define PROFILE_GPUDIRECT_ANY (PROFILE_GPUDIRECT | PROFILE_GIN_ANY)
#define PROFILE_RDMA_ANY (PROFILE_RDMA | PROFILE_GPUDIRECT_ANY)

/* Returns the profiles of a comma-separated list, with those that they include. 0: a part of it is not a profile, and
 * WORD is that part. */
unsigned int profiles_parse(const char *list, struct span *word);
/* "base, gpudirect-rdma" */
const char *profiles_text(struct arena *arena, unsigned int profiles);
extern const char *const profile_words[]; /* by bit */

#endif
