/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev-plugin.c - whether Kubernetes offers the GPUs of this node to pods (rule dev/device-plugin). */
#include <string.h>
#include <strings.h>

#include "evaluate/references.h"
#include "evaluate/skip.h"
#include "query/kind.h"

#define KUBELET_SOCKET "kubelet.sock"

/* nvidia-gpu.sock, nvidia-mig-1g.10gb.sock, aliyungpushare.sock */
static bool has_gpu_socket(const struct node *node)
{
	for_each(name, &node->containers.device_plugins)
		if (strcasestr(*name, "gpu") || strcasestr(*name, "nvidia"))
			return true;
	return false;
}

/* A copy of a node often has no sockets: the kubelet's own shows that this one has them. */
static bool has_sockets(const struct node *node)
{
	for_each(name, &node->containers.device_plugins)
		if (strcmp(*name, KUBELET_SOCKET) == 0)
			return true;
	return false;
}

/* An engine has NVIDIA's runtime beside its default one. */
static bool is_configured(const struct node *node)
{
	for_each(c, &node->containers.configs)
		if (known_is(c->nvidia, true))
			return true;
	return false;
}

/* An engine is set up for NVIDIA's runtime, or the toolkit is here: pods were to have the GPUs. */
static bool is_meant(const struct node *node)
{
	return is_configured(node) || is_known(node->containers.toolkit);
}

/* The default runtime of the engine whose file names NVIDIA's, if that differs; NULL: not known. */
static const struct reference *other_default(const struct node *node)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_ENGINE, NULL, r)))
		if (known_is(r->kind, REFERENCE_RUNTIME) && !strstr(r->name.value, "nvidia"))
			return r;
	return NULL;
}

static bool nvidia_is_default(const struct node *node)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_ENGINE, NULL, r)))
		if (known_is(r->kind, REFERENCE_RUNTIME) && strstr(r->name.value, "nvidia"))
			return true;
	return false;
}

static const char *runtime_text(struct rule_context *ctx)
{
	const struct reference *r = other_default(ctx->node);

	if (nvidia_is_default(ctx->node) || !is_meant(ctx->node))
		return "";
	return r ? text_printf(
			   ctx,
			   "; the default runtime is %s (%s), so a device plugin without runtimeClassName nvidia finds no GPU",
			   r->name.value, reference_place(ctx->arena, r))
		 : "; NVIDIA's runtime is not the default one, so a device plugin without runtimeClassName nvidia finds no GPU";
}

static void check_plugin(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct containers_facts *containers = &node->containers;
	struct kind_answer kubernetes = kind_find(node, KIND_KUBERNETES, ctx->arena);
	struct kind_answer dra = kind_find(node, KIND_DRA, ctx->arena);

	if (skip_without_own_gpu(ctx) || skip_without_driver(ctx) || skip_in_container(ctx))
		return;
	if (!is_known(kubernetes.is))
		UNKNOWN(ctx, .evidence = { kubernetes.fact });
	else if (!kubernetes.is.value)
		NOT_APPLICABLE(ctx, .observed = "no Kubernetes node",
			       .evidence = { kubernetes.fact });
	else if (has_gpu_socket(node) || known_is(containers->gpu_resource, true))
		PASS(ctx, .evidence = { has_gpu_socket(node) ? "containers.device_plugins"
							     : "containers.gpu_resource" });
	else if (!is_known(dra.is))
		UNKNOWN(ctx, .evidence = { dra.fact });
	else if (dra.is.value)
		PASS(ctx, .observed = "NVIDIA's DRA driver provides the GPUs",
		     .evidence = { dra.fact });
	else if (!has_sockets(node) && !known_is(containers->gpu_resource, false) &&
		 is_configured(node) && other_default(node) && !nvidia_is_default(node))
		NOTE(ctx,
		     .observed = text_printf(ctx, "which device plugins registered was not read%s",
					     runtime_text(ctx)),
		     .evidence = { "references.items", "containers.device_plugins" });
	else if (!has_sockets(node) && !known_is(containers->gpu_resource, false))
		UNKNOWN(ctx,
			.observed =
				"neither the sockets of device plugins nor the kubelet's checkpoint were read",
			.evidence = { "containers.device_plugins" });
	else
		FAIL_AS(ctx, is_meant(node) ? SEVERITY_WARN : SEVERITY_INFO,
			.observed = text_printf(
				ctx,
				"the kubelet has no device plugin for GPUs, and no resource like nvidia.com/gpu%s",
				runtime_text(ctx)),
			.expected = "nvidia-gpu.sock in /var/lib/kubelet/device-plugins",
			.evidence = { "containers.device_plugins", "containers.gpu_resource" });
}

static const struct rule dev_plugin_rules[] = {
	{
		.id = "dev/device-plugin",
		.title = "Pods with GPUs stay pending: no device plugin offers the GPUs",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_plugin,
		.needs_running = true,
		.impact =
			"Kubernetes knows of no GPU on this node. Pods that request nvidia.com/gpu stay pending "
			"(\"Insufficient nvidia.com/gpu\").",
		.remedy =
			"Find out whether the cluster runs the device plugin, with the command below. If no pod of it is "
			"listed for this node, install the plugin, or the GPU operator. If one is, and logs \"could not load "
			"NVML library\" or \"Incompatible strategy detected\", set runtimeClassName: nvidia in its DaemonSet.",
		.command = "kubectl get pods -A -o wide | grep -i device-plugin",
		.activation = ACTIVATION_NOW,
		.follows = { "driver/libraries-missing", "dev/docker-default-runtime",
			     "dev/engine-config", "dev/container-runtime-missing",
			     "dev/toolkit-path-missing", "dev/cdi-wiring" },
		.reads =
			"The sockets in /var/lib/kubelet/device-plugins and the kubelet's checkpoint there; the default "
			"runtime of the engine; whether NVIDIA's DRA driver runs.",
		.why = "A device plugin makes a socket there and registers with the kubelet. It finds the GPUs only if its "
		       "own container has the driver's libraries. It gets them through NVIDIA's runtime, as the default runtime or by a "
		       "RuntimeClass, or from the folder nvidiaDriverRoot of its chart, mounted at /driver-root. Neither the class nor the "
		       "chart is a file of the node. Where neither the toolkit nor a runtime of NVIDIA's is "
		       "set up, pods may not need the GPUs: a note.",
		.check =
			"ls /var/lib/kubelet/device-plugins; kubectl describe node | grep nvidia.com",
		.sources =
			"Kubernetes 1.33: pkg/kubelet/cm/devicemanager (plugin/v1beta1/server.go, checkpoint)\n"
			"NVIDIA k8s-device-plugin v0.20.0: README.md, cmd/nvidia-device-plugin/main.go, internal/plugin/server.go, "
			"factory.go, deployments/helm/nvidia-device-plugin/templates/daemonset-device-plugin.yml\n"
			"github.com/NVIDIA/k8s-device-plugin issues 444, 478",
	},
};

RULE_TABLE(dev_plugin);
