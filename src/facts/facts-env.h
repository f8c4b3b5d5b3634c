/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-env.h - the process that was checked, or this one. Part of facts.h, which includes it. */
#ifndef FACTS_ENV_H
#define FACTS_ENV_H

#include "facts/fact.h"

/* ---- env: the process that was checked ---- */

struct env_variable {
	struct fact_str name;  /* of the variable */
	struct fact_str value; /* of the variable */
	/* File that gives the variable to login sessions; absent: no file, or another value than the process has. */
	struct fact_str file;
	struct fact_u64 line; /* in that file */
};

/* A line of a file that replaces environment variables. NCCL has $NCCL_CONF_FILE or else ~/.nccl.conf, which is named
 * so, and /etc/nccl.conf: the environment overrides both, and the first file the second. NVSHMEM has /etc/nvshmem.conf,
 * ~/.nvshmem.conf and $NVSHMEM_CONF_FILE: each overrides the one before, and all override the environment. ORDERED */
struct env_setting {
	struct fact_str name;  /* the text before the "=", with its blanks */
	struct fact_str value; /* as the file has it */
	struct fact_str file;  /* that holds it */
	struct fact_u64 line;  /* in that file */
};

/* A user's access to a folder or, if it does not exist, to the nearest folder above it that does. */
enum folder_access {
	FOLDER_WRITABLE,
	FOLDER_FULL,
	FOLDER_REFUSED,
	FOLDER_READ_ONLY,
	FOLDER_NO_FOLDER
};
extern const char *const folder_access_words[];

enum seccomp_mode { SECCOMP_DISABLED, SECCOMP_STRICT, SECCOMP_FILTER };
extern const char *const seccomp_mode_words[];

struct env_facts {
	struct fact_u64 pid; /* absent: this process */
	struct fact_u64 uid; /* effective */
	/* The user who logged in, before any su or sudo; absent: no login, as of a service. */
	struct fact_u64 login_uid;
	struct fact_u64 capabilities; /* effective; hexadecimal */
	struct fact_u64 bounding;     /* capabilities that it can ever get; hexadecimal */
	struct fact_enum seccomp;     /* enum seccomp_mode */
	struct fact_str cpus;	      /* processors that it may run on: 0-31,64-95 */
	struct fact_bool initial_user_namespace; /* and in no other group */
	/* Owner of its control group: kubernetes, docker, ...; absent: no container runtime, or a control group
	 * namespace hides it. */
	struct fact_str container;
	LIST(struct env_variable) variables; /* NCCL_*, NVSHMEM_*, ... */
	LIST(const char *) nccl; /* files of libnccl that it has mapped; absent: this process */
	LIST(struct env_setting) nccl_conf; /* absent: no such file */
	/* absent: no such file. Releases before 3.6.5 read none */
	LIST(struct env_setting) nvshmem_conf;
	/* File with the PCI topology for NCCL: that of NCCL_TOPO_FILE, else the one that nvidia-topologyd writes in a
	 * virtual machine. Absent: the file does not exist. */
	struct fact_str nccl_topology;
	/* enum folder_access: of the folder where DeepEP 2 keeps the kernels that it compiles, EP_JIT_CACHE_DIR or else
	 * ~/.deep_ep. Known only on a live host, for a process of the same user. */
	struct fact_enum deepep_cache;
};

#endif
