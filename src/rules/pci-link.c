/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pci-link.c - settings of PCI Express between GPUs and NICs: widths, payload sizes, power. */
#include <inttypes.h>
#include <string.h>

#include "evaluate/skip.h"
#include "query/endpoints.h"
#include "query/gpus.h"
#include "query/pci-device.h"
#include "query/ports.h"

#define FACT(ctx, d, field) fact_path(ctx->arena, "pci.devices", (d)->bdf.value, field)

/* A physical function that GPU or RDMA traffic comes from. */
static bool is_endpoint(const struct rule_context *ctx, const struct pci_device *d)
{
	if (pci_is_gpu(d))
		return true;
	return !is_known(d->physical_function) && topology_is_nic(ctx->node, d);
}

static bool is_nic_endpoint(const struct rule_context *ctx, const struct pci_device *d)
{
	return !pci_is_gpu(d) && is_endpoint(ctx, d);
}

/* Registers of a suspended function say nothing: D3cold reads as all ones. */
static bool is_asleep(const struct pci_device *d)
{
	return str_is(d->runtime_status, "suspended") || str_starts(d->power_state, "D3");
}

static const struct pci_device *parent_of(const struct node *node, const struct pci_device *d)
{
	return is_known(d->parent) ? node_pci(node, d->parent.value) : NULL;
}

/* The answer of a rule that found no function to check. */
static void answer_none(struct rule_context *ctx, size_t before, const char *why)
{
	if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx, .observed = why, .evidence = { "pci.devices" });
}

static bool skip_without_devices(struct rule_context *ctx)
{
	if (was_read(ctx->node->pci.devices))
		return false;
	UNKNOWN(ctx, .evidence = { "pci.devices" });
	return true;
}

/* ---- bus mastering ---- */

static bool is_driven(const struct pci_device *d)
{
	return str_is(d->driver, "nvidia") || str_is(d->driver, "mlx5_core") ||
	       str_is(d->driver, "mlx4_core");
}

static void check_command(struct rule_context *ctx, const struct pci_device *d)
{
	bool master = known_is(d->bus_master, false), memory = known_is(d->memory_enabled, false);

	if (master || memory)
		FAIL(ctx, .subject = d->bdf.value,
		     .observed = text_printf(
			     ctx, "%s%s%s; %s is bound", master ? "bus mastering is off" : "",
			     master && memory ? " and " : "",
			     memory ? "memory decoding is off" : "", d->driver.value),
		     .expected = "Mem+ BusMaster+",
		     .evidence = { FACT(ctx, d, "bus_master"), FACT(ctx, d, "memory_enabled") });
	else if (is_unknown(d->bus_master))
		UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { FACT(ctx, d, "bus_master") });
	else
		PASS(ctx, .subject = d->bdf.value, .evidence = { FACT(ctx, d, "bus_master") });
}

static void check_bus_master(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	if (skip_without_devices(ctx))
		return;
	for_each(d, &ctx->node->pci.devices) {
		if (!pci_is_gpu(d) && !topology_is_nic(ctx->node, d))
			continue;
		if (is_unknown(d->driver))
			UNKNOWN(ctx, .subject = d->bdf.value,
				.evidence = { FACT(ctx, d, "driver") });
		else if (is_driven(d) && is_asleep(d))
			NOT_APPLICABLE(ctx, .subject = d->bdf.value,
				       .observed = "suspended (runtime power management)");
		else if (is_driven(d) && !known_is(d->answers, false))
			check_command(ctx, d);
	}
	answer_none(ctx, before, "no GPU or NIC with its driver bound");
}

/* ---- payload and request sizes ---- */

static void check_payload_of(struct rule_context *ctx, const struct pci_device *d,
			     const struct pci_device *up)
{
	const char *own = FACT(ctx, d, "mps_bytes"), *above = FACT(ctx, up, "mps_bytes");
	uint64_t mps, port;

	if (!is_known(d->mps_bytes) || !is_known(up->mps_bytes)) {
		UNKNOWN(ctx, .subject = d->bdf.value,
			.evidence = { is_known(d->mps_bytes) ? above : own });
		return;
	}
	mps = d->mps_bytes.value;
	port = up->mps_bytes.value;
	if (mps == port)
		PASS(ctx, .subject = d->bdf.value, .evidence = { own, above });
	else
		/* A port drops packets that are longer than its own size as malformed (2.2.2 of the specification). */
		FAIL_AS(ctx, mps > port ? SEVERITY_WARN : SEVERITY_INFO, .subject = d->bdf.value,
			.observed = text_printf(
				ctx, "%" PRIu64 " bytes; the port above (%s) has %" PRIu64, mps,
				up->bdf.value, port),
			.expected = mps > port ? "the same on both ends" : NULL,
			.impact = mps > port ? "The port drops longer packets as malformed: fatal "
					       "PCIe errors."
					     : NULL,
			.evidence = { own, above });
}

static void check_payload(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	if (skip_without_devices(ctx))
		return;
	if (topology_gpus(ctx->node) && skip_in_vm(ctx, "the real ports are not visible here"))
		return;
	for_each(d, &ctx->node->pci.devices) {
		const struct pci_device *up = is_endpoint(ctx, d) ? parent_of(ctx->node, d) : NULL;

		if (up && !is_asleep(d) && !is_absent(d->mps_bytes))
			check_payload_of(ctx, d, up);
	}
	answer_none(ctx, before, "no GPU or NIC below a visible port");
}

#define MRRS_BYTES 4096

static void check_read_request(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	if (skip_without_devices(ctx))
		return;
	for_each(d, &ctx->node->pci.devices) {
		const char *fact = FACT(ctx, d, "mrrs_bytes");

		if (!is_nic_endpoint(ctx, d) || is_absent(d->mrrs_bytes))
			continue;
		if (!is_known(d->mrrs_bytes))
			UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { fact });
		else if (d->mrrs_bytes.value < MRRS_BYTES)
			NOTE(ctx, .subject = d->bdf.value,
			     .observed = text_printf(ctx, "requests %" PRIu64 " bytes in one read",
						     d->mrrs_bytes.value),
			     .evidence = { fact });
		else
			PASS(ctx, .subject = d->bdf.value, .evidence = { fact });
	}
	answer_none(ctx, before, "no NIC that RDMA runs over");
}

/* ---- links between the ends ---- */

/* Megatransfers times lanes, which compares links; from Gen3 on their coding differs by 2% at most. 0: not
 * known. */
static uint64_t rate(struct fact_u64 speed, struct fact_u64 width)
{
	return is_known(speed) && is_known(width) ? speed.value * width.value : 0;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* The best that an endpoint can have on its own link. */
static uint64_t end_rate(const struct node *node, const struct pci_device *d)
{
	const struct pci_device *up = parent_of(node, d);
	uint64_t own = rate(d->link.speed_max_mts, d->link.width_max);

	return up ? lesser(own, rate(up->link.speed_max_mts, up->link.width_max)) : own;
}

/*
 * The links between bridges: that of each switch's upstream port. A downstream or root port's link
 * is that of the function below it, which is one of these or an end's own, and those are
 * pci/link-degraded's.
 */
static void check_port(struct rule_context *ctx, const struct pci_device *port, uint64_t ends)
{
	const struct pci_link *link = &port->link;
	uint64_t now = rate(link->speed_mts, link->width);
	uint64_t could = end_rate(ctx->node, port);
	const char *width = FACT(ctx, port, "link.width"),
		   *speed = FACT(ctx, port, "link.speed_mts");

	if (!is_known(*link) || !now || !ends)
		UNKNOWN(ctx, .subject = port->bdf.value, .evidence = { FACT(ctx, port, "link") });
	else if (now >= ends)
		PASS(ctx, .subject = port->bdf.value, .evidence = { width, speed });
	else
		/* A switch that was built with fewer lanes is no fault. */
		FAIL_AS(ctx, could && now >= could ? SEVERITY_INFO : SEVERITY_WARN,
			.subject = port->bdf.value,
			.observed =
				text_printf(ctx,
					    "%g GT/s x%" PRIu64
					    "%s; the GPU and the NIC on both sides support more",
					    (double)link->speed_mts.value / 1000, link->width.value,
					    could && now >= could ? ", the best of this port" : ""),
			.expected = could && now >= could ? NULL : "as much as GPU and NIC support",
			.evidence = { width, speed, FACT(ctx, port, "link.width_max"),
				      FACT(ctx, port, "link.speed_max_mts") });
}

#define PORTS_MAX 256

struct seen_ports {
	const struct pci_device *list[PORTS_MAX];
	size_t count;
};

static bool is_new(struct seen_ports *seen, const struct pci_device *port)
{
	for (size_t i = 0; i < seen->count; i++)
		if (seen->list[i] == port)
			return false;
	if (seen->count == PORTS_MAX)
		return false;
	seen->list[seen->count++] = port;
	return true;
}

static void check_path(struct rule_context *ctx)
{
	size_t before = ctx->findings->count, paths = 0;
	struct seen_ports seen = { .count = 0 };

	if (skip_without_gpu(ctx) ||
	    skip_in_vm(ctx, "the links of the real switches are not visible here"))
		return;
	for_each(gpu, &ctx->endpoints->gpus) {
		const struct pci_path *path = &gpu->path;
		uint64_t ends;

		if (!gpu->nic || path->class > PATH_SYS)
			continue;
		paths++;
		ends = lesser(end_rate(ctx->node, gpu->chain.device),
			      end_rate(ctx->node, gpu->nic));
		for (size_t i = 0; i < path->count; i++)
			if (known_is(path->ports[i]->port, PCI_UPSTREAM_PORT) &&
			    is_new(&seen, path->ports[i]))
				check_port(ctx, path->ports[i], ends);
	}
	if (ctx->findings->count > before)
		return;
	if (paths)
		PASS(ctx,
		     .observed = "no switch is between a GPU and its NIC: see pci/link-degraded",
		     .evidence = { "pci.devices" });
	else
		NOT_APPLICABLE(ctx, .observed = "no NIC that RDMA runs over",
			       .evidence = { "pci.devices" });
}

/* ---- the slot ---- */

/* PCIe 6.0, 4.2: eight bits of ten below 8 GT/s, 128 of 130 from there on. */
static uint64_t payload_mbps(uint64_t speed_mts, uint64_t width)
{
	return speed_mts < 8000 ? speed_mts * width * 8 / 10 : speed_mts * width * 128 / 130;
}

/* Sums the rates of the RDMA ports in D's slot: 0 if none is up. Returns false if some were not read. */
static bool sum_ports(const struct node *node, const struct pci_device *d, uint64_t *mbps)
{
	*mbps = 0;
	if (!was_read(node->rdma.devices))
		return false;
	for_each(r, &node->rdma.devices) {
		if (is_unknown(r->bdf))
			return false;
		if (!is_known(r->bdf) || !is_same_slot(r->bdf.value, d->bdf.value))
			continue;
		if (!was_read(r->ports))
			return false;
		for_each(port, &r->ports) {
			/* A port without a link has a default rate. */
			if (known_is(port->state, RDMA_PORT_DOWN))
				continue;
			if (is_unknown(port->rate_mbps))
				return false;
			*mbps += is_known(port->rate_mbps) ? port->rate_mbps.value : 0;
		}
	}
	return true;
}

static const char *link_text(struct rule_context *ctx, const struct pci_link *link)
{
	return text_printf(ctx, "x%" PRIu64 " at %g GT/s", link->width_max.value,
			   (double)link->speed_max_mts.value / 1000);
}

/* Boards with the NIC on them have the lanes that their maker gave it, and a slot of an older generation is known when
 * the NIC is bought: both are notes. */
static enum severity nic_severity(const struct rule_context *ctx, const struct pci_device *d,
				  const struct pci_device *up)
{
	return up->link.width_max.value < d->link.width_max.value &&
			       !endpoints_are_integrated(ctx->endpoints)
		       ? SEVERITY_WARN
		       : SEVERITY_INFO;
}

static void check_nic_slot(struct rule_context *ctx, const struct pci_device *d,
			   const struct pci_device *up)
{
	uint64_t room = payload_mbps(up->link.speed_max_mts.value, up->link.width_max.value), need;
	const char *slot = FACT(ctx, up, "link.width_max");

	if (!sum_ports(ctx->node, d, &need))
		UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { "rdma.devices", slot });
	else if (need > room)
		FAIL_AS(ctx, nic_severity(ctx, d, up), .subject = d->bdf.value,
			.observed = text_printf(ctx,
						"the slot (%s) is %s, %" PRIu64
						" Gb/s; the NIC is %s and its ports have %" PRIu64
						" Gb/s",
						up->bdf.value, link_text(ctx, &up->link),
						room / 1000, link_text(ctx, &d->link), need / 1000),
			.expected = nic_severity(ctx, d, up) == SEVERITY_WARN
					    ? "a slot that carries the rate of the ports"
					    : NULL,
			.evidence = { slot, FACT(ctx, d, "link.width_max"), "rdma.devices" });
	else
		PASS(ctx, .subject = d->bdf.value, .observed = "the slot carries its ports",
		     .evidence = { slot, "rdma.devices" });
}

/* Two cards of a workstation often share the lanes of one slot, by the board's design. */
static void check_gpu_slot(struct rule_context *ctx, const struct pci_device *d,
			   const struct pci_device *up)
{
	bool wide = gpu_is_data_centre(d) || is_asked_for(ctx, PROFILE_P2P | PROFILE_GPUDIRECT_ANY);
	bool narrow = up->link.width_max.value < d->link.width_max.value;

	if (narrow)
		FAIL_AS(ctx, wide ? SEVERITY_WARN : SEVERITY_INFO, .subject = d->bdf.value,
			.observed = text_printf(ctx, "the slot (%s) is %s; the GPU is %s",
						up->bdf.value, link_text(ctx, &up->link),
						link_text(ctx, &d->link)),
			.expected = wide ? "a slot with as many lanes as the GPU" : NULL,
			.evidence = { FACT(ctx, up, "link.width_max"),
				      FACT(ctx, d, "link.width_max") });
	else if (up->link.speed_max_mts.value < d->link.speed_max_mts.value)
		NOTE(ctx, .subject = d->bdf.value,
		     .observed = text_printf(ctx, "the slot (%s) is of %g GT/s; the GPU has %g",
					     up->bdf.value,
					     (double)up->link.speed_max_mts.value / 1000,
					     (double)d->link.speed_max_mts.value / 1000),
		     .evidence = { FACT(ctx, up, "link.speed_max_mts") });
	else
		PASS(ctx, .subject = d->bdf.value, .evidence = { FACT(ctx, up, "link.width_max") });
}

static bool has_maxima(const struct pci_device *d)
{
	return is_known(d->link) && is_known(d->link.width_max) && is_known(d->link.speed_max_mts);
}

static void check_slot(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	if (skip_without_devices(ctx))
		return;
	for_each(d, &ctx->node->pci.devices) {
		const struct pci_device *up = is_endpoint(ctx, d) ? parent_of(ctx->node, d) : NULL;

		if (!up || is_asleep(d) || is_absent(d->link) || is_absent(up->link))
			continue;
		if (skip_in_vm(ctx, "the real slots are not visible here"))
			return;
		if (!has_maxima(d) || !has_maxima(up))
			UNKNOWN(ctx, .subject = d->bdf.value,
				.evidence = { FACT(ctx, has_maxima(d) ? up : d, "link") });
		else if (pci_is_gpu(d))
			check_gpu_slot(ctx, d, up);
		else
			check_nic_slot(ctx, d, up);
	}
	answer_none(ctx, before, "no GPU or NIC below a visible port");
}

/* ---- power ---- */

static void check_suspended(struct rule_context *ctx)
{
	size_t before = ctx->findings->count, awake = 0;

	if (skip_without_gpu(ctx))
		return;
	for_each(d, &ctx->node->pci.devices) {
		const struct pci_device *above[PATH_PORTS_MAX];
		const struct pci_device *asleep = is_asleep(d) ? d : NULL;
		size_t n;

		if (!pci_is_gpu(d))
			continue;
		n = topology_above(ctx->node, d, above);
		for (size_t i = 0; i < n && !asleep; i++)
			asleep = is_asleep(above[i]) ? above[i] : NULL;
		if (asleep)
			FAIL(ctx, .subject = d->bdf.value,
			     .observed =
				     asleep == d
					     ? "suspended"
					     : text_printf(ctx,
							   "the bridge %s above it is suspended",
							   asleep->bdf.value),
			     .expected = "active",
			     .evidence = { FACT(ctx, asleep, "runtime_status"),
					   FACT(ctx, asleep, "power_state") });
		else if (is_unknown(d->runtime_status))
			UNKNOWN(ctx, .subject = d->bdf.value,
				.evidence = { FACT(ctx, d, "runtime_status") });
		else
			awake++;
	}
	if (awake && ctx->findings->count == before)
		PASS(ctx, .evidence = { "pci.devices" });
}

static const struct rule pci_link_rules[] = {
	{
		.id = "pci/bus-master-off",
		.title = "A GPU or NIC cannot start transfers although its driver is bound",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_bus_master,
		.impact =
			"The device cannot write to memory or raise interrupts. Its driver hangs or fails.",
		.remedy = "Reboot.",
		.action = ACTION_REBOOT,
		.activation = ACTIVATION_REBOOT,
		.reads =
			"The command register of every GPU and NIC that nvidia or mlx5_core drives.",
		.why = "Drivers set bus mastering when they take a device. A cleared bit means that the device was reset since: "
		       "by a tool such as setpci, or by a virtual machine that had the device before.",
		.check = "lspci -vv -s BDF | grep Control:",
		.sources =
			"PCI Express Base Specification 6.0: 7.5.1.1.3, Command Register\n"
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-pci.c (pci_set_master)\n"
			"Linux 6.1.192: drivers/net/ethernet/mellanox/mlx5/core/main.c (pci_set_master)",
	},
	{
		.id = "pci/max-payload-mismatch",
		.title = "PCIe is slower than it can be: a device and the port above it use "
			 "different payload sizes",
		.is_short_effect = true,
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_INFO,
		.max_severity = SEVERITY_WARN,
		.evaluate = check_payload,
		.impact = "Packet headers take more of the bandwidth.",
		.then = THEN_REBOOT,
		.remedy = "Add pci=pcie_bus_safe to the kernel command line.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"Max_Payload_Size in the device control registers of GPU or NIC and of the port above.",
		.why = "A size below the port's costs some bandwidth, and this is a note. A size above the port's is an error: "
		       "the port drops longer packets.",
		.check = "lspci -vv -s BDF | grep -A2 DevCtl",
		.sources =
			"PCI Express Base Specification 6.0: 7.5.3.4 and 2.2.2\n"
			"Linux 6.1.192: Documentation/admin-guide/kernel-parameters.txt (pci=pcie_bus_safe)",
	},
	{
		.id = "pci/max-read-request",
		.title = "A NIC requests fewer than 4096 bytes in one read",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_INFO,
		.evaluate = check_read_request,
		.impact = "Reads of host or GPU memory can stay below the line rate.",
		.remedy =
			"Set Max Read Request to 4096 in the firmware setup of the server, and measure.",
		.activation = ACTIVATION_REBOOT,
		.repaired_by = BY_FIRMWARE,
		.reads = "Max_Read_Request_Size in the device control register of each NIC.",
		.why = "4096 is the largest size of PCI Express. No source was found that says which NIC or platform needs it, so "
		       "this is a note.",
		.check = "lspci -vv -s BDF | grep MaxReadReq",
		.sources = "PCI Express Base Specification 6.0: 7.5.3.4, Device Control Register",
	},
	{
		.id = "pci/path-link-degraded",
		.title = "GPUDirect RDMA is slow: a switch between GPU and NIC has a slower link",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_path,
		.impact = "GPUDirect RDMA is limited to the bandwidth of this link.",
		.remedy =
			"Reseat riser or cable of the switch. If the link stays slow, check the slot's bifurcation and speed in "
			"the firmware setup.",
		.activation = ACTIVATION_POWER_CYCLE,
		.repaired_by = BY_HARDWARE,
		.reads =
			"Speed and width of the upstream port of every switch between a GPU and its nearest NIC, and the best "
			"that GPU and NIC support.",
		.why = "The links of GPU and NIC can be at their best while the switch between them has half of its lanes. A "
		       "switch that was built with fewer lanes is a note.",
		.check = "lspci -vv -s BDF | grep LnkSta:",
		.sources = "PCI Express Base Specification 6.0: 7.5.3.8, Link Status Register",
	},
	{
		.id = "pci/slot-narrow",
		.title = "A GPU or NIC is in a slot that has too few lanes for it",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_slot,
		.impact = "Every copy over this slot is slower, although the link is at its best.",
		.remedy =
			"Move the board to a wider slot. Or check the bifurcation of the slot in the firmware setup: x4x4x4x4 "
			"or x8x8 divides its lanes.",
		.activation = ACTIVATION_POWER_CYCLE,
		.repaired_by = BY_HARDWARE,
		.reads =
			"The largest width and speed of each GPU and NIC, and of the port above it, and the rates of the RDMA "
			"ports.",
		.why = "The port above has fewer lanes than the board: reseating does not help. For a NIC it counts whether "
		       "the slot carries the rate of its ports; a slot of an older generation is a note. A GeForce or workstation card is a note, unless peer-to-peer or "
		       "RDMA is asked for.",
		.check = "lspci -vv -s BDF | grep LnkCap:; lspci -vv -s PORT | grep LnkCap:",
		.sources =
			"PCI Express Base Specification 6.0: 7.5.3.6, Link Capabilities Register; 4.2, encoding",
	},
	{
		.id = "pci/runtime-pm-suspended",
		.title = "A GPU, or a bridge above it, is suspended",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_INFO,
		.evaluate = check_suspended,
		.impact =
			"The first use of the GPU waits for it. Its registers cannot be read until then.",
		.then = THEN_REBOOT,
		.remedy = "On a compute node set NVreg_DynamicPowerManagement=0.",
		.fix = { "set-option", { "nvidia", "NVreg_DynamicPowerManagement", "0" } },
		.activation = ACTIVATION_REBOOT,
		.reads =
			"power/runtime_status and power_state of every GPU and of the bridges above it.",
		.why = "This is normal on a laptop. On a server it costs time and hides degraded links.",
		.check = "cat /sys/bus/pci/devices/BDF/power/runtime_status",
		.sources =
			"NVIDIA driver README 545.29.02: chapter 22, PCI-Express Runtime D3 (RTD3) Power Management\n"
			"Linux 6.1.192: Documentation/ABI/testing/sysfs-devices-power",
	},
};

RULE_TABLE(pci_link);
