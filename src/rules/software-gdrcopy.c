/* SPDX-License-Identifier: GPL-2.0-or-later */
/* software-gdrcopy.c - whether GDRCopy's two halves work together (rule software/gdrcopy-versions). */
#include <string.h>

#include "evaluate/skip.h"
#include "parse/version.h"

/* Each half of release 2.0 and later refuses the other before 2.0 (gdrapi.h, MINIMUM_GDRDRV_VERSION; gdrdrv.h,
 * MINIMUM_GDR_API_VERSION). */
#define FLOOR "2.0"

/* With a copy of each age on disk, jobs can use the newer one. */
static bool is_newer(const struct software_item *a, const struct software_item *b)
{
	return is_known(a->version) &&
	       (!is_known(b->version) || version_compare(a->version.value, b->version.value) > 0);
}

static const struct software_item *find_library(const struct node *node)
{
	const struct software_item *found = NULL;

	for_each(item, &node->software.items)
		if (str_is(item->name, "gdrcopy") && strstr(item->path.value, "/libgdrapi.so") &&
		    (!found || is_newer(item, found)))
			found = item;
	return found;
}

static void compare(struct rule_context *ctx, const struct module *module,
		    const struct software_item *library)
{
	const char *driver = module->version.value, *own = library->version.value;
	const char *driver_fact = "modules.loaded[gdrdrv].version";
	const char *fact = software_version_fact(ctx->arena, library);
	bool old_driver = version_compare(driver, FLOOR) < 0;
	bool old_library = version_compare(own, FLOOR) < 0;

	if (old_driver == old_library)
		PASS(ctx, .observed = text_printf(ctx, "gdrdrv %s, libgdrapi %s", driver, own),
		     .evidence = { driver_fact, fact });
	else
		FAIL_AS(ctx, is_asked_for(ctx, PROFILE_DEEPEP) ? SEVERITY_ERR : SEVERITY_WARN,
			.observed = text_printf(ctx, "gdrdrv %s is loaded; %s is of version %s",
						driver, library->path.value, own),
			.expected = "both of version " FLOOR " or later",
			.remedy =
				old_driver
					? text_printf(
						  ctx,
						  "Install gdrdrv %s, the version of libgdrapi, then load it again.",
						  own)
					: text_printf(
						  ctx,
						  "Install libgdrapi %s, the version of the loaded gdrdrv module.",
						  driver),
			.activation = old_driver ? ACTIVATION_RELOAD : ACTIVATION_NEW_JOBS,
			.evidence = { driver_fact, fact });
}

static void check_versions(struct rule_context *ctx)
{
	const struct module *module = node_module(ctx->node, "gdrdrv");
	const struct software_item *library = find_library(ctx->node);

	if (skip_without_modules(ctx))
		return;
	if (!module)
		NOT_APPLICABLE(ctx, .observed = "gdrdrv is not loaded",
			       .evidence = { "modules.loaded" });
	else if (!library && skip_unless_software_whole(ctx))
		return;
	else if (!library)
		NOT_APPLICABLE(ctx, .observed = "no libgdrapi was found on this node",
			       .evidence = { "software.items" });
	else if (!is_known(module->version))
		UNKNOWN(ctx,
			.observed = is_absent(module->version) ? "gdrdrv does not say its version"
							       : NULL,
			.evidence = { "modules.loaded[gdrdrv].version" });
	else if (!is_known(library->version))
		UNKNOWN(ctx,
			.observed = text_printf(ctx, "the name of %s has no version",
						library->path.value),
			.evidence = { software_version_fact(ctx->arena, library) });
	else
		compare(ctx, module, library);
}

static const struct rule software_gdrcopy_rules[] = {
	{
		.id = "software/gdrcopy-versions",
		.title = "GDRCopy fails: gdrdrv and libgdrapi do not work together",
		.is_reason_name = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_versions,
		.impact =
			"gdr_open() fails. NVSHMEM loses its CPU-assisted mode, and UCX is slower for small messages.",
		.remedy = "Install gdrdrv and libgdrapi of one release.",
		.activation = ACTIVATION_RELOAD,
		.in_container_image = true,
		.reads = "/sys/module/gdrdrv/version, and the name of libgdrapi.so.",
		.why = "Each half checks the version of the other. From 2.0 on all releases up to 2.6 work together: an older "
		       "gdrdrv only lacks the newer functions. Outside the profile deepep this is a warning.",
		.check =
			"cat /sys/module/gdrdrv/version; ldconfig -p | grep libgdrapi; gdrcopy_sanity",
		.sources =
			"github.com/NVIDIA/gdrcopy v2.3.1, v2.6: src/gdrapi.c (gdr_open_gdrdrv_internal), "
			"include/gdrapi.h, src/gdrdrv/gdrdrv.h",
	},
};

RULE_TABLE(software_gdrcopy);
