/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * next-driver.c - the driver that an image's next boot loads, from the module's file and the options that modprobe and
 * the initramfs give it. Whether it will be loaded is not said: driver.loaded stays unknown.
 */
#include <string.h>

#include "probes/probe.h"
#include "query/module-find.h"
#include "query/nvreg.h"
#include "query/setting.h"

/* Takes the version and the kind of the module. Both kinds are named nvidia; the open one has the kernel's licence
 * (kernel-open/nvidia/nv.c). */
static void take_module(struct driver_facts *driver, const struct module_file *file)
{
	driver->version = file->version;
	driver->builder.state = driver->banner.state = FACT_ABSENT;
	if (is_known(file->license))
		driver->flavour = fact_enum(str_is(file->license, "NVIDIA") ? FLAVOUR_PROPRIETARY
									    : FLAVOUR_OPEN);
}

static void add_param(struct probe_context *ctx, const char *name, const char *value)
{
	struct driver_param *param = LIST_ADD(ctx->arena, &ctx->node->driver.params);

	param->name = fact_str(ctx->arena, name);
	param->value = fact_str(ctx->arena, value);
	param->line.state = FACT_ABSENT;
}

static bool has_param(const struct driver_facts *driver, const char *name)
{
	for_each(p, &driver->params)
		if (str_is(p->name, name))
			return true;
	return false;
}

/* Takes an option. If the initramfs loads the driver, its copy of modprobe.d counts. */
static bool take_option(struct probe_context *ctx, const char *option)
{
	struct driver_facts *driver = &ctx->node->driver;
	const char *name = setting_param_name(option);
	struct setting setting;
	const struct setting_value *value;

	if (!name || has_param(driver, name))
		return true;
	setting = setting_nvreg(ctx->node, name, ctx->arena);
	value = setting.early_counts ? &setting.early : &setting.next;
	if (setting.early_unknown || value->state == FACT_UNKNOWN)
		return false;
	if (value->state != FACT_KNOWN)
		return true;
	add_param(ctx, name, value->value);
	return true;
}

static bool take_options(struct probe_context *ctx, const struct modprobe_facts *modprobe)
{
	bool whole = known_is(modprobe->complete, true);

	for_each(a, &modprobe->assignments)
		if (is_known(a->module) && is_known(a->param) &&
		    setting_is_nvidia(ctx->node, a->module.value))
			whole &= take_option(ctx, a->param.value);
	return whole;
}

/* Adds the module's parameters that are not set. One whose default is not in the table is left out. */
static void take_defaults(struct probe_context *ctx, const struct module_file *file)
{
	for_each(option, &file->parameters) {
		const char *name = setting_param_name(*option);
		const char *value = name ? nvreg_default(name) : NULL;

		if (value && !has_param(&ctx->node->driver, name))
			add_param(ctx, name, value);
	}
}

static void take_params(struct probe_context *ctx, const struct module_file *file)
{
	struct node *node = ctx->node;
	const struct initramfs_image *image = setting_next_initramfs(node);
	bool whole = take_options(ctx, &node->modprobe);

	if (image && initramfs_has_module(image, "nvidia"))
		whole &= take_options(ctx, &image->modprobe);
	if (!whole || !was_read(file->parameters)) {
		memset(&node->driver.params, 0, sizeof(node->driver.params));
		return;
	}
	take_defaults(ctx, file);
	node->driver.params.state = FACT_KNOWN;
}

static void next_driver_run(struct probe_context *ctx)
{
	const struct module_file *file = module_file_running(ctx->node, "nvidia");

	if (!file)
		return;
	take_module(&ctx->node->driver, file);
	probe_find_gsp_firmware(ctx);
	take_params(ctx, file);
}

const struct probe probe_next_driver = {
	.name = "next-driver",
	.phase = PHASE_ALL,
	.mounted_image_only = true,
	.run = next_driver_run,
};
