/* SPDX-License-Identifier: GPL-2.0-or-later */
/* next-boot.c - the next boot of an image: its kernel and command line, and the machine that it is for. */
#include <string.h>

#include "parse/version.h"
#include "probes/boot/boot-find.h"

/* ---- the kernel ---- */

/* A folder that depmod or a package has filled. */
static bool is_kernel(struct probe_context *ctx, const char *release)
{
	struct host_stat stat;

	return host_stat(ctx->host, &stat, "/lib/modules/%s/modules.dep", release) == 0 ||
	       host_stat(ctx->host, &stat, "/lib/modules/%s/kernel", release) == 0;
}

static const char *newest_kernel(struct probe_context *ctx)
{
	_cleanup_names_ struct names names = { 0 };
	const char *newest = NULL;

	if (host_list(ctx->host, &names, "/lib/modules"))
		return NULL;
	for (size_t i = 0; i < names.count; i++)
		if (is_kernel(ctx, names.items[i]) &&
		    (!newest || version_compare(names.items[i], newest) > 0))
			newest = names.items[i];
	return newest ? arena_strdup(ctx->arena, newest) : NULL;
}

/* The first entry of the menu for it, in place of the loader's choice; without one its image is found by its name. */
static void boot_instead(struct probe_context *ctx, const char *kernel)
{
	struct boot_facts *boot = &ctx->node->boot;

	for (uint32_t i = 0; i < boot->entries.count; i++) {
		if (str_is(boot->entries.items[i].kernel, kernel)) {
			boot_set_next(ctx, i);
			return;
		}
	}
	boot->next_entry = boot->next_initrd = (struct fact_str){ 0 };
	boot->next_kernel = fact_str(ctx->arena, kernel);
	ctx->node->cmdline.staged = (struct cmdline_text){ 0 };
}

static void choose_kernel(struct probe_context *ctx)
{
	struct os_facts *os = &ctx->node->os;
	const struct fact_str *next = &ctx->node->boot.next_kernel;
	const char *kernel = ctx->how->kernel, *from = "option";

	/* An invalid or missing kernel is ignored here; the command has refused it. */
	if (kernel &&
	    (!*kernel || *kernel == '.' || strchr(kernel, '/') || !is_kernel(ctx, kernel)))
		kernel = NULL;
	if (!kernel && is_known(*next)) {
		from = "boot-loader";
	} else if (!kernel) {
		kernel = newest_kernel(ctx);
		from = kernel ? "newest" : "none";
	}
	if (kernel && !str_is(*next, kernel))
		boot_instead(ctx, kernel);
	os->next_boot = fact_str(ctx->arena, from);
	if (is_known(*next))
		os->kernel = *next;
}

static void choose_cmdline(struct probe_context *ctx)
{
	const struct fact_str *text = &ctx->node->cmdline.staged.text;

	if (!is_unknown(*text))
		probe_set_cmdline(ctx, span_of(is_known(*text) ? text->value : ""));
}

/* ---- the machine ---- */

static void take_os(struct os_facts *os, const struct os_facts *machine)
{
	os->machine = machine->machine;
	os->cpu_vendor = machine->cpu_vendor;
	os->cpu_model = machine->cpu_model;
	os->cpu_family = machine->cpu_family;
	os->cpu_model_number = machine->cpu_model_number;
	os->cpus = machine->cpus;
	os->cpu_ibt = machine->cpu_ibt;
	os->memory_bytes = machine->memory_bytes;
	os->hypervisor = machine->hypervisor;
	os->product = machine->product;
	os->cloud = machine->cloud;
	os->secure_boot = machine->secure_boot;
}

static void take_hardware(struct probe_context *ctx)
{
	struct node *machine = arena_alloc(ctx->arena, sizeof(*machine));
	size_t count;
	const struct probe *const *probes = probe_table(&count);

	fact_copy(&node_desc, machine, ctx->arena, ctx->how->hardware, NULL);
	take_os(&ctx->node->os, &machine->os);
	for (size_t i = 0; i < count; i++)
		if (probes[i]->is_hardware)
			memcpy((char *)ctx->node + probes[i]->section,
			       (const char *)machine + probes[i]->section, probes[i]->section_size);
}

static void next_boot_run(struct probe_context *ctx)
{
	choose_kernel(ctx);
	choose_cmdline(ctx);
	if (ctx->how->hardware)
		take_hardware(ctx);
}

const struct probe probe_next_boot = {
	.name = "next-boot",
	.phase = PHASE_ALONE,
	.mounted_image_order = 5,
	.mounted_image_only = true,
	.run = next_boot_run,
};
