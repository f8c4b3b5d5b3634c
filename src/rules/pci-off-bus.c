/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pci-off-bus.c - functions that the kernel lists although they no longer answer. */
#include "base/array.h"
#include "evaluate/rule.h"
#include "query/link-errors.h"
#include "query/log-age.h"
#include "query/pci-device.h"
#include "query/topology.h"

static bool is_watched(const struct node *node, const struct pci_device *d)
{
	return pci_is_gpu(d) || pci_is_nvswitch(d) || topology_is_nic(node, d);
}

/* A GPU that a driver has, and that had a new life since: it was found on the bus again, or the driver was loaded. */
static bool is_over(struct rule_context *ctx, const struct log_line *line,
		    const struct pci_device *d)
{
	const struct log_subject *own = log_of_device(line, d->bdf.value);

	return own && pci_is_gpu(d) && is_known(d->driver) &&
	       log_new_life(ctx->arena, ctx->node, d->bdf.value, own->last_us);
}

/* Lines about devices that were lost and may answer again: the kernel's mlx5 driver no longer heard the
 * NIC's firmware (drivers/net/ethernet/mellanox/mlx5/core/health.c, poll_health()), the NVIDIA
 * driver read nothing but ones (src/nvidia/arch/nvalloc/unix/src/osapi.c,
 * rm_is_supported_device()). */
static const struct log_line *lost(struct rule_context *ctx, const struct pci_device *d)
{
	const struct node *node = ctx->node;
	static const char *const patterns[] = { "nic-health", "fallen-off-bus" };

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		const struct log_line *line = node_log(node, patterns[i]);

		if (log_of_device(line, d->bdf.value) && !is_over(ctx, line, d))
			return line;
	}
	return NULL;
}

/* The driver powers an idle GPU off at 2, and on some machines it does not come back: "Unable to change power state
 * from D3cold to D0". NVIDIA's README, "PCI-Express Runtime D3 (RTD3) Power Management". */
static const char *power_remedy(const struct node *node, const struct pci_device *d)
{
	const struct driver_param *param = node_param(node, "DynamicPowerManagement");

	if (str_is(d->driver, "vfio-pci") &&
	    log_of_device(node_log(node, "power-state-stuck"), d->bdf.value))
		return "The idle device was powered off, and it did not come back. Power the node off and on. Then write "
		       "0 to d3cold_allowed and on to power/control of each function of its IOMMU group in /sys, in a "
		       "udev rule.";
	return param && str_is(param->value, "2")
		       ? "NVreg_DynamicPowerManagement=0x02 lets the driver power an idle GPU off, and this GPU did "
			 "not come back. Set it to 0x01 or 0x00 for nvidia in modprobe.d, rebuild the initramfs, then power "
			 "the node off and on. If the GPU is lost again, check power, seating and riser."
		       : NULL;
}

static const char *lost_remedy(const struct node *node, const struct pci_device *d,
			       const char *errors)
{
	const char *power = power_remedy(node, d);

	return power ? power : *errors ? LINK_ERRORS_REMEDY : NULL;
}

static void fail_silent(struct rule_context *ctx, const struct pci_device *d)
{
	const struct log_line *xid = node_log(ctx->node, "xid-79");
	const char *count = NULL, *errors = link_errors_text(ctx->arena, ctx->node, d, &count);
	const char *last = log_of_device(xid, d->bdf.value)
				   ? log_device_fact(ctx->arena, xid, d->bdf.value, "last")
				   : NULL;

	FAIL(ctx, .subject = d->bdf.value,
	     .observed = text_printf(
		     ctx, "the device does not respond: all of its registers read 0xff%s", errors),
	     .remedy = pci_is_gpu(d) ? lost_remedy(ctx->node, d, errors) : NULL,
	     .evidence = { fact_path(ctx->arena, "pci.devices", d->bdf.value, "answers"),
			   last ? last : count, last ? count : NULL });
}

static void fail_lost(struct rule_context *ctx, const struct pci_device *d,
		      const struct log_line *line)
{
	bool nic = str_is(line->pattern, "nic-health");
	const char *count = NULL, *errors = link_errors_text(ctx->arena, ctx->node, d, &count);

	/* A GPU without a driver is still lost. */
	FAIL_AS(ctx, nic || is_known(d->driver) ? SEVERITY_ERR : SEVERITY_CRIT,
		.subject = d->bdf.value,
		.observed = text_printf(ctx, "%s%s", log_of_device(line, d->bdf.value)->last.value,
					errors),
		.expected = nic ? "firmware that answers the driver"
				: "a GPU that answers the driver",
		.remedy = nic ? NULL : lost_remedy(ctx->node, d, errors),
		.impact =
			nic ? "Jobs that used this NIC failed or hung. The driver tries to reset the "
			      "NIC."
			    : NULL,
		.evidence = { log_device_fact(ctx->arena, line, d->bdf.value, "last"),
			      log_device_fact(ctx->arena, line, d->bdf.value, "count"),
			      fact_path(ctx->arena, "pci.devices", d->bdf.value, "answers"),
			      count });
}

/* A fatal error resets the link (Linux: Documentation/PCI/pcieaer-howto.rst), and Downstream Port Containment
 * cuts it: devices below it have lost their state, and no GPU driver recovers from that. */
static bool fail_fatal_error(struct rule_context *ctx, const struct pci_device *d)
{
	const struct log_line *line = node_log(ctx->node, "pcie-fatal-error");

	if (!log_of_device(line, d->bdf.value) || is_over(ctx, line, d))
		return false;
	FAIL_AS(ctx, SEVERITY_ERR, .subject = d->bdf.value,
		.observed = log_of_device(line, d->bdf.value)->last.value,
		.expected = "no fatal errors on the path to a GPU or NIC",
		.impact =
			"The link was reset or cut. Jobs that used the devices below it failed. GPUs stay "
			"lost until the node is reset.",
		.evidence = { log_device_fact(ctx->arena, line, d->bdf.value, "last"),
			      log_device_fact(ctx->arena, line, d->bdf.value, "count") });
	return true;
}

/* The kernel tried to wake it, and its registers did not come back. */
static bool fail_asleep(struct rule_context *ctx, const struct pci_device *d)
{
	const struct log_line *line = node_log(ctx->node, "power-state-stuck");
	const struct log_subject *own = log_of_device(line, d->bdf.value);

	if (!own || is_over(ctx, line, d))
		return false;
	FAIL_AS(ctx, SEVERITY_WARN, .subject = d->bdf.value, .observed = own->last.value,
		.expected = "a device that can be woken", .remedy = power_remedy(ctx->node, d),
		.evidence = { log_device_fact(ctx->arena, line, d->bdf.value, "last"),
			      fact_path(ctx->arena, "pci.devices", d->bdf.value, "power_state") });
	return true;
}

/* The present state counts more than the log, and the device's own lines more than its link's. */
static void check_device(struct rule_context *ctx, const struct pci_device *d)
{
	const char *fact = fact_path(ctx->arena, "pci.devices", d->bdf.value, "answers");
	const struct log_line *line = lost(ctx, d);

	if (known_is(d->answers, true) && line)
		fail_lost(ctx, d, line);
	else if (known_is(d->answers, false))
		fail_silent(ctx, d);
	else if (fail_fatal_error(ctx, d))
		return;
	else if (known_is(d->answers, true))
		PASS(ctx, .subject = d->bdf.value, .evidence = { fact });
	else if (str_is(d->power_state, "D3cold") && fail_asleep(ctx, d))
		return;
	else if (str_is(d->power_state, "D3cold"))
		NOT_APPLICABLE(ctx, .subject = d->bdf.value, .observed = "powered down (D3cold)",
			       .evidence = { fact_path(ctx->arena, "pci.devices", d->bdf.value,
						       "power_state") });
	else
		UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { fact });
}

/* The lines of a file come one by one, and the one that says it names no GPU. */
static void check_unnamed(struct rule_context *ctx)
{
	const struct log_line *line = node_log(ctx->node, "fallen-off-bus");

	if (line && !line->devices.count &&
	    !log_new_life(ctx->arena, ctx->node, NULL, line->last_us))
		FAIL_AS(ctx, SEVERITY_ERR, .observed = line->last.value,
			.expected = "GPUs that answer the driver",
			.evidence = { "log.lines[fallen-off-bus].last",
				      "log.lines[fallen-off-bus].count" });
}

/* ---- the link ---- */

static bool is_above_watched(const struct node *node, const struct pci_device *bridge)
{
	for_each(d, &node->pci.devices) {
		const struct pci_device *above[PATH_PORTS_MAX];
		size_t n = is_watched(node, d) ? topology_above(node, d, above) : 0;

		for (size_t i = 0; i < n; i++)
			if (above[i] == bridge)
				return true;
	}
	return false;
}

static void check_ports_above(struct rule_context *ctx)
{
	const struct log_line *line = node_log(ctx->node, "pcie-fatal-error");

	for_each(d, &ctx->node->pci.devices) {
		if (log_of_device(line, d->bdf.value) && !is_watched(ctx->node, d) &&
		    is_above_watched(ctx->node, d))
			fail_fatal_error(ctx, d);
	}
}

static void check_off_bus(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	if (!was_read(ctx->node->pci.devices)) {
		UNKNOWN(ctx, .evidence = { "pci.devices" });
		return;
	}
	for_each(d, &ctx->node->pci.devices)
		if (is_watched(ctx->node, d))
			check_device(ctx, d);
	check_unnamed(ctx);
	check_ports_above(ctx);
	if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx, .observed = "no GPU, NVSwitch or RDMA NIC on the PCI bus",
			       .evidence = { "pci.devices" });
}

static const struct rule pci_off_bus_rules[] = {
	{
		.id = "pci/device-off-bus",
		.title = "A device has fallen off the PCIe bus",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_CRIT,
		.evaluate = check_off_bus,
		.impact =
			"Jobs that use the device hang or fail. For a GPU the driver reports Xid 79.",
		.then = FIRST_POWER_CYCLE,
		.remedy =
			"If it happens again, check the device's seating, power, cooling and riser.",
		.activation = ACTIVATION_POWER_CYCLE,
		.action = ACTION_POWER_CYCLE,
		.reads =
			"The first registers of every GPU, NVSwitch and RDMA NIC. In the kernel log: \"fallen off the bus\" "
			"of the NVIDIA driver, \"health compromised\" of mlx5_core, \"Unable to change power state\", and fatal "
			"PCIe errors of these devices and the ports above them; the number of their other PCIe errors.",
		.why = "A read that no device answers returns all ones. The kernel keeps listing the function, so counting "
		       "devices does not show it. A device that answers again can have lost its state: lines of this boot "
		       "are an error too. A reboot without power off can leave it away.",
		.check =
			"lspci -s BDF: \"rev ff\"; dmesg | grep -iE 'fallen off the bus|\\(Fatal\\)|DPC:'",
		.sources =
			"PCI Express Base Specification 6.0: 2.3.2 (unsupported request)\n"
			"docs.nvidia.com/deploy/xid-errors: Xid 79, GPU has fallen off the bus\n"
			"Linux 6.1.192: drivers/net/ethernet/mellanox/mlx5/core/health.c, drivers/pci/pcie/aer.c, dpc.c\n"
			"open-gpu-kernel-modules 595.45.04: src/nvidia/arch/nvalloc/unix/src/osapi.c "
			"(rm_is_supported_device)\n"
			"github.com/kata-containers/kata-containers issue 11708, github.com/gnif/vendor-reset issue 76",
	},
};

RULE_TABLE(pci_off_bus);
