/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev-engines.c - does containerd take what its files say of NVIDIA's runtime (rule dev/engine-config)? */
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "evaluate/references.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/kind.h"

#define CONTAINERD_CONFIG "/etc/containerd/config.toml"
#define DROP_INS "/etc/containerd/conf.d/"
#define RANCHER "/var/lib/rancher/"

/* Plugins that the runtimes belong to: until version 2 of the configuration, and from 3 on. */
#define PLUGIN_OLD "io.containerd.grpc.v1.cri"
#define PLUGIN_NEW "io.containerd.cri.v1.runtime"

static bool is_containerd(const struct reference_file *file)
{
	return known_is(file->format, REFERENCE_ENGINE) && is_known(file->path) &&
	       strstr(file->path.value, "/containerd/");
}

static const struct reference *value_in(const struct node *node, const char *file, const char *key)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_ENGINE, file, r)))
		if (known_is(r->kind, REFERENCE_VALUE) && str_is(r->role, key))
			return r;
	return NULL;
}

static bool has_file(const struct node *node, const char *path)
{
	for_each(file, &node->references.files)
		if (str_is(file->path, path))
			return true;
	return false;
}

/* k3s and RKE2 bring a containerd of their own, whose version was not read. */
static bool is_containerd_older(const struct node *node, const char *file, const char *version)
{
	const struct software_item *item = node_software(node, "containerd");

	return !starts_with(file, RANCHER) && item && is_known(item->version) &&
	       version_compare(item->version.value, version) < 0;
}

static void fail_at(struct rule_context *ctx, enum severity severity, const struct reference *r,
		    const char *observed, const char *expected, const char *impact,
		    const char *remedy)
{
	FAIL_AS(ctx, severity, .subject = r->file.value,
		.observed = is_known(r->line) ? text_printf(ctx, "line %" PRIu64 " %s",
							    r->line.value, observed)
					      : observed,
		.expected = expected, .impact = impact, .remedy = remedy,
		.evidence = { reference_fact(ctx->arena, ctx->node, r, "name") });
}

#define NO_RUNTIME \
	"Pods with runtimeClassName nvidia do not start: \"no runtime for \\\"nvidia\\\" is configured\"."

/* ---- a version that this containerd, or this table, is not of ---- */

static uint64_t version_of(const struct node *node, const char *file)
{
	const struct reference *r = value_in(node, file, ENGINE_VERSION);
	uint64_t version = 0;

	return r && span_u64(span_of(r->name.value), 10, &version) == 0 ? version : 0;
}

/* RELEASES.md, "Daemon configuration": version 3 from 2.0 on, 4 from 2.3 on. */
static void check_version(struct rule_context *ctx, const char *file)
{
	const struct reference *r = value_in(ctx->node, file, ENGINE_VERSION);
	uint64_t version = version_of(ctx->node, file);
	const char *floor = version >= 4 ? "2.3" : "2.0";

	if (version >= 3 && is_containerd_older(ctx->node, file, floor))
		FAIL_AS(ctx, SEVERITY_ERR, .subject = file,
			.observed = text_printf(
				ctx, "line %" PRIu64 " has version %" PRIu64 "; containerd is %s",
				r->line.value, version,
				node_software(ctx->node, "containerd")->version.value),
			.expected = text_printf(ctx, "version 2, or containerd %s or later", floor),
			.impact =
				"containerd does not start: \"expected containerd config version equal "
				"to or less than\".",
			.stops = "containerd.service",
			.remedy = "Write the file in version 2, or update containerd. Then restart "
				  "containerd.",
			.evidence = { reference_fact(ctx->arena, ctx->node, r, "name") });
}

/* Each file is migrated by its own version; from 3 on the old plugin's runtimes are not looked at
 * (cmd/containerd/server/config/config.go, plugins/cri/runtime/plugin.go). */
static void check_plugin(struct rule_context *ctx, const char *file)
{
	const struct node *node = ctx->node;
	const struct reference *r = NULL;
	uint64_t version = version_of(node, file);

	while ((r = reference_next(node, REFERENCE_ENGINE, file, r))) {
		if (!str_is(r->role, ENGINE_NVIDIA))
			continue;
		if (version >= 3 && str_is(r->name, PLUGIN_OLD))
			fail_at(ctx, SEVERITY_ERR, r,
				text_printf(ctx,
					    "has NVIDIA's runtime in the plugin " PLUGIN_OLD
					    ", which version %" PRIu64 " of the file ignores",
					    version),
				"the runtime in the plugin " PLUGIN_NEW, NO_RUNTIME,
				"Rename the plugin in the tables of the runtime to " PLUGIN_NEW
				", or write the file in version 2. Then restart containerd.");
		else if (str_is(r->name, PLUGIN_NEW) && is_containerd_older(node, file, "2.0"))
			fail_at(ctx, SEVERITY_ERR, r,
				"has NVIDIA's runtime in the plugin " PLUGIN_NEW
				", which containerd before 2.0 does not have",
				"the runtime in the plugin " PLUGIN_OLD, NO_RUNTIME,
				"Rename the plugin in the tables of the runtime to " PLUGIN_OLD
				". Then restart containerd.");
	}
}

/* ---- a drop-in that is not imported ---- */

static bool is_imported(const struct node *node, const char *file)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_ENGINE, CONTAINERD_CONFIG, r))) {
		const char *pattern = r->name.value;

		if (!str_is(r->role, ENGINE_IMPORTS))
			continue;
		/* A path that is not absolute begins at the folder of the file. */
		if (fnmatch(pattern, file, FNM_PATHNAME) == 0 ||
		    (pattern[0] != '/' &&
		     fnmatch(pattern, file + strlen("/etc/containerd/"), FNM_PATHNAME) == 0))
			return true;
	}
	return false;
}

static bool is_lone_drop_in(const struct node *node, const char *path)
{
	return starts_with(path, DROP_INS) && value_in(node, path, ENGINE_NVIDIA) &&
	       !is_imported(node, path);
}

/* A part of config.toml that was not understood can import it. */
static bool may_be_imported(const struct node *node)
{
	for_each(f, &node->references.files)
		if (str_is(f->path, CONTAINERD_CONFIG) && !known_is(f->complete, true))
			return true;
	return false;
}

/* Without config.toml containerd reads no other file either. From 2.2 on "containerd config default" names the folder,
 * but the daemon resolves only the imports of a file that it read (cmd/containerd/command/main.go). */
static void check_import(struct rule_context *ctx, const char *path)
{
	const struct reference *r = value_in(ctx->node, path, ENGINE_NVIDIA);
	bool main_file = has_file(ctx->node, CONTAINERD_CONFIG);

	if (!is_lone_drop_in(ctx->node, path) || may_be_imported(ctx->node))
		return;
	if (main_file || node_software(ctx->node, "containerd"))
		fail_at(ctx, SEVERITY_ERR, r,
			main_file ? "has NVIDIA's runtime, and " CONTAINERD_CONFIG
				    " does not import this file"
				  : "has NVIDIA's runtime, and no file imports this one",
			"imports = [\"" DROP_INS "*.toml\"] in " CONTAINERD_CONFIG, NO_RUNTIME,
			"Add the line imports = [\"" DROP_INS
			"*.toml\"] at the beginning of " CONTAINERD_CONFIG
			". Then restart containerd.");
}

/* ---- the part for Kubernetes ---- */

/* Unknown: a kubelet runs, and its engine was not read. */
static struct fact_bool kubelet_uses_containerd(const struct node *node)
{
	const struct service *kubelet = node_service(node, "kubelet.service");
	const struct service *crio = node_service(node, "crio.service");
	struct fact_bool docker = node->containers.kubelet_uses_docker;

	if (!kubelet ||
	    !(str_is(kubelet->active, "active") || str_is(kubelet->enabled, "enabled")) ||
	    (crio && str_is(crio->active, "active")))
		return fact_bool(false);
	return is_known(docker) ? fact_bool(!docker.value) : docker;
}

/* containerd.io, the package of Docker, installs a file with this line. */
static void check_disabled(struct rule_context *ctx, const char *file)
{
	struct fact_bool needed = kubelet_uses_containerd(ctx->node);
	const struct reference *r = NULL;

	if (strcmp(file, CONTAINERD_CONFIG) != 0 || known_is(needed, false))
		return;
	while ((r = reference_next(ctx->node, REFERENCE_ENGINE, file, r)))
		if (!str_is(r->role, ENGINE_DISABLED) ||
		    !(str_is(r->name, "cri") || str_is(r->name, PLUGIN_OLD)))
			continue;
		else if (is_unknown(needed))
			UNKNOWN(ctx, .subject = file,
				.observed =
					text_printf(ctx,
						    "disables %s; which engine the kubelet uses "
						    "was not read",
						    r->name.value),
				.evidence = { "containers.kubelet_uses_docker" });
		else if (is_known(needed))
			fail_at(ctx, SEVERITY_ERR, r,
				text_printf(ctx, "disables the plugin %s, which the kubelet needs",
					    r->name.value),
				"the plugin cri not in disabled_plugins",
				"The kubelet starts no pod: \"unknown service runtime.v1.RuntimeService\".",
				"Remove the plugin from disabled_plugins. Then restart containerd.");
}

/* ---- two runtimes with two managers of cgroups ---- */

static void check_cgroups(struct rule_context *ctx, const char *file)
{
	const struct reference *runc = value_in(ctx->node, file, ENGINE_SYSTEMD "runc");
	const struct reference *own = value_in(ctx->node, file, ENGINE_SYSTEMD "nvidia");
	const struct reference *table = value_in(ctx->node, file, ENGINE_NVIDIA);

	if (!runc || !table || !str_is(runc->name, "true") || (own && str_is(own->name, "true")))
		return;
	/* k3s and RKE2 write the option for runc alone, and overwrite the file at each start. */
	if (!own && starts_with(file, RANCHER))
		return;
	fail_at(ctx, SEVERITY_WARN, own ? own : table,
		own ? "sets SystemdCgroup = false for nvidia, and runc has true"
		    : "begins the table of nvidia, which lacks the SystemdCgroup = true of runc",
		"SystemdCgroup = true for both runtimes",
		"systemd and the runtime manage the same cgroups. Pods of the runtime nvidia fail to start, or "
		"lose their limits and devices.",
		"Set SystemdCgroup = true in the options of the runtime nvidia. Then restart containerd.");
}

/* ---- devices by CDI ---- */

/* Returns the component that gives pods their GPUs by CDI; or NULL. */
static const char *cdi_user(struct rule_context *ctx, const char **fact)
{
	struct kind_answer dra = kind_find(ctx->node, KIND_DRA, ctx->arena);

	if (known_is(dra.is, true)) {
		*fact = dra.fact;
		return "NVIDIA's DRA driver";
	}
	for_each(spec, &ctx->node->containers.cdi)
		if (str_starts(spec->path, "/run/cdi/k8s.")) {
			*fact = fact_path(ctx->arena, "containers.cdi", spec->path.value, "path");
			return strstr(spec->path.value, "device-plugin") ? "the device plugin"
									 : "a plugin of Kubernetes";
		}
	return NULL;
}

/* EnableCDI in config_unix.go: off in 1.7, on from 2.0 on; 1.6 does not know the key. */
static void check_cdi(struct rule_context *ctx, const char *file)
{
	const struct node *node = ctx->node;
	const struct reference *r = value_in(node, file, ENGINE_CDI);
	const char *fact = NULL, *user = cdi_user(ctx, &fact);
	bool off = r && str_is(r->name, "false"), old = is_containerd_older(node, file, "2.0");
	bool none = is_containerd_older(node, file, "1.7");

	if (!user || (strcmp(file, CONTAINERD_CONFIG) != 0 && !off) || (!off && !old) ||
	    (r && !off && !none))
		return;
	FAIL_AS(ctx, SEVERITY_ERR, .subject = file,
		.observed =
			none  ? text_printf(ctx, "containerd %s has no CDI, which %s uses",
					    node_software(node, "containerd")->version.value, user)
			: off ? text_printf(ctx, "%s: enable_cdi = false; %s uses CDI",
					    reference_place(ctx->arena, r), user)
			      : text_printf(ctx,
					    "no enable_cdi = true, without which containerd %s "
					    "leaves CDI off; %s uses it",
					    node_software(node, "containerd")->version.value, user),
		.expected = none ? "containerd 1.7 or later" : "enable_cdi = true",
		.impact = "Pods with GPUs stay in ContainerCreating, or start without the devices.",
		.remedy =
			none ? "Update containerd to 1.7 or later, and set enable_cdi = true."
			     : "Set enable_cdi = true and cdi_spec_dirs = [\"/etc/cdi\", \"/var/run/cdi\"] "
			       "in the plugin cri. Then restart containerd.",
		.evidence = { r ? reference_fact(ctx->arena, node, r, "name") : "software.items",
			      fact });
}

/* ---- k3s and RKE2 ---- */

/* The template that is used: of version 3 first (k3s 1.36: pkg/agent/containerd/config.go). */
static const struct engine_config *template_of(const struct node *node, const char *config)
{
	const struct engine_config *found = NULL;
	size_t folder = strlen(config) - strlen("config.toml");

	for_each(c, &node->containers.configs)
		if (is_known(c->path) && strncmp(c->path.value, config, folder) == 0 &&
		    span_ends(span_of(c->path.value), ".tmpl") &&
		    (!found || strstr(c->path.value, "config-v3")))
			found = c;
	return found;
}

/* They put NVIDIA's runtime into the file at each start, if they find its program. */
static bool check_generated(struct rule_context *ctx, const struct engine_config *config)
{
	const struct node *node = ctx->node;
	const char *path = config->path.value;
	const struct engine_config *template = template_of(node, path);
	const char *unit = strstr(path, "/rke2/") ? "rke2-agent or rke2-server"
						  : "k3s-agent or k3s";

	if (!known_is(config->nvidia, false) || !is_known(node->containers.toolkit))
		return false;
	FAIL_AS(ctx, SEVERITY_WARN, .subject = path,
		.observed =
			template && known_is(template->nvidia, false)
				? text_printf(ctx,
					      "no runtime of NVIDIA's; it is made from %s, which "
					      "does not name one",
					      template->path.value)
				: "no runtime of NVIDIA's, although the toolkit is installed",
		.expected = "NVIDIA's runtime in this file",
		.remedy =
			template
				? text_printf(
					  ctx,
					  "Put {{ template \"base\" . }} into %s, or remove the template. "
					  "Then restart %s.",
					  template->path.value, unit)
				: text_printf(
					  ctx,
					  "Restart %s: it looks for the toolkit when it starts. It does not "
					  "read /etc/containerd/config.toml.",
					  unit),
		.evidence = { fact_path(ctx->arena, "containers.configs", path, "nvidia"),
			      "containers.toolkit" });
	return true;
}

/* ---- all of it ---- */

/* Returns the fact that decides about the file and was not read; or NULL. */
static const char *find_unread(struct rule_context *ctx, const char *path)
{
	const struct node *node = ctx->node;
	const struct software_item *containerd = node_software(node, "containerd");
	const struct reference *plugin = value_in(node, path, ENGINE_NVIDIA);
	bool lone = is_lone_drop_in(node, path);
	bool by_version = version_of(node, path) >= 3 ||
			  (plugin && str_is(plugin->name, PLUGIN_NEW)) ||
			  (lone && !has_file(node, CONTAINERD_CONFIG));

	if (lone && may_be_imported(node))
		return fact_path(ctx->arena, "references.files", CONTAINERD_CONFIG, "complete");
	if (by_version && !starts_with(path, RANCHER) &&
	    !(containerd && is_known(containerd->version)))
		return "software.items";
	return NULL;
}

static void check_file(struct rule_context *ctx, const struct reference_file *file,
		       const void *user)
{
	const char *path = file->path.value;
	const char *unread;
	size_t before = ctx->findings->count;

	(void)user;
	if (!is_containerd(file))
		return;
	check_version(ctx, path);
	check_plugin(ctx, path);
	check_import(ctx, path);
	check_disabled(ctx, path);
	check_cgroups(ctx, path);
	check_cdi(ctx, path);
	for_each(c, &ctx->node->containers.configs)
		if (str_is(c->path, path) && str_starts(c->path, RANCHER))
			check_generated(ctx, c);
	if (ctx->findings->count > before)
		return;
	unread = find_unread(ctx, path);
	if (unread)
		UNKNOWN(ctx, .subject = path,
			.observed = strcmp(unread, "software.items") == 0
					    ? "the version of containerd was not read"
					    : NULL,
			.evidence = { unread });
	else
		references_pass(ctx, file);
}

static void check_engines(struct rule_context *ctx)
{
	if (!skip_without_gpu(ctx) && !skip_in_container(ctx))
		references_each(ctx, REFERENCE_ENGINE, check_file, NULL,
				"containerd has no configuration file");
}

static const struct rule dev_engines_rules[] = {
	{
		.id = "dev/engine-config",
		.title =
			"Pods with GPUs do not start: containerd ignores part of its configuration",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_engines,
		.impact = "Pods of the runtime nvidia do not start, or start without GPUs.",
		.remedy = "Correct containerd's configuration, then restart containerd.",
		.activation = ACTIVATION_RESTART,
		.reads =
			"version, imports, disabled_plugins, enable_cdi and the runtimes in containerd's config.toml "
			"and conf.d; config.toml of k3s and RKE2 with their templates; the version of containerd; the "
			"kubelet's engine; whether the device plugin or NVIDIA's DRA driver uses CDI.",
		.why = "containerd says nothing of the table of a plugin that it does not have. The plugin of the runtimes has another name "
		       "from version 3 of the file on. A drop-in counts only if config.toml imports it; without "
		       "config.toml none does. k3s and RKE2 write their config.toml at each start, from a template if there is one. CDI is off in "
		       "containerd 1.7 until enable_cdi switches it on, and on from 2.0.",
		.check = "containerd config dump | grep -A8 runtimes.nvidia",
		.cost = "A restart of containerd does not stop running containers. A restart of k3s or RKE2 stops "
			"its control plane for seconds.",
		.sources =
			"containerd 2.3: cmd/containerd/command/main.go, cmd/containerd/server/config/config.go, "
			"plugins/cri/runtime/plugin.go, "
			"RELEASES.md (Daemon Configuration)\n"
			"containerd 1.7.0, 1.7.30: pkg/cri/config/config_unix.go (EnableCDI); 2.0.0, 2.3.4: "
			"internal/cri/config/config_unix.go\n"
			"k3s master (2026): pkg/agent/containerd/config.go, runtimes.go\n"
			"NVIDIA Container Toolkit 1.20.0: pkg/config/engine/containerd/config_drop_in.go",
	},
};

RULE_TABLE(dev_engines);
