/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topo-svg.c - the tree and the matrix as one SVG file, without scripts, fonts and other files. The tree grows to the
 * right, with one leaf a row; NUMA nodes are side by side if that is shorter. It has its own background, light or dark
 * as the reader's system prefers.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/output.h"
#include "evaluate/problems.h"
#include "render/topo.h"

#define MARGIN 24
#define HEADER 64     /* the drawing's title */
#define PANEL_HEAD 40 /* a NUMA node's title */
#define PANEL_PAD 16
#define LEVEL 228 /* from one depth of the tree to the next */
#define BOX 122	  /* width of a host bridge's, port's or switch's box */
#define END_BOX 278
#define ROW_GAP 10
#define LINE 15 /* of text */
#define MATRIX_CELL 52
#define MATRIX_ROW 24
#define LEGEND_ROW 18
#define LEGEND_WIDTH 460 /* of its longest sentence */

struct place {
	const struct topo_item *item; /* the drawn item: the last of a chain of folded ports */
	const struct topo_item *port; /* the port that is folded into the line to it; NULL: none */
	int depth, y, height;
	struct place *first, *next;
};

struct panel {
	const struct topo_item *numa;
	struct place *places;
	int x, y, width, height, depth;
};

struct svg {
	const struct topo *topo;
	struct panel *panels;
	size_t panels_count;
	bool side_by_side;
	int width, height; /* of the whole */
	int tree_bottom;
};

static const char style_sheet[] =
	"  text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu "
	"Sans',sans-serif;font-size:12px;"
	"fill:#1c2330}\n"
	"  .t{font-size:20px;font-weight:600}.h{font-size:14px;font-weight:600}.b{font-weight:600}\n"
	"  .s,.s2{font-size:11px;font-weight:400;fill:#55606f}.m{font-family:ui-monospace,'DejaVu Sans "
	"Mono',monospace}\n"
	"  .bg{fill:#fff}.pn{fill:#f4f6f9;stroke:#d5dbe3}.bx{fill:#fff;stroke:#aab4c2}\n"
	"  .gpu{fill:#e3f3d4;stroke:#5d9a1f}.nic{fill:#dfecfb;stroke:#3f7fc4}"
	".nvs{fill:#efe5fa;stroke:#8a5cc0}\n"
	"  .ln{fill:none;stroke:#8894a4;stroke-width:1.5}.nar{stroke:#c77700;stroke-width:2.5}\n"
	"  .warn{fill:#a85f00;font-weight:600}.bad{fill:#b3261e;font-weight:600}\n"
	"  .st1{stroke:#c77700;stroke-width:2.5}.st2,.st3{stroke:#b3261e;stroke-width:2.5}"
	".st3{stroke-dasharray:6 4}\n"
	"  .c0{fill:#a9d98a}.c1{fill:#d3e8a4}.c2{fill:#fbe6a2}.c3{fill:#f7cf9a}.c4{fill:#efb0a0}"
	".cx{fill:#e8ebf0}\n"
	"  .ce{fill:#1c2330;text-anchor:middle}.mid{text-anchor:middle}.end{text-anchor:end}\n"
	"  @media screen and (prefers-color-scheme:dark){\n"
	"  text{fill:#e6eaf0}.s,.s2{fill:#a5b0bf}.bg{fill:#12161c}.pn{fill:#1b212a;stroke:#343d4a}"
	".bx{fill:#232b36;stroke:#5a6677}\n"
	"  .gpu{fill:#25380f;stroke:#7fb83f}.nic{fill:#14304f;stroke:#5b9be0}"
	".nvs{fill:#33234a;stroke:#a67fd8}\n"
	"  .ln{stroke:#6f7c8e}.nar{stroke:#f0a030}.warn{fill:#f0b050}.bad{fill:#ff8a80}"
	".ce{fill:#1c2330}.st1{stroke:#f0a030}.st2,.st3{stroke:#ff8a80}}\n";

/* ---- writing ---- */

/* Writes SVG. Every value is escaped as text of an element or attribute. */
#define draw(...) escape_printf(stdout, SINK_XML, __VA_ARGS__)

static void write_text(int x, int y, const char *class, const char *s)
{
	draw("<text x=\"%d\" y=\"%d\" class=\"%s\">%s</text>\n", x, y, class, s);
}

/* The second right of the first, however wide that is. */
static void write_two(int x, int y, const char *class, const char *first, const char *second)
{
	draw("<text x=\"%d\" y=\"%d\" class=\"%s\">%s<tspan dx=\"14\" class=\"s\">%s</tspan></text>\n",
	     x, y, class, first, second);
}

static void box(int x, int y, int width, int height, const char *class)
{
	draw("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"5\" class=\"%s\"/>\n", x, y,
	     width, height, class);
}

/* Cut to the available width: a letter of 12 pixels is about 6.6 wide. */
static const char *cut_to_width(const struct svg *svg, const char *s, int width)
{
	int room = width * 10 / 66, n = 0;
	const char *p = s;

	for (; *p; p++) {
		if (((unsigned char)*p & 0xc0) == 0x80)
			continue;
		if (++n > room)
			return arena_printf(svg->topo->arena, "%.*s…", (int)(p - s), s);
	}
	return s;
}

/* Draws nothing if X is negative, but returns the height. */
static int legend(const struct svg *svg, int x, int y)
{
	struct topo_lines notes;
	struct topo_seen seen;
	int top = y;

	topo_survey(svg->topo, &seen);
	topo_notes(svg->topo, &notes);
	for (int i = 0; i < PATH_UNKNOWN; i++) {
		if (!seen.class[i])
			continue;
		if (x >= 0) {
			draw("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\" "
			     "class=\"c%d\"/>\n",
			     x, y, MATRIX_CELL - 3, LEGEND_ROW - 4, i);
			write_text(x + (MATRIX_CELL - 3) / 2, y + 11, "s ce", path_class_words[i]);
			write_text(x + 54, y + 11, "s", topo_class_help[i]);
		}
		y += LEGEND_ROW;
	}
	if (seen.redirected)
		notes.text[notes.count++] =
			"▲ ACS redirects: requests between peers go up to the root "
			"complex.";
	if (seen.refused)
		notes.text[notes.count++] = "! " TOPO_REFUSED;
	for (size_t i = 0; i < notes.count; i++, y += LEGEND_ROW)
		if (x >= 0)
			write_text(x, y + 13, "s", notes.text[i]);
	return y - top;
}

/* ---- positions ---- */

static int end_height(const struct svg *svg, const struct topo_item *item)
{
	struct topo_lines lines = { .count = 0 };
	size_t problems;
	int marks = topo_state_text(svg->topo, item) != NULL;

	marks += topo_problem(svg->topo, item, &problems) > 0;
	if (item->kind == TOPO_NIC)
		topo_ports(svg->topo, item->device, &lines);
	return 12 + LINE * (2 + marks + (int)lines.count);
}

/* Places ITEM and its subtree from Y on; returns the position after it. */
static int put(struct svg *svg, struct panel *panel, struct place **out,
	       const struct topo_item *item, int depth, int y)
{
	struct place *place = arena_alloc(svg->topo->arena, sizeof(*place)), **next = &place->first;
	int top = y;

	*out = place;
	if (topo_folds(item) && !topo_folds(item->first)) {
		place->port = item;
		item = item->first;
	}
	place->item = item;
	place->depth = depth;
	panel->depth = depth > panel->depth ? depth : panel->depth;
	place->height = topo_is_end(item) ? end_height(svg, item) : 12 + LINE * 2;
	for (const struct topo_item *i = item->first; i; i = i->next) {
		y = put(svg, panel, next, i, depth + 1, y);
		next = &(*next)->next;
	}
	if (!item->first) {
		place->y = y;
		return y + place->height + ROW_GAP;
	}
	y = y > top + place->height + ROW_GAP ? y : top + place->height + ROW_GAP;
	place->y = (top + y - ROW_GAP - place->height) / 2;
	return y;
}

static void measure_panel(struct svg *svg, struct panel *panel, const struct topo_item *numa)
{
	struct place **next = &panel->places;
	int y = PANEL_HEAD;

	panel->numa = numa;
	for (const struct topo_item *i = numa->first; i; i = i->next) {
		y = put(svg, panel, next, i, 0, y);
		next = &(*next)->next;
	}
	panel->height = y - ROW_GAP + PANEL_PAD;
	panel->width = 2 * PANEL_PAD + panel->depth * LEVEL + END_BOX;
}

static int matrix_width(const struct topology_facts *table)
{
	int width = 70 + MATRIX_CELL * (int)(table->gpus.count + table->nics.count);

	if (table->nics.count)
		width += 20 + 210;
	return width > LEGEND_WIDTH ? width : LEGEND_WIDTH;
}

/* Panels one below the other, or in two columns when that makes the drawing less long. */
static void place_panels(struct svg *svg)
{
	int bottom[2] = { HEADER, HEADER }, width = 0, total = 0, least = 0;

	for (size_t i = 0; i < svg->panels_count; i++) {
		width = svg->panels[i].width > width ? svg->panels[i].width : width;
		total += svg->panels[i].height;
	}
	svg->side_by_side = svg->panels_count > 1 && total > 560;
	for (size_t i = 0; i < svg->panels_count; i++) {
		struct panel *p = &svg->panels[i];
		int column = svg->side_by_side && bottom[1] < bottom[0];

		p->width = width;
		p->x = MARGIN + column * (width + MARGIN);
		p->y = bottom[column];
		bottom[column] += p->height + MARGIN;
	}
	svg->tree_bottom = bottom[0] > bottom[1] ? bottom[0] : bottom[1];
	svg->width = 2 * MARGIN + width + (svg->side_by_side ? width + MARGIN : 0);
	least = 2 * MARGIN + (topo_has_matrix(svg->topo) ? matrix_width(svg->topo->table) : 300);
	svg->width = svg->width > least ? svg->width : least;
}

static void measure(struct svg *svg)
{
	const struct topo_item *i;
	size_t n = 0;

	for (i = svg->topo->root->first; i; i = i->next)
		svg->panels_count++;
	svg->panels = arena_alloc(svg->topo->arena, (svg->panels_count + 1) * sizeof(*svg->panels));
	for (i = svg->topo->root->first; i; i = i->next)
		measure_panel(svg, &svg->panels[n++], i);
	place_panels(svg);
	svg->height = svg->tree_bottom + MARGIN;
	if (topo_has_matrix(svg->topo))
		svg->height += 72 + MATRIX_ROW * (int)svg->topo->table->gpus.count +
			       legend(svg, -1, 0);
}

/* ---- tree ---- */

/* Ends are in one column at the right. */
static int left_of(const struct panel *panel, const struct place *place)
{
	return panel->x + PANEL_PAD +
	       (topo_is_end(place->item) ? panel->depth : place->depth) * LEVEL;
}

static int width_of(const struct place *place)
{
	return topo_is_end(place->item) ? END_BOX : BOX;
}

static int middle_of(const struct panel *panel, const struct place *place)
{
	return panel->y + place->y + place->height / 2;
}

/* Draws the state as words, because a colour alone is not enough. Returns the next line's position. */
static int draw_marks(const struct svg *svg, int x, int y, const struct topo_item *item)
{
	const char *state = topo_state_text(svg->topo, item);
	size_t count, first = topo_problem(svg->topo, item, &count);
	const struct finding *f;

	if (state) {
		write_text(x, y, topo_state(svg->topo, item) == TOPO_DEGRADED ? "s warn" : "s bad",
			   cut_to_width(svg, arena_printf(svg->topo->arena, "✕ %s", state),
					END_BOX - 16));
		y += LINE;
	}
	if (!first)
		return y;
	f = svg->topo->problems->items.items[first - 1].first;
	draw("<a href=\"#problem-%zu\">", first);
	write_text(x, y, f->severity >= SEVERITY_ERR ? "s bad" : "s warn",
		   cut_to_width(svg,
				count == 1 ? arena_printf(svg->topo->arena, "! %s", f->rule->id)
					   : arena_printf(svg->topo->arena, "! %s and %zu more",
							  f->rule->id, count - 1),
				END_BOX - 16));
	draw("</a>");
	return y + LINE;
}

static const char *end_class(const struct svg *svg, const struct topo_item *item)
{
	return arena_printf(svg->topo->arena, "%s st%d",
			    item->kind == TOPO_GPU	  ? "gpu"
			    : item->kind == TOPO_NVSWITCH ? "nvs"
							  : "nic",
			    topo_state(svg->topo, item));
}

static const char *end_title(const struct svg *svg, const struct topo_item *item)
{
	const char *role = topo_role(svg->topo, item->id);

	return arena_printf(svg->topo->arena, "%s%s%s%s%s", item->name ? item->name : "",
			    item->name ? " · " : "", item->label, *role ? " · " : "", role);
}

static const char *end_place(const struct svg *svg, const struct topo_item *item)
{
	bool translated = item->kind == TOPO_GPU || item->kind == TOPO_NIC;
	const char *iommu = translated ? topo_iommu_text(svg->topo, item->device) : "";

	return arena_printf(svg->topo->arena, "%s · %s%s%s%s", topo_bdf(item),
			    topo_driver(item->device), translated ? " · " : "",
			    strchr(iommu, ' ') || !translated ? "" : "IOMMU ", iommu);
}

static void draw_end(const struct svg *svg, int x, int y, const struct place *place)
{
	const struct topo_item *item = place->item;
	struct topo_lines lines = { .count = 0 };

	box(x, y, END_BOX, place->height, end_class(svg, item));
	x += 10;
	y += 18;
	write_text(x, y, "b", cut_to_width(svg, end_title(svg, item), END_BOX - 30));
	y += LINE;
	write_text(x, y, "s m", cut_to_width(svg, end_place(svg, item), END_BOX - 16));
	y = draw_marks(svg, x, y + LINE, item);
	if (item->kind == TOPO_NIC)
		topo_ports(svg->topo, item->device, &lines);
	for (size_t i = 0; i < lines.count; i++, y += LINE)
		write_text(x, y, lines.is_warning[i] ? "s warn" : "s",
			   cut_to_width(svg, lines.text[i], END_BOX - 16));
}

static void draw_box(const struct svg *svg, const struct panel *panel, const struct place *place)
{
	const struct topo_item *item = place->item;
	int x = left_of(panel, place), y = panel->y + place->y;

	if (topo_is_end(item)) {
		draw_end(svg, x, y, place);
		return;
	}
	box(x, y, width_of(place), place->height, "bx");
	write_text(x + 8, y + 18, item->kind == TOPO_SWITCH ? "b s2" : "s",
		   cut_to_width(svg, item->label, width_of(place)));
	write_text(x + 8, y + 18 + LINE, "s m", item->id ? topo_bdf(item) : "?");
	if (topo_redirects(item->device))
		write_text(x + width_of(place) - 34, y + 18 + LINE, "s bad", "▲ACS");
}

/* Draws a line from a box to one below it, with the link's speed above the line and its port below. */
static void draw_line(const struct svg *svg, const struct panel *panel, const struct place *from,
		      const struct place *to)
{
	int x1 = left_of(panel, from) + width_of(from), y1 = middle_of(panel, from);
	int x2 = left_of(panel, to), y2 = middle_of(panel, to);
	int turn = x1 + 8, label = x2 - 6;
	bool narrow = to->item->device && topo_link_is_narrow(to->item->device);

	draw("<path d=\"M%d %dH%dV%dH%d\" class=\"ln%s\"/>\n", x1, y1, turn, y2, x2,
	     narrow ? " nar" : "");
	if (to->item->device) {
		struct topo_link link = topo_link_parts(svg->topo, to->item->device);
		const char *class = narrow ? "s end warn" : "s end";

		write_text(label, link.most ? y2 - 18 : y2 - 5, class, link.now ? link.now : "");
		if (link.most)
			write_text(label, y2 - 5, class,
				   arena_printf(svg->topo->arena, "of %s", link.most));
	}
	if (to->port) {
		bool redirects = topo_redirects(to->port->device);

		write_text(label, y2 + 13, redirects ? "s end m bad" : "s end m",
			   redirects ? arena_printf(svg->topo->arena, "▲%s", topo_bdf(to->port))
				     : topo_bdf(to->port));
	}
}

static void draw_places(const struct svg *svg, const struct panel *panel, const struct place *above,
			const struct place *place)
{
	for (; place; place = place->next) {
		if (above)
			draw_line(svg, panel, above, place);
		draw_places(svg, panel, place, place->first);
		draw_box(svg, panel, place);
	}
}

static void draw_panel(const struct svg *svg, const struct panel *panel)
{
	const struct numa_node *numa = panel->numa->numa;
	const char *title = "No NUMA node given", *beside = "";

	if (panel->numa->id)
		title = arena_printf(svg->topo->arena, "NUMA node %s", panel->numa->id);
	draw("<g><title>%s</title>\n", title);
	draw("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"10\" class=\"pn\"/>\n",
	     panel->x, panel->y, panel->width, panel->height);
	if (numa && is_known(numa->cpus) && is_known(numa->memory_bytes))
		beside = arena_printf(svg->topo->arena, "CPUs %s, %" PRIu64 " GiB",
				      numa->cpus.value, numa->memory_bytes.value >> 30);
	write_two(panel->x + PANEL_PAD, panel->y + 25, "h", title,
		  cut_to_width(svg, beside, panel->width - 2 * PANEL_PAD - 140));
	draw_places(svg, panel, NULL, panel->places);
	puts("</g>");
}

/* ---- matrix ---- */

static void draw_cell(const struct svg *svg, int x, int y, const char *row, const char *column,
		      const struct topology_path *path, uint64_t links, bool refused)
{
	const char *mark = refused				      ? "!"
			   : links				      ? ""
			   : path && known_is(path->redirected, true) ? "▲"
								      : "";
	bool known = path && is_known(path->class);
	const char *word = !path   ? ""
			   : links ? arena_printf(svg->topo->arena, "NV%" PRIu64, links)
			   : known ? path_class_words[path->class.value]
				   : "?";

	draw("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\" class=\"c%c\"><title>", x,
	     y, MATRIX_CELL - 3, MATRIX_ROW - 3, known ? '0' + path->class.value : 'x');
	draw("%s to %s: %s</title></rect>\n", row, column, path ? word : "itself");
	if (path)
		write_text(x + (MATRIX_CELL - 3) / 2, y + 15, "s ce",
			   arena_printf(svg->topo->arena, "%s%s", word, mark));
}

static void draw_row(const struct svg *svg, const struct topology_gpu *gpu, int x, int y)
{
	const struct topology_facts *table = svg->topo->table;
	const char *name = topo_name(svg->topo, gpu->bdf.value);

	write_text(x, y + 15, "b", name);
	x += 70;
	for_each(other, &table->gpus) {
		draw_cell(svg, x, y, name, topo_name(svg->topo, other->bdf.value),
			  topo_path(gpu, other->bdf.value),
			  topo_nvlinks(svg->topo, gpu->bdf.value, other->bdf.value),
			  topo_way(svg->topo, gpu->bdf.value, other->bdf.value) == TOPO_WAY_HOST);
		x += MATRIX_CELL;
	}
	x += 20;
	for_each(path, &gpu->nics) {
		draw_cell(svg, x, y, name, topo_name(svg->topo, path->bdf.value), path, 0, false);
		x += MATRIX_CELL;
	}
	if (table->nics.count)
		write_text(x + 8, y + 15, "", topo_nearest(svg->topo, gpu));
}

static void draw_columns(const struct svg *svg, int x, int y)
{
	const struct topology_facts *table = svg->topo->table;

	x += 70 + (MATRIX_CELL - 3) / 2;
	for_each(gpu, &table->gpus) {
		write_text(x, y, "b mid", topo_name(svg->topo, gpu->bdf.value));
		x += MATRIX_CELL;
	}
	x += 20;
	for_each(nic, &table->nics) {
		write_text(x, y, "b mid", topo_name(svg->topo, nic->bdf.value));
		x += MATRIX_CELL;
	}
	if (table->nics.count)
		write_text(x - (MATRIX_CELL - 3) / 2 + 8, y, "b", "own NIC");
}

static void draw_matrix(const struct svg *svg)
{
	int x = MARGIN, y = svg->tree_bottom + 8;

	puts("<g><title>Paths between GPUs and NICs</title>");
	write_text(x, y + 12, "h", "Paths");
	draw_columns(svg, x, y + 40);
	y += 50;
	for_each(gpu, &svg->topo->table->gpus) {
		draw_row(svg, gpu, x, y);
		y += MATRIX_ROW;
	}
	legend(svg, x, y + 14);
	puts("</g>");
}

/* ---- the whole ---- */

static void describe(const struct svg *svg)
{
	const struct topology_facts *table = svg->topo->table;

	draw("<desc id=\"d\">%zu NUMA node%s, %" PRIu32 " GPU%s, %" PRIu32 " NIC%s.",
	     svg->panels_count, text_plural(svg->panels_count), table->gpus.count,
	     text_plural(table->gpus.count), table->nics.count, text_plural(table->nics.count));
	for_each(gpu, &table->gpus) {
		draw(" %s at %s: own NIC %s.", topo_name(svg->topo, gpu->bdf.value), gpu->bdf.value,
		     topo_nearest(svg->topo, gpu));
	}
	puts("</desc>");
}

static void draw_title(const struct svg *svg)
{
	const struct os_facts *os = &svg->topo->node->os;
	const char *name = is_known(os->hostname) ? os->hostname.value : "node";

	draw("<rect width=\"%d\" height=\"%d\" class=\"bg\"/>\n", svg->width, svg->height);
	write_two(MARGIN, 40, "t", cut_to_width(svg, name, svg->width / 3),
		  is_known(os->product) ? cut_to_width(svg, os->product.value, svg->width / 3)
					: "");
}

void topo_draw(const struct topo *topo)
{
	const struct os_facts *os = &topo->node->os;
	struct svg svg = { .topo = topo };

	measure(&svg);
	draw("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
	     "viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"n d\">\n"
	     "<title id=\"n\">PCI topology of %s</title>\n",
	     svg.width, svg.height, svg.width, svg.height,
	     is_known(os->hostname) ? os->hostname.value : "node");
	describe(&svg);
	draw("<style>\n");
	fputs(style_sheet, stdout);
	draw("</style>\n");
	draw_title(&svg);
	if (topo_is_empty(topo))
		write_text(MARGIN, HEADER + 10, "",
			   "No NVIDIA GPU and no RDMA NIC is on the PCI bus.");
	for (size_t i = 0; i < svg.panels_count; i++)
		draw_panel(&svg, &svg.panels[i]);
	if (topo_has_matrix(topo))
		draw_matrix(&svg);
	else if (topo->not_drawn)
		write_text(MARGIN, HEADER - 4, "", topo_not_drawn(topo));
	draw("</svg>\n");
}

enum exit_status render_topo_svg(const struct topo *topo)
{
	topo_draw(topo);
	return finish_output(EXIT_WELL);
}
