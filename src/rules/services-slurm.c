/* SPDX-License-Identifier: GPL-2.0-or-later */
/* services-slurm.c - whether Slurm's gres.conf fits the node (rules services/...). */
#include <string.h>

#include "evaluate/references.h"

#define LIBRARY "libnvidia-ml.so"

/* The library's SONAME, which releases since 24.05.5 look for as well. */
static bool has_soname(const struct node *node)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_GRES, NULL, r)))
		if (str_is(r->name, LIBRARY ".1"))
			return reference_state(r) != REFERENCE_MISSING;
	return false;
}

/* One of the two names of the library is enough, and that is said of the first. */
static bool counts(const struct node *node, const struct reference *r)
{
	(void)node;
	return !str_is(r->name, LIBRARY ".1");
}

static enum severity grade(const struct rule_context *ctx, const struct reference *r,
			   enum reference_state state)
{
	(void)state;
	return known_is(r->kind, REFERENCE_LIBRARY) && has_soname(ctx->node) ? SEVERITY_WARN
									     : SEVERITY_ERR;
}

static const char *what_breaks(struct rule_context *ctx, const struct reference *r)
{
	if (!known_is(r->kind, REFERENCE_LIBRARY))
		return "slurmd does not start: \"fatal: can't stat gres.conf file\" after 20 seconds, or "
		       "\"fatal: Invalid GRES data\".";
	if (has_soname(ctx->node))
		return "Slurm before 24.05.5 looks for " LIBRARY
		       " alone: slurmd starts, finds no GPU, and the "
		       "node is drained, \"gres/gpu count reported lower than configured\".";
	return "slurmd starts, finds no GPU, and the node is drained: \"gres/gpu count reported lower than "
	       "configured\".";
}

static const char *remedy(struct rule_context *ctx, const struct reference *r)
{
	if (known_is(r->kind, REFERENCE_LIBRARY) && has_soname(ctx->node))
		return "ln -s libnvidia-ml.so.1 " LIBRARY
		       " beside it, ldconfig, systemctl restart slurmd; or "
		       "AutoDetect=nvidia (Slurm 24.11 and later), which needs no library.";
	if (known_is(r->kind, REFERENCE_LIBRARY))
		return "Install the driver's user space in the version of the loaded driver, then systemctl "
		       "restart slurmd; or AutoDetect=nvidia (Slurm 24.11 and later), which needs no library.";
	if (known_is(r->kind, REFERENCE_DEVICE))
		return text_printf(
			ctx,
			"Find out why %s is missing (driver, GPU off the bus), or correct File= in "
			"gres.conf and Gres= in slurm.conf; then systemctl restart slurmd.",
			r->name.value);
	return "Correct Cores= in gres.conf: cores count from 0, as in lstopo -l. Then systemctl restart "
	       "slurmd.";
}

static void check_gres(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_GRES,
		.none = "no gres.conf",
		.expected = "devices, cores and libraries that this node has",
		.counts = counts,
		.grade = grade,
		.remedy = remedy,
		.impact = what_breaks,
	};

	references_check(ctx, &check);
}

static const struct rule services_slurm_rules[] = {
	{
		.id = "services/gres-conf",
		.title = "Slurm gives out GPUs that this node does not have",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_gres,
		.impact = "slurmd does not start, or the node is drained.",
		.remedy = "Correct gres.conf, then systemctl restart slurmd.",
		.activation = ACTIVATION_RESTART,
		.follows = { "driver/loaded", "dev/nvidia-nodes-missing", "pci/device-off-bus" },
		.reads =
			"File=, Cores= and AutoDetect= of the lines for this node in gres.conf (/etc/slurm, "
			"/etc/slurm-llnl, the cache of a configless slurmd), /dev, the number of processors, and where "
			"the dynamic loader finds " LIBRARY ".",
		.why = "slurmd waits 20 seconds for each device file and then gives up. With AutoDetect=nvml it "
		       "opens the library by name; without it, it goes on with no GPU. Cores are checked against "
		       "the number of logical processors, which is the most that there can be. Files that Include "
		       "names are not read.",
		.check =
			"slurmd -G; ls -l $(grep -o 'File=[^ ]*' /etc/slurm/gres.conf | cut -d= -f2)",
		.sources = "Slurm 26.05: src/interfaces/gres.c, src/interfaces/gpu.c; gres.conf(5)",
	},
};

RULE_TABLE(services_slurm);
