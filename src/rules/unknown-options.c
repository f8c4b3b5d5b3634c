/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unknown-options.c - options that the driver does not have, and values that no module takes. */
#include <string.h>

#include "judge/gate.h"
#include "judge/option-value.h"
#include "judge/setting.h"

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
static const char *ignored_parameter(struct judge *j, const char **text)
{
	static const char start[] = " nvidia: unknown parameter '";
	const struct log_line *line = node_log(j->node, "unknown-parameter");
	const char *at = NULL;

	if (line)
		at = strstr(*text = line->last.value, start);
	if (line && !at)
		at = strstr(*text = line->first.value, start);
	if (!at)
		return NULL;
	at += sizeof(start) - 1;
	return say(j, "%.*s", (int)strcspn(at, "'"), at);
}

static void judge_ignored(struct judge *j)
{
	const char *text = NULL, *name = ignored_parameter(j, &text);

	if (name && !judge_has_answered(j, name))
		FAIL(j, .subject = name, .observed = text,
		     .expected = "a parameter that 'modinfo -p nvidia' lists",
		     .remedy = "If it was taken out of modprobe.d since the driver was loaded, nothing is left to "
			       "do. Else look where modprobe.d does not show it: in the initramfs, in the options "
			       "of a driver container, in a script that loads the driver.",
		     .evidence = { "log.lines[unknown-parameter].last" });
}

static void judge_unknown_parameter(struct judge *j)
{
	const struct node *node = j->node;
	const struct module_file *file = file_with_parameters(node);
	size_t before = j->findings->count, seen = 0;

	if (gate_no_modprobe(j))
		return;
	for_each(a, &node->modprobe.assignments) {
		const char *fact = say(j, "modprobe.assignments[#%zu].param",
				       (size_t)(a - node->modprobe.assignments.items));

		if (!is_known(a->module) || !setting_is_nvidia(node, a->module.value))
			continue;
		seen++;
		if (!file && !is_known(node->driver.params))
			UNKNOWN(j, .subject = a->param.value, .evidence = { "modules.files" });
		else if (!is_parameter(node, file, a->param.value))
			FAIL(j, .subject = a->param.value,
			     .observed = "the installed driver has no such parameter",
			     .expected = "a parameter that 'modinfo -p nvidia' lists",
			     .evidence = { fact });
	}
	judge_ignored(j);
	if (j->findings->count > before || gate_modprobe_unread(j))
		return;
	if (seen)
		PASS(j, .evidence = { "modprobe.assignments" });
	else
		NOT_APPLICABLE(j, .observed = "no option of the NVIDIA driver is configured");
}

/* ---- values ---- */

static void judge_value(struct judge *j, const struct modprobe_assignment *a,
			const struct module_file *file)
{
	const char *subject = say(j, "%s.%s", file->name.value, a->param.value);
	const char *value = is_known(a->value) ? a->value.value : NULL;
	const char *type, *why = option_refused(j->node, a, &type);

	if (!why || judge_has_answered(j, subject))
		return;
	FAIL(j, .subject = subject,
	     .observed = value ? say(j, "\"%.60s\" %s: the kernel will not load %s with it", value, why,
				     file->name.value)
			       : say(j, "its value %s: the kernel will not load %s so", why,
				     file->name.value),
	     .expected = say(j, "a value of its type, %s", type),
	     .evidence = { say(j, "modprobe.assignments[#%zu].value",
			       (size_t)(a - j->node->modprobe.assignments.items)) });
}

/* All assignments count, not the last one alone: the kernel takes them in turn. */
static void judge_values(struct judge *j)
{
	const struct node *node = j->node;
	size_t before = j->findings->count, seen = 0, unread = 0;

	if (gate_no_modprobe(j))
		return;
	for_each(a, &node->modprobe.assignments) {
		const struct module_file *file = option_file(node, a->module.value);

		if (file && is_known(file->parameter_types)) {
			seen++;
			judge_value(j, a, file);
		} else if (setting_is_nvidia(node, a->module.value)) {
			unread += file || !is_told(node->modules.files);
		}
	}
	if (j->findings->count > before)
		return;
	if (unread)
		UNKNOWN(j, .evidence = { "modules.files" });
	else if (gate_modprobe_unread(j))
		return;
	else if (seen)
		PASS(j, .evidence = { "modprobe.assignments", "modules.files" });
	else
		NOT_APPLICABLE(j, .observed = "no option of a GPU or RDMA module is configured");
}

static const struct rule unknown_options_rules[] = {
	{
		.id = "driver/unknown-module-parameter",
		.title = "An option is set that the driver does not have",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.judge = judge_unknown_parameter,
		.impact = "The option does nothing: misspelt, or gone from this driver.",
		.remedy = "Correct the name, or remove it.",
		.fix = "modprobe-option",
		.activation = ACTIVATION_REBOOT,
		.reads = "Configured options against the parameters that nvidia.ko on disk "
			 "declares, and \"unknown parameter\" of nvidia in the kernel log.",
		.why = "The kernel loads the module all the same and logs \"unknown parameter ... "
		       "ignored\". Parameters do disappear: NVreg_UsePageAttributeTable with 610.",
		.check = "modinfo -p nvidia; dmesg | grep 'unknown parameter'",
		.sources = "Linux: kernel/module/main.c\ngithub.com/CachyOS/CachyOS-PKGBUILDS "
			   "issue 1678",
	},
	{
		.id = "boot/option-value-refused",
		.title = "An option has a value that stops its module from being loaded",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.judge = judge_values,
		.impact = "The module is gone after the next boot, and with nvidia all GPUs.",
		.remedy = "Correct the value, or remove the option, before the next boot.",
		.fix = "modprobe-option",
		.activation = ACTIVATION_REBOOT,
		.reads = "Configured options against the types that the .ko of the running kernel declares for "
			 "its parameters.",
		.why = "A name that a module does not have is passed over; a value that its type does not take is "
		       "not: the kernel logs \"`yes' invalid for parameter\" and refuses the module. NVreg_ "
		       "parameters are signed numbers of 32 bits (0xffffffff does not fit) or text of at most "
		       "1024 bytes; Y and N are for those of type bool.",
		.check = "modinfo -p nvidia; after a load that failed: dmesg | grep 'invalid for parameter'",
		.sources = "Linux: kernel/params.c, lib/kstrtox.c",
	},
};

RULE_TABLE(unknown_options);
