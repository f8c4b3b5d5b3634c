/* SPDX-License-Identifier: GPL-2.0-or-later */
/* services-imex.c - nvidia-imex, by which GPUs of several trays map each other's memory (rules services/...). */
#include "evaluate/references.h"
#include "query/kind.h"

#define IMEX "nvidia-imex.service"

static enum severity grade(const struct rule_context *ctx, const struct reference *r,
			   enum reference_state state)
{
	const struct service *s = node_service(ctx->node, IMEX);

	(void)r;
	(void)state;
	return s && (str_is(s->active, "active") || str_is(s->active, "failed") ||
		     str_is(s->enabled, "enabled"))
		       ? SEVERITY_ERR
		       : SEVERITY_INFO;
}

/* The socket is there while the daemon runs. */
static bool counts(const struct node *node, const struct reference *r)
{
	(void)node;
	return !str_is(r->role, IMEX_SOCKET_KEY);
}

static const char *remedy(struct rule_context *ctx, const struct reference *r)
{
	if (str_is(r->role, "own address"))
		return "Write this node's address into /etc/nvidia-imex/nodes_config.cfg. The file lists all nodes of the "
		       "domain and is the same on each. Then run systemctl restart nvidia-imex.";
	return text_printf(ctx, "Correct %s in %s, then run systemctl restart nvidia-imex.",
			   r->role.value, r->file.value);
}

static void check_configuration(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_IMEX,
		.none = "nvidia-imex is not configured",
		.expected = "an address of this node in the list",
		.counts = counts,
		.grade = grade,
		.remedy = remedy,
	};

	references_check(ctx, &check);
}

/* ---- beside NVIDIA's DRA driver ---- */

static void check_beside(struct rule_context *ctx)
{
	const struct service *s = node_service(ctx->node, IMEX);
	struct kind_answer domains = kind_find(ctx->node, KIND_COMPUTE_DOMAINS, ctx->arena);
	bool runs = s && str_is(s->active, "active");
	bool enabled = s && is_known(s->enabled) && str_starts(s->enabled, "enabled");
	const char *fact = "services.units[" IMEX "].active";

	if (known_is(domains.is, false))
		NOT_APPLICABLE(ctx, .observed = "NVIDIA's DRA driver runs no compute domains here",
			       .evidence = { domains.fact });
	else if (!is_known(domains.is))
		UNKNOWN(ctx, .evidence = { domains.fact });
	else if (!was_read(ctx->node->services.units) || (s && is_unknown(s->active)))
		UNKNOWN(ctx, .evidence = { "services.units" });
	else if (!runs && !enabled)
		PASS(ctx, .observed = "the host's nvidia-imex does not run", .evidence = { fact });
	else if (reference_of_role(ctx->node, REFERENCE_IMEX, IMEX_SOCKET_KEY))
		NOTE(ctx,
		     .observed =
			     "the host's nvidia-imex has a command socket: right if the DRA driver has "
			     "imex.mode=hostManaged and the feature gate HostManagedIMEXDaemon, and wrong with its "
			     "defaults",
		     .evidence = { fact, domains.fact });
	else
		FAIL_AS(ctx, runs ? SEVERITY_ERR : SEVERITY_WARN,
			.observed =
				runs ? "nvidia-imex runs on the host, and the DRA driver has its own"
				     : "nvidia-imex is enabled on the host, and the DRA driver has its own",
			.expected = "nvidia-imex disabled on the host",
			.evidence = { fact, domains.fact });
}

static const struct rule services_imex_rules[] = {
	{
		.id = "services/imex-beside-dra",
		.title = "Pods stay pending: the host's nvidia-imex blocks the DRA driver's",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_beside,
		.impact =
			"The IMEX daemons of compute domains do not start. Pods that ask for a channel stay pending.",
		.remedy = "Disable and mask the host's service, so that nothing starts it.",
		.command = "sudo systemctl disable --now nvidia-imex\n"
			   "sudo systemctl mask nvidia-imex",
		.activation = ACTIVATION_NOW,
		.reads =
			"The kubelet's plugins (compute-domain.nvidia.com), the nvidia-imex service, and " IMEX_SOCKET_KEY
			" in /etc/nvidia-imex/config.cfg.",
		.why = "NVIDIA's DRA driver starts its own IMEX daemon for each compute domain, and only one can run on a "
		       "node. Its chart from August 2026 on (95932046) can use the host's daemon, with imex.mode=hostManaged and the feature "
		       "gate HostManagedIMEXDaemon. It needs its command socket (IMEX_CMD_ENABLED=1, " IMEX_SOCKET_KEY
		       "), and with it this is a note.",
		.check = "ls /var/lib/kubelet/plugins; systemctl status nvidia-imex",
		.sources =
			"github.com/kubernetes-sigs/dra-driver-nvidia-gpu issue 524\n"
			"dra-driver-nvidia-gpu 95932046 (2026-08-07): deployments/helm/dra-driver-nvidia-gpu/values.yaml",
	},
	{
		.id = "services/imex-configuration",
		.title =
			"NVLink between nodes fails: nvidia-imex does not find this node in its list",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_configuration,
		.needs_running = true,
		.impact =
			"nvidia-imex does not start, or the domain waits for this node. Memory of other trays cannot be "
			"mapped.",
		.remedy =
			"Correct the files in /etc/nvidia-imex, then run systemctl restart nvidia-imex.",
		.activation = ACTIVATION_RESTART,
		.reads =
			"IMEX_NODE_CONFIG_FILE, BIND_INTERFACE_IP and NETWORK_INTERFACE in "
			"/etc/nvidia-imex/config.cfg, the addresses in nodes_config.cfg, and those of this node.",
		.why = "The daemon finds out which node it is by one of its own addresses in the list. It finds none if "
		       "the list is missing or empty or from another domain, or if the interface has a new address. If the service is "
		       "neither enabled nor running, this is a note.",
		.check = "cat /etc/nvidia-imex/nodes_config.cfg; ip -br address",
		.sources =
			"dra-driver-nvidia-gpu (2026-08): templates/compute-domain-daemon-config.tmpl.cfg (comments of "
			"nvidia-imex's configuration file)\n"
			"NVIDIA IMEX Service for NVLink Networks (2025-07): Getting Started",
	},
};

RULE_TABLE(services_imex);
