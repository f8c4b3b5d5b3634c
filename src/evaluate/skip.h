/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * skip.h - the conditions under which most rules have nothing to say. Each answers the rule
 * (not-applicable, or unknown when even that is not known) and returns true, or returns false and
 * the rule goes on.
 */
#ifndef SKIP_H
#define SKIP_H

/* It is not the default, because it opens devices. */
#define RUN_NVML \
	"Add --nvml to the command. It opens the GPUs, so it is not the default; it changes nothing."

#include "evaluate/rule.h"
#include "query/kind.h"

bool skip_without_gpu(struct rule_context *ctx); /* no NVIDIA GPU on the PCI bus */
/* Like skip_without_gpu(), for conditions that files alone decide: an image without its hardware is evaluated for
 * nodes with GPUs if it has the driver or a profile needs GPUs. */
bool skip_unless_for_gpus(struct rule_context *ctx);
/* Likewise without RDMA devices, where a profile needs them; and without the list of loaded modules, of which an image
 * has none: for rules that say what its files give. */
bool skip_unless_for_rdma(struct rule_context *ctx);
bool skip_unless_modules_count(struct rule_context *ctx);
/* Skips when the node is not of KIND, with the reason; answers unknown when that is not known. */
bool skip_unless_kind(struct rule_context *ctx, enum kind kind);
/* Skips when every GPU is assigned to a virtual machine, because no job of this host needs the condition. */
bool skip_without_own_gpu(struct rule_context *ctx);
/* Copies of this GPU go over NVLink alone, and no profile asks for RDMA: how PCIe is set up does not matter to them.
 * Of GPUs without peers of any kind driver/geforce-no-gpudirect is the cause. */
bool skip_without_pcie_peers(struct rule_context *ctx, const struct pci_device *gpu);
bool skip_without_driver(
	struct rule_context *ctx); /* the NVIDIA driver is not loaded; else its version is known */
/* The driver was not asked by NVML, or did not answer. Where no user asked for that, the unknown is of severity
 * info. */
bool skip_without_nvml(struct rule_context *ctx);
bool skip_without_params(struct rule_context *ctx); /* nor its parameters are known */
/* Skips without an RDMA device. An absent list counts as empty, because the folder does not exist before ib_core is
 * loaded. */
bool skip_without_rdma_device(struct rule_context *ctx);
bool skip_without_rdma(struct rule_context *ctx);     /* nor a driver to use one with */
bool skip_without_modules(struct rule_context *ctx);  /* the loaded modules are not known */
bool skip_without_modprobe(struct rule_context *ctx); /* nothing of modprobe.d is known */
/* A file that counts is unread: what was not seen may be in it. */
bool skip_unless_modprobe_whole(struct rule_context *ctx);
/* Answers unknown when a folder of software could not be read, because the software that was not found may be there. */
bool skip_unless_software_whole(struct rule_context *ctx);
/* Answers unknown when the log could not be read, or does not reach back to the boot: a missing line then means
 * nothing. */
bool skip_without_whole_log(struct rule_context *ctx);
bool skip_without_module_files(
	struct rule_context *ctx);		       /* the module files on disk are not known */
bool skip_without_variables(struct rule_context *ctx); /* the job's environment is not known */
bool skip_without_nccl_variables(struct rule_context *ctx); /* nor nccl.conf */
/* The same for nvshmem.conf, and for whether the release that runs reads it. */
bool skip_without_nvshmem_variables(struct rule_context *ctx);
bool skip_in_container(struct rule_context *ctx); /* what the host has, a container does not show */
/* A virtual machine shows the topology that its hypervisor made up: unknown, with that reason. */
bool skip_in_vm(struct rule_context *ctx, const char *what);

/* Passes if the kernel log reaches back to the boot; otherwise the absence of bad lines is unknown. */
void pass_if_log_whole(struct rule_context *ctx);

#endif
