/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job-env.h - the variables of a job that tell NCCL and NVSHMEM about NICs. */
#ifndef JOB_ENV_H
#define JOB_ENV_H

#include "facts/facts.h"
#include "parse/hca.h"
#include "query/endpoints.h"

struct job_value {
	const char *name;
	const char *value; /* NULL: not set */
	const char *fact;  /* the path of the fact that says so */
};

/* A variable of the process asked about. An empty one counts as not set. */
struct job_value job_env(struct arena *arena, const struct node *node, const char *name);
/* Returns the value of a variable of NCCL: from the environment or nccl.conf. */
struct job_value job_nccl(struct arena *arena, const struct node *node, const char *name);
/* Returns the value of a variable of NVSHMEM. From NVSHMEM_READS_CONF on nvshmem.conf overrides the environment. The
 * release must be known: call skip_without_nvshmem_variables() first. */
#define NVSHMEM_READS_CONF "3.6.5"
struct job_value job_nvshmem(struct arena *arena, const struct node *node, const char *name);
/* Returns true if the NVSHMEM that was found reads nvshmem.conf. */
bool job_nvshmem_reads_conf(const struct node *node);
/* "NCCL_IB_HCA=mlx5_0", or where it comes from a file "NCCL_IB_HCA=mlx5_0 of /etc/nccl.conf". */
const char *job_value_text(struct arena *arena, const struct node *node, const struct job_value *v);
/* Parses like strtol() in NCCL, which ignores what follows the number. */
bool job_number(const struct job_value *v, long *number);
/* Set, and not beginning with 0, n or f: as NVSHMEM reads a boolean (src/include/bootstrap_host_transport/
 * env_defs_internal.h, nvshmemi_getenv_bool). */
bool job_is_on(const struct job_value *v);

/* The list that chooses NICs for NCCL or, with NVSHMEM, for NVSHMEM; all of them where none is set. */
struct hca_list job_nic_list(struct arena *arena, const struct node *node, bool nvshmem);

/* The fastest NICs of one link layer in the form of VARIABLE: "=mlx5_0,mlx5_3" for NCCL, "mlx5_0:1,mlx5_3:1" for the
 * others; NULL: there are none. */
const char *job_nic_example(struct arena *arena, const struct node *node,
			    const struct endpoints *endpoints, const char *variable);

#endif
