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

#include "base/output.h"
#include "base/version.h"
#include "query/topology.h"
#include "render/render.h"

static void family(const char *name, const char *help)
{
	printf("# HELP nvnodecheck_%s %s\n# TYPE nvnodecheck_%s gauge\n", name, help, name);
}

/* NAME="VALUE" with the three escapes that the format has. */
static void label(const char *name, const char *value)
{
	printf("%s=\"", name);
	for (const char *p = value ? value : ""; *p; p++) {
		if (*p == '\\' || *p == '"')
			putchar('\\');
		if (*p == '\n')
			fputs("\\n", stdout);
		else
			putchar(*p);
	}
	putchar('"');
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
	fputs("nvnodecheck_info{", stdout);
	label("version", NVNODECHECK_VERSION);
	putchar(',');
	label("driver", or_empty(node->driver.version));
	putchar(',');
	label("kernel", or_empty(node->os.kernel));
	putchar(',');
	label("profiles", profiles_text(r->arena, r->profiles));
	puts("} 1");
	if (was_read(node->pci.devices)) {
		family("gpus", "NVIDIA GPUs on the PCI bus.");
		printf("nvnodecheck_gpus %zu\n", topology_gpus(node));
	}
	if (!was_read(node->rdma.devices))
		return;
	for_each(d, &node->rdma.devices)
		for_each(p, &d->ports)
			active += known_is(p->state, RDMA_PORT_ACTIVE);
	family("rdma_devices", "RDMA devices.");
	printf("nvnodecheck_rdma_devices %" PRIu32 "\n", node->rdma.devices.count);
	family("rdma_ports_active", "RDMA ports in state ACTIVE.");
	printf("nvnodecheck_rdma_ports_active %zu\n", active);
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
			printf("nvnodecheck_answers{verdict=\"%s\",severity=\"%s\"} %zu\n",
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

/* A series that stands twice in a file makes node exporter refuse the whole file. */
static bool is_repeated(const struct report *r, const struct finding *f)
{
	for_each(other, &r->findings) {
		if (other == f)
			return false;
		if (is_shown(other) && other->rule == f->rule &&
		    strcmp(subject(other), subject(f)) == 0 && other->severity == f->severity &&
		    other->answer.verdict == f->answer.verdict)
			return true;
	}
	return false;
}

static void put_findings(const struct report *r)
{
	family("finding", "What is not well: 1 for each rule and subject.");
	for_each(f, &r->findings) {
		if (!is_shown(f) || is_repeated(r, f))
			continue;
		fputs("nvnodecheck_finding{", stdout);
		label("rule", f->rule->id);
		putchar(',');
		label("subject", subject(f));
		putchar(',');
		label("severity", severity_words[f->severity]);
		putchar(',');
		label("verdict", verdict_words[f->answer.verdict]);
		puts("} 1");
	}
}

static void put_probes(const struct report *r)
{
	if (!r->node->probes.count)
		return;
	family("probe_ok",
	       "1: the probe read all that it wanted or said what it could not; 0: it hung or crashed.");
	for_each(p, &r->node->probes)
		printf("nvnodecheck_probe_ok{probe=\"%s\"} %d\n", p->name.value,
		       !known_is(p->state, PROBE_TIMED_OUT) && !known_is(p->state, PROBE_FAILED));
	family("probe_duration_seconds", "How long the probe took.");
	for_each(p, &r->node->probes)
		printf("nvnodecheck_probe_duration_seconds{probe=\"%s\"} %.6f\n", p->name.value,
		       (double)p->duration_us.value / 1e6);
}

enum exit_status render_report_prometheus(const struct report *report, enum exit_status status)
{
	put_node(report);
	put_counts(report);
	put_findings(report);
	put_probes(report);
	family("exit_status", "0 well, 1 findings, 3 something that counts is unknown.");
	printf("nvnodecheck_exit_status %d\n", status);
	family("last_run_timestamp_seconds", "When this was found out, in Unix time.");
	printf("nvnodecheck_last_run_timestamp_seconds %lld\n", (long long)time(NULL));
	return finish_output(status);
}
