/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-off.c - peer access that a job's environment switches off, and lines of nccl.conf without effect (rules
 * env/...). */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/endpoints.h"
#include "query/gpus.h"
#include "query/job-env.h"

/* ---- env/p2p-disabled ---- */

/* Consumer GPUs have peer access only with a patched driver: there the variable costs nothing. */
static enum severity severity_without_p2p(const struct rule_context *ctx)
{
	for_each(gpu, &ctx->endpoints->gpus)
		if (gpu_is_data_centre(gpu->chain.device))
			return SEVERITY_WARN;
	return SEVERITY_INFO;
}

static void fail_p2p(struct rule_context *ctx, const struct job_value *v, const char *whose)
{
	FAIL_AS(ctx, severity_without_p2p(ctx), .subject = v->name,
		.observed = text_printf(ctx, "%s: %s copies between GPUs through host memory",
					job_value_text(ctx->arena, ctx->node, v), whose),
		.expected = text_printf(ctx, "%s not set", v->name),
		.remedy = text_printf(
			ctx, "Unset %s in the job's environment%s, unless it is intended.", v->name,
			starts_with(v->name, "NCCL_") ? " and in nccl.conf" : ""),
		.evidence = { v->fact });
}

/* NCCL: src/graph/paths.cc, ncclGetLevel(): DISABLE counts before LEVEL, and only as 1. */
static void check_nccl_p2p(struct rule_context *ctx)
{
	struct job_value disable = job_nccl(ctx->arena, ctx->node, "NCCL_P2P_DISABLE");
	struct job_value level = job_nccl(ctx->arena, ctx->node, "NCCL_P2P_LEVEL");
	long number;

	if (job_number(&disable, &number) && number == 1)
		fail_p2p(ctx, &disable, "NCCL");
	else if (level.value &&
		 (strcmp(level.value, "LOC") == 0 || (job_number(&level, &number) && number == 0)))
		fail_p2p(ctx, &level, "NCCL");
}

static void check_p2p(struct rule_context *ctx)
{
	struct job_value nvshmem;
	size_t before;

	if (skip_without_gpu(ctx) || skip_without_nccl_variables(ctx) ||
	    skip_without_nvshmem_variables(ctx))
		return;
	if (ctx->endpoints->gpus.count < 2) {
		NOT_APPLICABLE(ctx, .observed = "one GPU", .evidence = { "pci.devices" });
		return;
	}
	before = ctx->findings->count;
	check_nccl_p2p(ctx);
	nvshmem = job_nvshmem(ctx->arena, ctx->node, "NVSHMEM_DISABLE_P2P");
	/* DeepEP sets this one itself, as its kernels need it. */
	if (job_is_on(&nvshmem) && !is_asked_for(ctx, PROFILE_DEEPEP))
		fail_p2p(ctx, &nvshmem, "NVSHMEM");
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "env.variables" });
}

/* ---- env/nccl-conf-line ---- */

/* From this release on a carriage return at the end of a line is taken away (src/misc/param.cc). */
#define NCCL_TAKES_CRLF "2.30"

static bool is_number(const char *value)
{
	return isdigit((unsigned char)value[strspn(value, " \t-+")]);
}

static const char *name_fault(const char *name)
{
	size_t n = strlen(name);

	if (starts_with(name, "export "))
		return "NCCL reads \"export\" as part of the name";
	if (n && isspace((unsigned char)name[n - 1]))
		return "a blank before the \"=\": NCCL reads it as part of the name";
	if (isspace((unsigned char)*name))
		return "a blank before the name: NCCL reads it as part of the name";
	return NULL;
}

/* A "#" after a blank, of either kind. */
static bool has_comment(const char *value)
{
	return strstr(value, " #") || strstr(value, "\t#");
}

static bool ends_with_blank(const char *value)
{
	size_t n = strcspn(value, "\r");

	return n && (value[n - 1] == ' ' || value[n - 1] == '\t');
}

/* NCCL reads the beginning of a number, so the rest of the line does no harm. */
static const char *value_fault(const char *value)
{
	if (*value == '"' || *value == '\'')
		return "the quotes are part of the value";
	if (is_number(value))
		return NULL;
	if (has_comment(value))
		return "the comment after the value is part of the value";
	if (isspace((unsigned char)*value))
		return "the blank after the \"=\" is part of the value";
	if (ends_with_blank(value))
		return "the blank at the end of the line is part of the value";
	return NULL;
}

static bool takes_crlf(const struct software_item *nccl)
{
	return nccl && version_compare(nccl->version.value, NCCL_TAKES_CRLF) >= 0;
}

static void check_line(struct rule_context *ctx, const struct env_setting *s, const char *fact)
{
	const struct software_item *nccl = node_software(ctx->node, "nccl");
	const char *fault = name_fault(s->name.value);
	size_t n = strlen(s->value.value);
	const char *where = text_printf(ctx, "%s:%" PRIu64, s->file.value, s->line.value);

	fault = fault ? fault : value_fault(s->value.value);
	if (fault)
		FAIL(ctx, .subject = where, .observed = fault, .expected = "NAME=VALUE",
		     .evidence = { fact });
	else if (n && s->value.value[n - 1] == '\r' && !is_number(s->value.value) &&
		 !takes_crlf(nccl))
		FAIL_AS(ctx, nccl ? SEVERITY_WARN : SEVERITY_INFO, .subject = where,
			.observed =
				"the line ends with a carriage return: NCCL before " NCCL_TAKES_CRLF
				" reads it as part of the value",
			.expected = "lines that end with a line feed only",
			.evidence = { fact,
				      nccl ? software_version_fact(ctx->arena, nccl) : NULL });
}

static void check_conf(struct rule_context *ctx)
{
	size_t before;

	/* The environment names the files: NCCL_CONF_FILE, HOME; or passwd does. */
	if (skip_without_nccl_variables(ctx))
		return;
	if (is_absent(ctx->node->env.nccl_conf)) {
		NOT_APPLICABLE(ctx, .observed = "no nccl.conf", .evidence = { "env.nccl_conf" });
		return;
	}
	before = ctx->findings->count;
	for_each(s, &ctx->node->env.nccl_conf)
		check_line(ctx, s, ITEM_FACT(ctx->arena, ctx->node, env.nccl_conf, s, value));
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "env.nccl_conf" });
}

static const struct rule env_off_rules[] = {
	{
		.id = "env/p2p-disabled",
		.title =
			"Copies between GPUs are slow: the job's environment switches peer access off",
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT_ANY,
		.used_variables = "NCCL_P2P_DISABLE NCCL_P2P_LEVEL NVSHMEM_DISABLE_P2P",
		.severity = SEVERITY_WARN,
		.evaluate = check_p2p,
		.impact =
			"Copies within the node leave NVLink and PCIe between the GPUs: NCCL's go through host memory, NVSHMEM's "
			"through the NIC, at a fraction of the bandwidth. Of NCCL only NCCL_DEBUG=INFO shows it.",
		.remedy =
			"Unset the variable in the job's environment and in nccl.conf, unless it is intended.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"NCCL_P2P_DISABLE and NCCL_P2P_LEVEL (also in nccl.conf) and NVSHMEM_DISABLE_P2P of the job; the "
			"GPUs.",
		.why = "These variables are often left over from the search for a hang. With data-centre GPUs the finding is "
		       "a warning: NCCL uses NVLink between them, or PCIe below common switches. Where they meet only in the processor, "
		       "NCCL copies through host memory by default, and the variable changes nothing. With other GPUs it is a note, because most "
		       "have no peer access. In the deepep profile NVSHMEM_DISABLE_P2P is not checked: DeepEP sets it "
		       "itself.",
		.check =
			"env | grep -E 'NCCL_P2P|NVSHMEM_DISABLE_P2P'; grep P2P /etc/nccl.conf ~/.nccl.conf",
		.sources =
			"NCCL 2.30.7: docs/userguide/source/env.rst; src/graph/paths.cc, ncclGetUserP2pLevel()\n"
			"NVSHMEM 3.5.1: src/host/transport/transport.cpp\n"
			"DeepEP 2.1.0: deep_ep/buffers/legacy.py, line 108\n"
			"github.com/NVIDIA/nccl issues 1199, 1608",
	},
	{
		.id = "env/nccl-conf-line",
		.title = "A line of nccl.conf does not set what it seems to set",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_conf,
		.impact = "NCCL uses its default, or a value that matches nothing, silently.",
		.remedy =
			"Write NAME=VALUE without blanks, quotes or \"export\", and comments on lines of their own.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"$NCCL_CONF_FILE, else ~/.nccl.conf of the job's user; /etc/nccl.conf; NCCL on disk.",
		.why = "NCCL cuts each line at the first \"=\" and uses both sides as they are. \"#\" begins a comment "
		       "only as the first character of a line. NCCL reads the beginning of a number and ignores the rest. "
		       "NCCL before " NCCL_TAKES_CRLF
		       " keeps the carriage return of files that were written on Windows. That is a warning if such a "
		       "release was found, and a note if no NCCL was found.",
		.check = "cat -A /etc/nccl.conf ~/.nccl.conf",
		.sources = "NCCL 2.29.7 and 2.30.7: src/misc/param.cc, setEnvFile()",
	},
};

RULE_TABLE(env_off);
