/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules-views.c - modules of which libkmod and /proc/modules tell different things (rule modules/views-disagree). */
#include "evaluate/skip.h"

static const char *state_text(const struct fact_enum *state)
{
	return is_known(*state) ? module_state_words[state->value] : "not loaded";
}

static void check_views(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	/* A container often has a part of /proc or /sys. */
	enum severity severity = is_known(node->os.container) ? SEVERITY_INFO : SEVERITY_WARN;

	if (is_absent(node->modules.views)) {
		NOT_APPLICABLE(
			ctx,
			.observed = "files alone were read: there is no answer of libkmod to hold "
				    "against them",
			.evidence = { "modules.views" });
		return;
	}
	if (is_unknown(node->modules.views)) {
		UNKNOWN(ctx, .evidence = { "modules.views" });
		return;
	}
	for_each(view, &node->modules.views)
		FAIL_AS(ctx, severity, .subject = view->name.value,
			.observed =
				text_printf(ctx, "libkmod says \"%s\", /proc/modules says \"%s\"",
					    state_text(&view->libkmod), state_text(&view->file)),
			.expected = "one answer",
			.evidence = {
				fact_path(ctx->arena, "modules.views", view->name.value, "libkmod"),
				fact_path(ctx->arena, "modules.views", view->name.value, "file") });
	if (!node->modules.views.count)
		PASS(ctx, .evidence = { "modules.views" });
}

static const struct rule modules_views_rules[] = {
	{
		.id = "modules/views-disagree",
		.title =
			"Programs disagree about which modules are loaded: /proc/modules and /sys/module differ",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_views,
		.impact =
			"modprobe and programs with libkmod get another list of modules than those that read /proc/modules, such as "
			"lsmod in scripts. Findings about modules can be wrong.",
		.remedy =
			"Run this on the host, or give the container the host's /proc and /sys. On a host look again: a "
			"module that is being loaded changes between the two reads.",
		.activation = ACTIVATION_RECREATE,
		.reads =
			"On a live host: libkmod's answers, and /proc/modules, for modules of GPUs and RDMA.",
		.why = "The kernel shows each loaded module in both. They differ where one of them is hidden or not the kernel's: "
		       "a container with a part of /proc or /sys, or a file mounted over one. In a container the "
		       "finding is a note. The rule compares two answers of a running host. In files that were copied from one "
		       "there is one answer, so the rule does not apply; a capture of a running host has both.",
		.check = "lsmod | grep -E 'nvidia|mlx5|ib_'; cat /sys/module/nvidia/initstate",
		.sources = "kmod 34: libkmod/libkmod-module.c, kmod_module_get_initstate() and "
			   "kmod_module_new_from_loaded()\n"
			   "Linux 6.12.117: kernel/module/procfs.c (m_show)",
	},
};

RULE_TABLE(modules_views);
