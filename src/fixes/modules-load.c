/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules-load.c - modules loaded, now and at every boot. */
#include <string.h>

#include "fixes/fix.h"

static const struct {
	const char *rule;
	const char *module; /* of a finding without a subject; else that is it */
	bool boot;	    /* nothing else loads it there */
} modules[] = {
	{ "driver/loaded", "nvidia", false }, /* by its PCI alias at boot */
	{ "driver/proprietary-no-dmabuf", "nvidia_peermem", true },
	{ "modules/gdrdrv-not-loaded", "gdrdrv", true },
	{ "modules/mlx5-not-loaded", NULL, false },
	{ "modules/nvidia-uvm-not-loaded", "nvidia_uvm", true },
	{ "modules/peermem-not-loaded", "nvidia_peermem", true },
	{ "modules/peermem-not-persistent", "nvidia_peermem", true },
	{ "modules/rdma-modules-not-loaded", NULL, true },
	{ "rdma/dmabuf-unsupported", "nvidia_peermem", true },
	{ "rdma/gdaki-kernel-floor", "nvidia_peermem", true },
	{ "rdma/no-devices", "mlx5_ib", false }, /* udev loads it with mlx5_core */
};

/* What has the GPUs keeps them, and what refused the driver once refuses it again. */
static bool check_driver(struct fixing *f)
{
	static const char *const rules[] = { "modules/nouveau-loaded", "modules/wrong-driver-bound",
					     "boot/module-signature-rejected",
					     "modules/nvidia-not-built-for-kernel" };

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (fix_failing(f, rules[i]))
			return fix_refuse(f, "it would not load: %s comes first", rules[i]);
	return true;
}

static bool is_module_name(const char *name)
{
	return *name && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == strlen(name);
}

static void plan(struct fixing *f)
{
	const char *module = NULL;
	bool boot = false;

	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
		if (!fix_rule_is(f, modules[i].rule))
			continue;
		module = *fix_subject(f) ? fix_subject(f) : modules[i].module;
		boot = modules[i].boot;
	}
	if (!module || !is_module_name(module) ||
	    (fix_rule_is(f, "driver/loaded") && !check_driver(f)))
		return;
	if (fix_load_now(f, module) && boot)
		fix_load_at_boot(f, module);
}

const struct fix fix_modules_load = {
	.name = "modules-load",
	.title = "Modules loaded now, and at boot by /etc/modules-load.d/nvnodecheck.conf; where "
		 "dracut makes the initramfs by a unit of our own, so that nothing is drawn into "
		 "it",
	.plan = plan,
};
