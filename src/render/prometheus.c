/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prometheus.c - a report in the Prometheus text format 0.0.4, for node exporter's textfile collector
 * (prometheus.io/docs/instrumenting/exposition_formats). Names and labels are a contract: they are
 * in nvnodecheck(8), and the alert rules and the dashboard in contrib/prometheus use them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/escape.h"
#include "base/output.h"
#include "base/version.h"
#include "query/names.h"
#include "query/node-find.h"
#include "query/topology.h"
#include "render/render.h"

/* Writes metrics. Every value is escaped for the format. */
#define metric(...) escape_printf(stdout, SINK_PROMETHEUS, __VA_ARGS__)

static void family(const char *name, const char *help)
{
	metric("# HELP nvnodecheck_%s %s\n# TYPE nvnodecheck_%s gauge\n", name, help, name);
}

static const char *or_empty(struct fact_str fact)
{
	return is_known(fact) ? fact.value : "";
}

static void put_node(const struct report *r)
{
	const struct node *node = r->node;
	size_t active = 0;

	family("info", "Version of nvnodecheck, and what the node runs.");
	metric("nvnodecheck_info{version=\"%s\",driver=\"%s\",kernel=\"%s\",profiles=\"%s\"} 1\n",
	       NVNODECHECK_VERSION, or_empty(node->driver.version), or_empty(node->os.kernel),
	       profiles_text(r->arena, r->profiles));
	if (was_read(node->pci.devices)) {
		family("gpus", "NVIDIA GPUs on the PCI bus.");
		metric("nvnodecheck_gpus %zu\n", topology_gpus(node));
	}
	if (!was_read(node->rdma.devices))
		return;
	for_each(d, &node->rdma.devices)
		for_each(p, &d->ports)
			active += known_is(p->state, RDMA_PORT_ACTIVE);
	family("rdma_devices", "RDMA devices.");
	metric("nvnodecheck_rdma_devices %" PRIu32 "\n", node->rdma.devices.count);
	family("rdma_ports_active", "RDMA ports in state ACTIVE.");
	metric("nvnodecheck_rdma_ports_active %zu\n", active);
}

static size_t count_of(const struct report *r, enum verdict verdict, enum severity severity)
{
	size_t n = 0;

	for_each(f, &r->findings)
		n += !f->off && f->answer.verdict == verdict && f->severity == severity;
	return n;
}

static void put_counts(const struct report *r)
{
	family("answers", "Answers of rules, by verdict and severity.");
	for (int v = VERDICT_PASS; v <= VERDICT_NOT_APPLICABLE; v++)
		for (int s = SEVERITY_INFO; s <= SEVERITY_CRIT; s++)
			metric("nvnodecheck_answers{verdict=\"%s\",severity=\"%s\"} %zu\n",
			       verdict_words[v], severity_words[s],
			       count_of(r, (enum verdict)v, (enum severity)s));
}

static bool is_shown(const struct finding *f)
{
	return !f->off && f->answer.verdict != VERDICT_PASS &&
	       f->answer.verdict != VERDICT_NOT_APPLICABLE;
}

static const char *subject(const struct finding *f)
{
	return f->answer.subject ? f->answer.subject : "";
}

/* Returns TEXT as the label has it. Two texts can be equal then. */
static const char *label(const struct report *r, const char *text)
{
	return escape_string(r->arena, SINK_PROMETHEUS, text);
}

static bool same_series(const struct finding *a, const struct finding *b)
{
	return a->rule == b->rule && a->severity == b->severity &&
	       a->answer.verdict == b->answer.verdict;
}

/* A series that is twice in a file makes node exporter refuse the whole file. LABELS has the subjects, NULL for one
 * that is not shown. */
static bool is_repeated(const struct report *r, const char *const *labels, uint32_t i)
{
	const struct finding *items = r->findings.items;

	for (uint32_t k = 0; k < i; k++)
		if (labels[k] && same_series(&items[k], &items[i]) &&
		    strcmp(labels[k], labels[i]) == 0)
			return true;
	return false;
}

/* The labels of NVIDIA's dcgm-exporter (internal/pkg/rendermetrics/render_metrics.go), in which DCGM writes the address
 * with a domain of eight digits and in capitals. */
static void put_gpu(const struct report *r, const struct finding *f)
{
	const struct pci_device *d = node_pci(r->node, subject(f));
	unsigned int domain, bus, device, function;
	const char *uuid = gpu_uuid(r->node, subject(f));
	uint64_t number;

	if (!d || !topology_is_gpu(d))
		return;
	if (gpu_number(r->node, subject(f), &number))
		metric(",gpu=\"%" PRIu64 "\"", number);
	if (uuid)
		metric(",UUID=\"%s\"", uuid);
	if (sscanf(subject(f), "%x:%x:%x.%x", &domain, &bus, &device, &function) == 4)
		metric(",pci_bus_id=\"%08X:%02X:%02X.%X\"", domain, bus, device, function);
}

static void put_findings(const struct report *r)
{
	const char **labels = arena_alloc(r->arena, (r->findings.count + 1) * sizeof(*labels));

	family("finding", "Problems: 1 for each rule and subject.");
	for (uint32_t i = 0; i < r->findings.count; i++) {
		const struct finding *f = &r->findings.items[i];

		labels[i] = is_shown(f) ? label(r, subject(f)) : NULL;
		if (!labels[i] || is_repeated(r, labels, i))
			continue;
		metric("nvnodecheck_finding{rule=\"%s\",subject=\"%s\",severity=\"%s\",verdict=\"%s\"",
		       f->rule->id, subject(f), severity_words[f->severity],
		       verdict_words[f->answer.verdict]);
		put_gpu(r, f);
		metric("} 1\n");
	}
}

static void put_acknowledged(const struct report *r)
{
	size_t n = 0;

	for_each(f, &r->findings)
		n += f->acknowledged != NULL;
	family("acknowledged", "Problems that an administrator has seen; they are no findings.");
	metric("nvnodecheck_acknowledged %zu\n", n);
}

/* The probes, each name once: a facts file can have one twice. */
static const struct probe_result *next_probe(const struct report *r, const char **labels,
					     uint32_t *i)
{
	for (; *i < r->node->probes.count; ++*i) {
		uint32_t k = 0;

		labels[*i] = label(r, r->node->probes.items[*i].name.value);
		while (k < *i && strcmp(labels[k], labels[*i]) != 0)
			k++;
		if (k == *i)
			return &r->node->probes.items[(*i)++];
	}
	return NULL;
}

static void put_probes(const struct report *r)
{
	const char **labels = arena_alloc(r->arena, (r->node->probes.count + 1) * sizeof(*labels));
	const struct probe_result *p;

	if (!r->node->probes.count)
		return;
	family("probe_ok", "1: the probe ended and reported all gaps; 0: it hung or crashed.");
	for (uint32_t i = 0; (p = next_probe(r, labels, &i));)
		metric("nvnodecheck_probe_ok{probe=\"%s\"} %d\n", p->name.value,
		       !known_is(p->state, PROBE_TIMED_OUT) && !known_is(p->state, PROBE_FAILED));
	family("probe_duration_seconds", "How long the probe took.");
	for (uint32_t i = 0; (p = next_probe(r, labels, &i));)
		metric("nvnodecheck_probe_duration_seconds{probe=\"%s\"} %.6f\n", p->name.value,
		       (double)p->duration_us.value / 1e6);
}

enum exit_status render_report_prometheus(const struct report *report, enum exit_status status)
{
	put_node(report);
	put_counts(report);
	put_findings(report);
	put_acknowledged(report);
	put_probes(report);
	family("exit_status", "0 no problems, 1 findings, 3 a check could not run.");
	metric("nvnodecheck_exit_status %d\n", status);
	family("last_run_timestamp_seconds", "When this run took place, in Unix time.");
	metric("nvnodecheck_last_run_timestamp_seconds %lld\n", (long long)time(NULL));
	return finish_output(status);
}
