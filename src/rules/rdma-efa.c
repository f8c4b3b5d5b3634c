/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdma-efa.c - NCCL's GPU-initiated networking over EFA (rule rdma/efa-gda). */
#include "base/array.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/job-env.h"
#include "query/ports.h"

/* Numbers of NCCL_GIN_TYPE. Without it GIN uses its CPU proxy on EFA. */
#define GIN_TYPE_PROXY 2
#define GIN_TYPE_EFA 5

#define EFA_DRIVER "3.3.0"
/* Of both halves: GIN refuses less, also with its proxy (nccl_ofi_gin_listen). */
#define EFA_GDRCOPY "2.5"

/* What GIN needs with its proxy, and with the EFA back end. */
struct requirement {
	const char *software, *title, *proxy, *gda;
};

static const struct requirement requirements[] = {
	{ "nccl", "NCCL", NULL, "2.31.2" },
	{ "aws-ofi-nccl", "aws-ofi-nccl", "1.19", "1.21" },
	{ "gdrcopy", "libgdrapi", EFA_GDRCOPY, EFA_GDRCOPY },
};

static bool has_efa(const struct node *node)
{
	for_each(d, &node->rdma.devices)
		if (is_efa(d))
			return true;
	return false;
}

static void check_version(struct rule_context *ctx, const char *subject, const char *found,
			  const char *minimum, const char *fact)
{
	if (version_compare(found, minimum) >= 0)
		PASS(ctx, .subject = subject, .evidence = { fact });
	else
		FAIL(ctx, .subject = subject, .observed = text_printf(ctx, "%s %s", subject, found),
		     .expected = text_printf(ctx, "%s or later", minimum),
		     .remedy = text_printf(ctx, "Upgrade %s to %s or later.", subject, minimum),
		     .evidence = { fact });
}

static void check_software(struct rule_context *ctx, const struct requirement *r,
			   const char *minimum)
{
	const struct software_item *item = node_software(ctx->node, r->software);

	if (!minimum)
		return;
	if (!item || !is_known(item->version))
		UNKNOWN(ctx, .subject = r->title,
			.observed = text_printf(ctx, "no %s with a version was found here",
						r->title),
			.evidence = { "software.items" });
	else
		check_version(ctx, r->title, item->version.value, minimum,
			      fact_path(ctx->arena, "software.items", item->path.value, "version"));
}

static void check_module(struct rule_context *ctx, const char *name, const char *minimum)
{
	const struct module *module = node_module(ctx->node, name);
	const char *fact = fact_path(ctx->arena, "modules.loaded", name, "version");

	if (!was_read(ctx->node->modules.loaded))
		UNKNOWN(ctx, .subject = name, .evidence = { "modules.loaded" });
	else if (!module)
		FAIL(ctx, .subject = name, .observed = text_printf(ctx, "%s is not loaded", name),
		     .expected = text_printf(ctx, "%s %s or later", name, minimum),
		     .remedy = text_printf(ctx, "Install %s %s or later and load it.", name,
					   minimum),
		     .evidence = { "modules.loaded" });
	else if (!is_known(module->version))
		UNKNOWN(ctx, .subject = name,
			.observed = text_printf(ctx, "%s has no version (the kernel's own)", name),
			.evidence = { fact });
	else
		check_version(ctx, name, module->version.value, minimum, fact);
}

/* A job may have no use for GIN; with a gdrdrv that is loaded, it shall work. */
static void check_gdrdrv(struct rule_context *ctx, bool wanted)
{
	if (wanted || node_module(ctx->node, "gdrdrv"))
		check_module(ctx, "gdrdrv", EFA_GDRCOPY);
}

static void check_proxy(struct rule_context *ctx, const struct job_value *type, bool wanted)
{
	NOTE(ctx,
	     .observed = wanted ? "NCCL_GIN_TYPE=2: NCCL GIN uses its CPU proxy"
				: "NCCL_GIN_TYPE=5 is not set: NCCL GIN uses its CPU proxy on EFA",
	     .evidence = { type->value ? type->fact : "env.variables" });
	if (wanted || is_asked_for(ctx, PROFILE_NCCL_GIN))
		for (size_t i = 0; i < ARRAY_SIZE(requirements); i++)
			check_software(ctx, &requirements[i], requirements[i].proxy);
	check_gdrdrv(ctx, wanted || is_asked_for(ctx, PROFILE_NCCL_GIN));
}

static void check_gin(struct rule_context *ctx)
{
	struct job_value type;
	long number = 0;

	if (skip_without_rdma_device(ctx))
		return;
	if (!has_efa(ctx->node)) {
		NOT_APPLICABLE(ctx, .observed = "no EFA device", .evidence = { "rdma.devices" });
		return;
	}
	if (skip_without_nccl_variables(ctx))
		return;
	type = job_nccl(ctx->arena, ctx->node, "NCCL_GIN_TYPE");
	if (!job_number(&type, &number) || number != GIN_TYPE_EFA) {
		check_proxy(ctx, &type, type.value && number == GIN_TYPE_PROXY);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(requirements); i++)
		check_software(ctx, &requirements[i], requirements[i].gda);
	check_module(ctx, "efa", EFA_DRIVER);
	check_gdrdrv(ctx, true);
}

static const struct rule rdma_efa_rules[] = {
	{
		.id = "rdma/efa-gda",
		.title = "GPU-initiated networking over EFA does not start",
		.profiles = PROFILE_GIN_ANY,
		.used_variables = "NCCL_GIN_TYPE",
		.severity = SEVERITY_WARN,
		.evaluate = check_gin,
		.impact =
			"NCCL GIN does not start on EFA: neither with its CPU proxy nor with the EFA back end.",
		.remedy =
			"Install EFA installer 1.50.0 or later and GDRCopy 2.5 or later. Or unset NCCL_GIN_TYPE: "
			"NCCL then uses its CPU proxy.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"NCCL_GIN_TYPE (also in nccl.conf); the versions of NCCL, aws-ofi-nccl and libgdrapi on "
			"disk; the loaded modules efa and gdrdrv.",
		.why = "GIN over EFA is a part of aws-ofi-nccl from 1.19 on. With its CPU proxy it needs "
		       "GDRCopy " EFA_GDRCOPY
		       ": the lower version of libgdrapi and gdrdrv counts, and with less it ends with an "
		       "internal error. EFA-GDA lets the GPU post work to the EFA device itself. It needs "
		       "NCCL_GIN_TYPE=5, NCCL 2.31.2, aws-ofi-nccl 1.21, libfabric 2.6.0, the EFA "
		       "driver " EFA_DRIVER ", GDRCopy " EFA_GDRCOPY
		       " and PeerMappingOverride=1 (driver/peer-mapping-override). The guide also sets "
		       "NCCL_SYM_GIN_KERNELS_ENABLE=0. It works on the instance types "
		       "P5en, P6-B200 and P6-B300, which is not checked here.",
		.check =
			"cat /sys/module/efa/version /sys/module/gdrdrv/version; NCCL_DEBUG=INFO shows \"NET/OFI "
			"gin GDAKI\" with the EFA back end",
		.sources =
			"aws-ofi-nccl (2026-08-21): doc/gin-getting-started.md; v1.18.0 (no GIN), v1.19.0: "
			"src/gin/nccl_ofi_gin_api.cpp, src/nccl_ofi_gdrcopy.cpp (get_version)\n"
			"NCCL 2.31: src/include/nccl_device/core.h (ncclGinType)\n"
			"github.com/aws/aws-ofi-nccl issue 1369 and pull 1371 (2026-08-27)",
	},
};

RULE_TABLE(rdma_efa);
