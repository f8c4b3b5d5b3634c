/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-libraries.h - the libraries that jobs open by a name. Part of facts.h, which includes it. */
#ifndef FACTS_LIBRARIES_H
#define FACTS_LIBRARIES_H

#include "facts/fact.h"

/* ---- libraries: the files that the dynamic loader would give a program, and the reasons why they would not load
 * ---- */

/* A symbol version that a library needs and another lacks. */
struct missing_version {
	struct fact_str version;   /* GLIBC_2.34 */
	struct fact_str library;   /* path of the library that should define it */
	struct fact_str needed_by; /* path of the library that needs it */
};

/* A library that programs link, or open at run time; or a program of such a library. */
struct opened_library {
	struct fact_str path; /* as the dynamic loader finds it */
	/* Purpose: verbs, verbs-provider, gdrcopy, nccl, nccl-net, nccl-tuner, nvshmem, nvshmem-ibgda, nvshmem-
	 * transport, nvshmem-bootstrap, libfabric, ucx, ucx-cuda, ucx-gdrcopy, ucx-verbs. */
	struct fact_str use;
	/* The variable that names it, such as NCCL_NET_PLUGIN, or PATH of a program; absent: it is opened by default. */
	struct fact_str variable;
	/* SONAMEs that it, or a library that it needs, needs and the dynamic loader does not find. Unknown: a
	 * library could not be read. */
	LIST(const char *) missing_libraries;
	LIST(struct missing_version) missing_versions; /* ORDERED */
	/* Files with the names of missing_libraries in folders below /opt and /usr/local that the dynamic loader does not
	 * search. */
	LIST(const char *) elsewhere;
};

struct library_copy {
	struct fact_str path;	 /* as the dynamic loader finds it */
	struct fact_str version; /* absent: not in the name of its file */
};

/* A SONAME of which the dynamic loader has several files. */
struct library_copies {
	struct fact_str name;		  /* libibverbs.so.1 */
	LIST(struct library_copy) copies; /* ORDERED: the first one counts */
};

/* A word of /etc/ld.so.preload. ORDERED: as the dynamic loader opens them. */
struct preloaded_library {
	struct fact_str name;  /* a path, or a name that the loader looks for */
	struct fact_bool here; /* the loader finds it */
	struct fact_str file;  /* that names it */
	struct fact_u64 line;  /* in that file */
};

/* The file of a provider of libibverbs: libmlx5-rdmav57.so. */
struct verbs_provider_file {
	struct fact_str path; /* of the library */
	struct fact_str name; /* mlx5 */
	struct fact_u64 abi;  /* 57 */
};

/* An installation of UCX whose transports are modules in files. */
struct ucx_copy {
	struct fact_str path;	/* folder of its modules: /usr/lib64/ucx */
	struct fact_bool verbs; /* it has the module for RDMA devices, libuct_ib */
};

struct libraries_facts {
	LIST(struct opened_library) opened;	 /* that are there */
	LIST(struct library_copies) copies;	 /* of those with several files */
	LIST(struct preloaded_library) preloads; /* absent: no /etc/ld.so.preload */
	/* Path of the libibverbs that programs get; absent: none. */
	struct fact_str verbs;
	/* Number of its private interface, which its providers must have too: 57 */
	struct fact_u64 verbs_abi;
	/* Provider files in the folder that this libibverbs searches; absent: the folder does not exist */
	LIST(struct verbs_provider_file) verbs_providers;
	/* UCX that the dynamic loader finds, and those in /opt and /usr/local */
	LIST(struct ucx_copy) ucx;
};

#endif
