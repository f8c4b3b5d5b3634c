/* SPDX-License-Identifier: GPL-2.0-or-later */
/* services-gridd.c - the daemon that gets the licence of a vGPU (rule services/gridd-down). */
#include "evaluate/skip.h"
#include "query/service-cause.h"

#define GRIDD "nvidia-gridd.service"
#define ACTIVE "services.units[" GRIDD "].active"

static void check_gridd(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct service *s = node_service(node, GRIDD);

	if (skip_unless_kind(ctx, KIND_VGPU_GUEST) || skip_in_container(ctx) ||
	    skip_without_driver(ctx))
		return;
	if (!was_read(node->services.units) || (s && is_unknown(s->active)))
		UNKNOWN(ctx, .evidence = { "services.units" });
	else if (s && str_is(s->active, "active"))
		PASS(ctx, .evidence = { ACTIVE });
	else if (is_known(node->services.driver_container))
		NOT_APPLICABLE(ctx, .observed = "a container brings the driver, and its daemons",
			       .evidence = { "services.driver_container" });
	else
		FAIL(ctx,
		     .observed =
			     !s || str_is(s->load, "not-found") || is_absent(s->enabled)
				     ? "a vGPU, and nvidia-gridd is not installed: the driver is not that of vGPU "
				       "guests, or a part of it is missing"
				     : text_printf(ctx,
						   "a vGPU, and nvidia-gridd is %s; %s at boot",
						   s->active.value,
						   is_known(s->enabled) ? s->enabled.value
									: "not enabled"),
		     .expected = "nvidia-gridd active",
		     .evidence = { s ? ACTIVE : "services.units", "gpu.devices" });
}

static const struct rule services_gridd_rules[] = {
	{
		.id = "services/gridd-down",
		.title = "The vGPU has no licence: nvidia-gridd does not run",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_gridd,
		.needs_running = true,
		.impact =
			"Without a licence the vGPU loses performance after some minutes, and CUDA can be refused.",
		.remedy =
			"Install the guest driver of the vGPU software that the host runs, which brings nvidia-gridd. Then set the "
			"licence in /etc/nvidia/gridd.conf or ClientConfigToken, and start nvidia-gridd.",
		.mender = MENDER_ADMIN,
		.activation = ACTIVATION_NOW,
		.reads = "The service nvidia-gridd, where the GPU is a vGPU.",
		.why = "nvidia-gridd asks the licence server. Some guest drivers install no unit for it, as Azure's package "
		       "of the branch 550: the driver works, and the vGPU stays without a licence.",
		.check = "systemctl status nvidia-gridd; nvidia-smi -q | grep -A2 -i licen",
		.sources =
			"NVIDIA vGPU software 12.0: Virtual GPU Client Licensing User Guide, How NVIDIA vGPU Software "
			"Licensing Is Enforced\n"
			"github.com/Azure/aks-gpu pull 90\n"
			"github.com/Azure/AKS issues 4870, 4880",
	},
};

RULE_TABLE(services_gridd);
