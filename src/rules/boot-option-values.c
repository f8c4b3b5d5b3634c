/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boot-option-values.c - option values that stop their module from loading. */
#include <string.h>

#include "evaluate/skip.h"
#include "query/option-value.h"
#include "query/setting.h"

static void check_value(struct rule_context *ctx, const struct modprobe_assignment *a,
			const struct module_file *file)
{
	const char *subject = text_printf(ctx, "%s.%s", file->name.value, a->param.value);
	const char *value = is_known(a->value) ? a->value.value : NULL;
	const char *type, *why = option_refused(ctx->node, a, &type);

	if (!why || rule_has_answered(ctx, subject))
		return;
	FAIL(ctx, .subject = subject,
	     .observed =
		     value ? text_printf(ctx, "\"%.60s\" %s: the kernel does not load %s with it",
					 value, why, file->name.value)
			   : text_printf(ctx, "its value %s: the kernel does not load %s with it",
					 why, file->name.value),
	     .expected = text_printf(ctx, "a value of its type, %s", type),
	     .evidence = { ITEM_FACT(ctx->arena, ctx->node, modprobe.assignments, a, value) });
}

/* All assignments count, not only the last one: the kernel parses them in turn. */
static void check_values(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	size_t before = ctx->findings->count, seen = 0, unread = 0;

	if (skip_without_modprobe(ctx))
		return;
	for_each(a, &node->modprobe.assignments) {
		const struct module_file *file = option_file(node, a->module.value);

		if (file && is_known(file->parameter_types)) {
			seen++;
			check_value(ctx, a, file);
		} else if (setting_is_nvidia(node, a->module.value)) {
			unread += file || !was_read(node->modules.files) ||
				  !is_known(node->os.kernel);
		}
	}
	if (ctx->findings->count > before)
		return;
	if (unread)
		UNKNOWN(ctx, .evidence = { "modules.files" });
	else if (skip_unless_modprobe_whole(ctx))
		return;
	else if (seen)
		PASS(ctx, .evidence = { "modprobe.assignments", "modules.files" });
	else
		NOT_APPLICABLE(ctx, .observed = "no option of a GPU or RDMA module is configured");
}

static const struct rule boot_option_values_rules[] = {
	{
		.id = "boot/option-value-refused",
		.title =
			"A module will not load at the next boot: the kernel refuses an option's value",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_values,
		.impact =
			"After the next boot the module is missing. With nvidia all GPUs are missing.",
		.remedy = "Correct the value or remove the option before the next boot.",
		.fix = { "remove-refused-value" },
		.activation = ACTIVATION_REBOOT,
		.reads =
			"The configured options, and the parameter types that the modules of the running kernel declare.",
		.why = "The kernel ignores unknown parameter names, but refuses a module for a value of another type: \"`yes' "
		       "invalid for parameter\". Most NVreg_ parameters are signed numbers of 32 bits, so 0xffffffff does not "
		       "fit. Text has at most 1024 bytes. Y and N are for the type bool.",
		.check =
			"modinfo -p nvidia; after a failed load: dmesg | grep 'invalid for parameter'",
		.sources =
			"Linux 6.1.192: kernel/params.c (param_set_charp, parse_args), lib/kstrtox.c",
	},
};

RULE_TABLE(boot_option_values);
