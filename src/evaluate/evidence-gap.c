/* SPDX-License-Identifier: GPL-2.0-or-later */
/* evidence-gap.c - why a fact is missing that a rule asked for. */
#include "evaluate/evidence-gap.h"

#include <string.h>

#include "base/array.h"
#include "base/text.h"

static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	while (n && folder[n - 1] == '/')
		n--;
	return strncmp(path, folder, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

/* Probes that fill a part of a section that has another probe's name. */
static const struct {
	const char *probe, *section;
} parts[] = {
	{ "addresses", "net" },
	{ "daemons", "services" },
	{ "device-groups", "dev" },
	{ "flow-control", "net" },
	{ "job-cgroup", "limits" },
	{ "kernel", "os" },
	{ "containerd", "containers" },
	{ "engine-messages", "containers" },
	{ "docker-context", "containers" },
	{ "rootless", "containers" },
	{ "kubelet", "containers" },
	{ "libkmod", "modules" },
	{ "limit-settings", "limits" },
	{ "logins", "limits" },
	{ "module-files", "modules" },
	{ "mounts", "os" },
	{ "next-boot", "boot" },
	{ "next-boot", "cmdline" },
	{ "next-boot", "os" },
	{ "next-driver", "driver" },
	{ "providers", "rdma" },
	{ "rdma-cgroup", "limits" },
	{ "verbs", "rdma" },
	{ "virt", "os" },
};

/* The probes that fill the section that a fact is in: first the one of its name. */
struct fillers {
	struct span own;
	const char *others[ARRAY_SIZE(parts)];
	size_t count;
};

static struct fillers fillers_of(const char *fact)
{
	struct fillers fillers = { .own = { fact, strcspn(fact, ".[") } };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (span_is(fillers.own, parts[i].section))
			fillers.others[fillers.count++] = parts[i].probe;
	return fillers;
}

static bool is_of_another_filler(const struct gap *gap, const struct fillers *fillers)
{
	for (size_t i = 0; i < fillers->count; i++)
		if (str_is(gap->probe, fillers->others[i]))
			return true;
	return false;
}

/* The gap at SOURCE, or at a folder above it. */
static const struct gap *gap_at(const struct node *node, const char *source)
{
	for_each(g, &node->gaps)
		if (is_below(source, g->path.value))
			return g;
	return NULL;
}

/* Returns the gap of SOURCE among the probes that fill the section, else one below SOURCE, else the first gap of the
 * section's own probe. */
static const struct gap *gap_of_probe(const struct node *node, const char *source, const char *fact,
				      bool any)
{
	const struct gap *first = NULL, *below = NULL;
	struct fillers fillers = fillers_of(fact);

	for_each(g, &node->gaps) {
		bool own = *g->probe.value == *fact && span_is(fillers.own, g->probe.value);

		if (!own && !is_of_another_filler(g, &fillers))
			continue;
		if (source && is_below(source, g->path.value))
			return g;
		if (source && !below && is_below(g->path.value, source))
			below = g;
		if (!first && own)
			first = g;
	}
	return below || !any ? below : first;
}

/* Descriptions name the files of the process that looks; --pid names another. */
static const char *of_process(const struct report *report, const char *source)
{
	static const char self[] = "/proc/self/";

	if (!source || !is_known(report->node->env.pid) || !starts_with(source, self))
		return source;
	return arena_printf(report->arena, "/proc/%llu/%s",
			    (unsigned long long)report->node->env.pid.value, source + strlen(self));
}

/* An image has no /proc: the fact was concluded from its files. */
static bool is_of_next_boot(const struct report *report, const struct fact_ref *ref)
{
	return is_known(report->node->os.next_boot) && ref->source &&
	       starts_with(ref->source, "/proc/") && fact_ref_state(ref) == FACT_KNOWN;
}

int report_find(const struct report *report, const char *fact, struct fact_ref *ref)
{
	int rc = fact_find(&node_desc, report->node, fact, report->arena, ref);

	if (rc == 0)
		ref->source = of_process(report, ref->source);
	if (rc == 0 && is_of_next_boot(report, ref))
		ref->source = NULL;
	return rc;
}

/* The gap that is about the very source of the missing fact. */
const struct gap *evidence_gap_near(const struct report *report, const struct finding *finding)
{
	const char *fact = finding->answer.evidence[0];
	const char *source = NULL;
	const struct gap *gap;
	struct fact_ref ref;

	if (!fact || report->node->gaps.count == 0)
		return NULL;
	if (report_find(report, fact, &ref) == 0)
		source = ref.source;
	gap = gap_of_probe(report->node, source, fact, false);
	return gap || !source ? gap : gap_at(report->node, source);
}

const struct gap *evidence_gap(const struct report *report, const struct finding *finding)
{
	const struct gap *gap = evidence_gap_near(report, finding);
	const char *fact = finding->answer.evidence[0];

	return gap || !fact ? gap : gap_of_probe(report->node, NULL, fact, true);
}
