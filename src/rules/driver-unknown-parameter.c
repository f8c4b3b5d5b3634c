/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-unknown-parameter.c - options that the installed driver does not have (rules driver/...). */
#include <string.h>

#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/nvreg.h"
#include "query/option-value.h"
#include "query/setting.h"

static const struct module_file *file_with_parameters(const struct node *node)
{
	const struct module_file *file = option_file(node, "nvidia");

	return file && file->parameters.count ? file : NULL;
}

/* Looks in the driver's file on disk; without it, in the parameters of the running driver. */
static bool is_parameter(const struct node *node, const struct module_file *file,
			 const char *option)
{
	const char *name = setting_param_name(option);

	for (uint32_t i = 0; file && i < file->parameters.count; i++)
		if (strcmp(file->parameters.items[i], option) == 0)
			return true;
	return !file && name && node_param(node, name);
}

/* The release of data/nvreg.tsv. */
#define TABLE_RELEASE "595.45.04"

/* A parameter that a later driver has, and that GPU and RDMA work does not depend on: distributions and images
 * configure for several releases. One that a later driver has no more is a setting that got lost. */
static bool is_harmless(const struct node *node, const struct module_file *file, const char *option)
{
	const struct fact_str *version = file && is_known(file->version) ? &file->version
									 : &node->driver.version;
	const char *name = setting_param_name(option);

	if (!name || !is_known(*version) || version_compare(version->value, TABLE_RELEASE) >= 0)
		return false;
	for (const struct nvreg_param *p = nvreg_params; p->name; p++)
		if (strcmp(p->name, name) == 0)
			return !p->watched;
	return false;
}

/* "nvidia: unknown parameter 'NVreg_X' ignored": given to the running driver, in whichever way. */
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
		FAIL_AS(ctx,
			is_harmless(ctx->node, file_with_parameters(ctx->node), name)
				? SEVERITY_INFO
				: SEVERITY_WARN,
			.subject = name, .observed = text,
			.expected = "a parameter that 'modinfo -p nvidia' lists",
			.remedy =
				"Search for the option in the initramfs, in the options of a driver container and in "
				"scripts that load the driver: modprobe.d does not have it now. Remove it there.",
			.evidence = { "log.lines[unknown-parameter].modules[nvidia].last" });
}

/* Options of the driver begin with NVreg_, and some guides name them without it. */
static const char *text_of_unknown(struct rule_context *ctx, const struct module_file *file,
				   const char *option)
{
	const char *whole = text_printf(ctx, "NVreg_%s", option);

	return is_parameter(ctx->node, file, whole)
		       ? text_printf(ctx,
				     "the installed driver has no such parameter; its name is %s",
				     whole)
		       : "the installed driver has no such parameter";
}

static void check_unknown_parameter(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct module_file *file = file_with_parameters(node);
	size_t before = ctx->findings->count, seen = 0;

	if (skip_without_modprobe(ctx))
		return;
	for_each(a, &node->modprobe.assignments) {
		const char *fact = ITEM_FACT(ctx->arena, node, modprobe.assignments, a, param);

		if (!is_known(a->module) || !setting_is_nvidia(node, a->module.value))
			continue;
		seen++;
		if (!file && !is_known(node->driver.params))
			UNKNOWN(ctx, .subject = a->param.value, .evidence = { "modules.files" });
		else if (!is_parameter(node, file, a->param.value))
			FAIL_AS(ctx,
				is_harmless(node, file, a->param.value) ? SEVERITY_INFO
									: SEVERITY_WARN,
				.subject = a->param.value,
				.observed = text_of_unknown(ctx, file, a->param.value),
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
		.title = "A driver option has no effect: this driver has no such parameter",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_unknown_parameter,
		.impact =
			"The option does nothing. It is misspelt, or this driver no longer has it.",
		.remedy = "Correct the name of the option, or remove it.",
		.fix = { "remove-unknown-option" },
		.activation = ACTIVATION_REBOOT,
		.reads =
			"Configured options, the parameters that nvidia.ko on disk declares, and \"unknown "
			"parameter\" of nvidia in the kernel log.",
		.why = "The kernel loads the module and logs \"unknown parameter ... ignored\". Parameters "
		       "disappear: NVreg_UsePageAttributeTable exists in 595.45.04, and 610.43.03 ignores "
		       "it. A parameter that a later driver has, and that peer-to-peer and RDMA do not depend on, is a note.",
		.check = "modinfo -p nvidia; dmesg | grep 'unknown parameter'",
		.sources = "Linux 6.12.117: kernel/module/main.c (unknown_module_param_cb)\n"
			   "open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-reg.h\n"
			   "github.com/CachyOS/CachyOS-Settings issues 233 and 247 (2026)",
	},
};

RULE_TABLE(driver_unknown_parameter);
