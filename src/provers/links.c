/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links.c - NVLink between the GPUs, by NVML: the bandwidth that their copies should reach. */
#include "provers/prove.h"

/* Reads the speed of a link that is up. GPUs before Hopper report only one for all links. */
static void put_speed(const struct nvml_library *nvml, nvml_handle device, unsigned int link,
		      struct proof_gpu *gpu)
{
	struct nvml_field_value fields[] = { { .field = NVML_FIELD_LINK_SPEED, .scope = link },
					     { .field = NVML_FIELD_LINK_SPEED_COMMON } };

	if (!nvml->nvmlDeviceGetFieldValues ||
	    nvml->nvmlDeviceGetFieldValues(device, 2, fields) != NVML_DONE)
		return;
	for (size_t i = 0; i < 2 && !is_known(gpu->nvlink_mb_per_s); i++)
		if (fields[i].result == NVML_DONE && fields[i].value.u)
			gpu->nvlink_mb_per_s = fact_u64(fields[i].value.u);
}

static void count_links(const struct nvml_library *nvml, nvml_handle device, struct proof_gpu *gpu)
{
	uint64_t up = 0;

	for (unsigned int link = 0; link < NVML_LINKS; link++) {
		int state = 0;

		/* Refused for a link that this GPU does not have. */
		if (nvml->nvmlDeviceGetNvLinkState(device, link, &state) != NVML_DONE || state != 1)
			continue;
		if (up++ == 0)
			put_speed(nvml, device, link, gpu);
	}
	gpu->nvlinks = up ? fact_u64(up) : FACT_NONE(fact_u64);
}

static void add_peers(struct proving *p, const struct nvml_library *nvml,
		      const nvml_handle *devices, size_t gpu)
{
	struct proof_gpu *g = &p->proof->gpus.items[gpu];

	g->nvlink_peers.state = FACT_KNOWN;
	for (size_t i = 0; i < p->proof->gpus.count; i++) {
		int status = -1;

		if (i != gpu && devices[i] &&
		    nvml->nvmlDeviceGetP2PStatus(devices[gpu], devices[i], NVML_CAN_NVLINK,
						 &status) == NVML_DONE &&
		    status == NVML_P2P_IS_OK)
			*LIST_ADD(p->arena, &g->nvlink_peers) = prove_bdf(p, i);
	}
}

static void links_run(struct proving *p, size_t step)
{
	nvml_handle devices[PROVE_GPUS_MAX] = { 0 };
	struct nvml_library nvml;

	(void)step;
	if (nvml_library_start(&nvml) || !nvml.nvmlDeviceGetHandleByPciBusId_v2 ||
	    !nvml.nvmlDeviceGetNvLinkState || !nvml.nvmlDeviceGetP2PStatus)
		return;
	for (size_t i = 0; i < p->proof->gpus.count; i++)
		if (nvml.nvmlDeviceGetHandleByPciBusId_v2(prove_bdf(p, i), &devices[i]) ==
		    NVML_DONE)
			count_links(&nvml, devices[i], &p->proof->gpus.items[i]);
	for (size_t i = 0; i < p->proof->gpus.count; i++)
		if (devices[i])
			add_peers(p, &nvml, devices, i);
}

const struct prover prover_links = {
	.name = "links",
	.groups = 1 << PROVE_CALLER,
	.run = links_run,
};
