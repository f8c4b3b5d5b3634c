/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev-selinux.c - whether SELinux lets containers open GPUs (rule dev/selinux-refuses-devices). */
#include "evaluate/skip.h"
#include "query/node-find.h"

#define BOOLEAN "containers.container_use_devices"

static bool is_used(const struct node *node, const char *unit)
{
	const struct service *s = node_service(node, unit);

	return s && (str_is(s->active, "active") || str_is(s->enabled, "enabled"));
}

/* Podman and CRI-O label their containers. Docker and containerd do so only if they are configured to. Podman is
 * installed on many nodes, and counts where no other engine runs. */
static const char *find_labeller(const struct node *node)
{
	if (is_used(node, "crio.service"))
		return "CRI-O";
	if (is_used(node, "docker.service") || is_used(node, "containerd.service") ||
	    is_used(node, "kubelet.service"))
		return NULL;
	for_each(item, &node->software.items)
		if (str_is(item->name, "podman"))
			return "Podman";
	return NULL;
}

static void compare(struct rule_context *ctx)
{
	const struct containers_facts *containers = &ctx->node->containers;
	const char *labeller = find_labeller(ctx->node);

	if (is_unknown(containers->container_use_devices))
		UNKNOWN(ctx, .evidence = { BOOLEAN });
	else if (!known_is(containers->container_use_devices, false))
		PASS(ctx, .evidence = { BOOLEAN, "containers.selinux_enforcing" });
	else
		FAIL_AS(ctx, labeller ? SEVERITY_WARN : SEVERITY_INFO,
			.observed = text_printf(
				ctx,
				"SELinux is enforcing, no boolean opens the GPUs to containers%s%s",
				labeller ? ", and containers are labelled by " : "",
				labeller ? labeller : ""),
			.expected =
				labeller
					? "container_use_devices or container_use_xserver_devices on"
					: NULL,
			.evidence = { BOOLEAN, "containers.selinux_enforcing" });
}

static void check_selinux(struct rule_context *ctx)
{
	const struct containers_facts *containers = &ctx->node->containers;

	if (skip_without_gpu(ctx) || skip_in_container(ctx))
		return;
	if (is_unknown(containers->selinux_enforcing))
		UNKNOWN(ctx, .evidence = { "containers.selinux_enforcing" });
	else if (!known_is(containers->selinux_enforcing, true))
		NOT_APPLICABLE(ctx, .observed = "SELinux does not enforce its policy",
			       .evidence = { "containers.selinux_enforcing" });
	else if (is_absent(containers->toolkit) && !containers->cdi.count)
		NOT_APPLICABLE(ctx, .observed = "no container engine has the GPUs",
			       .evidence = { "containers.toolkit", "containers.cdi" });
	else
		compare(ctx);
}

static const struct rule dev_selinux_rules[] = {
	{
		.id = "dev/selinux-refuses-devices",
		.title = "Containers cannot open the GPUs: SELinux refuses them the devices",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_selinux,
		.impact =
			"nvidia-smi in a container reports \"Failed to initialize NVML: Insufficient Permissions\", unless the "
			"container runs without a label or is privileged.",
		.remedy =
			"Let containers open the devices that they are given, with the command below. To do so for one "
			"container alone, start it with --security-opt label=disable instead.",
		.command = "sudo setsebool -P container_use_devices on",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"enforce, booleans/container_use_devices and container_use_xserver_devices in /sys/fs/selinux.",
		.why = "The policy lets labelled containers open GPUs only with one of these booleans. The second one opens less "
		       "than the first, and came with container-selinux 2.232. Docker and "
		       "containerd label containers only if they are configured to: without Podman or CRI-O this is a note.",
		.check = "getenforce; getsebool container_use_devices; ausearch -m avc -ts recent",
		.cost = "With the boolean every container may open the devices that it is given.",
		.is_risk = true,
		.sources =
			"github.com/NVIDIA/cloud-native-docs 52dcb7b8: edge/nvidia-gpu-with-device-edge.rst\n"
			"github.com/containers/container-selinux 66ae652 (2026-07-02): container.te; pull 306\n"
			"github.com/mudler/LocalAI pull 5252",
	},
};

RULE_TABLE(dev_selinux);
