/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pci-acs.c - PCIe Access Control Services (rules pci/acs-...) on the paths between GPUs and NICs. */

#include "evaluate/skip.h"
#include "parse/bdf.h"
#include "query/acs-argument.h"
#include "query/distribution.h"
#include "query/endpoints.h"
#include "query/guests.h"
#include "query/kind.h"
#include "query/pci-device.h"
#include "query/peer-support.h"

struct port {
	const struct pci_device *device;
	bool across; /* below a switch that is above both peers, where redirection makes a detour */
	bool near;   /* both peers are below one host bridge */
	bool gpus;   /* both peers are GPUs */
};

struct ports {
	LIST(struct port) list;
	/* Of each PCI device: its place in the list, from 1; 0: it is not there. */
	uint32_t *places;
};

static void add_ports(struct rule_context *ctx, struct ports *ports, const struct pci_path *path,
		      bool gpus)
{
	const struct pci_device *devices = ctx->node->pci.devices.items;
	bool across = path->class == PATH_PIX || path->class == PATH_PXB;

	for (size_t i = 0; i < path->count; i++) {
		uint32_t *place = &ports->places[path->ports[i] - devices];
		struct port *port;

		if (!*place) {
			LIST_ADD(ctx->arena, &ports->list)->device = path->ports[i];
			*place = ports->list.count;
		}
		port = &ports->list.items[*place - 1];
		port->across |= across;
		port->near |= path->class <= PATH_PHB;
		port->gpus |= gpus;
	}
}

static bool may_copy(const struct rule_context *ctx, const struct pci_device *gpu)
{
	return !known_is(gpu_has_pcie_peers(ctx->node, gpu, ctx->arena), false);
}

/* Ports between GPUs (p2p), and between each GPU and its nearest NIC (RDMA). */
static void collect(struct rule_context *ctx, struct ports *ports)
{
	struct pci_path path;

	ports->places = arena_alloc(ctx->arena,
				    ctx->node->pci.devices.count * sizeof(*ports->places));
	for_each(a, &ctx->endpoints->gpus) {
		if (is_asked_for(ctx, PROFILE_GPUDIRECT_ANY) && a->nic && a->path.class <= PATH_PHB)
			add_ports(ctx, ports, &a->path, false);
		if (!is_asked_for(ctx, PROFILE_P2P) || !may_copy(ctx, a->chain.device))
			continue;
		for_each(b, &ctx->endpoints->gpus) {
			if (b <= a || !may_copy(ctx, b->chain.device))
				continue;
			topology_path_between(&a->chain, &b->chain, &path);
			add_ports(ctx, ports, &path, true);
		}
	}
}

static bool skip_without_ports(struct rule_context *ctx, struct ports *ports)
{
	if (skip_without_gpu(ctx) ||
	    skip_in_vm(ctx, "ACS of the real switches is not visible here"))
		return true;
	if (node_is(ctx->node, KIND_GRACE)) {
		NOT_APPLICABLE(ctx,
			       .observed = "Grace needs other ACS bits: see pci/acs-grace-masks",
			       .evidence = { "os.product" });
		return true;
	}
	if (node_is(ctx->node, KIND_VFIO_HOST)) {
		NOT_APPLICABLE(ctx,
			       .observed = "this host gives GPUs to virtual machines, which ACS "
					   "redirection isolates from each other",
			       .evidence = { "pci.devices" });
		return true;
	}
	collect(ctx, ports);
	if (ports->list.count)
		return false;
	NOT_APPLICABLE(
		ctx,
		.observed =
			"no bridge is between GPUs that copy to each other over PCIe, or between a GPU and a NIC",
		.evidence = { "pci.devices" });
	return true;
}

static const char *control_fact(struct rule_context *ctx, const struct pci_device *port)
{
	return fact_path(ctx->arena, "pci.devices", port->bdf.value, "acs.control");
}

/* Formats the bits like lspci. */
static const char *format_bits(struct rule_context *ctx, uint64_t control)
{
	static const char *const names[] = { "SrcValid+",   "TransBlk+",    "ReqRedir+",
					     "CmpltRedir+", "UpstreamFwd+", "EgressCtrl+",
					     "DirectTrans+" };
	const char *text = "";

	for (unsigned int i = 0; i < 7; i++)
		if (control & UINT64_C(1) << i)
			text = text_printf(ctx, "%s%s%s", text, *text ? " " : "", names[i]);
	return text;
}

static bool redirects(const struct pci_device *port)
{
	return is_known(port->acs) && is_known(port->acs.control) &&
	       (port->acs.control.value & ACS_REDIRECT);
}

#define NAMED_MAX 32 /* a kernel command line has 2048 bytes */

struct redirect_remedy {
	const char *text;
	const char *command; /* or NULL */
};

/* One argument for all ports: of several the kernel takes the last (drivers/pci/pci.c, pci_setup()). GRUB takes a
 * semicolon outside quotes for the end of the command. */
static struct redirect_remedy redirect_remedy(struct rule_context *ctx, const struct ports *ports)
{
	struct fact_bool misread = acs_argument_is_misread(ctx->node);
	struct redirect_remedy remedy = { 0 };
	const char *text = "";
	size_t count = 0;

	if (node_may_have_vfio(ctx->node))
		return (struct redirect_remedy){
			.text = "Keep ACS as it is while devices of this host are, or can be, bound to vfio-pci: ACS "
				"isolates virtual machines from the host. If no virtual machine uses them, give them "
				"back to their drivers and check again."
		};
	if (acs_argument_is_missing(ctx->node))
		return (struct redirect_remedy){
			.text = "Switch ACS off in the firmware setup, or with setpci after each boot. Kernels before 4.19 do "
				"not know pci=disable_acs_redir=."
		};
	if (known_is(misread, true))
		remedy.text =
			"Switch ACS off in the firmware setup, or boot a kernel from " ACS_ARGUMENT_REPAIRED
			" on and check again: those from " ACS_ARGUMENT_BROKEN
			" on misread pci=disable_acs_redir= unless they have commit " ACS_ARGUMENT_REPAIR
			", and switch ACS on instead.";
	if (!known_is(misread, false))
		return remedy;
	for_each(port, &ports->list) {
		if (!redirects(port->device))
			continue;
		if (++count > NAMED_MAX || !bdf_is(span_of(port->device->bdf.value)))
			return remedy;
		text = text_printf(ctx, "%s%s%s", text, *text ? ";" : "", port->device->bdf.value);
	}
	remedy.command = shell_add_argument(ctx->arena, ctx->node,
					    text_printf(ctx, "pci=disable_acs_redir=%s", text));
	remedy.text =
		remedy.command
			? text_printf(
				  ctx,
				  "Switch ACS redirection off at %zu port%s, on the kernel command line.",
				  count, count == 1 ? "" : "s")
			: text_printf(
				  ctx,
				  "Add pci=disable_acs_redir=\"%s\" to the kernel command line.",
				  text);
	return remedy;
}

/* Copies between ports of the CPU pass the root complex in any case. On AMD's root ports redirection takes them
 * through the IOMMU besides, and they hang or are slow. */
static enum severity redirect_severity(const struct rule_context *ctx, const struct port *port)
{
	if (port->across)
		return SEVERITY_ERR;
	return port->near || (port->gpus && str_is(ctx->node->os.cpu_vendor, "AuthenticAMD"))
		       ? SEVERITY_WARN
		       : SEVERITY_INFO;
}

static const char *redirect_place(const struct rule_context *ctx, const struct port *port)
{
	if (port->across)
		return "";
	return redirect_severity(ctx, port) == SEVERITY_WARN && !port->near
		       ? " on a root port of the CPU: copies between GPUs go through the IOMMU"
		       : " on a port of the CPU: copies pass the root complex in any case";
}

static void check_redirect(struct rule_context *ctx)
{
	struct ports ports = { 0 };
	struct redirect_remedy remedy;
	bool kept;

	if (skip_without_ports(ctx, &ports))
		return;
	remedy = redirect_remedy(ctx, &ports);
	kept = node_may_have_vfio(ctx->node);
	for_each(p, &ports.list) {
		const struct pci_device *port = p->device;
		const struct pci_acs *acs = &port->acs;

		if (is_absent(*acs))
			PASS(ctx, .subject = port->bdf.value, .observed = "no ACS capability",
			     .evidence = { fact_path(ctx->arena, "pci.devices", port->bdf.value,
						     "acs") });
		else if (!is_known(*acs) || !is_known(acs->control))
			UNKNOWN(ctx, .subject = port->bdf.value,
				.evidence = { fact_path(ctx->arena, "pci.devices", port->bdf.value,
							"acs") });
		else if (acs->control.value & ACS_REDIRECT)
			FAIL_AS(ctx, redirect_severity(ctx, p), .subject = port->bdf.value,
				.observed = text_printf(ctx, "ACSCtl: %s%s",
							format_bits(ctx, acs->control.value),
							redirect_place(ctx, p)),
				.expected = "ReqRedir- CmpltRedir- EgressCtrl-",
				.remedy = remedy.text, .command = remedy.command,
				.then = kept ? 0 : THEN_REBOOT, .is_kept = kept,
				.activation = kept ? ACTIVATION_NOW : ACTIVATION_NONE,
				.evidence = { control_fact(ctx, port) });
		else
			PASS(ctx, .subject = port->bdf.value,
			     .evidence = { control_fact(ctx, port) });
	}
}

static void check_srcvalid(struct rule_context *ctx)
{
	struct ports ports = { 0 };
	size_t before;

	if (skip_without_ports(ctx, &ports))
		return;
	before = ctx->findings->count;
	for_each(p, &ports.list) {
		const struct pci_device *port = p->device;
		const struct pci_acs *acs = &port->acs;

		if (!is_known(*acs) && !is_absent(*acs))
			UNKNOWN(ctx, .subject = port->bdf.value,
				.evidence = { fact_path(ctx->arena, "pci.devices", port->bdf.value,
							"acs") });
		else if (is_known(*acs) && acs->control.value & PCI_ACS_SV &&
			 !(acs->control.value & ACS_REDIRECT))
			PASS(ctx, .subject = port->bdf.value,
			     .observed = text_printf(ctx, "only %s, which redirects nothing",
						     format_bits(ctx, acs->control.value)),
			     .evidence = { control_fact(ctx, port) });
	}
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "pci.devices" });
}

static void check_unreadable(struct rule_context *ctx)
{
	struct ports ports = { 0 };
	size_t before;

	if (skip_without_ports(ctx, &ports))
		return;
	before = ctx->findings->count;
	for_each(p, &ports.list) {
		const struct pci_device *port = p->device;

		if (is_unknown(port->acs))
			UNKNOWN(ctx, .subject = port->bdf.value, .remedy = "run as root",
				.evidence = { fact_path(ctx->arena, "pci.devices", port->bdf.value,
							"acs") });
	}
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "pci.devices" });
}

/* ---- direct translation ---- */

/* Data Direct has masks of its own, in which this bit does not count (rdma_topo: "xx110x1"). */
static bool has_data_direct(const struct node *node)
{
	for_each(d, &node->pci.devices)
		if (pci_is_data_direct(d))
			return true;
	return false;
}

/* Only a port that redirects requests needs it: others pass translated requests across as well. */
static void check_translated(struct rule_context *ctx, const struct pci_device *nic,
			     const struct pci_device *port)
{
	const struct pci_acs *acs = &port->acs;
	const char *ats = fact_path(ctx->arena, "pci.devices", nic->bdf.value, "ats_enabled");

	if (is_unknown(*acs) || (is_known(*acs) && !is_known(acs->control)))
		UNKNOWN(ctx, .subject = port->bdf.value,
			.evidence = {
				fact_path(ctx->arena, "pci.devices", port->bdf.value, "acs") });
	else if (is_absent(*acs) || !(acs->control.value & (PCI_ACS_RR | PCI_ACS_CR)))
		PASS(ctx, .subject = port->bdf.value, .observed = "it redirects nothing",
		     .evidence = { fact_path(ctx->arena, "pci.devices", port->bdf.value, "acs"),
				   ats });
	else if (acs->control.value & PCI_ACS_DT)
		PASS(ctx, .subject = port->bdf.value, .evidence = { control_fact(ctx, port), ats });
	else if (is_known(acs->capability) && !(acs->capability.value & PCI_ACS_DT))
		NOTE(ctx, .subject = port->bdf.value,
		     .observed = text_printf(ctx, "%s; this port has no direct translation",
					     format_bits(ctx, acs->control.value)),
		     .evidence = { control_fact(ctx, port), ats });
	else
		FAIL(ctx, .subject = port->bdf.value,
		     .observed = text_printf(ctx, "%s above %s, which has ATS on",
					     format_bits(ctx, acs->control.value), nic->bdf.value),
		     .expected = "DirectTrans+", .evidence = { control_fact(ctx, port), ats });
}

/* The nearest port above each NIC that translates by itself. */
static void check_direct(struct rule_context *ctx)
{
	size_t before, unread = 0;

	if (skip_without_gpu(ctx) ||
	    skip_in_vm(ctx, "ACS of the real switches is not visible here"))
		return;
	if (has_data_direct(ctx->node)) {
		NOT_APPLICABLE(ctx, .observed = "Data Direct needs other masks",
			       .evidence = { "pci.devices" });
		return;
	}
	before = ctx->findings->count;
	for_each(nic, &ctx->node->pci.devices) {
		const struct pci_device *port;

		if (!topology_is_nic(ctx->node, nic) || is_known(nic->physical_function))
			continue;
		port = is_known(nic->parent) ? node_pci(ctx->node, nic->parent.value) : NULL;
		if (!port)
			continue;
		if (known_is(nic->ats_enabled, true))
			check_translated(ctx, nic, port);
		unread += is_unknown(nic->ats_enabled);
	}
	if (ctx->findings->count > before)
		return;
	if (unread)
		UNKNOWN(ctx, .observed = "whether NICs have ATS on cannot be read",
			.remedy = "run as root", .evidence = { "pci.devices" });
	else
		NOT_APPLICABLE(ctx, .observed = "no NIC has address translation services (ATS) on",
			       .evidence = { "pci.devices" });
}

#define SOURCES_ACS                                                                                 \
	"PCI Express Base Specification 6.0: 6.12, Access Control Services\n"                       \
	"rdma-core 691953d8d (2026-08-20): kernel-boot/rdma_topo, compute_acs()\n"                  \
	"NCCL user guide (2026-06-11): troubleshooting/gpu_troubleshooting.rst, ACS\n"              \
	"Linux 6.1.192: Documentation/admin-guide/kernel-parameters.txt (pci="                      \
	"disable_acs_redir), drivers/pci/p2pdma.c (pci_bridge_has_acs_redir)\n"                     \
	"github.com/NVIDIA/nccl issue 2079, github.com/aikitoria/open-gpu-kernel-modules issue 6\n" \
	"Linux 6.12.117: drivers/pci/pci.c (__pci_config_acs); commits 47c8846a49ba (6.11), 9cf8a952d57b (6.15)"

static const struct rule pci_acs_rules[] = {
	{
		.id = "pci/acs-redirect",
		.title = "Peer copies are slow or hang: ACS routes traffic through the CPU",
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_redirect,
		.impact =
			"Copies between devices below one PCIe switch go through the root complex instead, those between ports of "
			"the CPU through the IOMMU. They are slow or hang.",
		.remedy = "Switch ACS off in the firmware setup.",
		.fix = { "clear-acs-redirect" },
		.activation = ACTIVATION_REBOOT,
		.repaired_by = BY_FIRMWARE,
		.reads =
			"The ACS control register of every port between GPUs, or between a GPU and its nearest NIC, up to the "
			"bridge above both.",
		.why = "With ReqRedir or CmpltRedir on a switch's downstream port, requests to a neighbour go up to be checked. "
		       "On ports of the CPU copies pass the root complex in any case: a warning below one host bridge and between "
		       "GPUs on AMD, where NCCL hung with it, and else a note. SrcValid and "
		       "UpstreamFwd redirect nothing. setpci is no repair: the next boot loses it, and the IOMMU groups stay "
		       "wrong.",
		.check = "lspci -vvv | grep -E '^[0-9a-f]|ACSCtl'",
		.cost = "Isolation is weaker: devices below the PCIe switch can then reach each other. Leave ACS on if virtual "
			"machines get some of these devices.",
		.is_risk = true,
		.sources = SOURCES_ACS,
	},
	{
		.id = "pci/acs-no-direct-translation",
		.title =
			"GPUDirect RDMA in virtual machines is slow: ACS sends translated traffic up",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_direct,
		.impact = "Each transfer of the NIC goes through the root complex.",
		.then = THEN_REBOOT,
		.remedy =
			"Switch on direct translated P2P at the port above the NIC: "
			"pci=config_acs=\"1x111x1@\" and the port's PCI address on the kernel command line, as "
			"rdma_topo writes it. Kernels before " ACS_ARGUMENT_REPAIRED
			" misread it unless they "
			"have commit " ACS_ARGUMENT_REPAIR ".",
		.activation = ACTIVATION_REBOOT,
		.reads = "ATS of each NIC, and the ACS control register of the port above it.",
		.why = "Hosts of virtual machines keep redirection for isolation. A NIC with ATS asks the IOMMU once and marks "
		       "its packets as translated. DirectTrans lets these go straight to the GPU. ATS that is on is taken as "
		       "the sign of such a host. Inside a virtual machine the real ports are not visible.",
		.check = "lspci -vvv | grep -E '^[0-9a-f]|ACSCtl|ATSCtl'",
		.cost = "Devices below the switch trust each other's translations.",
		.is_risk = true,
		.sources = SOURCES_ACS "\ngithub.com/NVIDIA/nccl issue 949",
	},
	{
		.id = "pci/acs-srcvalid-only",
		.title = "SrcValid is set without redirection",
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_INFO,
		.evaluate = check_srcvalid,
		.impact = "None.",
		.remedy = "Nothing.",
		.reads = "The ports that pci/acs-redirect reads.",
		.why = "Some recipes look for SrcValid+ only. Source validation checks the id of a requester and redirects "
		       "nothing.",
		.check = "lspci -vvv | grep ACSCtl",
		.sources = SOURCES_ACS "\ngithub.com/NVIDIA/nccl issue 606",
	},
	{
		.id = "pci/acs-unreadable",
		.title = "ACS could not be read",
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_INFO,
		.evaluate = check_unreadable,
		.impact = "pci/acs-redirect cannot be checked.",
		.remedy = "Run as root.",
		.reads = "Whether config space of the ports could be read past its first 64 bytes.",
		.why = "The kernel shows ordinary users the first 64 bytes only, and ACS is behind them. An empty answer of "
		       "lspci without root proves nothing.",
		.check = "sudo lspci -vvv | grep ACSCtl",
		.sources = "Linux 6.1.192: drivers/pci/pci-sysfs.c, pci_read_config()",
	},
};

RULE_TABLE(pci_acs);
