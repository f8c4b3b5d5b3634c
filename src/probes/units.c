/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probes/units.h"

const struct unit_of_interest units_of_interest[] = {
	{ "containerd.service", "containerd", NULL },
	{ "crio.service", "crio", NULL },
	{ "docker.service", "dockerd", NULL },
	{ "firewalld.service", "firewalld", NULL },
	{ "gdrcopy.service", NULL, NULL },
	{ "gdrdrv.service", NULL, "gdrdrv" },
	{ "kubelet.service", "kubelet", NULL },
	{ "nv_peer_mem.service", NULL, "nv_peer_mem" },
	{ "nvidia-cdi-refresh.service", NULL, NULL },
	{ "nvidia-dcgm.service", "nv-hostengine", NULL },
	{ "nvidia-fabricmanager.service", "nv-fabricmanage", NULL },
	{ "nvidia-imex.service", "nvidia-imex", NULL },
	{ "nvidia-persistenced.service", "nvidia-persiste", NULL },
	{ "nvsm.service", NULL, NULL },
	{ "openibd.service", NULL, "openibd" },
	{ "opensm.service", "opensm", NULL },
	{ "opensmd.service", "opensm", "opensmd" },
	{ "rdma-ndd.service", "rdma-ndd", NULL },
	{ "slurmd.service", "slurmd", NULL },
	{ "snap.docker.dockerd.service", NULL, NULL },
	{ "systemd-modules-load.service", NULL, NULL },
	{ "tuned.service", "tuned", NULL },
	{ NULL, NULL, NULL },
};

bool unit_is_peermem(struct span name)
{
	return span_ends(name, ".service") && span_search(name, "peermem");
}

struct service *units_add(struct arena *arena, struct services_facts *services, struct span name)
{
	struct service *service;

	for_each_mut(s, &services->units)
		if (span_is(name, s->unit.value))
			return s;
	service = LIST_ADD(arena, &services->units);
	service->unit = fact_strn(arena, name.p, name.n);
	return service;
}
