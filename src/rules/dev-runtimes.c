/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev-runtimes.c - do the programs that container engines and NVIDIA's toolkit name exist (rules dev/...)? */
#include <string.h>

#include "evaluate/references.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/container-runtime.h"
#include "query/kind.h"

/* ---- programs ---- */

/* Only NVIDIA's runtimes are checked. */
static bool counts_engine(const struct node *node, const struct reference *r)
{
	(void)node;
	if (known_is(r->kind, REFERENCE_VALUE))
		return false;
	return strstr(r->name.value, "nvidia") || strstr(r->role.value, "nvidia") ||
	       known_is(r->kind, REFERENCE_RUNTIME);
}

static bool is_default(const struct node *node, const struct reference *r)
{
	const struct reference *fallback = NULL;

	while ((fallback = reference_next(node, REFERENCE_ENGINE, r->file.value, fallback)))
		if (known_is(fallback->kind, REFERENCE_RUNTIME) &&
		    starts_with(r->role.value, "runtimes.") &&
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
	if (str_is(r->role, ENGINE_HOOK))
		return "CRI-O and Podman start no container that the hook is for: \"error executing hook\".";
	if (known_is(r->kind, REFERENCE_RUNTIME))
		return "The engine, or its part for Kubernetes, does not start.";
	if (is_default(ctx->node, r))
		return "No container starts: this is the default runtime.";
	return "Containers of this runtime do not start: \"no such file or directory\".";
}

static const char *engine_remedy(struct rule_context *ctx, const struct reference *r)
{
	const char *engine = strstr(r->file.value, "docker") ? "docker"
			     : strstr(r->file.value, "crio") ? "crio"
							     : "containerd";

	if (str_is(r->role, ENGINE_HOOK))
		return text_printf(
			ctx,
			"Install the package that has %s. Where containers get GPUs by CDI, remove %s.",
			r->name.value, r->file.value);
	return text_printf(
		ctx,
		"Install the NVIDIA Container Toolkit and run nvidia-ctk runtime configure "
		"--runtime=%s. If it was removed on purpose, remove its entries from the file. Then "
		"run systemctl restart %s%s",
		engine, engine,
		strcmp(engine, "docker") == 0
			? ": that stops the containers, unless live-restore is on."
			: ".");
}

/* An engine ends at a default runtime that has no entry. */
static const char *engine_stops(const struct reference *r)
{
	if (!known_is(r->kind, REFERENCE_RUNTIME) || str_starts(r->file, "/var/lib/"))
		return NULL;
	return strstr(r->file.value, "docker") ? "docker.service"
	       : strstr(r->file.value, "crio") ? "crio.service"
					       : "containerd.service";
}

static void check_engine(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_ENGINE,
		.none = "no engine's configuration names NVIDIA's runtime",
		.expected = "runtimes that exist",
		.counts = counts_engine,
		.grade = grade_engine,
		.remedy = engine_remedy,
		.impact = engine_impact,
		.stops = engine_stops,
	};

	if (!skip_unless_for_gpus(ctx))
		references_check(ctx, &check);
}

/* ---- the toolkit ---- */

/* An engine is set up for NVIDIA's runtime, or that is not known. enroot uses the root alone. */
static bool is_toolkit_used(const struct node *node)
{
	for_each(c, &node->containers.configs)
		if (!known_is(c->nvidia, false))
			return true;
	return !was_read(node->containers.configs);
}

static enum severity grade_toolkit(const struct rule_context *ctx, const struct reference *r,
				   enum reference_state state)
{
	(void)state;
	/* Old releases of the command-line tool do not need the path. */
	return known_is(r->kind, REFERENCE_DRIVER) ? SEVERITY_ERR
	       : is_toolkit_used(ctx->node)	   ? SEVERITY_WARN
						   : SEVERITY_INFO;
}

static bool is_ldconfig_real(const struct reference *r)
{
	return str_is(r->role, TOOLKIT_LDCONFIG) &&
	       span_ends(span_of(r->name.value), LDCONFIG_REAL);
}

/* The same program by its other name: ldconfig of ldconfig.real, and the reverse. */
static const struct reference *other_ldconfig(const struct node *node, const struct reference *r)
{
	const struct reference *other = NULL;

	while ((other = reference_next(node, REFERENCE_TOOLKIT, r->file.value, other)))
		if (other != r && known_is(other->kind, REFERENCE_PROGRAM) &&
		    str_is(other->role, TOOLKIT_LDCONFIG))
			return other;
	return NULL;
}

static bool is_configured(const struct node *node, const struct reference *r)
{
	const struct reference *value = NULL;

	while ((value = reference_next(node, REFERENCE_TOOLKIT, r->file.value, value)))
		if (known_is(value->kind, REFERENCE_VALUE) && str_is(value->role, TOOLKIT_LDCONFIG))
			return str_is(r->name, value->name.value + 1);
	return false;
}

/* From 1.15 on the toolkit takes ldconfig where there is no ldconfig.real, and the reverse. */
static bool counts_ldconfig(const struct node *node, const struct reference *r)
{
	const char *fact, *toolkit = container_toolkit_version(node, &fact);
	const struct reference *other = other_ldconfig(node, r);
	enum reference_state state = reference_state(r);

	if (toolkit && version_compare(toolkit, "1.15") < 0)
		return is_configured(node, r);
	if (!other || state == REFERENCE_EXISTS)
		return true;
	/* If neither is there, the plain name is reported. If one is missing and the other not known, that one is. */
	return reference_state(other) == REFERENCE_MISSING
		       ? state != REFERENCE_MISSING || !is_ldconfig_real(r)
		       : state == REFERENCE_UNSURE && reference_state(other) != REFERENCE_EXISTS;
}

static bool counts_toolkit(const struct node *node, const struct reference *r)
{
	if (known_is(r->kind, REFERENCE_VALUE))
		return false;
	return !str_is(r->role, TOOLKIT_LDCONFIG) || counts_ldconfig(node, r);
}

static const char *toolkit_remedy(struct rule_context *ctx, const struct reference *r)
{
	const struct reference *other = str_is(r->role, TOOLKIT_LDCONFIG)
						? other_ldconfig(ctx->node, r)
						: NULL;

	if (other && reference_state(other) == REFERENCE_EXISTS)
		return text_printf(
			ctx,
			"Run nvidia-ctk config --set nvidia-container-cli.ldconfig=@%s --in-place.",
			other->name.value);
	if (known_is(r->kind, REFERENCE_DRIVER))
		return text_printf(
			ctx,
			"The driver is not in %s. If the GPU operator's driver container was removed, run "
			"nvidia-ctk config --set nvidia-container-cli.root=/ --in-place.",
			r->name.value);
	return text_printf(ctx, "Install the package that has %s, or correct the line.",
			   r->name.value);
}

static void check_toolkit(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_TOOLKIT,
		.none = "the NVIDIA Container Toolkit has no configuration file",
		.expected = "programs and folders that exist",
		.counts = counts_toolkit,
		.grade = grade_toolkit,
		.remedy = toolkit_remedy,
	};

	if (!skip_unless_for_gpus(ctx))
		references_check(ctx, &check);
}

/* ---- Docker below a kubelet ---- */

#define DOCKER_FILE "/etc/docker/daemon.json"

/* Docker is set up for NVIDIA's runtime, and another is its default. */
static bool names_nvidia_beside_default(const struct node *node, const struct reference *fallback)
{
	const struct reference *r = NULL;

	if (fallback && strstr(fallback->name.value, "nvidia"))
		return false;
	while ((r = reference_next(node, REFERENCE_ENGINE, DOCKER_FILE, r)))
		if (strstr(r->role.value, "nvidia"))
			return true;
	return false;
}

#define ADAPTER_FIRST "0.4.0"
#define ADAPTER_PAST "0.4.2"

/* Returns true if cri-dockerd starts a pod with the runtime of its RuntimeClass. 0.4.0 does; the branch of 0.4.2 and
 * 0.4.3 left from before that change. Dockershim, which was part of the kubelet, never did. */
static struct fact_bool adapter_selects(const struct node *node)
{
	const struct software_item *adapter = node_software(node, "cri-dockerd");

	if (!adapter || !is_known(adapter->version))
		return (struct fact_bool){ .state = FACT_UNKNOWN };
	return fact_bool(version_compare(adapter->version.value, ADAPTER_FIRST) >= 0 &&
			 version_compare(adapter->version.value, ADAPTER_PAST) < 0);
}

/* NVIDIA's runtime reads the variable by which the device plugin gives a container its GPUs. */
static void check_docker(struct rule_context *ctx, const struct reference *fallback)
{
	const char *name = fallback ? fallback->name.value : "runc";
	bool can_select = names_nvidia_beside_default(ctx->node, fallback);
	struct fact_bool selects = adapter_selects(ctx->node);

	if (strstr(name, "nvidia"))
		PASS(ctx, .evidence = { "references.items" });
	else if (can_select && (!is_known(selects) || selects.value))
		NOTE(ctx,
		     .observed = text_printf(
			     ctx, "Docker's default runtime is %s. %s", name,
			     is_known(selects)
				     ? "Only pods with a RuntimeClass for NVIDIA's runtime get GPUs"
				     : "The version of cri-dockerd was not read: only " ADAPTER_FIRST
				       " and 0.4.1 start pods with another runtime"),
		     .evidence = { "containers.kubelet_uses_docker", "references.items",
				   "software.items" });
	else if (!fallback && !known_is(ctx->node->references.complete, true))
		UNKNOWN(ctx, .evidence = { "references.complete" });
	else
		FAIL(ctx,
		     .observed = text_printf(ctx, "Docker starts pods with %s, its default runtime",
					     name),
		     .expected = "\"default-runtime\": \"nvidia\" in /etc/docker/daemon.json",
		     .evidence = { "containers.kubelet_uses_docker", "references.items" });
}

/* Of a copy, or of a kubelet that does not run now, the engine is often not known; Docker's file shows what a kubelet
 * with Docker would do. */
static void check_unsure(struct rule_context *ctx, const struct reference *fallback)
{
	const struct node *node = ctx->node;
	struct kind_answer kubernetes = kind_find(node, KIND_KUBERNETES, ctx->arena);

	if (known_is(node->containers.kubelet_uses_docker, false))
		NOT_APPLICABLE(ctx, .observed = "no kubelet that uses Docker",
			       .evidence = { "containers.kubelet_uses_docker" });
	else if (!is_known(kubernetes.is))
		UNKNOWN(ctx, .evidence = { kubernetes.fact });
	else if (!kubernetes.is.value)
		NOT_APPLICABLE(ctx, .observed = "no Kubernetes node",
			       .evidence = { kubernetes.fact });
	else if (names_nvidia_beside_default(node, fallback))
		NOTE(ctx,
		     .observed = text_printf(
			     ctx,
			     "Docker's default runtime is %s. If the kubelet uses Docker, pods "
			     "get no GPU",
			     fallback ? fallback->name.value : "runc"),
		     .evidence = { "references.items", kubernetes.fact });
	else if (fallback && strstr(fallback->name.value, "nvidia"))
		PASS(ctx, .evidence = { "references.items" });
	else if (is_unknown(node->containers.kubelet_uses_docker))
		UNKNOWN(ctx, .evidence = { "containers.kubelet_uses_docker" });
	else
		NOT_APPLICABLE(ctx, .observed = "no kubelet that uses Docker",
			       .evidence = { "containers.kubelet_uses_docker" });
}

static void check_default(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct reference *r = NULL, *fallback = NULL;

	if (skip_unless_for_gpus(ctx))
		return;
	while ((r = reference_next(node, REFERENCE_ENGINE, DOCKER_FILE, r)))
		if (known_is(r->kind, REFERENCE_RUNTIME))
			fallback = r;
	if (!was_read(node->services.units))
		UNKNOWN(ctx, .evidence = { "services.units" });
	else if (node_service_will_run(node, "kubelet.service") &&
		 node_service_will_run(node, "docker.service") &&
		 known_is(node->containers.kubelet_uses_docker, true))
		check_docker(ctx, fallback);
	else
		check_unsure(ctx, fallback);
}

static const struct rule dev_runtimes_rules[] = {
	{
		.id = "dev/container-runtime-missing",
		.title = "Containers do not start: the engine names a runtime that does not exist",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_engine,
		.impact = "Containers of this runtime do not start.",
		.remedy =
			"Install the NVIDIA Container Toolkit and configure the engine, or remove the runtime"
			" from its configuration. Then restart the engine.",
		.activation = ACTIVATION_RESTART,
		.reads =
			"The runtimes in /etc/docker/daemon.json, in containerd's config.toml and conf.d, in "
			"those of k3s and RKE2, and in crio.conf; the default runtime; NVIDIA's hooks in "
			"containers/oci/hooks.d; and the named programs.",
		.why = "The GPU operator and package removals leave entries for missing programs behind. A "
		       "missing default runtime stops every container. Another missing runtime stops only "
		       "containers that request it.",
		.check = "grep -rn nvidia /etc/docker/daemon.json /etc/containerd /etc/crio",
		.sources = "NVIDIA Container Toolkit 1.20.0: pkg/config/engine\n"
			   "containerd 2.1: internal/cri/config/config.go\n"
			   "moby 28: daemon/runtime_unix.go\n"
			   "containers/common main (2026): pkg/hooks/docs/oci-hooks.5.md",
	},
	{
		.id = "dev/toolkit-path-missing",
		.title = "Containers with GPUs fail: the container toolkit names a missing path",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_toolkit,
		.impact = "Containers with GPUs do not start, or start without libcuda.",
		.remedy = "Correct the path in /etc/nvidia-container-runtime/config.toml.",
		.activation = ACTIVATION_RECREATE,
		.reads =
			"The paths in the toolkit's config.toml (nvidia-container-cli.root, path, ldcache and "
			"ldconfig, the hook, nvidia-ctk, the low-level runtimes) and the named files; libcuda and "
			"libnvidia-ml below root; the version of the toolkit.",
		.why = "The toolkit takes the driver's libraries from nvidia-container-cli.root. "
		       "/run/nvidia/driver belongs to the GPU operator's driver container. Without it the "
		       "folder is missing or empty. Of several low-level runtimes one is enough. Before 1.15 "
		       "the toolkit does not look for ldconfig where ldconfig.real is missing, or for ldconfig.real "
		       "where ldconfig is.",
		.check = "nvidia-ctk config",
		.sources =
			"NVIDIA Container Toolkit 1.20.0: api/config/v1, internal/lookup/root, CHANGELOG.md "
			"(1.15.0-rc.1)",
	},
	{
		.id = "dev/docker-default-runtime",
		.title = "Pods get no GPU: Docker's default runtime is not NVIDIA's",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_default,
		.impact =
			"The device plugin finds no GPU on the node. Pods that request one stay pending or "
			"start without it.",
		.remedy = "Make NVIDIA's runtime Docker's default, then restart Docker.",
		.command = "sudo nvidia-ctk runtime configure --runtime=docker --set-as-default\n"
			   "sudo systemctl restart docker",
		.activation = ACTIVATION_RESTART,
		.reads =
			"default-runtime in /etc/docker/daemon.json, and the kubelet's engine: its "
			"--container-runtime-endpoint, and cri-dockerd with its version.",
		.why = "Kubernetes selects a runtime with a RuntimeClass. Of the releases of cri-dockerd only 0.4.0 and 0.4.1 "
		       "pass it on to Docker, and with them this is a note. With others the default runtime starts "
		       "every container. A kubelet that uses containerd or CRI-O is not affected. Where Docker's file "
		       "names NVIDIA's runtime, an unknown engine of the kubelet or version of cri-dockerd is a note.",
		.check =
			"docker info --format '{{.DefaultRuntime}}'; tr '\\0' ' ' < /proc/$(pgrep -o "
			"kubelet)/cmdline",
		.cost = "Restarting Docker stops the containers, unless live-restore is on.",
		.is_risk = true,
		.ends_jobs = true,
		.sources =
			"NVIDIA k8s-device-plugin v0.20.0: README.md (Configure docker)\n"
			"github.com/Mirantis/cri-dockerd v0.3.25, v0.4.0 to v0.4.3: core/sandbox_run.go (RunPodSandbox); pull 350",
	},
};

RULE_TABLE(dev_runtimes);
