/* SPDX-License-Identifier: GPL-2.0-or-later */
/* units.c - the services that this program is about, and two ways to ask about them. */
#include "probes/services/units.h"

#include <string.h>

const struct unit_of_interest units_of_interest[] = {
	{ "containerd.service", "containerd", NULL, NULL, NULL },
	{ "crio.service", "crio", NULL, NULL, NULL },
	{ "docker.service", "dockerd", NULL, NULL, NULL },
	{ "dcgm-exporter.service", "dcgm-exporter", NULL, NULL, NULL },
	{ "firewalld.service", "firewalld", NULL, NULL, NULL },
	{ "gdrcopy.service", NULL, NULL, NULL, NULL },
	{ "gdrdrv.service", NULL, "gdrdrv", NULL, NULL },
	{ "iptables.service", NULL, NULL, NULL, NULL },
	{ "kubelet.service", "kubelet", NULL, NULL, NULL },
	{ "netfilter-persistent.service", NULL, NULL, NULL, NULL },
	{ "nftables.service", NULL, NULL, NULL, NULL },
	{ "nv_peer_mem.service", NULL, "nv_peer_mem", NULL, NULL },
	{ "nvidia-cdi-refresh.service", NULL, NULL, NULL, NULL },
	{ "nvidia-dcgm.service", "nv-hostengine", NULL, "/usr/bin/nv-hostengine",
	  "/var/log/nv-hostengine.log" },
	{ "nvidia-fabricmanager.service", "nv-fabricmanage", NULL, "/usr/bin/nv-fabricmanager",
	  "/var/log/fabricmanager.log" },
	{ "nvidia-gridd.service", "nvidia-gridd", NULL, "/usr/bin/nvidia-gridd", NULL },
	{ "nvidia-imex.service", "nvidia-imex", NULL, "/usr/bin/nvidia-imex",
	  "/var/log/nvidia-imex.log" },
	{ "nvidia-persistenced.service", "nvidia-persiste", NULL, "/usr/bin/nvidia-persistenced",
	  NULL },
	{ "nvidia-suspend.service", NULL, NULL, NULL, NULL },
	{ "nvsm.service", NULL, NULL, NULL, NULL },
	{ "openibd.service", NULL, "openibd", NULL, NULL },
	{ "opensm.service", "opensm", NULL, NULL, "/var/log/opensm.log" },
	{ "opensmd.service", "opensm", "opensmd", NULL, "/var/log/opensm.log" },
	{ "rdma-ndd.service", "rdma-ndd", NULL, NULL, NULL },
	{ "slurmd.service", "slurmd", NULL, NULL, NULL },
	{ "snap.docker.dockerd.service", NULL, NULL, NULL, NULL },
	{ "systemd-modules-load.service", NULL, NULL, NULL, NULL },
	{ "tuned.service", "tuned", NULL, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

const struct unit_of_interest *unit_of_interest(const char *unit)
{
	for (const struct unit_of_interest *u = units_of_interest; u->unit; u++)
		if (strcmp(u->unit, unit) == 0)
			return u;
	return NULL;
}

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
