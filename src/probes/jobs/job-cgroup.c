/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job-cgroup.c - how many tasks and how much memory the control group of the process that was asked about may have
 * (Linux: Documentation/admin-guide/cgroup-v2.rst, PID and Memory). A limit of a group above counts as well.
 */
#include <string.h>

#include "parse/unit.h"
#include "probes/probe.h"

#define CGROUPS "/sys/fs/cgroup"
#define LEVELS_MAX 32
/* Version 1 writes the largest multiple of a page for "no limit" (mm/page_counter.c). */
#define UNLIMITED_FROM (UINT64_C(1) << 60)

struct controller {
	const char *name;
	const char *unified; /* its file in version 2 */
	const char *legacy;  /* in version 1 */
};

/* The file is missing where the controller is off, and in the root. */
static int read_level(struct host *host, const char *folder, const char *file, uint64_t *lowest)
{
	_cleanup_text_ struct text text = { 0 };
	uint64_t value;
	int rc = host_read(host, &text, HOST_FILE_MAX, "%s/%s", folder, file);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	if (span_is(span_trim(text_span(&text)), "max"))
		return 0;
	if (span_u64(span_trim(text_span(&text)), 10, &value))
		return -EBADMSG;
	if (value < UNLIMITED_FROM && value < *lowest)
		*lowest = value;
	return 0;
}

static int read_levels(struct host *host, char *folder, size_t top, const char *file,
		       uint64_t *lowest)
{
	for (int i = 0; i < LEVELS_MAX; i++) {
		int rc = read_level(host, folder, file, lowest);
		char *slash = strrchr(folder, '/');

		if (rc || strlen(folder) <= top || !slash)
			return rc;
		*slash = '\0';
	}
	return -EOVERFLOW;
}

/* The fact stays unknown where the groups are not mounted, or seen from another namespace. */
static int read_controller(struct host *host, struct arena *arena, struct span text,
			   const struct controller *controller, struct fact_u64 *fact)
{
	uint64_t lowest = FACT_UNLIMITED;
	struct span path;
	const char *root;
	bool unified;
	int rc;

	if (!cgroup_of_controller(text, controller->name, &path, &unified) || !path.n ||
	    *path.p != '/' || span_search(path, "/.."))
		return 0;
	root = unified ? CGROUPS : arena_printf(arena, CGROUPS "/%s", controller->name);
	if (!host_exists(host, root))
		return 0;
	path.n -= path.n == 1;
	rc = read_levels(host, arena_printf(arena, "%s%.*s", root, (int)path.n, path.p),
			 strlen(root), unified ? controller->unified : controller->legacy, &lowest);
	if (rc == 0)
		*fact = fact_u64(lowest);
	return rc;
}

/* USER is the process's folder. The names of control groups are of users and jobs: they do not leave this function. */
static int job_cgroup_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	static const struct controller tasks = { "pids", "pids.max", "pids.max" };
	static const struct controller memory = { "memory", "memory.max", "memory.limit_in_bytes" };
	struct limits_facts *answer = facts;
	_cleanup_text_ struct text text = { 0 };
	int rc = host_read(host, &text, HOST_FILE_MAX, "%s/cgroup", (const char *)user);

	if (rc == 0)
		rc = read_controller(host, arena, text_span(&text), &tasks, &answer->group.tasks);
	if (rc == 0)
		rc = read_controller(host, arena, text_span(&text), &memory,
				     &answer->group.memory_bytes);
	return rc;
}

static void job_cgroup_run(struct probe_context *ctx)
{
	struct limits_facts answer = { 0 };
	char folder[32] = "/proc/self";

	if (ctx->pid)
		snprintf(folder, sizeof(folder), "/proc/%d", ctx->pid);
	if (host_query(ctx->host, arena_printf(ctx->arena, "limits of the group of %s", folder),
		       &limits_facts_desc, &answer, ctx->arena, job_cgroup_ask, folder) == 0)
		ctx->node->limits.group = answer.group;
}

const struct probe probe_job_cgroup = {
	.name = "job-cgroup",
	.phase = PHASE_SECOND, /* after limits.c, whose section holds this one */
	.is_running = true,
	PROBE_SECTION(limits.group),
	.run = job_cgroup_run,
};
