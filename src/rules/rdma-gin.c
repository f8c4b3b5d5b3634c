/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdma-gin.c - whether the NICs have GPU-initiated networking (rules rdma/nic-unsupported-for-ibgda and rdma/efa-gda). */
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/gpus.h"
#include "query/job-env.h"
#include "query/ports.h"

/* Numbers of NCCL_GIN_TYPE. Without it GIN uses its CPU proxy on EFA. */
#define GIN_TYPE_PROXY 2
#define GIN_TYPE_EFA 5

/* From this release on NCCL's GPU-initiated networking drives EFA, by the plugin aws-ofi-nccl 1.21
 * (aws-ofi-nccl: doc/gin-getting-started.md). */
#define NCCL_EFA "2.31.2"

#define EFA_DRIVER "3.3.0"
/* Of both halves: GIN refuses less, also with its proxy (aws-ofi-nccl: nccl_ofi_gin_init). */
#define EFA_GDRCOPY "2.5"

/* What GIN needs with its proxy, and with the EFA back end. */
struct requirement {
	const char *software, *title, *proxy, *gda;
};

static const struct requirement requirements[] = {
	{ "nccl", "NCCL", NULL, NCCL_EFA },
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
			      software_version_fact(ctx->arena, item));
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

/* Returns true if GIN's CPU proxy serves the job, which needs no support for the device. */
static bool is_proxy_enough(struct rule_context *ctx)
{
	struct job_value type = job_nccl(ctx->arena, ctx->node, "NCCL_GIN_TYPE");

	if (type.value)
		return strcmp(type.value, "2") == 0;
	return was_read(ctx->node->env.variables) && !is_asked_for(ctx, PROFILE_DEEPEP);
}

static void check_efa_gin(struct rule_context *ctx, const struct rdma_device *d, const char *fact)
{
	const struct software_item *nccl = node_software(ctx->node, "nccl");
	const char *version = nccl ? software_version_fact(ctx->arena, nccl) : NULL;

	if (is_proxy_enough(ctx))
		NOTE(ctx, .subject = d->name.value, .observed = "EFA: NCCL GIN uses its CPU proxy",
		     .evidence = { fact, "env.variables" });
	else if (!nccl)
		UNKNOWN(ctx, .subject = d->name.value,
			.observed = "EFA needs NCCL " NCCL_EFA ", and no NCCL was found here",
			.evidence = { "software.items", fact });
	else if (version_compare(nccl->version.value, NCCL_EFA) < 0)
		FAIL(ctx, .subject = d->name.value,
		     .observed = text_printf(ctx, "EFA, and NCCL is %s", nccl->version.value),
		     .expected = "NCCL " NCCL_EFA " and aws-ofi-nccl 1.21, or a ConnectX NIC",
		     .remedy =
			     "Upgrade NCCL to " NCCL_EFA
			     " or later and aws-ofi-nccl to 1.21 or later, and use NCCL GIN. NVSHMEM IBGDA "
			     "does not drive EFA.",
		     .evidence = { fact, version });
	else
		NOTE(ctx, .subject = d->name.value,
		     .observed = text_printf(
			     ctx, "EFA: GIN of NCCL %s drives it, NVSHMEM IBGDA does not",
			     nccl->version.value),
		     .evidence = { fact, version });
}

/* Returns true if the device fits. */
static bool check_device(struct rule_context *ctx, const struct rdma_device *d)
{
	const struct pci_device *pci = is_known(d->bdf) ? node_pci(ctx->node, d->bdf.value) : NULL;
	const struct nic_model *model = pci ? nic_model(pci) : NULL;
	const char *fact = fact_path(ctx->arena, "rdma.devices", d->name.value, "driver");

	if (!is_known(d->driver))
		UNKNOWN(ctx, .subject = d->name.value, .evidence = { fact });
	else if (is_efa(d))
		check_efa_gin(ctx, d, fact);
	else if (!str_is(d->driver, "mlx5_core"))
		FAIL(ctx, .subject = d->name.value,
		     .observed = text_printf(ctx, "driver %s", d->driver.value),
		     .expected = "a ConnectX-4 or later, driver mlx5_core", .evidence = { fact });
	else if (model && !model->generation && !model->virtual_function)
		FAIL(ctx, .subject = d->name.value, .observed = model->name,
		     .expected = "a ConnectX-4 or later",
		     .evidence = {
			     fact_path(ctx->arena, "pci.devices", d->bdf.value, "device_id") });
	else
		return true;
	return false;
}

static void check_unsupported(struct rule_context *ctx)
{
	size_t good = 0, before;

	if (skip_without_rdma(ctx))
		return;
	before = ctx->findings->count;
	for_each(d, &ctx->node->rdma.devices)
		good += check_device(ctx, d);
	/* One NIC that works is enough; the job's list leaves out the others. */
	if (good)
		rule_regrade(ctx, before, SEVERITY_INFO);
	if (good && ctx->findings->count == before)
		PASS(ctx, .evidence = { "rdma.devices" });
}

static const struct rule rdma_gin_rules[] = {
	{
		.id = "rdma/nic-unsupported-for-ibgda",
		.title = "GPU-initiated networking does not work with this NIC",
		.profiles = PROFILE_GIN_ANY,
		.used_variables = USED_BY_GIN_JOBS,
		.severity = SEVERITY_ERR,
		.evaluate = check_unsupported,
		.impact =
			"NVSHMEM IBGDA skips the device, and does not start if there is no other one. NCCL GIN has "
			"no GPU-initiated path on it.",
		.remedy =
			"Run jobs here without GPU-initiated networking: the CPU then starts the transfers. Jobs that "
			"need it run on a node with a ConnectX-4 or later; in a cloud that is another instance type.",
		.reads = "Driver and PCI id of every RDMA device; NCCL on disk.",
		.why = "IBGDA and NCCL's GDAKI write the queues and doorbells of an mlx5 device themselves. eRDMA, "
		       "bnxt_re and irdma have others. NCCL " NCCL_EFA
		       " drives EFA through aws-ofi-nccl 1.21; NVSHMEM IBGDA does not. If at least one NIC fits, the "
		       "others are notes.",
		.check = "ls -l /sys/class/infiniband/*/device/driver",
		.sources = "NVSHMEM 3.5.1: src/modules/transport/ibgda/ibgda.cpp\n"
			   "NCCL 2.30.7: src/transport/net_ib/gin.cc, ncclGinIbGdakiInitOnce()\n"
			   "aws-ofi-nccl (2026-08-21): doc/gin-getting-started.md\n"
			   "github.com/deepseek-ai/DeepEP issue 202",
	},
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

RULE_TABLE(rdma_gin);
