/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdma-efa.c - GPU-initiated networking over EFA (rule rdma/efa-gda). */
#include "base/array.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/job-env.h"
#include "query/ports.h"

/* NCCL's number for the EFA back end in NCCL_GIN_TYPE; without it GIN uses its CPU proxy on EFA. */
#define GIN_TYPE_EFA 5

#define EFA_DRIVER "3.3.0"
#define EFA_GDRCOPY "2.5"

struct requirement {
	const char *software, *title, *minimum;
};

static const struct requirement requirements[] = {
	{ "nccl", "NCCL", "2.31.2" },
	{ "aws-ofi-nccl", "aws-ofi-nccl", "1.21" },
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

static void check_software(struct rule_context *ctx, const struct requirement *r)
{
	const struct software_item *item = node_software(ctx->node, r->software);

	if (!item || !is_known(item->version))
		UNKNOWN(ctx, .subject = r->title,
			.observed = text_printf(ctx, "no %s with a version was found here",
						r->title),
			.evidence = { "software.items" });
	else
		check_version(ctx, r->title, item->version.value, r->minimum,
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

static void check_gda(struct rule_context *ctx)
{
	struct job_value type;
	long number;

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
		NOTE(ctx,
		     .observed = "NCCL_GIN_TYPE=5 is not set: NCCL GIN uses its CPU proxy on EFA",
		     .evidence = { type.value ? type.fact : "env.variables" });
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(requirements); i++)
		check_software(ctx, &requirements[i]);
	check_module(ctx, "efa", EFA_DRIVER);
	check_module(ctx, "gdrdrv", EFA_GDRCOPY);
}

static const struct rule rdma_efa_rules[] = {
	{
		.id = "rdma/efa-gda",
		.title = "GPU-initiated networking over EFA does not start",
		.profiles = PROFILE_GIN_ANY,
		.used_variables = "NCCL_GIN_TYPE",
		.severity = SEVERITY_WARN,
		.evaluate = check_gda,
		.impact =
			"NCCL GIN does not start with the EFA back end, which NCCL_GIN_TYPE=5 asks for.",
		.remedy =
			"Install EFA installer 1.50.0 or later and GDRCopy 2.5 or later. Or unset NCCL_GIN_TYPE: "
			"NCCL then uses its CPU proxy.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"NCCL_GIN_TYPE (also in nccl.conf); the versions of NCCL and aws-ofi-nccl on disk; the "
			"loaded modules efa and gdrdrv.",
		.why = "EFA-GDA lets the GPU post work to the EFA device itself. It needs NCCL 2.31.2, aws-ofi-nccl "
		       "1.21, libfabric 2.6.0, the EFA driver " EFA_DRIVER ", GDRCopy " EFA_GDRCOPY
		       " and PeerMappingOverride=1 (driver/peer-mapping-override). The guide also sets "
		       "NCCL_SYM_GIN_KERNELS_ENABLE=0. It works on the instance types "
		       "P5en, P6-B200 and P6-B300, which is not checked here. Without NCCL_GIN_TYPE=5 NCCL uses the "
		       "CPU proxy on EFA, and this is a note.",
		.check =
			"cat /sys/module/efa/version /sys/module/gdrdrv/version; NCCL_DEBUG=INFO shows \"NET/OFI "
			"gin GDAKI\"",
		.sources = "aws-ofi-nccl (2026-08-21): doc/gin-getting-started.md\n"
			   "github.com/aws/aws-ofi-nccl issue 1369 and pull 1371 (2026-08-27)",
	},
};

RULE_TABLE(rdma_efa);
