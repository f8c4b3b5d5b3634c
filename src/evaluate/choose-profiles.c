/* SPDX-License-Identifier: GPL-2.0-or-later */
/* choose-profiles.c - chooses the profiles: those of the user, else those that the hardware suggests. */
#include "evaluate/choose-profiles.h"

#include "query/endpoints.h"
#include "query/gpus.h"
#include "query/kind.h"
#include "query/node-find.h"
#include "query/pci-device.h"
#include "query/peer-support.h"
#include "query/rdma-use.h"
#include "query/topology.h"

/* The management function of an NVSwitch has an RDMA device too, which is no job's. */
static size_t count_rdma(const struct node *node)
{
	size_t n = 0;

	for_each(d, &node->rdma.devices) {
		const struct pci_device *own = is_known(d->bdf) ? node_pci(node, d->bdf.value)
								: NULL;

		n += !own || topology_is_nic(node, own);
	}
	return n;
}

/* deepep is never assumed: only a person knows what the node is for. */
static void pick_by_gpus(struct report *report)
{
	const struct node *node = report->node;
	size_t rdma = count_rdma(node), gpus = 0, data_centre = 0, infiniband;

	for_each(d, &node->pci.devices) {
		if (!pci_is_gpu(d))
			continue;
		gpus++;
		data_centre += gpu_is_data_centre(d);
	}
	infiniband = rdma ? 0 : rdma_count_infiniband(node);
	if (infiniband && data_centre) {
		report->profiles = PROFILE_BASE | PROFILE_GPUDIRECT;
		report->profiles_reason = arena_printf(
			report->arena, "%zu InfiniBand adapter%s and %zu data-centre GPU%s",
			infiniband, infiniband == 1 ? "" : "s", data_centre,
			data_centre == 1 ? "" : "s");
	} else if (rdma && data_centre) {
		report->profiles = PROFILE_BASE | PROFILE_GPUDIRECT;
		report->profiles_reason = arena_printf(
			report->arena, "%zu RDMA device%s and %zu data-centre GPU%s", rdma,
			rdma == 1 ? "" : "s", data_centre, data_centre == 1 ? "" : "s");
	} else if (gpus >= 2 && !rdma && known_is(node_has_peers(node, report->arena), true)) {
		report->profiles = PROFILE_BASE | PROFILE_P2P;
		report->profiles_reason = arena_printf(report->arena, "%zu GPUs and no RDMA device",
						       gpus);
	} else if (gpus >= 2 && !rdma) {
		report->profiles = PROFILE_BASE;
		report->profiles_reason = arena_printf(
			report->arena, "%zu GPUs that the driver does not let copy to each other",
			gpus);
	} else if (is_unknown(node->pci.devices)) {
		report->profiles = PROFILE_BASE;
		report->profiles_reason = "the GPUs could not be read";
	} else {
		report->profiles = PROFILE_BASE;
		report->profiles_reason =
			arena_printf(report->arena, "%zu GPU%s and %zu RDMA device%s", gpus,
				     gpus == 1 ? "" : "s", rdma, rdma == 1 ? "" : "s");
	}
}

/* A node with GPUDirect RDMA needs no second reason. */
static void add_rdma(struct report *report)
{
	const struct node *node = report->node;
	struct rdma_use use;

	if (report->profiles & PROFILE_GPUDIRECT_ANY)
		return;
	use = rdma_use_of(node, endpoints_find(node, report->arena), report->arena);
	if (!use.reason)
		return;
	report->profiles_reason = report->profiles & PROFILE_P2P
					  ? arena_printf(report->arena, "%s; %s",
							 report->profiles_reason, use.reason)
					  : use.reason;
	report->profiles |= PROFILE_RDMA;
}

static void pick_profiles(struct report *report)
{
	pick_by_gpus(report);
	add_rdma(report);
}

void profiles_choose(struct report *report, const struct settings *settings)
{
	if (!settings->profiles) {
		pick_profiles(report);
		return;
	}
	report->profiles = settings->profiles;
	report->profiles_reason = settings->profiles_from ? arena_printf(report->arena, "set in %s",
									 settings->profiles_from)
							  : "selected with --profile";
}

/* ---- profiles that were not asked for ---- */

static const char *installed(const struct report *report, const char *const names[][2])
{
	for (size_t i = 0; names[i][0]; i++) {
		const struct software_item *item = node_software(report->node, names[i][0]);

		if (item)
			return arena_printf(report->arena, "%s%s%s is installed", names[i][1],
					    is_known(item->version) ? " " : "",
					    is_known(item->version) ? item->version.value : "");
	}
	return NULL;
}

static const char *why_gpudirect(const struct report *report)
{
	static const char *const names[][2] = { { "nixl", "NIXL" }, { NULL } };
	size_t rdma = count_rdma(report->node);

	/* GPUDirect RDMA does not exist there. */
	if (report->profiles & PROFILE_RDMA && node_is(report->node, KIND_GB10))
		return NULL;
	if (rdma)
		return arena_printf(report->arena, "%zu RDMA device%s beside the GPUs", rdma,
				    rdma == 1 ? " is" : "s are");
	return installed(report, names);
}

/* Not where NVLink connects the GPUs, and not where RDMA was asked for, whose rules look at the same paths. */
static const char *why_p2p(const struct report *report)
{
	size_t gpus = 0;

	for_each(d, &report->node->pci.devices)
		gpus += pci_is_gpu(d) &&
			known_is(gpu_has_pcie_peers(report->node, d, report->arena), true);
	return gpus < 2 || report->profiles & PROFILE_GPUDIRECT_ANY
		       ? NULL
		       : arena_printf(report->arena, "%zu GPUs can copy to each other over PCIe",
				      gpus);
}

static const char *why_profile(const struct report *report, unsigned int profile)
{
	static const char *const deepep[][2] = { { "deepep", "DeepEP" },
						 { "nvshmem", "NVSHMEM" },
						 { NULL } };

	if (!topology_gpus(report->node))
		return NULL;
	return profile == PROFILE_GPUDIRECT ? why_gpudirect(report)
	       : profile == PROFILE_P2P	    ? why_p2p(report)
	       : profile == PROFILE_DEEPEP  ? installed(report, deepep)
					    : NULL;
}

/* A node without RDMA device and InfiniBand adapter cannot have it, and the others include it. */
static bool is_listed(const struct report *report, unsigned int profile)
{
	return profile != PROFILE_RDMA ||
	       (!(report->profiles & PROFILE_GPUDIRECT_ANY) &&
		(count_rdma(report->node) || rdma_count_infiniband(report->node)));
}

void profiles_list_not_evaluated(struct report *report)
{
	for (unsigned int bit = 0; profile_words[bit]; bit++) {
		struct profile_hint *hint;

		if (report->profiles & 1u << bit || !is_listed(report, 1u << bit))
			continue;
		hint = LIST_ADD(report->arena, &report->not_evaluated);
		hint->profile = 1u << bit;
		hint->reason = why_profile(report, hint->profile);
	}
}
