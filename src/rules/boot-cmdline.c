/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boot-cmdline.c - what waits for the next boot (rules boot/...): kernel arguments, options, kernels. */
#include <string.h>

#include "evaluate/skip.h"
#include "query/bootargs.h"
#include "query/option-value.h"
#include "query/setting.h"

static const char *say_arg(struct rule_context *ctx, const struct kparam *arg)
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

	if (skip_without_gpu(ctx))
		return;
	if (now || next)
		FAIL(ctx,
		     .observed =
			     now && next ? "pcie_acs_override is on the command line"
			     : now ? "pcie_acs_override is on the command line, and gone at the "
				     "next boot"
				   : "pcie_acs_override is on the command line of the next boot",
		     .expected = "no such argument",
		     .evidence = { now ? "cmdline.running" : "cmdline.staged.text" });
	else if (!running)
		UNKNOWN(ctx, .evidence = { "cmdline.running" });
	else
		PASS(ctx, .evidence = { "cmdline.running" });
}

/* ---- sources, entry, running kernel ---- */

static bool is_last_of_variable(const struct cmdline_facts *cmdline,
				const struct cmdline_text *source)
{
	const struct cmdline_text *last = NULL;

	for_each(s, &cmdline->sources)
		if (is_known(s->variable) && str_is(s->variable, source->variable.value))
			last = s;
	return last == source;
}

/* Does the loader's entry get the text of SOURCE when its configuration is written anew? */
static bool feeds_entries(const struct node *node, const struct cmdline_text *source)
{
	const struct fact_enum *loader = &node->boot.loader;

	if (!is_known(source->text))
		return false;
	if (known_is(*loader, BOOT_GRUB) || known_is(*loader, BOOT_GRUB_BLS))
		return str_starts(source->variable, "GRUB_CMDLINE_LINUX") &&
		       is_last_of_variable(&node->cmdline, source);
	return is_absent(source->variable) && str_is(source->file, "/etc/kernel/cmdline");
}

static bool in_sources(const struct node *node, const struct kparam *arg)
{
	for_each(s, &node->cmdline.sources)
		if (feeds_entries(node, s) && bootargs_holds(s->text.value, arg))
			return true;
	return false;
}

/* Written into the configuration, and no entry was made of it since. */
static void check_sources(struct rule_context *ctx, const char *staged)
{
	const struct cmdline_facts *cmdline = &ctx->node->cmdline;

	for_each(s, &cmdline->sources) {
		struct bootargs args = bootargs_of(feeds_entries(ctx->node, s) ? s->text.value
									       : "");
		struct kparam arg;

		while (bootargs_next(&args, &arg))
			if (bootargs_is_ours(&arg) && !bootargs_holds(staged, &arg) &&
			    !rule_has_answered(ctx, say_arg(ctx, &arg)))
				FAIL(ctx, .subject = say_arg(ctx, &arg),
				     .observed = text_printf(
					     ctx, "in %s, and not in the entry that boots next",
					     s->file.value),
				     .expected = "in both",
				     .evidence = {
					     text_printf(ctx, "cmdline.sources[#%zu].text",
							 (size_t)(s - cmdline->sources.items)),
					     "cmdline.staged.text" });
	}
}

/* Is SOURCE what another boot loader's entries are made from? On Red Hat's systems with boot entries in files
 * either may be read when a kernel is installed. */
static bool feeds_another(const struct node *node, const struct cmdline_text *source)
{
	const struct fact_enum *loader = &node->boot.loader;
	bool grub = str_starts(source->variable, "GRUB_CMDLINE_LINUX");

	if (!is_known(source->text))
		return false;
	if (known_is(*loader, BOOT_GRUB))
		return is_absent(source->variable) && str_is(source->file, "/etc/kernel/cmdline");
	return (known_is(*loader, BOOT_SYSTEMD_BOOT) || known_is(*loader, BOOT_UKI)) && grub &&
	       is_last_of_variable(&node->cmdline, source);
}

/* Written where the loader of this node does not look. */
static void check_other_sources(struct rule_context *ctx, const char *staged)
{
	const struct cmdline_facts *cmdline = &ctx->node->cmdline;

	for_each(s, &cmdline->sources) {
		struct bootargs args = bootargs_of(feeds_another(ctx->node, s) ? s->text.value
									       : "");
		struct kparam arg;

		while (bootargs_next(&args, &arg))
			if (bootargs_is_ours(&arg) && !bootargs_holds(staged, &arg) &&
			    !rule_has_answered(ctx, say_arg(ctx, &arg)))
				FAIL_AS(ctx, SEVERITY_WARN, .subject = say_arg(ctx, &arg),
					.observed = text_printf(
						ctx, "in %s, which %s does not read", s->file.value,
						boot_loader_words[ctx->node->boot.loader.value]),
					.expected =
						"in the configuration of the loader that boots this node",
					.remedy =
						known_is(ctx->node->boot.loader, BOOT_GRUB)
							? "Write it into /etc/default/grub, then update-grub."
							: "Write it into /etc/kernel/cmdline, or into the loader's "
							  "entry, and make the entries anew (kernel-install, "
							  "proxmox-boot-tool refresh, kernelstub).",
					.evidence = {
						text_printf(ctx, "cmdline.sources[#%zu].text",
							    (size_t)(s - cmdline->sources.items)),
						"boot.loader" });
	}
}

static void check_next(struct rule_context *ctx, const char *running, const char *staged)
{
	struct bootargs args = bootargs_of(staged);
	struct kparam arg;

	while (bootargs_next(&args, &arg))
		if (bootargs_is_ours(&arg) && !bootargs_holds(running, &arg) &&
		    !rule_has_answered(ctx, say_arg(ctx, &arg)))
			PENDING(ctx, .subject = say_arg(ctx, &arg),
				.observed = "the next boot gets it; the kernel that runs did not",
				.expected = "on the command line of the kernel that runs",
				.remedy = "Reboot.",
				.evidence = { "cmdline.staged.text", "cmdline.running" });
}

static void check_lost(struct rule_context *ctx, const char *running, const char *staged)
{
	struct bootargs args = bootargs_of(running);
	struct kparam arg;

	while (bootargs_next(&args, &arg))
		if (bootargs_is_ours(&arg) && !bootargs_holds(staged, &arg) &&
		    !in_sources(ctx->node, &arg) && !rule_has_answered(ctx, say_arg(ctx, &arg)))
			FAIL_AS(ctx, SEVERITY_WARN, .subject = say_arg(ctx, &arg),
				.observed = "in effect now, and not in the entry that boots next",
				.expected = "in both, or in neither",
				.remedy = "If it is wanted, write it into the boot loader's "
					  "configuration; if not, reboot.",
				.evidence = { "cmdline.running", "cmdline.staged.text" });
}

static void check_staged(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *running = running_text(node), *staged = bootargs_staged(node);
	size_t before = ctx->findings->count;

	if (is_absent(node->boot.loader)) {
		NOT_APPLICABLE(ctx, .observed = "no boot loader on this node",
			       .evidence = { "boot.loader" });
		return;
	}
	if (!staged || !running) {
		UNKNOWN(ctx, .evidence = { running ? "boot.next_entry" : "cmdline.running" });
		return;
	}
	check_sources(ctx, staged);
	check_other_sources(ctx, staged);
	check_next(ctx, running, staged);
	/* What no boot loader started (kexec, a virtual machine's own kernel) never was in an
	 * entry. */
	if (bootargs_find(running, "BOOT_IMAGE", NULL) || bootargs_find(running, "initrd", NULL))
		check_lost(ctx, running, staged);
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "cmdline.running", "cmdline.staged.text" });
}

/* ---- is a reboot due? ---- */

/* 0x1 is 1; strings as they are. */
static bool same_value(const char *a, const char *b)
{
	uint64_t x, y;

	if (span_u64(span_of(a), 0, &x) == 0 && span_u64(span_of(b), 0, &y) == 0)
		return x == y;
	return strcmp(a, b) == 0;
}

/* What A's parameter is now, or NULL when that is not known or its module not loaded. */
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

/* The first option that was written since the boot and is not what runs. One with a value that the kernel
 * refuses waits for nothing good. */
static const struct modprobe_assignment *waiting_option(struct rule_context *ctx)
{
	for_each(a, &ctx->node->modprobe.assignments) {
		const char *now;

		if (!known_is(a->effective, true) || !is_known(a->value) || !is_known(a->file) ||
		    !changed_since_boot(ctx->node, a->file.value))
			continue;
		now = running_value(ctx, a);
		if (now && !same_value(now, a->value.value) && !option_refused(ctx->node, a, NULL))
			return a;
	}
	return NULL;
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
			.expected = "what is installed is what runs",
			.evidence = { "boot.reboot_required", "boot.next_kernel" });
	else if (option)
		PENDING(ctx,
			.observed = text_printf(
				ctx, "%s %s=%s was written after the boot and is not in effect%s",
				option->module.value, option->param.value, option->value.value,
				kernel),
			.expected = "what is configured is what runs",
			.evidence = {
				text_printf(ctx, "modprobe.assignments[#%zu].value",
					    (size_t)(option - node->modprobe.assignments.items)),
				"os.boot_time_s" });
	else if (other_kernel)
		NOTE(ctx,
		     .observed = text_printf(ctx, "kernel %s runs; the next boot starts %s",
					     node->os.kernel.value, boot->next_kernel.value),
		     .expected = "nothing; for your information",
		     .evidence = { "os.kernel", "boot.next_kernel" });
	else if (is_unknown(boot->reboot_required) && !known_is(node->modprobe.complete, true))
		UNKNOWN(ctx, .evidence = { "boot.reboot_required", "modprobe.complete" });
	else
		PASS(ctx, .evidence = { "boot.reboot_required", "boot.next_kernel" });
}

static const struct rule boot_cmdline_rules[] = {
	{
		.id = "boot/cmdline-acs-override",
		.title = "pcie_acs_override is on the kernel command line",
		.profiles = PROFILE_P2P,
		.severity = SEVERITY_WARN,
		.evaluate = check_acs_override,
		.impact = "Devices are put into IOMMU groups as if they were isolated; where "
			  "requests go does not change, and faults of peers are harder to see.",
		.remedy = "Remove it. To let peers talk below a switch, clear redirection: see "
			  "pci/acs-redirect.",
		.fix = { "remove-argument", { "pcie_acs_override" } },
		.activation = ACTIVATION_REBOOT,
		.reads = "The command line of the running kernel and of the entry that boots next.",
		.why = "Only patched kernels know it; others ignore it. It changes how devices are "
		       "grouped for passthrough, not ACS in the hardware. One report of failing "
		       "peer-to-peer has it beside other causes; nothing proves that it was it.",
		.check = "grep -o 'pcie_acs_override[^ ]*' /proc/cmdline",
		.sources = "github.com/aikitoria/open-gpu-kernel-modules issue 38\n"
			   "Linux: Documentation/admin-guide/kernel-parameters.txt (has no such "
			   "argument)",
	},
	{
		.id = "boot/cmdline-staged-not-live",
		.title = "The running kernel has other arguments than the next boot",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_staged,
		.impact = "What was set is not in effect, or what is in effect will be gone.",
		.remedy = "Write the boot loader's configuration anew (update-grub; grub2-mkconfig "
			  "--update-bls-cmdline or grubby --update-kernel=ALL --args=...; "
			  "kernel-install add-all), then reboot.",
		.activation = ACTIVATION_REBOOT,
		.reads = "/proc/cmdline, the entry that boots next, and what entries are made "
			 "from: /etc/default/grub and grub.d, /etc/kernel/cmdline. Only arguments "
			 "about IOMMU, PCI, huge pages, NUMA balancing and modules for GPU and "
			 "RDMA are compared.",
		.why = "An edit of /etc/default/grub does nothing until the entries are written "
		       "anew, and on distributions with BLS entries not even grub2-mkconfig does "
		       "it by itself. The file of another loader than the one that boots does nothing "
		       "at all.",
		.check = "cat /proc/cmdline; grubby --info=DEFAULT | grep args; grep CMDLINE "
			 "/etc/default/grub",
		.sources =
			"GRUB manual, simple configuration handling\n"
			"Boot Loader Specification (uapi-group.org)\nkernel-install(8), grubby(8)",
	},
	{
		.id = "boot/reboot-pending",
		.title = "Something waits for a reboot",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_reboot,
		.impact = "The node runs with older settings or software than it has on disk.",
		.remedy = "Reboot when the node is empty; before that, see "
			  "boot/kernel-next-lacks-modules.",
		.activation = ACTIVATION_REBOOT,
		.reads = "/run/reboot-required, options in modprobe.d that are newer than the boot "
			 "and differ from the running values, and the kernel that boots next.",
		.why = "On Debian, Ubuntu and SUSE packages ask for it; elsewhere nobody says. "
		       "Another kernel at the next boot is information by itself.",
		.check = "cat /run/reboot-required.pkgs; needs-restarting -r; uname -r",
		.sources = "Debian policy, chapter on signalling that a reboot is required\n"
			   "dnf needs-restarting(8)",
	},
};

RULE_TABLE(boot_cmdline);
