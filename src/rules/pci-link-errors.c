/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pci-link-errors.c - PCIe errors of a GPU or NIC that is still on the bus (rule pci/link-errors). */
#include <inttypes.h>

#include "evaluate/skip.h"
#include "query/endpoints.h"
#include "query/link-errors.h"
#include "query/pci-device.h"
#include "query/topology.h"

/* A corrected error costs a repetition and nothing else, and the kernel limits the rate of these lines. No source gives a
 * number. */
#define CORRECTED_MAX 10

static bool is_of_interest(const struct node *node, const struct pci_device *d)
{
	return (pci_is_gpu(d) || topology_is_nic(node, d)) && !is_known(d->physical_function) &&
	       !known_is(d->answers, false);
}

static void check_device(struct rule_context *ctx, const struct pci_device *d)
{
	struct link_errors errors = link_errors_find(ctx->arena, ctx->node, d);

	if (errors.count && (errors.uncorrected || errors.count > CORRECTED_MAX))
		FAIL(ctx, .subject = d->bdf.value,
		     .observed = text_printf(
			     ctx, "%" PRIu64 " %s error%s at %s in this boot; last: %s",
			     errors.count, errors.uncorrected ? "uncorrected" : "corrected",
			     errors.count == 1 ? "" : "s", errors.bdf, errors.last),
		     .expected = "no such errors", .evidence = { errors.fact });
	else if (errors.count)
		PASS(ctx, .subject = d->bdf.value,
		     .observed = text_printf(ctx, "%" PRIu64 " corrected error%s at %s",
					     errors.count, errors.count == 1 ? "" : "s",
					     errors.bdf),
		     .evidence = { errors.fact });
}

static void check_links(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	if (skip_without_gpu_or_rdma(ctx))
		return;
	for_each(d, &ctx->node->pci.devices)
		if (is_of_interest(ctx->node, d) && !rule_has_answered(ctx, d->bdf.value))
			check_device(ctx, d);
	if (ctx->findings->count == before)
		pass_if_log_whole(ctx);
}

static const struct rule pci_link_errors_rules[] = {
	{
		.id = "pci/link-errors",
		.title = "A PCIe link has errors: the device is slow, or will be lost",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_links,
		.follows = { "pci/device-off-bus" },
		.impact =
			"Corrected errors repeat transfers, which slows them. Uncorrected ones fail a transfer or the job. Both can "
			"come before the device falls off the bus.",
		.remedy =
			"Reseat the device, and its riser or cable, or replace them. Check that the power supply delivers what the "
			"device needs. If errors come again, boot with pcie_aspm=off, and set the slot to a lower PCIe generation "
			"in the firmware setup.",
		.repaired_by = BY_HARDWARE,
		.on_site = true,
		.activation = ACTIVATION_NONE,
		.reads =
			"\"PCIe Bus Error\" in the kernel log since the boot, of each GPU and RDMA NIC and the ports above it.",
		.why = "A good link has almost none. Up to ten corrected errors in a boot pass: no source gives a number, and the "
		       "kernel limits the rate of these lines. Firmware that keeps error reporting to itself hides them.",
		.check = "dmesg | grep -E 'AER|PCIe Bus Error'; lspci -vvv | grep -A3 DevSta",
		.sources =
			"Linux 6.12.117: drivers/pci/pcie/aer.c (aer_print_error), Documentation/PCI/pcieaer-howto.rst\n"
			"PCI Express Base Specification 6.0: 6.2, Error Signaling and Logging",
	},
};

RULE_TABLE(pci_link_errors);
