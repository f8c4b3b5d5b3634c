/* SPDX-License-Identifier: GPL-2.0-or-later */
/* text-table.c - one line for each problem: how grave, what breaks, where, and what to do next. */
#include <string.h>

#include "base/escape.h"
#include "query/names.h"
#include "render/text.h"

#define WHERE_MAX 24
#define WHERE_SHORT 14 /* where the title would have no room else */
#define GAP 2
#define LINES_MAX 1000

/* ---- columns ---- */

int text_columns(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* The first N characters of TEXT. */
static size_t bytes_of(const char *text, int n)
{
	const char *p = text;

	for (; *p; p++)
		if (((unsigned char)*p & 0xc0) != 0x80 && n-- == 0)
			break;
	return (size_t)(p - text);
}

const char *text_cut(struct arena *arena, const char *text, int width)
{
	int columns;

	text = escape_string(arena, SINK_TERMINAL, text);
	columns = text_columns(text);
	if (columns <= width)
		return text;
	if (*text == '/' && !strchr(text, ' '))
		return arena_printf(arena, "...%s", text + bytes_of(text, columns - width + 3));
	return arena_printf(arena, "%.*s...", (int)bytes_of(text, width - 3), text);
}

/* The byte at which a line of WIDTH columns ends. */
static size_t line_end(const char *text, int width)
{
	size_t n = bytes_of(text, width), end = n;

	if (!text[n])
		return n;
	while (end && text[end] != ' ')
		end--;
	return end ? end : n;
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
	const char *where, *next;
	struct text_lines lines; /* the title and where it is */
};

struct table {
	struct view *v;
	LIST(struct row) rows;
	int next, width; /* of these two columns */
};

/* Without addresses, and short; "" for the node itself. */
static const char *where_text(struct view *v, const struct problem *p)
{
	struct arena *arena = v->report->arena;
	const char *text = render_where(v->report, p, 2);

	if (text_columns(text) > WHERE_MAX && p->members.count > 1)
		text = render_where(v->report, p, 1);
	if (text_columns(text) > WHERE_MAX && p->members.count > 1)
		text = arena_printf(arena, "%u places", p->members.count);
	return text_cut(arena, text, WHERE_MAX);
}

/* The title, and where it is. */
static const char *with_where(struct arena *arena, const char *title, const char *where)
{
	return *where ? arena_printf(arena, "%s (%s)", title, where) : title;
}

static void add_rows(struct table *t)
{
	for_each(p, &t->v->problems->items) {
		struct row *row = LIST_ADD(t->v->report->arena, &t->rows);
		int next;

		row->problem = p;
		row->where = where_text(t->v, p);
		row->next = steps_next(t->v->steps, p);
		next = text_columns(row->next);
		t->next = next > t->next ? next : t->next;
	}
	t->width = t->v->page.width - TEXT_TAG - t->next - GAP;
}

static const char *one_line(const struct table *t, const struct row *row)
{
	struct arena *arena = t->v->report->arena;
	const char *title = row->problem->first->rule->title;
	const char *where = text_columns(row->where) <= WHERE_SHORT ? row->where : "";
	int room = t->width - (*where ? text_columns(where) + 3 : 0);

	return with_where(arena, text_cut(arena, title, room), where);
}

/* As many lines as each needs, if all of the table fits then; else one line each. */
static void fill_rows(struct table *t, int lines)
{
	struct arena *arena = t->v->report->arena;
	int needed = 0;

	for_each_mut(row, &t->rows) {
		const char *title = row->problem->first->rule->title;

		row->lines = text_split(arena, with_where(arena, title, row->where), t->width);
		needed += (int)row->lines.count;
	}
	for_each_mut(row, &t->rows) {
		if (needed <= lines || row->lines.count < 2)
			continue;
		row->lines.count = 1;
		row->lines.items[0] = one_line(t, row);
	}
}

static void print_row(const struct table *t, const struct row *row)
{
	const struct page *page = &t->v->page;
	const struct problem *p = row->problem;
	enum style style = p->waits ? STYLE_YELLOW : text_style(p->severity);

	page_printf(page, "%s%-*s%s", page_style(page, style), TEXT_TAG,
		    p->waits ? "WAIT" : text_tags[p->severity], page_style(page, STYLE_PLAIN));
	page_printf(page, "%-*s%s\n", t->width + GAP, row->lines.items[0], row->next);
	for (uint32_t i = 1; i < row->lines.count; i++)
		page_printf(page, "%*s%s\n", TEXT_TAG, "", row->lines.items[i]);
}

static const char *first_line(struct arena *arena, const char *text)
{
	return arena_strndup(arena, text, strcspn(text, "\n"));
}

static const char *next_text(struct view *v, const struct step *step)
{
	struct arena *arena = v->report->arena;
	const struct finding *f;
	const char *how;

	if (step->kind == STEP_FIX)
		return arena_printf(arena, "%s%s (shows the changes)", v->steps->where,
				    v->steps->show_command);
	if (step->kind == STEP_RESTART)
		return steps_title(v->steps, step);
	f = step->problems.items[0]->first;
	how = finding_command(f) ? first_line(arena, finding_command(f)) : finding_remedy(f);
	return arena_printf(arena, "%s: %s", f->rule->id, how ? how : f->rule->title);
}

/* The first thing to do, in one line. */
static void print_next(struct view *v)
{
	const struct step *first = v->steps->items.count ? &v->steps->items.items[0] : NULL;

	if (!first)
		return;
	page_printf(&v->page, "%sNext:%s ", page_style(&v->page, STYLE_BOLD),
		    page_style(&v->page, STYLE_PLAIN));
	if (first->kind == STEP_FIX)
		page_printf(&v->page, "%s\n", next_text(v, first));
	else
		page_printf(&v->page, "%s\n",
			    text_cut(v->report->arena, next_text(v, first), v->page.width - 6));
}

void text_table(struct view *v, int lines)
{
	struct table t = { .v = v };
	uint32_t shown = 0;

	add_rows(&t);
	lines -= 2; /* an empty line, and what is next */
	fill_rows(&t, lines);
	fputc('\n', v->page.out);
	for_each(row, &t.rows) {
		bool last = shown + 1 == t.rows.count;

		if (lines < (int)row->lines.count + !last && !v->options->brief)
			break;
		print_row(&t, row);
		lines -= (int)row->lines.count;
		shown++;
	}
	if (shown < t.rows.count)
		page_printf(&v->page, "%*sand %u more, in full below\n", TEXT_TAG, "",
			    t.rows.count - shown);
	print_next(v);
}
