/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-software.h - the installed software. Part of facts.h, which includes it. */
#ifndef FACTS_SOFTWARE_H
#define FACTS_SOFTWARE_H

#include "facts/fact.h"

/* ---- software: user space that must match the kernel side ---- */

struct software_item {
	struct fact_str path; /* of the library or other file */
	/* Libraries: libcuda, libnvidia-ml, libcudart, cuda (toolkit), nccl, nccl-net, nvshmem, deepep, nixl, gdrcopy,
	 * doca, libibverbs, libmlx5, libnvidia-container, slurm (libslurm, by its own number), ucx. Stacks: ofed,
	 * efa-installer; ofa_kernel: a kernel for which the installed OFED has symbols. Programs: fabricmanager, nvlsm,
	 * imex, container-toolkit, containerd, docker, podman, enroot, dkms, ucx, aws-ofi-nccl. Sources that modules
	 * are built from: driver-source, gdrdrv-source, nvidia-fs-source, nv-peer-mem-source, efa-source. Parts of the
	 * driver: the libraries of data/driver-parts.tsv. dcgm-cuda: a folder of DCGM's diagnostics, and the CUDA
	 * release (12, 13) that they are for. */
	struct fact_str name;
	struct fact_str version; /* absent: not in the name, the package database or the file */
};

/* A package for GPUs or RDMA in dpkg's database. */
struct software_package {
	struct fact_str name;	 /* without the architecture */
	struct fact_str version; /* of its files; absent: it has none */
	struct fact_str state;	 /* as dpkg(1) has it: installed, unpacked, ... */
	struct fact_bool held;	 /* by apt-mark hold */
};

struct software_facts {
	struct fact_bool complete;	  /* every folder to search could be read */
	LIST(struct software_item) items; /* libraries, toolkits and packages */
	/* Path of the libcuda.so.1 that the dynamic loader gives a program of the checked process; absent: none. */
	struct fact_str libcuda;
	struct fact_str libcuda_version; /* of that one; absent: not in its name */
	/* Path of the libnvidia-ml.so.1 that the dynamic loader gives that program; absent: none. */
	struct fact_str libnvidia_ml;
	LIST(const char *) programs; /* started by their names: paths of ibstat, nvcc */
	/* Absent: dpkg does not manage this node. Packages that are not installed have no row. */
	LIST(struct software_package) packages;
};

#endif
