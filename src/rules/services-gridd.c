/* SPDX-License-Identifier: GPL-2.0-or-later */
/* services-gridd.c - the daemon that gets the licence of a vGPU (rule services/gridd-down). */
#include "evaluate/skip.h"
#include "query/service-cause.h"

#define GRIDD "nvidia-gridd.service"
#define ACTIVE "services.units[" GRIDD "].active"

/* Returns what is wrong with the service S, which may be NULL. */
static const char *describe(struct rule_context *ctx, const struct service *s)
{
	bool no_unit = !s || str_is(s->load, "not-found") || is_absent(s->enabled);

	if (no_unit && s && is_known(s->program))
		return text_printf(
			ctx, "a vGPU; %s is there, and no nvidia-gridd.service: nothing starts it",
			s->program.value);
	if (no_unit)
		return "a vGPU, and nvidia-gridd is not installed: the driver is not that of vGPU guests, or a part of "
		       "it is missing";
	return text_printf(ctx, "a vGPU, and nvidia-gridd is %s; %s at boot", s->active.value,
			   is_known(s->enabled) ? s->enabled.value : "not enabled");
}

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
		FAIL(ctx, .observed = describe(ctx, s),
		     .remedy =
			     s && is_known(s->program) && is_absent(s->enabled)
				     ? "Install the guest driver again without --utility-prefix: with another place for "
				       "its programs the installer writes no unit. Or write the unit with ExecStart= of "
				       "this program. Then run systemctl enable --now nvidia-gridd."
				     : NULL,
		     .expected = "nvidia-gridd active",
		     .evidence = { s ? ACTIVE : "services.units", "gpu.devices" });
}

static void check_licence(struct rule_context *ctx)
{
	static const char fact[] = "services.licence";
	const struct service *s = node_service(ctx->node, GRIDD);
	struct fact_enum licence = ctx->node->services.licence;

	if (skip_unless_kind(ctx, KIND_VGPU_GUEST) || skip_in_container(ctx) ||
	    skip_without_driver(ctx))
		return;
	if (!was_read(ctx->node->services.units) || (s && is_unknown(s->active)))
		UNKNOWN(ctx, .evidence = { "services.units" });
	else if (!s || !str_is(s->active, "active"))
		NOT_APPLICABLE(ctx, .observed = "nvidia-gridd does not run",
			       .evidence = { "services.units" });
	else if (!is_known(licence))
		UNKNOWN(ctx, .evidence = { fact });
	else if (known_is(licence, LICENCE_ACQUIRED))
		PASS(ctx, .evidence = { fact });
	else
		FAIL(ctx,
		     .observed =
			     known_is(licence, LICENCE_FAILED)
				     ? "the last that nvidia-gridd wrote is that it got no licence"
				     : "nvidia-gridd wrote that no licence server or feature is configured",
		     .expected = "\"License acquired successfully\"", .evidence = { fact });
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
		.repaired_by = BY_ADMIN,
		.activation = ACTIVATION_NOW,
		.reads = "The service nvidia-gridd, where the GPU is a vGPU.",
		.why = "nvidia-gridd asks the licence server. Installed with its programs in another "
		       "place (--utility-prefix), the guest driver of branch 550 wrote no unit for it on Azure: the driver "
		       "works, and the vGPU stays without a licence.",
		.check = "systemctl status nvidia-gridd; nvidia-smi -q | grep -A2 -i licen",
		.sources =
			"NVIDIA vGPU software 12.0: Virtual GPU Client Licensing User Guide, How NVIDIA vGPU Software "
			"Licensing Is Enforced\n"
			"github.com/Azure/aks-gpu pulls 90, 93\n"
			"github.com/Azure/AKS issues 4870, 4880",
	},
	{
		.id = "services/gridd-licence",
		.title = "The vGPU has no licence: nvidia-gridd did not get one",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_licence,
		.needs_running = true,
		.impact =
			"Without a licence the vGPU loses performance after some minutes, and CUDA programs fail: \"busy or "
			"unavailable\".",
		.remedy =
			"Read what it wrote (journalctl -u nvidia-gridd). Put a valid token into /etc/nvidia/ClientConfigToken, or "
			"set ServerAddress and FeatureType in /etc/nvidia/gridd.conf. Check the clock and the way to the licence "
			"server. Then systemctl restart nvidia-gridd.",
		.repaired_by = BY_ADMIN,
		.activation = ACTIVATION_NOW,
		.follows = { "services/gridd-down" },
		.reads =
			"The last lines of nvidia-gridd in the journal or /var/log, where the GPU is a vGPU and it runs.",
		.why = "nvidia-gridd goes on running without a licence and tries again. A server that cannot be reached, a "
		       "token that has expired and a wrong clock all end so.",
		.check = "nvidia-smi -q | grep -A2 -i licen; journalctl -u nvidia-gridd",
		.sources =
			"NVIDIA vGPU software 12.0: Virtual GPU Client Licensing User Guide, How NVIDIA vGPU Software "
			"Licensing Is Enforced\n"
			"github.com/NVIDIA/nvidia-docker issue 1787, github.com/MicrosoftDocs/azure-docs issue 32746, "
			"github.com/Azure/AKS issue 4870",
	},
};

RULE_TABLE(services_gridd);
