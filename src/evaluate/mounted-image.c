/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mounted-image.c - findings that a mounted image cannot have: those about its machine or its processes. */
#include "evaluate/mounted-image.h"

#include <string.h>

#include "base/array.h"

/* Facts that a machine or a running kernel has, as paths or the beginnings of paths. */
static const char *const machine_facts[] = {
	"cmdline.running",
	"dev",
	"driver.loaded",
	"env",
	"gpu",
	"iommu",
	"limits.launchers",
	"limits.daemons",
	"limits.self",
	"limits.shm",
	"log",
	"modules.loaded",
	"net",
	"numa",
	"nvml",
	"os.boot",
	"os.cpu",
	"os.hostname",
	"os.hugepages",
	"os.hypervisor",
	"os.lockdown",
	"os.machine",
	"os.memory",
	"os.mounts",
	"os.product",
	"os.secure_boot",
	"os.sysctls",
	"pci",
	"rdma",
	"services",
	"topology",
};

static bool is_of_machine(const char *fact, const struct gap *gap)
{
	if (gap && (str_is(gap->path, "/proc") || str_is(gap->path, "/sys")))
		return true;

	for (size_t i = 0; i < ARRAY_SIZE(machine_facts); i++)
		if (starts_with(fact, machine_facts[i]))
			return true;
	return false;
}

void mounted_image_mark(const struct node *node, struct finding *f)
{
	const char *fact = f->answer.evidence[0];

	if (!is_known(node->os.next_boot) || f->answer.verdict != VERDICT_UNKNOWN || !fact ||
	    !is_of_machine(fact, f->gap))
		return;
	f->not_here = true;
	f->severity = SEVERITY_INFO;
	f->answer.observed = "not here: this needs the machine, or a running kernel";
	f->answer.remedy = "--hardware FILE gives the machine. Check the rest after the boot.";
}
