/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-unknown-parameter.c - options that the installed driver does not have. */
#include <string.h>

#include "evaluate/skip.h"
#include "query/option-value.h"
#include "query/setting.h"

static const struct module_file *file_with_parameters(const struct node *node)
{
	const struct module_file *file = option_file(node, "nvidia");

	return file && file->parameters.count ? file : NULL;
}

/* The file says it of the driver that will be loaded; without it, the live list of the one that is.
 */
static bool is_parameter(const struct node *node, const struct module_file *file,
			 const char *option)
{
	const char *name = setting_param_name(option);

	for (uint32_t i = 0; file && i < file->parameters.count; i++)
		if (strcmp(file->parameters.items[i], option) == 0)
			return true;
	return !file && name && node_param(node, name);
}

/* "nvidia: unknown parameter 'NVreg_X' ignored": what was given to the driver that is loaded, by
 * whatever hand. */
static const char *ignored_parameter(struct rule_context *ctx, const char **text)
{
	static const char start[] = " nvidia: unknown parameter '";
	const struct log_line *line = node_log(ctx->node, "unknown-parameter");
	const struct log_subject *own = log_of_module(line, "nvidia");
	const char *at = NULL;

	if (own)
		at = strstr(*text = own->last.value, start);
	if (!at)
		return NULL;
	at += sizeof(start) - 1;
	return text_printf(ctx, "%.*s", (int)strcspn(at, "'"), at);
}

static void check_ignored(struct rule_context *ctx)
{
	const char *text = NULL, *name = ignored_parameter(ctx, &text);

	if (name && !rule_has_answered(ctx, name))
		FAIL(ctx, .subject = name, .observed = text,
		     .expected = "a parameter that 'modinfo -p nvidia' lists",
		     .remedy =
			     "If it was taken out of modprobe.d since the driver was loaded, nothing is left to "
			     "do. Else look where modprobe.d does not show it: in the initramfs, in the options "
			     "of a driver container, in a script that loads the driver.",
		     .evidence = { "log.lines[unknown-parameter].modules[nvidia].last" });
}

static void check_unknown_parameter(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct module_file *file = file_with_parameters(node);
	size_t before = ctx->findings->count, seen = 0;

	if (skip_without_modprobe(ctx))
		return;
	for_each(a, &node->modprobe.assignments) {
		const char *fact = text_printf(ctx, "modprobe.assignments[#%zu].param",
					       (size_t)(a - node->modprobe.assignments.items));

		if (!is_known(a->module) || !setting_is_nvidia(node, a->module.value))
			continue;
		seen++;
		if (!file && !is_known(node->driver.params))
			UNKNOWN(ctx, .subject = a->param.value, .evidence = { "modules.files" });
		else if (!is_parameter(node, file, a->param.value))
			FAIL(ctx, .subject = a->param.value,
			     .observed = "the installed driver has no such parameter",
			     .expected = "a parameter that 'modinfo -p nvidia' lists",
			     .evidence = { fact });
	}
	check_ignored(ctx);
	if (ctx->findings->count > before || skip_unless_modprobe_whole(ctx))
		return;
	if (seen)
		PASS(ctx, .evidence = { "modprobe.assignments" });
	else
		NOT_APPLICABLE(ctx, .observed = "no option of the NVIDIA driver is configured");
}

static const struct rule driver_unknown_parameter_rules[] = {
	{
		.id = "driver/unknown-module-parameter",
		.title = "An option is set that the driver does not have",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_unknown_parameter,
		.impact = "The option does nothing: misspelt, or gone from this driver.",
		.remedy = "Correct the name, or remove it.",
		.fix = { "remove-unknown-option" },
		.activation = ACTIVATION_REBOOT,
		.reads = "Configured options against the parameters that nvidia.ko on disk "
			 "declares, and \"unknown parameter\" of nvidia in the kernel log.",
		.why = "The kernel loads the module all the same and logs \"unknown parameter ... "
		       "ignored\". Parameters do disappear: NVreg_UsePageAttributeTable with 610.",
		.check = "modinfo -p nvidia; dmesg | grep 'unknown parameter'",
		.sources = "Linux: kernel/module/main.c\ngithub.com/CachyOS/CachyOS-PKGBUILDS "
			   "issue 1678",
	},
};

RULE_TABLE(driver_unknown_parameter);
