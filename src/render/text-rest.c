/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text-rest.c - the parts without an instruction: notes, checks that could not run, rules that are switched off, rules
 * that passed. */
#include <string.h>

#include "advice/readiness.h"
#include "evaluate/acknowledge.h"
#include "fleet/since.h"
#include "query/names.h"
#include "render/text.h"
#include "render/topo.h"

static void mark(struct view *v, const char *name, const char *text)
{
	page_label(&v->page, 0, TEXT_MARK, name, text);
}

/* ---- subjects ---- */

/* The same answer about another subject is shown with the first of its kind. */
static bool same_answer(const struct finding *a, const struct finding *b)
{
	return a->rule == b->rule && a->answer.verdict == b->answer.verdict && a->off == b->off &&
	       (a == b || (a->answer.subject && b->answer.subject)) &&
	       same_text(a->answer.observed, b->answer.observed) &&
	       same_text(a->answer.expected, b->answer.expected);
}

static bool is_shown_before(const struct report *r, const struct finding *f)
{
	for_each(other, &r->findings) {
		if (other == f)
			return false;
		if (same_answer(other, f))
			return true;
	}
	return false;
}

static const char *subjects(const struct report *r, const struct finding *f)
{
	struct finding_list like = { 0 };

	for_each(other, &r->findings)
		if (same_answer(other, f))
			*LIST_ADD(r->arena, &like) = other;
	return render_where(r, &like, LABELS_ALL);
}

/* ---- notes ---- */

static const char *note_says(const struct finding *f)
{
	return f->answer.observed ? f->answer.observed : finding_title(f);
}

/* Returns TEXT as the note F, or NULL if F is not a note or was shown. */
static const char *note_with(const struct report *r, const struct finding *f, const char *text)
{
	const char *where;

	if (f->off || f->answer.verdict != VERDICT_NOTE || is_shown_before(r, f))
		return NULL;
	where = subjects(r, f);
	/* NCCL_IB_HCA=mlx5_0 begins with its subject. */
	if (starts_with(text, where))
		where = "";
	return arena_printf(r->arena, "%s%s%s [%s]", where, *where ? ": " : "", text, f->rule->id);
}

const char *render_note(const struct report *r, const struct finding *f)
{
	return note_with(r, f, note_says(f));
}

static void show_note(struct view *v, const struct finding *f, const char *text)
{
	const struct report *r = v->report;

	page_printf(&v->page, "%s%-*s%s", page_style(&v->page, STYLE_BLUE), TEXT_TAG, "INFO",
		    page_style(&v->page, STYLE_PLAIN));
	text_wrap(v->page.out, text, TEXT_TAG, TEXT_TAG, v->page.width);
	if (!v->options->verbose)
		return;
	text_field(v, "about", finding_title(f));
	text_field(v, "proved", render_proof(r, f));
	text_field(v, "expected", f->answer.expected);
	text_field(v, "source", render_places(r, f));
	text_field(v, "impact", finding_impact(f));
	text_field(v, "reference", f->answer.source);
	text_field(v, "graded", f->why_graded);
}

/* Notes with an instruction are shown. Beside problems those are shown too that belong to one, in so many lines. The
 * others ask for nothing, and are counted. */
#define RELATED_LINES 6
#define ADVICE_MAX 3 /* notes with an instruction */

static size_t note_lines(const struct view *v, const char *text)
{
	return text_split(v->report->arena, text, v->page.width - TEXT_TAG).count;
}

/* Returns true if a note above is of the same rule. */
static bool is_noted(const struct report *r, const struct finding *f)
{
	for_each(other, &r->findings) {
		if (other == f)
			return false;
		if (other->rule == f->rule && !other->off && other->answer.verdict == VERDICT_NOTE)
			return true;
	}
	return false;
}

/* Returns true for a note with an instruction, of a rule that also finds problems, or that names itself advice. It comes before notes of rules that only
 * inform, such as settings of the firmware. A note with a source of its own is of the table of known defects: it says
 * what can happen, and is left out. */
static bool is_worth_doing(const struct finding *f)
{
	return (f->rule->severity >= SEVERITY_WARN || f->answer.is_advice) && !f->answer.source &&
	       f->answer.remedy;
}

/* Without its full stop. */
static const char *first_sentence(struct arena *arena, const char *text)
{
	size_t n = text ? text_sentence(text) : 0;

	return n && text[n - 1] == '.' ? arena_strndup(arena, text, n - 1) : text;
}

const char *text_note(const struct view *v, const struct finding *f)
{
	if (v->options->verbose)
		return render_note(v->report, f);
	return note_with(v->report, f, first_sentence(v->report->arena, note_says(f)));
}

/* Returns the note with the first sentence of a remedy that is worth doing. */
static const char *note_text(const struct view *v, const struct finding *f)
{
	struct arena *arena = v->report->arena;
	const char *remedy = finding_remedy(f), *text = text_note(v, f);

	if (!text || !remedy || !is_worth_doing(f))
		return text;
	return arena_printf(arena, "%s. %s.", text, first_sentence(arena, remedy));
}

static bool causes_rule(const struct rule *cause, const struct rule *rule)
{
	for (size_t i = 0; i < RULE_CAUSES_MAX && rule->follows[i]; i++)
		if (strcmp(rule->follows[i], cause->id) == 0)
			return true;
	return false;
}

/* One item of a list is the same for both; a whole list is not enough. */
static bool is_of_same_fact(const struct finding *a, const struct finding *b)
{
	for (size_t i = 0; i < EVIDENCE_MAX && a->answer.evidence[i]; i++)
		for (size_t k = 0; k < EVIDENCE_MAX && b->answer.evidence[k]; k++)
			if (strchr(a->answer.evidence[i], '[') &&
			    strcmp(a->answer.evidence[i], b->answer.evidence[k]) == 0)
				return true;
	return false;
}

static bool is_related(const struct finding *note, const struct finding *f)
{
	return (note->answer.subject && same_text(note->answer.subject, f->answer.subject)) ||
	       causes_rule(note->rule, f->rule) || causes_rule(f->rule, note->rule) ||
	       is_of_same_fact(note, f);
}

/* Returns true if NOTE has the device, the cause or the fact of a problem. */
static bool belongs_to_problem(const struct view *v, const struct finding *note)
{
	for_each(p, &v->problems->items) {
		for_each(f, &p->members)
			if (is_related(note, *f))
				return true;
		for_each(f, &p->follows)
			if (is_related(note, *f))
				return true;
	}
	return false;
}

struct note_count {
	size_t lines, shown, left;
};

/* Beside problems without steps no note is shown. */
static bool has_room(const struct view *v, const struct finding *f, size_t lines,
		     const struct note_count *count)
{
	if (v->problems->items.count && (!v->has_steps || !belongs_to_problem(v, f)))
		return false;
	if (is_worth_doing(f))
		return count->shown < ADVICE_MAX;
	return v->problems->items.count && count->lines + lines <= RELATED_LINES;
}

/* Prints one note of each rule. */
static void show_notes_of(struct view *v, bool worth_doing, struct note_count *count)
{
	for_each(f, &v->report->findings) {
		const char *text = is_worth_doing(f) == worth_doing ? note_text(v, f) : NULL;
		size_t own = text ? note_lines(v, text) : 0;

		if (!text)
			continue;
		if (!has_room(v, f, own, count) || is_noted(v->report, f)) {
			count->left++;
			continue;
		}
		count->lines += own;
		count->shown++;
		show_note(v, f, text);
	}
}

static void show_notes(struct view *v)
{
	struct note_count count = { 0 };

	if (v->options->verbose) {
		for_each(f, &v->report->findings)
			if (note_text(v, f))
				show_note(v, f, note_text(v, f));
		return;
	}
	show_notes_of(v, true, &count);
	show_notes_of(v, false, &count);
	if (count.left)
		mark(v, "Notes",
		     arena_printf(v->report->arena, "%zu%s (-v lists %s)", count.left,
				  count.shown ? " more" : "", count.left == 1 ? "it" : "them"));
}

/* ---- checks that could not run ---- */

/* Another suggested profile includes this one, or a problem is of it. */
static bool is_included(const struct report *r, unsigned int profile)
{
	for_each(other, &r->not_evaluated)
		if (other->reason && profile == PROFILE_GPUDIRECT &&
		    other->profile & PROFILE_GIN_ANY)
			return true;
	/* The line of the profiles has it already. */
	return readiness_profiles(r, problems_find(r)) & profile;
}

struct text_lines render_hints(const struct report *r)
{
	struct text_lines lines = { 0 };

	for_each(hint, &r->not_evaluated)
		if (hint->reason && !is_included(r, hint->profile))
			*LIST_ADD(r->arena, &lines) =
				arena_printf(r->arena, "%s: add --profile %s", hint->reason,
					     profiles_text(r->arena, hint->profile));
	return lines;
}

static bool is_first_with(const struct unknowns *unknowns, const struct unknown *unknown)
{
	for_each(u, unknowns)
		if (same_text(u->to_check, unknown->to_check))
			return u == unknown;
	return false;
}

static void show_unknown(struct view *v, const struct unknown *u)
{
	const char *why = u->why;

	if (u->path)
		why = arena_printf(v->report->arena, "%s%s: %s", u->path,
				   u->others ? " and others" : "", why);
	page_printf(&v->page, "%s%-*s%s", page_style(&v->page, STYLE_BLUE), TEXT_TAG, "?",
		    page_style(&v->page, STYLE_PLAIN));
	text_wrap(v->page.out, why, TEXT_TAG, TEXT_TAG, v->page.width);
	text_field(v, "rules", u->rules);
}

static void show_unknowns(struct view *v)
{
	struct unknowns unknowns = render_unknowns(v->report);

	if (!unknowns.count)
		return;
	text_heading(v, "Checks not run");
	for_each(u, &unknowns) {
		if (!is_first_with(&unknowns, u))
			continue;
		if (u->to_check)
			mark(v, "To check:", u->to_check);
		for_each(other, &unknowns)
			if (same_text(u->to_check, other->to_check))
				show_unknown(v, other);
	}
}

/* Prints the facts that a user without root lacks. Returns false if a step mentions them, or there are none. */
static bool show_for_root(struct view *v)
{
	const struct rule *worst = steps_worst_for_root(v->report);
	size_t all = problems_unknown(v->report), own = steps_count_for_root(v->report);

	if (!worst || v->problems->items.count || !known_not(v->report->node->os.observed_uid, 0))
		return false;
	mark(v, "Not run",
	     arena_printf(v->report->arena, "%zu check%s (-v lists %s). %zu need%s root%s%s:", all,
			  all == 1 ? "" : "s", all == 1 ? "it" : "them", own, own == 1 ? "s" : "",
			  own == 1 ? ", " : ", among them ", worst->id));
	page_printf(&v->page, "%*s%s\n", TEXT_MARK, "", v->steps->root_command);
	return true;
}

static void show_not_run(struct view *v)
{
	if (!v->options->verbose && !show_for_root(v))
		mark(v, "Not run",
		     render_unknown_line(v->report, false, v->page.width - TEXT_MARK));
}

static void show_not_evaluated(struct view *v)
{
	struct text_lines hints = render_hints(v->report);

	/* Beside problems one hint is enough. */
	if (v->problems->items.count && hints.count > 1 && !v->options->verbose)
		hints.count = 1;
	for_each(hint, &hints)
		mark(v, "See also", *hint);
}

/* ---- findings in a section of their own ---- */

static void show_acknowledged(struct view *v)
{
	struct arena *arena = v->report->arena;

	for_each(f, &v->report->findings) {
		const struct acknowledgement *a = f->acknowledged;
		const char *where = a && f->answer.subject ? subject_name(v->report->node,
									  f->answer.subject, arena)
							   : NULL;

		if (a)
			mark(v, "Seen",
			     arena_printf(arena, "%s%s%s: %s (%s)", f->rule->id, where ? ", " : "",
					  where ? where : "", a->reason.value,
					  acknowledgement_end(arena, a)));
	}
}

static void show_off(struct view *v)
{
	for_each(f, &v->report->findings)
		if (f->off && !f->acknowledged && !is_shown_before(v->report, f))
			mark(v, "Off",
			     arena_printf(v->report->arena, "%s%s%s", f->rule->id,
					  f->why_graded ? ": " : "",
					  f->why_graded ? f->why_graded : ""));
}

static void show_short(struct view *v, const struct finding *f)
{
	bool pass = f->answer.verdict == VERDICT_PASS;
	const char *where = subjects(v->report, f);

	page_printf(&v->page, "%s%-*s%s", page_style(&v->page, pass ? STYLE_GREEN : STYLE_DIM),
		    TEXT_TAG, pass ? "ok" : "-", page_style(&v->page, STYLE_PLAIN));
	text_wrap(v->page.out,
		  arena_printf(v->report->arena, "%s%s%s", f->rule->id, *where ? ", " : "", where),
		  TEXT_TAG, TEXT_TAG, v->page.width);
	if (f->answer.observed) {
		page_printf(&v->page, "%*s", TEXT_TAG, "");
		text_wrap(v->page.out, f->answer.observed, TEXT_TAG, TEXT_TAG, v->page.width);
	}
	text_field(v, "proved", render_proof(v->report, f));
}

/* Returns true if it fails according to the files, but a trial on the hardware passed. */
static bool is_overruled(const struct finding *f)
{
	return !f->off && f->proved && f->answer.verdict == VERDICT_PASS &&
	       (f->configured == VERDICT_FAIL || f->configured == VERDICT_PENDING);
}

static bool is_well(const struct finding *f)
{
	return !f->off &&
	       (f->answer.verdict == VERDICT_PASS || f->answer.verdict == VERDICT_NOT_APPLICABLE);
}

static void show_those(struct view *v, const char *heading, bool (*chosen)(const struct finding *))
{
	bool any = false;

	for_each(f, &v->report->findings) {
		if (!chosen(f) || is_shown_before(v->report, f))
			continue;
		if (!any)
			text_heading(v, heading);
		any = true;
		show_short(v, f);
	}
}

static void show_changes(struct view *v)
{
	const struct changes *changes = v->report->changes;

	if (!changes)
		return;
	text_heading(v, arena_printf(v->report->arena, "%u fact%s changed since then",
				     changes->items.count, changes->items.count == 1 ? "" : "s"));
	for_each(c, &changes->items) {
		page_printf(&v->page, "%*s%s\n", TEXT_TAG, "", c->fact);
		text_field(v, "before", c->before ? c->before : "not there");
		text_field(v, "now", c->after ? c->after : "not there");
	}
}

/* ---- the whole ---- */

/* Prints when the node was read and by whom, and how to read more. */
static void show_end(struct view *v)
{
	const char *taken = render_taken(v->report);

	if (taken)
		mark(v, "Checked", taken);
	if (v->problems->items.count)
		mark(v, "More",
		     arena_printf(v->report->arena, "nvnodecheck explain %s",
				  v->problems->items.items[0].first->rule->id));
}

static bool has_lines(const struct view *v)
{
	struct text_lines hints = render_hints(v->report);

	if (v->report->count[VERDICT_NOTE] || v->report->off || hints.count)
		return true;
	/* With -v a heading follows, with a blank line of its own. */
	return !v->options->verbose && (v->problems->items.count || render_taken(v->report));
}

void text_rest(struct view *v)
{
	show_those(v, "Proved otherwise", is_overruled);
	if (has_lines(v) && (v->options->verbose || v->problems->items.count))
		fputc('\n', v->page.out);
	show_notes(v);
	show_not_run(v);
	show_not_evaluated(v);
	show_acknowledged(v);
	show_off(v);
	if (v->options->verbose) {
		struct topo topo;

		show_unknowns(v);
		show_those(v, "Well, or not applicable", is_well);
		topo_make(&topo, v->report->node, v->report->arena);
		fputc('\n', v->page.out);
		render_topo_part(&v->page, &topo);
	}
	show_changes(v);
	show_end(v);
}
