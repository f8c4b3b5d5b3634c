/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pci-acs-grace.c - which bits of ACS the ports of a Grace system have, against those that its maker
 * documents (rule pci/acs-grace-masks). rdma-core: kernel-boot/rdma_topo, NVCX_DMA_Complex.compute_acs()
 * and PCITopo.compute_acs(), at 691953d8d502.
 */
#include "base/array.h"
#include "evaluate/skip.h"
#include "query/acs-argument.h"
#include "query/endpoints.h"
#include "query/kind.h"
#include "query/pci-device.h"
#include "query/ports.h"

#define PORTS_MAX 128
#define SHOWN 3 /* ports that a finding names */

/* The bits that count, and their right values; MASK as pci=config_acs= takes it. */
struct bits {
	uint64_t mask, value;
	const char *mask_text;
};

#define COUNTED (PCI_ACS_SV | PCI_ACS_RR | PCI_ACS_CR | PCI_ACS_UF)
static const struct bits nic_side = { COUNTED, PCI_ACS_SV | PCI_ACS_CR | PCI_ACS_UF, "xx110x1" };
static const struct bits gpu_side = { COUNTED, PCI_ACS_SV | PCI_ACS_RR | PCI_ACS_UF, "xx101x1" };
/* Without source validation the whole segment is one IOMMU group. */
static const struct bits root_above = { COUNTED, PCI_ACS_RR | PCI_ACS_CR | PCI_ACS_UF, "xx111x0" };
/* The bits that the kernel sets where the IOMMU translates. */
static const struct bits kernel_default = { COUNTED, COUNTED, "xx111x1" };

struct port {
	const struct pci_device *device;
	const struct bits *right;
};

struct ports {
	struct port list[PORTS_MAX];
	size_t count;
	const struct pci_device *unplaced; /* what is above it was not read */
};

static void add_port(struct ports *ports, const struct pci_device *device, const struct bits *bits)
{
	for (size_t i = 0; i < ports->count; i++)
		if (ports->list[i].device == device)
			return;
	if (ports->count < PORTS_MAX && !is_absent(device->acs))
		ports->list[ports->count++] = (struct port){ device, bits };
}

/* The lowest bridge above both, as its place in A's chain; A->count where there is none. */
static size_t lowest_above_both(const struct pci_chain *a, const struct pci_chain *b)
{
	for (size_t i = 0; i < a->count; i++)
		for (size_t k = 0; k < b->count; k++)
			if (a->above[i] == b->above[k])
				return i;
	return a->count;
}

/* The Data Direct function and the GPU below one switch: the ports where their paths part, and the root port. */
static void add_pair(struct ports *ports, const struct pci_chain *dma, const struct pci_chain *gpu)
{
	size_t meet = lowest_above_both(dma, gpu), below = lowest_above_both(gpu, dma);

	if (meet == 0 || meet >= dma->count || below == 0)
		return;
	add_port(ports, dma->above[meet - 1], &nic_side);
	add_port(ports, gpu->above[below - 1], &gpu_side);
	add_port(ports, dma->above[dma->count - 1], &root_above);
}

/* Root ports of Grace, and the bridges of ConnectX and BlueField-3 (rdma_topo, pci_device_types). */
static bool is_checked(const struct pci_device *d)
{
	static const struct {
		uint16_t vendor, device;
	} ids[] = {
		{ 0x10de, 0x22b1 }, { 0x10de, 0x22b2 }, { 0x10de, 0x22b8 },
		{ 0x15b3, 0x1979 }, { 0x15b3, 0x197b }, { 0x15b3, 0x197c },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		if (known_is(d->vendor_id, ids[i].vendor) && known_is(d->device_id, ids[i].device))
			return true;
	return false;
}

static void check_place(struct ports *ports, const struct pci_chain *chain)
{
	const struct pci_device *top = chain->count ? chain->above[chain->count - 1]
						    : chain->device;

	if (is_unknown(top->parent))
		ports->unplaced = top;
}

static void collect(const struct rule_context *ctx, struct ports *ports)
{
	for_each(d, &ctx->node->pci.devices) {
		struct pci_chain dma;

		if (!pci_is_data_direct(d))
			continue;
		topology_chain(ctx->node, d, &dma);
		check_place(ports, &dma);
		for_each(gpu, &ctx->endpoints->gpus) {
			check_place(ports, &gpu->chain);
			add_pair(ports, &dma, &gpu->chain);
		}
	}
	for_each(d, &ctx->node->pci.devices)
		if (is_checked(d))
			add_port(ports, d, &kernel_default);
}

static bool is_right(const struct port *port)
{
	return (port->device->acs.control.value & port->right->mask) == port->right->value;
}

/* The argument that rdma_topo write-grub-acs writes; NULL: the kernel's default is right on every port. */
static const char *argument(struct rule_context *ctx, const struct ports *ports)
{
	const char *text = NULL;

	for (size_t i = 0; i < ports->count; i++) {
		const struct port *port = &ports->list[i];

		if (port->right != &kernel_default)
			text = text_printf(ctx, "%s%s%s@%s", text ? text : "", text ? ";" : "",
					   port->right->mask_text, port->device->bdf.value);
	}
	return text;
}

static const char *name_wrong(struct rule_context *ctx, const struct ports *ports)
{
	const char *text = "";
	size_t wrong = 0;

	for (size_t i = 0; i < ports->count; i++) {
		const struct port *port = &ports->list[i];

		if (is_unknown(port->device->acs) || is_right(port) || ++wrong > SHOWN)
			continue;
		text = text_printf(ctx, "%s%s%s has 0x%02x instead of %s", text, *text ? "; " : "",
				   port->device->bdf.value,
				   (unsigned int)port->device->acs.control.value,
				   port->right->mask_text);
	}
	return wrong > SHOWN ? text_printf(ctx, "%s; %zu more", text, wrong - SHOWN) : text;
}

static void fail_masks(struct rule_context *ctx, const struct ports *ports,
		       const struct pci_device *first)
{
	const char *config = argument(ctx, ports);
	bool misread = known_is(acs_argument_is_misread(ctx->node), true);

	FAIL(ctx, .observed = name_wrong(ctx, ports),
	     .expected = "the ACS bits that rdma_topo check accepts", .then = THEN_REBOOT,
	     .remedy =
		     config ? text_printf(
				      ctx,
				      "Run rdma_topo write-grub-acs, which adds pci=config_acs=\"%s\" to the "
				      "kernel command line. Leave the IOMMU on.%s",
				      config,
				      misread ? " Kernels from " ACS_ARGUMENT_BROKEN
						" to before " ACS_ARGUMENT_REPAIRED
						" misread it unless they have commit " ACS_ARGUMENT_REPAIR
						"."
					      : "")
			    : "Remove pci=config_acs= and pci=disable_acs_redir= from the kernel command "
			      "line, and leave the IOMMU on.",
	     .command = config ? "sudo rdma_topo write-grub-acs" : NULL,
	     .evidence = { fact_path(ctx->arena, "pci.devices", first->bdf.value, "acs.control"),
			   "cmdline.running" });
}

static void check_masks(struct rule_context *ctx)
{
	struct ports ports = { .count = 0 };
	const struct pci_device *wrong = NULL, *unread = NULL;

	if (skip_without_gpu(ctx) || skip_unless_kind(ctx, KIND_GRACE) ||
	    skip_in_vm(ctx, "ACS of the real ports is not visible here"))
		return;
	collect(ctx, &ports);
	for (size_t i = 0; i < ports.count; i++) {
		const struct pci_device *d = ports.list[i].device;

		if (!is_known(d->acs) || !is_known(d->acs.control))
			unread = unread ? unread : d;
		else if (!wrong && !is_right(&ports.list[i]))
			wrong = d;
	}
	if (ports.unplaced)
		UNKNOWN(ctx, .evidence = { fact_path(ctx->arena, "pci.devices",
						     ports.unplaced->bdf.value, "parent") });
	else if (wrong)
		fail_masks(ctx, &ports, wrong);
	else if (unread)
		UNKNOWN(ctx, .remedy = "run as root",
			.evidence = {
				fact_path(ctx->arena, "pci.devices", unread->bdf.value, "acs") });
	else if (!ports.count)
		NOT_APPLICABLE(ctx, .observed = "no port of Grace or of a ConnectX switch has ACS",
			       .evidence = { "pci.devices" });
	else
		PASS(ctx, .observed = text_printf(ctx, "%zu ports", ports.count),
		     .evidence = { "pci.devices" });
}

static const struct rule pci_acs_grace_rules[] = {
	{
		.id = "pci/acs-grace-masks",
		.title = "GPUDirect RDMA can fail or be slow: ACS on this Grace system is not set "
			 "as NVIDIA documents",
		.is_short_effect = true,
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_masks,
		.impact =
			"With Data Direct, traffic between NIC and GPU makes a detour, or mlx5dv_reg_dmabuf_mr fails. Without "
			"isolation a user program can cause platform errors.",
		.then = THEN_REBOOT,
		.remedy = "Run rdma_topo write-grub-acs.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"The ACS control registers of Grace's root ports and of ConnectX switch ports, and which of them are between "
			"a Data Direct function (15b3:2100) and its GPU.",
		.why = "One switch port leads to a Data Direct function and another to its GPU: each must redirect one direction "
		       "only. The root port above must not validate sources, so that the kernel makes one IOMMU group of the "
		       "segment. All other ports keep the kernel's default: SrcValid, ReqRedir, CmpltRedir and UpstreamFwd. "
		       "Recipes that switch ACS off are for x86 servers.",
		.check = "rdma_topo check; lspci -vvv | grep -E '^[0-9a-f]|ACSCtl'",
		.sources =
			"rdma-core 691953d8d (2026-08-20): kernel-boot/rdma_topo, compute_acs() and cmd_setpci_acs()\n"
			"github.com/NVIDIA/nodewright-packages pull 111",
	},
};

RULE_TABLE(pci_acs_grace);
