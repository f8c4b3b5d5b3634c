/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pci-bars.c - addresses on the bus: BARs other than BAR1, and those of virtual functions. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "evaluate/skip.h"
#include "query/gpus.h"
#include "query/mmio-window.h"
#include "query/pci-device.h"
#include "query/topology.h"

#define FACT(ctx, d, field) fact_path(ctx->arena, "pci.devices", (d)->bdf.value, field)

static bool is_endpoint(const struct rule_context *ctx, const struct pci_device *d)
{
	if (is_known(d->physical_function))
		return false;
	return pci_is_gpu(d) || pci_is_nvswitch(d) || topology_is_nic(ctx->node, d);
}

/* The kernel's words about BAR INDEX: "BAR 0 [mem ...]: can't assign; no space", "BAR 0: no space for [mem ...]". */
static const struct log_subject *words_about(const struct node *node, const struct pci_device *d,
					     uint64_t index)
{
	const struct log_line *line = node_log(node, "bar-no-space");
	const struct log_subject *own = log_of_device(line, d->bdf.value);
	char name[32];

	snprintf(name, sizeof(name), ": BAR %" PRIu64, index);
	for (int i = 0; own && i < 2; i++) {
		const char *at = strstr(i ? own->first.value : own->last.value, name);

		if (at && !isdigit((unsigned char)at[strlen(name)]))
			return own;
	}
	return NULL;
}

static void fail_bar(struct rule_context *ctx, const struct pci_device *d, uint64_t index,
		     struct fact_u64 size)
{
	const char *guest = mmio_window_remedy(ctx->node);
	const struct log_subject *said = words_about(ctx->node, d, index);
	const char *bytes = is_known(size) && size.value
				    ? text_printf(ctx, " (%s)",
						  format_bytes(ctx->arena, size.value))
				    : "";

	FAIL(ctx, .subject = d->bdf.value,
	     .observed = text_printf(ctx, "BAR %" PRIu64 "%s has no address on the bus%s%s", index,
				     bytes, said ? ": " : "", said ? said->last.value : ""),
	     .expected = "an address for every BAR", .remedy = guest,
	     .repaired_by = guest ? BY_HOST : BY_UNSET,
	     .action = guest ? ACTION_HOST_SIDE : ACTION_DERIVED,
	     .evidence = { FACT(ctx, d, "bars"),
			   said ? log_device_fact(ctx->arena, node_log(ctx->node, "bar-no-space"),
						  d->bdf.value, "last")
				: NULL });
}

static bool has_bar(const struct pci_device *d, uint64_t index)
{
	for_each(bar, &d->bars)
		if (known_is(bar->index, index))
			return true;
	return false;
}

/* A 32-bit BAR without an address is not in the list; every NVIDIA GPU has its registers in BAR 0. BAR1 is
 * pci/bar1-unassigned's. */
static void check_bars(struct rule_context *ctx, const struct pci_device *d)
{
	const struct pci_bar *bar1 = pci_is_gpu(d) ? gpu_bar1(d) : NULL;

	if (!is_known(d->bars)) {
		UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { FACT(ctx, d, "bars") });
		return;
	}
	for_each(bar, &d->bars)
		if (bar != bar1 && !known_is(bar->io, true) && known_is(bar->start, 0)) {
			fail_bar(ctx, d, bar->index.value, bar->size_bytes);
			return;
		}
	if (pci_is_gpu(d) && !gpu_is_integrated(d) && !has_bar(d, 0))
		fail_bar(ctx, d, 0, (struct fact_u64){ 0 });
	else
		PASS(ctx, .subject = d->bdf.value, .evidence = { FACT(ctx, d, "bars") });
}

static void check_unassigned(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	if (!was_read(ctx->node->pci.devices)) {
		UNKNOWN(ctx, .evidence = { "pci.devices" });
		return;
	}
	for_each(d, &ctx->node->pci.devices)
		if (is_endpoint(ctx, d) && !known_is(d->answers, false))
			check_bars(ctx, d);
	if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx, .observed = "no GPU, NVSwitch or RDMA NIC on the PCI bus",
			       .evidence = { "pci.devices" });
}

/* ---- virtual functions ---- */

static void check_sriov_of(struct rule_context *ctx, const struct pci_device *d)
{
	const struct log_line *line = node_log(ctx->node, "sriov-no-room");
	const struct log_subject *said = log_of_device(line, d->bdf.value);
	const char *fact = FACT(ctx, d, "virtual_functions");

	if (is_unknown(d->virtual_functions))
		UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { fact });
	else if (said && known_is(d->virtual_functions, 0))
		FAIL(ctx, .subject = d->bdf.value, .observed = said->last.value,
		     .expected = "room for the BARs of the virtual functions",
		     .evidence = { log_device_fact(ctx->arena, line, d->bdf.value, "last"), fact });
	else if (is_known(d->virtual_functions) && d->virtual_functions.value)
		PASS(ctx, .subject = d->bdf.value, .evidence = { fact });
}

static void check_sriov(struct rule_context *ctx)
{
	size_t before = ctx->findings->count, capable = 0;

	if (!was_read(ctx->node->pci.devices)) {
		UNKNOWN(ctx, .evidence = { "pci.devices" });
		return;
	}
	for_each(d, &ctx->node->pci.devices) {
		if (!is_endpoint(ctx, d) || is_absent(d->virtual_functions))
			continue;
		capable++;
		check_sriov_of(ctx, d);
	}
	if (ctx->findings->count > before)
		return;
	if (capable)
		pass_if_log_whole(ctx);
	else
		NOT_APPLICABLE(ctx,
			       .observed = "no GPU or RDMA NIC that can have virtual functions",
			       .evidence = { "pci.devices" });
}

static const struct rule pci_bars_rules[] = {
	{
		.id = "pci/bar-unassigned",
		.title = "A GPU, NVSwitch or NIC does not work: a BAR has no address on the bus",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_unassigned,
		.impact = "The driver refuses the device, or cannot reach its registers.",
		.remedy =
			"Switch on Above 4G Decoding and raise the size of the MMIO windows. "
			"Booting with pci=realloc can help. If that is not enough, update the firmware.",
		.activation = ACTIVATION_REBOOT,
		.repaired_by = BY_FIRMWARE,
		.follows = { "pci/bar1-unassigned" },
		.reads =
			"The BARs of GPUs, NVSwitches and RDMA NICs as the kernel assigned them, and \"no space\" in the "
			"kernel log. BAR1 of a GPU has a rule of its own.",
		.why = "The windows of the bridges above have less room than the BARs need. In a virtual machine the host "
		       "decides how large they are. BAR 0 of a GPU has its registers: without it the driver cannot take "
		       "the GPU.",
		.check =
			"lspci -vv -s BDF | grep Region; dmesg | grep -E \"no space|can't assign\"",
		.sources =
			"Linux 6.1.192: drivers/pci/setup-res.c\n"
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-pci.c (nv_pci_validate_bars)\n"
			"github.com/qemu/qemu commit c48eb7a4e869 (pci-hole64-size)\n"
			"github.com/tianocore/edk2 pull 12997 (size of the MMIO window)\n"
			"gist.github.com/mpvasilis/b55d89d26644b6f51b5ae4d0fe7acc8f (Hyper-V, HighMemoryMappedIoSpace)",
	},
	{
		.id = "pci/sriov-no-room",
		.title = "Virtual functions cannot be created: their BARs find no room",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_sriov,
		.impact =
			"Writing sriov_numvfs fails with ENOMEM: no virtual function for pods and guests.",
		.remedy =
			"Enable SR-IOV and Above 4G Decoding in the firmware setup, or boot with pci=realloc. Or set "
			"fewer virtual functions in the NIC's firmware (NUM_OF_VFS).",
		.activation = ACTIVATION_REBOOT,
		.repaired_by = BY_FIRMWARE,
		.reads =
			"\"not enough MMIO resources for SR-IOV\" in the kernel log, and how many virtual functions exist.",
		.why = "The firmware reserves the addresses of virtual functions at boot. If it does not know of them, the "
		       "window of the bridge above is too small.",
		.check = "dmesg | grep 'MMIO resources'; cat /sys/bus/pci/devices/BDF/sriov_numvfs",
		.sources = "Linux 6.12.117: drivers/pci/iov.c (sriov_enable)",
	},
};

RULE_TABLE(pci_bars);
