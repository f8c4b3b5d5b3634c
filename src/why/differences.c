/* SPDX-License-Identifier: GPL-2.0-or-later */
/* differences.c - where the log and the node contradict each other. Only lines of this node's host count. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "query/job-env.h"
#include "query/known-bad.h"
#include "query/node-find.h"
#include "query/peermem.h"
#include "query/ports.h"
#include "why/why.h"

static bool has_other_host(const struct why *why)
{
	for (uint32_t i = 0; i < why->job->hosts.count; i++)
		if (!why_is_own(why, i))
			return true;
	return false;
}

/* A line without a host is of this node if the log has no other host. */
static bool is_own(const struct why *why, const struct job_fact *fact)
{
	return fact->host == JOB_NOBODY ? !has_other_host(why) : why_is_own(why, fact->host);
}

static void add(struct why *why, const struct job_fact *fact, const char *what, const char *node,
		const char *text)
{
	for_each(d, &why->differences)
		if (strcmp(d->text, text) == 0)
			return;
	*LIST_ADD(why->report->arena, &why->differences) = (struct why_difference){
		.what = what, .job = fact->value, .node = node, .text = text, .line = fact->line
	};
}

/* ---- versions ---- */

static const struct {
	const char *fact;
	enum component component;
} versions[] = {
	{ "nccl.version", COMPONENT_NCCL },
	{ "nvshmem.version", COMPONENT_NVSHMEM },
	{ "deepep.version", COMPONENT_DEEPEP },
	{ "ucx.version", COMPONENT_UCX },
	{ "gdrcopy.version", COMPONENT_GDRCOPY },
	{ "driver.version", COMPONENT_DRIVER },
	{ "nvidia-fs.version", COMPONENT_NVIDIA_FS },
	{ "aws-ofi-nccl.version", COMPONENT_AWS_OFI_NCCL },
};

/* "2.28.9" equals "2.28" in the parts that the latter has. */
static bool is_same_version(const char *a, const char *b)
{
	size_t n = strspn(a, "0123456789."), m = strspn(b, "0123456789."), least = n < m ? n : m;

	return least && strncmp(a, b, least) == 0 && !(n > least && a[least] != '.') &&
	       !(m > least && b[least] != '.');
}

static void compare_version(struct why *why, const struct job_fact *fact, enum component component)
{
	struct arena *arena = why->report->arena;
	struct component_versions found = { .state = FACT_ABSENT };
	const char *list = "";

	component_find(why->report->node, component, arena, &found);
	for (size_t i = 0; i < found.count; i++) {
		if (is_same_version(fact->value, found.versions[i].version))
			return;
		list = arena_printf(arena, "%s%s%s", list, *list ? ", " : "",
				    found.versions[i].version);
	}
	if (!*list || found.missing)
		return;
	add(why, fact, arena_printf(arena, "%s version", component_name(component)), list,
	    arena_printf(
		    arena,
		    "The job ran %s %s; this node has %s. The job's may come from a container image or another environment.",
		    component_name(component), fact->value, list));
}

/* ---- RDMA devices ---- */

static void compare_device(struct why *why, const struct job_fact *fact)
{
	const struct rdma_facts *rdma = &why->report->node->rdma;

	if (!was_read(rdma->devices) || LIST_FIND(&rdma->devices, fact->value))
		return;
	add(why, fact, "RDMA device", NULL,
	    arena_printf(why->report->arena,
			 "The job chose the RDMA device %s; this node has no device of that name.",
			 fact->value));
}

static bool is_chosen(const struct why *why, const char *device)
{
	bool any = false;

	for_each(fact, &why->job->facts) {
		if (strcmp(fact->name, "hca") != 0 || !is_own(why, fact))
			continue;
		any = true;
		if (strcmp(fact->value, device) == 0)
			return true;
	}
	return !any;
}

static void compare_gid(struct why *why, const struct job_fact *fact)
{
	const struct node *node = why->report->node;
	struct arena *arena = why->report->arena;
	char *end;
	long index = strtol(fact->value, &end, 10);

	if (end == fact->value || index < 0)
		return;
	for_each_port(d, p, node) {
		const struct rdma_gid *gid = port_gid(p, (uint64_t)index);
		const char *name = port_name(arena, d, p);

		if (!was_read(p->gids) || !port_is_ethernet(p) || !port_is_active(p) ||
		    !is_chosen(why, d->name.value))
			continue;
		if (!gid)
			add(why, fact, "GID index", NULL,
			    arena_printf(arena, "The job used GID index %ld; %s has no GID there.",
					 index, name));
		else if (!gid_is_usable(gid) && port_usable_gid(p))
			add(why, fact, "GID index", NULL,
			    arena_printf(
				    arena,
				    "The job used GID index %ld; the GID of %s there is not a routable RoCE v2 one.",
				    index, name));
	}
}

/* ---- GPUDirect RDMA ---- */

static void compare_gdr(struct why *why, const struct job_fact *fact)
{
	const struct node *node = why->report->node;
	struct arena *arena = why->report->arena;
	const char *reason, *way = NULL;

	if (node_module(node, "nvidia_peermem"))
		way = "nvidia_peermem is loaded";
	else if (dmabuf_path(node, arena, &reason) == DMABUF_YES)
		way = "DMA-BUF works";
	if (!way || strcmp(fact->value, "off") != 0)
		return;
	add(why, fact, "GPUDirect RDMA", way,
	    arena_printf(arena, "The job ran without GPUDirect RDMA; this node could: %s.", way));
}

/* ---- variables ---- */

static void compare_variable(struct why *why, const struct job_fact *fact)
{
	const char *name = fact->name + strlen("env:");
	struct arena *arena = why->report->arena;
	struct job_value v = job_nccl(arena, why->report->node, name);

	if (v.value && strcmp(v.value, fact->value) != 0)
		add(why, fact, name, v.value,
		    arena_printf(arena, "The job had %s=%s; this node has %s.", name, fact->value,
				 job_value_text(arena, why->report->node, &v)));
	if (strcmp(name, "NCCL_IB_GID_INDEX") == 0 || strcmp(name, "NVSHMEM_IB_GID_INDEX") == 0)
		compare_gid(why, fact);
}

void why_find_differences(struct why *why)
{
	for_each(fact, &why->job->facts) {
		if (!is_own(why, fact))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
			if (strcmp(fact->name, versions[i].fact) == 0)
				compare_version(why, fact, versions[i].component);
		if (strcmp(fact->name, "hca") == 0)
			compare_device(why, fact);
		else if (strcmp(fact->name, "gid-index") == 0)
			compare_gid(why, fact);
		else if (strcmp(fact->name, "gdr") == 0)
			compare_gdr(why, fact);
		else if (starts_with(fact->name, "env:"))
			compare_variable(why, fact);
	}
}
