/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-facts.c - facts: the facts of a node, all or by path. */
#include <errno.h>

#include "base/json-stream.h"
#include "base/output.h"
#include "cli/cmd.h"
#include "cli/source.h"
#include "render/render.h"

/* Section by section. */
static enum exit_status print_all(const struct node *node)
{
	struct json_stream s;

	json_stream_begin(&s, stdout, RENDER_JSON_FLAGS, json_document("nvnodecheck-facts"));
	for (size_t i = 0; i < node_desc.count; i++) {
		const struct field *f = &node_desc.fields[i];
		const void *value = (const char *)node + f->offset;
		enum fact_state state = field_state(f, value);

		if (state != FACT_UNKNOWN)
			json_stream_put(&s, f->name,
					state == FACT_KNOWN ? field_to_json(f, value) : NULL);
	}
	json_stream_end(&s);
	return finish_output(EXIT_WELL);
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
