/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boot-signature.c - whether the kernel refuses modules for their signature. */
#include <string.h>

#include "evaluate/skip.h"
#include "query/module-find.h"
#include "query/pci-device.h"
#include "query/signature.h"
#include "query/topology.h"

/* ---- signatures ---- */

/* Another driver on the GPU explains too why nvidia is not loaded. */
static bool is_taken(const struct node *node)
{
	for_each(d, &node->pci.devices)
		if (pci_is_gpu(d) && is_known(d->driver) && !str_is(d->driver, "nvidia"))
			return true;
	return false;
}

static void check_unloaded(struct rule_context *ctx, const char *why, const char *fact)
{
	const struct module_file *file = module_file_running(ctx->node, "nvidia");
	bool is_signed = file && is_known(file->signer);
	struct cure cure = signature_cure(ctx->arena, ctx->node, is_signed);
	const char *signer;

	if (!file || is_unknown(file->signer)) {
		UNKNOWN(ctx,
			.observed = text_printf(
				ctx, "%s is in force, and nvidia.ko could not be read", why),
			.evidence = { "modules.files", fact });
		return;
	}
	signer = fact_path(ctx->arena, "modules.files", file->path.value, "signer");
	if (is_absent(file->signer))
		FAIL(ctx,
		     .observed = text_printf(ctx, "nvidia.ko is not signed, and %s is in force",
					     why),
		     .remedy = cure.text, .then = cure.then,
		     .expected = "nvidia.ko signed by a key that the kernel has",
		     .evidence = { signer, fact });
	else if (is_taken(ctx->node))
		UNKNOWN(ctx,
			.observed = "another driver has the GPU; whether the kernel accepts the "
				    "signature is not known until nvidia is loaded",
			.evidence = { signer, fact });
	else
		/* The enrolled keys are not in the facts; this is the most likely reason left. */
		FAIL_AS(ctx, SEVERITY_WARN,
			.observed =
				text_printf(ctx,
					    "nvidia is not loaded, %s is in force, and its signer "
					    "\"%s\" may not be enrolled",
					    why, file->signer.value),
			.remedy = cure.text, .then = cure.then,
			.expected = "nvidia.ko signed by a key that the kernel has",
			.evidence = { signer, fact });
}

static void check_signature(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct log_line *line = node_log(node, "module-rejected");
	bool loaded = known_is(node->driver.loaded, true) || node_module(node, "nvidia");
	const char *fact, *why = signature_enforced_by(node, &fact);
	struct cure cure = { 0 };

	if (skip_without_gpu(ctx))
		return;
	if (line)
		/* kernel/module/signing.c: a module with a signature is one "with unavailable key". */
		cure = signature_cure(ctx->arena, node,
				      !strstr(line->last.value, "unsigned module"));
	if (line && !loaded)
		FAIL(ctx, .observed = line->last.value, .remedy = cure.text, .then = cure.then,
		     .expected = "modules signed by a key that the kernel has",
		     .evidence = { "log.lines[module-rejected].last",
				   why ? fact : "os.secure_boot" });
	else if (line)
		FAIL_AS(ctx, SEVERITY_WARN,
			.observed = text_printf(ctx,
						"%s. nvidia is loaded: this was another module",
						line->last.value),
			.remedy = cure.text, .then = cure.then,
			.expected = "modules signed by a key that the kernel has",
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
		NOT_APPLICABLE(ctx, .observed = "this kernel does not require signatures",
			       .evidence = { "os.secure_boot", "os.lockdown", "cmdline.running" });
}

static const struct rule boot_signature_rules[] = {
	{
		.id = "boot/module-signature-rejected",
		.title = "The kernel refuses a module for its signature",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_signature,
		.impact = "The GPU driver is not loaded: \"Key was rejected by service\".",
		.remedy =
			"Enrol the key that signs the modules: mokutil --import KEY.der. During the reboot confirm it at the console, in "
			"the MOK manager.",
		.then = THEN_REBOOT,
		.activation = ACTIVATION_REBOOT,
		.reads =
			"\"Loading of ... is rejected\" in the kernel log, Secure Boot, lockdown, module.sig_enforce, and the "
			"signer of nvidia.ko.",
		.why = "With module.sig_enforce or lockdown the kernel loads only modules that a key which it trusts has signed. "
		       "Kernels of distributions switch lockdown on with Secure Boot; the kernel itself has no such option. Keys that the "
		       "machine's owner has enrolled are read with Secure Boot only. Kernels with a machine keyring (Linux 5.18, "
		       "CONFIG_INTEGRITY_MACHINE_KEYRING) trust them, and so do kernels of Debian and Fedora by a patch, "
		       "which also trust the keys of the firmware. The keys are not read here. A signed driver that is not loaded, "
		       "without another reason, is therefore a warning.",
		.check =
			"mokutil --sb-state; modinfo -F signer nvidia; dmesg | grep -E 'rejected|Lockdown'",
		.sources =
			"Linux 6.1.192 and Debian's linux-source-6.1 6.1.192-2: Documentation/admin-guide/module-signing.rst, "
			"kernel/module/signing.c (mod_verify_sig), security/lockdown/Kconfig (LOCK_DOWN_IN_EFI_SECURE_BOOT, Debian)\n"
			"Fedora's kernel: Patchlist.changelog (KEYS: Make use of platform keyring for module signature verify)\n"
			"Linux: security/integrity/Kconfig (INTEGRITY_MACHINE_KEYRING, 5.18), "
			"security/integrity/platform_certs/load_uefi.c (load_uefi_certs), security/lockdown/lockdown.c\n"
			"github.com/secureblue/secureblue issue 1043",
	},
};

RULE_TABLE(boot_signature);
