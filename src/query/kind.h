/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kind.h - the kinds of the node, from the facts. Rules ask here instead of guessing each for itself. Several kinds
 * are true of one node. A kind whose evidence was not read is unknown.
 */
#ifndef KIND_H
#define KIND_H

#include "facts/facts.h"

enum kind {
	/* Files without a kernel: /proc and /sys are not there. */
	KIND_MOUNTED_IMAGE,
	KIND_BARE_METAL,
	KIND_VIRTUAL_MACHINE,
	/* The facts are those of a container or a pod; the kernel is its host's. */
	KIND_CONTAINER,
	KIND_POD,
	/* A machine of a cloud, bare metal too: os.cloud has its name. */
	KIND_CLOUD,
	/* The node has Elastic Fabric Adapters of AWS. */
	KIND_EFA,
	/* The virtual machine's GPUs are vGPUs; or whole GPUs of its host. */
	KIND_VGPU_GUEST,
	KIND_PASSTHROUGH_GUEST,
	/* The node assigns GPUs to virtual machines on purpose: some, or all (guests.h). */
	KIND_VFIO_HOST,
	/* NVIDIA's vGPU manager lends its GPUs. */
	KIND_VGPU_HOST,
	/* The node has a kubelet. */
	KIND_KUBERNETES,
	/* NVIDIA's DRA driver allocates GPUs (gpu.nvidia.com); or compute domains, each of which has an IMEX daemon
	 * (compute-domain.nvidia.com). */
	KIND_DRA,
	KIND_COMPUTE_DOMAINS,
	KIND_SLURM,
	/* Jobs run on the host itself: it is no container and no node of Kubernetes, and guests do not have all
	 * GPUs. */
	KIND_JOB_NODE,
	/* GB10 as in DGX Spark: GPU, processor and memory are one. */
	KIND_GB10,
	/* A node with a Grace processor; and the two kinds of such nodes. A GB200 or GB300 is a tray of a system that
	 * has NVLink between its nodes. */
	KIND_GRACE,
	KIND_GH200,
	KIND_GB200,
	/* GPUs on a board with NVSwitches. */
	KIND_HGX,
	/* Data-centre GPUs in a server without NVSwitches. */
	KIND_PCIE_SERVER,
	/* GeForce or workstation cards alone. */
	KIND_WORKSTATION,
	KINDS
};

struct kind_answer {
	struct fact_bool is;
	const char *reason; /* NULL without an arena */
	const char *fact;   /* path of the fact that decides it, or that is missing */
};

/* Returns whether the node is of that kind. The reason lies in ARENA; NULL: it is not needed. */
struct kind_answer kind_find(const struct node *node, enum kind kind, struct arena *arena);
/* Returns true if the node is known to be of that kind. */
bool node_is(const struct node *node, enum kind kind);
/* Returns true unless the node is known not to be of that kind. */
bool node_may_be(const struct node *node, enum kind kind);

/* Returns the kind as a word: "hgx". */
const char *kind_word(enum kind kind);

/* Fills the section kinds of the facts with every kind. */
void kinds_fill(struct node *node, struct arena *arena);

#endif
