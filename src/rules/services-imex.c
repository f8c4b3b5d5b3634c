/* SPDX-License-Identifier: GPL-2.0-or-later */
/* services-imex.c - nvidia-imex, which lets GPUs of several trays map each other's memory (rules services/...). */
#include "evaluate/references.h"
#include "query/service-cause.h"

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

static const char *remedy(struct rule_context *ctx, const struct reference *r)
{
	if (str_is(r->role, "own address"))
		return "Write the address by which the other nodes of the domain reach this one into "
		       "/etc/nvidia-imex/nodes_config.cfg, the same file on all of them, then systemctl restart "
		       "nvidia-imex.";
	return text_printf(ctx, "Correct %s in %s, then systemctl restart nvidia-imex.",
			   r->role.value, r->file.value);
}

static void check_configuration(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_IMEX,
		.none = "no configuration of nvidia-imex",
		.expected = "an address of this node among those of the domain",
		.grade = grade,
		.remedy = remedy,
	};

	references_check(ctx, &check);
}

static const struct rule services_imex_rules[] = {
	{
		.id = "services/imex-configuration",
		.title = "nvidia-imex cannot find this node in its own configuration",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_configuration,
		.impact =
			"nvidia-imex does not start, or the domain waits for this node: memory of other trays "
			"cannot be mapped.",
		.remedy = "Correct /etc/nvidia-imex, then systemctl restart nvidia-imex.",
		.activation = ACTIVATION_RESTART,
		.reads =
			"IMEX_NODE_CONFIG_FILE, BIND_INTERFACE_IP and NETWORK_INTERFACE in "
			"/etc/nvidia-imex/config.cfg, the addresses in nodes_config.cfg, and those of this node.",
		.why = "The daemon learns which node it is by looking for one of its own addresses in the list. A "
		       "list that was copied from another domain, or an interface with a new address, leaves it "
		       "without one. Where the service is neither enabled nor running it is a note.",
		.check = "cat /etc/nvidia-imex/nodes_config.cfg; ip -br address",
		.sources =
			"dra-driver-nvidia-gpu: templates/compute-domain-daemon-config.tmpl.cfg (comments of the "
			"configuration file of nvidia-imex)\n"
			"NVIDIA IMEX Service for NVLink Networks: Getting Started",
	},
};

RULE_TABLE(services_imex);
