/* SPDX-License-Identifier: GPL-2.0-or-later */
/* look.c - the processes that use the GPUs, by NVML, before prove uses them itself. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "provers/prove.h"

#define PROCESSES_MAX 1024

/* Absent if the process is in another PID namespace, or has ended. */
static struct fact_str comm_of(struct proving *p, unsigned int pid)
{
	char path[40], name[32];
	_cleanup_fclose_ FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	f = fopen(path, "re");
	if (!f || !fgets(name, sizeof(name), f))
		return FACT_NONE(fact_str);
	return fact_strn(p->arena, name, strcspn(name, "\n"));
}

typedef int list_processes(nvml_handle device, unsigned int *count, struct nvml_process *processes);

static bool add_users(struct proving *p, list_processes *list, nvml_handle device,
		      unsigned int index)
{
	struct nvml_process processes[PROCESSES_MAX];
	unsigned int count = PROCESSES_MAX;

	if (!list || list(device, &count, processes) != NVML_DONE)
		return false;
	for (unsigned int i = 0; i < count && i < PROCESSES_MAX; i++) {
		struct gpu_user *user = LIST_ADD(p->arena, &p->users);

		user->pid = fact_u64(processes[i].pid);
		user->name = comm_of(p, processes[i].pid);
		user->gpu = fact_u64(index);
	}
	return true;
}

static void look_run(struct proving *p, size_t step)
{
	struct nvml_library nvml;
	unsigned int count;
	bool known = true;

	(void)step;
	if (nvml_library_start(&nvml) || !nvml.nvmlDeviceGetHandleByIndex_v2 ||
	    !nvml.nvmlDeviceGetCount_v2 || nvml.nvmlDeviceGetCount_v2(&count) != NVML_DONE)
		return;
	for (unsigned int i = 0; i < count; i++) {
		nvml_handle device;

		/* A GPU that this process may not open will not be used. */
		if (nvml.nvmlDeviceGetHandleByIndex_v2(i, &device) != NVML_DONE)
			continue;
		known = add_users(p, nvml.nvmlDeviceGetComputeRunningProcesses_v3, device, i) &&
			known;
		known = add_users(p, nvml.nvmlDeviceGetGraphicsRunningProcesses_v3, device, i) &&
			known;
	}
	p->users_known = known;
}

const struct prover prover_look = {
	.name = "look",
	.groups = 1 << PROVE_LOOK,
	.deadline_ms = PROVE_INIT_MS,
	.run = look_run,
};
