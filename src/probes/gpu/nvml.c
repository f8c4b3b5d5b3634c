/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nvml.c - what NVIDIA's driver answers about its GPUs, where the user has asked for it. The library opens the GPUs, in
 * a child that may open no other device for writing. A GPU that nothing holds open is initialised by that, and so it is
 * left alone unless the user insists.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "parse/bdf.h"
#include "parse/nvidia.h"
#include "probes/dynamic-loader.h"
#include "probes/gpu/nvml-ask.h"
#include "probes/probe.h"

#define KEY "libnvidia-ml.so.1"
#define LIBRARY "libnvidia-ml.so."
#define DEADLINE_MS 30000
#define BRIEF_DEADLINE_MS 3000 /* of the five seconds that preflight has */
#define LINKS_MAX 16

#define VERSION_FILE "/proc/driver/nvidia/version"
#define TAKEN "/sys/bus/pci/drivers/nvidia"

struct question {
	bool force;
	bool serials;
};

/* Returns true if the driver is in use: each open file counts, and each module that needs it (kernel/module/main.c,
 * module_refcount()). */
static bool is_held(struct host *host)
{
	_cleanup_text_ struct text text = { 0 };
	_cleanup_names_ struct names holders = { 0 };
	uint64_t used;

	if (host_read(host, &text, HOST_FILE_MAX, "/sys/module/nvidia/refcnt") ||
	    span_u64(span_trim(text_span(&text)), 10, &used) ||
	    host_list(host, &holders, "/sys/module/nvidia/holders"))
		return false;
	return used > holders.count;
}

/* Returns the library in folders of installers that do not register it with the dynamic loader: GKE, NixOS, the GPU
 * Operator. */
static const char *find_elsewhere(struct host *host)
{
	static const char *const paths[] = { "/usr/local/nvidia/lib64/" KEY,
					     "/run/opengl-driver/lib/" KEY,
					     "/usr/lib/nvidia/current/" KEY };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (host_exists(host, paths[i]))
			return paths[i];
	return NULL;
}

/* Finds the library by the dynamic loader's cache, which only root can write. LD_LIBRARY_PATH and the working
 * folder are not trusted. */
static const char *find_library(struct host *host, struct arena *arena)
{
	_cleanup_dynamic_loader_ struct dynamic_loader loader;
	const char *path = NULL;

	dynamic_loader_open(&loader, host, arena, NULL);
	if (dynamic_loader_find(&loader, KEY, &path))
		path = find_elsewhere(host);
	return path;
}

/* libnvidia-ml.so.1 -> libnvidia-ml.so.580.65.06; NULL: the name does not say. */
static const char *version_of(struct host *host, struct arena *arena, const char *path)
{
	char target[PATH_MAX];

	for (int i = 0; i < LINKS_MAX; i++) {
		const char *slash = strrchr(path, '/');
		const char *name = slash + 1;

		if (starts_with(name, LIBRARY) && strchr(name + strlen(LIBRARY), '.'))
			return arena_strdup(arena, name + strlen(LIBRARY));
		if (host_link(host, target, "%s", path))
			return NULL;
		path = *target == '/'
			       ? arena_strdup(arena, target)
			       : arena_printf(arena, "%.*s/%s", (int)(slash - path), path, target);
	}
	return NULL;
}

static bool is_writable_by_others(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && (st.st_mode & (S_IWGRP | S_IWOTH));
}

/* NULL: it is not known. The other probes read it at the same time. */
static const char *version_of_driver(struct host *host, struct arena *arena)
{
	_cleanup_text_ struct text text = { 0 };
	struct nvidia_banner banner;

	if (host_read(host, &text, HOST_FILE_MAX, VERSION_FILE) ||
	    nvidia_banner_parse(text_span(&text), &banner))
		return NULL;
	return arena_strndup(arena, banner.version.p, banner.version.n);
}

/* Why the driver is not asked; NULL: it is, and FACTS has the library. */
static const char *find_refusal(struct host *host, const struct question *q,
				struct nvml_facts *facts, struct arena *arena)
{
	const char *driver = version_of_driver(host, arena), *path, *version;

	if (!driver)
		return "the NVIDIA driver is not loaded, or " VERSION_FILE " cannot be read";
	if (!q->force && !is_held(host))
		return "no process holds the GPUs, such as nvidia-persistenced: opening them would "
		       "initialise each, for a second or two";
	path = find_library(host, arena);
	if (!path)
		return KEY " is not installed";
	facts->library = fact_str(arena, path);
	version = version_of(host, arena, path);
	if (!version)
		return "the name of the file " KEY " has no version";
	facts->library_version = fact_str(arena, version);
	if (strcmp(driver, version) != 0)
		return arena_printf(arena, KEY " is of version %s, the loaded driver of %s",
				    version, driver);
	if (is_writable_by_others(path))
		return "others than root can write to " KEY;
	return NULL;
}

/* A container, or a cgroup, shows a process some GPUs of those that the driver has taken. */
static void add_hidden(struct host *host, struct nvml_facts *facts, struct arena *arena)
{
	_cleanup_names_ struct names names = { 0 };

	if (host_list(host, &names, TAKEN))
		return;
	for (size_t i = 0; i < names.count; i++) {
		struct nvml_failure *failure;

		if (!bdf_is(span_of(names.items[i])) || LIST_FIND(&facts->gpus, names.items[i]))
			continue;
		failure = LIST_ADD(arena, &facts->failures);
		failure->function = fact_str(arena, "nvmlDeviceGetHandleByIndex_v2");
		failure->gpu = fact_str(arena, names.items[i]);
		failure->error = fact_str(arena, "the driver does not show it to this process");
	}
}

static int ask(struct host *host, void *answer, struct arena *arena, void *user)
{
	struct nvml_facts *facts = answer;
	const char *refusal;

	facts->state = FACT_KNOWN;
	refusal = find_refusal(host, user, facts, arena);
	if (!refusal)
		refusal = nvml_ask(facts, arena, ((const struct question *)user)->serials);
	if (!refusal)
		add_hidden(host, facts, arena);
	facts->refused = refusal ? fact_str(arena, refusal) : FACT_NONE(fact_str);
	return 0;
}

/* ---- what is missing, and why ---- */

static void note_failures(struct probe_context *ctx, const struct nvml_facts *facts)
{
	if (is_known(facts->refused))
		host_gap_note(ctx->host, KEY, -ECANCELED, facts->refused.value);
	for_each(f, &facts->failures)
		host_gap_note(ctx->host, f->function.value, -EIO,
			      is_known(f->gpu) ? arena_printf(ctx->arena, "%s: %s", f->gpu.value,
							      f->error.value)
					       : f->error.value);
}

static void nvml_run(struct probe_context *ctx)
{
	struct nvml_facts *facts = &ctx->node->nvml;
	struct question question = { .force = probe_asks_nvml(ctx) == PROBE_NVML_FORCE,
				     .serials = ctx->how->serials };

	if (host_query(ctx->host, KEY, &nvml_facts_desc, facts, ctx->arena, ask, &question))
		return;
	note_failures(ctx, facts);
}

/* A capture answers if it has the answer. */
static bool is_wanted(const struct probe_context *ctx)
{
	if (host_kind(ctx->host) == HOST_LIVE)
		return probe_asks_nvml(ctx) != PROBE_NVML_NO;
	return host_has_recorded(ctx->host, KEY);
}

/* The driver can take long, and nothing else waits for it. What the other probes read of a GPU that --nvml=force
 * initialises can be from before or after that. */
const struct probe probe_nvml = {
	.name = "nvml",
	.phase = PHASE_DRIVER,
	.beside = true,
	.deadline_ms = DEADLINE_MS,
	.asks = ASKS_GPUS,
	.is_wanted = is_wanted,
	PROBE_SECTION(nvml),
	.run = nvml_run,
	.preflight = {
		.run = nvml_run,
		.deadline_ms = BRIEF_DEADLINE_MS,
	},
};
