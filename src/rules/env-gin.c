/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-gin.c - what a job's environment takes away from NCCL's device API: symmetric memory, GPU-initiated
 * networking (GIN), NVLink multicast and NVLink between nodes (rules env/...). */
#include "base/array.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/job-env.h"

/* NCCL: docs/userguide/source/usage/deviceapi.rst. */
#define NCCL_GIN "2.28.7"
/* From this release on NCCL tests NCCL_CROSS_NIC before it offers GIN (src/init.cc, crossNicSupported). */
#define NCCL_GIN_CROSS_NIC "2.29.2"
/* From this release on NCCL_CROSS_NIC=0 leaves GIN within a rail (src/init.cc, NCCL_GIN_CONNECTION_RAIL). */
#define NCCL_GIN_RAIL "2.29.7"
/* DeepEP runs on NCCL from this release on; before, on NVSHMEM. */
#define DEEPEP_ON_NCCL "2.0.0"

static bool is_zero(const struct job_value *v)
{
	long number;

	return job_number(v, &number) && number == 0;
}

/* ---- env/cross-nic-with-gin ---- */

/* Why GPU-initiated networking is not in use, or NULL. */
static const char *without_gin(struct rule_context *ctx)
{
	const struct software_item *nccl = node_software(ctx->node, "nccl");
	struct job_value enable = job_nccl(ctx->arena, ctx->node, "NCCL_GIN_ENABLE");
	struct job_value type = job_nccl(ctx->arena, ctx->node, "NCCL_GIN_TYPE");
	struct job_value off = job_env(ctx->arena, ctx->node, "EP_DISABLE_GIN");

	if (is_zero(&enable))
		return "NCCL_GIN_ENABLE is 0";
	if (job_is_on(&off))
		return "EP_DISABLE_GIN is set";
	if (nccl && version_compare(nccl->version.value, NCCL_GIN) < 0)
		return text_printf(ctx, "NCCL %s has no GPU-initiated networking",
				   nccl->version.value);
	if (nccl && version_compare(nccl->version.value, NCCL_GIN_CROSS_NIC) < 0)
		return text_printf(ctx, "NCCL %s does not test NCCL_CROSS_NIC for GIN",
				   nccl->version.value);
	if (!is_asked_for(ctx, PROFILE_GIN_ANY) && !type.value)
		return "nothing here asks for GPU-initiated networking";
	return NULL;
}

static void answer_cross_nic(struct rule_context *ctx, const struct job_value *v)
{
	const struct software_item *nccl = node_software(ctx->node, "nccl");
	const char *text = job_value_text(ctx->arena, ctx->node, v);
	const char *version = nccl ? software_version_fact(ctx->arena, nccl) : NULL;

	if (!nccl)
		UNKNOWN(ctx, .subject = v->name,
			.observed = text_printf(ctx,
						"%s: harmful with NCCL " NCCL_GIN_CROSS_NIC
						" and 2.29.3, and no NCCL was found here",
						text),
			.evidence = { "software.items", v->fact });
	else if (version_compare(nccl->version.value, NCCL_GIN_RAIL) >= 0)
		NOTE(ctx, .subject = v->name,
		     .observed = text_printf(ctx,
					     "%s: GIN works within a rail only; DeepEP needs its "
					     "hybrid mode, which is the default",
					     text),
		     .evidence = { v->fact, version });
	else
		FAIL(ctx, .subject = v->name,
		     .observed = text_printf(ctx, "%s with NCCL %s", text, nccl->version.value),
		     .expected = "1 or 2 (the default)", .evidence = { v->fact, version });
}

static void check_cross_nic(struct rule_context *ctx)
{
	struct job_value v;
	const char *without;

	if (skip_without_nccl_variables(ctx))
		return;
	v = job_nccl(ctx->arena, ctx->node, "NCCL_CROSS_NIC");
	without = without_gin(ctx);
	if (!is_zero(&v))
		PASS(ctx, .evidence = { v.value ? v.fact : "env.variables" });
	else if (without)
		NOT_APPLICABLE(ctx, .observed = without, .evidence = { "env.variables" });
	else
		answer_cross_nic(ctx, &v);
}

/* ---- env/nccl-features-off ---- */

struct feature {
	const char *variable;
	const char *lost;
	bool for_gin;  /* GPU-initiated networking does not work without it */
	bool for_tray; /* nor NVLink between the nodes of a GB200 or GB300 system */
};

/* NCCL 2.30.7: src/init.cc (symmetricSupport), src/mnnvl.cc, src/transport/nvls.cc. */
static const struct feature features[] = {
	{ "NCCL_CUMEM_ENABLE", "symmetric memory, GIN and NVLink between nodes", true, true },
	{ "NCCL_WIN_ENABLE", "symmetric memory and GIN", true, false },
	{ "NCCL_GIN_ENABLE", "GPU-initiated networking (GIN)", true, false },
	{ "NCCL_NVLS_ENABLE", "NVLink SHARP (NVLS)", false, false },
	{ "NCCL_MNNVL_ENABLE", "NVLink between nodes (MNNVL)", false, true },
};

/* GPU-initiated networking does not start without symmetric memory. DeepEP runs on it from 2.0 on; DeepEP 1 needs
 * neither. */
static enum severity severity_of_feature(struct rule_context *ctx, const struct feature *feature)
{
	const struct software_item *deepep = node_software(ctx->node, "deepep");
	struct job_value off = job_env(ctx->arena, ctx->node, "EP_DISABLE_GIN");

	if (feature->for_tray && node_is(ctx->node, KIND_GB200))
		return SEVERITY_ERR;
	if (!feature->for_gin || !is_asked_for(ctx, PROFILE_GIN_ANY))
		return SEVERITY_INFO;
	if (is_asked_for(ctx, PROFILE_NCCL_GIN))
		return SEVERITY_ERR;
	if (job_is_on(&off))
		return SEVERITY_INFO;
	if (!deepep)
		return SEVERITY_WARN;
	return version_compare(deepep->version.value, DEEPEP_ON_NCCL) >= 0 ? SEVERITY_ERR
									   : SEVERITY_INFO;
}

static void check_features(struct rule_context *ctx)
{
	size_t before;

	if (skip_without_gpu(ctx) || skip_without_nccl_variables(ctx))
		return;
	before = ctx->findings->count;
	for (size_t i = 0; i < ARRAY_SIZE(features); i++) {
		const struct feature *f = &features[i];
		struct job_value v = job_nccl(ctx->arena, ctx->node, f->variable);

		if (is_zero(&v))
			FAIL_AS(ctx, severity_of_feature(ctx, f), .subject = f->variable,
				.observed = text_printf(ctx, "%s switches off %s",
							job_value_text(ctx->arena, ctx->node, &v),
							f->lost),
				.expected = text_printf(ctx, "%s not set", f->variable),
				.remedy = text_printf(
					ctx, "Unset %s in the job's environment and in nccl.conf.",
					f->variable),
				.evidence = { v.fact });
	}
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "env.variables" });
}

static const struct rule env_gin_rules[] = {
	{
		.id = "env/cross-nic-with-gin",
		.title = "GPU-initiated NCCL does not start: NCCL_CROSS_NIC is 0",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.used_variables = "NCCL_GIN_*",
		.severity = SEVERITY_ERR,
		.evaluate = check_cross_nic,
		.impact = "NCCL offers no GIN, and between nodes no symmetric memory.",
		.remedy =
			"Unset NCCL_CROSS_NIC on every node and in nccl.conf, or upgrade NCCL to " NCCL_GIN_RAIL
			".",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"NCCL_CROSS_NIC, NCCL_GIN_ENABLE and NCCL_GIN_TYPE (also in nccl.conf), EP_DISABLE_GIN; NCCL "
			"on disk.",
		.why = "NCCL " NCCL_GIN_CROSS_NIC
		       " and 2.29.3 offer GIN only if NCCL_CROSS_NIC is not 0. From " NCCL_GIN_RAIL
		       " on NCCL then offers GIN within a rail, for all ranks if one of them has 0. DeepEP 2 needs "
		       "NCCL 2.30.4 and uses that in its hybrid mode: a note. Without that mode it stops with \"NCCL "
		       "GIN is unavailable\". The rule applies in the profiles deepep and nccl-gin, and where "
		       "NCCL_GIN_TYPE is set.",
		.check = "env | grep NCCL_; cat /etc/nccl.conf",
		.sources =
			"NCCL 2.28.9, 2.29.2, 2.29.3 and 2.29.7: src/init.cc (symmetricSupport; ginSupport; "
			"globalGinSupport); src/graph/search.cc, ncclTopoCheckCrossNicSupport()\n"
			"DeepEP 2.1.0: README.md (Requirements), csrc/kernels/backend/nccl.cu (railedGinType)\n"
			"github.com/NVIDIA/nccl issues 1993, 2203",
	},
	{
		.id = "env/nccl-features-off",
		.title = "The job's environment switches off what NCCL needs",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_INFO,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_features,
		.impact =
			"DeepEP 2 does not start without symmetric memory and GIN. On GB200 and GB300 traffic between "
			"nodes leaves NVLink.",
		.remedy = "Unset the variable in the job's environment and in nccl.conf.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"NCCL_CUMEM_ENABLE, NCCL_WIN_ENABLE, NCCL_GIN_ENABLE, NCCL_NVLS_ENABLE and "
			"NCCL_MNNVL_ENABLE (also in nccl.conf), EP_DISABLE_GIN; DeepEP on disk.",
		.why = "Symmetric memory needs NCCL_WIN_ENABLE and NCCL_CUMEM_ENABLE. Beyond one NVLink domain it needs GIN too. "
		       "NVLink between nodes needs NCCL_CUMEM_ENABLE. These variables are often left over from the "
		       "search for a fault. The finding is an error where DeepEP 2 is installed and the deepep "
		       "profile is asked for, in the nccl-gin profile, and on a tray of GB200 or GB300. It is a warning in the deepep profile "
		       "if no DeepEP was found, and else a note: NCCL then has only other algorithms.",
		.check = "env | grep NCCL_; cat /etc/nccl.conf",
		.sources =
			"NCCL 2.30.7: src/init.cc (symmetricSupport), src/mnnvl.cc, ncclMnnvlCheck(); "
			"docs/userguide/source/usage/deviceapi.rst, Requirements; docs/userguide/source/env.rst\n"
			"DeepEP 2.1.0: csrc/kernels/backend/nccl.cu",
	},
};

RULE_TABLE(env_gin);
