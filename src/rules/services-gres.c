/* SPDX-License-Identifier: GPL-2.0-or-later */
/* services-gres.c - the lines of Slurm's gres.conf against each other and against slurm.conf (rules services/...). */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "evaluate/references.h"
#include "parse/gres.h"

#define RECORDS_MAX 256
#define GRES_CONF "/gres.conf"
#define SLURMD "slurmd.service"

/* The lines of one file, for this node. */
struct gres {
	const struct gres_record *records[RECORDS_MAX];
	size_t count;
	size_t with_devices, with_type;
	const struct gres_record *unread; /* a part of it is not known */
};

/* What is wrong. */
struct fault {
	const struct gres_record *record;
	enum severity severity;
	const char *observed, *expected, *impact, *remedy;
	const char *stops; /* the service that does not start; or NULL */
};

static struct gres records_of(const struct node *node, const char *file)
{
	struct gres gres = { .count = 0 };

	for_each(r, &node->references.gres) {
		if (!str_is(r->file, file) || gres.count == RECORDS_MAX)
			continue;
		gres.records[gres.count++] = r;
		gres.with_devices += is_known(r->devices);
		gres.with_type += is_known(r->type);
		if (is_unknown(r->devices) || is_unknown(r->type) || is_unknown(r->count) ||
		    is_unknown(r->repeated))
			gres.unread = r;
	}
	return gres;
}

static const char *record_fact(struct rule_context *ctx, const struct gres_record *r,
			       const char *member)
{
	return fact_item_path(ctx->arena, "references.gres",
			      (size_t)(r - ctx->node->references.gres.items), member);
}

/* ---- within the file: slurmd ends ---- */

static bool find_line_fault(struct rule_context *ctx, const struct gres *gres, struct fault *fault)
{
	for (size_t i = 0; i < gres->count; i++) {
		const struct gres_record *r = gres->records[i];

		*fault = (struct fault){ .record = r, .severity = SEVERITY_ERR, .stops = SLURMD };
		if (is_known(r->count) && is_known(r->devices) &&
		    r->count.value != r->devices.value) {
			fault->observed = text_printf(
				ctx,
				"line %" PRIu64 " has Count=%" PRIu64 " and %" PRIu64 " device%s",
				r->line.value, r->count.value, r->devices.value,
				r->devices.value == 1 ? "" : "s");
			fault->expected = "a count that is the number of devices, or none";
			fault->impact =
				"slurmd ends: \"fatal: Invalid GRES record for gpu, count does "
				"not match File value\".";
			return true;
		}
		if (is_known(r->repeated)) {
			fault->observed = text_printf(ctx,
						      "line %" PRIu64 " names %s a second time",
						      r->line.value, r->repeated.value);
			fault->expected = "each device once";
			fault->impact = "slurmd ends: \"gpu duplicate device file name\".";
			return true;
		}
	}
	return false;
}

/* The first line that is unlike the first one. */
static const struct gres_record *odd_one(const struct gres *gres, bool by_type)
{
	const struct gres_record *first = gres->records[0];

	for (size_t i = 1; i < gres->count; i++) {
		const struct gres_record *r = gres->records[i];

		if (by_type ? is_known(r->type) != is_known(first->type)
			    : is_known(r->devices) != is_known(first->devices))
			return r;
	}
	return first;
}

static bool find_mixture(struct rule_context *ctx, const struct gres *gres, struct fault *fault)
{
	bool files = gres->with_devices && gres->with_devices < gres->count;
	bool types = gres->with_type && gres->with_type < gres->count;
	bool bare = gres->count > 1 && !gres->with_devices && !gres->with_type;

	if (!files && !types && !bare)
		return false;
	*fault = (struct fault){ .record = odd_one(gres, !files),
				 .severity = SEVERITY_ERR,
				 .stops = SLURMD };
	if (bare) {
		fault->record = gres->records[1];
		fault->observed = text_printf(
			ctx, "lines %" PRIu64 " and %" PRIu64 " have neither File= nor Type=",
			gres->records[0]->line.value, fault->record->line.value);
		fault->expected = "one such line";
		fault->impact = "slurmd ends: \"fatal: gres.conf duplicate records for gpu\".";
		return true;
	}
	fault->observed = text_printf(
		ctx, "line %" PRIu64 " %s %s, unlike line %" PRIu64, fault->record->line.value,
		(files ? is_known(fault->record->devices) : is_known(fault->record->type))
			? "has"
			: "lacks",
		files ? "File=" : "Type=", gres->records[0]->line.value);
	fault->expected = files ? "File= in all lines of the GPUs, or in none"
				: "Type= in all lines of the GPUs, or in none";
	fault->impact =
		files ? "slurmd ends: \"fatal: gres.conf for gpu, some records have \"File\" "
			"specification while others do not\"."
		      : "slurmd ends: \"fatal: gres.conf for gpu, some records have \"Type=\" "
			"specification while others do not\".";
	return true;
}

/* ---- against slurm.conf ---- */

/* The line of slurm.conf that gives this node its GPUs. NULL: none, or several, which are not added up. */
static const struct reference *gres_beside(const struct node *node, const char *file)
{
	const struct reference *r = NULL, *only = NULL;

	while ((r = reference_next(node, REFERENCE_GRES, NULL, r))) {
		if (!known_is(r->kind, REFERENCE_AMOUNT) || !str_is(r->role, "Gres") ||
		    !path_is_beside(r->file.value, file))
			continue;
		if (only)
			return NULL;
		only = r;
	}
	return only;
}

/* Without AutoDetect the two files alone say what the node has. */
static bool is_detected(const struct node *node, const char *file)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_GRES, file, r)))
		if (known_is(r->kind, REFERENCE_VALUE) && str_is(r->role, SLURM_AUTODETECT))
			return strcasecmp(r->name.value, "off") != 0;
	return false;
}

static uint64_t amount_of(const struct gres_record *r)
{
	return is_known(r->count) ? r->count.value : is_known(r->devices) ? r->devices.value : 1;
}

static bool is_of_type(const struct gres_record *r, struct span type)
{
	return !type.n || (is_known(r->type) && strlen(r->type.value) == type.n &&
			   strncasecmp(r->type.value, type.p, type.n) == 0);
}

/* src/interfaces/gres.c, _merge_gres2(): the lines of the type, in their order, until there are enough. Returns how
 * many are missing. */
static uint64_t merge(const struct gres *gres, bool used[RECORDS_MAX], struct span type,
		      uint64_t wanted)
{
	for (size_t i = 0; i < gres->count && wanted; i++) {
		uint64_t amount = amount_of(gres->records[i]);

		if (used[i] || !is_of_type(gres->records[i], type))
			continue;
		used[i] = true;
		wanted -= amount < wanted ? amount : wanted;
	}
	return wanted;
}

static void set_shortage(struct rule_context *ctx, const struct reference *gres, struct span type,
			 uint64_t missing, struct fault *fault)
{
	fault->severity = SEVERITY_ERR;
	fault->observed = text_printf(ctx,
				      "%s has Gres=%s; gres.conf has %" PRIu64 " fewer GPUs%s%.*s",
				      reference_place(ctx->arena, gres), gres->name.value, missing,
				      type.n ? " of the type " : "", SPAN_FMT(type));
	fault->expected = "as many GPUs in gres.conf as in slurm.conf";
	fault->impact = "The node is drained: \"gres/gpu count reported lower than configured\".";
	fault->remedy =
		"Correct Type= and File= in gres.conf, or Gres= in slurm.conf. Then restart "
		"slurmctld and slurmd, and run scontrol update NodeName=... State=RESUME.";
}

static bool find_difference(struct rule_context *ctx, const struct gres *gres,
			    const struct reference *wanted, struct fault *fault)
{
	struct span rest = span_of(wanted->name.value), type;
	bool used[RECORDS_MAX] = { false };
	uint64_t count, total = 0, asked = 0;

	*fault = (struct fault){ .record = gres->records[0] };
	while (gres_next_gpu(&rest, &type, &count)) {
		uint64_t missing = count == UINT64_MAX ? 0 : merge(gres, used, type, count);

		asked += count == UINT64_MAX ? 0 : count;
		if (missing) {
			set_shortage(ctx, wanted, type, missing, fault);
			return true;
		}
	}
	for (size_t i = 0; i < gres->count; i++)
		total += amount_of(gres->records[i]);
	/* A type whose name is left out of a capture cannot be counted. */
	if (!asked || total <= asked)
		return false;
	fault->severity = SEVERITY_WARN;
	fault->observed = text_printf(ctx, "%s has Gres=%s; gres.conf has %" PRIu64 " GPUs",
				      reference_place(ctx->arena, wanted), wanted->name.value,
				      total);
	fault->expected = "as many GPUs in gres.conf as in slurm.conf";
	fault->impact = "slurmd ignores the GPUs that slurm.conf does not count: no job gets them.";
	fault->remedy =
		"Correct Gres= in slurm.conf on all nodes. Then restart slurmctld and slurmd. If "
		"the GPUs are not for jobs on purpose, take them out of gres.conf.";
	return true;
}

/* ---- the rule ---- */

static void fail(struct rule_context *ctx, const char *file, const struct fault *fault)
{
	FAIL_AS(ctx, fault->severity, .subject = file, .observed = fault->observed,
		.expected = fault->expected, .impact = fault->impact, .remedy = fault->remedy,
		.stops = fault->stops,
		.evidence = { record_fact(ctx, fault->record, "devices"),
			      record_fact(ctx, fault->record, "line") });
}

/* A slurm.conf beside FILE that was not understood to its end. */
static const struct reference_file *unread_beside(const struct node *node, const char *file)
{
	for_each(f, &node->references.files)
		if (known_is(f->format, REFERENCE_GRES) && path_is_beside(f->path.value, file) &&
		    !known_is(f->complete, true))
			return f;
	return NULL;
}

static void check_file(struct rule_context *ctx, const struct reference_file *file,
		       const void *user)
{
	const char *path = file->path.value;
	const struct reference_file *unread = unread_beside(ctx->node, path);
	const struct reference *wanted = gres_beside(ctx->node, path);
	struct gres gres = records_of(ctx->node, path);
	struct fault fault;

	(void)user;
	if (!span_ends(span_of(path), GRES_CONF))
		return;
	if (gres.count && (find_line_fault(ctx, &gres, &fault) ||
			   (!gres.unread && find_mixture(ctx, &gres, &fault))))
		fail(ctx, path, &fault);
	else if (gres.unread)
		UNKNOWN(ctx, .subject = path, .observed = "a line of it is not understood",
			.evidence = { record_fact(ctx, gres.unread, "devices") });
	else if (unread)
		UNKNOWN(ctx, .subject = path,
			.evidence = { fact_path(ctx->arena, "references.files", unread->path.value,
						"complete") });
	else if (!was_read(ctx->node->references.gres))
		UNKNOWN(ctx, .subject = path, .evidence = { "references.gres" });
	else if (gres.count && wanted && !is_detected(ctx->node, path) &&
		 find_difference(ctx, &gres, wanted, &fault))
		fail(ctx, path, &fault);
	else
		references_pass(ctx, file);
}

static void check_gres(struct rule_context *ctx)
{
	references_each(ctx, REFERENCE_GRES, check_file, NULL, "Slurm has no gres.conf");
}

static const struct rule services_gres_rules[] = {
	{
		.id = "services/gres-contradiction",
		.title =
			"Slurm does not start here, or drains the node: gres.conf contradicts itself or "
			"slurm.conf",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_gres,
		.impact = "slurmd does not start, or the node is drained.",
		.remedy = "Correct gres.conf, then run systemctl restart slurmd.",
		.activation = ACTIVATION_RESTART,
		.reads =
			"Name=, Type=, Count=, File= and AutoDetect= of this node's lines in gres.conf, and Gres= of this "
			"node in the slurm.conf beside it (/etc/slurm, /etc/slurm-llnl, the cache of a configless slurmd).",
		.why = "slurmd compares the lines about GPUs with each other and ends at a contradiction. It then takes from "
		       "gres.conf as many GPUs as slurm.conf counts. It drops GPUs without a device, so the node reports "
		       "fewer than slurmctld expects. With AutoDetect the GPUs that are found count, and the numbers are "
		       "not compared here. Values of NodeName=DEFAULT are not read.",
		.check = "slurmd -G; grep -n gpu /etc/slurm/gres.conf /etc/slurm/slurm.conf",
		.sources =
			"Slurm 26.05.3: src/interfaces/gres.c (_parse_gres_config, _foreach_gres_conf, "
			"_foreach_fill_in_gres_devices, _merge_gres2, _find_fileless_gres, _node_config_validate)\n"
			"Slurm 26.05.3: src/plugins/gres/gpu/gres_gpu.c (gres_p_node_config_load)\n"
			"Slurm 23.11.10: src/interfaces/gres.c (_match_type)",
	},
};

RULE_TABLE(services_gres);
