/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gres.h - Slurm's gres.conf(5), the nodes of slurm.conf(5), which have the same form, and the lists of names in
 * them. */
#ifndef PARSE_GRES_H
#define PARSE_GRES_H

#include <stdbool.h>

#include "base/span.h"

struct gres_reader {
	struct span rest;
	size_t line;
};

/* A line: KEY=VALUE words, keys in any case. An empty value: the line does not have the key. */
struct gres_line {
	struct span nodes; /* NodeName= */
	struct span name;
	struct span type;
	struct span file; /* File=, Files= or MultipleFiles= */
	bool multiple;	  /* it is MultipleFiles=: all files are one device */
	struct span count;
	struct span cores; /* Cores= or CPUs= */
	struct span autodetect;
	struct span include; /* Include FILE */
	struct span gres;    /* Gres=gpu:h100:8,shard:32 of slurm.conf */
	struct span memory;  /* RealMemory=, MiB, of slurm.conf */
	size_t line;	     /* from 1: its first */
};

/* Gets the number of GPUs that a value of Gres= gives the node. Returns false if it names no GPU or is not
 * understood. */
bool gres_count_gpus(struct span gres, uint64_t *count);

/* Cuts the next GPUs off such a value: "gpu", "gpu:8", "gpu:h100:8". An empty TYPE: none. COUNT is UINT64_MAX if it is
 * not understood. */
bool gres_next_gpu(struct span *gres, struct span *type, uint64_t *count);

bool gres_next(struct gres_reader *reader, struct gres_line *out);

/* "/dev/nvidia[0-3,7],/dev/x": calls FOUND with each name until it returns false. Returns 0; -EINVAL if a list is not
 * understood, such as one name with two pairs of brackets; -E2BIG after MAX names. */
#define HOSTLIST_NAME_MAX 256
typedef bool hostlist_found(void *user, const char *name);
int hostlist_expand(struct span list, size_t max, hostlist_found *found, void *user);

#endif
