/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev-imex.c - the channels of IMEX, over which GPUs of several nodes share memory (rule dev/imex-channel-missing). */
#include <string.h>

#include "evaluate/skip.h"
#include "query/job-env.h"
#include "query/kind.h"
#include "query/service-cause.h"
#include "rules/dev.h"

/* NVIDIA's DRA driver gives each compute domain its own channels and IMEX daemon. */
static bool skip_with_compute_domains(struct rule_context *ctx)
{
	struct kind_answer domains = kind_find(ctx->node, KIND_COMPUTE_DOMAINS, ctx->arena);

	if (known_is(domains.is, true))
		NOT_APPLICABLE(
			ctx,
			.observed =
				"NVIDIA's DRA driver creates the channels of each compute domain",
			.evidence = { domains.fact });
	else if (!is_known(domains.is) && node_is(ctx->node, KIND_KUBERNETES))
		UNKNOWN(ctx,
			.observed = "whether NVIDIA's DRA driver creates the channels was not read",
			.evidence = { domains.fact });
	else
		return false;
	return true;
}

/* Variables by which a process requires fabric handles: NCCL (env.rst; 2 is optional), Mooncake. */
static const char *asks_for_fabric(struct arena *arena, const struct node *node)
{
	struct job_value nccl = job_nccl(arena, node, "NCCL_MNNVL_ENABLE");
	const char *mooncake = node_env(node, "MC_FORCE_MNNVL");

	if (nccl.value && strcmp(nccl.value, "1") == 0)
		return job_value_text(arena, node, &nccl);
	return mooncake && strcmp(mooncake, "0") != 0 ? "MC_FORCE_MNNVL" : NULL;
}

/* Why this node needs a channel although it is no tray of a multi-node NVLink system; NULL: nothing says so. */
static const char *imex_reason(struct arena *arena, const struct node *node)
{
	const struct driver_param *create = node_param(node, "CreateImexChannel0");
	const char *variable = asks_for_fabric(arena, node);

	if (variable)
		return variable;
	if (create && str_is(create->value, "1"))
		return "NVreg_CreateImexChannel0=1";
	for_each(item, &node->software.items)
		if (str_is(item->name, "imex"))
			return "nvidia-imex is installed";
	return NULL;
}

static const struct device_node *imex_channel(const struct node *node)
{
	for_each(n, &node->dev.nodes)
		if (str_starts(n->path, "/dev/nvidia-caps-imex-channels/channel"))
			return n;
	return NULL;
}

/* On NVSwitch systems fabric handles work within the node too, as soon as there is a channel. */
static void note_without_channel(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	if (node_is(node, KIND_HGX) && !was_read(node->dev.nodes))
		UNKNOWN(ctx, .severity = SEVERITY_INFO, .graded = true,
			.evidence = { "dev.nodes" });
	else if (node_is(node, KIND_HGX) && !imex_channel(node) && !is_known(node->os.container))
		NOTE(ctx,
		     .observed =
			     "no IMEX channel: CUDA refuses fabric handles to NVSHMEM and Mooncake",
		     /* Older drivers do not have the parameter. */
		     .remedy = node_param(node, "CreateImexChannel0")
				       ? "For them set NVreg_CreateImexChannel0=1."
				       : NULL,
		     .evidence = { "dev.nodes", "dev.majors[nvidia-caps-imex-channels].major" });
	else
		NOT_APPLICABLE(
			ctx,
			.observed =
				"not part of a multi-node NVLink system, and the process requires "
				"no fabric handles",
			.evidence = { "pci.devices" });
}

#define MAKE_CHANNEL                                                   \
	"sudo mkdir -p /dev/nvidia-caps-imex-channels\n"               \
	"sudo mknod -m 666 /dev/nvidia-caps-imex-channels/channel0 c " \
	"$(awk '$2 == \"nvidia-caps-imex-channels\" {print $1}' /proc/devices) 0"

/* Drivers before 555.42.02 have channels, and no option that creates one. */
static void fail_without_channel(struct rule_context *ctx, const char *why)
{
	const struct node *node = ctx->node;
	bool no_option = was_read(node->driver.params) && !node_param(node, "CreateImexChannel0");

	FAIL(ctx,
	     .observed = text_printf(ctx, "no channel in /dev/nvidia-caps-imex-channels (%s)", why),
	     .expected = "a channel for the job",
	     .remedy =
		     no_option
			     ? "With several tenants give each job its own channel. On a node of one "
			       "tenant create channel 0 on the host, at each boot: this driver has no "
			       "option that creates it."
			     : NULL,
	     .has_fix = no_option,
	     .evidence = { "dev.nodes", "dev.majors[nvidia-caps-imex-channels].major",
			   no_option ? "driver.params" : NULL });
}

static void check_channels(struct rule_context *ctx, const char *why)
{
	const struct node *node = ctx->node;
	const struct driver_param *count = node_param(node, "ImexChannelCount");
	const struct device_node *channel = imex_channel(node);

	if (count && str_is(count->value, "0"))
		FAIL(ctx, .subject = "ImexChannelCount",
		     .observed = text_printf(ctx, "0: no channels (%s)", why),
		     .expected = "the default, 2048", .then = THEN_REBOOT,
		     .remedy = "Remove NVreg_ImexChannelCount from modprobe.d.",
		     .evidence = { "driver.params[ImexChannelCount].value" });
	else if (!was_read(node->dev.nodes))
		UNKNOWN(ctx, .evidence = { "dev.nodes" });
	else if (!channel)
		fail_without_channel(ctx, why);
	else
		dev_check_node(ctx, channel->path.value,
			       LIST_FIND(&node->dev.majors, "nvidia-caps-imex-channels"));
}

/* services/daemon-down reports a daemon that failed, or that something keeps from running. */
static void check_imex_daemon(struct rule_context *ctx)
{
	const struct service *s = node_service(ctx->node, "nvidia-imex.service");
	enum service_condition condition = service_condition(s);

	if (!was_read(ctx->node->services.units) || is_known(ctx->node->os.container))
		return;
	if (condition == SERVICE_MISSING)
		NOTE(ctx, .subject = "nvidia-imex.service",
		     .observed = "not installed: the GPUs of other trays cannot be reached",
		     .evidence = { "services.units[nvidia-imex.service].load" });
	else if (condition == SERVICE_MASKED ||
		 (condition == SERVICE_STOPPED &&
		  !service_find_cause(ctx->arena, ctx->node, s).text))
		FAIL(ctx, .subject = "nvidia-imex.service",
		     .observed = condition == SERVICE_MASKED ? "masked" : s->active.value,
		     .expected = "active",
		     .remedy =
			     condition == SERVICE_MASKED
				     ? "Unmask nvidia-imex, and start it on every node of the domain."
				     : "Start nvidia-imex on every node of the domain.",
		     .command = condition == SERVICE_MASKED
					? "sudo systemctl unmask nvidia-imex\n"
					  "sudo systemctl enable --now nvidia-imex"
					: "sudo systemctl enable --now nvidia-imex",
		     .evidence = { "services.units[nvidia-imex.service].active" });
}

static void check_imex(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *reason = imex_reason(ctx->arena, node);

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	if (!was_read(node->dev.majors)) {
		UNKNOWN(ctx, .evidence = { "dev.majors" });
		return;
	}
	if (!LIST_FIND(&node->dev.majors, "nvidia-caps-imex-channels")) {
		NOT_APPLICABLE(ctx, .observed = "this driver has no IMEX channels",
			       .evidence = { "dev.majors" });
		return;
	}
	if (!node_is(node, KIND_GB200) && !reason) {
		note_without_channel(ctx);
		return;
	}
	if (skip_with_compute_domains(ctx))
		return;
	check_channels(ctx, reason ? reason : "a GPU of a multi-node NVLink system");
	if (node_is(node, KIND_GB200))
		check_imex_daemon(ctx);
}

static const struct rule dev_imex_rules[] = {
	{
		.id = "dev/imex-channel-missing",
		.title = "Multi-node NVLink fails: there is no IMEX channel",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_imex,
		.impact =
			"cuMemCreate with a fabric handle fails with CUDA_ERROR_NOT_PERMITTED (800). NCCL, "
			"NVSHMEM and Mooncake have no multi-node NVLink.",
		.remedy =
			"With several tenants give each job its own channel. On a node of one tenant set "
			"NVreg_CreateImexChannel0=1, and create channel 0 now, on the host.",
		.command = MAKE_CHANNEL,
		.fix = { "set-option", { "nvidia", "NVreg_CreateImexChannel0", "1" } },
		.activation = ACTIVATION_NOW,
		.reads =
			"/proc/devices, /dev/nvidia-caps-imex-channels, nvidia-imex and its service, the GPU's PCI "
			"id, the driver's CreateImexChannel0, and NCCL_MNNVL_ENABLE and MC_FORCE_MNNVL of the process.",
		.why = "The driver creates no channel by default. GB200 and GB300 trays need one, and so "
		       "does a process that requires fabric handles. Other nodes list the major number and "
		       "need a channel only for programs that require fabric handles, also within one node. On Kubernetes NVIDIA's DRA driver creates channels for each compute"
		       " domain.",
		.check = "grep imex /proc/devices; ls -l /dev/nvidia-caps-imex-channels",
		.cost = "Users who may open one channel can share memory with each other.",
		.is_risk = true,
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-reg.h (ImexChannelCount, "
			"CreateImexChannel0)\n"
			"NVIDIA IMEX Service for NVLink Networks (2025-07): imexchannels.html\n"
			"open-gpu-kernel-modules 550.163.01, 555.42.02: kernel-open/nvidia/nv-reg.h (ImexChannelCount alone; "
			"CreateImexChannel0)\n"
			"github.com/microsoft/mscclpp issue 467 (2025-02); github.com/NVIDIA/nvbandwidth issue 39 (2025-04); "
			"github.com/kvcache-ai/Mooncake issue 1297 (2025-12)",
	},
};

RULE_TABLE(dev_imex);
