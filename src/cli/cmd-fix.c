/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd-fix.c - fix: plans the repairs and shows them; --apply carries the plan out as a transaction. */
#include <fnmatch.h>

#include "advice/steps.h"
#include "base/shell.h"
#include "cli/apply-plan.h"
#include "cli/cmd.h"
#include "cli/source.h"
#include "render/render.h"

static enum exit_status check_rules(const struct options *options)
{
	size_t count;
	const struct rule *const *rules = rule_all(&count);

	for (size_t i = 0; i < options->args_count; i++) {
		size_t k = 0;

		while (k < count && fnmatch(options->args[i], rules[k]->id, 0) != 0)
			k++;
		if (k == count)
			return refuse_rule(options->args[i]);
	}
	return EXIT_WELL;
}

static enum exit_status check_use(const struct options *options)
{
	if (options->args_count && options->all) {
		complain("--all and rules cannot be used together");
		return EXIT_USAGE;
	}
	if (options->apply && options->from) {
		complain("--apply changes a machine; it cannot be used with --from");
		return EXIT_USAGE;
	}
	if (!options->apply && (options->yes || options->plan || options->no_regenerate ||
				options->writable_parents)) {
		complain(
			"--yes, --plan, --no-regenerate and --allow-writable-parents need --apply");
		return EXIT_USAGE;
	}
	return check_rules(options);
}

/* Returns the command that applies the plan, or NULL if the user gave an option that it does not repeat. */
static const char *apply_command(struct arena *arena, const struct options *options)
{
	struct arena_text text = { .arena = arena };

	if (options->config || options->skip[0] || options->hardware || options->kernel ||
	    options->pid || options->reload || options->timeout_ms)
		return NULL;
	arena_add(&text, "sudo nvnodecheck fix --apply%s", options->all ? " --all" : "");
	if (options->profiles)
		arena_add(&text, " --profile %s", steps_profile_words(options->profiles, arena));
	if (options->root)
		arena_add(&text, " --root %s", shell_quote(arena, options->root));
	for (size_t i = 0; i < options->args_count; i++)
		arena_add(&text, " %s", shell_quote(arena, options->args[i]));
	return arena_added(&text);
}

static enum exit_status show(const struct plan *plan, const struct report *report,
			     const struct options *options)
{
	enum exit_status status = plan->refused ? EXIT_CANNOT : EXIT_WELL;
	struct render_options how = options->render;

	how.command = apply_command(plan->arena, options);
	return options->format == FORMAT_JSON ? render_plan_json(plan, report, status)
					      : render_plan_text(plan, report, &how, status);
}

static enum exit_status plan_and_apply(const struct source *source, const struct settings *settings,
				       const struct options *options)
{
	struct report *report;
	struct plan *plan = apply_make_plan(source, settings, options, &report);

	return options->apply ? apply_plan(source, settings, options, plan, report)
			      : show(plan, report, options);
}

/* Reads the configuration before a plan is made, because it may exclude repairs. */
static enum exit_status need_settings(const struct source *source, const struct options *options)
{
	if (options->from)
		return EXIT_WELL;
	for_each(gap, &source->node->gaps)
		if (str_is(gap->probe, "configuration")) {
			complain("no repair without the configuration: %s: %s", gap->path.value,
				 gap->why.value);
			return EXIT_CANNOT;
		}
	return EXIT_WELL;
}

enum exit_status cmd_fix(const struct options *options)
{
	_cleanup_source_ struct source source = { 0 };
	const struct settings *settings;
	bool changed = false;
	enum exit_status status = check_use(options);

	if (!status)
		status = source_open(&source, options);
	if (!status && options->apply)
		status = apply_prepare(&source, options, &changed);
	if (!status)
		status = source_read_node(&source, options, false, &settings);
	if (!status)
		status = need_settings(&source, options);
	if (!status)
		status = plan_and_apply(&source, settings, options);
	/* Rolling back an interrupted transaction has changed the node. */
	return (status == EXIT_CANNOT || status == EXIT_USAGE) && changed ? EXIT_UNCONFIRMED
									  : status;
}
