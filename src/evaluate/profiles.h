/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profiles.h - the profiles: the work that a node is for. */
#ifndef PROFILES_H
#define PROFILES_H

#include "base/arena.h"
#include "base/span.h"

enum profile {
	PROFILE_BASE = 1 << 0,
	PROFILE_P2P = 1 << 1,
	PROFILE_RDMA = 1 << 2,	 /* gpudirect-rdma */
	PROFILE_DEEPEP = 1 << 3, /* includes gpudirect-rdma */
	PROFILE_NCCL_GIN =
		1 << 4, /* NCCL's device API without DeepEP or NVSHMEM; includes gpudirect-rdma */
};
#define PROFILES_ALL ((PROFILE_NCCL_GIN << 1) - 1)
#define PROFILE_GIN_ANY (PROFILE_DEEPEP | PROFILE_NCCL_GIN)
#define PROFILE_RDMA_ANY (PROFILE_RDMA | PROFILE_GIN_ANY)

/* Returns the profiles of a comma-separated list, with those that they include. 0: a part of it is not a profile, and
 * WORD is that part. */
unsigned int profiles_parse(const char *list, struct span *word);
/* "base, gpudirect-rdma" */
const char *profiles_text(struct arena *arena, unsigned int profiles);
extern const char *const profile_words[]; /* by bit */

#endif
