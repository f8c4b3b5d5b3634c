/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * skip.h - the conditions under which a rule does not apply to a node, or cannot be evaluated on it.
 *
 * If the condition is true, the function gives the answer of the rule, not-applicable or unknown, and returns true: the
 * rule returns. Otherwise it returns false, and the rule continues.
 */
#ifndef SKIP_H
#define SKIP_H

#include "evaluate/rule.h"
#include "query/kind.h"

/* The remedy of an unknown that only NVML can answer. */
#define RUN_NVML \
	"Add --nvml to the command. It opens the GPUs, so it is not the default; it changes nothing."

/* ---- hardware ---- */

/* No NVIDIA GPU is on the PCI bus, or the bus was not read. */
bool skip_without_gpu(struct rule_context *ctx);
/* As skip_without_gpu(), unless RDMA between nodes is asked for: it needs no GPU. For rules on NICs and networks. */
bool skip_without_gpu_or_rdma(struct rule_context *ctx);
/* For rules on files alone. A mounted image has no bus: the rule applies to it if it has the driver, or if a profile
 * besides base is asked for. Else as skip_without_gpu(). */
bool skip_unless_for_gpus(struct rule_context *ctx);
/* Every GPU is assigned to a virtual machine, so no job of this host uses one. */
bool skip_without_own_gpu(struct rule_context *ctx);
/* Copies of this GPU go over NVLink only, and no profile needs RDMA: its PCIe settings do not matter to jobs. A GPU
 * without any peers is not skipped: driver/geforce-no-gpudirect is the cause of its failures. */
bool skip_without_pcie_peers(struct rule_context *ctx, const struct pci_device *gpu);
/* There is no RDMA device, or that is unknown. An absent list is empty: its folder appears when ib_core is loaded. */
bool skip_without_rdma_device(struct rule_context *ctx);
/* The NVIDIA driver is not loaded, or skip_without_rdma_device(). */
bool skip_without_rdma(struct rule_context *ctx);
/* With RDMA and without GPUDirect: only modules of the kernel use RDMA here (rdma-use.h). */
bool skip_without_rdma_programs(struct rule_context *ctx);
/* For rules on files alone. The rule applies to a mounted image if a profile needs RDMA. Else as
 * skip_without_rdma(). */
bool skip_unless_for_rdma(struct rule_context *ctx);

/* ---- the driver ---- */

/* The NVIDIA driver is not loaded, or its version is unknown. */
bool skip_without_driver(struct rule_context *ctx);
/* The NVIDIA driver is not loaded, or its parameters are unknown. */
bool skip_without_params(struct rule_context *ctx);
/* The driver was not asked through NVML, or did not answer. If no user asked for that, the unknown has severity
 * info. */
bool skip_without_nvml(struct rule_context *ctx);

/* ---- modules and their files ---- */

/* The list of loaded modules is unknown. */
bool skip_without_modules(struct rule_context *ctx);
/* For rules on files alone: a mounted image has no loaded modules, and is not skipped. Else as
 * skip_without_modules(). */
bool skip_unless_modules_count(struct rule_context *ctx);
/* The options of modprobe.d are unknown. */
bool skip_without_modprobe(struct rule_context *ctx);
/* A file of modprobe.d was not read, and can have settings that were not seen. */
bool skip_unless_modprobe_whole(struct rule_context *ctx);
/* The kernel's release or its module files are unknown. */
bool skip_without_module_files(struct rule_context *ctx);
/* A folder of software was not read, and can have software that was not found. */
bool skip_unless_software_whole(struct rule_context *ctx);

/* ---- the job ---- */

/* The environment of the job is unknown. */
bool skip_without_variables(struct rule_context *ctx);
/* The environment of the job or nccl.conf is unknown. */
bool skip_without_nccl_variables(struct rule_context *ctx);
/* The environment of the job is unknown, or nvshmem.conf is, or whether the job's NVSHMEM reads that file. */
bool skip_without_nvshmem_variables(struct rule_context *ctx);

/* ---- the node ---- */

/* The node is not of KIND, or that is unknown. */
bool skip_unless_kind(struct rule_context *ctx, enum kind kind);
/* The node is a container, which does not show what its host has. */
bool skip_in_container(struct rule_context *ctx);
/* The node is a virtual machine, whose hypervisor invents the topology: unknown. WHAT says what cannot be seen. */
bool skip_in_vm(struct rule_context *ctx, const char *what);
/* The kernel log was not read, or does not begin at the boot: a missing line has no meaning. */
bool skip_without_whole_log(struct rule_context *ctx);

/* Returns true if jobs between nodes are expected to run NCCL: RDMA with GPUDirect is asked for, or RDMA on a node with
 * GPUs. */
bool expects_nccl(const struct rule_context *ctx);

/* ---- instead of PASS ---- */

/* Passes if the kernel log reaches back to the boot; otherwise the absence of bad lines is unknown. */
void pass_if_log_whole(struct rule_context *ctx);

#endif
