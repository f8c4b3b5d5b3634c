/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diff.c - the differences between nodes: as text, as a document, as a self-contained page. */
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json-stream.h"
#include "base/memory.h"
#include "base/output.h"
#include "fleet/diff.h"
#include "fleet/node-names.h"
#include "render/render.h"
#include "render/table-page.h"

#define LISTED 8 /* names in a line */
#define ODD_LISTED 20

static const struct node_set none;

static size_t nodes_read(const struct diff *diff)
{
	return diff->nodes - diff->unreadable;
}

static void put_heading(const struct diff *diff)
{
	size_t nodes = nodes_read(diff);

	printf("%zu node%s, %zu fact%s differ%s", nodes, text_plural(nodes), diff->count,
	       text_plural(diff->count), diff->count == 1 ? "s" : "");
	if (diff->unreadable)
		printf("; %zu file%s could not be read", diff->unreadable,
		       text_plural(diff->unreadable));
}

/* ---- rows: the same difference of several items of a list is one ---- */

struct row {
	const struct diff_key *key;
	char *pattern; /* pci.devices[*].mps_bytes */
	size_t place;  /* of the key in the table */
	size_t items;
};

/* The name of an item can be empty: a pattern can be longer than its path. */
static char *make_pattern(const char *path)
{
	char *pattern = memory_need(malloc(2 * strlen(path) + 1));
	size_t n = 0;

	for (; *path; path++) {
		pattern[n++] = *path;
		if (*path != '[')
			continue;
		pattern[n++] = '*';
		path += strcspn(path, "]") - 1;
	}
	pattern[n] = '\0';
	return pattern;
}

static int compare_numbers(size_t a, size_t b)
{
	return (a > b) - (a < b);
}

static int compare_values(const struct diff_value *a, const struct diff_value *b)
{
	int order = strcmp(a->text, b->text);

	if (!order)
		order = compare_numbers(a->nodes.count, b->nodes.count);
	return order || !a->nodes.count ? order
					: memcmp(a->nodes.runs, b->nodes.runs,
						 a->nodes.count * sizeof(*a->nodes.runs));
}

/* 0: they are one row. */
static int compare_rows(const struct row *a, const struct row *b)
{
	const struct diff_key *x = a->key, *y = b->key;
	int order = strcmp(a->pattern, b->pattern);

	if (!order)
		order = compare_numbers(x->various, y->various);
	if (!order)
		order = compare_numbers(x->count, y->count);
	for (size_t i = 0; !order && i < x->count; i++)
		order = compare_values(&x->values[i], &y->values[i]);
	return order;
}

static int by_content(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = compare_rows(x, y);

	return order ? order : compare_numbers(x->place, y->place);
}

static int by_place(const void *a, const void *b)
{
	return compare_numbers(((const struct row *)a)->place, ((const struct row *)b)->place);
}

/* A row stands where the first of its items does. */
static struct row *make_rows(const struct diff *diff, size_t *count)
{
	struct row *rows = memory_need(calloc(diff->count + 1, sizeof(*rows)));
	size_t n = 0;

	for (size_t i = 0; i < diff->count; i++) {
		rows[i] = (struct row){ .key = diff->keys[i],
					.pattern = make_pattern(diff->keys[i]->path),
					.place = i,
					.items = 1 };
	}
	qsort(rows, diff->count, sizeof(*rows), by_content);
	for (size_t i = 0; i < diff->count; i++) {
		if (n && compare_rows(&rows[n - 1], &rows[i]) == 0) {
			rows[n - 1].items++;
			free(rows[i].pattern);
		} else {
			rows[n++] = rows[i];
		}
	}
	qsort(rows, n, sizeof(*rows), by_place);
	*count = n;
	return rows;
}

static void free_rows(struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(rows[i].pattern);
	free(rows);
}

static const char *row_name(const struct row *row)
{
	return row->items > 1 ? row->pattern : row->key->path;
}

/* ---- text ---- */

/* A value, or the name of a file, is its sender's. */
#define line(...) escape_printf(stdout, SINK_TERMINAL, __VA_ARGS__)

static void put_nodes(enum sink sink, const struct node_names *names, const struct node_set *nodes)
{
	_cleanup_free_ char *text = node_names_fold(names, nodes);

	escape_printf(stdout, sink, "%s", text);
}

static void put_row(const struct node_names *names, const struct row *row)
{
	const struct diff_value *most = diff_majority(row->key);

	line("\n%s", row_name(row));
	if (row->items > 1)
		line("  (%zu items)", row->items);
	putchar('\n');
	if (row->key->various)
		line("  more than %d values\n", DIFF_VALUES_MAX);
	for (size_t i = 0; i < row->key->count; i++) {
		const struct diff_value *value = &row->key->values[i];

		line("  %-28s %5zu  ", value->text, value->nodes.nodes);
		if (value == most && value->nodes.nodes > 1)
			fputs("most", stdout);
		else
			put_nodes(SINK_TERMINAL, names, &value->nodes);
		putchar('\n');
	}
}

struct odd_node {
	size_t node;
	size_t facts;
};

static int compare_odd(const void *a, const void *b)
{
	const struct odd_node *x = a, *y = b;

	return x->facts != y->facts ? (x->facts < y->facts) - (x->facts > y->facts)
				    : (x->node > y->node) - (x->node < y->node);
}

/* Sorts the nodes with differences, most first; COUNT is their number. */
static struct odd_node *sort_odd(const struct diff *diff, size_t *count)
{
	struct odd_node *nodes = memory_need(calloc(diff->nodes + 1, sizeof(*nodes)));
	size_t *odd = diff_odd(diff);

	*count = 0;
	for (size_t node = 0; node < diff->nodes; node++)
		if (odd[node])
			nodes[(*count)++] = (struct odd_node){ node, odd[node] };
	free(odd);
	if (*count)
		qsort(nodes, *count, sizeof(*nodes), compare_odd);
	return nodes;
}

static void put_odd(const struct diff *diff, const struct fleet *fleet)
{
	size_t count;
	struct odd_node *odd = sort_odd(diff, &count);

	if (count)
		puts("\nOdd ones out");
	for (size_t i = 0; i < count && i < ODD_LISTED; i++)
		line("  %-28s %5zu fact%s unlike most\n", fleet->names[odd[i].node], odd[i].facts,
		     text_plural(odd[i].facts));
	if (count > ODD_LISTED)
		line("  and %zu more\n", count - ODD_LISTED);
	free(odd);
}

static void put_text(const struct diff *diff, const struct fleet *fleet)
{
	_cleanup_node_names_ struct node_names names;
	size_t count;
	struct row *rows = make_rows(diff, &count);

	put_heading(diff);
	putchar('\n');
	node_names_init(&names, fleet);
	for (size_t i = 0; i < count; i++)
		put_row(&names, &rows[i]);
	put_odd(diff, fleet);
	free_rows(rows, count);
}

/* ---- JSON ---- */

static struct json_object *value_json(const struct fleet *fleet, const struct diff_value *value,
				      bool names)
{
	struct json_object *json = json_object_new_object();
	struct json_object *nodes = json_object_new_array();

	json_put_string(json, "value", value->text);
	json_put_number(json, "count", value->nodes.nodes);
	for_each_node(node, names ? &value->nodes : &none) json_object_array_add(
		nodes, json_text(fleet->names[node], strlen(fleet->names[node])));
	json_put(json, "nodes", nodes);
	return json;
}

static struct json_object *key_json(const struct diff *diff, const struct fleet *fleet,
				    const struct diff_key *key)
{
	const struct diff_value *most = diff_majority(key);
	struct json_object *json = json_object_new_object();
	struct json_object *values = json_object_new_array();

	/* Most nodes are named by their absence from the other values. */
	for (size_t k = 0; k < key->count; k++)
		json_object_array_add(values,
				      value_json(fleet, &key->values[k],
						 &key->values[k] != most || diff->nodes <= LISTED));
	json_put_string(json, "fact", key->path);
	json_put_string(json, "most", most ? most->text : NULL);
	json_put(json, "various", json_object_new_boolean(key->various));
	json_put(json, "values", values);
	return json;
}

static struct json_object *odd_json(const struct fleet *fleet, const struct odd_node *odd)
{
	struct json_object *json = json_object_new_object();

	json_put_string(json, "node", fleet->names[odd->node]);
	json_put_number(json, "facts", odd->facts);
	return json;
}

static void put_json(const struct diff *diff, const struct fleet *fleet)
{
	size_t count;
	struct odd_node *odd = sort_odd(diff, &count);
	struct json_stream s;

	json_stream_begin(&s, stdout, RENDER_JSON_FLAGS, json_document("nvnodecheck-diff"));
	json_stream_put(&s, "nodes", json_u64(nodes_read(diff)));
	json_stream_put(&s, "unreadable", json_u64(diff->unreadable));
	json_stream_list(&s, "facts");
	for (size_t i = 0; i < diff->count; i++)
		json_stream_add(&s, key_json(diff, fleet, diff->keys[i]));
	json_stream_list_end(&s);
	json_stream_list(&s, "odd");
	for (size_t i = 0; i < count; i++)
		json_stream_add(&s, odd_json(fleet, &odd[i]));
	json_stream_list_end(&s);
	json_stream_end(&s);
	free(odd);
}

/* ---- HTML ---- */

#define html(...) escape_printf(stdout, SINK_XML, __VA_ARGS__)

static void html_rows(const struct diff *diff, const struct node_names *names,
		      const struct row *row)
{
	const struct diff_value *most = diff_majority(row->key);

	for (size_t i = 0; i < row->key->count; i++) {
		const struct diff_value *value = &row->key->values[i];
		bool is_most = value == most && diff->nodes > LISTED;

		html(value == most ? "<tr class=\"most\">" : "<tr>");
		html("<td class=\"f\">%s</td><td class=\"n\">%zu</td><td class=\"v\">%s</td>"
		     "<td class=\"n\">%zu</td><td>",
		     row_name(row), row->items, value->text, value->nodes.nodes);
		if (is_most)
			fputs("most", stdout);
		else
			put_nodes(SINK_XML, names, &value->nodes);
		puts("</td></tr>");
	}
	if (!row->key->various)
		return;
	html("<tr><td class=\"f\">%s</td><td class=\"n\">%zu</td><td>more than %d values</td>"
	     "<td class=\"n\">%zu</td><td></td></tr>\n",
	     row_name(row), row->items, DIFF_VALUES_MAX, nodes_read(diff));
}

static void put_page(const struct diff *diff, const struct fleet *fleet)
{
	_cleanup_node_names_ struct node_names names;
	size_t count, odd_count;
	struct row *rows = make_rows(diff, &count);
	struct odd_node *odd = sort_odd(diff, &odd_count);

	node_names_init(&names, fleet);
	table_page_begin("diff");
	put_heading(diff);
	table_page_filter("driver, mtu, node017");
	puts("<table id=\"facts\"><thead><tr><th><button>Fact</button></th>"
	     "<th class=\"n\"><button>Items</button></th><th><button>Value</button></th>"
	     "<th class=\"n\"><button>Nodes</button></th><th><button>Which</button></th>"
	     "</tr></thead><tbody>");
	for (size_t i = 0; i < count; i++)
		html_rows(diff, &names, &rows[i]);
	puts("</tbody></table>\n<h2>Odd ones out</h2>\n<table id=\"odd\"><thead><tr>"
	     "<th><button>Node</button></th><th class=\"n\"><button>Facts unlike most</button></th>"
	     "</tr></thead><tbody>");
	for (size_t i = 0; i < odd_count; i++) {
		html("<tr><td>%s</td><td class=\"n\">%zu</td></tr>\n", fleet->names[odd[i].node],
		     odd[i].facts);
	}
	puts("</tbody></table>");
	table_page_end();
	free_rows(rows, count);
	free(odd);
}

enum exit_status render_diff(const struct diff *diff, const struct fleet *fleet,
			     const struct render_options *options, enum exit_status status)
{
	if (options->format == FORMAT_JSON)
		put_json(diff, fleet);
	else if (options->format == FORMAT_HTML)
		put_page(diff, fleet);
	else
		put_text(diff, fleet);
	return finish_output(status);
}
