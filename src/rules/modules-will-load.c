/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules-will-load.c - whether the modules that matter would be loaded at the next boot, by the files alone. */
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "query/modprobe-dry-run.h"
#include "query/module-find.h"

static bool is_loaded(const struct node *node, const char *name)
{
	return node_module(node, name) != NULL;
}

/* The file has the sources of the loaded module, so the kernel took one such file and its signature. Built again, it
 * can still have other symbol versions. */
static bool is_what_runs(const struct node *node, const char *name)
{
	const struct module *loaded = node_module(node, name);
	const struct module_file *file = module_file_find(node, name, node->os.kernel.value);

	return loaded && file && is_known(loaded->srcversion) &&
	       str_is(file->srcversion, loaded->srcversion.value);
}

static bool is_at_boot(const struct node *node, const char *name)
{
	for_each(m, &node->modules.at_boot)
		if (str_is(m->name, name))
			return true;
	return false;
}

/* The devices of the machines that a mounted image is for are not known: its modules tell which they can be. */
static bool is_for_mounted_image(const struct node *node, const char *name)
{
	return is_known(node->os.next_boot) && !was_read(node->pci.devices) &&
	       module_file_running(node, name);
}

/* Without it the GPUs, or the NICs that a profile asks for, have no driver. */
static bool is_grave(const struct rule_context *ctx, const char *name)
{
	bool for_gpus = strcmp(name, "nvidia") == 0 || strcmp(name, "nvidia_uvm") == 0;

	return module_is_needed(ctx->node, name) ||
	       (is_for_mounted_image(ctx->node, name) &&
		(for_gpus || is_asked_for(ctx, PROFILE_RDMA_ANY)));
}

static const char *lost_at_boot(struct rule_context *ctx, const char *name, bool loaded)
{
	const char *lost = module_purpose(name);

	return lost && loaded ? text_printf(ctx, "This begins at the next boot. %s", lost) : lost;
}

/* A rule about the module says the same with its reason, or asks to remove it. */
static const struct {
	const char *module, *rule;
} reported[] = {
	{ "nv_peer_mem", "modules/peermem-conflict" },
	{ "nvidia_peermem", "modules/peermem-not-loaded" },
	{ "nvidia_uvm", "modules/nvidia-uvm-not-loaded" },
	{ "mlx5_core", "modules/mlx5-not-loaded" },
	{ "mlx5_ib", "modules/mlx5-not-loaded" },
	{ "gdrdrv", "modules/gdrdrv-not-loaded" },
};

static const char *reported_by(const char *module)
{
	for (size_t i = 0; i < ARRAY_SIZE(reported); i++)
		if (strcmp(reported[i].module, module) == 0)
			return reported[i].rule;
	return NULL;
}

static void check_one(struct rule_context *ctx, const char *name, const char **unknown,
		      const char **fact)
{
	const struct node *node = ctx->node;
	struct load_verdict verdict = modprobe_dry_run(ctx->arena, node, name);
	bool loaded = is_loaded(node, name);

	/* One that is not installed is other rules' matter; a container may have brought the one that is loaded. */
	if (verdict.absent && !verdict.configured)
		return;
	if ((verdict.answer == LOAD_UNKNOWN || verdict.signature) && is_what_runs(node, name))
		return;
	if (verdict.answer == LOAD_UNKNOWN) {
		*unknown = verdict.why;
		*fact = verdict.fact;
	}
	if (verdict.answer != LOAD_NO)
		return;
	FAIL_AS(ctx, is_grave(ctx, name) ? SEVERITY_ERR : SEVERITY_WARN, .subject = name,
		.observed = text_printf(ctx, "%s%s", verdict.why,
					loaded ? "; loaded now, but not after the next boot" : ""),
		.expected = "files that the kernel takes",
		.impact = lost_at_boot(ctx, name, loaded), .remedy = verdict.cure.text,
		.then = verdict.cure.then, .follows = reported_by(name),
		.evidence = { verdict.fact, "modules.loaded" });
}

/* Loaded, named for the boot, or needed by the devices that are there. */
static bool counts(const struct node *node, const char *name)
{
	return module_is_ours(name) &&
	       (is_loaded(node, name) || is_at_boot(node, name) || module_is_needed(node, name) ||
		is_for_mounted_image(node, name));
}

static const char *const needed[] = { "nvidia",	 "nvidia_uvm", "mlx5_core",
				      "mlx5_ib", "ib_core",    "ib_uverbs" };

static void check_all(struct rule_context *ctx, const char **unknown, const char **fact)
{
	const struct node *node = ctx->node;

	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (counts(node, needed[i]))
			check_one(ctx, needed[i], unknown, fact);
	for_each(m, &node->modules.loaded)
		if (module_is_ours(m->name.value) && !rule_has_answered(ctx, m->name.value))
			check_one(ctx, m->name.value, unknown, fact);
	for_each(m, &node->modules.at_boot)
		if (module_is_ours(m->name.value) && !rule_has_answered(ctx, m->name.value))
			check_one(ctx, m->name.value, unknown, fact);
}

static void check_will_load(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *unknown = NULL, *fact = NULL;
	size_t before = ctx->findings->count;

	if (skip_in_container(ctx))
		return;
	if (!was_read(node->loads.modules)) {
		UNKNOWN(ctx, .evidence = { "loads.modules" });
		return;
	}
	if (skip_unless_modules_count(ctx) || skip_unless_modprobe_whole(ctx))
		return;
	if (!was_read(node->modules.at_boot)) {
		UNKNOWN(ctx, .evidence = { "modules.at_boot" });
		return;
	}
	check_all(ctx, &unknown, &fact);
	if (ctx->findings->count > before)
		return;
	if (unknown)
		UNKNOWN(ctx, .observed = unknown, .evidence = { fact });
	else
		PASS(ctx, .evidence = { "loads.modules", "modprobe.install" });
}

static const struct rule modules_will_load_rules[] = {
	{
		.id = "modules/will-not-load",
		.title = "A GPU or RDMA module will not load at the next boot",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_will_load,
		.impact =
			"After the next boot the GPUs or NICs have no driver, whatever is loaded now.",
		.remedy = "Rebuild or reinstall the module for the kernel that runs.",
		.activation = ACTIVATION_NOW,
		.follows = { "modules/modprobe-target-missing",
			     "modules/nvidia-not-built-for-kernel",
			     "boot/module-signature-rejected", "modules/peermem-symbol-mismatch",
			     "modules/nvidia-fs-symbol-mismatch", "driver/loaded" },
		.reads =
			"modules.dep, modules.builtin and the module files below /lib/modules; Module.symvers of the "
			"kernel's headers; aliases and install lines of modprobe.d; Secure Boot and lockdown.",
		.why = "modprobe follows aliases and install lines. The kernel refuses a module for its version magic or "
		       "its signature. It also refuses one for a symbol that is missing, has another version or "
		       "namespace, or is GPL-only. All of that is in files, so it is known before the boot. Debian's "
		       "alternatives can lead to nvidia-current, where the package of the open kernel modules installs "
		       "nvidia-current-open. Without Module.symvers symbols are compared with what the kernel's own modules need.",
		.check = "modprobe -n -v --ignore-install nvidia; modprobe --show-depends nvidia",
		.sources =
			"kmod 34: libkmod/libkmod-module.c (kmod_module_new_from_lookup, "
			"kmod_module_probe_insert_module)\n"
			"Linux 6.16: kernel/module/main.c, kernel/module/version.c, "
			"kernel/module/signing.c\n"
			"Debian 12, nvidia-kernel-support and nvidia-open-kernel-dkms 535.261.03-1: "
			"nvidia-modprobe.conf, dkms.conf",
	},
};

RULE_TABLE(modules_will_load);
