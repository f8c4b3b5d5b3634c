/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * skip.h - the conditions under which most rules have nothing to say. Each answers the rule
 * (not-applicable, or unknown when even that is not known) and returns true, or returns false and
 * the rule goes on.
 */
#ifndef SKIP_H
#define SKIP_H

#include "evaluate/rule.h"
#include "query/kind.h"

bool skip_without_gpu(struct rule_context *ctx); /* no NVIDIA GPU on the PCI bus */
/* The same for what files alone decide: an image whose hardware is not here is judged for nodes with GPUs, if the
 * driver is in it or a profile says so. */
bool skip_unless_for_gpus(struct rule_context *ctx);
/* Likewise without RDMA devices, where a profile needs them; and without the list of loaded modules, of which an image
 * has none: for rules that say what its files give. */
bool skip_unless_for_rdma(struct rule_context *ctx);
bool skip_unless_modules_count(struct rule_context *ctx);
/* It is no node of that kind, and why; or that is not known. */
bool skip_unless_kind(struct rule_context *ctx, enum kind kind);
/* Every GPU is given to virtual machines: what jobs of this host itself need is not asked. */
bool skip_without_own_gpu(struct rule_context *ctx);
/* Copies of this GPU go over NVLink alone, and no profile asks for RDMA: how PCIe is set up does not matter to them.
 * Of GPUs without peers of any kind driver/geforce-no-gpudirect is the cause. */
bool skip_without_pcie_peers(struct rule_context *ctx, const struct pci_device *gpu);
bool skip_without_driver(
	struct rule_context *ctx); /* the NVIDIA driver is not loaded; else its version is known */
/* The driver was not asked by NVML, or did not answer. Where no user asked for that, the unknown is of severity info. */
bool skip_without_nvml(struct rule_context *ctx);
bool skip_without_params(struct rule_context *ctx); /* nor its parameters are known */
/* No RDMA device. Where ib_core is not loaded there is no folder of devices either: absent counts as none. */
bool skip_without_rdma_device(struct rule_context *ctx);
bool skip_without_rdma(struct rule_context *ctx);     /* nor a driver to use one with */
bool skip_without_modules(struct rule_context *ctx);  /* the loaded modules are not known */
bool skip_without_modprobe(struct rule_context *ctx); /* nothing of modprobe.d is known */
bool skip_unless_modprobe_whole(
	struct rule_context
		*ctx); /* a file that counts is unread: what was not seen may be in it */
/* What was not found in it may be in a folder that could not be read. */
bool skip_unless_software_whole(struct rule_context *ctx);
/* What is not in the log need not mean anything: it could not be read, or not back to the boot. */
bool skip_without_whole_log(struct rule_context *ctx);
bool skip_without_module_files(
	struct rule_context *ctx);		       /* the module files on disk are not known */
bool skip_without_variables(struct rule_context *ctx); /* the job's environment is not known */
bool skip_without_nccl_variables(struct rule_context *ctx); /* nor nccl.conf */
/* nor nvshmem.conf, or whether the release that runs reads it */
bool skip_without_nvshmem_variables(struct rule_context *ctx);
bool skip_in_container(struct rule_context *ctx); /* what the host has, a container does not show */
/* A virtual machine shows the topology that its hypervisor made up: unknown, with that reason. */
bool skip_in_vm(struct rule_context *ctx, const char *what);

/* Nothing bad is in the kernel log: a pass as far as it goes back to the boot, else unknown. */
void pass_if_log_whole(struct rule_context *ctx);

#endif
