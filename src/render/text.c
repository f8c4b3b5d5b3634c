/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text.c - the report for people: head, what is not well (worst first), what could not be told, and
 * a line that counts. */
#include <string.h>

#include "base/json.h"
#include "fleet/since.h"
#include "query/gpus.h"
#include "query/node-find.h"
#include "render/render.h"
#include "render/topo.h"

#define LABEL 10 /* width of "observed " and its like */
#define INDENT 5
#define SUBJECTS_SHOWN 4

struct view {
	struct page page;
	const struct report *report;
	bool verbose;
};

static void styled(struct view *v, enum style style, const char *text)
{
	fprintf(v->page.out, "%s%s%s", page_style(&v->page, style), text,
		page_style(&v->page, STYLE_PLAIN));
}

static void label(struct view *v, const char *name, const char *text)
{
	page_label(&v->page, INDENT, LABEL, name, text);
}

/* ---- head ---- */

static const char *or_unknown(struct fact_str fact, const char *absent)
{
	return is_known(fact) ? fact.value : is_absent(fact) ? absent : "unknown";
}

static void head_line(struct view *v, const char *name, const char *text)
{
	fprintf(v->page.out, "%-*s", LABEL, name);
	text_wrap(v->page.out, text, LABEL, LABEL, v->page.width);
}

/* "8 x NVIDIA H200" and what else there is. */
static const char *gpus_text(struct view *v)
{
	const struct node *node = v->report->node;
	const char *text = "";

	if (!was_read(node->pci.devices))
		return "unknown";
	for_each(d, &node->pci.devices) {
		const char *name = gpu_name(node, d);
		size_t count = 0;
		bool seen = false;

		if (!pci_is_gpu(d))
			continue;
		for_each(other, &node->pci.devices) {
			if (!pci_is_gpu(other) || strcmp(gpu_name(node, other), name) != 0)
				continue;
			seen |= other < d;
			count++;
		}
		if (!seen)
			text = arena_printf(v->report->arena, "%s%s%zu x %s", text,
					    *text ? ", " : "", count, name);
	}
	return *text ? text : "none: no NVIDIA GPU on the PCI bus";
}

static const char *nics_text(struct view *v)
{
	const struct node *node = v->report->node;
	size_t active = 0, ports = 0;

	if (!was_read(node->rdma.devices))
		return "unknown";
	if (node->rdma.devices.count == 0)
		return "no RDMA device";
	for_each(d, &node->rdma.devices) {
		for_each(p, &d->ports) {
			ports++;
			active += known_is(p->state, RDMA_PORT_ACTIVE);
		}
	}
	return arena_printf(v->report->arena, "%u RDMA device%s, %zu of %zu port%s active",
			    node->rdma.devices.count, node->rdma.devices.count == 1 ? "" : "s",
			    active, ports, ports == 1 ? "" : "s");
}

static const char *driver_text(struct view *v)
{
	const struct driver_facts *driver = &v->report->node->driver;

	if (known_is(driver->loaded, false))
		return "not loaded";
	if (!is_known(driver->version))
		return "unknown";
	return arena_printf(v->report->arena, "%s%s%s%s", driver->version.value,
			    is_known(driver->flavour) ? " (" : "",
			    is_known(driver->flavour) ? driver_flavour_words[driver->flavour.value]
						      : "",
			    is_known(driver->flavour) ? " kernel modules)" : "");
}

static const char *machine_text(struct view *v)
{
	const struct os_facts *os = &v->report->node->os;
	struct arena *arena = v->report->arena;
	const char *text = arena_printf(arena, "%s, Linux %s, %s", or_unknown(os->name, "?"),
					or_unknown(os->kernel, "?"), or_unknown(os->machine, "?"));

	if (is_known(os->hypervisor))
		text = arena_printf(arena, "%s, virtual machine (%s)", text, os->hypervisor.value);
	if (is_known(os->container))
		text = arena_printf(arena, "%s, inside a container (%s)", text,
				    os->container.value);
	return text;
}

/* Whether what was pending before the last boot is live now; NULL where no repair was followed by one. */
static const char *repairs_text(struct view *v)
{
	size_t live = 0, all = 0;

	for_each(f, &v->report->findings) {
		if (strcmp(f->rule->id, "boot/repair-not-live") != 0 || !f->answer.subject)
			continue;
		all++;
		live += f->answer.verdict == VERDICT_PASS;
	}
	if (!all)
		return NULL;
	return arena_printf(v->report->arena, "%zu of %zu are live since the boot", live, all);
}

static void head(struct view *v)
{
	const struct report *r = v->report;

	head_line(v, "Node", or_unknown(r->node->os.hostname, "unknown"));
	head_line(v, "System", machine_text(v));
	head_line(v, "Driver", driver_text(v));
	head_line(v, "GPUs", gpus_text(v));
	head_line(v, "NICs", nics_text(v));
	head_line(v, "Profiles",
		  arena_printf(r->arena, "%s (%s)", profiles_text(r->arena, r->profiles),
			       r->profiles_reason));
	if (repairs_text(v))
		head_line(v, "Repairs", repairs_text(v));
}

/* ---- findings ---- */

static enum style severity_style(const struct finding *f)
{
	switch (f->severity) {
	case SEVERITY_CRIT:
	case SEVERITY_ERR:
		return STYLE_RED;
	case SEVERITY_WARN:
		return STYLE_YELLOW;
	case SEVERITY_INFO:
		break;
	}
	return STYLE_BLUE;
}

/* The same answer about another subject is shown with the first of its kind. */
static bool same_answer(const struct finding *a, const struct finding *b)
{
	return a->rule == b->rule && a->answer.verdict == b->answer.verdict &&
	       a->severity == b->severity && a->off == b->off && a->answer.subject &&
	       b->answer.subject && same_text(a->answer.observed, b->answer.observed) &&
	       same_text(a->answer.expected, b->answer.expected);
}

static bool shown_before(const struct report *r, const struct finding *f)
{
	for_each(other, &r->findings) {
		if (other == f)
			return false;
		if (same_answer(other, f))
			return true;
	}
	return false;
}

static const char *subjects(struct view *v, const struct finding *f)
{
	struct arena *arena = v->report->arena;
	const char *text = "";
	size_t count = 0;

	if (!f->answer.subject)
		return NULL;
	for_each(other, &v->report->findings) {
		if (!same_answer(other, f))
			continue;
		if (count++ < SUBJECTS_SHOWN || v->verbose)
			text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "",
					    other->answer.subject);
	}
	if (count > SUBJECTS_SHOWN && !v->verbose)
		text = arena_printf(arena, "%s and %zu more", text, count - SUBJECTS_SHOWN);
	return text;
}

/* Where the evidence stands: /proc/driver/nvidia/params:40. Each place once. */
static const char *places(struct view *v, const struct finding *f)
{
	const struct report *r = v->report;
	const char *text = "";
	struct fact_ref ref;

	for (size_t i = 0; i < EVIDENCE_MAX && f->answer.evidence[i]; i++) {
		const char *place;

		if (report_find(r, f->answer.evidence[i], &ref) || !ref.source)
			continue;
		place = ref.line ? arena_printf(r->arena, "%s:%llu", ref.source,
						(unsigned long long)ref.line)
				 : ref.source;
		if (!strstr(text, place))
			text = arena_printf(r->arena, "%s%s%s", text, *text ? ", " : "", place);
	}
	return text;
}

static const char *repair_text(const struct finding *f)
{
	return activation_text(f->answer.activation ? f->answer.activation : f->rule->activation);
}

static void title_line(struct view *v, const struct finding *f, const char *tag, enum style style)
{
	fputc('\n', v->page.out);
	fprintf(v->page.out, "%s%-*s%s", page_style(&v->page, style), INDENT, tag,
		page_style(&v->page, STYLE_PLAIN));
	styled(v, STYLE_BOLD, f->rule->id);
	fputc('\n', v->page.out);
	fprintf(v->page.out, "%*s", INDENT, "");
	text_wrap(v->page.out, f->rule->title, INDENT, INDENT, v->page.width);
}

/* What a trial showed, and whether that is what the configuration let expect. */
static const char *proof_text(struct view *v, const struct finding *f)
{
	if (!f->proved || f->configured == f->answer.verdict)
		return f->proved;
	return arena_printf(v->report->arena, "%s; the configuration alone would have been \"%s\"",
			    f->proved, verdict_words[f->configured]);
}

static void show_bad(struct view *v, const struct finding *f)
{
	const struct answer *a = &f->answer;
	static const char *const tags[] = { "INFO", "WARN", "ERR", "CRIT" };
	bool pending = a->verdict == VERDICT_PENDING;

	title_line(v, f, pending ? "WAIT" : tags[f->severity],
		   pending ? STYLE_YELLOW : severity_style(f));
	label(v, "where", subjects(v, f));
	label(v, "seen", a->observed);
	label(v, "proved", proof_text(v, f));
	label(v, "wanted", a->expected);
	label(v, "read in", places(v, f));
	if (f->severity > SEVERITY_INFO || v->verbose)
		label(v, "impact", a->impact ? a->impact : f->rule->impact);
	label(v, "do", a->remedy ? a->remedy : f->rule->remedy);
	label(v, "effect", repair_text(f));
	label(v, "graded", f->why_graded);
}

/* ---- the rest ---- */

static void show_short(struct view *v, const struct finding *f)
{
	bool pass = f->answer.verdict == VERDICT_PASS;
	const char *text = f->answer.observed;

	fprintf(v->page.out, "%s%-*s%s%s", page_style(&v->page, pass ? STYLE_GREEN : STYLE_DIM),
		INDENT, pass ? "ok" : "-", page_style(&v->page, STYLE_PLAIN), f->rule->id);
	if (f->answer.subject)
		fprintf(v->page.out, " %s", subjects(v, f));
	fputc('\n', v->page.out);
	if (text) {
		fprintf(v->page.out, "%*s", INDENT, "");
		text_wrap(v->page.out, text, INDENT, INDENT, v->page.width);
	}
	label(v, "proved", proof_text(v, f));
}

static bool is_bad(const struct finding *f)
{
	return f->answer.verdict == VERDICT_FAIL || f->answer.verdict == VERDICT_PENDING;
}

static void show_all(struct view *v, bool (*chosen)(const struct finding *f, int severity),
		     void (*show)(struct view *v, const struct finding *f))
{
	for (int severity = SEVERITY_CRIT; severity >= SEVERITY_INFO; severity--)
		for_each(f, &v->report->findings)
			if (!f->off && chosen(f, severity) && !shown_before(v->report, f))
				show(v, f);
}

static bool chosen_fail(const struct finding *f, int severity)
{
	return (f->answer.verdict == VERDICT_FAIL || f->answer.verdict == VERDICT_NOTE) &&
	       (int)f->severity == severity;
}

static bool chosen_pending(const struct finding *f, int severity)
{
	return f->answer.verdict == VERDICT_PENDING && (int)f->severity == severity;
}

static bool chosen_rest(const struct finding *f, int severity)
{
	return !is_bad(f) && f->answer.verdict != VERDICT_UNKNOWN && (int)f->severity == severity;
}

/* What the files say is wrong and the hardware does all the same. */
static bool is_overruled(const struct finding *f)
{
	return f->proved && f->answer.verdict == VERDICT_PASS &&
	       (f->configured == VERDICT_FAIL || f->configured == VERDICT_PENDING);
}

static void show_overruled(struct view *v)
{
	bool any = false;

	for_each(f, &v->report->findings) {
		if (f->off || !is_overruled(f) || shown_before(v->report, f))
			continue;
		if (!any)
			fprintf(v->page.out, "\n%sProved otherwise%s\n",
				page_style(&v->page, STYLE_BOLD),
				page_style(&v->page, STYLE_PLAIN));
		any = true;
		show_short(v, f);
	}
}

static void show_off(struct view *v)
{
	for_each(f, &v->report->findings) {
		if (!f->off || shown_before(v->report, f))
			continue;
		fprintf(v->page.out, "\n%-*s%s\n", INDENT, "off", f->rule->id);
		label(v, "reason", f->why_graded);
	}
}

static void show_changes(struct view *v)
{
	const struct changes *changes = v->report->changes;

	if (!changes)
		return;
	fprintf(v->page.out, "\n%s%u fact%s changed since then%s\n",
		page_style(&v->page, STYLE_BOLD), changes->items.count,
		changes->items.count == 1 ? "" : "s", page_style(&v->page, STYLE_PLAIN));
	for_each(c, &changes->items) {
		fprintf(v->page.out, "%*s%s\n", INDENT, "", c->fact);
		label(v, "before", c->before ? c->before : "not there");
		label(v, "now", c->after ? c->after : "not there");
	}
}

static size_t count_failed(const struct report *report)
{
	return report->count[VERDICT_FAIL];
}

static void what_next(struct view *v)
{
	if (!count_failed(v->report))
		return;
	fputc('\n', v->page.out);
	text_wrap(
		v->page.out,
		"Why, and how to check by hand: 'nvnodecheck explain RULE'. What can be repaired: "
		"'nvnodecheck fix', with the same --profile.",
		0, 0, v->page.width);
}

static void last_line(struct view *v)
{
	const struct report *r = v->report;
	size_t failed = count_failed(r);

	fputc('\n', v->page.out);
	styled(v,
	       failed			   ? STYLE_RED
	       : r->count[VERDICT_PENDING] ? STYLE_YELLOW
					   : STYLE_GREEN,
	       arena_printf(r->arena, "%zu failed", failed));
	fprintf(v->page.out,
		", %zu pending, %zu for information, %zu unknown, %zu passed, "
		"%zu not applicable",
		r->count[VERDICT_PENDING], r->count[VERDICT_NOTE], r->count[VERDICT_UNKNOWN],
		r->count[VERDICT_PASS], r->count[VERDICT_NOT_APPLICABLE]);
	if (r->off)
		fprintf(v->page.out, ", %zu off", r->off);
	fputc('\n', v->page.out);
}

enum exit_status render_report_text(const struct report *report,
				    const struct render_options *options, enum exit_status status)
{
	struct view v = { .report = report, .verbose = options->verbose };

	page_begin(&v.page, options->color, options->pager);
	head(&v);
	show_all(&v, chosen_fail, show_bad);
	show_all(&v, chosen_pending, show_bad);
	show_overruled(&v);
	render_unknowns(&v.page, report);
	show_off(&v);
	if (v.verbose) {
		fputc('\n', v.page.out);
		show_all(&v, chosen_rest, show_short);
	}
	show_changes(&v);
	what_next(&v);
	last_line(&v);
	if (v.verbose) {
		struct topo topo;

		topo_make(&topo, report->node, report->arena);
		fputc('\n', v.page.out);
		render_topo_part(&v.page, &topo);
	}
	return page_end(&v.page, status);
}
