/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo-text.c - the tree and the matrix for people, in box drawing characters if the locale has them. */
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <string.h>

#include "base/shell.h"
#include "render/step-words.h"
#include "render/topo.h"

#define MATRIX_WIDTH 96
#define CELL 6 /* "NODE*" and a blank */
#define PREFIX_MAX 256

struct glyphs {
	const char *branch, *last, *down, *blank, *fold, *mark;
};

static const struct glyphs unicode = { "├─ ", "└─ ", "│  ", "   ", " ─ ", "▲" };
static const struct glyphs ascii = { "|- ", "`- ", "|  ", "   ", " - ", "^" };

/* A line of the tree; the columns are aligned when all lines are there. */
struct row {
	const char *tree;
	const char *link, *driver, *iommu; /* NULL: the line has only text */
	enum style style;
	bool narrow;
};

struct drawing {
	struct page *page;
	const struct topo *topo;
	const struct glyphs *glyphs;
	LIST(struct row) rows;
	bool marked; /* a port redirects */
};

static bool has_unicode(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool answer;

	if (!locale)
		return false;
	answer = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
	freelocale(locale);
	return answer;
}

/* ---- tree ---- */

static struct row *add_row(struct drawing *d, const char *prefix, const char *text)
{
	struct row *row = LIST_ADD(d->topo->arena, &d->rows);

	row->tree = arena_printf(d->topo->arena, "%s%s", prefix, text);
	return row;
}

static const char *marked_bdf(struct drawing *d, const struct topo_item *item)
{
	bool redirects = topo_redirects(item->device);

	d->marked |= redirects;
	return arena_printf(d->topo->arena, "%s%s", topo_bdf(item),
			    redirects ? d->glyphs->mark : "");
}

static const char *item_text(struct drawing *d, const struct topo_item **item)
{
	struct arena *arena = d->topo->arena;
	const struct topo_item *i = *item;
	const char *text = "";

	if (i->kind == TOPO_HOST_BRIDGE)
		return i->id ? i->id : "host bridge not known";
	while (topo_folds(i)) {
		text = arena_printf(arena, "%s%s%s", text, marked_bdf(d, i), d->glyphs->fold);
		i = i->first;
	}
	*item = i;
	return arena_printf(arena, "%s%s  %s%s%s", text, marked_bdf(d, i), i->name ? i->name : "",
			    i->name ? " " : "", i->label);
}

static enum style item_style(const struct drawing *d, const struct topo_item *item)
{
	if (topo_state(d->topo, item) >= TOPO_UNBOUND)
		return STYLE_RED;
	return item->kind == TOPO_GPU	? STYLE_GREEN
	       : item->kind == TOPO_NIC ? STYLE_BLUE
					: STYLE_PLAIN;
}

/* Columns before a device's name in TEXT, its line. */
static int name_column(const char *text)
{
	const char *name = strstr(text, "  ");

	return text_columns(text) - (name ? text_columns(name) - 2 : 0);
}

static void add_state(struct drawing *d, const struct topo_item *item, const char *prefix,
		      const char *text)
{
	const char *state = topo_state_text(d->topo, item);

	if (state)
		add_row(d, prefix,
			arena_printf(d->topo->arena, "%*s! %s", name_column(text), "", state));
}

/* Adds the state of a NIC's ports below its line. */
static void add_ports(struct drawing *d, const struct topo_item *item, const char *prefix,
		      const char *text)
{
	const char *role = topo_role(d->topo, item->id);
	struct topo_lines lines;

	topo_ports(d->topo, item->device, &lines);
	for (size_t i = 0; i < lines.count; i++)
		add_row(d, prefix,
			arena_printf(d->topo->arena, "%*s%s%s%s", name_column(text), "",
				     lines.text[i], i == 0 && *role ? ", " : "",
				     i == 0 ? role : ""));
}

static void add_item(struct drawing *d, const struct topo_item *item, const char *prefix)
{
	const char *branch = item->next ? d->glyphs->branch : d->glyphs->last;
	const char *below = arena_printf(d->topo->arena, "%s%s", prefix,
					 item->next ? d->glyphs->down : d->glyphs->blank);
	const char *text = item_text(d, &item);
	struct row *row;

	row = add_row(d, arena_printf(d->topo->arena, "%s%s", prefix, branch), text);
	row->style = item_style(d, item);
	if (item->device) {
		bool end = item->kind == TOPO_GPU || item->kind == TOPO_NIC;

		row->link = topo_link(d->topo, item->device);
		row->narrow = topo_link_is_narrow(item->device);
		row->driver = topo_is_end(item) ? topo_driver(item->device) : "";
		row->iommu = end ? topo_iommu_text(d->topo, item->device) : "";
	}
	add_state(d, item, below, text);
	if (item->kind == TOPO_NIC)
		add_ports(d, item, below, text);
	if (strlen(below) < PREFIX_MAX)
		for (const struct topo_item *i = item->first; i; i = i->next)
			add_item(d, i, below);
}

static void print_numa(struct drawing *d, const struct topo_item *numa)
{
	page_printf(d->page, "%s%s%s%s", page_style(d->page, STYLE_BOLD),
		    numa->id ? "NUMA node " : "", numa->id ? numa->id : "No NUMA node given",
		    page_style(d->page, STYLE_PLAIN));
	if (numa->numa && is_known(numa->numa->cpus) && *numa->numa->cpus.value)
		page_printf(d->page, "  CPUs %s", numa->numa->cpus.value);
	if (numa->numa && is_known(numa->numa->memory_bytes))
		page_printf(d->page, "  %" PRIu64 " GiB", numa->numa->memory_bytes.value >> 30);
	fputc('\n', d->page->out);
}

static int widest(struct drawing *d, size_t offset)
{
	int widest = 0;

	for_each(row, &d->rows) {
		const char *text = *(const char *const *)((const char *)row + offset);
		int n = row->link && text ? text_columns(text) : 0;

		widest = n > widest ? n : widest;
	}
	return widest;
}

static void print_rows(struct drawing *d)
{
	int tree = widest(d, offsetof(struct row, tree)),
	    link = widest(d, offsetof(struct row, link));
	int driver = widest(d, offsetof(struct row, driver));

	for_each(row, &d->rows) {
		const char *style = page_style(d->page, row->style);

		if (!row->link) {
			page_printf(d->page, "%s\n", row->tree);
			continue;
		}
		page_printf(d->page, "%s%-*s%s", row->style == STYLE_PLAIN ? "" : style,
			    *row->link || *row->driver ? tree + 2 : 0, row->tree,
			    row->style == STYLE_PLAIN ? "" : page_style(d->page, STYLE_PLAIN));
		page_printf(d->page, "%s%-*s%s",
			    row->narrow ? page_style(d->page, STYLE_YELLOW) : "",
			    *row->driver ? link : 0, row->link,
			    row->narrow ? page_style(d->page, STYLE_PLAIN) : "");
		if (*row->driver)
			page_printf(d->page, "  %-*s", *row->iommu ? driver + 2 : 0, row->driver);
		page_printf(d->page, "%s\n", row->iommu);
	}
}

static void draw_tree(struct drawing *d)
{
	for (const struct topo_item *numa = d->topo->root->first; numa; numa = numa->next) {
		memset(&d->rows, 0, sizeof(d->rows));
		for (const struct topo_item *i = numa->first; i; i = i->next)
			add_item(d, i, "");
		print_numa(d, numa);
		print_rows(d);
		fputc('\n', d->page->out);
	}
	if (d->marked)
		page_printf(d->page,
			    "%s ACS redirects here: requests between peers go up to the root "
			    "complex\n\n",
			    d->glyphs->mark);
}

/* ---- matrix ---- */

static const char *cell(const struct topo *topo, const char *gpu, const struct topology_path *path)
{
	static char text[24];
	uint64_t links = path ? topo_nvlinks(topo, gpu, path->bdf.value) : 0;
	bool refused = path && topo_way(topo, gpu, path->bdf.value) == TOPO_WAY_HOST;
	const char *mark = refused ? "!" : path && known_is(path->redirected, true) ? "*" : "";

	if (links)
		snprintf(text, sizeof(text), "NV%" PRIu64 "%s", links, refused ? "!" : "");
	else if (!path || !is_known(path->class))
		return path ? "?" : "X";
	else
		snprintf(text, sizeof(text), "%s%s", path_class_words[path->class.value], mark);
	return text;
}

static const char *end_bdf(const struct topology_facts *table, bool nics, uint32_t i)
{
	return nics ? table->nics.items[i].bdf.value : table->gpus.items[i].bdf.value;
}

/* Without the blanks at its end. */
static void print_line(struct drawing *d, char *line, enum style style)
{
	size_t n = strlen(line);

	while (n && line[n - 1] == ' ')
		line[--n] = '\0';
	page_printf(d->page, "%s%s%s\n", style == STYLE_PLAIN ? "" : page_style(d->page, style),
		    line, style == STYLE_PLAIN ? "" : page_style(d->page, STYLE_PLAIN));
}

static void print_cells(struct drawing *d, bool nics, uint32_t from, uint32_t to)
{
	const struct topology_facts *table = d->topo->table;
	struct arena *arena = d->topo->arena;
	bool last = nics && to == table->nics.count;
	char *line = arena_printf(arena, "%*s", CELL + 1, "");

	for (uint32_t i = from; i < to; i++)
		line = arena_printf(arena, "%s%-*s", line, CELL,
				    topo_name(d->topo, end_bdf(table, nics, i)));
	print_line(d, arena_printf(arena, "%s%s", line, last ? " own NIC" : ""), STYLE_BOLD);
	for_each(gpu, &table->gpus) {
		line = arena_printf(arena, "%-*s", CELL + 1, topo_name(d->topo, gpu->bdf.value));
		for (uint32_t i = from; i < to; i++)
			line = arena_printf(arena, "%s%-*s", line, CELL,
					    cell(d->topo, gpu->bdf.value,
						 topo_path(gpu, end_bdf(table, nics, i))));
		print_line(
			d,
			arena_printf(arena, "%s %s", line, last ? topo_nearest(d->topo, gpu) : ""),
			STYLE_PLAIN);
	}
	fputc('\n', d->page->out);
}

static void print_matrix(struct drawing *d, bool nics)
{
	uint32_t count = nics ? d->topo->table->nics.count : d->topo->table->gpus.count;
	/* Room for the name of the nearest NIC beside the last columns. */
	uint32_t room = (MATRIX_WIDTH - CELL - 1 - (nics ? 26 : 0)) / CELL;

	for (uint32_t from = 0; from < count; from += room)
		print_cells(d, nics, from, from + room < count ? from + room : count);
}

static void print_legend(struct drawing *d)
{
	struct topo_lines notes;
	struct topo_seen seen;

	topo_survey(d->topo, &seen);
	for (int i = 0; i < PATH_UNKNOWN; i++)
		if (seen.class[i])
			page_printf(d->page, "%-6s%s\n", path_class_words[i], topo_class_help[i]);
	if (seen.redirected)
		page_printf(d->page, "*     ACS redirects on the way\n");
	if (seen.refused)
		page_printf(d->page, "!     " TOPO_REFUSED "\n");
	topo_notes(d->topo, &notes);
	for (size_t i = 0; i < notes.count; i++)
		page_printf(d->page, "%s\n", notes.text[i]);
}

/* NICs that are as near as the own one of a GPU. */
static void print_ties(struct drawing *d)
{
	bool any = false;

	for_each(gpu, &d->topo->table->gpus) {
		const char *ties = topo_ties(d->topo, gpu);

		if (!*ties)
			continue;
		if (!any)
			page_printf(d->page, "\nAs near as the own NIC; each NIC was given as few "
					     "GPUs as can be\n");
		any = true;
		page_printf(d->page, "%-*s", CELL + 1, topo_name(d->topo, gpu->bdf.value));
		text_wrap(d->page->out, ties, CELL + 1, CELL + 1, d->page->width);
	}
}

static void print_settings(struct drawing *d)
{
	struct topo_settings settings = topo_settings(d->topo);

	if (!settings.count)
		return;
	page_printf(d->page, "\n%sFor jobs that use all GPUs of this node%s\n",
		    page_style(d->page, STYLE_BOLD), page_style(d->page, STYLE_PLAIN));
	for_each(s, &settings) {
		page_printf(d->page, "export %s=%s\n", s->name,
			    shell_quote(d->topo->arena, s->value));
		page_printf(d->page, "    # %s\n", s->reason);
	}
}

void render_topo_part(struct page *page, const struct topo *topo)
{
	struct drawing d = { .page = page,
			     .topo = topo,
			     .glyphs = has_unicode() ? &unicode : &ascii };
	const struct topology_facts *table = topo->table;

	if (topo_is_empty(topo))
		return;
	draw_tree(&d);
	if (table->gpus.count > 1)
		print_matrix(&d, false);
	if (table->gpus.count && table->nics.count)
		print_matrix(&d, true);
	if (topo_has_matrix(topo))
		print_legend(&d);
	else if (topo->not_drawn)
		page_printf(page, "%s\n", topo_not_drawn(topo));
	if (table->gpus.count && table->nics.count) {
		print_ties(&d);
		print_settings(&d);
	}
}

enum exit_status render_topo_text(const struct topo *topo, const struct render_options *options)
{
	struct page page;

	page_begin(&page, options->color, options->pager);
	if (topo_is_empty(topo))
		page_printf(&page, "No NVIDIA GPU and no RDMA NIC is on the PCI bus.\n");
	render_topo_part(&page, topo);
	return page_end(&page, EXIT_WELL);
}
