/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rdma-cgroup.c - how much of each RDMA device the control group of the process that was asked about may use
 * (Linux: Documentation/admin-guide/cgroup-v2.rst, RDMA). A limit of a group above counts as well.
 */
#include <string.h>

#include "parse/rdma.h"
#include "parse/unit.h"
#include "probes/probe.h"

#define CGROUPS "/sys/fs/cgroup"
#define LEVELS_MAX 32

static struct rdma_limit *find_limit(struct limits_facts *answer, struct arena *arena,
				     struct span device)
{
	struct rdma_limit *limit;

	for_each_mut(known, &answer->rdma)
		if (span_is(device, known->device.value))
			return known;
	limit = LIST_ADD(arena, &answer->rdma);
	limit->device = fact_strn(arena, device.p, device.n);
	limit->handles = limit->objects = fact_u64(FACT_UNLIMITED);
	return limit;
}

static void lower(struct fact_u64 *fact, uint64_t value)
{
	if (value < fact->value)
		fact->value = value;
}

/* The file is missing where the controller is off, and in the root. */
static int read_level(struct host *host, struct arena *arena, struct limits_facts *answer,
		      const char *folder)
{
	_cleanup_text_ struct text text = { 0 };
	struct span rest, line;
	struct rdma_max max;
	int rc = host_read(host, &text, HOST_FILE_MAX, "%s/rdma.max", folder);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	rest = text_span(&text);
	while (span_cut(&rest, '\n', &line)) {
		struct rdma_limit *limit;

		if (!span_trim(line).n)
			continue;
		if (!rdma_max_parse(line, &max))
			return -EBADMSG;
		if (max.handles == UINT64_MAX && max.objects == UINT64_MAX)
			continue;
		limit = find_limit(answer, arena, max.device);
		lower(&limit->handles, max.handles);
		lower(&limit->objects, max.objects);
	}
	return 0;
}

/* FOLDER and those above it. */
static int read_levels(struct host *host, struct arena *arena, struct limits_facts *answer,
		       char *folder, size_t top)
{
	for (int i = 0; i < LEVELS_MAX; i++) {
		int rc = read_level(host, arena, answer, folder);
		char *slash = strrchr(folder, '/');

		if (rc || strlen(folder) <= top || !slash)
			return rc;
		*slash = '\0';
	}
	return -EOVERFLOW;
}

static int compare_limits(const void *a, const void *b)
{
	const struct rdma_limit *x = a, *y = b;

	return strcmp(x->device.value, y->device.value);
}

/* USER is the process's folder. The names of control groups are of users and jobs: they do not leave this function. */
static int rdma_cgroup_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct limits_facts *answer = facts;
	_cleanup_text_ struct text text = { 0 };
	const char *root;
	struct span path;
	bool unified;
	int rc = host_read(host, &text, HOST_FILE_MAX, "%s/cgroup", (const char *)user);

	if (rc)
		return rc;
	/* What follows from the answer is said once, by run(). */
	if (!cgroup_of_controller(text_span(&text), "rdma", &path, &unified))
		return 0;
	/* Seen from another namespace of control groups. */
	if (!path.n || *path.p != '/' || span_search(path, "/.."))
		return -EXDEV;
	root = unified ? CGROUPS : CGROUPS "/rdma";
	if (!host_exists(host, root)) {
		answer->rdma.state = FACT_ABSENT;
		return 0;
	}
	path.n -= path.n == 1;
	rc = read_levels(host, arena, answer,
			 arena_printf(arena, "%s%.*s", root, (int)path.n, path.p), strlen(root));
	if (rc)
		return rc;
	answer->rdma.state = FACT_KNOWN;
	fact_list_sort(&answer->rdma, sizeof(answer->rdma.items[0]), compare_limits);
	return 0;
}

/* Why there is no answer. NULL: there is one. */
static const char *reason_of(int rc, enum fact_state state)
{
	if (rc)
		return "the list of the process's control groups is not there";
	if (state == FACT_ABSENT)
		return "the control groups are not mounted here";
	return state == FACT_UNKNOWN ? "the process is in no control group that could limit RDMA"
				     : NULL;
}

static void rdma_cgroup_run(struct probe_context *ctx)
{
	struct limits_facts *limits = &ctx->node->limits, answer = { 0 };
	char folder[32] = "/proc/self";
	const char *why;
	int rc;

	if (ctx->pid)
		snprintf(folder, sizeof(folder), "/proc/%d", ctx->pid);
	rc = host_query(ctx->host, arena_printf(ctx->arena, "rdma.max of %s", folder),
			&limits_facts_desc, &answer, ctx->arena, rdma_cgroup_ask, folder);
	/* host_query() has noted any other error. */
	if (rc && rc != -ENOENT)
		return;
	why = reason_of(rc, answer.rdma.state);
	if (why) {
		host_gap_note(ctx->host, CGROUPS, -ENODATA, why);
		return;
	}
	limits->rdma.state = answer.rdma.state;
	limits->rdma.items = answer.rdma.items;
	limits->rdma.count = answer.rdma.count;
}

const struct probe probe_rdma_cgroup = {
	.name = "rdma-cgroup",
	.phase = PHASE_ALONE,
	.is_running = true,
	PROBE_SECTION(limits.rdma),
	.run = rdma_cgroup_run,
};
