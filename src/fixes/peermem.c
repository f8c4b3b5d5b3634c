/* SPDX-License-Identifier: GPL-2.0-or-later */
/* peermem.c - replaces the old nv_peer_mem by the driver's own nvidia-peermem. */
#include "fixes/fix.h"
#include "query/node-find.h"

#define UNIT "nv_peer_mem.service"

static void stop_service(struct fixing *f)
{
	const struct service *service = node_service(f->node, UNIT);

	if (!service || str_is(service->load, "not-found"))
		return;
	if (str_is(service->active, "active"))
		fix_step(f, PLAN_UNIT_STOP, UNIT, NULL);
	if (str_is(service->enabled, "enabled"))
		fix_step(f, PLAN_UNIT_DISABLE, UNIT, NULL);
}

static void peermem_plan(struct fixing *f)
{
	bool loaded = node_module(f->node, "nv_peer_mem");
	const struct service *service = node_service(f->node, UNIT);
	bool enabled = service &&
		       (str_is(service->enabled, "enabled") || str_is(service->active, "active"));

	if (!loaded && !enabled) {
		fix_refuse(f, "nv_peer_mem is installed and not in use; remove its package");
		return;
	}
	fix_does(f, ACTIVATION_NOW, "stop and disable nv_peer_mem");
	if (!fix_load_now(f, "nvidia_peermem") || !fix_load_at_boot(f, "nvidia_peermem"))
		return;
	stop_service(f);
	if (loaded)
		fix_step(f, PLAN_UNLOAD_MODULE, "nv_peer_mem", NULL);
	fix_costs(f,
		  "Run it with no jobs on the node: GPUDirect RDMA does not work between the two "
		  "steps.");
	fix_risks(f);
}

const struct fix fix_replace_nv_peer_mem = {
	.name = "replace-nv-peer-mem",
	.title = "nv_peer_mem unloaded and its service disabled, nvidia-peermem loaded now and at "
		 "boot",
	.plan = peermem_plan,
};
