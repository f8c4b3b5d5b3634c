/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-facts.c - facts: the facts of a node, all or by path. */
#include <errno.h>

#include "base/json.h"
#include "base/output.h"
#include "cli/cmd.h"
#include "cli/source.h"
#include "render/render.h"

static enum exit_status print_all(const struct node *node)
{
	_cleanup_json_ struct json_object *document = json_document("nvnodecheck-facts");
	_cleanup_json_ struct json_object *facts = fact_to_json(&node_desc, node);

	json_object_object_foreach(facts, key, value)
		json_put(document, key, json_object_get(value));
	return render_json(document, EXIT_WELL);
}

/* An unknown fact prints nothing, an absent one null: as in the whole document. */
static enum exit_status print_one(struct source *source, const char *path)
{
	_cleanup_json_ struct json_object *value = NULL;
	struct fact_ref ref;
	int rc = fact_find(&node_desc, source->node, path, source->arena, &ref);

	if (rc) {
		complain(rc == -ENOENT ? "%s: this node has no such item" : "%s: no such fact",
			 path);
		return rc == -ENOENT ? EXIT_CANNOT : EXIT_USAGE;
	}
	if (fact_ref_state(&ref) == FACT_UNKNOWN) {
		complain("%s: unknown", path);
		return EXIT_INCOMPLETE;
	}
	value = fact_ref_json(&ref);
	return render_json(value, EXIT_WELL);
}

static enum exit_status facts_print(struct source *source, const struct options *options)
{
	return options->args_count ? print_one(source, options->args[0]) : print_all(source->node);
}

enum exit_status cmd_facts(const struct options *options)
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
	status = facts_print(&source, options);
	return output_end(&output, !status) ? EXIT_CANNOT : status;
}
