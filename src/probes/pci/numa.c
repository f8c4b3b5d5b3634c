/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numa.c - memory nodes and the processors next to them
 * (Documentation/ABI/stable/sysfs-devices-node). */
#include "parse/cpulist.h"
#include "parse/field.h"
#include "probes/probe.h"

#define SYSTEM "/sys/devices/system"
#define NODES SYSTEM "/node"

/* "Node 0 MemTotal:  528280612 kB" */
static void read_memory(struct probe_context *ctx, struct numa_node *node)
{
	_cleanup_text_ struct text text = { 0 };
	char name[64];
	struct span value;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, NODES "/node%u/meminfo",
			   (unsigned int)node->id.value);

	node->memory_bytes.state = probe_state(rc);
	if (rc)
		return;
	snprintf(name, sizeof(name), "Node %u MemTotal", (unsigned int)node->id.value);
	if (field_find(text_span(&text), ':', name, &value) &&
	    field_kib(value, &node->memory_bytes.value))
		return;
	node->memory_bytes.state = FACT_UNKNOWN;
	host_gap_note(
		ctx->host,
		arena_printf(ctx->arena, NODES "/node%u/meminfo", (unsigned int)node->id.value),
		-EBADMSG, "no MemTotal line");
}

/* A node of memory alone (CXL, the memory of a coherent GPU) has no processor, and so no socket. */
static void read_processors(struct probe_context *ctx, struct numa_node *node)
{
	const char *path = arena_printf(ctx->arena, NODES "/node%u/cpulist",
					(unsigned int)node->id.value);
	struct cpulist list;

	probe_str(ctx, &node->cpus, "%s", path);
	/* Some copies have only its other form, cpumap. */
	if (is_absent(node->cpus))
		node->cpus.state = probe_state_always(ctx, -ENOENT, path);
	if (!is_known(node->cpus))
		return;
	if (cpulist_parse(span_of(node->cpus.value), &list))
		host_gap_note(ctx->host, path, -EBADMSG, "not a list of processors");
	else if (!list.count)
		node->socket.state = FACT_ABSENT;
	else
		probe_u64(ctx, &node->socket,
			  "/sys/devices/system/cpu/cpu%u/topology/physical_package_id",
			  (unsigned int)list.first);
}

static int compare_nodes(const void *a, const void *b)
{
	uint64_t x = ((const struct numa_node *)a)->id.value;
	uint64_t y = ((const struct numa_node *)b)->id.value;

	return x < y ? -1 : x > y;
}

static void numa_run(struct probe_context *ctx)
{
	struct numa_facts *numa = &ctx->node->numa;
	_cleanup_names_ struct names names = { 0 };
	uint64_t id;
	int rc = host_list(ctx->host, &names, NODES);

	numa->nodes.state = probe_state(rc);
	/* A kernel without NUMA has no such folder, and every kernel has the one above it. */
	if (rc == -ENOENT && !host_exists(ctx->host, SYSTEM))
		numa->nodes.state = probe_state_always(ctx, rc, SYSTEM);
	for (size_t i = 0; i < names.count; i++) {
		struct span name = span_of(names.items[i]);

		if (!span_starts(name, "node") ||
		    span_u64((struct span){ name.p + 4, name.n - 4 }, 10, &id) || id > UINT16_MAX)
			continue;
		LIST_ADD(ctx->arena, &numa->nodes)->id = fact_u64(id);
	}
	for_each_mut(node, &numa->nodes) {
		if (ctx->preflight)
			break;
		read_processors(ctx, node);
		read_memory(ctx, node);
	}
	fact_list_sort(&numa->nodes, sizeof(numa->nodes.items[0]), compare_nodes);
}

static void numa_run_preflight(struct probe_context *ctx)
{
	if (probe_is_wanted(ctx, "numa.nodes"))
		numa_run(ctx);
}

const struct probe probe_numa = {
	.name = "numa",
	.phase = PHASE_ALONE,
	.is_hardware = true,
	PROBE_SECTION(numa),
	.run = numa_run,
	.preflight = { .run = numa_run_preflight },
};
