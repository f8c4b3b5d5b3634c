/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu-model.c - GPUs that the table of models does not have (rule gpu/model-unknown). */
#include <inttypes.h>

#include "evaluate/skip.h"
#include "query/gpus.h"
#include "query/pci-device.h"

static void note_model(struct rule_context *ctx, const struct pci_device *d, const char *fact)
{
	uint64_t id = d->device_id.value;
	const char *age = id > gpu_last_id()	     ? ", newer than every model in the table"
			  : id >= BLACKWELL_FIRST_ID ? ", of Blackwell or later"
						     : "";

	NOTE(ctx, .subject = d->bdf.value,
	     .observed = text_printf(ctx, "10de:%04" PRIx64 "%s (%s): counted as a %s by its class",
				     id, age, gpu_name(ctx->node, d),
				     gpu_is_data_centre(d) ? "data-centre GPU"
							   : "GeForce or workstation card"),
	     .evidence = { fact, fact_path(ctx->arena, "pci.devices", d->bdf.value, "class_id") });
}

static void check_models(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	if (skip_without_gpu(ctx))
		return;
	for_each(d, &ctx->node->pci.devices) {
		const char *fact;

		if (!pci_is_gpu(d) || gpu_model(d))
			continue;
		fact = fact_path(ctx->arena, "pci.devices", d->bdf.value, "device_id");
		if (is_known(d->device_id))
			note_model(ctx, d, fact);
		else
			UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { fact });
	}
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "pci.devices" });
}

static const struct rule gpu_model_rules[] = {
	{
		.id = "gpu/model-unknown",
		.title =
			"A GPU is not in the table of models: some checks do not know what it supports",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_INFO,
		.evaluate = check_models,
		.impact =
			"Checks that depend on the model are unknown for this GPU, or use what is common to its class.",
		.remedy =
			"Update nvnodecheck. If the newest release lacks the model, report the PCI id.",
		.activation = ACTIVATION_NONE,
		.reads = "The PCI id and class of each GPU.",
		.why = "BAR1, NVSwitch generation, memory and the oldest driver follow from the model. A 3D controller "
		       "counts as a data-centre GPU, a VGA controller as a GeForce or workstation card. Ids mostly "
		       "rise with the architectures.",
		.check = "lspci -nn -d 10de:",
		.sources = "open-gpu-kernel-modules 595.45.04: README.md (Compatible GPUs)",
	},
};

RULE_TABLE(gpu_model);
