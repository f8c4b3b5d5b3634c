/* SPDX-License-Identifier: GPL-2.0-or-later */
/* limit-launchers.c - the programs that start jobs, which inherit their limits. */
#include "probes/jobs/limit-launchers.h"

#include <string.h>

#include "base/span.h"

const struct launcher launchers[] = {
	{ "slurmd", false, "slurmd.service" },
	{ "slurmstepd", false, NULL },
	{ "containerd", false, "containerd.service" },
	{ "containerd-shim", false, NULL }, /* -runc-v2 is cut off */
	{ "dockerd", false, "docker.service" },
	{ "crio", false, "crio.service" },
	{ "kubelet", false, "kubelet.service" },
	{ "sshd", false, "sshd.service" },
	{ "sshd", false, "ssh.service" }, /* Debian's name */
	{ "pbs_mom", false, "pbs.service" },
	{ "res", false, "lsfd.service" }, /* LSF's remote execution server */
	{ "sge_execd", false, NULL },
	{ "orted", false, NULL },
	{ "prted", false, NULL },
	{ "flux-broker", true, "flux.service" },
	{ "condor_startd", false, "condor.service" },
	{ "condor_starter", false, NULL },
	{ NULL, false, NULL },
};

const struct launcher *launcher_of(const char *comm)
{
	for (const struct launcher *l = launchers; l->comm; l++)
		if (l->prefix ? starts_with(comm, l->comm) : strcmp(comm, l->comm) == 0)
			return l;
	return NULL;
}
