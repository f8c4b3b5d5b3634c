/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet.c - the problems of many nodes, the worst first: as text, as a document, as a self-contained page. */
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/json.h"
#include "base/output.h"
#include "base/shell.h"
#include "base/text.h"
#include "fleet/node-names.h"
#include "render/fleet-table.h"
#include "render/render.h"
#include "render/table-page.h"

static const char *tag(const struct table_row *row)
{
	return row->key.waits ? "WAIT" : text_tags[row->key.severity];
}

static void put_heading(const struct table *t)
{
	printf("%zu of %zu node%s %s problems", t->troubled.nodes, t->nodes, text_plural(t->nodes),
	       t->troubled.nodes == 1 || t->nodes == 1 ? "has" : "have");
	if (t->unreadable.nodes)
		printf("; %zu file%s could not be read", t->unreadable.nodes,
		       text_plural(t->unreadable.nodes));
}

/* ---- text ---- */

/* A file's name is its sender's. Ranges take one line, for clush -w and scontrol. */
#define line(...) escape_printf(stdout, SINK_TERMINAL, __VA_ARGS__)

#define ITEM_COLUMN 15
#define WIDTH 80

/* A long range is not wrapped, so that it can be pasted. */
static void put_set(const char *mark, const struct node_set *nodes, const struct node_names *names)
{
	_cleanup_free_ char *range = node_names_fold(names, nodes);

	line("%-4s %6zu  %s\n", mark, nodes->nodes, range);
}

static void put_other(const char *mark, const char *text, const struct node_set *nodes,
		      const struct node_names *names)
{
	if (!nodes->nodes)
		return;
	put_set(mark, nodes, names);
	line("             - %s\n", text);
}

static bool is_together(const struct table_row *a, const struct table_row *b)
{
	return a->key.severity == b->key.severity && a->key.waits == b->key.waits &&
	       node_set_is(&a->nodes, &b->nodes);
}

/* Returns true if a row above has the same severity and the same nodes. */
static bool is_shown(const struct table *t, size_t row)
{
	for (size_t i = 0; i < row; i++)
		if (is_together(&t->rows[i], &t->rows[row]))
			return true;
	return false;
}

static void put_title(const struct table_row *row)
{
	char text[512];

	snprintf(text, sizeof(text), "%s [%s]", row->rule->title, row->rule->id);
	fputs("             - ", stdout);
	text_wrap(stdout, text, ITEM_COLUMN, ITEM_COLUMN, WIDTH);
}

/* The command for the first node of the worst problem. */
static void put_one_node(const struct table *t, const struct fleet *fleet)
{
	const char *file;

	if (!t->count || !t->rows[0].nodes.count)
		return;
	file = fleet->files[t->rows[0].nodes.runs[0].first];
	line("The report of one node: nvnodecheck doctor --from %s\n",
	     shell_quote(fleet->arena, file));
}

/* Nodes are listed once above all of their problems of one severity. */
static void put_text(const struct table *t, const struct fleet *fleet,
		     const struct node_names *names)
{
	put_heading(t);
	putchar('\n');
	for (size_t i = 0; i < t->count; i++) {
		if (is_shown(t, i))
			continue;
		put_set(tag(&t->rows[i]), &t->rows[i].nodes, names);
		for (size_t k = i; k < t->count; k++)
			if (is_together(&t->rows[i], &t->rows[k]))
				put_title(&t->rows[k]);
	}
	put_other("?", "no problem found, and important checks could not run", &t->incomplete,
		  names);
	put_other("-", "could not be read", &t->unreadable, names);
	put_one_node(t, fleet);
}

/* ---- JSON ---- */

static void put_range(struct json_object *json, const char *key, const struct node_set *nodes,
		      const struct node_names *names)
{
	_cleanup_free_ char *range = node_names_fold(names, nodes);

	json_put(json, key, json_text(range, strlen(range)));
}

static struct json_object *row_json(const struct table_row *row, const struct node_names *names)
{
	struct json_object *json = json_object_new_object();

	json_put_string(json, "severity", severity_words[row->key.severity]);
	json_put(json, "pending", json_object_new_boolean(row->key.waits));
	json_put_string(json, "rule", row->rule->id);
	json_put_string(json, "title", row->rule->title);
	json_put_number(json, "count", row->nodes.nodes);
	put_range(json, "nodes", &row->nodes, names);
	return json;
}

static void put_json(const struct table *t, const struct node_names *names)
{
	_cleanup_json_ struct json_object *json = json_document("nvnodecheck-summary");
	struct json_object *problems = json_object_new_array();

	json_put_number(json, "nodes", t->nodes);
	for (int v = VERDICT_PASS; v <= VERDICT_UNKNOWN; v++)
		json_put_number(json, verdict_words[v], t->verdicts[v]);
	json_put_number(json, "unreadable", t->unreadable.nodes);
	for (size_t i = 0; i < t->count; i++)
		json_object_array_add(problems, row_json(&t->rows[i], names));
	json_put(json, "problems", problems);
	put_range(json, "incomplete_nodes", &t->incomplete, names);
	put_range(json, "unreadable_nodes", &t->unreadable, names);
	json_print(stdout, json, JSON_C_TO_STRING_PLAIN);
}

/* ---- HTML ---- */

#define html(...) escape_printf(stdout, SINK_XML, __VA_ARGS__)

/* RANK is the sort key of the column: the worst first. */
static void html_row(size_t rank, const char *mark, const char *rule, const char *title,
		     const struct node_set *nodes, const struct node_names *names)
{
	_cleanup_free_ char *range = node_names_fold(names, nodes);

	if (nodes->nodes)
		html("<tr><td class=\"n\">%zu</td><td>%s</td><td class=\"n\">%zu</td>"
		     "<td class=\"f\">%s</td><td>%s</td><td class=\"v\">%s</td></tr>\n",
		     rank, mark, nodes->nodes, rule, title, range);
}

static void put_page(const struct table *t, const struct node_names *names)
{
	table_page_begin("doctor");
	put_heading(t);
	table_page_filter("crit, driver, gpu017");
	puts("<table id=\"facts\"><thead><tr><th class=\"n\"><button>Rank</button></th>"
	     "<th><button>Severity</button></th><th class=\"n\"><button>Count</button></th>"
	     "<th><button>Rule</button></th><th><button>Problem</button></th>"
	     "<th><button>Nodes</button></th></tr></thead><tbody>");
	for (size_t i = 0; i < t->count; i++)
		html_row(i + 1, tag(&t->rows[i]), t->rows[i].rule->id, t->rows[i].rule->title,
			 &t->rows[i].nodes, names);
	html_row(t->count + 1, "?", "", "no problem found, and important checks could not run",
		 &t->incomplete, names);
	html_row(t->count + 2, "-", "", "could not be read", &t->unreadable, names);
	puts("</tbody></table>");
	table_page_end();
}

void render_table(const struct table *table, const struct fleet *fleet,
		  const struct render_options *options)
{
	_cleanup_node_names_ struct node_names names;

	node_names_init(&names, fleet);
	if (options->format == FORMAT_TEXT)
		put_text(table, fleet, &names);
	else if (options->format == FORMAT_HTML)
		put_page(table, &names);
	else
		put_json(table, &names);
}
