/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * containers.c - how container engines get to the GPUs: specifications of the Container Device
 * Interface, and the engines' own configuration. Of a file only the keys that rules need leave this
 * probe: an engine's configuration can hold passwords of registries.
 */
#include <string.h>

#include "base/array.h"
#include "parse/version.h"
#include "probes/containers/containers.h"
#include "probes/probe.h"

#define CONFIG_MAX (1u << 20)

/* Programs of the toolkit, also in the folder of the GPU operator's toolkit container. */
static const char *const toolkits[] = {
	"/usr/bin/nvidia-ctk",
	"/usr/bin/nvidia-container-runtime-hook",
	"/usr/bin/nvidia-container-toolkit",
	"/usr/local/nvidia/toolkit/nvidia-container-runtime",
	"/usr/local/bin/nvidia-ctk",
};

static void find_toolkit(struct probe_context *ctx)
{
	struct fact_str *toolkit = &ctx->node->containers.toolkit;
	struct host_stat stat;

	toolkit->state = FACT_ABSENT;
	for (size_t i = 0; i < ARRAY_SIZE(toolkits); i++) {
		int rc = host_stat(ctx->host, &stat, "%s", toolkits[i]);

		if (rc == 0) {
			*toolkit = fact_str(ctx->arena, toolkits[i]);
			return;
		}
		if (rc != -ENOENT)
			toolkit->state = FACT_UNKNOWN;
	}
}

/* Returns true if LINE is KEY = true or false. The toolkit's own file has one setting on a line. */
static bool sets_bool(struct span line, const char *key, bool *value)
{
	struct span name;

	line = span_trim(line);
	if (!span_cut(&line, '=', &name) || !span_is(span_trim(name), key))
		return false;
	*value = span_starts(span_trim(line), "true");
	return true;
}

static int ask_toolkit(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct containers_facts *answer = facts;
	_cleanup_text_ struct text text = { 0 };
	int rc = host_read(host, &text, CONFIG_MAX, "%s", (const char *)user);
	struct span rest, line;
	bool value;

	(void)arena;
	if (rc)
		return rc;
	answer->no_cgroups.state = FACT_ABSENT;
	rest = text_span(&text);
	while (span_cut(&rest, '\n', &line))
		if (sets_bool(line, "no-cgroups", &value))
			answer->no_cgroups = fact_bool(value);
	return 0;
}

static void read_toolkit(struct probe_context *ctx)
{
	static char path[] = "/etc/nvidia-container-runtime/config.toml";
	struct containers_facts answer = { 0 };
	struct host_stat stat;
	int rc = host_stat(ctx->host, &stat, "%s", path);

	if (rc == -ENOENT)
		answer.no_cgroups.state = FACT_ABSENT;
	else if (!rc)
		host_query(ctx->host, path, &containers_facts_desc, &answer, ctx->arena,
			   ask_toolkit, path);
	ctx->node->containers.no_cgroups = answer.no_cgroups;
}

/* ---- what the kernel lets containers do ---- */

/* Reads the control group. With version 1 there are lines with the names of controllers: "9:devices:/user.slice"
 * (cgroups(7)). */
static int ask_cgroup(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct containers_facts *answer = facts;
	_cleanup_text_ struct text text = { 0 };
	int rc = host_read(host, &text, CONFIG_MAX, "%s", (const char *)user);

	(void)arena;
	if (rc)
		return rc;
	if (!span_starts(text_span(&text), "0::"))
		answer->cgroup2.state = FACT_ABSENT;
	else
		answer->cgroup2 = fact_bool(true);
	return 0;
}

/* The first digit of a file of selinuxfs; of a boolean it is the value in effect, the second one the next. */
static void read_selinux(struct probe_context *ctx, struct fact_bool *fact, const char *path)
{
	struct fact_str text = { 0 };

	probe_str(ctx, &text, "%s", path);
	fact->state = text.state;
	if (is_known(text))
		*fact = fact_bool(text.value[0] == '1');
}

/* Either boolean opens the GPUs: their nodes are of the type xserver_misc_device_t. container-selinux has the second
 * one from 2.232 on. */
static void read_booleans(struct probe_context *ctx, struct fact_bool *answer)
{
	struct fact_bool gpus = { 0 };

	read_selinux(ctx, answer, "/sys/fs/selinux/booleans/container_use_devices");
	if (!known_is(*answer, false))
		return;
	read_selinux(ctx, &gpus, "/sys/fs/selinux/booleans/container_use_xserver_devices");
	if (!is_absent(gpus))
		*answer = gpus;
}

static void read_confinement(struct probe_context *ctx)
{
	static char cgroup[] = "/proc/self/cgroup";
	struct containers_facts *containers = &ctx->node->containers, answer = { 0 };

	if (host_query(ctx->host, cgroup, &containers_facts_desc, &answer, ctx->arena, ask_cgroup,
		       cgroup) == 0)
		containers->cgroup2 = answer.cgroup2;
	read_selinux(ctx, &containers->selinux_enforcing, "/sys/fs/selinux/enforce");
	read_booleans(ctx, &containers->container_use_devices);
}

/* ---- CDI ---- */

/* ".../libcuda.so.580.65.06": the first library that carries a driver's version. */
static bool library_version(struct span text, struct span *version)
{
	static const char *const stems[] = { "libcuda.so.", "libnvidia-ml.so." };

	for (size_t i = 0; i < ARRAY_SIZE(stems); i++) {
		const char *end = text.p + text.n, *at = text.p;

		while ((at = span_search((struct span){ at, (size_t)(end - at) }, stems[i]))) {
			size_t n = 0;

			at += strlen(stems[i]);
			while (at + n < end && strchr("0123456789.", at[n]))
				n++;
			*version = (struct span){ at, n };
			if (version_is_driver(*version))
				return true;
		}
	}
	return false;
}

/* cdiVersion: 0.5.0, or "cdiVersion": "0.5.0" in JSON. */
static struct fact_str cdi_version(struct arena *arena, struct span text)
{
	static const char key[] = "cdiVersion";
	const char *end = text.p + text.n, *at = span_search(text, key);
	size_t n = 0;

	for (at = at ? at + strlen(key) : end; at < end && strchr("\": '\t", *at); at++)
		;
	while (at + n < end && strchr("0123456789.", at[n]))
		n++;
	return n ? fact_strn(arena, at, n) : FACT_NONE(fact_str);
}

/* USER is the file. No specification of NVIDIA's: an answer without items. */
static int ask_cdi(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct containers_facts *answer = facts;
	_cleanup_text_ struct text text = { 0 };
	struct cdi_spec *spec;
	struct span version;
	int rc = host_read(host, &text, CONFIG_MAX, "%s", (const char *)user);

	if (rc)
		return rc;
	if (!span_search(text_span(&text), "nvidia.com/"))
		return 0;
	spec = LIST_ADD(arena, &answer->cdi);
	spec->path = fact_str(arena, user);
	spec->driver_version.state = FACT_ABSENT;
	spec->cdi_version = cdi_version(arena, text_span(&text));
	if (library_version(text_span(&text), &version))
		spec->driver_version = fact_strn(arena, version.p, version.n);
	return 0;
}

static bool is_cdi_name(struct span name)
{
	return span_ends(name, ".yaml") || span_ends(name, ".yml") || span_ends(name, ".json");
}

/* 0, or what kept something from being read. */
static int read_cdi_folder(struct probe_context *ctx, const char *folder)
{
	struct containers_facts *containers = &ctx->node->containers;
	_cleanup_names_ struct names names = { 0 };
	int failed = host_list(ctx->host, &names, "%s", folder);

	if (failed)
		return failed == -ENOENT ? 0 : failed;
	for (size_t i = 0; i < names.count; i++) {
		struct containers_facts answer = { 0 };
		char *path = arena_printf(ctx->arena, "%s/%s", folder, names.items[i]);
		int rc;

		if (!is_cdi_name(span_of(names.items[i])))
			continue;
		rc = host_query(ctx->host, path, &containers_facts_desc, &answer, ctx->arena,
				ask_cdi, path);
		failed = rc ? rc : failed;
		for_each(spec, &answer.cdi)
			*LIST_ADD(ctx->arena, &containers->cdi) = *spec;
	}
	return failed;
}

/* ---- engines ---- */

/* Lines that are not comments and name NVIDIA: a runtime, a hook, a CDI kind. */
static bool names_nvidia(struct span text)
{
	struct span line;

	while (span_cut(&text, '\n', &line)) {
		line = span_trim(line);
		if (!span_starts(line, "#") && span_search(line, "nvidia"))
			return true;
	}
	return false;
}

static int ask_config(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct containers_facts *answer = facts;
	_cleanup_text_ struct text text = { 0 };
	struct engine_config *config;
	int rc = host_read(host, &text, CONFIG_MAX, "%s", (const char *)user);

	if (rc)
		return rc;
	config = LIST_ADD(arena, &answer->configs);
	config->path = fact_str(arena, user);
	config->nvidia = fact_bool(names_nvidia(text_span(&text)));
	return 0;
}

static int read_config(struct probe_context *ctx, char *path)
{
	struct containers_facts answer = { 0 };
	int rc = host_exists(ctx->host, path) ? host_query(ctx->host, path, &containers_facts_desc,
							   &answer, ctx->arena, ask_config, path)
					      : 0;

	for_each(config, &answer.configs)
		*LIST_ADD(ctx->arena, &ctx->node->containers.configs) = *config;
	return rc;
}

static int read_config_folder(struct probe_context *ctx, const char *folder)
{
	_cleanup_names_ struct names names = { 0 };
	int failed = host_list(ctx->host, &names, "%s", folder);

	if (failed)
		return failed == -ENOENT || failed == -ENODATA ? 0 : failed;
	for (size_t i = 0; i < names.count; i++) {
		int rc = read_config(ctx,
				     arena_printf(ctx->arena, "%s/%s", folder, names.items[i]));

		failed = rc ? rc : failed;
	}
	return failed;
}

/* ---- the kubelet ---- */

/* The kubelet's folder has "pods" from its first start on (pkg/kubelet/config/defaults.go); plugins have theirs
 * below "plugins" (k8s.io/dynamic-resource-allocation/kubeletplugin). */
#define KUBELET_FOLDER "/var/lib/kubelet"

#define DEVICE_PLUGINS KUBELET_FOLDER "/device-plugins"

/* "nvidia.com/gpu":["GPU-..."]: a resource of GPUs that has a device. AT is after its name. */
static bool is_gpu_resource(const char *begin, const char *at)
{
	const char *name = at;
	struct span word;

	while (name > begin && name[-1] != '"')
		name--;
	word = (struct span){ name, (size_t)(at - name) };
	return span_search(word, "gpu") || span_starts(word, "nvidia.com/");
}

/* {"Data":{"PodDeviceEntries":null,"RegisteredDevices":{"nvidia.com/gpu":["GPU-..."]}},"Checksum":...}
 * (pkg/kubelet/cm/devicemanager/checkpoint): a resource without a healthy device has an empty list. */
static int ask_checkpoint(struct host *host, void *facts, struct arena *arena, void *user)
{
	static const char key[] = "\"RegisteredDevices\":";
	struct containers_facts *answer = facts;
	_cleanup_text_ struct text text = { 0 };
	int rc = host_read(host, &text, CONFIG_MAX, "%s", (const char *)user);
	struct span all = text_span(&text);
	const char *at;

	(void)arena;
	if (rc)
		return rc;
	at = span_search(all, key);
	if (!at)
		return -EBADMSG;
	at += strlen(key);
	answer->gpu_resource = fact_bool(false);
	for (const char *end = all.p + all.n, *begin = at;
	     (at = span_search((struct span){ at, (size_t)(end - at) }, "\":[\"")); at++)
		if (is_gpu_resource(begin, at))
			answer->gpu_resource = fact_bool(true);
	return 0;
}

static void read_device_plugins(struct probe_context *ctx)
{
	static char checkpoint[] = DEVICE_PLUGINS "/kubelet_internal_checkpoint";
	struct containers_facts *containers = &ctx->node->containers, answer = { 0 };
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(ctx->host, &names, DEVICE_PLUGINS);

	containers->device_plugins.state = probe_state(rc);
	for (size_t i = 0; rc == 0 && i < names.count; i++)
		if (span_ends(span_of(names.items[i]), ".sock"))
			*LIST_ADD(ctx->arena, &containers->device_plugins) =
				fact_str(ctx->arena, names.items[i]).value;
	containers->gpu_resource.state = rc == -ENOENT ? FACT_ABSENT : FACT_UNKNOWN;
	if (rc == 0 && !names_have(&names, "kubelet_internal_checkpoint"))
		containers->gpu_resource.state = FACT_ABSENT;
	else if (rc == 0 && host_query(ctx->host, checkpoint, &containers_facts_desc, &answer,
				       ctx->arena, ask_checkpoint, checkpoint) == 0)
		containers->gpu_resource = answer.gpu_resource;
}

static void read_kubelet(struct probe_context *ctx)
{
	struct containers_facts *containers = &ctx->node->containers;
	_cleanup_names_ struct names names = { 0 }, plugins = { 0 };
	int rc = host_list(ctx->host, &names, KUBELET_FOLDER);

	containers->kubelet.state = probe_state(rc);
	containers->kubelet_plugins.state = probe_state(rc);
	if (rc)
		return;
	containers->kubelet.state = FACT_ABSENT;
	if (names_have(&names, "pods"))
		containers->kubelet = fact_str(ctx->arena, KUBELET_FOLDER);
	rc = host_list(ctx->host, &plugins, KUBELET_FOLDER "/plugins");
	containers->kubelet_plugins.state = probe_state(rc);
	for (size_t i = 0; rc == 0 && i < plugins.count; i++)
		*LIST_ADD(ctx->arena, &containers->kubelet_plugins) =
			fact_str(ctx->arena, plugins.items[i]).value;
}

static int compare_specs(const void *a, const void *b)
{
	return strcmp(((const struct cdi_spec *)a)->path.value,
		      ((const struct cdi_spec *)b)->path.value);
}

static int compare_configs(const void *a, const void *b)
{
	return strcmp(((const struct engine_config *)a)->path.value,
		      ((const struct engine_config *)b)->path.value);
}

void containers_add_config(struct probe_context *ctx, char *path)
{
	struct containers_facts *containers = &ctx->node->containers;

	if (read_config(ctx, path))
		containers->configs.state = FACT_UNKNOWN;
	fact_list_sort(&containers->configs, sizeof(containers->configs.items[0]), compare_configs);
}

static void containers_run(struct probe_context *ctx)
{
	/* k3s and RKE2 bring a containerd of their own. */
	static const char *const files[] = {
		"/etc/docker/daemon.json",
		"/etc/containerd/config.toml",
		"/etc/crio/crio.conf",
		"/etc/containers/containers.conf",
		"/usr/share/containers/oci/hooks.d/oci-nvidia-hook.json",
		"/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
		"/var/lib/rancher/rke2/agent/etc/containerd/config.toml",
		/* k3s and RKE2 make config.toml from these at each start. */
		"/var/lib/rancher/k3s/agent/etc/containerd/config.toml.tmpl",
		"/var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.tmpl",
		"/var/lib/rancher/rke2/agent/etc/containerd/config.toml.tmpl",
		"/var/lib/rancher/rke2/agent/etc/containerd/config-v3.toml.tmpl",
	};
	static const char *const folders[] = { "/etc/containerd/conf.d", "/etc/crio/crio.conf.d" };
	struct containers_facts *containers = &ctx->node->containers;
	int etc, rc = 0;

	find_toolkit(ctx);
	read_toolkit(ctx);
	read_confinement(ctx);
	etc = read_cdi_folder(ctx, "/etc/cdi");
	if (!etc && !read_cdi_folder(ctx, "/run/cdi"))
		containers->cdi.state = FACT_KNOWN;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		rc |= read_config(ctx, arena_strdup(ctx->arena, files[i]));
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		rc |= read_config_folder(ctx, folders[i]);
	if (!rc && etc != -ENODATA)
		containers->configs.state = FACT_KNOWN;
	read_kubelet(ctx);
	read_device_plugins(ctx);
	fact_list_sort(&containers->cdi, sizeof(containers->cdi.items[0]), compare_specs);
	fact_list_sort(&containers->configs, sizeof(containers->configs.items[0]), compare_configs);
}

const struct probe probe_containers = {
	.name = "containers",
	.phase = PHASE_ALONE,
	PROBE_SECTION(containers),
	.run = containers_run,
};
