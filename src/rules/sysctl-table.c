/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysctl-table.c - settings of the kernel against data/sysctls.tsv, and reserved huge pages (rules sysctl/...). */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/command.h"
#include "base/span.h"
#include "evaluate/skip.h"
#include "query/node-find.h"

/* ---- sysctl/unsuitable ---- */

static const struct sysctl_limit {
	const char *name;
	char operator;
	uint64_t limit;
	enum severity severity;
	const char *value;
	const char *effect;
	const char *source;
} limits[] = {
#include "sysctls.inc"
};
#define LIMITS (ARRAY_SIZE(limits))

static bool is_wrong(const struct sysctl_limit *row, uint64_t value)
{
	return row->operator== '<'   ? value < row->limit
	       : row->operator== '>' ? value > row->limit
				     : value == row->limit;
}

/* The first row of the name that holds; NULL: none. */
static const struct sysctl_limit *find_row(const char *name, uint64_t value)
{
	for (size_t i = 0; i < LIMITS; i++)
		if (strcmp(limits[i].name, name) == 0 && is_wrong(&limits[i], value))
			return &limits[i];
	return NULL;
}

static bool is_in_table(const char *name)
{
	for (size_t i = 0; i < LIMITS; i++)
		if (strcmp(limits[i].name, name) == 0)
			return true;
	return false;
}

/* With the driver's modules loaded nothing is missing until one of them is to be loaded again. */
static enum severity severity_of(const struct node *node, const struct sysctl_limit *row)
{
	bool modules = strcmp(row->name, "kernel.modules_disabled") == 0;

	return modules && node_module(node, "nvidia_uvm") ? SEVERITY_INFO : row->severity;
}

static void check_one(struct rule_context *ctx, const struct sysctl *s)
{
	const char *name = s->name.value,
		   *fact = fact_path(ctx->arena, "os.sysctls", name, "value");
	const struct sysctl_limit *row;
	uint64_t value;

	if (is_absent(s->value))
		return;
	if (!is_known(s->value) || span_u64(span_of(s->value.value), 10, &value)) {
		UNKNOWN(ctx, .subject = name, .evidence = { fact });
		return;
	}
	row = find_row(name, value);
	if (row)
		FAIL_AS(ctx, severity_of(ctx->node, row), .subject = name,
			.observed = text_printf(ctx, "%s: %s", s->value.value, row->effect),
			.expected = row->value,
			.remedy = text_printf(
				ctx,
				"Set %s = %s in a file of /etc/sysctl.d, and remove the line that "
				"sets it otherwise. Then run sysctl --system.%s",
				name, row->value,
				strcmp(name, "kernel.modules_disabled") == 0
					? " The running kernel keeps this setting: reboot."
					: ""),
			.source = row->source, .evidence = { fact });
}

static void check_table(struct rule_context *ctx)
{
	size_t before;

	if (skip_without_gpu(ctx))
		return;
	if (!was_read(ctx->node->os.sysctls)) {
		UNKNOWN(ctx, .evidence = { "os.sysctls" });
		return;
	}
	before = ctx->findings->count;
	for_each(s, &ctx->node->os.sysctls)
		if (is_in_table(s->name.value))
			check_one(ctx, s);
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "os.sysctls" });
}

/* ---- sysctl/huge-pages-reserved ---- */

/* What a host of virtual machines reserves is theirs. */
static bool is_for_guests(const struct node *node)
{
	return node_is(node, KIND_VFIO_HOST) || node_is(node, KIND_VGPU_HOST);
}

static void check_reserved(struct rule_context *ctx)
{
	const struct os_facts *os = &ctx->node->os;
	uint64_t reserved = 0;

	if (skip_without_gpu(ctx))
		return;
	if (!was_read(os->hugepages) || !is_known(os->memory_bytes)) {
		UNKNOWN(ctx, .evidence = { is_known(os->memory_bytes) ? "os.hugepages"
								      : "os.memory_bytes" });
		return;
	}
	for_each(h, &os->hugepages) {
		if (!is_known(h->pages) || !is_known(h->size_bytes)) {
			UNKNOWN(ctx, .evidence = { "os.hugepages" });
			return;
		}
		reserved += h->pages.value * h->size_bytes.value;
	}
	if (reserved <= os->memory_bytes.value / 2)
		PASS(ctx, .evidence = { "os.hugepages", "os.memory_bytes" });
	else if (is_for_guests(ctx->node))
		NOT_APPLICABLE(ctx, .observed = "this host gives GPUs to virtual machines",
			       .evidence = { "os.hugepages", "pci.devices" });
	else
		FAIL(ctx,
		     .observed = text_printf(
			     ctx, "%" PRIu64 " GiB of %" PRIu64 " GiB are reserved for huge pages",
			     reserved >> 30, os->memory_bytes.value >> 30),
		     .expected = "less than half of the memory",
		     .evidence = { "os.hugepages", "os.memory_bytes" });
}

static const struct rule sysctl_table_rules[] = {
	{
		.id = "sysctl/unsuitable",
		.title = "A kernel setting stops or slows jobs",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_table,
		.impact =
			"Memory, files, threads or modules are refused although the node has them.",
		.remedy = "Set the value in a file of /etc/sysctl.d, then run sysctl --system.",
		.activation = ACTIVATION_NOW,
		.reads =
			"/proc/sys: file-max, inotify, modules_disabled, pid_max, shmmax, threads-max, max_map_count, "
			"overcommit_memory, zone_reclaim_mode.",
		.why = "Hardening guides and files for other servers set these. The kernel's own values fit most jobs. "
		       "data/sysctls.tsv has the limits.",
		.check =
			"sysctl vm.overcommit_memory vm.max_map_count vm.zone_reclaim_mode kernel.pid_max kernel.shmmax fs.file-max",
		.sources = "Linux 6.1.192: Documentation/admin-guide/sysctl/vm.rst and kernel.rst\n"
			   "data/sysctls.tsv of this release: the source of each row",
	},
	{
		.id = "sysctl/huge-pages-reserved",
		.title = "Jobs run out of memory: most of it is reserved for huge pages",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_reserved,
		.impact =
			"Only programs that ask for huge pages can use the reserved memory. Others are killed or get ENOMEM.",
		.then = THEN_REBOOT,
		.remedy = "Lower vm.nr_hugepages, or hugepages= and hugepagesz= of the kernel "
			  "command line.",
		.activation = ACTIVATION_REBOOT,
		.reads = "/sys/kernel/mm/hugepages and the size of the memory.",
		.why = "The kernel keeps the pages from the moment of the setting on, whether they are used or not. A host of "
		       "virtual machines needs them.",
		.check = "grep Huge /proc/meminfo; free -g",
		.sources = "Linux 6.1.192: Documentation/admin-guide/mm/hugetlbpage.rst",
	},
};

RULE_TABLE(sysctl_table);
