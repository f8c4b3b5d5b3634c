/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limits-group.c - tasks and memory that the control group of a job allows (rule limits/control-group). */
#include <inttypes.h>

#include "evaluate/skip.h"
#include "query/topology.h"

/* A process for each GPU has threads of CUDA, NCCL and UCX and a few hundred of OpenMP and of data loaders. */
#define TASKS_FOR_GPU 512
/* CUDA, NCCL's buffers and what a process reads its data into. */
#define MEMORY_FOR_GPU_BYTES (UINT64_C(4) << 30)

static void check_tasks(struct rule_context *ctx, uint64_t gpus)
{
	static const char fact[] = "limits.group.tasks";
	const struct fact_u64 *tasks = &ctx->node->limits.group.tasks;
	uint64_t wanted = (gpus + 1) * TASKS_FOR_GPU;

	if (!is_known(*tasks))
		UNKNOWN(ctx, .subject = "pids.max", .evidence = { fact });
	else if (tasks->value >= wanted)
		PASS(ctx, .subject = "pids.max", .evidence = { fact });
	else
		FAIL(ctx, .subject = "pids.max",
		     .observed = text_printf(
			     ctx, "%" PRIu64 " processes and threads for %" PRIu64 " GPU%s",
			     tasks->value, gpus, gpus == 1 ? "" : "s"),
		     .expected = text_printf(ctx, "%" PRIu64 " or more", wanted),
		     .impact =
			     "pthread_create() and fork() fail with \"Resource temporarily unavailable\" "
			     "(EAGAIN): OpenMP, data loaders and NCCL's proxy threads do not start.",
		     .remedy =
			     "Raise the limit where it is configured: --pids-limit of docker or podman, "
			     "podPidsLimit of the kubelet, TasksMax= of the unit, or the batch system.",
		     .evidence = { fact });
}

static void check_memory(struct rule_context *ctx, uint64_t gpus)
{
	static const char fact[] = "limits.group.memory_bytes";
	const struct fact_u64 *memory = &ctx->node->limits.group.memory_bytes;

	if (!is_known(*memory))
		UNKNOWN(ctx, .subject = "memory.max", .evidence = { fact });
	else if (memory->value >= gpus * MEMORY_FOR_GPU_BYTES)
		PASS(ctx, .subject = "memory.max", .evidence = { fact });
	else
		FAIL(ctx, .subject = "memory.max",
		     .observed = text_printf(ctx, "%" PRIu64 " MiB for %" PRIu64 " GPU%s",
					     memory->value >> 20, gpus, gpus == 1 ? "" : "s"),
		     .expected = "4 GiB or more for each GPU",
		     .impact =
			     "The kernel kills processes of the job: exit status 137, \"Memory cgroup out of "
			     "memory\". What is in /dev/shm counts too.",
		     .remedy =
			     "Raise the limit where it is configured: --memory of docker or podman, the "
			     "pod's resources, MemoryMax= of the unit, or --mem of the batch system.",
		     .evidence = { fact });
}

/* ---- limits/processes ---- */

static void check_user_of(struct rule_context *ctx, const struct process_limits *p,
			  const char *path)
{
	const char *fact = text_printf(ctx, "%s.processes_soft", path);
	uint64_t gpus = topology_gpus(ctx->node), wanted = (gpus + 1) * TASKS_FOR_GPU;

	if (!is_known(p->processes_soft))
		UNKNOWN(ctx, .subject = p->name.value, .evidence = { fact });
	else if (p->processes_soft.value >= wanted)
		PASS(ctx, .subject = p->name.value, .evidence = { fact });
	else
		FAIL(ctx, .subject = p->name.value,
		     .observed = text_printf(ctx,
					     "its jobs' users may have %" PRIu64
					     " processes and threads; the node has %" PRIu64
					     " GPU%s",
					     p->processes_soft.value, gpus, gpus == 1 ? "" : "s"),
		     .expected = text_printf(ctx, "%" PRIu64 " or more", wanted),
		     .evidence = { fact });
}

/* sshd's sessions get their limit from PAM, and a pod its own from the runtime. */
static bool hands_on(const struct process_limits *p)
{
	return !str_is(p->name, "sshd") && !str_is(p->name, "kubelet");
}

static void check_processes(struct rule_context *ctx)
{
	const struct limits_facts *limits = &ctx->node->limits;
	size_t before = ctx->findings->count;

	if (skip_without_gpu(ctx))
		return;
	for_each(p, &limits->launchers)
		if (hands_on(p))
			check_user_of(ctx, p,
				      text_printf(ctx, "limits.launchers[%s]", p->name.value));
	/* The limit does not apply to root. */
	if (is_known(ctx->node->env.pid) && known_not(ctx->node->env.uid, 0))
		check_user_of(ctx, &limits->self, "limits.self");
	if (ctx->findings->count > before)
		return;
	if (!was_read(limits->launchers))
		UNKNOWN(ctx, .evidence = { "limits.launchers" });
	else
		NOT_APPLICABLE(ctx, .observed = "no job launcher runs here",
			       .evidence = { "limits.launchers" });
}

static void check_group(struct rule_context *ctx)
{
	uint64_t gpus;

	if (skip_without_gpu(ctx))
		return;
	gpus = topology_gpus(ctx->node);
	check_tasks(ctx, gpus);
	check_memory(ctx, gpus);
}

static const struct rule limits_group_rules[] = {
	{
		.id = "limits/processes",
		.title =
			"Jobs cannot start their threads: the user's limit of processes is too low",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_processes,
		.impact =
			"pthread_create() and fork() fail with \"Resource temporarily unavailable\": OpenMP, data "
			"loaders and NCCL's threads do not start.",
		.remedy =
			"Set LimitNPROC=infinity in a drop-in of the launcher's unit, then restart it. For Docker "
			"remove nproc from default-ulimits.",
		.activation = ACTIVATION_RESTART,
		.reads =
			"Max processes in /proc/PID/limits of the launchers that run, and of --pid.",
		.why = "Jobs inherit the limit from the daemon that starts them. It counts all processes and threads of "
		       "the user on the node, and does not apply to root. A job has a few hundred for each GPU.",
		.check = "grep 'Max processes' /proc/$(pgrep -o slurmd)/limits",
		.sources = "getrlimit(2) of Linux man-pages 6.03: RLIMIT_NPROC\n"
			   "systemd.exec(5) of systemd 252: LimitNPROC=",
	},
	{
		.id = "limits/control-group",
		.title = "A job is stopped by its control group: the limit is too low for its GPUs",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_group,
		.impact = "Threads cannot be started, or the kernel kills processes of the job.",
		.remedy = "Raise the limit where it is configured.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"pids.max and memory.max of the control group of this process (or of --pid), and of the groups above "
			"it.",
		.why = "Container runtimes, batch systems and systemd set these limits; Podman's default is 2048 tasks. They "
		       "count all processes of the group together. Run this in the job, or with --pid.",
		.check =
			"cd /sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup); grep . pids.max memory.max",
		.sources =
			"Linux 6.1.192: Documentation/admin-guide/cgroup-v2.rst, PID and Memory\n"
			"Podman 4.4 documentation: markdown/options/pids-limit.md\n"
			"containers/common 08c121d9a: pkg/config/default.go (DefaultPidsLimit)\n"
			"systemd.resource-control(5) of systemd 252: TasksMax=, MemoryMax=\n"
			"Slurm 284c3b95: src/plugins/cgroup/v2/cgroup_v2.c (memory.max)",
	},
};

RULE_TABLE(limits_group);
