/* SPDX-License-Identifier: GPL-2.0-or-later */
/* software-known-bad.c - versions with known defects: rows of data/known-bad.tsv that hold on this node. */
#include "evaluate/known.h"

#define IDS_SHOWN 5

/* When an upgrade of the component is in use. */
static enum activation activation_of(enum component component)
{
	switch (component) {
	case COMPONENT_DRIVER:
	case COMPONENT_GDRCOPY:
	case COMPONENT_NVIDIA_FS:
	case COMPONENT_NV_PEER_MEM:
	case COMPONENT_EFA:
		return ACTIVATION_RELOAD;
	case COMPONENT_OFED:
	case COMPONENT_KERNEL:
	case COMPONENT_KERNEL_ORG:
		return ACTIVATION_REBOOT;
	case COMPONENT_CONTAINER_TOOLKIT:
	case COMPONENT_ENROOT:
		return ACTIVATION_RECREATE;
	default:
		return ACTIVATION_NEW_JOBS;
	}
}

static const char *expected_text(struct rule_context *ctx, const struct known_bad *row)
{
	const char *name = component_name(row->component);

	if (row->range == RANGE_OPEN)
		return text_printf(ctx, "no repaired version of %s is known", name);
	return text_printf(ctx, "%s %s or later", name, row->to);
}

static void tell(struct rule_context *ctx, const struct known_bad_match *match)
{
	static const enum severity severities[] = {
		[DEFECT_NOTE] = SEVERITY_INFO,
		[DEFECT_WARN] = SEVERITY_WARN,
		[DEFECT_ERR] = SEVERITY_ERR,
	};
	const struct known_bad *row = match->row;
	const char *observed = row->effect;

	/* Which of them a job loads is not known. */
	if (match->other)
		observed = text_printf(ctx, "%s It concerns what uses %s; %s is installed too.",
				       row->effect, match->place ? match->place : match->version,
				       match->other);
	FAIL_AS(ctx, match->other ? SEVERITY_INFO : severities[row->severity],
		.subject = text_printf(ctx, "%s %s (%s)", component_name(row->component),
				       match->version, row->id),
		.observed = observed, .expected = expected_text(ctx, row), .remedy = row->cure,
		.source = known_source(ctx, row), .is_alone = true,
		.activation = activation_of(row->component),
		.evidence = { match->fact, match->facts[0], match->facts[1], match->facts[2],
			      match->facts[3], match->facts[4] });
}

/* ---- what is not known ---- */

struct unknowns {
	size_t count;
	const char *ids;
	const char *fact;
};

static void note_unknown(struct rule_context *ctx, struct unknowns *unknowns,
			 const struct known_bad_match *match)
{
	if (!unknowns->count)
		unknowns->fact = match->facts[0];
	if (unknowns->count < IDS_SHOWN)
		unknowns->ids = text_printf(ctx, "%s%s%s", unknowns->count ? unknowns->ids : "",
					    unknowns->count ? ", " : "", match->row->id);
	unknowns->count++;
}

/* The first component that is there and does not say its version, or of which it is not known whether it is
 * there: path of the fact that is missing. NULL: of all it is known. */
static const char *unsaid_version(struct rule_context *ctx, const char **unsaid)
{
	for (enum component c = 0; c <= COMPONENT_KERNEL_ORG; c++) {
		struct component_versions versions;

		component_find(ctx->node, c, ctx->arena, &versions);
		if (versions.state == FACT_UNKNOWN)
			return versions.missing;
		if (!versions.unsaid)
			continue;
		*unsaid = text_printf(ctx, "nothing says which version of %s is installed",
				      component_name(c));
		return versions.unsaid;
	}
	return NULL;
}

static void tell_unknowns(struct rule_context *ctx, const struct unknowns *unknowns)
{
	const char *unsaid = NULL;
	const char *missing = unsaid_version(ctx, &unsaid);

	if (unknowns->count)
		UNKNOWN(ctx,
			.observed = text_printf(ctx,
						"what decides %zu known defect%s of the installed "
						"versions was not read: %s%s",
						unknowns->count, unknowns->count == 1 ? "" : "s",
						unknowns->ids,
						unknowns->count > IDS_SHOWN ? ", ..." : ""),
			.evidence = { unknowns->fact });
	else if (missing)
		UNKNOWN(ctx, .observed = unsaid, .evidence = { missing });
}

static void check_known_bad(struct rule_context *ctx)
{
	struct known_bad_matches matches = known_bad_find(ctx->node, ctx->endpoints, ctx->arena);
	size_t before = ctx->findings->count;
	struct unknowns unknowns = { 0 };

	for_each(match, &matches.items) {
		if (match->row->rule || !known_is_asked_for(ctx, match->row))
			continue;
		if (match->unknown)
			note_unknown(ctx, &unknowns, match);
		else
			tell(ctx, match);
	}
	tell_unknowns(ctx, &unknowns);
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "software.items", "driver.version", "os.kernel" });
}

static const struct rule software_known_bad_rules[] = {
	{
		.id = "software/known-bad",
		.title = "A version with a known defect is installed",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.gravest = SEVERITY_ERR,
		.evaluate = check_known_bad,
		.impact =
			"Jobs that meet the defect fail, hang, compute wrong results or are slow.",
		.remedy =
			"Upgrade the component to the first version without the defect, or do what the finding says.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"The versions of driver, modules, libraries, container tools and kernel, and what else "
			"decides whether a defect can be met: GPUs, NICs, the kernel's configuration, the "
			"environment of the process asked about.",
		.why = "Each row of known-bad.tsv, which is installed with the documentation, is one defect that its maker describes: in which versions, "
		       "under which conditions, what happens, what ends it. An error hits every job, a warning "
		       "common ones; a note is about rare work, a race or speed, or of several installed versions "
		       "only one is concerned. Rows for each component: "
#include "known-bad-summary.inc"
		       ". A row whose condition could not be read is unknown.",
		.check = "nvnodecheck facts software.items; the source that the finding names",
		.sources = "known-bad.tsv, which names the source of each row",
	},
};

RULE_TABLE(software_known_bad);
