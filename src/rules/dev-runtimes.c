/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev-runtimes.c - whether the programs that container engines and NVIDIA's toolkit name are there (rules
 * dev/...). */
#include <string.h>

#include "evaluate/references.h"
#include "evaluate/skip.h"

/* ---- programs ---- */

/* Other runtimes than NVIDIA's are not this program's. */
static bool counts_engine(const struct node *node, const struct reference *r)
{
	(void)node;
	return strstr(r->name.value, "nvidia") || strstr(r->role.value, "nvidia") ||
	       known_is(r->kind, REFERENCE_RUNTIME);
}

static bool is_default(const struct node *node, const struct reference *r)
{
	const struct reference *fallback = NULL;

	while ((fallback = reference_next(node, REFERENCE_ENGINE, r->file.value, fallback)))
		if (known_is(fallback->kind, REFERENCE_RUNTIME) &&
		    strncmp(r->role.value, "runtimes.", strlen("runtimes.")) == 0 &&
		    str_is(fallback->name, r->role.value + strlen("runtimes.")))
			return true;
	return false;
}

static enum severity grade_engine(const struct rule_context *ctx, const struct reference *r,
				  enum reference_state state)
{
	(void)state;
	return known_is(r->kind, REFERENCE_RUNTIME) || is_default(ctx->node, r) ? SEVERITY_ERR
										: SEVERITY_WARN;
}

static const char *engine_impact(struct rule_context *ctx, const struct reference *r)
{
	if (known_is(r->kind, REFERENCE_RUNTIME))
		return "The engine does not start, or its part for Kubernetes does not.";
	if (is_default(ctx->node, r))
		return "No container starts: this is the default runtime.";
	return "Containers of this runtime do not start: \"no such file or directory\".";
}

static const char *engine_remedy(struct rule_context *ctx, const struct reference *r)
{
	const char *engine = strstr(r->file.value, "docker") ? "docker"
			     : strstr(r->file.value, "crio") ? "crio"
							     : "containerd";

	return text_printf(
		ctx,
		"Install the NVIDIA Container Toolkit and run nvidia-ctk runtime configure "
		"--runtime=%s; where it was removed on purpose (the GPU operator leaves its entries "
		"behind), take them out of the file. Then systemctl restart %s.",
		engine, engine);
}

static void check_engine(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_ENGINE,
		.none = "no engine's configuration names a runtime of NVIDIA's",
		.expected = "runtimes that are there",
		.counts = counts_engine,
		.grade = grade_engine,
		.remedy = engine_remedy,
		.impact = engine_impact,
	};

	if (!skip_without_gpu(ctx))
		references_check(ctx, &check);
}

/* ---- the toolkit ---- */

static enum severity grade_toolkit(const struct rule_context *ctx, const struct reference *r,
				   enum reference_state state)
{
	(void)ctx;
	(void)state;
	/* Old releases of the command-line tool need no path of themselves. */
	return known_is(r->kind, REFERENCE_FILE) ? SEVERITY_ERR : SEVERITY_WARN;
}

static const char *toolkit_remedy(struct rule_context *ctx, const struct reference *r)
{
	if (known_is(r->kind, REFERENCE_FILE))
		return text_printf(
			ctx,
			"The driver is not in %s: where the GPU operator's driver container is gone, "
			"nvidia-ctk config --set nvidia-container-cli.root=/ --in-place.",
			r->name.value);
	return text_printf(ctx, "Install the package that has %s, or correct that line.",
			   r->name.value);
}

static void check_toolkit(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_TOOLKIT,
		.none = "the NVIDIA Container Toolkit has no configuration file",
		.expected = "programs and folders that are there",
		.grade = grade_toolkit,
		.remedy = toolkit_remedy,
	};

	if (!skip_without_gpu(ctx))
		references_check(ctx, &check);
}

/* ---- Docker below a kubelet ---- */

static bool runs(const struct node *node, const char *unit)
{
	const struct service *s = node_service(node, unit);

	return s && (str_is(s->active, "active") ||
		     (str_is(s->enabled, "enabled") && !str_is(s->active, "failed")));
}

/* The device plugin gives a container its GPUs by a variable that NVIDIA's runtime reads. Docker has no choice
 * of runtime for each pod, so that it has to be the default one. */
static void check_default(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct reference *r = NULL;
	const char *docker = "/etc/docker/daemon.json", *name = "runc";

	if (skip_without_gpu(ctx))
		return;
	if (!was_read(node->services.units)) {
		UNKNOWN(ctx, .evidence = { "services.units" });
		return;
	}
	if (!runs(node, "kubelet.service") || !runs(node, "docker.service") ||
	    !known_is(node->containers.kubelet_uses_docker, true)) {
		if (runs(node, "kubelet.service") && runs(node, "docker.service") &&
		    is_unknown(node->containers.kubelet_uses_docker))
			UNKNOWN(ctx, .evidence = { "containers.kubelet_uses_docker" });
		else
			NOT_APPLICABLE(ctx, .observed = "no kubelet that starts its pods by Docker",
				       .evidence = { "services.units" });
		return;
	}
	while ((r = reference_next(node, REFERENCE_ENGINE, docker, r)))
		if (known_is(r->kind, REFERENCE_RUNTIME))
			name = r->name.value;
	if (strstr(name, "nvidia"))
		PASS(ctx, .evidence = { "references.items" });
	else if (!known_is(node->references.complete, true))
		UNKNOWN(ctx, .evidence = { "references.complete" });
	else
		FAIL(ctx,
		     .observed = text_printf(ctx, "Docker starts pods with %s, its default runtime",
					     name),
		     .expected = "\"default-runtime\": \"nvidia\" in /etc/docker/daemon.json",
		     .evidence = { "containers.kubelet_uses_docker", "references.items" });
}

static const struct rule dev_runtimes_rules[] = {
	{
		.id = "dev/container-runtime-missing",
		.title = "A container engine names a runtime that is not there",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.gravest = SEVERITY_ERR,
		.evaluate = check_engine,
		.impact = "Containers of this runtime do not start.",
		.remedy =
			"Install the NVIDIA Container Toolkit and run nvidia-ctk runtime configure, or take the "
			"runtime out of the engine's configuration; then restart the engine.",
		.activation = ACTIVATION_RESTART,
		.reads =
			"The runtimes in /etc/docker/daemon.json, containerd's config.toml and conf.d, those of "
			"k3s and RKE2, and crio.conf; which of them is the default; whether the programs are there.",
		.why = "The GPU operator and package removals leave entries behind that point to nothing. As the "
		       "default runtime such an entry stops every container, else only those that ask for it.",
		.check = "grep -rn nvidia /etc/docker/daemon.json /etc/containerd /etc/crio",
		.sources =
			"NVIDIA Container Toolkit 1.20: pkg/config/engine\n"
			"containerd: internal/cri/config/config.go; moby: daemon/runtime_unix.go",
	},
	{
		.id = "dev/toolkit-path-missing",
		.title =
			"The NVIDIA Container Toolkit looks for the driver or a program where it is not",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.gravest = SEVERITY_ERR,
		.evaluate = check_toolkit,
		.impact = "Containers with GPUs do not start, or start without libcuda.",
		.remedy = "Correct the path in /etc/nvidia-container-runtime/config.toml.",
		.activation = ACTIVATION_RECREATE,
		.reads =
			"The paths in the toolkit's config.toml (nvidia-container-cli.root, path and ldconfig, the "
			"hook, nvidia-ctk, the low-level runtime), and what is there.",
		.why = "nvidia-container-cli.root is where the toolkit takes the driver's libraries from: "
		       "/run/nvidia/driver belongs to the driver container of the GPU operator and is gone with it. Of "
		       "several low-level runtimes one is enough.",
		.check =
			"nvidia-ctk config; ls -d $(nvidia-ctk config --config-file "
			"/etc/nvidia-container-runtime/config.toml | sed -n 's/^ *root = //p' | tr -d '\"')",
		.sources = "NVIDIA Container Toolkit 1.20: api/config/v1",
	},
	{
		.id = "dev/docker-default-runtime",
		.title = "Pods get no GPU: Docker's default runtime is not NVIDIA's",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_default,
		.impact =
			"The device plugin finds no GPU on the node, and pods that ask for one stay pending or "
			"start without it.",
		.remedy =
			"nvidia-ctk runtime configure --runtime=docker --set-as-default, then systemctl restart "
			"docker.",
		.activation = ACTIVATION_RESTART,
		.reads =
			"default-runtime in /etc/docker/daemon.json, and which engine the kubelet uses: its "
			"--container-runtime-endpoint, and cri-dockerd.",
		.why = "Kubernetes chooses a runtime for a pod through a RuntimeClass, which Docker does not have: "
		       "there the default runtime makes every container. A node whose kubelet uses containerd or "
		       "CRI-O is not concerned, even with Docker beside it.",
		.check =
			"docker info --format '{{.DefaultRuntime}}'; tr '\\0' ' ' < /proc/$(pgrep -o "
			"kubelet)/cmdline",
		.sources = "github.com/NVIDIA/k8s-device-plugin README.md (Configure docker)",
	},
};

RULE_TABLE(dev_runtimes);
