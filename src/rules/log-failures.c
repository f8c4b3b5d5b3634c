/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-failures.c - what the kernel log says was tried and failed, of GPUs, NICs and their modules. */
#include <string.h>

#include "evaluate/skip.h"
#include "query/bootargs.h"
#include "query/failure.h"
#include "query/module-find.h"
#include "query/pci-device.h"
#include "query/topology.h"

/* A failure that this rule is about, with its text and severity; false: another rule's, or no rule's. */
typedef bool failure_counts(const struct node *node, const struct log_failure *failure,
			    enum severity *severity);

static const char *say_failure(struct rule_context *ctx, const struct log_failure *failure)
{
	return failure->count.value > 1
		       ? text_printf(ctx, "%s (%llu such lines)", failure->last.value,
				     (unsigned long long)failure->count.value)
		       : failure->last.value;
}

static const char *lost_by(const struct log_failure *f)
{
	return is_known(f->module) && !is_known(f->device) ? module_purpose(f->module.value) : NULL;
}

/* symbol_get() names the symbol, and not the module that asked for it. */
static bool is_of_no_module(const struct log_failure *failure)
{
	return known_is(failure->kind, FAILURE_SYMBOL_GET) && !is_known(failure->module);
}

/* Each subject once: for the last failure that stands. */
static void check_failures(struct rule_context *ctx, failure_counts *counts, const char *expected)
{
	const struct node *node = ctx->node;
	const struct log_failure *unsure = NULL;
	size_t before = ctx->findings->count;
	enum severity severity;

	for (uint32_t i = node->log.failures.count; i-- > 0;) {
		const struct log_failure *f = &node->log.failures.items[i];
		enum failure_state state = failure_state(node, f);
		struct cure cure;

		if (!counts(node, f, &severity) || rule_has_answered(ctx, f->subject.value))
			continue;
		if (state == FAILURE_UNSURE)
			unsure = f;
		if (state != FAILURE_STANDS)
			continue;
		cure = failure_cure(ctx->arena, node, f);
		FAIL_AS(ctx, severity, .subject = is_of_no_module(f) ? NULL : f->subject.value,
			.observed = say_failure(ctx, f),
			.expected = is_of_no_module(f) ? "the function found" : expected,
			.impact =
				is_of_no_module(f)
					? "A driver did not get a function of the NVIDIA driver. What it "
					  "needs the function for does not work: of nvidia_p2p_get_pages, "
					  "GPUDirect RDMA."
					: lost_by(f),
			.remedy = cure.text, .then = cure.then,
			.evidence = { failure_fact(ctx->arena, node, f),
				      failure_state_fact(ctx->arena, node, f) });
	}
	if (ctx->findings->count > before)
		return;
	if (unsure)
		UNKNOWN(ctx,
			.observed = text_printf(ctx, "whether it still holds was not read: %s",
						unsure->last.value),
			.evidence = { failure_state_fact(ctx->arena, node, unsure) });
	else
		pass_if_log_whole(ctx);
}

/* ---- modules ---- */

static bool counts_module(const struct node *node, const struct log_failure *f,
			  enum severity *severity)
{
	/* Drivers and NICs reach GPU memory by nvidia_p2p_get_pages() so. */
	*severity = SEVERITY_WARN;
	if (known_is(f->kind, FAILURE_SYMBOL_GET))
		return f->details.count && starts_with(f->details.items[0], "nvidia_");
	if (!is_known(f->kind) || !is_known(f->module) || is_known(f->device) ||
	    f->kind.value == FAILURE_CRASH || !module_is_ours(f->module.value))
		return false;
	if (module_is_needed(node, f->module.value))
		*severity = SEVERITY_ERR;
	return true;
}

static void check_modules(struct rule_context *ctx)
{
	check_failures(ctx, counts_module, "the module loaded");
}

/* ---- devices ---- */

static bool counts_device(const struct node *node, const struct log_failure *f,
			  enum severity *severity)
{
	const struct pci_device *d = is_known(f->device) ? node_pci(node, f->device.value) : NULL;

	*severity = SEVERITY_ERR;
	return d && known_not(f->kind, FAILURE_CRASH) &&
	       (pci_is_gpu(d) || pci_is_nvswitch(d) || topology_is_nic(node, d));
}

static void check_devices(struct rule_context *ctx)
{
	if (is_unknown(ctx->node->pci.devices))
		UNKNOWN(ctx, .evidence = { "pci.devices" });
	else
		check_failures(ctx, counts_device, "a driver bound");
}

/* ---- crashes ---- */

static bool counts_crash(const struct node *node, const struct log_failure *f,
			 enum severity *severity)
{
	(void)node;
	*severity = SEVERITY_ERR;
	return known_is(f->kind, FAILURE_CRASH) && is_known(f->module) &&
	       module_is_ours(f->module.value);
}

static void check_crashes(struct rule_context *ctx)
{
	check_failures(ctx, counts_crash, "no crash since the boot");
}

/* ---- kernel arguments ---- */

static void check_argument(struct rule_context *ctx, const struct log_failure *f,
			   const char *argument)
{
	if (bootargs_begins_as_ours(span_of(argument)) && !rule_has_answered(ctx, argument))
		FAIL(ctx, .subject = argument,
		     .observed = text_printf(ctx, "the kernel does not know the argument %s",
					     argument),
		     .expected = "arguments that this kernel knows",
		     .evidence = { failure_fact(ctx->arena, ctx->node, f) });
}

/* The kernel knows the word and not its value: pages of a size that this processor's page tables do not have, an
 * option of pci= that a later kernel brought. */
static void check_value(struct rule_context *ctx, const struct log_failure *f, const char *detail)
{
	bool pci = is_known(f->module) && str_is(f->module, "pci");
	const char *argument = pci ? text_printf(ctx, "pci=%s", detail) : detail;

	if (!bootargs_begins_as_ours(span_of(argument)) || rule_has_answered(ctx, argument))
		return;
	FAIL(ctx, .subject = argument,
	     .observed = text_printf(ctx, "the kernel refuses %s: %s", argument, f->last.value),
	     .expected = "a value that this kernel and this processor support",
	     .impact =
		     strstr(argument, "hugepagesz")
			     ? "No huge pages of this size exist, and the hugepages= after it is ignored."
			     : NULL,
	     .remedy =
		     strstr(argument, "hugepagesz")
			     ? "Use a size that ls /sys/kernel/mm/hugepages lists. An arm64 kernel with "
			       "pages of 64 KiB has 2M, 512M and 16G."
			     : "Correct the value, or remove the argument.",
	     .evidence = { failure_fact(ctx->arena, ctx->node, f) });
}

static void check_arguments(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	for_each(f, &ctx->node->log.failures)
		for (uint32_t i = 0; i < f->details.count; i++)
			if (known_is(f->kind, FAILURE_KERNEL_PARAMETERS))
				check_argument(ctx, f, f->details.items[i]);
			else if (known_is(f->kind, FAILURE_KERNEL_ARGUMENT))
				check_value(ctx, f, f->details.items[i]);
	if (ctx->findings->count == before)
		pass_if_log_whole(ctx);
}

static const struct rule log_failures_rules[] = {
	{
		.id = "log/module-load-failed",
		.title =
			"The kernel refused a GPU or RDMA module, or a function that a module needs",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_modules,
		.needs_running = true,
		.impact = "What needs the module does not work.",
		.remedy = "Correct what the line names, then load the module.",
		.activation = ACTIVATION_NOW,
		.follows = { "modules/nvidia-fs-symbol-mismatch", "modules/peermem-symbol-mismatch",
			     "modules/nvidia-not-built-for-kernel", "driver/loaded",
			     "modules/mlx5-not-loaded", "modules/rdma-modules-not-loaded" },
		.reads =
			"Refusals of the module loader in the kernel log, for every module; the loaded "
			"modules.",
		.why = "A module that was refused is refused again until its file, its configuration or the "
		       "kernel changes. A module that is loaded by now passes.",
		.check =
			"dmesg | grep -E 'Unknown symbol|disagrees|version magic|invalid for parameter|is "
			"blacklisted'; lsmod",
		.sources =
			"Linux 6.16: kernel/module/main.c, kernel/module/version.c, kernel/params.c",
	},
	{
		.id = "log/device-probe-failed",
		.title = "A GPU or NIC cannot be used: its driver failed to start it",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_devices,
		.needs_running = true,
		.impact = "The device is there and no job can use it.",
		.remedy =
			"Read the lines before it in the kernel log: the driver says there what failed.",
		.activation = ACTIVATION_NOW,
		.follows = { "modules/wrong-driver-bound", "pci/device-off-bus",
			     "rdma/device-missing" },
		.reads =
			"\"probe failed\", \"failed with error code\", \"aborting\" and missing firmware files in "
			"the kernel log; the drivers of PCI functions.",
		.why = "A device that its driver turned away has no driver, though the module is loaded. A device "
		       "that has a driver by now passes.",
		.check =
			"dmesg | grep -E 'probe .*failed|failed with error code|aborting|firmware load'; "
			"lspci -k",
		.sources = "Linux 6.16: drivers/base/dd.c, drivers/base/firmware_loader/main.c\n"
			   "Linux 6.12.117: drivers/net/ethernet/mellanox/mlx5/core/main.c "
			   "(mlx5_function_enable)",
	},
	{
		.id = "log/module-crashed",
		.title = "The kernel crashed in a GPU or RDMA module",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_crashes,
		.impact = "Processes that use the module hang or fail until the next boot.",
		.remedy = "Install a release of the module that is built for this kernel.",
		.then = THEN_REBOOT,
		.activation = ACTIVATION_REBOOT,
		.reads =
			"BUG, Oops and \"Missing ENDBR\" in the kernel log, where they name the module whose "
			"code ran.",
		.why = "After a crash the kernel holds locks and memory that it does not release. \"Missing ENDBR\" "
		       "means that the module was built without indirect branch tracking: ibt=off lets it run.",
		.check = "dmesg | grep -A20 -E 'BUG:|Oops|Missing ENDBR'",
		.sources =
			"Linux 6.12.117: arch/x86/kernel/cet.c, arch/x86/kernel/dumpstack.c (show_ip)",
	},
	{
		.id = "log/kernel-argument-unknown",
		.title = "A kernel argument has no effect: the kernel does not know it",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_arguments,
		.impact = "The argument has no effect.",
		.remedy = "Correct the spelling of the argument, or remove it.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"\"Unknown kernel command line parameters\", \"unsupported hugepagesz\", \"PCI: Unknown option\" and "
			"\"Malformed early option\" in the kernel log.",
		.why = "The kernel names the words that nothing in it takes. Words of other programs, such as "
		       "BOOT_IMAGE and splash, are left out. Some values that the kernel refuses "
		       "have a message of their own, of which three are read. Others have none.",
		.check =
			"dmesg | grep -E 'Unknown kernel command line|unsupported|Unknown option|Malformed early'",
		.sources =
			"Linux 6.12.117: init/main.c (print_unknown_bootoptions, do_early_param), mm/hugetlb.c "
			"(hugepagesz_setup), drivers/pci/pci.c (pci_setup)\n"
			"github.com/NVIDIA/nodewright-packages pull 127 (sizes of arm64)",
	},
};

RULE_TABLE(log_failures);
