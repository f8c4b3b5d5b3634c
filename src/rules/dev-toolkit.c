/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev-toolkit.c - values in the NVIDIA Container Toolkit's config.toml, and whether there is a CDI specification
 * where something uses one (rules dev/...). */
#include <string.h>

#include "base/array.h"
#include "evaluate/references.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/container-runtime.h"

#define DOCKER_CONFIG "/etc/docker/daemon.json"

/* The toolkit is known to be older than VERSION. */
static bool is_older(const struct node *node, const char *version)
{
	const struct software_item *toolkit = node_software(node, "container-toolkit");

	return toolkit && is_known(toolkit->version) &&
	       version_compare(toolkit->version.value, version) < 0;
}

static const struct reference *value_in(const struct node *node, const char *file, const char *key)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_TOOLKIT, file, r)))
		if (known_is(r->kind, REFERENCE_VALUE) && str_is(r->role, key))
			return r;
	return NULL;
}

static bool is_on(const struct reference *r)
{
	return r && str_is(r->name, "true");
}

static void fail_value(struct rule_context *ctx, enum severity severity, const struct reference *r,
		       const char *expected, const char *impact, const char *remedy)
{
	FAIL_AS(ctx, severity, .subject = r->role.value,
		.observed = text_printf(ctx, "%s: %s", reference_place(ctx->arena, r),
					r->name.value),
		.expected = expected, .impact = impact, .remedy = remedy,
		.evidence = { reference_fact(ctx->arena, ctx->node, r, "name") });
}

/* ---- mode ---- */

/* internal/info/auto.go; jit-cdi is new in 1.18. */
static bool is_mode(const struct node *node, const struct reference *mode)
{
	static const char *const modes[] = { "auto", "cdi", "csv", "legacy" };

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (str_is(mode->name, modes[i]))
			return true;
	return str_is(mode->name, "jit-cdi") && !is_older(node, "1.18");
}

static bool docker_defaults_to_nvidia(const struct node *node)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_ENGINE, DOCKER_CONFIG, r)))
		if (known_is(r->kind, REFERENCE_RUNTIME) && strstr(r->name.value, "nvidia"))
			return true;
	return false;
}

#define DOCKER_CDI "29.2" /* its --gpus asks for a device of a CDI specification first */

/* cmd/nvidia-container-runtime-hook/hook_config.go, assertModeIsLegacy() */
static void check_hook(struct rule_context *ctx, const struct reference *mode)
{
	const struct node *node = ctx->node;
	const struct software_item *docker = node_software(node, "docker");
	bool has_version = docker && is_known(docker->version);
	bool is_new = has_version && version_compare(docker->version.value, DOCKER_CDI) >= 0;
	bool has_cdi = node->containers.cdi.count > 0;

	if (str_is(mode->name, "auto") || str_is(mode->name, "legacy") ||
	    is_on(value_in(node, mode->file.value, TOOLKIT_SKIP_MODE)) ||
	    !node_service_will_run(node, "docker.service") || docker_defaults_to_nvidia(node) ||
	    (is_new && has_cdi))
		return;
	fail_value(
		ctx, !has_version && has_cdi ? SEVERITY_INFO : SEVERITY_WARN, mode, "auto",
		"docker run --gpus fails (with Docker " DOCKER_CDI
		" and later only without a CDI specification): \"invoking the NVIDIA Container Runtime Hook directly ... is "
		"not supported\". Containers with --runtime=nvidia or a CDI device start.",
		"Run nvidia-ctk config --set nvidia-container-runtime.mode=auto --in-place. Or start "
		"containers with --runtime=nvidia or --device nvidia.com/gpu=all.");
}

static void check_mode(struct rule_context *ctx, const struct reference *mode)
{
	if (!is_mode(ctx->node, mode))
		fail_value(
			ctx, SEVERITY_ERR, mode, "auto, cdi, csv or legacy",
			"Containers of NVIDIA's runtime do not start: \"invalid runtime mode\".",
			"Run nvidia-ctk config --set nvidia-container-runtime.mode=auto --in-place.");
	else
		check_hook(ctx, mode);
}

/* ---- the other values ---- */

/* internal/config/image/capabilities.go */
static bool is_capability(struct span word)
{
	static const char *const all[] = { "all",     "compute", "compat32", "graphics",
					   "utility", "video",	 "display",  "ngx" };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (span_is(word, all[i]))
			return true;
	return false;
}

static void check_capabilities(struct rule_context *ctx, const struct reference *r)
{
	struct span rest = span_of(r->name.value), word;
	bool compute = false, utility = false;

	while (span_cut(&rest, ',', &word)) {
		word = span_trim(word);
		if (word.n && !is_capability(word)) {
			fail_value(ctx, SEVERITY_ERR, r, "capabilities that the toolkit knows",
				   "The toolkit's hook ends: \"Invalid value for config option\".",
				   "Remove the line, which allows all capabilities.");
			return;
		}
		compute |= span_is(word, "compute") || span_is(word, "all");
		utility |= span_is(word, "utility") || span_is(word, "all");
	}
	if (!compute || !utility)
		fail_value(ctx, SEVERITY_WARN, r, "compute and utility among them",
			   compute ? "Containers have no nvidia-smi and no libnvidia-ml."
				   : "Containers have no libcuda: CUDA does not start.",
			   "Remove the line, which allows all capabilities.");
}

static void check_environment(struct rule_context *ctx, const struct reference *r)
{
	const struct node *node = ctx->node;

	if (!str_is(r->name, "false"))
		return;
	/* Kubernetes can then pass the devices as mounts. */
	fail_value(
		ctx,
		is_on(value_in(node, r->file.value, TOOLKIT_MOUNTS)) ? SEVERITY_INFO
								     : SEVERITY_WARN,
		r, "true, or devices passed as mounts",
		"NVIDIA_VISIBLE_DEVICES has no effect in containers without --privileged: they "
		"start without a GPU.",
		"Set accept-nvidia-visible-devices-as-volume-mounts=true and "
		"deviceListStrategy=volume-mounts of the device plugin. Or set the value to true.");
}

/* Up to 1.14 the toolkit takes the path as it is (CHANGELOG.md, 1.15.0-rc.1). */
static bool takes_path_as_it_is(const struct node *node)
{
	const char *fact, *version = container_toolkit_version(node, &fact);

	return version && version_compare(version, "1.15") < 0;
}

/* The program ldconfig.real beside the file that VALUE names: then that file is a script of Debian's or Ubuntu's. */
static const struct reference *real_ldconfig(const struct node *node, const struct reference *value)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_TOOLKIT, value->file.value, r)))
		if (known_is(r->kind, REFERENCE_PROGRAM) && str_is(r->role, TOOLKIT_LDCONFIG) &&
		    span_ends(span_of(r->name.value), LDCONFIG_REAL) &&
		    reference_state(r) == REFERENCE_EXISTS)
			return r;
	return NULL;
}

/* Returns true if the value is the host's. */
static bool check_script(struct rule_context *ctx, const struct reference *r)
{
	const struct reference *real = real_ldconfig(ctx->node, r);

	if (!str_starts(r->name, "@"))
		return false;
	if (real && !span_ends(span_of(r->name.value), LDCONFIG_REAL) &&
	    takes_path_as_it_is(ctx->node))
		fail_value(
			ctx, SEVERITY_ERR, r, text_printf(ctx, "@%s", real->name.value),
			text_printf(
				ctx,
				"Containers with GPUs do not start: \"ldcache error: process %s failed with "
				"error code: 127\". Where %s exists, that file is a script, which cannot run in "
				"the container.",
				r->name.value + 1, real->name.value),
			text_printf(ctx,
				    "Set ldconfig = \"@%s\" in %s, or install version 1.15 or "
				    "later of the toolkit.",
				    real->name.value, r->file.value));
	return true;
}

/* api/config/v1/cli.go, assertValid(): new in 1.18.0-rc.1. */
static void check_ldconfig(struct rule_context *ctx, const struct reference *r)
{
	if (check_script(ctx, r))
		return;
	if (is_older(ctx->node, "1.18") ||
	    is_on(value_in(ctx->node, r->file.value, TOOLKIT_ANY_LDCONFIG)))
		return;
	fail_value(
		ctx, node_software(ctx->node, "container-toolkit") ? SEVERITY_ERR : SEVERITY_WARN,
		r, "@/sbin/ldconfig",
		"Containers with GPUs do not start: the value \"is not host-relative (does not start "
		"with a '@')\".",
		"Run nvidia-ctk config --set nvidia-container-cli.ldconfig=@/sbin/ldconfig --in-place.");
}

/* dev/cdi-wiring has the file of the host; the operator's is for engines that run as root. */
static void check_no_cgroups(struct rule_context *ctx, const struct reference *r)
{
	if (!is_on(r) || !strstr(r->file.value, "/toolkit/"))
		return;
	fail_value(
		ctx, SEVERITY_WARN, r, "false",
		"nvidia-smi in a container reports \"Failed to initialize NVML: Unknown Error\": the "
		"hook does not allow the GPUs in the container's cgroup.",
		"Set no-cgroups = false, in the values of the operator's toolkit.");
}

/* ---- a Docker that a user runs ---- */

#define TOOLKIT_FILE "/etc/nvidia-container-runtime/config.toml"

/* Without root the library can never change the device cgroup (libnvidia-container: src/nvc_container.c takes no
 * cgroup with no-cgroups; issue 154). CDI does not need the library. */
static void check_rootless(struct rule_context *ctx, const char *file)
{
	const struct node *node = ctx->node;
	const struct reference *r = value_in(node, file, TOOLKIT_NO_CGROUPS);
	bool root_too = node_service_will_run(node, "docker.service");

	if (strcmp(file, TOOLKIT_FILE) != 0 || !node->containers.rootless.count || is_on(r))
		return;
	FAIL_AS(ctx, node->containers.cdi.count ? SEVERITY_INFO : SEVERITY_WARN,
		.subject = TOOLKIT_NO_CGROUPS,
		.observed = text_printf(ctx, "%s %s, and a user runs Docker without root (%s)",
					r ? reference_place(ctx->arena, r) : file,
					r ? "has false" : "does not set it",
					node->containers.rootless.items[0]),
		.expected = "no-cgroups = true for a rootless engine",
		.impact =
			"Containers with GPUs of that user do not start: \"failed to add device rules: ... "
			"operation not permitted\".",
		.remedy =
			root_too
				? "Docker runs as root here too and needs no-cgroups = false. Give the user a "
				  "file of their own with no-cgroups = true, below $XDG_CONFIG_HOME/"
				  "nvidia-container-runtime, or use CDI."
				: "Set no-cgroups = true. An engine that runs as root needs false: do not set it "
				  "where one starts containers with GPUs.",
		.command = root_too ? NULL
				    : "sudo nvidia-ctk config --set "
				      "nvidia-container-cli.no-cgroups=true --in-place",
		.evidence = { "containers.rootless",
			      r ? reference_fact(ctx->arena, node, r, "name")
				: fact_path(ctx->arena, "references.files", file, "complete") });
}

static const struct {
	const char *key;
	void (*check)(struct rule_context *ctx, const struct reference *r);
} values[] = {
	{ TOOLKIT_MODE, check_mode },
	{ TOOLKIT_CAPABILITIES, check_capabilities },
	{ TOOLKIT_ENVIRONMENT, check_environment },
	{ TOOLKIT_LDCONFIG, check_ldconfig },
	{ TOOLKIT_NO_CGROUPS, check_no_cgroups },
};

static void check_file(struct rule_context *ctx, const struct reference_file *file,
		       const void *user)
{
	size_t before = ctx->findings->count;

	(void)user;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		const struct reference *r = value_in(ctx->node, file->path.value, values[i].key);

		if (r && is_known(r->name))
			values[i].check(ctx, r);
	}
	if (known_is(file->complete, true))
		check_rootless(ctx, file->path.value);
	if (ctx->findings->count == before)
		references_pass(ctx, file);
}

static void check_values(struct rule_context *ctx)
{
	if (!skip_without_gpu(ctx) && !skip_in_container(ctx))
		references_each(ctx, REFERENCE_TOOLKIT, check_file, NULL,
				"the NVIDIA Container Toolkit has no configuration file");
}

/* ---- a specification for those who use one ---- */

/* Returns the component that uses specifications, or writes them at each boot; NULL if none was read. */
static const char *uses_cdi(struct rule_context *ctx, const char **fact, enum severity *severity)
{
	const struct node *node = ctx->node;
	const struct reference *mode = NULL;

	*severity = SEVERITY_ERR;
	while ((mode = reference_next(node, REFERENCE_TOOLKIT, NULL, mode)))
		if (str_is(mode->role, TOOLKIT_MODE) && str_is(mode->name, "cdi")) {
			*fact = reference_fact(ctx->arena, node, mode, "name");
			return text_printf(ctx, "%s sets mode = \"cdi\"",
					   reference_place(ctx->arena, mode));
		}
	*severity = SEVERITY_WARN;
	*fact = "services.units[nvidia-cdi-refresh.service].enabled";
	if (node_service_will_run(node, "nvidia-cdi-refresh.service"))
		return "nvidia-cdi-refresh.service is enabled";
	return NULL;
}

static void check_missing(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *fact, *use;
	enum severity severity;

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	use = uses_cdi(ctx, &fact, &severity);
	if (is_known(node->os.container))
		NOT_APPLICABLE(ctx, .observed = "inside a container",
			       .evidence = { "os.container" });
	else if (node->containers.cdi.count)
		PASS(ctx, .observed = node->containers.cdi.items[0].path.value,
		     .evidence = { "containers.cdi" });
	else if (!was_read(node->containers.cdi))
		UNKNOWN(ctx, .evidence = { "containers.cdi" });
	else if (use)
		FAIL_AS(ctx, severity,
			.observed = text_printf(
				ctx, "%s, and neither /etc/cdi nor /run/cdi has a specification",
				use),
			.expected = "a specification of the kind nvidia.com/gpu",
			.evidence = { fact, "containers.cdi" });
	else if (!known_is(node->references.complete, true) || !was_read(node->services.units))
		UNKNOWN(ctx, .evidence = { was_read(node->services.units) ? "references.complete"
									  : "services.units" });
	else
		NOT_APPLICABLE(ctx, .observed = "nothing here uses CDI specifications",
			       .evidence = { "references.files", "services.units" });
}

static const struct rule dev_toolkit_rules[] = {
	{
		.id = "dev/toolkit-setting",
		.title = "Containers with GPUs fail: the container toolkit has a wrong setting",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_values,
		.impact = "Containers with GPUs do not start, or start without them.",
		.remedy = "Correct the value in the toolkit's config.toml.",
		.activation = ACTIVATION_RECREATE,
		.reads =
			"mode, skip-mode-detection, supported-driver-capabilities, ldconfig and the "
			"accept-nvidia-visible-devices-... keys of the toolkit's config.toml; Docker's default "
			"runtime; the versions of the toolkit and of libnvidia-container; ldconfig.real; no-cgroups, and Docker as a "
			"process or in the home of a user.",
		.why = "The toolkit ends at a mode or a capability that it does not know. docker run --gpus "
		       "starts the toolkit's hook, which refuses every mode but auto and legacy. Docker from 29.2 on "
		       "first asks for a device of a CDI specification. From 1.18 on of the toolkit ldconfig must be the host's. "
		       "Up to 1.14 it must be the program and not Debian's script. "
		       "A Docker without root cannot change control groups; with a CDI specification that is a note.",
		.check = "nvidia-ctk config",
		.sources =
			"NVIDIA Container Toolkit 1.20.0: api/config/v1, internal/info/auto.go, "
			"cmd/nvidia-container-runtime-hook/hook_config.go, internal/config/image, "
			"CHANGELOG.md (1.15.0-rc.1, 1.18.0-rc.1)\n"
			"moby 29.2.0: daemon/devices_nvidia_linux.go (getNVIDIADeviceDrivers)\n"
			"github.com/NVIDIA/nvidia-docker issue 587 (ldconfig.real)\n"
			"github.com/NVIDIA/libnvidia-container 12a66bbb: src/nvc_container.c (nvc_container_new); issue 154 (no-cgroups)",
	},
	{
		.id = "dev/cdi-missing",
		.title = "Containers get no GPU: CDI is configured, and there is no specification",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_missing,
		.needs_running = true,
		.impact =
			"Containers do not start: \"unresolvable CDI devices nvidia.com/gpu=all\".",
		.remedy =
			"Generate the specification. If nvidia-cdi-refresh.service is installed, restart it "
			"instead and read its journal.",
		.command = "sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",
		.activation = ACTIVATION_NOW,
		.follows = { "driver/loaded", "services/daemon-down", "dev/toolkit-path-missing" },
		.reads = "/etc/cdi and /run/cdi, mode in the toolkit's config.toml, and "
			 "nvidia-cdi-refresh.service.",
		.why = "In the mode cdi NVIDIA's runtime only reads specifications. In the modes auto and "
		       "jit-cdi it makes its own, except in auto for a container that asks for CDI devices alone. "
		       "nvidia-cdi-refresh.service writes /run/cdi/nvidia.yaml at "
		       "each boot, if the driver works then.",
		.check = "nvidia-ctk cdi list; systemctl status nvidia-cdi-refresh",
		.sources =
			"NVIDIA Container Toolkit 1.20.0: internal/info/auto.go, internal/modifier/cdi.go, "
			"deployments/systemd/nvidia-cdi-refresh.service\n"
			"container-device-interface v1.1.0: pkg/cdi/cache.go",
	},
};

RULE_TABLE(dev_toolkit);
