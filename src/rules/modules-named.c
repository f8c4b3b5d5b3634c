/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules-named.c - whether the modules that configuration names exist (rules modules/...). */
#include <string.h>

#include "base/array.h"
#include "evaluate/references.h"
#include "evaluate/skip.h"
#include "parse/modname.h"
#include "query/guests.h"
#include "query/module-find.h"

/* ---- modules-load.d ---- */

static enum severity grade_load(const struct rule_context *ctx, const struct reference *r,
				enum reference_state state)
{
	(void)ctx;
	(void)state;
	return modname_is_ours(span_of(r->name.value)) ? SEVERITY_WARN : SEVERITY_INFO;
}

/* boot/modprobe-conf-syntax reports lines that are no name at all. */
static bool counts_load(const struct node *node, const struct reference *r)
{
	(void)node;
	return !strpbrk(r->name.value, " \t");
}

static const char *load_remedy(struct rule_context *ctx, const struct reference *r)
{
	return text_printf(ctx, "Install the module %s for this kernel, or remove the line.",
			   r->name.value);
}

static void check_load(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_MODULES_LOAD,
		.none = "no file names modules to load at boot",
		.then = THEN_LOADER,
		.expected = "modules that exist for this kernel",
		.counts = counts_load,
		.grade = grade_load,
		.remedy = load_remedy,
	};

	if (!skip_in_container(ctx))
		references_check(ctx, &check);
}

/* ---- modprobe.d ---- */

/* Modules that the configuration keeps from being loaded on purpose. */
static bool is_unwanted(struct span name)
{
	static const char *const words[] = { "nouveau", "nova", "nvidiafb", "rivafb" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (span_search(name, words[i]))
			return true;
	return false;
}

static bool is_about_ours(const struct reference *r)
{
	struct span about = span_of(is_known(r->claim) ? r->claim.value : r->name.value);

	return modname_is_ours(about) && !is_unwanted(about) && !span_search(about, ":");
}

/* The name for no module, by which distributions' files and guides switch a module off. */
static bool is_off(const struct reference *r)
{
	return str_is(r->role, "alias") && str_is(r->name, "off");
}

/* "softdep nvidia post: x": modprobe continues without x (libkmod: module_get_dependencies_from_...). With an alias
 * to a module that does not exist, or a missing command, the module is not loaded. */
static bool counts_modprobe(const struct node *node, const struct reference *r)
{
	return is_about_ours(r) && !(is_off(r) && guests_hold_all_gpus(node));
}

/* "blacklist nvidia" beside "alias nvidia off" means it: the module is kept from loading on purpose. */
static bool is_blacklisted(const struct node *node, const char *name)
{
	for_each(c, &node->modprobe.blacklist)
		if (str_is(c->module, name))
			return true;
	return false;
}

static enum severity grade_modprobe(const struct rule_context *ctx, const struct reference *r,
				    enum reference_state state)
{
	(void)state;
	if (str_is(r->role, "softdep") ||
	    (is_off(r) && is_known(r->claim) && is_blacklisted(ctx->node, r->claim.value)))
		return SEVERITY_INFO;
	return str_is(r->claim, "nvidia") || str_is(r->claim, "nvidia_uvm") ? SEVERITY_ERR
									    : SEVERITY_WARN;
}

static const char *modprobe_impact(struct rule_context *ctx, const struct reference *r)
{
	if (str_is(r->role, "softdep"))
		return text_printf(ctx,
				   "%s is not loaded together with the module of the softdep line.",
				   r->name.value);
	return text_printf(
		ctx,
		"modprobe %s fails. After the next boot the module is missing, even if it is loaded now.",
		r->claim.value);
}

/* NULL: the module of that name is here, and only the line is wrong. */
static const char *missing_package(struct rule_context *ctx, const struct reference *r)
{
	if (!str_is(r->role, "alias") || !is_known(r->claim) || !was_read(ctx->node->modules.files))
		return NULL;
	return module_alias_cure(ctx->arena, ctx->node, r->claim.value, r->name.value, NULL);
}

static const char *modprobe_remedy(struct rule_context *ctx, const struct reference *r)
{
	const char *package = is_off(r) ? NULL : missing_package(ctx, r);

	if (str_is(r->role, "softdep"))
		return text_printf(
			ctx, "Install the module %s for this kernel, or remove it from the line.",
			r->name.value);
	if (is_off(r))
		return text_printf(
			ctx,
			"Remove the line (\"alias %s off\" switches the module off). Rebuild the "
			"initramfs, then load %s.",
			r->claim.value, r->claim.value);
	if (package)
		return text_printf(ctx, "%s Then load %s.", package, r->claim.value);
	return text_printf(ctx, "Correct or remove the line. Rebuild the initramfs, then load %s.",
			   r->claim.value);
}

static void check_modprobe(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_MODPROBE,
		.none = "modprobe.d names no GPU or NIC module",
		.expected = "modules and commands that exist",
		.counts = counts_modprobe,
		.grade = grade_modprobe,
		.remedy = modprobe_remedy,
		.impact = modprobe_impact,
	};

	if (is_known(ctx->node->os.container))
		NOT_APPLICABLE(ctx, .observed = "inside a container",
			       .evidence = { "os.container" });
	else if (reference_next(ctx->node, REFERENCE_MODPROBE, NULL, NULL) ||
		 !skip_unless_modprobe_whole(ctx))
		references_check(ctx, &check);
}

static const struct rule modules_named_rules[] = {
	{
		.id = "modules/named-module-missing",
		.title = "A module that a file names for boot does not exist",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_load,
		.impact =
			"systemd-modules-load.service fails at every boot, and the module is not loaded.",
		.remedy = "Install the module for this kernel, or remove the line.",
		.activation = ACTIVATION_NOW,
		.reads =
			"/etc/modules and modules-load.d. modules.dep, modules.builtin and modules.alias of the running kernel. "
			"alias and install lines of modprobe.d.",
		.why = "The name was right for another kernel or another release of the driver. For modules that do not concern "
		       "GPUs or NICs this is a note.",
		.check = "systemctl status systemd-modules-load; modprobe -n -v NAME",
		.sources = "systemd 252: modules-load.d(5)\nkmod 30: modprobe(8)",
	},
	{
		.id = "modules/modprobe-target-missing",
		.title = "modprobe cannot load a module: modprobe.d names a missing target",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_modprobe,
		.impact = "The module is missing after the next boot.",
		.then = THEN_INITRAMFS,
		.remedy = "Correct or remove the line.",
		.activation = ACTIVATION_NOW,
		.reads =
			"alias, install and softdep lines of modprobe.d about GPU and RDMA modules, and whether the modules and "
			"commands exist.",
		.why = "An alias takes precedence over the module of that name. \"off\" is not a keyword: modprobe looks for a "
		       "module off and fails. Lines that switch nouveau off are not reported, nor those "
		       "about nvidia where vfio-pci has all GPUs. Beside \"blacklist nvidia\" such a line is a note. Of an install line only a path "
		       "in the first word is checked. modprobe skips a missing soft dependency, which is a note.",
		.check = "modprobe -n -v nvidia; grep -rnE 'alias|install|softdep' /etc/modprobe.d",
		.sources =
			"kmod 30: modprobe.d(5), libkmod/libkmod-module.c (kmod_module_new_from_lookup)\n"
			"github.com/NVlabs/nvbio-gpl issue 7 (nvidia-331-uvm)",
	},
};

RULE_TABLE(modules_named);
