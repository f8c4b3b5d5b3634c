/* SPDX-License-Identifier: GPL-2.0-or-later */
/* services-slurm.c - the files of Slurm against the node (rules services/...). */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "evaluate/references.h"
#include "query/login-session.h"
#include "query/slurm.h"

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
	return !str_is(r->name, LIBRARY ".1") && !known_is(slurm_needs(node, r), false);
}

static const char *doubt(struct rule_context *ctx, const struct reference *r)
{
	if (is_known(slurm_needs(ctx->node, r)))
		return NULL;
	return text_printf(
		ctx,
		"%s does not exist, which Slurm 17.11 alone needs: the release of slurmd here is "
		"not known",
		r->name.value);
}

static enum severity grade(const struct rule_context *ctx, const struct reference *r,
			   enum reference_state state)
{
	(void)state;
	/* slurmctld can accept less (node_reg_mem_percent). Without its check a node keeps its jobs. */
	if (str_is(r->role, "RealMemory") || str_is(r->role, SLURM_HEALTH))
		return SEVERITY_WARN;
	return known_is(r->kind, REFERENCE_LIBRARY) && has_soname(ctx->node) ? SEVERITY_WARN
									     : SEVERITY_ERR;
}

static bool is_gpu_plugin(const struct reference *r)
{
	return str_is(r->role, SLURM_GPU_PLUGIN);
}

/* One that a key of slurm.conf selects. */
static bool is_plugin(const struct reference *r)
{
	return !is_gpu_plugin(r) && str_starts(r->role, SLURM_PLUGIN);
}

static const char *what_breaks(struct rule_context *ctx, const struct reference *r)
{
	if (str_is(r->role, SLURM_DEVICES_FILE))
		return "slurmd of 17.11 does not start: \"this is needed for proper functionality when Constraining "
		       "Devices\".";
	if (str_is(r->role, SLURM_HEALTH))
		return "slurmd cannot run its health check: a node with a fault keeps getting jobs.";
	if (known_is(r->kind, REFERENCE_PROGRAM))
		return text_printf(ctx,
				   "The first job fails, and the node is drained: \"%s error\".",
				   r->role.value);
	if (str_is(r->role, SLURM_PLUGIN "MpiDefault"))
		return "slurmd does not start, or srun fails: \"MPI: Cannot create context\".";
	if (str_is(r->role, SLURM_PLUGIN SLURM_SELECT))
		return "slurmctld, and slurmd before 24.11, do not start: \"Can't find plugin for select\".";
	if (is_plugin(r))
		return "slurmd does not start: \"cannot create ... context\".";
	if (is_gpu_plugin(r))
		return "slurmd does not start: \"cannot create gpu context for gpu/nvml\". If it was built without "
		       "NVML, it starts and finds no GPU, and the node is drained.";
	if (str_is(r->role, SLURM_PLUGIN_DIR))
		return "slurmd does not start: \"Bad value for PluginDir\". Neither do Slurm's commands on this node.";
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

static const char *what_stops(const struct reference *r)
{
	return slurm_stops_without(r) ? "slurmd.service" : NULL;
}

static const char *remedy(struct rule_context *ctx, const struct reference *r)
{
	if (str_is(r->role, SLURM_DEVICES_FILE))
		return SLURM_DEVICES_REMEDY;
	if (known_is(r->kind, REFERENCE_PROGRAM))
		return text_printf(
			ctx,
			"Install %s, mount the file system that it is on, or correct %s= in slurm.conf on "
			"all nodes and run scontrol reconfigure.",
			r->name.value, r->role.value);
	if (is_plugin(r))
		return text_printf(
			ctx,
			"Install the plugin in the version of slurmd, or correct %s= in slurm.conf: releases "
			"drop plugins (select/cons_res in 23.11). Then systemctl restart slurmd.",
			r->role.value + strlen(SLURM_PLUGIN));
	if (known_is(r->kind, REFERENCE_LIBRARY) && has_soname(ctx->node))
		return "Link libnvidia-ml.so.1 as " LIBRARY
		       " in its folder, run ldconfig, then systemctl restart slurmd. Or set AutoDetect=nvidia with Slurm "
		       "24.11 or later, which needs no library.";
	if (known_is(r->kind, REFERENCE_LIBRARY))
		return "Install the driver's user space in the version of the loaded driver, then run systemctl restart "
		       "slurmd. Or set AutoDetect=nvidia with Slurm 24.11 or later, which needs no library.";
	if (is_gpu_plugin(r))
		return "Install the plugin in the version of slurmd: a package of its own, or a Slurm that was built with "
		       "NVML. Or set AutoDetect=nvidia with Slurm 24.11 or later, which needs no library. Then systemctl "
		       "restart slurmd.";
	if (str_is(r->role, SLURM_PLUGIN_DIR))
		return "Correct PluginDir= in slurm.conf, or remove it: slurmd then takes the folder that it was built for. "
		       "Then systemctl restart slurmd.";
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
		.expected = "devices, cores, libraries and plugins that this node has",
		.counts = counts,
		.doubt = doubt,
		.grade = grade,
		.remedy = remedy,
		.impact = what_breaks,
		.stops = what_stops,
	};

	references_check(ctx, &check);
}

/* ---- plugins of srun and of job steps ---- */

static enum severity grade_plugin(const struct rule_context *ctx, const struct reference *r,
				  enum reference_state state)
{
	(void)ctx;
	(void)state;
	return str_is(r->role, SPANK_REQUIRED) ? SEVERITY_ERR : SEVERITY_INFO;
}

static const char *plugin_remedy(struct rule_context *ctx, const struct reference *r)
{
	return text_printf(ctx, "Install %s, built for this version of Slurm, or remove the line.",
			   r->name.value);
}

static void check_plugins(struct rule_context *ctx)
{
	static const struct reference_check check = {
		.format = REFERENCE_SPANK,
		.none = "Slurm has no plugstack.conf",
		.expected = "plugins that exist",
		.grade = grade_plugin,
		.remedy = plugin_remedy,
	};

	references_check(ctx, &check);
}

/* ---- settings that need each other ---- */

static bool has_word(const char *list, const char *word)
{
	struct span rest = span_of(list), one;

	while (span_cut(&rest, ',', &one))
		if (span_is(span_trim(one), word))
			return true;
	return false;
}

/* slurm.conf gives this node GPUs. */
static const struct reference *node_gres(const struct node *node)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_GRES, NULL, r)))
		if (known_is(r->kind, REFERENCE_AMOUNT) && str_is(r->role, "Gres"))
			return r;
	return NULL;
}

static void check_types(struct rule_context *ctx, const struct reference *gres)
{
	const struct reference *types = reference_of_role(ctx->node, REFERENCE_GRES,
							  SLURM_GRES_TYPES);

	if (types && has_word(types->name.value, "gpu"))
		return;
	FAIL_AS(ctx, SEVERITY_ERR, .subject = SLURM_GRES_TYPES,
		.observed = text_printf(ctx, "%s has Gres=%s, and GresTypes %s",
					reference_place(ctx->arena, gres), gres->name.value,
					types ? text_printf(ctx, "is %s", types->name.value)
					      : "is not set"),
		.expected = "GresTypes=gpu",
		.impact =
			"Slurm drops the GPUs: \"Invalid GRES configured on node\". Jobs with --gres=gpu "
			"are refused.",
		.remedy =
			"Set GresTypes=gpu in slurm.conf on all nodes. Then restart slurmctld and slurmd.",
		.evidence = { reference_fact(ctx->arena, ctx->node, gres, "name"),
			      types ? reference_fact(ctx->arena, ctx->node, types, "name")
				    : "references.items" });
}

/* Jobs of this node can run beside each other, each with some of its GPUs. */
static bool jobs_share_node(const struct node *node, const struct reference *gres)
{
	const struct reference *select = reference_of_role(node, REFERENCE_GRES, SLURM_SELECT);

	return select && str_starts(select->name, "select/cons") && is_known(gres->claim) &&
	       !str_is(gres->claim, "1") &&
	       !reference_of_role(node, REFERENCE_GRES, SLURM_EXCLUSIVE);
}

static void report_unconfined(struct rule_context *ctx, const struct reference *gres)
{
	const char *fact = reference_fact(ctx->arena, ctx->node, gres, "name");
	const char *text = "not set: jobs can open the GPUs of other jobs";

	if (jobs_share_node(ctx->node, gres))
		FAIL_AS(ctx, SEVERITY_WARN, .subject = SLURM_DEVICES, .observed = text,
			.expected = "ConstrainDevices=yes",
			.remedy =
				"Set ConstrainDevices=yes in cgroup.conf on all nodes. Then restart slurmd. Jobs that run "
				"are not changed.",
			.evidence = { fact });
	else
		NOTE(ctx, .subject = SLURM_DEVICES, .observed = text, .evidence = { fact });
}

static void check_confinement(struct rule_context *ctx, const struct reference *gres)
{
	const struct node *node = ctx->node;
	const struct reference *devices = reference_of_role(node, REFERENCE_GRES, SLURM_DEVICES);
	const struct reference *task = reference_of_role(node, REFERENCE_GRES, SLURM_TASK_PLUGIN);
	bool constrain = devices && strcasecmp(devices->name.value, "yes") == 0;

	if (constrain && !(task && has_word(task->name.value, "task/cgroup")))
		FAIL_AS(ctx, SEVERITY_WARN, .subject = SLURM_DEVICES,
			.observed = text_printf(ctx, "%s sets it, and TaskPlugin %s",
						reference_place(ctx->arena, devices),
						task ? text_printf(ctx, "is %s", task->name.value)
						     : "is not set"),
			.expected = "TaskPlugin=task/cgroup,task/affinity",
			.remedy =
				"Add task/cgroup to TaskPlugin in slurm.conf on all nodes. Then restart "
				"slurmctld and slurmd.",
			.evidence = { reference_fact(ctx->arena, node, devices, "name") });
	else if (!constrain)
		report_unconfined(ctx, gres);
}

/* Returns true if a job gets the limit LIMIT of the shell that submitted it. Slurm's default for all limits. */
static bool takes_shells_limit(const struct node *node, const char *limit)
{
	const struct reference *only = reference_of_role(node, REFERENCE_GRES, SLURM_LIMITS);
	const struct reference *except = reference_of_role(node, REFERENCE_GRES,
							   SLURM_LIMITS_EXCEPT);

	if (except)
		return !has_word(except->name.value, limit) && !has_word(except->name.value, "ALL");
	return !only || has_word(only->name.value, "ALL") || has_word(only->name.value, limit);
}

/* The soft limit that systemd gives logins. */
#define NOFILE_LOW 1024

/* Users can submit elsewhere, with other limits: a note. */
static void check_locked_memory(struct rule_context *ctx, const struct reference *gres)
{
	const struct process_limits *self = &ctx->node->limits.self;
	bool own = is_login_session(self) && known_not(self->memlock_soft_bytes, FACT_UNLIMITED);

	if (!ctx->node->rdma.devices.count || !takes_shells_limit(ctx->node, "MEMLOCK"))
		return;
	NOTE(ctx, .subject = SLURM_LIMITS_EXCEPT,
	     .observed = text_printf(
		     ctx, "jobs get the locked-memory limit of the shell that submitted them%s%s",
		     own ? "; in this session it is " : "",
		     own ? format_bytes(ctx->arena, self->memlock_soft_bytes.value) : ""),
	     .remedy =
		     "If jobs cannot lock memory although this node's limits are right, set "
		     "PropagateResourceLimitsExcept=MEMLOCK in slurm.conf on all nodes, then run scontrol reconfigure.",
	     .evidence = { reference_fact(ctx->arena, ctx->node, gres, "name"),
			   own ? "limits.self.memlock_soft_bytes" : NULL });
}

/* Programs can raise the soft limit of open files themselves: a note. */
static void check_open_files(struct rule_context *ctx, const struct reference *gres)
{
	const struct process_limits *self = &ctx->node->limits.self;

	if (!is_login_session(self) || !is_known(self->nofile_soft) ||
	    self->nofile_soft.value > NOFILE_LOW || !takes_shells_limit(ctx->node, "NOFILE"))
		return;
	NOTE(ctx, .subject = SLURM_LIMITS,
	     .observed = text_printf(ctx,
				     "jobs that are submitted in this session may have %" PRIu64
				     " open files, whatever slurmd has",
				     self->nofile_soft.value),
	     .remedy =
		     "If jobs fail with \"Too many open files\", run ulimit -n with a higher number in the job, or "
		     "add NOFILE to PropagateResourceLimitsExcept in slurm.conf on all nodes.",
	     .evidence = { "limits.self.nofile_soft",
			   reference_fact(ctx->arena, ctx->node, gres, "name") });
}

/* Include, and files that were not understood, can set the rest. */
static const char *unread_file(const struct node *node)
{
	for_each(file, &node->references.files)
		if (known_is(file->format, REFERENCE_GRES) && !known_is(file->complete, true))
			return file->path.value;
	return NULL;
}

static void check_settings(struct rule_context *ctx)
{
	const struct references_facts *all = &ctx->node->references;
	const struct reference *gres = node_gres(ctx->node);
	const char *unread = unread_file(ctx->node);
	size_t before = ctx->findings->count;

	if (!known_is(all->complete, true) || !was_read(all->items) || !was_read(all->files))
		UNKNOWN(ctx, .evidence = { was_read(all->items) ? "references.complete"
								: "references.items" });
	else if (unread)
		UNKNOWN(ctx, .evidence = { fact_path(ctx->arena, "references.files", unread,
						     "complete") });
	else if (!gres)
		NOT_APPLICABLE(ctx, .observed = "no slurm.conf gives this node GPUs",
			       .evidence = { "references.items" });
	else {
		check_types(ctx, gres);
		check_confinement(ctx, gres);
		check_locked_memory(ctx, gres);
		check_open_files(ctx, gres);
		if (ctx->findings->count == before)
			PASS(ctx, .evidence = { "references.items" });
	}
}

static const struct rule services_slurm_rules[] = {
	{
		.id = "services/slurm-plugins",
		.title = "srun fails: plugstack.conf requires a plugin that does not exist",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_plugins,
		.impact = "srun and job steps on this node fail: \"Failed to load plugin\".",
		.remedy = "Install the plugin, or remove its line from plugstack.conf.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"The plugins with a path in plugstack.conf and plugstack.conf.d (/etc/slurm, "
			"/etc/slurm-llnl, the cache of a configless slurmd), and those files.",
		.why = "pyxis, which starts containers by enroot, is such a plugin. An optional plugin that is "
		       "missing is a note. Names without a path are looked for in PluginDir, which is not "
		       "read here.",
		.check = "grep -rn '^[ro]' /etc/slurm/plugstack.conf*; srun hostname",
		.sources = "Slurm 26.05: src/common/spank.c\n"
			   "pyxis 1075199 (2026-05-11): README.md, Installation",
	},
	{
		.id = "services/slurm-settings",
		.title = "Slurm jobs get no GPU, or the GPUs of others: settings contradict",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_settings,
		.impact = "Jobs are not confined to their GPUs: two jobs can use one GPU.",
		.remedy =
			"Correct slurm.conf and cgroup.conf on all nodes, then restart slurmctld and slurmd.",
		.activation = ACTIVATION_RESTART,
		.reads =
			"GresTypes, TaskPlugin, SelectType, partitions with OverSubscribe=EXCLUSIVE, PropagateResourceLimits and "
			"PropagateResourceLimitsExcept, and Gres= of this node in "
			"slurm.conf; ConstrainDevices in cgroup.conf; the limits of this login session.",
		.why = "Slurm drops each Gres= whose name is not in GresTypes. ConstrainDevices is carried out by "
		       "the plugin task/cgroup alone. Without it CUDA_VISIBLE_DEVICES is the only limit, which a "
		       "program can change; in a container of pyxis the numbers can mean other GPUs. Where jobs get whole "
		       "nodes, or the node has one GPU, it is a note.",
		.check = "scontrol show config | grep -E 'GresTypes|TaskPlugin|ConstrainDevices'",
		.sources =
			"Slurm 26.05: src/interfaces/gres.c (gres_name_filter), "
			"src/plugins/task/cgroup/task_cgroup.c, src/interfaces/cgroup.c\n"
			"SchedMD/slurm 000729e6: doc/man/man5/slurm.conf.5, PropagateResourceLimits, "
			"PropagateResourceLimitsExcept\n"
			"github.com/NVIDIA/pyxis issue 47",
	},

	{
		.id = "services/gres-conf",
		.title = "Slurm drains the node or does not start: its files name devices, plugins "
			 "or scripts that are not here",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_gres,
		.needs_running = true,
		.impact = "slurmd does not start, or the node is drained.",
		.remedy = "Correct gres.conf, then run systemctl restart slurmd.",
		.activation = ACTIVATION_RESTART,
		.follows = { "driver/loaded", "dev/nvidia-nodes-missing", "pci/device-off-bus" },
		.reads =
			"File=, Cores= and AutoDetect= of this node's lines in gres.conf (/etc/slurm, "
			"/etc/slurm-llnl, the cache of a configless slurmd). Gres= and RealMemory= of this node in "
			"slurm.conf, PluginDir= and gpu_nvml.so, and the plugins that TaskPlugin, SelectType, ProctrackType, "
			"JobAcctGatherType, AuthType, CredType, SwitchType and MpiDefault select. Prolog=, Epilog= and HealthCheckProgram= with one path. "
			"ConstrainDevices and AllowedDevicesFile in cgroup.conf, and Slurm's release. /dev, the number of processors, the GPUs, the memory, and "
			"where the dynamic loader finds " LIBRARY ".",
		.why = "slurmd waits 20 seconds for each device file and then ends. With AutoDetect=nvml it opens the "
		       "library by name. If that fails, it continues without GPUs. It also needs its plugin "
		       "gpu_nvml.so, which packages leave out or have apart. Where PluginDir is not set, the plugin is "
		       "looked for beside gpu_generic.so. Packages have plugins apart too (MPI), and releases drop some: "
		       "select/cons_res in 23.11, task/cray_aries in 24.05. Cores are compared with the number of "
		       "logical processors, which is the most that there can be. Files that Include names, and values of "
		       "NodeName=DEFAULT, are not read. slurmd of 17.11 ends "
		       "if it has ConstrainDevices=yes and no cgroup_allowed_devices_file.conf; 17.02 and 18.08 do not. Where the "
		       "release is not known and slurmd does not run, that is unknown.",
		.check =
			"slurmd -G; ls -l $(grep -o 'File=[^ ]*' /etc/slurm/gres.conf | cut -d= -f2)",
		.sources =
			"Slurm 26.05: src/interfaces/gres.c, gpu.c, task.c, mpi.c, switch.c, src/common/plugin.c, src/slurmd/slurmd/slurmd.c, "
			"src/common/read_config.c (_is_valid_path); gres.conf(5)\n"
			"Slurm 17.02.11, 17.11.0 to 17.11.13, 18.08.0: src/plugins/task/cgroup/task_cgroup_devices.c\n"
			"Slurm 17.11.9: src/slurmd/common/run_script.c; Slurm 25.11: src/plugins/prep/script/prep_script_slurmd.c, "
			"src/common/run_command.c, src/slurmctld/node_mgr.c, job_mgr.c",
	},
};

RULE_TABLE(services_slurm);
