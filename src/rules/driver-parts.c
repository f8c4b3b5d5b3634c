/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-parts.c - libraries and programs that have to be of the driver's version (rule driver/parts-differ). */
#include <string.h>

#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/driver-files.h"
#include "query/driver-parts.h"
#include "query/pci-device.h"

static struct fact_bool has_nvswitch(const struct node *node)
{
	for_each(d, &node->pci.devices)
		if (pci_is_nvswitch(d))
			return fact_bool(true);
	return was_read(node->pci.devices) ? fact_bool(false) : (struct fact_bool){ 0 };
}

/* Of one part: a copy of another version does not matter beside one that fits, as with libcuda. */
struct found {
	const struct software_item *fits;
	const struct software_item *other;
	const struct software_item *unread;
};

static struct found find_part(const struct node *node, const struct driver_part *part)
{
	const char *driver = node->driver.version.value;
	struct found found = { 0 };

	for_each(item, &node->software.items) {
		if (!str_is(item->name, part->name) || strstr(item->path.value, "/compat/"))
			continue;
		if (!is_known(item->version))
			found.unread = item;
		else if (part->is_equal ? str_is(item->version, driver)
					: driver_same_branch(item->version.value, driver))
			found.fits = item;
		else if (!found.other ||
			 version_compare(item->version.value, found.other->version.value) > 0)
			found.other = item;
	}
	return found;
}

static void fail_part(struct rule_context *ctx, const struct driver_part *part,
		      const struct software_item *item)
{
	FAIL_AS(ctx, part->is_warning ? SEVERITY_WARN : SEVERITY_INFO, .subject = item->path.value,
		.observed = text_printf(ctx, "it is %s, the kernel module %s: %s",
					item->version.value, ctx->node->driver.version.value,
					part->effect),
		.expected = part->is_equal ? "the driver's version" : "the driver's branch",
		.remedy = part->cure, .source = part->source,
		.evidence = { software_version_fact(ctx->arena, item), "driver.version" });
}

/* True where the part is here. */
static bool check_part(struct rule_context *ctx, const struct driver_part *part)
{
	struct found found = find_part(ctx->node, part);
	struct fact_bool needed = part->for_nvswitch ? has_nvswitch(ctx->node) : fact_bool(true);

	if ((!found.fits && !found.other && !found.unread) || known_is(needed, false))
		return false;
	if (found.fits)
		return true;
	if (found.unread || !is_known(needed))
		UNKNOWN(ctx, .subject = part->name,
			.severity = part->is_warning ? SEVERITY_WARN : SEVERITY_INFO,
			.graded = true,
			.evidence = { found.unread ? software_version_fact(ctx->arena, found.unread)
						   : "pci.devices" });
	else
		fail_part(ctx, part, found.other);
	return true;
}

static void check_parts(struct rule_context *ctx)
{
	struct driver_libraries libraries;
	size_t before = ctx->findings->count, here = 0;

	if (skip_without_driver(ctx))
		return;
	libraries = driver_libraries(ctx->node);
	if (!libraries.same && libraries.other) {
		NOT_APPLICABLE(
			ctx,
			.observed =
				"the libraries differ as a whole: driver/library-mismatch reports it",
			.evidence = { software_version_fact(ctx->arena, libraries.other),
				      "driver.version" });
		return;
	}
	for (const struct driver_part *part = driver_parts; part->name; part++)
		here += check_part(ctx, part);
	if (ctx->findings->count > before || skip_unless_software_whole(ctx))
		return;
	if (here)
		PASS(ctx, .evidence = { "software.items", "driver.version" });
	else
		NOT_APPLICABLE(ctx, .observed = "none of these parts was found on this node",
			       .evidence = { "software.items" });
}

static const struct rule driver_parts_rules[] = {
	{
		.id = "driver/parts-differ",
		.title = "A part of the driver does not work: it is of another version",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_parts,
		.impact = "nvidia-smi and simple CUDA programs work; what needs that part fails.",
		.remedy = "Install all packages of the driver in one version.",
		.activation = ACTIVATION_RESTART,
		.reads =
			"The versions in the names of libnvidia-nscq, libnvsdm, libnvidia-cfg, libnvidia-ptxjitcompiler, "
			"libnvidia-nvvm and others, the version of nvidia-imex, and that of the loaded driver.",
		.why = "These parts come in packages of their own, and an update or a removal can leave one behind. A copy of "
		       "another version beside the right one is ignored. data/driver-parts.tsv has the parts.",
		.check =
			"cat /sys/module/nvidia/version; ls /usr/lib/*/libnvidia-*.so.*.* /usr/lib64/libnvidia-*.so.*.*",
		.sources = "data/driver-parts.tsv of this release: the source of each row\n"
			   "NVIDIA driver 580.105.08 README: installedcomponents.html",
	},
};

RULE_TABLE(driver_parts);
