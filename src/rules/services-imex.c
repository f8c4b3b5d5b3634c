/* SPDX-License-Identifier: GPL-2.0-or-later */
/* services-imex.c - which IMEX daemon a node of a multi-node NVLink system is to have: the host's own, or those
 * that NVIDIA's DRA driver starts. */
#include "evaluate/skip.h"

#define IMEX "nvidia-imex.service"

/* A daemon of a compute domain runs in a container: a host without the unit has none of its own. */
static bool skip_without_daemon(struct rule_context *ctx, const struct service *s)
{
	bool read = was_read(ctx->node->services.units);
	bool none = read && (!s || str_is(s->load, "not-found"));

	if (none)
		NOT_APPLICABLE(ctx, .observed = "this host has no nvidia-imex",
			       .evidence = { "services.units" });
	else if (read)
		return false;
	else if (known_is(kind_of(ctx->node, KIND_GB200, NULL).is, false))
		NOT_APPLICABLE(ctx, .observed = "no part of a multi-node NVLink system",
			       .evidence = { "pci.devices" });
	else
		UNKNOWN(ctx, .evidence = { "services.units" });
	return true;
}

static void check_daemon(struct rule_context *ctx, const struct service *s)
{
	bool runs = str_is(s->active, "active"), enabled = str_is(s->enabled, "enabled");
	const char *active = "services.units[" IMEX "].active";
	const char *at_boot = "services.units[" IMEX "].enabled";

	if (!runs && !enabled && is_unknown(s->active))
		UNKNOWN(ctx, .evidence = { active });
	else if (!runs && !enabled)
		PASS(ctx, .evidence = { active, "containers.kubelet_plugins" });
	else if (is_unknown(ctx->node->containers.imex_mode))
		UNKNOWN(ctx,
			.observed =
				"the host's nvidia-imex is enabled or runs; whether the DRA driver "
				"is set to use it was not read",
			.evidence = { "containers.imex_mode", active });
	else
		FAIL(ctx,
		     .observed = text_printf(
			     ctx,
			     "the host's nvidia-imex %s beside the DRA driver's compute "
			     "domain plugin",
			     runs ? "runs" : "starts at each boot"),
		     .expected = "no nvidia-imex of the host",
		     .evidence = { runs ? active : at_boot, "containers.kubelet_plugins",
				   "containers.imex_mode" });
}

static void check_beside(struct rule_context *ctx)
{
	const struct service *s = node_service(ctx->node, IMEX);

	if (skip_without_gpu(ctx) || skip_without_daemon(ctx, s) ||
	    skip_unless_kind(ctx, KIND_COMPUTE_DOMAINS))
		return;
	if (str_is(ctx->node->containers.imex_mode, "hostManaged"))
		NOT_APPLICABLE(ctx,
			       .observed = "the DRA driver is set to use the host's nvidia-imex",
			       .evidence = { "containers.imex_mode" });
	else
		check_daemon(ctx, s);
}

static const struct rule services_imex_rules[] = {
	{
		.id = "services/imex-beside-compute-domains",
		.title =
			"The host's IMEX daemon keeps compute domains of the DRA driver from starting",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_beside,
		.impact =
			"Pods with a compute domain wait for an IMEX daemon that cannot start: the host's "
			"holds its place.",
		.remedy = "systemctl disable --now nvidia-imex",
		.activation = ACTIVATION_NOW,
		.reads =
			"nvidia-imex.service, the kubelet's plugin compute-domain.nvidia.com, and IMEX_MODE "
			"of its process.",
		.why = "NVIDIA's DRA driver starts an IMEX daemon of its own for each compute domain. In its mode "
		       "hostManaged it uses the host's daemon instead: then this rule has nothing to say.",
		.check = "systemctl status nvidia-imex; ls /var/lib/kubelet/plugins",
		.sources = "github.com/kubernetes-sigs/dra-driver-nvidia-gpu issue 524; "
			   "cmd/compute-domain-kubelet-plugin/main.go (imex-mode)",
	},
};

RULE_TABLE(services_imex);
