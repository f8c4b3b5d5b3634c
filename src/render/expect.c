/* SPDX-License-Identifier: GPL-2.0-or-later */
/* expect.c - an [expect] section, as text or as a document: of one node, or of most of many nodes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/output.h"
#include "base/utf8.h"
#include "base/version.h"
#include "evaluate/expect.h"
#include "fleet/majority.h"
#include "render/render.h"

/* ---- one node: text ---- */

struct one_node {
	const struct node *node;
	struct arena *arena;
	struct json_object *keys; /* JSON only */
};

/* Facts of unknown origin must not begin another line. */
#define line(...) escape_printf(stdout, SINK_TERMINAL, __VA_ARGS__)

static void print_key(void *user, const struct expect_key *key, const char *name,
		      const char *argument)
{
	const struct one_node *one = user;
	struct expect_look look;
	const char *reason, *value;

	expect_read_value(key, argument, one->node, one->arena, &look);
	value = expect_line_value(key, name, &look, &reason);
	if (value)
		line("%s = %s\n", name, value);
	else
		line("#%s: %s\n", name, reason);
}

static enum exit_status print_text(struct one_node *one)
{
	const struct os_facts *os = &one->node->os;
	const char *name = is_known(os->hostname) ? os->hostname.value : "this node";

	line("# What %s is, by nvnodecheck %s. Keep what its peers must be too, for example in\n"
	     "# /etc/nvnodecheck.conf.d/expect.conf; nvnodecheck.conf(5) says how values "
	     "compare.\n"
	     "[expect]\n",
	     name, NVNODECHECK_VERSION);
	expect_each_key(one->node, one->arena, print_key, one);
	return finish_output(EXIT_WELL);
}

/* ---- one node: JSON ---- */

static struct json_object *key_object(const struct expect_key *key, const char *name,
				      const char *value)
{
	struct json_object *json = json_object_new_object();

	json_put_string(json, "key", name);
	json_put_string(json, "row", key->key);
	json_put_string(json, "value", value);
	json_put_string(json, "reads", key->reads);
	json_put_string(json, "compared", key->words ? key->words : expect_kind_help[key->kind]);
	json_put_string(json, "help", key->help);
	return json;
}

static void put_key(void *user, const struct expect_key *key, const char *name,
		    const char *argument)
{
	const struct one_node *one = user;
	struct expect_look look;

	expect_read_value(key, argument, one->node, one->arena, &look);
	json_object_array_add(one->keys, key_object(key, name, expect_value(key, &look)));
}

static enum exit_status print_json(struct one_node *one)
{
	_cleanup_json_ struct json_object *json = json_document("nvnodecheck-expect");
	struct fact_str hostname = one->node->os.hostname;

	one->keys = json_object_new_array();
	json_put_string(json, "hostname", is_known(hostname) ? hostname.value : NULL);
	expect_each_key(one->node, one->arena, put_key, one);
	json_put(json, "keys", one->keys);
	return render_json(json, EXIT_WELL);
}

enum exit_status render_expect(const struct node *node, struct arena *arena,
			       const struct render_options *options)
{
	struct one_node one = { .node = node, .arena = arena };

	return options->format == FORMAT_JSON ? print_json(&one) : print_text(&one);
}

/* ---- many nodes ---- */

struct fleet_view {
	struct diff *table;
	size_t nodes; /* that were read */
	struct json_object *keys;
};

/* Prints the other values of a key on which nodes disagree: "550.1 (3), not known (1)". BEFORE precedes the first. */
static void put_others(FILE *out, const struct fleet_view *view, const struct majority *m,
		       const char *before)
{
	size_t silent = view->nodes - m->nodes;

	for (size_t i = 0; i < m->key->count; i++) {
		struct said said = majority_value(m, i);

		if (m->value && said.is_value && majority_agrees(m, said.text))
			continue;
		escape_printf(out, SINK_TERMINAL, "%s%s (%zu)", before, said.text, said.nodes);
		silent -= said.nodes;
		before = ", ";
	}
	if (silent)
		escape_printf(out, SINK_TERMINAL, "%snone or not known (%zu)", before, silent);
}

static void put_comment(FILE *out, const struct fleet_view *view, const struct majority *m)
{
	if (m->value) {
		fprintf(out, "# %zu of %zu node%s", m->nodes, view->nodes,
			view->nodes == 1 ? "" : "s");
		put_others(out, view, m, "; others: ");
		return;
	}
	escape_printf(out, SINK_TERMINAL, "#%s: ", m->name);
	if (m->key->various)
		fprintf(out, "more than %d values", DIFF_VALUES_MAX);
	else
		put_others(out, view, m, "");
}

/* Prints a comment, cut to the width of a line in a configuration. Its text is already escaped. */
static void print_comment(const struct fleet_view *view, const struct majority *m)
{
	char *text = NULL;
	size_t size = 0, shown;
	FILE *out = memory_need(open_memstream(&text, &size));
	bool cut;

	put_comment(out, view, m);
	fclose(out);
	memory_need(text);
	cut = size > EXPECT_LINE_MAX;
	shown = cut ? utf8_cut(text, EXPECT_LINE_MAX - strlen("...")) : size;
	fwrite(text, 1, shown, stdout);
	printf(cut ? "...\n" : "\n");
	free(text);
}

static void print_agreed(void *user, const struct majority *m)
{
	if (!m->value)
		return;
	print_comment(user, m);
	line("%s = %s\n", m->name, m->value);
}

static void print_left_out(void *user, const struct majority *m)
{
	if (!m->value)
		print_comment(user, m);
}

static enum exit_status print_fleet(struct fleet_view *view)
{
	line("# What most of %zu nodes have, by nvnodecheck %s: each value is that of more than half of\n"
	     "# them. Save this as FILE; nvnodecheck doctor --from FACTS --config FILE names the nodes that\n"
	     "# differ. nvnodecheck.conf(5) says how values compare.\n"
	     "[expect]\n",
	     view->nodes, NVNODECHECK_VERSION);
	majority_find(view->table, view->nodes, print_agreed, view);
	line("\n# Left out, because no value is that of more than half of the nodes:\n");
	majority_find(view->table, view->nodes, print_left_out, view);
	return finish_output(EXIT_WELL);
}

static void put_majority(void *user, const struct majority *m)
{
	struct fleet_view *view = user;
	struct json_object *json = key_object(m->row, m->name, m->value);
	struct json_object *all = json_object_new_array();

	for (size_t i = 0; i < m->key->count; i++) {
		struct said said = majority_value(m, i);
		struct json_object *one = json_object_new_object();

		json_put_string(one, "value", said.is_value ? said.text : NULL);
		json_put_string(one, "reason", said.is_value ? NULL : said.text);
		json_put(one, "nodes", json_object_new_uint64(said.nodes));
		json_object_array_add(all, one);
	}
	json_put(json, "nodes", json_object_new_uint64(m->nodes));
	json_put(json, "various", json_object_new_boolean(m->key->various));
	json_put(json, "values", all);
	json_object_array_add(view->keys, json);
}

static enum exit_status print_fleet_json(struct fleet_view *view)
{
	_cleanup_json_ struct json_object *json = json_document("nvnodecheck-expect");

	view->keys = json_object_new_array();
	majority_find(view->table, view->nodes, put_majority, view);
	json_put_string(json, "hostname", NULL);
	json_put(json, "nodes", json_object_new_uint64(view->nodes));
	json_put(json, "keys", view->keys);
	return render_json(json, EXIT_WELL);
}

enum exit_status render_majority(struct diff *table, size_t nodes,
				 const struct render_options *options)
{
	struct fleet_view view = { .table = table, .nodes = nodes };

	return options->format == FORMAT_JSON ? print_fleet_json(&view) : print_fleet(&view);
}
