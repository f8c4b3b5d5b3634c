/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boot-cmdline.c - differences between this boot and the next one (rules boot/...): kernel arguments, options of
 * modules, the kernel. */
#include <string.h>

#include "evaluate/skip.h"
#include "query/bootargs.h"
#include "query/distribution.h"
#include "query/option-value.h"
#include "query/registry-keys.h"
#include "query/setting.h"

static const char *format_arg(struct rule_context *ctx, const struct kparam *arg)
{
	if (!arg->has_value)
		return text_printf(ctx, "%.*s", SPAN_FMT(arg->name));
	return text_printf(ctx, "%.*s=%.*s", SPAN_FMT(arg->name), SPAN_FMT(arg->value));
}

static const char *running_text(const struct node *node)
{
	return is_known(node->cmdline.running) ? node->cmdline.running.value : NULL;
}

/* ---- pcie_acs_override ---- */

static void check_acs_override(struct rule_context *ctx)
{
	const char *running = running_text(ctx->node), *staged = bootargs_staged(ctx->node);
	bool now = running && bootargs_find(running, "pcie_acs_override", NULL);
	bool next = staged && bootargs_find(staged, "pcie_acs_override", NULL);

	if (skip_unless_for_gpus(ctx))
		return;
	if (now || next)
		FAIL(ctx,
		     .observed =
			     now && next ? "pcie_acs_override is on the command line"
			     : now ? "pcie_acs_override is on the command line; the next boot "
				     "does not have it"
				   : "pcie_acs_override is on the command line of the next boot",
		     .expected = "no such argument",
		     .evidence = { now ? "cmdline.running" : "cmdline.staged.text" });
	else if (!running)
		UNKNOWN(ctx, .evidence = { "cmdline.running" });
	else
		PASS(ctx, .evidence = { "cmdline.running" });
}

/* ---- sources, entry, running kernel ---- */

/* The texts that boot entries get when they are written again. */
struct feeds {
	const struct cmdline_text *sources[2];
	size_t count;
};

static void add_feed(struct feeds *feeds, const struct cmdline_text *source)
{
	if (source && is_known(source->text))
		feeds->sources[feeds->count++] = source;
}

/* The last assignment of a variable counts. */
static struct feeds grub_feeds(const struct cmdline_facts *cmdline)
{
	const struct cmdline_text *all = NULL, *usual = NULL;
	struct feeds feeds = { .count = 0 };

	for_each(s, &cmdline->sources) {
		if (str_is(s->variable, "GRUB_CMDLINE_LINUX"))
			all = s;
		else if (str_is(s->variable, "GRUB_CMDLINE_LINUX_DEFAULT"))
			usual = s;
	}
	add_feed(&feeds, all);
	add_feed(&feeds, usual);
	return feeds;
}

static struct feeds kernel_install_feeds(const struct cmdline_facts *cmdline)
{
	const struct cmdline_text *file = NULL;
	struct feeds feeds = { .count = 0 };

	for_each(s, &cmdline->sources)
		if (is_absent(s->variable) && str_is(s->file, "/etc/kernel/cmdline"))
			file = s;
	add_feed(&feeds, file);
	return feeds;
}

static struct feeds feeds_of(const struct node *node)
{
	const struct fact_enum *loader = &node->boot.loader;
	bool grub = known_is(*loader, BOOT_GRUB) || known_is(*loader, BOOT_GRUB_BLS);

	return grub ? grub_feeds(&node->cmdline) : kernel_install_feeds(&node->cmdline);
}

/* The argument is in the configuration, but the entries were not written since. */
static void fail_not_written(struct rule_context *ctx, const struct cmdline_text *source,
			     const char *argument)
{
	const char *command = shell_write_entries(ctx->node);

	FAIL(ctx, .subject = argument,
	     .observed = text_printf(ctx, "in %s, and not in the entry that boots next",
				     source->file.value),
	     .expected = "in the entry that boots next",
	     .command = command ? command : shell_add_argument(ctx->arena, ctx->node, argument),
	     .evidence = { ITEM_FACT(ctx->arena, ctx->node, cmdline.sources, source, text),
			   "cmdline.staged.text" });
}

static void check_sources(struct rule_context *ctx, const struct bootargs_set *staged)
{
	struct feeds feeds = feeds_of(ctx->node);

	for (size_t i = 0; i < feeds.count; i++) {
		struct bootargs args = bootargs_of(feeds.sources[i]->text.value);
		struct kparam arg;

		while (bootargs_next(&args, &arg))
			if (bootargs_is_ours(&arg) && !bootargs_holds(staged, &arg) &&
			    !rule_has_answered(ctx, format_arg(ctx, &arg)))
				fail_not_written(ctx, feeds.sources[i], format_arg(ctx, &arg));
	}
}

/* What another boot loader than this node's reads. On Red Hat's systems with boot entries in files the installation
 * of a kernel can read both. */
static struct feeds feeds_of_another(const struct node *node)
{
	const struct fact_enum *loader = &node->boot.loader;

	if (known_is(*loader, BOOT_GRUB))
		return kernel_install_feeds(&node->cmdline);
	return known_is(*loader, BOOT_SYSTEMD_BOOT) || known_is(*loader, BOOT_UKI)
		       ? grub_feeds(&node->cmdline)
		       : (struct feeds){ .count = 0 };
}

static void fail_not_read(struct rule_context *ctx, const struct cmdline_text *source,
			  const char *argument)
{
	const struct fact_enum *loader = &ctx->node->boot.loader;

	FAIL_AS(ctx, SEVERITY_WARN, .subject = argument,
		.observed = text_printf(ctx, "in %s, which %s does not read", source->file.value,
					boot_loader_words[loader->value]),
		.expected = "in the configuration of the loader that boots this node",
		.then = THEN_REBOOT,
		.remedy = text_printf(
			ctx, "Move %s to %s and write the boot entries again.", argument,
			known_is(*loader, BOOT_GRUB) ? "/etc/default/grub" : "/etc/kernel/cmdline"),
		.command = shell_write_entries(ctx->node),
		.evidence = { ITEM_FACT(ctx->arena, ctx->node, cmdline.sources, source, text),
			      "boot.loader" });
}

/* The argument is in a file that the boot loader of this node does not read. */
static void check_other_sources(struct rule_context *ctx, const struct bootargs_set *staged)
{
	struct feeds feeds = feeds_of_another(ctx->node);

	for (size_t i = 0; i < feeds.count; i++) {
		struct bootargs args = bootargs_of(feeds.sources[i]->text.value);
		struct kparam arg;

		while (bootargs_next(&args, &arg))
			if (bootargs_is_ours(&arg) && !bootargs_holds(staged, &arg) &&
			    !rule_has_answered(ctx, format_arg(ctx, &arg)))
				fail_not_read(ctx, feeds.sources[i], format_arg(ctx, &arg));
	}
}

static void check_next(struct rule_context *ctx, const struct bootargs_set *running,
		       const char *staged)
{
	struct bootargs args = bootargs_of(staged);
	struct kparam arg;

	while (bootargs_next(&args, &arg))
		if (bootargs_is_ours(&arg) && !bootargs_holds(running, &arg) &&
		    !rule_has_answered(ctx, format_arg(ctx, &arg)))
			PENDING(ctx, .subject = format_arg(ctx, &arg),
				.observed = "the next boot has it; the running kernel does not",
				.expected = "on the running kernel's command line",
				.remedy = "Reboot.",
				.evidence = { "cmdline.staged.text", "cmdline.running" });
}

/* An argument that takes something away is not offered as a command that can be pasted unread. */
static bool is_often_kept(const struct kparam *arg)
{
	return span_is(arg->name, "iommu") || span_is(arg->name, "intel_iommu") ||
	       span_is(arg->name, "amd_iommu") || span_is(arg->name, "pci");
}

static bool is_in_feeds(const struct bootargs_set *sets, size_t count, const struct kparam *arg)
{
	for (size_t i = 0; i < count; i++)
		if (bootargs_holds(&sets[i], arg))
			return true;
	return false;
}

static void check_lost(struct rule_context *ctx, const char *running,
		       const struct bootargs_set *staged)
{
	struct feeds feeds = feeds_of(ctx->node);
	struct bootargs_set sets[ARRAY_SIZE(feeds.sources)];
	struct bootargs args = bootargs_of(running);
	struct kparam arg;

	for (size_t i = 0; i < feeds.count; i++)
		sets[i] = bootargs_set_of(feeds.sources[i]->text.value, ctx->arena);
	while (bootargs_next(&args, &arg))
		if (bootargs_is_ours(&arg) && !bootargs_holds(staged, &arg) &&
		    !is_in_feeds(sets, feeds.count, &arg) &&
		    !rule_has_answered(ctx, format_arg(ctx, &arg)))
			FAIL_AS(ctx, SEVERITY_WARN, .subject = format_arg(ctx, &arg),
				.observed = "in effect now, and not in the entry that boots next",
				.expected = "in both, or in neither",
				.remedy = text_printf(
					ctx,
					"To keep %s, add it to the boot loader's configuration. If it is not "
					"wanted, only reboot.",
					format_arg(ctx, &arg)),
				.command = is_often_kept(&arg)
						   ? shell_add_argument(ctx->arena, ctx->node,
									format_arg(ctx, &arg))
						   : NULL,
				.evidence = { "cmdline.running", "cmdline.staged.text" });
}

static void check_staged(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *running = running_text(node), *staged = bootargs_staged(node);
	size_t before = ctx->findings->count;
	struct bootargs_set now, next;

	if (is_absent(node->boot.loader)) {
		NOT_APPLICABLE(ctx, .observed = "no boot loader on this node",
			       .evidence = { "boot.loader" });
		return;
	}
	if (!staged || !running) {
		UNKNOWN(ctx, .evidence = { running ? "boot.next_entry" : "cmdline.running" });
		return;
	}
	now = bootargs_set_of(running, ctx->arena);
	next = bootargs_set_of(staged, ctx->arena);
	check_sources(ctx, &next);
	check_other_sources(ctx, &next);
	check_next(ctx, &now, staged);
	/* A kernel that no boot loader started (kexec, a virtual machine's own kernel) was never in an
	 * entry. */
	if (bootargs_find(running, "BOOT_IMAGE", NULL) || bootargs_find(running, "initrd", NULL))
		check_lost(ctx, running, &next);
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "cmdline.running", "cmdline.staged.text" });
}

/* ---- is a reboot pending? ---- */

/* Returns the running value of A's parameter, or NULL if it is unknown or its module is not loaded. */
static const char *running_value(struct rule_context *ctx, const struct modprobe_assignment *a)
{
	const struct module *module = node_module(ctx->node, a->module.value);
	const char *name = setting_param_name(a->param.value);

	if (name && setting_is_nvidia(ctx->node, a->module.value)) {
		struct setting s = setting_nvreg(ctx->node, name, ctx->arena);

		return s.running.state == FACT_KNOWN ? s.running.value : NULL;
	}
	if (module)
		for_each(p, &module->params)
			if (str_is(p->name, a->param.value))
				return is_known(p->value) ? p->value.value : "";
	return NULL;
}

static bool changed_since_boot(const struct node *node, const char *file)
{
	for_each(f, &node->modprobe.files)
		if (str_is(f->path, file))
			return is_known(f->mtime_s) && is_known(node->os.boot_time_s) &&
			       f->mtime_s.value > node->os.boot_time_s.value;
	return false;
}

/* The first option that was written since the boot and is not in effect. boot/option-value-refused reports values
 * that the kernel refuses. */
static const struct modprobe_assignment *waiting_option(struct rule_context *ctx)
{
	for_each(a, &ctx->node->modprobe.assignments) {
		const char *now;

		if (!known_is(a->effective, true) || !is_known(a->value) || !is_known(a->file) ||
		    !changed_since_boot(ctx->node, a->file.value))
			continue;
		now = running_value(ctx, a);
		if (now && !param_gives(now, a->value.value) && !option_refused(ctx->node, a, NULL))
			return a;
	}
	return NULL;
}

static void pend_option(struct rule_context *ctx, const struct modprobe_assignment *option,
			const char *kernel)
{
	PENDING(ctx,
		.observed = text_printf(
			ctx, "%s %s=%s was written after the boot and is not in effect%s",
			option->module.value, option->param.value, option->value.value, kernel),
		.expected = "the configured options in effect",
		.evidence = { ITEM_FACT(ctx->arena, ctx->node, modprobe.assignments, option, value),
			      "os.boot_time_s" });
}

static void check_reboot(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct boot_facts *boot = &node->boot;
	const struct modprobe_assignment *option = waiting_option(ctx);
	bool other_kernel = is_known(boot->next_kernel) && is_known(node->os.kernel) &&
			    !str_is(boot->next_kernel, node->os.kernel.value);
	const char *kernel = other_kernel ? text_printf(ctx, "; the next boot starts kernel %s",
							boot->next_kernel.value)
					  : "";

	if (known_is(boot->reboot_required, true))
		PENDING(ctx,
			.observed = text_printf(ctx, "the distribution asks for a reboot%s",
						kernel),
			.expected = "the installed software in use",
			.evidence = { "boot.reboot_required", "boot.next_kernel" });
	else if (option)
		pend_option(ctx, option, kernel);
	else if (other_kernel)
		NOTE(ctx,
		     .observed = text_printf(ctx, "kernel %s runs; the next boot starts %s",
					     node->os.kernel.value, boot->next_kernel.value),
		     .evidence = { "os.kernel", "boot.next_kernel" });
	else if (is_unknown(boot->reboot_required) && !known_is(node->modprobe.complete, true))
		UNKNOWN(ctx, .evidence = { "boot.reboot_required", "modprobe.complete" });
	else
		PASS(ctx, .evidence = { "boot.reboot_required", "boot.next_kernel" });
}

static const struct rule boot_cmdline_rules[] = {
	{
		.id = "boot/cmdline-acs-override",
		.title = "Devices look isolated and are not: pcie_acs_override is set",
		.profiles = PROFILE_P2P,
		.severity = SEVERITY_WARN,
		.evaluate = check_acs_override,
		.impact =
			"The kernel groups devices as if they were isolated from each other. Requests of peers take the same "
			"path as before.",
		.then = THEN_REBOOT,
		.remedy = "Remove pcie_acs_override from the kernel command line.",
		.fix = { "remove-argument", { "pcie_acs_override" } },
		.activation = ACTIVATION_REBOOT,
		.reads = "The kernel command lines of this boot and of the next one.",
		.why = "Only patched kernels know the argument. It changes IOMMU groups for passthrough, not ACS in the "
		       "hardware. pci/acs-redirect says how to let peers talk below a switch. In one report of failing "
		       "peer-to-peer it appears beside other causes.",
		.check = "grep -o 'pcie_acs_override[^ ]*' /proc/cmdline",
		.sources =
			"github.com/aikitoria/open-gpu-kernel-modules issue 38\n"
			"Linux 6.1.192: Documentation/admin-guide/kernel-parameters.txt (has no such argument)",
	},
	{
		.id = "boot/cmdline-staged-not-live",
		.title = "This boot and the next one have different kernel arguments",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_staged,
		.impact = "An argument is not in effect, or the next boot loses it.",
		.then = THEN_REBOOT,
		.remedy = "Write the boot loader's entries again.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"/proc/cmdline, the entry that boots next, /etc/default/grub, grub.d and /etc/kernel/cmdline. Only "
			"arguments about IOMMU, PCI, huge pages, NUMA balancing and GPU or RDMA modules are compared.",
		.why = "An edit of /etc/default/grub has no effect until the entries are written again. With BLS entries "
		       "grub2-mkconfig of RHEL 9.3 and later leaves the entries as they are, unless it gets "
		       "--update-bls-cmdline; grubby changes them. A file of another boot loader has no effect at all.",
		.check =
			"cat /proc/cmdline; grubby --info=DEFAULT | grep args; grep CMDLINE /etc/default/grub",
		.sources =
			"GNU GRUB (rhboot 5e9e7e44e, 2026-01-30): docs/grub.texi, Simple configuration handling\n"
			"Red Hat Enterprise Linux 9.3 Release Notes: 4.9, Boot loader (grub2-mkconfig with BLS)\n"
			"uapi-group.org: Boot Loader Specification\nsystemd 252: kernel-install(8)\ngrubby(8)",
	},
	{
		.id = "boot/reboot-pending",
		.title = "A reboot is pending",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_reboot,
		.impact = "The node runs with older settings or software than it has on disk.",
		.remedy = "Reboot the node.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"/run/reboot-required, /run/reboot-needed, options in modprobe.d that are newer than the boot and differ from the running "
			"values, and the kernel that boots next.",
		.why = "Packages of Debian, Ubuntu and SUSE ask for a reboot in a file. Another kernel at the next boot alone is "
		       "a note; boot/kernel-next-lacks-modules checks that kernel.",
		.check = "cat /run/reboot-required.pkgs; needs-restarting -r; uname -r",
		.sources =
			"Debian Policy 4.5.1.0: Signaling that a reboot is required\n"
			"github.com/openSUSE/zypp-boot-plugin (read in November 2026): README (reboot-needed)\n"
			"needs-restarting(1)",
	},
};

RULE_TABLE(boot_cmdline);
