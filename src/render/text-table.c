/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text-table.c - one line for each problem: its severity, what breaks, the place, the person who acts, and the next
 * action. */
#include <ctype.h>
#include <string.h>

#include "advice/readiness.h"
#include "base/escape.h"
#include "query/names.h"
#include "render/text.h"

#define WHERE_MAX 40
#define WHERE_SHORT 14 /* if the title would have no room otherwise */
#define GAP 2
#define LINES_MAX 1000
#define PLAN_BEGIN 3 /* lines: an empty one, the heading, and the first step */
#define PROBLEM "Problem"
#define WHO "Who"
#define NEXT "Next"
#define MARK_NEXT "Next: "

/* ---- columns ---- */

/* Returns the bytes of the first N characters of TEXT. */
static size_t bytes_of(const char *text, int n)
{
	const char *p = text;

	for (; *p; p++)
		if (((unsigned char)*p & 0xc0) != 0x80 && n-- == 0)
			break;
	return (size_t)(p - text);
}

/* Returns the byte at which a line of WIDTH columns ends. A longer path ends after one of its folders. */
static size_t line_end(const char *text, int width)
{
	size_t n = bytes_of(text, width), end = n, folder = n;

	if (!text[n])
		return n;
	/* The kernel's time, "[    8.008000]", is one word. */
	while (end && (text[end] != ' ' || text[end - 1] == ' ' || text[end - 1] == '['))
		end--;
	while (folder > n / 2 && text[folder - 1] != '/')
		folder--;
	return end ? end : folder > n / 2 ? folder : n;
}

struct text_lines text_split(struct arena *arena, const char *text, int width)
{
	struct text_lines lines = { 0 };

	text = escape_string(arena, SINK_TERMINAL, text);
	while (*text && lines.count < LINES_MAX) {
		size_t n = line_end(text, width);

		*LIST_ADD(arena, &lines) = arena_strndup(arena, text, n);
		text += n;
		text += strspn(text, " ");
	}
	return lines;
}

/* ---- rows ---- */

struct row {
	const struct problem *problem;
	const char *where, *who, *next;
	const char *text;	 /* the title and the place */
	struct text_lines lines; /* the same */
};

struct table {
	struct view *v;
	LIST(struct row) rows;
	int left;	      /* columns of the severity and the number */
	int title, who, next; /* the widths of these columns; WHO is 0 if it is root for all */
};

/* Returns the devices without addresses, shortened; "" for the node itself. */
static const char *where_text(const struct view *v, const struct problem *p)
{
	struct arena *arena = v->report->arena;
	const char *text = render_where(v->report, &p->members, 2), *name = strrchr(text, '/');

	if (*text == '/' && p->members.count == 1 && text_columns(text) > WHERE_MAX && name)
		text = name + 1;

	if (text_columns(text) > WHERE_MAX && p->members.count > 1)
		text = render_where(v->report, &p->members, 1);
	if (text_columns(text) > WHERE_MAX && p->members.count > 1)
		text = arena_printf(arena, "%u places", p->members.count);
	return text_columns(text) <= WHERE_MAX ? text : "";
}

/* Returns the title with the devices in parentheses. A reason that begins or ends with the only one names it already. */
static const char *with_where(struct arena *arena, const char *title, const char *where)
{
	struct span effect;
	const char *reason = text_reason(title, &effect);
	size_t n = strlen(where);

	if (reason && strncmp(reason, where, n) == 0 && reason[n] == ' ')
		return title;
	if (reason && n && strlen(reason) > n && strcmp(reason + strlen(reason) - n, where) == 0)
		return title;
	return *where ? arena_printf(arena, "%s (%s)", title, where) : title;
}

const char *text_title_where(const struct view *v, const struct problem *p)
{
	return with_where(v->report->arena, finding_title(p->first), where_text(v, p));
}

static int wider(int width, const char *text)
{
	return text_columns(text) > width ? text_columns(text) : width;
}

/* Counts the problems that are graver than P, or as grave and before it. */
static int count_graver(const struct view *v, const struct problem *p)
{
	int count = 0;

	for_each(other, &v->problems->items)
		count += problem_gravity(other) > problem_gravity(p) ||
			 (problem_gravity(other) == problem_gravity(p) && other < p);
	return count;
}

/* A column that says "root" in each row has no information. */
static bool is_for_root_alone(const struct table *t)
{
	for_each(row, &t->rows)
		if (strcmp(row->who, step_actor_words[ACTOR_ROOT]) != 0)
			return false;
	return true;
}

/* Adds the MOST worst problems, in the order of the steps. */
static void add_rows(struct table *t, int most)
{
	const struct steps *steps = t->v->steps;

	t->who = wider(0, WHO);
	t->next = wider(0, NEXT);
	for_each(p, &t->v->problems->items) {
		struct row *row;

		if (count_graver(t->v, p) >= most)
			continue;
		row = LIST_ADD(t->v->report->arena, &t->rows);
		row->problem = p;
		row->where = where_text(t->v, p);
		row->who = steps_who(steps, p);
		row->next = steps_next(steps, p);
		t->who = wider(t->who, row->who);
		t->next = wider(t->next, row->next);
	}
	if (is_for_root_alone(t))
		t->who = 0;
	t->left = TEXT_TAG + text_columns(text_number(t->v, t->v->problems->items.items));
	t->title = t->v->page.width - t->left - t->who - t->next - (t->who ? 2 : 1) * GAP;
}

/* Returns the half of the title that is a sentence by itself. */
static const char *half_title(struct arena *arena, const struct finding *f, struct span effect,
			      const char *reason)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";

	if (f->rule->is_short_effect)
		return arena_strndup(arena, effect.p, effect.n);
	/* A name with other characters than letters is kept as it is written. */
	if (f->rule->is_reason_name || reason[strspn(reason, letters)] != ' ')
		return reason;
	return arena_printf(arena, "%c%s", toupper((unsigned char)*reason), reason + 1);
}

/* Returns the effect or the reason, if there is no room for both. */
static const char *short_title(const struct view *v, const struct problem *p, int width)
{
	struct arena *arena = v->report->arena;
	const char *where = where_text(v, p), *title = finding_title(p->first);
	struct span effect;
	const char *reason = text_reason(title, &effect);

	if (text_columns(text_title_where(v, p)) <= width)
		return text_title_where(v, p);
	if (text_columns(title) <= width && text_columns(where) > WHERE_SHORT)
		return title;
	if (reason)
		title = half_title(arena, p->first, effect, reason);
	/* The effect takes one line. */
	if (reason && text_columns(title) > width && effect.n <= (size_t)width)
		title = arena_strndup(arena, effect.p, effect.n);
	return text_columns(with_where(arena, title, where)) <= width
		       ? with_where(arena, title, where)
		       : title;
}

static uint32_t put_text(struct table *t, struct row *row, const char *text)
{
	row->text = text;
	row->lines = text_split(t->v->report->arena, text, t->title);
	return row->lines.count;
}

/* Gives each row a line, and the first rows more while there is room. Returns true if all fit LINES. */
static bool fill_rows(struct table *t, int lines)
{
	int extra = lines - (int)t->rows.count;

	for_each_mut(row, &t->rows) {
		const char *title = finding_title(row->problem->first);
		int more = (int)put_text(t, row,
					 with_where(t->v->report->arena, title, row->where));

		if (--more > extra)
			more = (int)put_text(t, row, short_title(t->v, row->problem, t->title)) - 1;
		extra -= more;
	}
	return extra >= 0;
}

/* Sorts the rows of a selection by severity; equal ones keep the order of the steps. */
static void sort_rows(struct table *t)
{
	for (uint32_t i = 1; i < t->rows.count; i++)
		for (uint32_t k = i; k; k--) {
			struct row *row = &t->rows.items[k], swap = *row;

			if (row[-1].problem->severity >= row->problem->severity)
				break;
			*row = row[-1];
			row[-1] = swap;
		}
}

static void print_row(const struct table *t, const struct row *row)
{
	const struct page *page = &t->v->page;
	const struct problem *p = row->problem;
	enum style style = p->waits ? STYLE_YELLOW : text_style(p->severity);

	page_printf(page, "%s%-*s%s%s", page_style(page, style), TEXT_TAG,
		    p->waits ? "WAIT" : text_tags[p->severity], page_style(page, STYLE_PLAIN),
		    text_number(t->v, p));
	page_printf(page, "%-*s%-*s%s\n", t->title + GAP, row->lines.items[0],
		    t->who ? t->who + GAP : 0, t->who ? row->who : "", row->next);
	for (uint32_t i = 1; i < row->lines.count; i++)
		page_printf(page, "%*s%s\n", t->left, "", row->lines.items[i]);
}

/* Returns "[3, 4]", the problems that the user of the job or container solves; or NULL. */
static const char *own_numbers(const struct view *v)
{
	LIST(const struct problem *) own = { 0 };

	for_each(p, &v->problems->items)
		if (steps_kind(v->steps, p) == STEP_JOB ||
		    steps_kind(v->steps, p) == STEP_CONTAINER)
			*LIST_ADD(v->report->arena, &own) = p;
	return own.count ? arena_printf(v->report->arena, "[%s]",
					text_numbers(v, own.items, own.count))
			 : NULL;
}

/* A user without root looks for their own problems first. A shortened table has them in its head. */
static bool is_own_shown(const struct view *v)
{
	return !v->options->brief && known_not(v->report->node->os.observed_uid, 0) &&
	       own_numbers(v);
}

static void print_head(const struct table *t)
{
	uint32_t all = t->v->problems->items.count;
	const struct page *page = &t->v->page;
	bool root = known_is(t->v->report->node->os.observed_uid, 0);
	const char *text = PROBLEM, *own = root ? NULL : own_numbers(t->v);

	if (all == 1)
		text = arena_printf(t->v->report->arena, PROBLEM " (%s)",
				    t->rows.items[0].problem->first->rule->id);
	if (t->rows.count < all)
		text = arena_printf(t->v->report->arena, PROBLEM " (the %u worst of %u%s%s)",
				    t->rows.count, all,
				    own					       ? "; yours: "
				    : t->v->is_cut || t->v->has_short_warnings ? "; -v has all"
									       : "; all are below",
				    own ? own : "");
	page_printf(page, "%s%*s%-*s%-*s%s%s\n", page_style(page, STYLE_DIM), t->left, "",
		    t->title + GAP, text, t->who ? t->who + GAP : 0, t->who ? WHO : "", NEXT,
		    page_style(page, STYLE_PLAIN));
}

/* ---- the next action ---- */

static const char *step_sentence(struct view *v, const struct step *step)
{
	struct arena *arena = v->report->arena;
	const struct problem *p;
	const char *how;

	if (step->kind == STEP_FIX)
		return arena_printf(arena, "%s%s (shows the changes)", v->steps->where,
				    v->steps->show_command);
	if (!step->problems.count && step->kind != STEP_LOOK)
		return arena_printf(arena, "%s.", steps_title(v->steps, step));
	if (step->kind == STEP_LOOK)
		return v->steps->root_command;
	p = step->problems.items[0];
	how = finding_change(p->first);
	if (!how || !*how)
		return steps_what(v->steps, p);
	return remedy_with(arena, arena_strndup(arena, how, text_sentence(how)),
			   finding_then(p->first));
}

/* Returns the first step, and the second one after a drain if there is room. */
static const char *next_text(struct view *v, const struct step *first)
{
	const char *text = step_sentence(v, first), *both;
	int verb = (int)strcspn(text, ":.");

	if (first->kind != STEP_DRAIN || first == &v->steps->items.items[v->steps->items.count - 1])
		return text;
	both = arena_printf(v->report->arena, "%.*s. Then: %s", verb, text,
			    step_sentence(v, &first[1]));
	return text_columns(both) <= 2 * (v->page.width - (int)strlen(MARK_NEXT))
		       ? both
		       : arena_printf(v->report->arena, "%.*s.", verb, text);
}

static bool is_pasted(const struct step *step)
{
	return step->kind == STEP_FIX || step->kind == STEP_LOOK;
}

static void print_next(struct view *v, const struct step *first, const char *text)
{
	page_printf(&v->page, "%s%s%s", page_style(&v->page, STYLE_BOLD), MARK_NEXT,
		    page_style(&v->page, STYLE_PLAIN));
	if (is_pasted(first))
		page_printf(&v->page, "%s\n", text);
	else
		text_wrap(v->page.out, text, (int)strlen(MARK_NEXT), (int)strlen(MARK_NEXT),
			  v->page.width);
}

/* Returns true if this user can do the step. */
static bool is_for_reader(const struct view *v, const struct step *step)
{
	enum step_actor actor = step_actor(step->kind);

	return !known_not(v->report->node->os.observed_uid, 0) || step->kind == STEP_LOOK ||
	       actor == ACTOR_USER || actor == ACTOR_NONE || actor == ACTOR_HOST ||
	       actor == ACTOR_PROVIDER;
}

/* A single problem needs no columns, because the steps name the person and the next action. */
static void print_only(struct view *v, const struct problem *p)
{
	const struct page *page = &v->page;
	enum style style = p->waits ? STYLE_YELLOW : text_style(p->severity);
	const char *text = arena_printf(
		v->report->arena, "%s [%s]",
		with_where(v->report->arena, finding_title(p->first), where_text(v, p)),
		p->first->rule->id);

	v->rows[0] = text;
	page_printf(page, "\n%s%-*s%s", page_style(page, style), TEXT_TAG,
		    p->waits ? "WAIT" : text_tags[p->severity], page_style(page, STYLE_PLAIN));
	text_wrap(page->out, text, TEXT_TAG, TEXT_TAG, page->width);
}

void text_table(struct view *v, int lines)
{
	struct table t = { .v = v };
	const struct step *first = steps_first(v->steps);
	int most = (int)v->problems->items.count;
	bool tight = false;

	if (v->problems->items.count == 1 && !v->options->brief) {
		print_only(v, v->problems->items.items);
		return;
	}
	/* An empty line, the headings of the columns, and the first rows. */
	lines -= 2 + PLAN_BEGIN;
	lines -= most <= lines - 1 && is_own_shown(v);
	/* Where not all have room, one more replaces the empty line. */
	if (!v->options->brief && lines < most) {
		tight = true;
		most = ++lines;
	}
	do {
		t = (struct table){ .v = v };
		add_rows(&t, most);
		if ((int)v->problems->items.count > most)
			sort_rows(&t);
	} while (!fill_rows(&t, lines) && !v->options->brief && most-- > 1);
	if (!tight)
		fputc('\n', v->page.out);
	print_head(&t);
	for_each(row, &t.rows) {
		v->rows[row->problem - v->problems->items.items] = row->text;
		print_row(&t, row);
	}
	if (is_own_shown(v) && t.rows.count == v->problems->items.count)
		page_printf(&v->page, "Yours: %s (no root needed)\n", own_numbers(v));
	/* --brief prints no steps. */
	if (first && v->options->brief) {
		/* The first step of a user who can do none is to send the request. */
		if (is_for_reader(v, first))
			print_next(v, first, next_text(v, first));
		text_not_root(v);
	}
}
