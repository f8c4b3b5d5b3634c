/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-expect.c - writes what a node has as what the configuration expects of its like. */
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/output.h"
#include "base/version.h"
#include "cli/cmd.h"
#include "evaluate/expect.h"
#include "render/render.h"

/* A line of a configuration cannot be longer (settings.c). */
#define CONFIG_LINE 199

typedef void each_key(void *user, const struct expect_key *key, const char *name,
		      const char *argument);

/* Every key of the table; one with an argument once for each that this node has. */
static void for_all_keys(const struct node *node, struct arena *arena, each_key *call, void *user)
{
	for (const struct expect_key *k = expect_keys; k->key; k++) {
		const char *argument;
		uint32_t i = 0;

		if (!k->argument) {
			call(user, k, k->key, NULL);
			continue;
		}
		while ((argument = k->argument(node, &i, arena)))
			if (!k->refuse(argument))
				call(user, k,
				     arena_printf(arena, "%.*s%s",
						  (int)(strchr(k->key, '.') - k->key) + 1, k->key,
						  argument),
				     argument);
	}
}

static const char *value_of(struct source *source, const struct expect_key *key,
			    const char *argument, struct expect_look *look)
{
	expect_look_at(key, argument, source->node, source->arena, look);
	return expect_value(key, look);
}

/* ---- text ---- */

/* Facts of unknown origin must not begin another line. */
#define line(...) escape_printf(stdout, SINK_TERMINAL, __VA_ARGS__)

static bool any_is(const struct expect_look *look, enum fact_state state)
{
	for_each(seen, &look->seen)
		if (seen->state == state)
			return true;
	return false;
}

static const char *why_none(const struct expect_look *look)
{
	if (!look->seen.count)
		return look->none ? look->none : "none found";
	return any_is(look, FACT_UNKNOWN)  ? "not known"
	       : any_is(look, FACT_ABSENT) ? "not there"
					   : "no value for a line";
}

/* What is read from the line again is what was seen. */
static bool is_plain(const struct source *source, const char *text)
{
	return strcmp(escape_string(source->arena, SINK_TERMINAL, text), text) == 0;
}

static void print_key(void *user, const struct expect_key *key, const char *name,
		      const char *argument)
{
	struct expect_look look;
	const char *value = value_of(user, key, argument, &look);

	if (value && is_plain(user, name) && is_plain(user, value) &&
	    strlen(name) + strlen(value) + 3 <= CONFIG_LINE)
		line("%s = %s\n", name, value);
	else
		line("#%s: %s\n", name,
		     value ? "too long for a line, or with characters that a line cannot hold"
			   : why_none(&look));
}

static enum exit_status print_text(struct source *source)
{
	const struct os_facts *os = &source->node->os;
	const char *name = is_known(os->hostname) ? os->hostname.value : "this node";

	line("# What %s is, by nvnodecheck %s. Keep what its peers must be too, for example in\n"
	     "# /etc/nvnodecheck.conf.d/expect.conf; nvnodecheck.conf(5) says how values "
	     "compare.\n"
	     "[expect]\n",
	     name, NVNODECHECK_VERSION);
	for_all_keys(source->node, source->arena, print_key, source);
	return finish_output(EXIT_WELL);
}

/* ---- JSON ---- */

struct document {
	struct source *source;
	struct json_object *keys;
};

static void put_key(void *user, const struct expect_key *key, const char *name,
		    const char *argument)
{
	struct document *d = user;
	struct json_object *json = json_object_new_object();
	struct expect_look look;

	json_put_string(json, "key", name);
	json_put_string(json, "row", key->key);
	json_put_string(json, "value", value_of(d->source, key, argument, &look));
	json_put_string(json, "reads", key->reads);
	json_put_string(json, "compared", key->words ? key->words : expect_kind_help[key->kind]);
	json_put_string(json, "help", key->help);
	json_object_array_add(d->keys, json);
}

static enum exit_status print_json(struct source *source)
{
	_cleanup_json_ struct json_object *json = json_document("nvnodecheck-expect");
	struct document d = { source, json_object_new_array() };

	json_put_string(json, "hostname",
			is_known(source->node->os.hostname) ? source->node->os.hostname.value
							    : NULL);
	for_all_keys(source->node, source->arena, put_key, &d);
	json_put(json, "keys", d.keys);
	return render_json(json, EXIT_WELL);
}

enum exit_status cmd_expect(const struct options *options)
{
	_cleanup_source_ struct source source = { 0 };
	enum exit_status status = source_open(&source, options);
	struct output output;

	if (!status)
		status = source_observe(&source, options);
	if (!status && output_begin(&output, options->output, OUTPUT_MODE))
		status = EXIT_CANNOT;
	if (status)
		return status;
	status = options->format == FORMAT_JSON ? print_json(&source) : print_text(&source);
	return output_end(&output, !status) ? EXIT_CANNOT : status;
}
