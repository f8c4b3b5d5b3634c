/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu-deepep.c - GPUs that DeepEP does not run on (rules gpu/...). */
#include <string.h>

#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/gpus.h"
#include "query/pci-device.h"
#include "query/peer-support.h"
#include "query/topology.h"

/* ---- NVLink ---- */

enum nvlink { NVLINK_ALL, NVLINK_PAIRS, NVLINK_NONE, NVLINK_UNKNOWN };

/* Returns true if NVLink connects all GPUs of a node that has this model, or pairs of them. */
static enum nvlink nvlink_of(const struct node *node, const struct pci_device *gpu)
{
	const struct gpu_model *model = gpu_model(gpu);

	if (!model)
		return NVLINK_UNKNOWN;
	if (model->nvswitch || node_is(node, KIND_GB200))
		return NVLINK_ALL;
	if (strstr(model->name, "PCIe") || strstr(model->name, "PCIE"))
		return NVLINK_PAIRS;
	if (model->kind == GPU_GEFORCE && !gpu_is_before_turing(gpu))
		return gpu_peer_support(gpu) == PEERS_OVER_NVLINK ? NVLINK_PAIRS : NVLINK_NONE;
	return NVLINK_UNKNOWN;
}

static void check_nvlink_of(struct rule_context *ctx, const struct pci_device *d)
{
	enum nvlink nvlink = nvlink_of(ctx->node, d);
	const char *fact = fact_path(ctx->arena, "pci.devices", d->bdf.value, "device_id");

	if (nvlink == NVLINK_ALL)
		PASS(ctx, .subject = d->bdf.value, .evidence = { fact });
	else if (nvlink == NVLINK_UNKNOWN)
		UNKNOWN(ctx, .subject = d->bdf.value,
			.observed = "whether NVLink connects all GPUs of this model is not known",
			.remedy = "Run nvidia-smi topo -m.", .evidence = { fact });
	else
		FAIL(ctx, .subject = d->bdf.value,
		     .observed = text_printf(ctx, "%s has %s", gpu_model(d)->name,
					     nvlink == NVLINK_PAIRS
						     ? "at most an NVLink bridge to one other GPU"
						     : "no NVLink"),
		     .expected = "NVLink between all GPUs of the node", .evidence = { fact });
}

static void check_nvlink(struct rule_context *ctx)
{
	if (skip_without_gpu(ctx) || skip_without_own_gpu(ctx))
		return;
	if (topology_gpus(ctx->node) < 3) {
		NOT_APPLICABLE(ctx, .observed = "fewer than three GPUs",
			       .evidence = { "pci.devices" });
		return;
	}
	for_each(d, &ctx->node->pci.devices)
		if (pci_is_gpu(d))
			check_nvlink_of(ctx, d);
}

/* ---- architecture ---- */

/* DeepEP 1 has kernels for Ampere too; they are built with DISABLE_SM90_FEATURES=1. */
static bool has_deepep_2(const struct node *node)
{
	const struct software_item *deepep = node_software(node, "deepep");

	return deepep && is_known(deepep->version) &&
	       version_compare(deepep->version.value, "2") >= 0;
}

static bool is_before_hopper(const struct gpu_model *model)
{
	return strcmp(model->architecture, "Hopper") != 0 &&
	       strcmp(model->architecture, "Blackwell") != 0;
}

static void check_one_architecture(struct rule_context *ctx, const struct pci_device *d)
{
	const struct gpu_model *model = gpu_model(d);
	const char *fact = fact_path(ctx->arena, "pci.devices", d->bdf.value, "device_id");
	bool ampere = model && strcmp(model->architecture, "Ampere") == 0;

	if (!model)
		UNKNOWN(ctx, .subject = d->bdf.value,
			.observed = "the GPU's architecture is not in the table of models",
			.evidence = { fact });
	else if (!is_before_hopper(model))
		PASS(ctx, .subject = d->bdf.value, .evidence = { fact });
	else if (ampere && !has_deepep_2(ctx->node))
		NOTE(ctx, .subject = d->bdf.value,
		     .observed =
			     text_printf(ctx,
					 "%s (Ampere): DeepEP 1 runs on it if it was built with "
					 "DISABLE_SM90_FEATURES=1",
					 model->name),
		     .evidence = { fact, "software.items" });
	else
		FAIL(ctx, .subject = d->bdf.value,
		     .observed = text_printf(ctx, "%s (%s)", model->name, model->architecture),
		     .expected = "Hopper or later", .evidence = { fact });
}

static void check_architecture(struct rule_context *ctx)
{
	if (skip_without_gpu(ctx) || skip_without_own_gpu(ctx))
		return;
	for_each(d, &ctx->node->pci.devices)
		if (pci_is_gpu(d))
			check_one_architecture(ctx, d);
}

static const struct rule gpu_deepep_rules[] = {
	{
		.id = "gpu/no-nvlink-for-deepep",
		.title = "DeepEP does not work: NVLink does not connect all GPUs",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_ERR,
		.evaluate = check_nvlink,
		.impact =
			"DeepEP uses NVLink between all GPUs of a node. On models with PCIE in their name, in capitals, such as "
			"A100-PCIE-40GB, it stops with more than two ranks: \"PCIe GPUs only have pairwise NVLink connections\". "
			"On others, such as H100 PCIe, it has no such check.",
		.remedy =
			"Use at most two GPUs that an NVLink bridge connects, or a node with NVSwitch.",
		.repaired_by = BY_HARDWARE,
		.action = ACTION_NONE,
		.reads = "The PCI ids of the GPUs, in the table of GPU models.",
		.why = "The PCI id names the card's form. It does not show whether a bridge is installed.",
		.check = "nvidia-smi topo -m",
		.sources =
			"github.com/deepseek-ai/DeepEP dd758ca (July 2026): README.md (Requirements), "
			"deep_ep/utils/envs.py (check_nvlink_connections)\n"
			"NVIDIA Fabric Manager User Guide 2.3 (March 2025): NVSwitch-Based Systems",
	},
	{
		.id = "gpu/arch-below-sm90",
		.title = "DeepEP cannot run on this GPU: it is older than Hopper",
		.is_short_effect = true,
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_ERR,
		.evaluate = check_architecture,
		.impact = "DeepEP 2 does not run. DeepEP 1 supports Ampere with "
			  "DISABLE_SM90_FEATURES=1 only, and no other older GPU.",
		.remedy = "Use Hopper or Blackwell GPUs. No setting of this node makes DeepEP run.",
		.repaired_by = BY_HARDWARE,
		.action = ACTION_NONE,
		.reads =
			"The PCI ids of the GPUs, and DeepEP's version if it is installed as a package.",
		.why = "DeepEP 2 requires GPUs of SM90 or with its PTX instructions.",
		.check = "nvidia-smi --query-gpu=name,compute_cap --format=csv",
		.sources =
			"github.com/deepseek-ai/DeepEP dd758ca (July 2026): README.md (Requirements)\n"
			"github.com/deepseek-ai/DeepEP v1.2.1: README.md (Requirements)",
	},
};

RULE_TABLE(gpu_deepep);
