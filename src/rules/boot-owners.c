/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boot-owners.c - other programs that manage the settings which this program checks. */
#include <string.h>

#include "evaluate/skip.h"
#include "parse/modname.h"
#include "query/bootargs.h"
#include "query/distribution.h"

#define TUNED_OPTIONS "/etc/modprobe.d/tuned.conf"

static const char *source_fact(struct rule_context *ctx, const struct cmdline_text *source)
{
	return ITEM_FACT(ctx->arena, ctx->node, cmdline.sources, source, text);
}

/* ---- kernel arguments ---- */

/* iommu=force and iommu=nopt override iommu=pt. */
static bool undoes_passthrough(const char *text)
{
	return bootargs_find(text, "iommu", "force") || bootargs_find(text, "iommu", "nopt") ||
	       bootargs_find(text, "iommu.passthrough", "0");
}

static const struct kparam *first_of_ours(const char *text, struct kparam *arg)
{
	struct bootargs args = bootargs_of(text);

	while (bootargs_next(&args, arg))
		if (bootargs_is_ours(arg))
			return arg;
	return NULL;
}

/* fwupd's "security --fix" and the ANSSI profiles of OpenSCAP both write this argument and leave no other trace. */
static void check_forced(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *running = is_known(node->cmdline.running) ? node->cmdline.running.value : "";
	const char *staged = bootargs_staged(node);
	const char *fact = NULL;

	if (bootargs_find(running, "iommu", "force"))
		fact = "cmdline.running";
	if (staged && bootargs_find(staged, "iommu", "force"))
		fact = "cmdline.staged.text";
	for_each(s, &node->cmdline.sources)
		if (!fact && is_known(s->text) && !str_is(s->variable, "TUNED_BOOT_CMDLINE") &&
		    bootargs_find(s->text.value, "iommu", "force"))
			fact = source_fact(ctx, s);
	if (fact)
		FAIL_AS(ctx, SEVERITY_WARN, .subject = "iommu=force",
			.observed = "iommu=force is on the command line: fwupd (fwupdmgr security "
				    "--fix) and OpenSCAP (grub2_enable_iommu_force) write it",
			.expected = "iommu=pt",
			.remedy =
				"Run fwupdmgr security-undo, or deselect grub2_enable_iommu_force in "
				"the OpenSCAP tailoring file. Then remove iommu=force.",
			.evidence = { fact });
}

static void check_tuned_arguments(struct rule_context *ctx)
{
	for_each(s, &ctx->node->cmdline.sources) {
		struct kparam arg;
		bool undoes;

		if (!str_is(s->variable, "TUNED_BOOT_CMDLINE") || !is_known(s->text) ||
		    !first_of_ours(s->text.value, &arg))
			continue;
		undoes = undoes_passthrough(s->text.value);
		FAIL_AS(ctx, undoes ? SEVERITY_WARN : SEVERITY_INFO, .subject = s->file.value,
			.observed = text_printf(ctx, "TuneD adds to every boot: %s", s->text.value),
			.expected = undoes ? "iommu=pt" : NULL,
			.remedy =
				"Change the bootloader section of the TuneD profile, then activate "
				"the profile again.",
			.then = THEN_REBOOT,
			.evidence = { source_fact(ctx, s),
				      "services.units[tuned.service].enabled" });
	}
}

static const struct cmdline_text *last_of(const struct cmdline_facts *cmdline, const char *variable)
{
	const struct cmdline_text *last = NULL;

	for_each(s, &cmdline->sources)
		if (str_is(s->variable, variable) && is_known(s->text))
			last = s;
	return last;
}

/* A file of grub.d that assigns the variable again: Ubuntu's cloud images have 50-cloudimg-settings.cfg. */
static bool check_overridden(struct rule_context *ctx, const char *variable)
{
	const struct cmdline_facts *cmdline = &ctx->node->cmdline;
	const struct cmdline_text *last = last_of(cmdline, variable);
	struct bootargs_set kept;

	if (!last)
		return false;
	kept = bootargs_set_of(last->text.value, ctx->arena);
	for_each(s, &cmdline->sources) {
		bool earlier = s < last && str_is(s->variable, variable) && is_known(s->text);
		struct bootargs args = bootargs_of(earlier ? s->text.value : "");
		struct kparam arg;

		while (bootargs_next(&args, &arg)) {
			if (!bootargs_is_ours(&arg) || bootargs_holds(&kept, &arg))
				continue;
			FAIL_AS(ctx, SEVERITY_WARN, .subject = last->file.value,
				.observed = text_printf(
					ctx, "it assigns %s again, without %.*s%s%.*s of %s",
					s->variable.value, SPAN_FMT(arg.name),
					arg.has_value ? "=" : "", SPAN_FMT(arg.value),
					s->file.value),
				.expected = "an assignment that keeps the arguments of other files",
				.impact = "The argument of the earlier file has no effect.",
				.then = THEN_REBOOT,
				.remedy =
					"Add the argument in a file of /etc/default/grub.d that is read last, and "
					"write the boot entries again.",
				.command = shell_add_argument(
					ctx->arena, ctx->node,
					text_printf(ctx, "%.*s%s%.*s", SPAN_FMT(arg.name),
						    arg.has_value ? "=" : "", SPAN_FMT(arg.value))),
				.evidence = { source_fact(ctx, last), source_fact(ctx, s) });
			return true;
		}
	}
	return false;
}

/* ---- options of modules ---- */

/* The assignment of another file to the same parameter, with another value. */
static const struct modprobe_assignment *contradicted(const struct node *node,
						      const struct modprobe_assignment *by)
{
	for_each(a, &node->modprobe.assignments)
		if (a != by && str_is(a->module, by->module.value) &&
		    str_is(a->param, by->param.value) && !str_is(a->file, by->file.value) &&
		    !str_is(a->value, by->value.value))
			return a;
	return NULL;
}

static void check_tuned_options(struct rule_context *ctx)
{
	const struct modprobe_assignment *own = NULL, *other = NULL;

	for_each(a, &ctx->node->modprobe.assignments) {
		if (!str_is(a->file, TUNED_OPTIONS) || !modname_is_ours(span_of(a->module.value)))
			continue;
		if (!own || !other) {
			own = a;
			other = contradicted(ctx->node, a);
		}
	}
	if (!own)
		return;
	FAIL_AS(ctx, other ? SEVERITY_WARN : SEVERITY_INFO, .subject = TUNED_OPTIONS,
		.observed = other ? text_printf(ctx, "TuneD sets %s %s=%s, and %s sets %s",
						own->module.value, own->param.value,
						own->value.value, other->file.value,
						other->value.value)
				  : text_printf(ctx, "TuneD sets %s %s=%s", own->module.value,
						own->param.value, own->value.value),
		.expected = other ? "one value for each option" : NULL,
		.remedy = "Change the modules section of the TuneD profile, then activate the "
			  "profile again.",
		.evidence = { ITEM_FACT(ctx->arena, ctx->node, modprobe.assignments, own, value),
			      "services.units[tuned.service].enabled" });
}

static const struct modprobe_options *host_options(const struct node *node)
{
	for_each(o, &node->modprobe.options)
		if (str_starts(o->module, "nvidia") && !str_is(o->file, "/proc/cmdline") &&
		    strstr(o->text.value, "NVreg_"))
			return o;
	return NULL;
}

/* A container with its own modprobe.d loaded the driver. */
static void check_operator(struct rule_context *ctx)
{
	const struct modprobe_options *options = host_options(ctx->node);

	if (!is_known(ctx->node->services.driver_container))
		return;
	FAIL_AS(ctx, options ? SEVERITY_WARN : SEVERITY_INFO, .subject = "GPU Operator",
		.observed =
			options ? text_printf(
					  ctx,
					  "its driver container loads the driver and does not read the "
					  "options in %s",
					  options->file.value)
				: "its driver container loads the driver with its own options",
		.expected = options ? "the options in the operator's ConfigMap" : NULL,
		.remedy =
			"Put the options into a ConfigMap with the key nvidia.conf, and name it in "
			"driver.kernelModuleConfig.name of the ClusterPolicy.",
		.evidence = {
			"services.driver_container",
			options ? ITEM_FACT(ctx->arena, ctx->node, modprobe.options, options, text)
				: NULL });
}

static void check_owner(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	check_forced(ctx);
	check_tuned_arguments(ctx);
	if (!check_overridden(ctx, "GRUB_CMDLINE_LINUX"))
		check_overridden(ctx, "GRUB_CMDLINE_LINUX_DEFAULT");
	check_tuned_options(ctx);
	check_operator(ctx);
	if (ctx->findings->count > before)
		return;
	if (!was_read(ctx->node->cmdline.sources))
		UNKNOWN(ctx, .evidence = { "cmdline.sources" });
	else if (!skip_without_modprobe(ctx) && !skip_unless_modprobe_whole(ctx))
		PASS(ctx, .evidence = { "cmdline.sources", "modprobe.files" });
}

static const struct rule boot_owners_rules[] = {
	{
		.id = "boot/second-owner",
		.title = "Another program manages a setting and will overwrite changes to it",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_owner,
		.impact = "The next run of that program undoes a change by hand.",
		.remedy = "Change the setting in the configuration of the program that manages it.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"/etc/tuned/bootcmdline, /etc/modprobe.d/tuned.conf, /run/nvidia/driver, /etc/default/grub with "
			"grub.d, and the kernel command line.",
		.why = "TuneD, fwupd, OpenSCAP, the GPU Operator and cloud images write kernel arguments or driver options. "
		       "Where they agree with the other files this is a note. iommu=force can also have been written by hand.",
		.check = "tuned-adm active; cat /etc/tuned/bootcmdline; ls /etc/default/grub.d",
		.sources =
			"TuneD 2.28.0-rc.1: tuned/consts.py, tuned/plugins/plugin_bootloader.py, plugin_modules.py\n"
			"fwupd 6e9504964 (2026-08-21): plugins/iommu/fu-iommu-plugin.c\n"
			"ComplianceAsCode/content b3a2cca935 (2026-08-21): rule grub2_enable_iommu_force\n"
			"github.com/NVIDIA/gpu-driver-container 06a208c (2026-08-17): rhel10/nvidia-driver (kernel module parameters)",
	},
};

RULE_TABLE(boot_owners);
