/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boot-argument-harmful.c - kernel arguments of data/kernel-arguments.tsv (rule boot/argument-harmful). */
#include <fnmatch.h>
#include <string.h>

#include "base/array.h"
#include "base/span.h"
#include "evaluate/skip.h"

static const struct harmful {
	const char *key;
	const char *value; /* a pattern; NULL: the argument has none */
	enum severity severity;
	const char *effect;
	const char *source;
} rows[] = {
#include "kernel-arguments.inc"
};

static bool has_part(struct rule_context *ctx, const char *text, const char *pattern)
{
	struct span rest = span_of(text), part;

	while (span_cut(&rest, ',', &part))
		if (fnmatch(pattern, text_printf(ctx, "%.*s", SPAN_FMT(part)), 0) == 0)
			return true;
	return false;
}

static bool is_row(struct rule_context *ctx, const struct harmful *row,
		   const struct cmdline_arg *arg)
{
	if (!str_is(arg->key, row->key))
		return false;
	if (!row->value || !is_known(arg->value))
		return !row->value && is_absent(arg->value);
	return has_part(ctx, arg->value.value, row->value);
}

static void check_argument(struct rule_context *ctx, const struct cmdline_arg *arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *subject;

		if (!is_row(ctx, &rows[i], arg))
			continue;
		subject = rows[i].value
				  ? text_printf(ctx, "%s=%s", arg->key.value, arg->value.value)
				  : arg->key.value;
		if (!rule_has_answered(ctx, subject))
			FAIL_AS(ctx, rows[i].severity, .subject = subject,
				.observed = rows[i].effect, .expected = "no such argument",
				.then = THEN_REBOOT,
				.remedy = text_printf(
					ctx,
					"Unless it is intended, remove %s from the boot loader's "
					"configuration.",
					subject),
				.source = rows[i].source, .evidence = { "cmdline.args" });
	}
}

static void check_arguments(struct rule_context *ctx)
{
	size_t before;

	if (skip_without_gpu(ctx))
		return;
	if (!was_read(ctx->node->cmdline.args)) {
		UNKNOWN(ctx, .evidence = { "cmdline.args" });
		return;
	}
	before = ctx->findings->count;
	for_each(arg, &ctx->node->cmdline.args)
		check_argument(ctx, arg);
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "cmdline.args" });
}

static const struct rule boot_argument_harmful_rules[] = {
	{
		.id = "boot/argument-harmful",
		.title = "A kernel argument takes away what GPUs or their jobs need",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_arguments,
		.impact =
			"Interrupts, registers, processors or memory are missing, or links are slow.",
		.remedy =
			"Unless it is intended, remove the argument from the boot loader's configuration.",
		.then = THEN_REBOOT,
		.activation = ACTIVATION_REBOOT,
		.reads = "/proc/cmdline.",
		.why = "Such arguments are set to find a fault, for another kind of machine or for a crash kernel, and stay. "
		       "data/kernel-arguments.tsv has them.",
		.check = "cat /proc/cmdline",
		.sources = "Linux 6.1.192: Documentation/admin-guide/kernel-parameters.txt\n"
			   "data/kernel-arguments.tsv of this release: the source of each row",
	},
};

RULE_TABLE(boot_argument_harmful);
