/* SPDX-License-Identifier: GPL-2.0-or-later */
/* signature.c - decides whether the kernel loads only modules with a signature that it knows. */
#include "query/signature.h"

#include <string.h>

#include "query/bootargs.h"

const char *signature_enforced_by(const struct node *node, const char **fact)
{
	const char *running = is_known(node->cmdline.running) ? node->cmdline.running.value : "";

	*fact = "cmdline.running";
	if (bootargs_find(running, "module.sig_enforce", "") ||
	    bootargs_find(running, "module.sig_enforce", "1") ||
	    bootargs_find(running, "module.sig_enforce", "y"))
		return "module.sig_enforce";
	*fact = "os.lockdown";
	if (str_is(node->os.lockdown, "integrity") || str_is(node->os.lockdown, "confidentiality"))
		return "lockdown";
	*fact = "os.secure_boot";
	if (known_is(node->os.secure_boot, true) && !str_is(node->os.lockdown, "none"))
		return "Secure Boot";
	*fact = "os.kernel_config";
	for_each(option, &node->os.kernel_config)
		if (str_is(option->name, "CONFIG_MODULE_SIG_FORCE") && str_is(option->value, "y"))
			return "CONFIG_MODULE_SIG_FORCE";
	return NULL;
}

static const char *option_of(const struct node *node, const char *name)
{
	for_each(option, &node->os.kernel_config)
		if (str_is(option->name, name))
			return is_known(option->value)	  ? option->value.value
			       : is_absent(option->value) ? "n"
							  : NULL;
	return NULL;
}

static bool is_built_in(const struct node *node, const char *name)
{
	return same_text(option_of(node, name), "y");
}

/* Without Secure Boot the setting can be reverted, and an enrolled key changes nothing. */
static struct cure cure_without_secure_boot(struct arena *arena, const struct node *node,
					    const char *why)
{
	static const char or_signed[] = "use modules that were signed when this kernel was built";
	const char *running = is_known(node->cmdline.running) ? node->cmdline.running.value : "";

	if (strcmp(why, "module.sig_enforce") == 0)
		return (struct cure){
			arena_printf(
				arena,
				"Remove module.sig_enforce from the kernel command line, or %s. Secure Boot is "
				"off: the kernel reads no enrolled key.",
				or_signed),
			THEN_REBOOT
		};
	if (strcmp(why, "CONFIG_MODULE_SIG_FORCE") == 0)
		return (struct cure){ arena_printf(
			arena,
			"This kernel was built to refuse unsigned modules: boot a different kernel, or %s. Secure Boot is "
			"off: the kernel reads no enrolled key.",
			or_signed) };
	if (strstr(running, "lockdown="))
		return (struct cure){
			arena_printf(
				arena,
				"Remove lockdown= from the kernel command line, or %s. Secure Boot is off: the "
				"kernel reads no enrolled key.",
				or_signed),
			THEN_REBOOT
		};
	if (is_built_in(node, "CONFIG_LOCK_DOWN_KERNEL_FORCE_INTEGRITY") ||
	    is_built_in(node, "CONFIG_LOCK_DOWN_KERNEL_FORCE_CONFIDENTIALITY"))
		return (struct cure){ arena_printf(
			arena,
			"This kernel was built with lockdown: boot a different kernel, or %s. Secure Boot is off: the "
			"kernel reads no enrolled key.",
			or_signed) };
	return (struct cure){
		arena_printf(
			arena,
			"Find what writes to /sys/kernel/security/lockdown (a unit or a script), take that out; "
			"or %s. Secure Boot is off: the kernel reads no enrolled key.%s",
			or_signed,
			option_of(node, "CONFIG_LOCK_DOWN_KERNEL_FORCE_INTEGRITY")
				? ""
				: " The kernel's configuration was not read: it can set lockdown too."),
		THEN_REBOOT
	};
}

/* A module without any signature: the key comes second. */
static struct cure cure_unsigned(struct arena *arena, const char *switch_off)
{
	return (struct cure){
		arena_printf(
			arena,
			"The modules have no signature. Sign them with an enrolled key: nvidia-installer takes it with "
			"--module-signing-secret-key and --module-signing-public-key, DKMS signs by itself, and a driver "
			"container must sign in its image. Or use modules that the distribution signed, or %s.",
			switch_off),
	};
}

struct cure signature_cure(struct arena *arena, const struct node *node, bool has_signature)
{
	const char *fact, *why = signature_enforced_by(node, &fact);
	const char *machine = option_of(node, "CONFIG_INTEGRITY_MACHINE_KEYRING");
	bool off = is_absent(node->os.secure_boot) || known_is(node->os.secure_boot, false);
	const char *switch_off =
		is_known(node->os.hypervisor)
			? "switch Secure Boot off in the settings of the virtual machine"
			: "switch Secure Boot off in the firmware setup";

	if (off && why)
		return cure_without_secure_boot(arena, node, why);
	if (!has_signature)
		return cure_unsigned(arena, switch_off);
	/* A kernel that checks signatures has CONFIG_MODULE_SIG: a configuration without it is not whole. */
	if (same_text(machine, "n") && is_built_in(node, "CONFIG_MODULE_SIG"))
		return (struct cure){ arena_printf(
			arena,
			"Use modules that the distribution signed for this kernel, or %s. This kernel has no keyring "
			"for the machine owner's keys (CONFIG_INTEGRITY_MACHINE_KEYRING): a key enrolled with mokutil "
			"counts only where the distribution has added that.",
			switch_off) };
	return (struct cure){
		arena_printf(
			arena,
			"Enrol the key that signs the modules: mokutil --import KEY.der. During the reboot confirm it at the console, "
			"in the MOK manager. If mokutil --test-key KEY.der says that it is enrolled, this kernel does not trust "
			"it: use modules that the distribution signed, or %s.",
			switch_off),
		THEN_REBOOT
	};
}
