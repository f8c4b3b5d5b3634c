/* SPDX-License-Identifier: GPL-2.0-or-later */
/* services-slurm.c - gres.conf and slurm.conf against the node (rule services/gres-conf). */
#include <string.h>

#include "evaluate/references.h"

#define LIBRARY "libnvidia-ml.so"

/* The library's SONAME, which releases from 24.05.5 on look for too. */
static bool has_soname(const struct node *node)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_GRES, NULL, r)))
		if (str_is(r->name, LIBRARY ".1"))
			return reference_state(r) != REFERENCE_MISSING;
	return false;
}

/* One of the library's two names is enough; the first one is reported. */
static bool counts(const struct node *node, const struct reference *r)
{
	(void)node;
	return !str_is(r->name, LIBRARY ".1");
}

static enum severity grade(const struct rule_context *ctx, const struct reference *r,
			   enum reference_state state)
{
	(void)state;
	/* slurmctld can accept less (node_reg_mem_percent). */
	if (str_is(r->role, "RealMemory"))
		return SEVERITY_WARN;
	return known_is(r->kind, REFERENCE_LIBRARY) && has_soname(ctx->node) ? SEVERITY_WARN
									     : SEVERITY_ERR;
}

static const char *what_breaks(struct rule_context *ctx, const struct reference *r)
{
	if (str_is(r->role, "RealMemory"))
		return "The node is drained: \"Low RealMemory\".";
	if (known_is(r->kind, REFERENCE_AMOUNT))
		return "The node is drained: \"gres/gpu count reported lower than configured\".";
	if (!known_is(r->kind, REFERENCE_LIBRARY))
		return "slurmd does not start: \"fatal: can't stat gres.conf file\" after 20 seconds, or "
		       "\"fatal: Invalid GRES data\".";
	if (has_soname(ctx->node))
		return "Slurm before 24.05.5 looks only for " LIBRARY
		       ": slurmd starts and finds no GPU. The node is drained: \"gres/gpu count reported lower than "
		       "configured\".";
	return "slurmd starts, finds no GPU, and the node is drained: \"gres/gpu count reported lower than "
	       "configured\".";
}

static const char *remedy(struct rule_context *ctx, const struct reference *r)
{
	if (known_is(r->kind, REFERENCE_LIBRARY) && has_soname(ctx->node))
		return "Link libnvidia-ml.so.1 as " LIBRARY
		       " in its folder, run ldconfig, then systemctl restart slurmd. Or set AutoDetect=nvidia with Slurm "
		       "24.11 or later, which needs no library.";
	if (known_is(r->kind, REFERENCE_LIBRARY))
		return "Install the driver's user space in the version of the loaded driver, then run systemctl restart "
		       "slurmd. Or set AutoDetect=nvidia with Slurm 24.11 or later, which needs no library.";
	if (known_is(r->kind, REFERENCE_DEVICE))
		return text_printf(
			ctx,
			"Find out why %s is missing (driver, GPU off the bus), or correct File= in "
			"gres.conf and Gres= in slurm.conf; then systemctl restart slurmd.",
			r->name.value);
	if (str_is(r->role, "RealMemory"))
		return "Correct RealMemory= in slurm.conf: slurmd -C says what the node has. Then scontrol "
		       "reconfigure, and scontrol update NodeName=... State=RESUME.";
	if (known_is(r->kind, REFERENCE_AMOUNT))
		return "Find out which GPU is missing (see the other findings), or correct Gres= in slurm.conf; "
		       "then scontrol reconfigure, and scontrol update NodeName=... State=RESUME.";
	return "Correct Cores= in gres.conf: cores count from 0, as in lstopo -l. Then systemctl restart "
	       "slurmd.";
}

static void check_gres(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_GRES,
		.none = "neither gres.conf nor slurm.conf",
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
		.title = "Slurm drains the node or does not start: its files name what is not here",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_gres,
		.impact = "slurmd does not start, or the node is drained.",
		.remedy = "Correct gres.conf, then run systemctl restart slurmd.",
		.activation = ACTIVATION_RESTART,
		.follows = { "driver/loaded", "dev/nvidia-nodes-missing", "pci/device-off-bus" },
		.reads =
			"File=, Cores= and AutoDetect= of this node's lines in gres.conf (/etc/slurm, "
			"/etc/slurm-llnl, the cache of a configless slurmd). Gres= and RealMemory= of this node in "
			"slurm.conf. /dev, the number of processors, the GPUs, the memory, and where the dynamic loader "
			"finds " LIBRARY ".",
		.why = "slurmd waits 20 seconds for each device file and then ends. With AutoDetect=nvml it opens the "
		       "library by name. If that fails, it continues without GPUs. Cores are compared with the number of "
		       "logical processors, which is the most that there can be. Files that Include names, and values of "
		       "NodeName=DEFAULT, are not read.",
		.check =
			"slurmd -G; ls -l $(grep -o 'File=[^ ]*' /etc/slurm/gres.conf | cut -d= -f2)",
		.sources = "Slurm 26.05: src/interfaces/gres.c, src/interfaces/gpu.c; gres.conf(5)",
	},
};

RULE_TABLE(services_slurm);
