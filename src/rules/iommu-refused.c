/* SPDX-License-Identifier: GPL-2.0-or-later */
/* iommu-refused.c - devices that the kernel refuses to virtual machines, or that answer neither IOMMU nor reset. */
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "query/log-age.h"
#include "query/pci-device.h"
#include "query/topology.h"

/* data/iommu-words.tsv; rows of one pattern follow each other and have one meaning. */
static const struct words {
	const char *pattern;
	enum repaired_by repaired_by;
	const char *meaning, *remedy;
} words[] = {
#define IOMMU_WORDS(name, start, whose, text, who, meaning, remedy) \
	{ name, BY_##who, meaning, remedy },
#include "iommu-words.inc"
#undef IOMMU_WORDS
};
#define WORDS (ARRAY_SIZE(words))

static bool is_watched(const struct node *node, const struct pci_device *d)
{
	return pci_is_gpu(d) || pci_is_nvswitch(d) || topology_is_nic(node, d) ||
	       pci_is_for_guest(d);
}

/* A disk that does not answer is no matter of GPU and RDMA traffic. DEVICE NULL: the line names none. */
static void answer_line(struct rule_context *ctx, const struct words *w,
			const struct log_line *line, const struct log_subject *device)
{
	const struct pci_device *d = device ? node_pci(ctx->node, device->name.value) : NULL;
	const char *name = device ? device->name.value : NULL;
	const char *last = device ? device->last.value : line->last.value;
	const char *fact = device ? log_device_fact(ctx->arena, line, name, "last")
				  : fact_path(ctx->arena, "log.lines", w->pattern, "last");
	bool hangs = w->repaired_by == BY_HARDWARE;
	const char *since = log_new_life(ctx->arena, ctx->node, name,
					 device ? device->last_us : line->last_us);

	if ((device && (!d || !is_watched(ctx->node, d))) || rule_has_answered(ctx, name))
		return;
	if (since)
		NOTE(ctx, .subject = name,
		     .observed = text_printf(ctx, "%s; since then %s", last, since),
		     .evidence = { fact });
	else
		FAIL(ctx, .subject = name, .observed = text_printf(ctx, "%s: %s", last, w->meaning),
		     .expected = "devices that answer, and that the kernel gives away",
		     .remedy = w->remedy, .then = hangs ? FIRST_POWER_CYCLE : 0,
		     .repaired_by = hangs ? BY_ADMIN : w->repaired_by,
		     .action = hangs ? ACTION_POWER_CYCLE : ACTION_DERIVED,
		     .activation = hangs ? ACTIVATION_POWER_CYCLE : ACTIVATION_REBOOT,
		     .evidence = { fact });
}

static void check_refused(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	if (!was_read(ctx->node->pci.devices)) {
		UNKNOWN(ctx, .evidence = { "pci.devices" });
		return;
	}
	for (size_t i = 0; i < WORDS; i++) {
		const struct log_line *line = node_log(ctx->node, words[i].pattern);
		bool again = i && strcmp(words[i].pattern, words[i - 1].pattern) == 0;

		if (!line || again)
			continue;
		for_each(device, &line->devices)
			answer_line(ctx, &words[i], line, device);
		if (!line->devices.count)
			answer_line(ctx, &words[i], line, NULL);
	}
	if (ctx->findings->count == before)
		pass_if_log_whole(ctx);
}

static const struct rule iommu_refused_rules[] = {
	{
		.id = "iommu/device-refused",
		.title =
			"A virtual machine cannot get a device, or a device does not answer the IOMMU",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_refused,
		.impact =
			"The virtual machine does not start, or programs that use the device hang.",
		.remedy = "Read the line and its neighbours in the kernel log.",
		.activation = ACTIVATION_REBOOT,
		.follows = { "pci/device-off-bus" },
		.reads =
			"Lines of the kernel log: RMRR, \"1:1 IOMMU mapping\", invalidation time-outs of the IOMMU, and resets "
			"that a device did not survive. Lines about disks and other devices do not count.",
		.why = "The kernel refuses a device whose memory the firmware uses. A device that hangs does not confirm "
		       "that it forgot an address, and the processor waits for that.",
		.check =
			"dmesg | grep -E 'RMRR|1:1 IOMMU|IOTLB_INV_TIMEOUT|Completion-Wait|Invalidation Time-out|giving up'",
		.sources =
			"Linux 6.1.192: drivers/iommu/intel/iommu.c, drivers/iommu/intel/dmar.c, drivers/iommu/amd/iommu.c, "
			"drivers/pci/pci.c (pci_dev_wait)\n"
			"data/iommu-words.tsv names the source of each line",
	},
};

RULE_TABLE(iommu_refused);
