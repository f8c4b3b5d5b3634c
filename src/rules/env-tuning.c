/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-tuning.c - NCCL variables that its documentation lists for debugging alone (rule env/nccl-tuning). */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "query/job-env.h"

static bool is_power_of_two(uint64_t value)
{
	return value && !(value & (value - 1));
}

static const char *fault_of_size(uint64_t value)
{
	return is_power_of_two(value) ? NULL : "a power of two";
}

/* A line of LL128 carries 120 bytes of data: sizes are 120 times a power of two (NCCL issue 1739). */
static const char *fault_of_ll128(uint64_t value)
{
	return value % 120 == 0 && is_power_of_two(value / 120) ? NULL : "120 times a power of two";
}

static const char *fault_of_threads(uint64_t value)
{
	return is_power_of_two(value) && value >= 64 && value <= 512 ? NULL : "64, 128, 256 or 512";
}

struct tuning {
	const char *variable;
	const char *(*fault)(uint64_t value); /* NULL: any value works */
	const char *harm;		      /* of a wrong value */
	bool wrong_data;		      /* the harm includes wrong results */
};

static const struct tuning tunings[] = {
	{ "NCCL_BUFFSIZE", fault_of_size, "Collectives can hang or deliver wrong data.", true },
	{ "NCCL_LL_BUFFSIZE", fault_of_size, "Collectives can hang or deliver wrong data.", true },
	{ "NCCL_LL128_BUFFSIZE", fault_of_ll128, "Collectives can hang or deliver wrong data.",
	  true },
	{ "NCCL_NTHREADS", fault_of_threads,
	  "NCCL takes 64 or 512 instead. A multiple of 32 it takes as it is: results can be wrong.",
	  false },
	{ "NCCL_ALGO", NULL, NULL, false },
	{ "NCCL_PROTO", NULL, NULL, false },
	{ "NCCL_MAX_NCHANNELS", NULL, NULL, false },
	{ "NCCL_MIN_NCHANNELS", NULL, NULL, false },
	{ "NCCL_MAX_CTAS", NULL, NULL, false },
	{ "NCCL_MIN_CTAS", NULL, NULL, false },
	{ "NCCL_SHM_DISABLE", NULL, NULL, false },
	{ "NCCL_PXN_DISABLE", NULL, NULL, false },
	{ "NCCL_NET_GDR_READ", NULL, NULL, false },
	{ "NCCL_P2P_NET_CHUNKSIZE", NULL, NULL, false },
	{ "NCCL_IB_QPS_PER_CONNECTION", NULL, NULL, false },
};

static void check_one(struct rule_context *ctx, const struct tuning *t, const struct job_value *v)
{
	const char *text = job_value_text(ctx->arena, ctx->node, v), *fault = NULL;
	long number;

	if (t->fault)
		fault = job_number(v, &number) && number >= 0 ? t->fault((uint64_t)number)
							      : "a number";
	if (fault)
		FAIL_AS(ctx, t->wrong_data ? SEVERITY_ERR : SEVERITY_WARN, .subject = t->variable,
			.observed = text, .expected = fault, .impact = t->harm,
			.wrong_data = t->wrong_data,
			.remedy = text_printf(
				ctx,
				"Unset %s in the job's environment and in nccl.conf, unless it was "
				"measured on this machine with this NCCL.",
				t->variable),
			.evidence = { v->fact });
	else
		NOTE(ctx, .subject = t->variable, .observed = text, .evidence = { v->fact });
}

static void check_tuning(struct rule_context *ctx)
{
	size_t before;

	if (skip_without_gpu(ctx) || skip_without_nccl_variables(ctx))
		return;
	before = ctx->findings->count;
	for (size_t i = 0; i < ARRAY_SIZE(tunings); i++) {
		struct job_value v = job_nccl(ctx->arena, ctx->node, tunings[i].variable);

		if (v.value)
			check_one(ctx, &tunings[i], &v);
	}
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "env.variables" });
}

static const struct rule env_tuning_rules[] = {
	{
		.id = "env/nccl-tuning",
		.title = "NCCL can be slow: a variable for debugging or tuning is set by hand",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_tuning,
		.impact = "NCCL does not choose for itself: jobs can be slow, or use more memory.",
		.remedy =
			"Unset the variable in the job's environment and in nccl.conf, unless it was measured on "
			"this machine with this NCCL.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"NCCL_BUFFSIZE, NCCL_LL_BUFFSIZE, NCCL_LL128_BUFFSIZE, NCCL_NTHREADS, NCCL_ALGO, NCCL_PROTO, "
			"NCCL_MAX_NCHANNELS and other variables for debugging (also in nccl.conf).",
		.why = "NCCL's documentation has most of these variables under Debugging: good for experiments, and not for "
		       "production. They often come from another machine or from the search for a fault. A value that NCCL "
		       "accepts is a note. An error is a buffer size that is not a power of two, or for LL128 not 120 times a "
		       "power of two: with such values jobs were seen to hang or to compute wrong results. Another number of threads "
		       "than 64, 128, 256 or 512 is a warning.",
		.check = "env | grep NCCL_; cat /etc/nccl.conf",
		.sources =
			"NCCL 2.30.7: docs/userguide/source/env.rst, Debugging; src/init.cc, NCCL_PARAM(BuffSize); "
			"src/graph/tuning.cc, getNthreads()\n"
			"github.com/NVIDIA/nccl issues 698 (2022-07-01) and 1739 (2025-06-11)",
	},
};

RULE_TABLE(env_tuning);
