/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev-containers.c - do container engines reach the GPUs, and do containers keep them (rules dev/...)? */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/shell.h"
#include "evaluate/known.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/container-runtime.h"
#include "query/endpoints.h"
#include "query/reference.h"

/* ---- engines ---- */

static bool runs_or_will(const struct service *service)
{
	return str_is(service->active, "active") || str_is(service->enabled, "enabled");
}

static const char *const engines[] = { "kubelet.service", "crio.service", "docker.service",
				       "containerd.service" };

static const struct service *engine(const struct node *node)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		const struct service *service = node_service(node, engines[i]);

		if (service && runs_or_will(service))
			return service;
	}
	return NULL;
}

/* The state of a unit that starts an engine is not known. */
static bool is_engine_unknown(const struct node *node)
{
	for (size_t i = 0; i < ARRAY_SIZE(engines); i++) {
		const struct service *service = node_service(node, engines[i]);

		if (service && !str_is(service->load, "not-found") &&
		    (is_unknown(service->active) || is_unknown(service->enabled)))
			return true;
	}
	return false;
}

/* Answers the rule without a GPU, driver or engine, and inside a container. */
static bool skip_without_engine(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	if (skip_unless_for_gpus(ctx) || skip_without_driver(ctx))
		return true;
	if (is_known(node->os.container))
		NOT_APPLICABLE(ctx, .observed = "inside a container",
			       .evidence = { "os.container" });
	else if (!was_read(node->services.units))
		UNKNOWN(ctx, .evidence = { "services.units" });
	else if (!engine(node) && is_engine_unknown(node))
		UNKNOWN(ctx, .evidence = { "services.units" });
	else if (!engine(node) && node->containers.rootless.count)
		NOT_APPLICABLE(
			ctx,
			.observed = text_printf(
				ctx,
				"no engine runs as root; a user's Docker does not need it (%s)",
				node->containers.rootless.items[0]),
			.evidence = { "containers.rootless", "services.units" });
	else if (!engine(node))
		NOT_APPLICABLE(ctx, .observed = "no container engine runs or is enabled",
			       .evidence = { "services.units" });
	else
		return false;
	return true;
}

/* ---- wiring ---- */

static const struct engine_config *wired(const struct node *node)
{
	for_each(c, &node->containers.configs)
		if (known_is(c->nvidia, true) && !span_ends(span_of(c->path.value), ".tmpl"))
			return c;
	return NULL;
}

/* dev/cdi-stale checks its contents. False if there is none. */
static bool has_specification(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	if (!node->containers.cdi.count)
		return false;
	PASS(ctx,
	     .observed = text_printf(ctx, "%s; dev/cdi-stale checks it",
				     node->containers.cdi.items[0].path.value),
	     .evidence = { "containers.cdi" });
	return true;
}

#define TOOLKIT_CONFIG "/etc/nvidia-container-runtime/config.toml"

/*
 * With no-cgroups the toolkit's hook does not change the cgroup, which only rootless engines need. CDI does not
 * use the hook; docker run --gpus does.
 */
static void check_no_cgroups(struct rule_context *ctx)
{
	const struct containers_facts *containers = &ctx->node->containers;
	const struct service *docker = node_service(ctx->node, "docker.service");
	bool by_hook = docker && runs_or_will(docker) && !containers->cdi.count;

	if (!is_known(containers->toolkit))
		return;
	if (!was_read(containers->no_cgroups))
		UNKNOWN(ctx, .subject = TOOLKIT_CONFIG, .evidence = { "containers.no_cgroups" });
	else if (known_is(containers->no_cgroups, true))
		FAIL_AS(ctx, by_hook ? SEVERITY_WARN : SEVERITY_INFO, .subject = TOOLKIT_CONFIG,
			.observed =
				"no-cgroups = true: the toolkit's hook does not allow the GPUs in a "
				"container's cgroup",
			.expected = text_printf(ctx, "false: %s runs as root",
						engine(ctx->node)->unit.value),
			.impact =
				"nvidia-smi in a container reports \"Failed to initialize NVML: Unknown "
				"Error\" and CUDA finds no device, unless CDI, --device or --privileged "
				"gives it the devices.",
			.remedy =
				"Set no-cgroups to false. Rootless engines then need their own file "
				"(XDG_CONFIG_HOME) or CDI.",
			.command = "sudo nvidia-ctk config --set "
				   "nvidia-container-cli.no-cgroups=false --in-place",
			.evidence = { "containers.no_cgroups", "containers.toolkit",
				      "services.units" });
}

/* Docker from Canonical's snap uses neither the host's toolkit nor /etc/docker, which are read here. */
static bool check_snap(struct rule_context *ctx)
{
	static const char unit[] = "snap.docker.dockerd.service";
	const struct service *snap = node_service(ctx->node, unit);
	const struct service *docker = node_service(ctx->node, "docker.service");
	/* The snap's dockerd runs under the same name; only a unit file shows a second Docker. */
	bool two = docker && runs_or_will(docker) && is_known(docker->enabled);
	bool host_toolkit = is_known(ctx->node->containers.toolkit);

	if (!snap || !runs_or_will(snap) || !ctx->endpoints->gpus.count)
		return false;
	FAIL_AS(ctx, two ? SEVERITY_WARN : SEVERITY_INFO, .subject = unit,
		.observed =
			two ? "Docker from a snap, beside docker.service"
			: host_toolkit
				? "Docker from a snap, which does not use the container toolkit of this host"
				: "Docker from a snap",
		.expected = two ? "one Docker"
				: "Docker from its maker's or the distribution's packages",
		.impact =
			"It does not read /etc/docker/daemon.json: its settings are in "
			"/var/snap/docker/current/config. Older revisions do not find the host's driver: "
			"\"could not select device driver\", \"unknown or invalid runtime name: nvidia\".",
		.remedy =
			two ? "Remove one of the two, usually the snap. That stops its containers and removes them, "
			      "their volumes and its images: save what is needed first."
			    : "Remove the snap and install Docker from packages, or configure the snap's own support for "
			      "NVIDIA.",
		.command = "sudo snap remove docker",
		.evidence = { fact_path(ctx->arena, "services.units", unit, "active"),
			      fact_path(ctx->arena, "services.units", unit, "enabled") });
	return !engine(ctx->node) || (!two && str_is(engine(ctx->node)->unit, "docker.service"));
}

/* NVIDIA's DRA driver writes a CDI specification for each claim. */
static bool skip_with_dra(struct rule_context *ctx)
{
	struct kind_answer dra = kind_find(ctx->node, KIND_DRA, ctx->arena);

	if (known_is(dra.is, true))
		PASS(ctx, .observed = "NVIDIA's DRA driver provides the GPUs",
		     .evidence = { dra.fact });
	else if (!is_known(dra.is) && node_is(ctx->node, KIND_KUBERNETES))
		UNKNOWN(ctx,
			.observed = "whether NVIDIA's DRA driver provides the GPUs was not read",
			.evidence = { dra.fact });
	else
		return false;
	return true;
}

#define CTK_CONTAINERD \
	"1.14" /* its nvidia-ctk runtime configure knows containerd (CHANGELOG.md, 1.14.0-rc.1) */

/* Returns the engine that a service of Kubernetes or its own starts containers with; NULL: not read. */
static const char *engine_name(const struct node *node, const struct service *service)
{
	const struct service *crio = node_service(node, "crio.service");

	if (!str_is(service->unit, "kubelet.service"))
		return str_is(service->unit, "docker.service") ? "docker"
		       : str_is(service->unit, "crio.service") ? "crio"
							       : "containerd";
	if (known_is(node->containers.kubelet_uses_docker, true))
		return "docker";
	if (crio && runs_or_will(crio))
		return "crio";
	return is_unknown(node->containers.kubelet_uses_docker) ? NULL : "containerd";
}

/* The file that the engine reads; NULL: none was found. k3s and RKE2 make theirs (dev/engine-config). */
static const char *engine_file(const struct node *node, const char *engine)
{
	for_each(c, &node->containers.configs)
		if (engine && is_known(c->path) && strstr(c->path.value, engine) &&
		    !str_starts(c->path, "/var/lib/rancher/") &&
		    !str_starts(c->path, "/etc/containerd/conf.d/"))
			return c->path.value;
	return NULL;
}

/* containerd before 1.3 takes the runtime from the plugin linux (k8s-device-plugin issue 107), and before 1.7 it has no
 * CDI: of no containerd a specification is asked for, because NVIDIA's runtime works with each. */
static const char *by_hand(struct rule_context *ctx, const char *file)
{
	const struct software_item *containerd = node_software(ctx->node, "containerd");

	if (containerd && is_known(containerd->version) &&
	    version_compare(containerd->version.value, "1.3") < 0)
		return text_printf(
			ctx,
			"Set runtime = \"nvidia-container-runtime\" in [plugins.linux] of %s. "
			"Then restart containerd.",
			file);
	return "Install version " CTK_CONTAINERD
	       " or later of the NVIDIA Container Toolkit, and run nvidia-ctk runtime configure "
	       "--runtime=containerd --set-as-default. Then restart containerd.";
}

static void fail_containerd(struct rule_context *ctx, const char *file, enum severity severity)
{
	const struct node *node = ctx->node;
	const char *fact, *version = container_toolkit_version(node, &fact);
	bool has_ctk = version ? version_compare(version, CTK_CONTAINERD) >= 0
			       : str_is(node->containers.toolkit, "/usr/bin/nvidia-ctk");

	FAIL_AS(ctx, severity, .subject = file,
		.observed = text_printf(
			ctx,
			"containerd starts containers with runc: %s names no runtime of "
			"NVIDIA's%s",
			file,
			is_absent(node->containers.toolkit)
				? "; the NVIDIA Container Toolkit is not installed"
				: ""),
		.expected = "NVIDIA's runtime in this file",
		.impact =
			"Containers start without GPUs. The device plugin finds none, and pods that request one "
			"stay pending.",
		.remedy =
			has_ctk ? text_printf(
					  ctx,
					  "Configure NVIDIA's runtime with nvidia-ctk%s%s, then restart "
					  "containerd.",
					  version ? " of version " : "", version ? version : "")
				: by_hand(ctx, file),
		.command =
			has_ctk ? shell_printf(
					  ctx->arena,
					  "sudo nvidia-ctk runtime configure --runtime=containerd "
					  "--set-as-default --config=%s\n"
					  "sudo systemctl restart containerd",
					  file)
				: NULL,
		.activation = ACTIVATION_RESTART,
		.evidence = { fact_path(ctx->arena, "containers.configs", file, "nvidia"), fact,
			      "containers.toolkit" });
}

static void check_wiring(struct rule_context *ctx)
{
	const struct containers_facts *containers = &ctx->node->containers;
	const struct service *service;
	const char *name;
	bool meant;

	if (check_snap(ctx) || skip_without_engine(ctx))
		return;
	check_no_cgroups(ctx);
	if (has_specification(ctx))
		return;
	service = engine(ctx->node);
	name = engine_name(ctx->node, service);
	/* Docker's --gpus starts the hook by its name; the others need configuration. */
	meant = is_known(containers->toolkit) || str_is(service->unit, "kubelet.service");
	if (wired(ctx->node))
		PASS(ctx, .evidence = { fact_path(ctx->arena, "containers.configs",
						  wired(ctx->node)->path.value, "nvidia") });
	else if (is_known(containers->toolkit) && str_is(service->unit, "docker.service"))
		PASS(ctx, .observed = "docker run --gpus finds the toolkit without configuration",
		     .evidence = { "containers.toolkit" });
	else if (str_is(service->unit, "kubelet.service") && !containers->configs.count)
		UNKNOWN(ctx,
			.observed =
				"the configuration of the engine that kubelet uses was not found",
			.evidence = { "containers.configs" });
	else if (!was_read(containers->cdi) || !was_read(containers->configs))
		UNKNOWN(ctx, .evidence = { was_read(containers->cdi) ? "containers.configs"
								     : "containers.cdi" });
	else if (skip_with_dra(ctx))
		return;
	else if (same_text(name, "containerd") && engine_file(ctx->node, name))
		fail_containerd(ctx, engine_file(ctx->node, name),
				meant ? SEVERITY_WARN : SEVERITY_INFO);
	else
		FAIL_AS(ctx, meant ? SEVERITY_WARN : SEVERITY_INFO,
			.observed = text_printf(
				ctx, "%s runs, and its configuration does not name the GPUs%s",
				service->unit.value,
				is_absent(containers->toolkit)
					? "; the NVIDIA Container Toolkit is not installed"
					: ""),
			.expected =
				"a CDI specification, or NVIDIA's runtime in the engine's configuration",
			.evidence = { "containers.cdi", "containers.configs",
				      "containers.toolkit" });
}

/* ---- /dev/char ---- */

static bool has_link(const struct node *node, const char *name)
{
	for_each(link, &node->dev.char_links)
		if (strcmp(*link, name) == 0)
			return true;
	return false;
}

static uint64_t major_of(const struct node *node, const char *name)
{
	for_each(m, &node->dev.majors)
		if (str_is(m->name, name))
			return m->major.value;
	return 0;
}

/* include/nv-chardev-numbers.h: nvidiactl's minor number. */
#define NVIDIACTL_MINOR 255

struct missing_links {
	size_t count;
	const char *first;
};

static void need_link(struct rule_context *ctx, struct missing_links *missing, uint64_t major,
		      uint64_t minor)
{
	const char *name = text_printf(ctx, "%" PRIu64 ":%" PRIu64, major, minor);

	if (has_link(ctx->node, name))
		return;
	if (missing->count++ == 0)
		missing->first = name;
}

/* Docker alone, and systemd does not manage its cgroups. */
static bool skip_with_cgroupfs(struct rule_context *ctx)
{
	const struct reference *r = NULL;

	if (!str_is(engine(ctx->node)->unit, "docker.service"))
		return false;
	while ((r = reference_next(ctx->node, REFERENCE_ENGINE, NULL, r)))
		if (str_is(r->role, ENGINE_EXEC_OPTS) &&
		    str_is(r->name, "native.cgroupdriver=cgroupfs")) {
			NOT_APPLICABLE(
				ctx, .observed = "Docker manages cgroups itself (cgroupfs)",
				.evidence = { reference_fact(ctx->arena, ctx->node, r, "name") });
			return true;
		}
	return false;
}

static void check_char_links(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	struct missing_links missing = { 0 };
	struct known_cause cause;
	uint64_t nvidia, uvm;

	if (skip_without_engine(ctx) || skip_with_cgroupfs(ctx))
		return;
	if (!was_read(node->dev.char_links) || !was_read(node->dev.majors)) {
		UNKNOWN(ctx, .evidence = { was_read(node->dev.majors) ? "dev.char_links"
								      : "dev.majors" });
		return;
	}
	nvidia = major_of(node, "nvidia");
	nvidia = nvidia ? nvidia : major_of(node, "nvidia-frontend");
	uvm = major_of(node, "nvidia-uvm");
	if (nvidia)
		need_link(ctx, &missing, nvidia, NVIDIACTL_MINOR);
	for_each(g, &node->gpu.devices)
		if (nvidia && is_known(g->minor) && !known_is(g->excluded, true))
			need_link(ctx, &missing, nvidia, g->minor.value);
	if (uvm)
		need_link(ctx, &missing, uvm, 0);
	if (!missing.count) {
		PASS(ctx, .evidence = { "dev.char_links" });
		return;
	}
	cause = known_cause(ctx, text_printf(ctx, "/dev/char lacks %zu link%s; the first is %s",
					     missing.count, missing.count == 1 ? "" : "s",
					     missing.first));
	FAIL(ctx, .observed = cause.observed, .expected = "a link for every NVIDIA device file",
	     .remedy = cause.remedy, .source = cause.source,
	     .evidence = { "dev.char_links", "dev.majors" });
}

static const struct rule dev_containers_rules[] = {
	{
		.id = "dev/cdi-wiring",
		.title = "Containers start without GPUs: the engine is not configured for them",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_wiring,
		.impact = "Containers start without GPUs.",
		.remedy =
			"Generate a CDI specification, or configure NVIDIA's runtime. Then restart the "
			"engine.",
		.command = "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",
		.activation = ACTIVATION_NOW,
		.reads =
			"Specifications in /etc/cdi and /run/cdi; the configuration of Docker, containerd (also the file of "
			"its --config), CRI-O and Podman; the programs of the NVIDIA Container Toolkit and its config.toml.",
		.why = "Any line that names nvidia counts as configuration. Without toolkit and Kubernetes "
		       "the containers may not need a GPU: a note. no-cgroups = true in the toolkit's "
		       "config.toml is for rootless engines. With an engine that runs as root the hook "
		       "mounts the device files but does not allow them in the cgroup. CDI and other engines"
		       " may never run the hook: then it is a note. Docker from a snap alone is a note: "
		       "newer revisions bring their own toolkit.",
		.check =
			"nvidia-ctk cdi list; grep -r nvidia /etc/containerd /etc/docker/daemon.json; grep "
			"no-cgroups /etc/nvidia-container-runtime/config.toml",
		.sources =
			"github.com/NVIDIA/cloud-native-docs main (August 2026): container-toolkit/install-guide.md (Rootless mode), container-toolkit/cdi-support.md\n"
			"github.com/NVIDIA/nvidia-container-toolkit issues 381 (no-cgroups) and 154 (snap)\n"
			"github.com/canonical/docker-snap issue 64 (2022-02-28): snap remove deletes the volumes\n"
			"docker-snap 8452deb (2026-05-01): README.md\n"
			"containerd 002cabad: cmd/containerd/command/main.go (App); docs/ops.md\n"
			"container-device-interface v1.1.0: SPEC.md\n"
			"NVIDIA Container Toolkit 1.20.0: CHANGELOG.md (1.14.0-rc.1)\n"
			"github.com/NVIDIA/k8s-device-plugin issue 107 (containerd 1.2)",
	},
	{
		.id = "dev/char-symlinks-missing",
		.title =
			"Containers lose their GPUs when systemd reloads: links in /dev/char are missing",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_char_links,
		.needs_running = true,
		.impact =
			"After systemctl daemon-reload, running containers report \"Failed to initialize NVML:"
			" Unknown Error\".",
		.remedy =
			"Create the links now, and at each boot with a udev rule that runs the same command.",
		.command = "sudo nvidia-ctk system create-dev-char-symlinks --create-all",
		.activation = ACTIVATION_NOW,
		.reads =
			"The links in /dev/char, the major numbers in /proc/devices, the container engines "
			"that run or are enabled, and exec-opts in /etc/docker/daemon.json.",
		.why = "systemd looks devices up through /dev/char when it applies cgroup rules again. The "
		       "NVIDIA driver's nodes are not created through udev. Engines with the cgroupfs driver"
		       " are not affected, nor are devices of CDI or --device. Of engines other than Docker the "
		       "cgroup driver was not read.",
		.check = "ls -l /dev/char | grep nvidia",
		.sources =
			"NVIDIA Container Toolkit 1.20.0: cmd/nvidia-ctk/system/create-dev-char-symlinks\n"
			"github.com/NVIDIA/nvidia-container-toolkit issue 48\n"
			"github.com/NVIDIA/nvidia-docker issue 1730\n"
			"dockerd(8) of Docker 28: native.cgroupdriver",
	},
};

RULE_TABLE(dev_containers);
