/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boot-signature.c - does the kernel refuse modules for their signature? */
#include <string.h>

#include "evaluate/skip.h"
#include "query/module-find.h"
#include "query/signature.h"
#include "query/topology.h"

static const struct module_file *running_file(const struct node *node, const char *name)
{
	return is_known(node->os.kernel) ? module_file_find(node, name, node->os.kernel.value)
					 : NULL;
}

/* ---- signatures ---- */

/* A driver that holds the GPU explains as well why nvidia is not loaded. */
static bool taken_by_other(const struct node *node)
{
	for_each(d, &node->pci.devices)
		if (pci_is_gpu(d) && is_known(d->driver) && !str_is(d->driver, "nvidia"))
			return true;
	return false;
}

static void check_unloaded(struct rule_context *ctx, const char *why, const char *fact)
{
	const struct module_file *file = running_file(ctx->node, "nvidia");
	const char *signer;

	if (!file || is_unknown(file->signer)) {
		UNKNOWN(ctx,
			.observed = text_printf(
				ctx, "%s is in force, and the file of nvidia cannot be looked at",
				why),
			.evidence = { "modules.files", fact });
		return;
	}
	signer = fact_path(ctx->arena, "modules.files", file->path.value, "signer");
	if (is_absent(file->signer))
		FAIL(ctx,
		     .observed = text_printf(ctx, "nvidia.ko is not signed, and %s is in force",
					     why),
		     .expected = "nvidia.ko signed by a key that is enrolled",
		     .evidence = { signer, fact });
	else if (taken_by_other(ctx->node))
		UNKNOWN(ctx,
			.observed = "another driver has the GPU: whether the signature is accepted "
				    "shows when nvidia is loaded",
			.evidence = { signer, fact });
	else
		/* The keys of firmware and kernel are not among the facts: the most likely reason
		 * left. */
		FAIL_AS(ctx, SEVERITY_WARN,
			.observed =
				text_printf(ctx,
					    "nvidia is not loaded, %s is in force, and its signer "
					    "\"%s\" may not be enrolled",
					    why, file->signer.value),
			.expected = "nvidia.ko signed by a key that is enrolled",
			.evidence = { signer, fact });
}

static void check_signature(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct log_line *line = node_log(node, "module-rejected");
	bool loaded = known_is(node->driver.loaded, true) || node_module(node, "nvidia");
	const char *fact, *why = signature_enforced_by(node, &fact);

	if (skip_without_gpu(ctx))
		return;
	if (line && !loaded)
		FAIL(ctx, .observed = line->last.value,
		     .expected = "modules signed by a key that is enrolled",
		     .evidence = { "log.lines[module-rejected].last",
				   why ? fact : "os.secure_boot" });
	else if (line)
		FAIL_AS(ctx, SEVERITY_WARN,
			.observed = text_printf(ctx,
						"%s - nvidia is loaded, so it was another module",
						line->last.value),
			.expected = "modules signed by a key that is enrolled",
			.evidence = { "log.lines[module-rejected].last" });
	else if (loaded)
		PASS(ctx, .evidence = { "driver.loaded" });
	else if (is_unknown(node->driver.loaded))
		UNKNOWN(ctx, .evidence = { "driver.loaded" });
	else if (why)
		check_unloaded(ctx, why, fact);
	else if (is_unknown(node->os.lockdown) || is_unknown(node->os.secure_boot))
		UNKNOWN(ctx, .evidence = { is_unknown(node->os.lockdown) ? "os.lockdown"
									 : "os.secure_boot" });
	else
		NOT_APPLICABLE(ctx, .observed = "nothing makes this kernel ask for signatures",
			       .evidence = { "os.secure_boot", "os.lockdown", "cmdline.running" });
}

static const struct rule boot_signature_rules[] = {
	{
		.id = "boot/module-signature-rejected",
		.title = "The kernel does not take modules without a known signature",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_signature,
		.impact = "The GPU driver is not loaded: \"Key was rejected by service\".",
		.remedy = "Enrol the key that signs the modules (mokutil --import, then confirm at "
			  "the next boot), use modules that the distribution has signed, or switch "
			  "Secure Boot off.",
		.activation = ACTIVATION_REBOOT,
		.reads = "\"Loading of ... is rejected\" in the kernel log, Secure Boot, lockdown, "
			 "module.sig_enforce, and the signer of nvidia.ko.",
		.why = "With signatures in force the kernel takes only what a key in its keyring "
		       "signed. Which keys are enrolled is not read: where nothing else explains "
		       "it, a signed driver that is not loaded is a warning.",
		.check = "mokutil --sb-state; modinfo -F signer nvidia; dmesg | grep -E "
			 "'rejected|Lockdown'",
		.sources = "Linux: Documentation/admin-guide/module-signing.rst, "
			   "kernel/module/signing.c\n"
			   "github.com/secureblue/secureblue issue 1043",
	},
};

RULE_TABLE(boot_signature);
