/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proof.c - the trials of prove, for people: by kind, the copies as a table, then the failures. */
#include <string.h>

#include "base/json.h"
#include "evaluate/problems.h"
#include "render/render.h"

#define LABEL 22
#define CELL 8

struct view {
	struct page page;
	const struct report *report;
	const struct proof_facts *proof;
	struct proof_speeds speeds;
};

static void line(struct view *v, const char *label, const char *text)
{
	page_printf(&v->page, "  %-*s", LABEL - 2, label);
	text_wrap(v->page.out, text, LABEL, LABEL, v->page.width);
}

/* Writes a line with a coloured word before the text. */
static void word_line(struct view *v, const char *label, enum style style, const char *word,
		      const char *text)
{
	int at = page_printf(&v->page, "  %-*s%s%s%s  ", LABEL - 2, label,
			     page_style(&v->page, style), word, page_style(&v->page, STYLE_PLAIN));

	text_wrap(v->page.out, text, LABEL, at, v->page.width);
}

static const char *with_error(struct view *v, const struct proof_try *t)
{
	if (!is_known(t->error))
		return t->seen.value;
	return arena_printf(v->report->arena, "%s: %s", t->seen.value, t->error.value);
}

/* ---- the head ---- */

static void head(struct view *v)
{
	const struct proof_facts *p = v->proof;
	struct arena *arena = v->report->arena;
	const char *cuda = "not here";

	if (is_known(p->cuda_version))
		cuda = arena_printf(arena, "%llu.%llu",
				    (unsigned long long)p->cuda_version.value / 1000,
				    (unsigned long long)p->cuda_version.value % 1000 / 10);
	page_printf(&v->page, "Driver %s, CUDA %s, %u GPU%s\n", p->driver.value, cuda,
		    p->gpus.count, p->gpus.count == 1 ? "" : "s");
	page_printf(&v->page, "Run by uid %llu %s CAP_SYS_ADMIN, in %.1f s\n",
		    (unsigned long long)p->uid.value,
		    known_is(p->sys_admin, true) ? "with" : "without",
		    (double)p->duration_ms.value / 1e3);
	if (is_known(p->stopped))
		page_printf(&v->page, "Stopped: %s\n", p->stopped.value);
}

/* ---- trials ---- */

static bool same_outcome(const struct proof_try *a, const struct proof_try *b)
{
	return a->works.state == b->works.state && a->works.value == b->works.value &&
	       strcmp(a->seen.value, b->seen.value) == 0 &&
	       strcmp(a->error.value, b->error.value) == 0;
}

/* The earlier trial of the kind that went the same way, or NULL. */
static const struct proof_try *same_try_before(const struct view *v, const struct proof_try *t)
{
	for_each(other, &v->proof->tries) {
		if (other == t)
			break;
		if (str_is(other->kind, t->kind.value) && same_outcome(other, t))
			return other;
	}
	return NULL;
}

static const char *where(struct view *v, const struct proof_try *t)
{
	struct arena *arena = v->report->arena;
	size_t alike = 0, of_kind = 0;

	for_each(other, &v->proof->tries) {
		of_kind += str_is(other->kind, t->kind.value);
		alike += str_is(other->kind, t->kind.value) && same_outcome(other, t);
	}
	if (alike == of_kind && alike > 1)
		return arena_printf(arena, "all %zu", alike);
	if (alike > 1)
		return arena_printf(arena, "%zu of %zu", alike, of_kind);
	return arena_printf(arena, "%s%s%s%s%s", t->gpu.value, is_known(t->device) ? " " : "",
			    t->device.value, is_known(t->what) ? " " : "", t->what.value);
}

/* Trials of one kind that went the same way are one line. */
static bool show_kind(struct view *v, const char *kind, const char *label)
{
	bool any = false;

	for_each(t, &v->proof->tries) {
		enum style style = is_unknown(t->works) ? STYLE_BLUE
				   : t->works.value	? STYLE_GREEN
							: STYLE_YELLOW;

		if (!str_is(t->kind, kind) || same_try_before(v, t))
			continue;
		word_line(v, any ? "" : label, style,
			  is_unknown(t->works) ? "?"
			  : t->works.value     ? "yes"
					       : "no",
			  arena_printf(v->report->arena, "%s: %s", where(v, t), with_error(v, t)));
		any = true;
	}
	return any;
}

static bool any_of(const struct view *v, const char *kind)
{
	for_each(t, &v->proof->tries)
		if (str_is(t->kind, kind))
			return true;
	return false;
}

static void show_tries(struct view *v)
{
	page_heading(&v->page, "Can a doorbell page be mapped for the GPU?");
	show_kind(v, PROOF_DOORBELL_CALLER, "this user");
	show_kind(v, PROOF_DOORBELL_JOB, "job, no privileges");
	show_kind(v, PROOF_UAR_CALLER, "NIC page, this user");
	show_kind(v, PROOF_UAR_JOB, "NIC page, job");
	page_heading(&v->page, "Do stream memory operations work?");
	show_kind(v, PROOF_STREAM_V2, "second version");
	show_kind(v, PROOF_STREAM_V1, "first version");
	page_heading(&v->page, "Does the NIC reach GPU memory?");
	show_kind(v, PROOF_DMABUF_EXPORT, "export as DMA-BUF");
	if (!any_of(v, PROOF_DMABUF_REGISTRATION))
		line(v, "registration",
		     is_known(v->proof->stopped) ? "not tried" : "no RDMA device on this node");
	show_kind(v, PROOF_DMABUF_REGISTRATION, "register DMA-BUF");
	show_kind(v, PROOF_PEERMEM_REGISTRATION, "register address");
	show_kind(v, PROOF_RDMA_WRITE, "RDMA write");
	if (any_of(v, PROOF_GDRCOPY)) {
		page_heading(&v->page, "Does the CPU reach GPU memory through gdrdrv?");
		show_kind(v, PROOF_GDRCOPY, "gdrcopy");
	}
}

/* ---- copies ---- */

static const struct proof_copy *copy_between(const struct view *v, size_t from, size_t to)
{
	const struct proof_gpu *gpus = v->proof->gpus.items;

	for_each(c, &v->proof->copies)
		if (str_is(c->from, gpus[from].bdf.value) && str_is(c->to, gpus[to].bdf.value))
			return c;
	return NULL;
}

/* GB/s; "bad" if data was damaged, "none" if the copy did not end, "*" after one without peer access, "<" after one
 * that is too slow. */
static void show_cell(struct view *v, const struct proof_copy *c)
{
	enum style style = STYLE_PLAIN;
	uint64_t usual = 0;
	char text[24] = "-";

	if (c && is_known(c->bad_bytes) && c->bad_bytes.value) {
		snprintf(text, sizeof(text), "bad");
		style = STYLE_RED;
	} else if (c && (is_known(c->error) || !is_known(c->mb_per_s))) {
		snprintf(text, sizeof(text), "none");
		style = STYLE_RED;
	} else if (c) {
		bool slow = proof_copy_is_slow(&v->speeds, c, &usual);

		snprintf(text, sizeof(text), "%.1f%s%s", (double)c->mb_per_s.value / 1e3,
			 known_is(c->access, false) ? "*" : "", slow ? "<" : "");
		style = slow ? STYLE_YELLOW : STYLE_PLAIN;
	}
	page_printf(&v->page, "%s%*s%s", page_style(&v->page, style), CELL, text,
		    page_style(&v->page, STYLE_PLAIN));
}

/* "NVLink 56 copies" of each kind of path. */
static const char *paths_text(struct view *v)
{
	const char *text = "";

	for_each(c, &v->proof->copies) {
		const char *path = is_known(c->path) ? c->path.value : "unknown path";
		size_t n = 0;

		if (strstr(text, path))
			continue;
		for_each(other, &v->proof->copies)
			n += strcmp(is_known(other->path) ? other->path.value : "unknown path",
				    path) == 0;
		text = arena_printf(v->report->arena, "%s%s%zu over %s", text, *text ? ", " : "", n,
				    path);
	}
	return text;
}

static void show_copies(struct view *v)
{
	size_t gpus = v->proof->gpus.count;

	if (!v->proof->copies.count)
		return;
	page_heading(&v->page,
		     "Do copies between GPUs arrive undamaged? (GB/s, from row to column)");
	page_printf(&v->page, "  %-14s", "");
	for (size_t to = 0; to < gpus; to++)
		page_printf(&v->page, "%*zu", CELL, to);
	fputc('\n', v->page.out);
	for (size_t from = 0; from < gpus; from++) {
		page_printf(&v->page, "%2zu %-13s", from, v->proof->gpus.items[from].bdf.value);
		for (size_t to = 0; to < gpus; to++)
			show_cell(v, from == to ? NULL : copy_between(v, from, to));
		fputc('\n', v->page.out);
	}
	line(v, "paths", paths_text(v));
	line(v, "marks",
	     "* through the host, because peer access is missing; < less than half of the "
	     "expected rate; bad: damaged data; none: the copy did not finish");
}

/* ---- the two settings that people ask about ---- */

static enum proof_word word_of(const struct view *v, const char *rule)
{
	const char *seen;

	return proof_of_trial(v->report->node, rule_find(rule)->trial, NULL, v->report->arena,
			      &seen);
}

static enum verdict verdict_of(const struct view *v, const char *rule)
{
	enum verdict verdict = VERDICT_NOT_APPLICABLE;

	for_each(f, &v->report->findings)
		if (strcmp(f->rule->id, rule) == 0 && verdict != VERDICT_FAIL)
			verdict = f->answer.verdict;
	return verdict;
}

static void show_settings(struct view *v)
{
	static const char *const doorbell[] = {
		[PROOF_SILENT] = "not known: the mapping could not be tried",
		[PROOF_GOOD] = "not needed, or set: a job without privileges can map a doorbell",
		[PROOF_BAD] = ("needed if jobs without CAP_SYS_ADMIN use GPU-initiated networking "
			       "(NVSHMEM IBGDA, DeepEP)"),
	};
	enum verdict second = verdict_of(v, "proof/stream-memops");
	enum proof_word first = word_of(v, "driver/stream-memops");

	page_heading(&v->page, "Are the two settings needed here?");
	line(v, "PeerMappingOverride", doorbell[word_of(v, "driver/peer-mapping-override")]);
	line(v, "EnableStreamMemOPs",
	     second == VERDICT_NOT_APPLICABLE || second == VERDICT_UNKNOWN
		     ? "not known: the operations could not be tried"
	     : first == PROOF_GOOD ? "not needed: both versions work"
	     : second == VERDICT_PASS
		     ? "not needed: the second version works; only programs built for CUDA 11.6 "
		       "or earlier use the first"
		     : "does not help: the second version fails, and this setting does not change "
		       "it");
}

/* ---- failures ---- */

static void show_findings(struct view *v)
{
	const struct finding *f = NULL;

	while ((f = render_next(v->report, f))) {
		if (f->answer.verdict != VERDICT_FAIL)
			continue;
		page_printf(&v->page, "\n%s%-5s%s", page_style(&v->page, STYLE_RED),
			    text_tags[f->severity], page_style(&v->page, STYLE_PLAIN));
		text_wrap(v->page.out, render_reason(v->report, f), 5, 5, v->page.width);
		line(v, "impact", finding_impact(f));
		line(v, "fix", finding_remedy(f));
	}
}

enum exit_status render_proof_text(const struct report *report,
				   const struct render_options *options, enum exit_status status)
{
	struct view v = { .report = report,
			  .proof = &report->node->proof,
			  .speeds = proof_speeds_of(&report->node->proof, report->arena) };
	uint32_t problems;

	page_begin(&v.page, options->color, options->pager);
	head(&v);
	show_tries(&v);
	show_copies(&v);
	show_settings(&v);
	show_findings(&v);
	problems = problems_find(report)->items.count;
	page_printf(&v.page, "\n%u problem%s found by %zu checks; %zu could not run\n", problems,
		    problems == 1 ? "" : "s", report->rules, problems_unknown(report));
	return page_end(&v.page, status);
}

static struct json_object *finding_json(const struct finding *f)
{
	struct json_object *json = json_object_new_object();

	json_put_string(json, "rule", f->rule->id);
	json_put_string(json, "verdict", verdict_words[f->answer.verdict]);
	json_put_string(json, "severity", severity_words[f->severity]);
	json_put_string(json, "subject", f->answer.subject);
	json_put_string(json, "observed", f->answer.observed);
	json_put_string(json, "expected", f->answer.expected);
	return json;
}

static struct json_object *proof_json(const struct report *report)
{
	struct json_object *json = json_document(PROOF_FORMAT);
	struct json_object *findings = json_object_new_array();

	json_put(json, "node", render_node(report->node));
	json_put_string(json, "verdict", verdict_words[report->verdict]);
	for_each(f, &report->findings)
		json_object_array_add(findings, finding_json(f));
	json_put(json, "findings", findings);
	json_put(json, "proof", fact_to_json(&proof_facts_desc, &report->node->proof));
	return json;
}

enum exit_status render_proof_json(const struct report *report, enum exit_status status)
{
	_cleanup_json_ struct json_object *json = proof_json(report);

	return render_json(json, status);
}
