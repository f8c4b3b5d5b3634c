/* SPDX-License-Identifier: GPL-2.0-or-later */
/* software.h - finds software and its version by file names, small files and the package database. */
#ifndef SOFTWARE_H
#define SOFTWARE_H

#include "facts/facts.h"
#include "host/host.h"

/* Once for each path. */
void software_add(struct arena *arena, struct software_facts *software,
		  const struct software_item *item);

/*
 * software-folder.c: both are host_ask for a struct software_facts; USER is the folder's path.
 * Folders of libraries have thousands of names: a capture keeps those that mean something.
 */
int software_ask_libraries(struct host *host, void *facts, struct arena *arena, void *user);
int software_ask_python(struct host *host, void *facts, struct arena *arena, void *user);

/* In software-files.c: read the header of an NVSHMEM installation, and the version.json of a CUDA toolkit. */
void software_read_nvshmem(struct host *host, struct arena *arena, struct software_facts *software,
			   const char *home);
void software_read_cuda(struct host *host, struct arena *arena, struct software_facts *software,
			const char *home);
/* Reads the version of OFED (from its script or the sources of its modules), DOCA, the EFA installer, and the sources
 * of other modules. */
void software_read_rdma(struct host *host, struct arena *arena, struct software_facts *software);

/* The folders of DCGM's diagnostics, one for each CUDA release. */
void software_read_dcgm(struct host *host, struct arena *arena, struct software_facts *software);

/* In software-packages.c: reads the packages for GPUs and RDMA in dpkg's database. */
void software_read_packages(struct host *host, struct arena *arena,
			    struct software_facts *software);
/* Returns true if the package's files, of its version, are on disk. */
bool software_has_files(const struct software_package *package);

/* In software-programs.c, after those above: daemons, container engines and tools, and which of NCCL's plugins is the
 * one for EFA. */
void software_read_programs(struct host *host, struct arena *arena,
			    struct software_facts *software);
void software_read_plugins(struct host *host, struct arena *arena, struct software_facts *software);

#endif
