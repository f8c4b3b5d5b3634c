/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/signature.h"

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
