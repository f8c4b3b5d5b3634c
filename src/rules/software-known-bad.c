/* SPDX-License-Identifier: GPL-2.0-or-later */
/* software-known-bad.c - versions with known defects: rows of data/known-bad.tsv that hold on this node. */
#include "base/text.h"
#include "evaluate/known.h"

#define IDS_SHOWN 5

/* Returns when an upgrade of the component takes effect. */
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

/* The first sentence of the row's effect up to its reason, and the version that has the defect. */
static const char *title_of(struct rule_context *ctx, const struct known_bad_match *match)
{
	const char *effect = match->row->effect, *reason = strstr(effect, ": ");
	size_t n = text_sentence(effect);

	n -= n && effect[n - 1] == '.';
	if (reason && reason < effect + n)
		n = (size_t)(reason - effect);
	return text_printf(ctx, "%.*s: %s %s has a known defect", (int)n, effect,
			   component_name(match->row->component), match->version);
}

static void report_match(struct rule_context *ctx, const struct known_bad_match *match)
{
	static const enum severity severities[] = {
		[DEFECT_NOTE] = SEVERITY_INFO,
		[DEFECT_WARN] = SEVERITY_WARN,
		[DEFECT_ERR] = SEVERITY_ERR,
		[DEFECT_DATA] = SEVERITY_WARN,
	};
	const struct known_bad *row = match->row;
	const char *observed = row->effect;

	/* The version that a job loads is not known. */
	if (match->other)
		observed = text_printf(
			ctx, "%s Only programs that use %s are affected; %s is installed too.",
			row->effect, match->place ? match->place : match->version, match->other);
	FAIL_AS(ctx, match->other ? SEVERITY_INFO : severities[row->severity],
		.subject = text_printf(ctx, "%s %s (%s)", component_name(row->component),
				       match->version, row->id),
		.title = title_of(ctx, match), .observed = observed,
		.expected = expected_text(ctx, row), .remedy = row->cure,
		.source = known_source(ctx, row), .is_alone = true,
		.wrong_data = row->severity == DEFECT_DATA,
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

/* The first component whose version or presence is not known: path of the missing fact, and UNSAID for people.
 * NULL: there is none. */
static const char *unsaid_version(struct rule_context *ctx, const char **unsaid)
{
	for (enum component c = 0; c <= COMPONENT_KERNEL_ORG; c++) {
		struct component_versions versions;

		component_find(ctx->node, c, ctx->arena, &versions);
		if (versions.state == FACT_UNKNOWN)
			return versions.missing;
		if (!versions.unsaid)
			continue;
		*unsaid = text_printf(ctx, "the version of %s is not known", component_name(c));
		return versions.unsaid;
	}
	return NULL;
}

static void report_unknowns(struct rule_context *ctx, const struct unknowns *unknowns)
{
	const char *unsaid = NULL;
	const char *missing = unsaid_version(ctx, &unsaid);

	if (unknowns->count)
		UNKNOWN(ctx,
			.observed = text_printf(ctx,
						"the conditions of %zu known defect%s were not "
						"read: %s%s",
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
			report_match(ctx, match);
	}
	report_unknowns(ctx, &unknowns);
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "software.items", "driver.version", "os.kernel" });
}

static const struct rule software_known_bad_rules[] = {
	{
		.id = "software/known-bad",
		.title = "Jobs can fail or get wrong results: this version has a known defect",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_known_bad,
		.impact =
			"Jobs that meet the defect fail, hang, compute wrong results, are slow or get devices that are not theirs. Some defects crash the node.",
		.remedy = "Upgrade the component to the first version without the defect.",
		.activation = ACTIVATION_NEW_JOBS,
		.in_container_image = true,
		.reads =
			"The versions of driver, modules, libraries, container tools and kernel. GPUs, NICs, "
			"the kernel's configuration and the process's environment decide which defects apply.",
		.why = "Each row of known-bad.tsv is one defect that the maker documents: versions, conditions, effect and "
		       "cure. The table is installed with the documentation. An error affects every job, a warning common "
		       "jobs, a note rare ones. Rows for each component: "
#include "known-bad-summary.inc"
		       ". A row whose condition could not be read is unknown.",
		.check = "nvnodecheck facts software.items",
		.sources =
			"data/known-bad.tsv of this release: each row names its source and the state of it "
			"that was read",
	},
};

RULE_TABLE(software_known_bad);
