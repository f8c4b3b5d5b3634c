/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text-problem.c - a problem in full: what was found and where, the expected value, its effect and its fix. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "query/names.h"
#include "render/text.h"

#define FOLLOWS_MOST 2 /* lines of consequences, and one for the others */
#define WORD_MOST 200  /* characters of a word in what was found, */
#define WORD_KEPT 60   /* of which these are kept if it has more */
#define FOUND_MOST 3   /* lines of what was found, and one for the others */
#define WHERE_SHORT 40 /* columns; a longer place has a line of its own */

/* ---- words that other formats share ---- */

const char *render_where(const struct report *r, const struct finding_list *findings, size_t most)
{
	const char **labels = arena_alloc(r->arena, (findings->count + 1) * sizeof(*labels));
	const char *last = NULL;
	size_t count = 0;

	for_each(f, findings) {
		if (!(*f)->answer.subject)
			continue;
		last = (*f)->answer.subject;
		labels[count++] = subject_label(r->node, last, r->arena);
	}
	if (count == 1 && most == LABELS_ALL)
		return subject_name(r->node, last, r->arena);
	return labels_join(labels, count, most, r->arena);
}

/* Returns "file:line" of a fact, or NULL if it comes from no file. */
const char *render_place(const struct report *r, const char *fact)
{
	struct fact_ref ref;

	if (report_find(r, fact, &ref) || !ref.source)
		return NULL;
	return ref.line ? arena_printf(r->arena, "%s:%" PRIu64, ref.source, ref.line) : ref.source;
}

/* Returns true if TEXT has PLACE as a whole: "/etc/a.conf:1" is not in "/etc/a.conf:12". */
static bool names_place(const char *text, const char *place)
{
	size_t n = strlen(place);

	for (const char *at = text; (at = strstr(at, place)); at++) {
		const char *end = at + n;

		end += *end == '.';
		if (!isalnum((unsigned char)*end) && !(*end && strchr("/-_", *end)))
			return true;
	}
	return false;
}

/* Returns the places of F's evidence, each once. */
const char *render_places(const struct report *r, const struct finding *f)
{
	const char *text = "";

	for (size_t i = 0; i < EVIDENCE_MAX && f->answer.evidence[i]; i++) {
		const char *place = render_place(r, f->answer.evidence[i]);

		if (place && !names_place(text, place))
			text = arena_printf(r->arena, "%s%s%s", text, *text ? ", " : "", place);
	}
	return text;
}

/* Returns what a trial showed, and what the configuration alone would have meant. */
const char *render_proof(const struct report *r, const struct finding *f)
{
	if (!f->proved || f->configured == f->answer.verdict)
		return f->proved;
	if (f->configured == VERDICT_PASS)
		return arena_printf(r->arena, "%s, although the configuration looks right",
				    f->proved);
	return arena_printf(r->arena, "%s; by the configuration alone: %s", f->proved,
			    verdict_words[f->configured]);
}

/* ---- members with the same text ---- */

typedef const char *get_text(const struct finding *finding);

static const char *observed(const struct finding *f)
{
	return f->answer.observed;
}

static const char *expected(const struct finding *f)
{
	return f->answer.expected;
}

static bool all_same(const struct problem *p, get_text *get)
{
	for_each(member, &p->members)
		if (!same_text(get(*member), get(p->first)))
			return false;
	return true;
}

static bool says_same(const struct finding *a, const struct finding *b, bool with_expected)
{
	return same_text(observed(a), observed(b)) &&
	       (!with_expected || same_text(expected(a), expected(b)));
}

static bool is_first(const struct problem *p, const struct finding *f, bool with_expected)
{
	for_each(member, &p->members)
		if (says_same(*member, f, with_expected))
			return *member == f;
	return true;
}

/* Returns the names of the members with the same text as F. */
static const char *those_like(const struct report *r, const struct problem *p,
			      const struct finding *f, bool with_expected)
{
	struct finding_list like = { 0 };

	for_each(member, &p->members)
		if (says_same(*member, f, with_expected))
			*LIST_ADD(r->arena, &like) = *member;
	return render_where(r, &like, LABELS_ALL);
}

/* Puts the name in front of TEXT, unless TEXT begins with it. */
static const char *with_name(struct arena *arena, const char *name, const char *text)
{
	return starts_with(text, name) ? text : arena_printf(arena, "%s: %s", name, text);
}

/* Returns one line if all members have the same text, else a line for each text. If they expect different values, the
 * lines have them. */
struct text_lines render_found(const struct report *r, const struct problem *p)
{
	struct text_lines lines = { 0 };
	bool with_expected = !all_same(p, expected);

	if (!with_expected && all_same(p, observed)) {
		if (observed(p->first))
			*LIST_ADD(r->arena, &lines) = observed(p->first);
		return lines;
	}
	for_each(member, &p->members) {
		const struct finding *f = *member;
		const char *own = with_expected ? expected(f) : NULL;

		if (!is_first(p, f, with_expected))
			continue;
		*LIST_ADD(r->arena, &lines) =
			arena_printf(r->arena, "%s%s%s",
				     with_name(r->arena, those_like(r, p, f, with_expected),
					       observed(f) ? observed(f) : "not as expected"),
				     own ? "; expected " : "", own ? own : "");
	}
	return lines;
}

const char *render_expected(const struct problem *p)
{
	return all_same(p, expected) ? expected(p->first) : NULL;
}

struct text_lines render_fixes(const struct steps *steps, const struct problem *p)
{
	struct arena *arena = steps->report->arena;
	struct text_lines lines = { 0 };

	for_each(member, &p->members) {
		const struct plan_repair *r = steps_repair(steps, *member);
		const char *text = r && r->what
					   ? arena_printf(arena, "nvnodecheck fix: %s", r->what)
					   : finding_remedy(*member);
		bool known = !text || !*text;

		for_each(line, &lines)
			known |= strcmp(*line, text) == 0;
		if (!known)
			*LIST_ADD(arena, &lines) = text;
	}
	return lines;
}

struct text_lines render_instructions(const struct steps *steps, const struct problem *p)
{
	struct text_lines lines = { 0 };

	for_each(member, &p->members) {
		const struct plan_repair *r = steps_repair(steps, *member);
		const char *text = r && r->what ? r->what : steps_remedy(steps, p, *member);
		bool known = false;

		for_each(line, &lines)
			known |= strcmp(*line, text) == 0;
		if (!known)
			*LIST_ADD(steps->report->arena, &lines) = text;
	}
	return lines;
}

const char *render_refused(const struct steps *steps, const struct problem *p)
{
	const char *refused = steps_refused(steps, p);

	/* A remedy that asks to leave the setting unchanged has the reason. */
	return refused && !p->first->answer.is_kept
		       ? arena_printf(steps->report->arena,
				      "nvnodecheck fix cannot do it here: %s.", refused)
		       : NULL;
}

/* ---- the page ---- */

/* Returns the text of the problem's row in the table, or "". */
static const char *said(const struct view *v, const struct problem *p)
{
	const char *row = v->has_steps ? v->rows[p - v->problems->items.items] : NULL;

	return row ? row : "";
}

/* Prints the severity, the number, the title and the rule. */
static void title_line(struct view *v, const struct problem *p)
{
	const struct page *page = &v->page;
	enum style style = p->waits ? STYLE_YELLOW : text_style(p->severity);
	const char *number = text_number(v, p), *text = p->first->rule->id;
	int at = TEXT_TAG + text_columns(number);

	text = arena_printf(v->report->arena, "%s [%s]", finding_title(p->first), text);
	/* The first one is below the heading. */
	if (!v->has_steps || p > v->problems->items.items)
		fputc('\n', page->out);
	page_printf(page, "%s%-*s%s%s%s", page_style(page, style), TEXT_TAG,
		    p->waits ? "WAIT" : text_tags[p->severity], page_style(page, STYLE_PLAIN),
		    page_style(page, STYLE_BOLD), number);
	text_wrap(page->out, text, at, at, page->width);
	fputs(page_style(page, STYLE_PLAIN), page->out);
}

static void fields(struct view *v, const char *name, const struct text_lines *lines)
{
	for_each(line, lines)
		text_field(v, line == lines->items ? name : "", *line);
}

static bool is_seen_before(const struct problem *p, const struct finding *f)
{
	for_each(other, &p->follows) {
		if (*other == f)
			return false;
		if ((*other)->rule == f->rule)
			return true;
	}
	return false;
}

/* Prints what the problem causes, a line for each rule. */
static void show_follows(struct view *v, const struct problem *p)
{
	const char *label = "leads to";
	uint32_t shown = 0, left = 0;

	for_each(f, &p->follows) {
		const char *subject = (*f)->answer.subject;

		if (is_seen_before(p, *f))
			continue;
		if (shown++ >= FOLLOWS_MOST && !v->options->verbose && v->has_steps) {
			left++;
			continue;
		}
		if (subject)
			subject = subject_label(v->report->node, subject, v->report->arena);
		text_field(v, label,
			   arena_printf(v->report->arena, "%s (%s%s%s)", finding_title(*f),
					(*f)->rule->id, subject ? ", " : "",
					subject ? subject : ""));
		label = "";
	}
	if (left)
		text_field(v, "",
			   arena_printf(v->report->arena, "%" PRIu32 " more: -v shows %s", left,
					left == 1 ? "it" : "them"));
}

/* Returns true for a place of little information: a list or folder of the kernel, or the mark of a container. */
static bool is_commonplace(const struct finding *f, const char *place)
{
	static const char *const common[] = { "/proc/modules", "/proc/devices", "/lib/modules",
					      "/proc/sys/kernel/osrelease",
					      "/sys/class/infiniband" };

	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		if (strcmp(place, common[i]) == 0)
			return true;
	if (!starts_with(f->rule->id, "env/") && strstr(place, "/environ"))
		return true;
	return !strchr(place + 1, '/');
}

/* Names the process of an environment. */
static const char *place_name(struct arena *arena, const char *place)
{
	int end = 0;
	unsigned int pid = 0;

	if (strcmp(place, "/proc/self/environ") == 0)
		return "the environment that nvnodecheck was started in";
	if (sscanf(place, "/proc/%u/environ%n", &pid, &end) == 1 && end && !place[end])
		return arena_printf(arena, "the environment of process %u", pid);
	return place;
}

/* Returns the sources in one line, without places that other fields have. With -v it returns all. */
static const char *sources_in_short(const struct view *v, const struct problem *p)
{
	struct arena *arena = v->report->arena;
	const struct finding *f = p->first;
	const char *text = "", *where = render_where(v->report, &p->members, LABELS_ALL),
		   *common = NULL;
	int room = v->page.width - TEXT_TAG - TEXT_LABEL - 6; /* ", ..." */
	uint32_t left = 0;

	if (v->options->verbose)
		return render_places(v->report, f);
	for (size_t i = 0; i < EVIDENCE_MAX && f->answer.evidence[i]; i++) {
		const char *place = render_place(v->report, f->answer.evidence[i]);

		if (!place || names_place(where, place) ||
		    (observed(f) && names_place(observed(f), place)))
			continue;
		if (is_commonplace(f, place) && strstr(place, "/environ"))
			continue;
		if (is_commonplace(f, place)) {
			common = common || !strchr(place + 1, '/') ? common : place;
			continue;
		}
		if (names_place(text, place))
			continue;
		place = place_name(arena, place);
		if (names_place(text, place))
			continue;
		if (*text && text_columns(text) + text_columns(place) + 2 > room)
			left++;
		else
			text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", place);
	}
	if (!*text && common)
		return common;
	return left && text_columns(text) <= room ? arena_printf(arena, "%s, ...", text) : text;
}

/* Several lines of what was found begin with names. */
static bool found_says_where(const struct report *r, const struct problem *p)
{
	return render_found(r, p).count > 1;
}

/* Returns all devices. A row of a table is named without its id. */
static const char *all_places(const struct view *v, const struct problem *p)
{
	return p->first->answer.source && p->members.count == 1 && !v->options->verbose
		       ? subject_label(v->report->node, p->first->answer.subject, v->report->arena)
		       : render_where(v->report, &p->members, LABELS_ALL);
}

/* Returns the devices, or NULL if the table or what was found has them. */
static const char *where_of(const struct view *v, const struct problem *p)
{
	const char *where = all_places(v, p), *found = observed(p->first);

	if (found_says_where(v->report, p) || strstr(said(v, p), where) ||
	    (found && strstr(found, where)))
		return NULL;
	return where;
}

/* Cuts a word without blanks that would fill many lines, such as a long value of an option. */
static const char *cut_long_words(struct arena *arena, const char *text)
{
	for (size_t at = 0, n; text[at]; at += n) {
		n = strcspn(text + at, " ");
		if (n > WORD_MOST) {
			size_t kept = utf8_cut(text + at, WORD_KEPT);

			text = arena_printf(arena, "%.*s... (%zu characters)%s", (int)(at + kept),
					    text, n, text + at + n);
			n = kept;
		}
		n += strspn(text + at + n, " ");
	}
	return text;
}

/* Keeps the first lines, and counts the others. */
static struct text_lines *shorten(const struct view *v, struct text_lines *lines)
{
	uint32_t left = lines->count - FOUND_MOST;

	if (!v->options->verbose)
		for_each_mut(line, lines)
			*line = cut_long_words(v->report->arena, *line);
	if (!v->has_steps || v->options->verbose || lines->count <= FOUND_MOST + 1)
		return lines;
	lines->count = FOUND_MOST;
	*LIST_ADD(v->report->arena, lines) = arena_printf(v->report->arena,
							  "%" PRIu32 " more: -v shows them", left);
	return lines;
}

/* Prints where it is, what was found and what was expected. A short place is beside what was found. */
static void show_found(struct view *v, const struct problem *p)
{
	struct arena *arena = v->report->arena;
	struct text_lines found = render_found(v->report, p);
	const char *expected = render_expected(p), *where = where_of(v, p);

	if (where && found.count == 1 && text_columns(where) <= WHERE_SHORT) {
		found.items[0] = arena_printf(arena, "%s: %s", where, found.items[0]);
		where = NULL;
	}
	text_field(v, "where", where);
	fields(v, "found", shorten(v, &found));
	text_field(v, "proved", render_proof(v->report, p->first));
	text_field(v, "expected", expected);
}

/* Returns true if the title begins with TEXT, a sentence. */
static bool is_effect_of_title(const struct problem *p, const char *text)
{
	size_t n = strlen(text);

	return n && text[n - 1] == '.' && strncmp(finding_title(p->first), text, n - 1) == 0;
}

/* Returns a short impact whole, and the first sentence of a longer one. NULL: the title says it. */
static const char *impact_of(const struct view *v, const struct problem *p)
{
	const char *text = finding_impact(p->first);
	int room = 2 * (v->page.width - TEXT_TAG - TEXT_LABEL);

	if (text && v->has_steps && !v->options->verbose && is_effect_of_title(p, text))
		return NULL;
	if (!text || !v->has_steps || v->options->verbose || text_columns(text) <= room)
		return text;
	return arena_strndup(v->report->arena, text, text_sentence(text));
}

static void show_commands(struct view *v, const char *text)
{
	struct span rest = span_of(text ? text : ""), line;

	while (span_cut(&rest, '\n', &line))
		if (line.n)
			page_printf(&v->page, "%*s%.*s\n", TEXT_TAG + TEXT_LABEL, "",
				    SPAN_FMT(line));
}

static void show_remedy(struct view *v, const struct problem *p)
{
	struct text_lines fixes = render_fixes(v->steps, p);

	fields(v, "fix", &fixes);
	text_field(v, "", render_refused(v->steps, p));
	show_commands(v, steps_command_of(v->steps, p));
	text_field(v, "in effect", effect_text(steps_activation(v->steps, p)));
}

static void show(struct view *v, const struct problem *p)
{
	const struct finding *f = p->first;

	/* The only problem has its title in place of the table. */
	if (v->problems->items.count > 1 || !*said(v, p))
		title_line(v, p);
	show_found(v, p);
	text_field(v, "source", sources_in_short(v, p));
	text_field(v, "impact", impact_of(v, p));
	if (!v->has_steps)
		show_remedy(v, p);
	text_field(v, "reference", f->answer.source);
	text_field(v, "graded", f->why_graded);
	show_follows(v, p);
}

/* ---- the problem beside its steps ---- */

void text_add_field(struct view *v, struct text_lines *lines, int indent, const char *label,
		    const char *text)
{
	if (text && *text)
		text_add(v, lines,
			 arena_printf(v->report->arena, "%*s%-*s", indent, "", TEXT_FIELD, label),
			 text);
}

bool text_is_short(const struct view *v, const struct problem *p)
{
	return v->has_short_warnings && p->severity <= SEVERITY_WARN && !p->wrong_data;
}

/* The table on the same screen has the title. */
static const char *title_in_steps(const struct view *v, const struct problem *p)
{
	const char *id = p->first->rule->id;

	if (!text_is_short(v, p) && !v->is_long)
		return id;
	return arena_printf(v->report->arena, "%s [%s]",
			    text_is_short(v, p) ? text_title_where(v, p) : finding_title(p->first),
			    id);
}

void text_title_lines(struct view *v, struct text_lines *lines, const struct problem *p, int indent)
{
	text_add(v, lines,
		 arena_printf(v->report->arena, "%*s%-*s[%u] ", indent, "", TEXT_TAG,
			      p->waits ? "WAIT" : text_tags[p->severity],
			      steps_number(v->steps, p)),
		 title_in_steps(v, p));
}

/* Returns true if a title has the same effect: its words before the colon. */
static bool has_effect_of(const struct text_lines *titles, const char *title)
{
	struct span own, other;

	if (!text_reason(title, &own))
		return false;
	for_each(t, titles)
		if (text_reason(*t, &other) && own.n == other.n &&
		    memcmp(own.p, other.p, own.n) == 0)
			return true;
	return false;
}

/* Adds what the problem causes, a title for each effect. */
static void add_follows(struct view *v, struct text_lines *lines, const struct problem *p,
			int indent)
{
	struct text_lines titles = { 0 };

	for_each(f, &p->follows)
		/* The title of a setting that is right would be wrong. */
		if (!is_seen_before(p, *f) && !(*f)->answer.is_kept &&
		    !has_effect_of(&titles, finding_title(*f)))
			*LIST_ADD(v->report->arena, &titles) = finding_title(*f);
	if (titles.count > FOLLOWS_MOST) {
		titles.items[1] = arena_printf(v->report->arena, "%" PRIu32 " more: -v shows them",
					       titles.count - 1);
		titles.count = FOLLOWS_MOST;
	}
	for_each(title, &titles)
		text_add_field(v, lines, indent, title == titles.items ? "Leads to:" : "", *title);
}

/* Returns the devices for a line of the steps, far from the row of the table. A long list is not repeated. */
static const char *where_beside(const struct view *v, const struct problem *p)
{
	const char *where = all_places(v, p), *found = observed(p->first);

	if (found_says_where(v->report, p) || (found && strstr(found, where)))
		return NULL;
	return text_columns(where) <= WHERE_SHORT ? where : where_of(v, p);
}

/* Returns where the variable of a job was found, or NULL for another finding. */
static const char *variable_place(const struct view *v, const struct problem *p)
{
	const char *fact = p->first->answer.evidence[0], *place;

	if (!fact ||
	    (!starts_with(fact, "env.variables[") && !starts_with(fact, "env.nccl_conf[") &&
	     !starts_with(fact, "env.nvshmem_conf[")))
		return NULL;
	place = render_place(v->report, fact);
	return place ? place_name(v->report->arena, place) : NULL;
}

/* Returns the part of TEXT that the title does not say: TEXT can be its reason, or begin with it or with its effect.
 * NULL: none. */
static const char *beyond_title(const struct view *v, const struct problem *p, const char *text)
{
	struct span effect;
	const char *reason = text_reason(finding_title(p->first), &effect);
	size_t n = reason ? strlen(reason) : 0;

	if (!reason || strcmp(reason, text) == 0)
		return reason ? NULL : text;
	if (strncasecmp(text, reason, n) == 0 && text[n] == ':' && text[n + 1] == ' ')
		return text + n + 2;
	if (strncmp(text, effect.p, effect.n) != 0 ||
	    (text[effect.n] != ':' && text[effect.n] != '.'))
		return text;
	text += effect.n + 1;
	text += strspn(text, " ");
	return *text ? arena_printf(v->report->arena, "%c%s", toupper((unsigned char)*text),
				    text + 1)
		     : NULL;
}

/* On a long page a warning has the first sentence of what was found. */
static const char *short_found(const struct view *v, const struct problem *p, const char *text)
{
	return v->is_long && p->severity <= SEVERITY_WARN
		       ? arena_strndup(v->report->arena, text, text_sentence(text))
		       : text;
}

void text_problem_lines(struct view *v, struct text_lines *lines, const struct problem *p,
			int indent)
{
	struct text_lines found = render_found(v->report, p);
	const char *where = v->is_merged ? where_beside(v, p) : where_of(v, p);
	const char *label = p->first->answer.source ? "Defect:" : "Found:";

	/* A title that names a version has it already. */
	if (where && strstr(finding_title(p->first), where))
		where = NULL;

	if (found.count == 1) {
		found.items[0] = beyond_title(v, p, found.items[0]);
		found.count = found.items[0] != NULL;
	}
	if (where && found.count == 1 && text_columns(where) <= WHERE_SHORT)
		found.items[0] = arena_printf(v->report->arena, "%s: %s", where, found.items[0]);
	else
		text_add_field(v, lines, indent, "Where:", where);
	for_each(line, shorten(v, &found)) {
		text_add_field(v, lines, indent, label, short_found(v, p, *line));
		label = "";
	}
	text_add_field(v, lines, indent, "Set in:", variable_place(v, p));
	text_add_field(v, lines, indent, "Proved:", render_proof(v->report, p->first));
	if (v->is_long)
		return;
	/* The effect of a row of a table is what was found. */
	if (!p->first->answer.source)
		text_add_field(v, lines, indent, "Impact:", impact_of(v, p));
	text_add_field(v, lines, indent, "Graded:", p->first->why_graded);
	add_follows(v, lines, p, indent);
}

void text_only_problem(struct view *v)
{
	struct text_lines lines = { 0 };

	text_problem_lines(v, &lines, v->problems->items.items, TEXT_TAG);
	for_each(line, &lines)
		page_printf(&v->page, "%s\n", *line);
}

void text_problems(struct view *v)
{
	if (v->has_steps && (!v->options->verbose || !v->problems->items.count))
		return;
	if (v->has_steps)
		text_heading(v, "Details");
	for_each(p, &v->problems->items)
		show(v, p);
}
