/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pci-degraded.c - PCI Express links of GPUs and NICs that run below what both ends support (rule
 * pci/link-degraded). */
#include <inttypes.h>
#include <string.h>

#include "evaluate/skip.h"
#include "query/gpus.h"
#include "query/pci-device.h"
#include "query/reference.h"

#define FACT(ctx, d, field) fact_path(ctx->arena, "pci.devices", (d)->bdf.value, field)

/* A link, and the best that both ends support. */
struct link {
	const struct pci_device *device;
	const struct pci_device *port; /* above it; NULL: not visible */
	uint64_t width, speed;
};

static bool min_known(struct fact_u64 a, const struct pci_device *port, struct fact_u64 b,
		      uint64_t *min)
{
	if (!is_known(a))
		return false;
	*min = a.value;
	if (port && is_known(b) && b.value && b.value < *min)
		*min = b.value;
	return true;
}

static bool find_link(struct rule_context *ctx, const struct pci_device *d, struct link *link)
{
	const struct pci_link none = { 0 }, *up;

	*link = (struct link){ .device = d };
	if (is_known(d->parent))
		link->port = node_pci(ctx->node, d->parent.value);
	up = link->port ? &link->port->link : &none;
	return is_known(d->link) && is_known(d->link.width) && !is_unknown(d->parent) &&
	       min_known(d->link.width_max, link->port, up->width_max, &link->width) &&
	       min_known(d->link.speed_max_mts, link->port, up->speed_max_mts, &link->speed);
}

static bool is_narrow(const struct link *link)
{
	return link->device->link.width.value && link->device->link.width.value < link->width;
}

static bool is_slow(const struct link *link)
{
	return is_known(link->device->link.speed_mts) &&
	       link->device->link.speed_mts.value < link->speed;
}

/* Both ends of a link decide: a x16 board in a x8 slot is not degraded. The other end is the port above, which
 * is the real one on bare metal only. */
static bool is_port_hidden(struct rule_context *ctx, const struct link *link)
{
	const struct pci_device *d = link->device;
	bool real = link->port && is_absent(ctx->node->os.hypervisor);

	if (!real)
		UNKNOWN(ctx, .subject = d->bdf.value,
			.observed = "less than this device supports; the port above is not visible",
			.evidence = { FACT(ctx, d, "link"),
				      link->port ? "os.hypervisor" : FACT(ctx, d, "parent") });
	return !real;
}

/* Cards for which a slower link is the owner's choice: risers and slots that divide the lanes. */
static bool is_by_choice(const struct rule_context *ctx, const struct pci_device *d)
{
	return pci_is_gpu(d) && !gpu_is_data_centre(d) &&
	       !is_asked_for(ctx, PROFILE_P2P | PROFILE_GPUDIRECT_ANY);
}

/* Several GPUs of this model, all with as few lanes: the board or its risers divide them. One alone looks like a
 * fault. */
static bool are_all_as_narrow(const struct node *node, const struct pci_device *gpu)
{
	size_t others = 0;

	for_each(d, &node->pci.devices) {
		if (d == gpu || !pci_is_gpu(d) || !is_known(d->device_id) ||
		    !known_is(gpu->device_id, d->device_id.value))
			continue;
		if (!is_known(d->link) || !known_is(d->link.width, gpu->link.width.value))
			return false;
		others++;
	}
	return others > 0;
}

static void fail_narrow(struct rule_context *ctx, const struct link *link)
{
	const struct pci_device *d = link->device;
	bool all = pci_is_gpu(d) && are_all_as_narrow(ctx->node, d);
	bool note = all && is_by_choice(ctx, d);

	FAIL_AS(ctx, note ? SEVERITY_INFO : SEVERITY_WARN, .subject = d->bdf.value,
		.observed = text_printf(
			ctx, "x%" PRIu64 " of x%" PRIu64 ": %" PRIu64 " %% of the bandwidth%s",
			d->link.width.value, link->width, d->link.width.value * 100 / link->width,
			all ? ", as all GPUs of this model here: risers or the board divide "
			      "the lanes"
			    : ""),
		.expected = note ? NULL : "the width that both ends support",
		.evidence = { FACT(ctx, d, "link.width"), FACT(ctx, d, "link.width_max") });
}

/* The port is set to less than both ends support: the link cannot be faster, idle or not. */
static bool is_limited(const struct link *link)
{
	const struct pci_device *port = link->port;

	return port && is_known(port->link) && is_known(port->link.speed_target_mts) &&
	       port->link.speed_target_mts.value < link->speed &&
	       link->device->link.speed_mts.value <= port->link.speed_target_mts.value;
}

static void fail_limited(struct rule_context *ctx, const struct link *link)
{
	const struct pci_device *d = link->device, *port = link->port;
	bool note = is_by_choice(ctx, d);

	FAIL_AS(ctx, note ? SEVERITY_INFO : SEVERITY_WARN, .subject = d->bdf.value,
		.observed = text_printf(
			ctx, "%g of %g GT/s: the port above (%s) is set to at most %g GT/s",
			(double)d->link.speed_mts.value / 1000, (double)link->speed / 1000,
			port->bdf.value, (double)port->link.speed_target_mts.value / 1000),
		.expected = note ? NULL : "a limit that both ends support",
		.remedy =
			"Set the slot's link speed to Auto in the firmware setup, and remove a script or udev rule "
			"that limits it with setpci. If the kernel log has \"retraining\" for this port, the "
			"kernel has limited a link that failed: check riser and cable.",
		.activation = ACTIVATION_REBOOT, .repaired_by = BY_FIRMWARE,
		.evidence = { FACT(ctx, port, "link.speed_target_mts"),
			      FACT(ctx, d, "link.speed_mts"), FACT(ctx, d, "link.speed_max_mts") });
}

/* Not the port's: whether that keeps the GPU from changing the speed is the GPU's matter. */
static bool is_fixed(const struct link *link)
{
	return known_is(link->device->link.speed_fixed, true);
}

/* The file that writes to Link Control 2 of some functions. */
static const struct reference *find_writer(const struct node *node)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_REGISTERS, NULL, r)))
		if (is_known(r->name) && (strcasestr(r->name.value, "CAP_EXP+30") ||
					  strcasestr(r->name.value, "CAP_EXP+0x30")))
			return r;
	return NULL;
}

static void fail_fixed(struct rule_context *ctx, const struct link *link)
{
	const struct pci_device *d = link->device;
	const struct reference *writer = find_writer(ctx->node);
	const char *place = writer ? reference_place(ctx->arena, writer) : NULL;

	FAIL_AS(ctx, SEVERITY_WARN, .subject = d->bdf.value,
		.observed = text_printf(
			ctx,
			"%g of %g GT/s, and it stays so under load: Hardware Autonomous Speed Disable "
			"is set%s%s",
			(double)d->link.speed_mts.value / 1000, (double)link->speed / 1000,
			place ? ", by " : "", place ? place : ""),
		.expected = "the speed that both ends support",
		.remedy = text_printf(
			ctx,
			"Remove %s that sets it (bit 5 of CAP_EXP+30.w). Set at boot, it keeps "
			"whatever speed the link has at that moment.",
			place ? text_printf(ctx, "the command in %s", place)
			      : "the script or udev rule"),
		.action = ACTION_CONFIGURE, .repaired_by = BY_ADMIN,
		.activation = ACTIVATION_REBOOT, .then = THEN_REBOOT,
		.evidence = { FACT(ctx, d, "link.speed_fixed"), FACT(ctx, d, "link.speed_mts"),
			      FACT(ctx, d, "link.speed_max_mts"),
			      writer ? reference_fact(ctx->arena, ctx->node, writer, "name")
				     : NULL });
}

/* GPUs lower the speed when idle; NICs do not. */
static void fail_slow(struct rule_context *ctx, const struct link *link)
{
	const struct pci_device *d = link->device;
	bool gpu = pci_is_gpu(d);
	bool read = is_known(link->port->link) && !is_unknown(link->port->link.speed_target_mts);

	FAIL_AS(ctx, gpu ? SEVERITY_INFO : SEVERITY_WARN, .subject = d->bdf.value,
		.observed = text_printf(
			ctx, "%g of %g GT/s%s%s", (double)d->link.speed_mts.value / 1000,
			(double)link->speed / 1000, gpu ? ", which is normal for an idle GPU" : "",
			gpu && !read ? "; whether the port above is limited was not read" : ""),
		.expected = gpu ? NULL : "the speed that both ends support",
		.evidence = { FACT(ctx, d, "link.speed_mts"), FACT(ctx, d, "link.speed_max_mts") });
}

static void check_link_of(struct rule_context *ctx, const struct pci_device *d)
{
	struct link link;

	if (!find_link(ctx, d, &link))
		UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { FACT(ctx, d, "link") });
	else if ((is_narrow(&link) || is_slow(&link)) && is_port_hidden(ctx, &link))
		return;
	else if (is_narrow(&link))
		fail_narrow(ctx, &link);
	else if (is_slow(&link) && is_limited(&link))
		fail_limited(ctx, &link);
	else if (is_slow(&link) && is_fixed(&link))
		fail_fixed(ctx, &link);
	else if (is_slow(&link))
		fail_slow(ctx, &link);
	else if (!is_known(d->link.speed_mts))
		UNKNOWN(ctx, .subject = d->bdf.value,
			.evidence = { FACT(ctx, d, "link.speed_mts") });
	else
		PASS(ctx, .subject = d->bdf.value,
		     .evidence = { FACT(ctx, d, "link.width"), FACT(ctx, d, "link.speed_mts") });
}

static void check_link(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	if (!was_read(ctx->node->pci.devices)) {
		UNKNOWN(ctx, .evidence = { "pci.devices" });
		return;
	}
	for_each(d, &ctx->node->pci.devices) {
		/* A virtual function and an NVSwitch's management function have no link of their own. */
		if (!pci_is_gpu(d) && !(pci_is_mlx(d) && !is_known(d->physical_function)))
			continue;
		check_link_of(ctx, d);
	}
	if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx, .observed = "neither a GPU nor an NVIDIA NIC on the PCI bus",
			       .evidence = { "pci.devices" });
}

static const struct rule pci_degraded_rules[] = {
	{
		.id = "pci/link-degraded",
		.title = "Copies over PCIe are slow: a link runs below what both ends support",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_link,
		.impact = "All copies to and from this device are slower.",
		.remedy =
			"Reseat the board and check riser and cable. If the link stays slow, check the slot's link settings in the "
			"firmware setup.",
		.activation = ACTIVATION_POWER_CYCLE,
		.repaired_by = BY_HARDWARE,
		.reads =
			"Current and maximum width and speed of GPUs and NICs, and the maximum of the port above each. Link "
			"Control 2: the limit that the port is set to, and whether the device may change the speed. setpci in "
			"udev rules, services and scripts.",
		.why = "A lower width is a fault, unless all GeForce or workstation cards of a model have it: risers divide the "
		       "lanes, and this is a note. An idle GPU lowers its link speed and raises it under load, up to the limit "
		       "of the port. Firmware, setpci and the kernel can set that limit below what both ends support. Hardware "
		       "Autonomous Speed Disable keeps a link at its present speed, in both directions.",
		.check =
			"lspci -vv -s BDF | grep -E 'LnkCap|LnkSta'; lspci -vv -s PORT | grep LnkCtl2",
		.sources =
			"PCI Express Base Specification 6.0: 7.5.3.6, 7.5.3.8 and 7.5.3.19, Link Capabilities, Link "
			"Status and Link Control 2\n"
			"Linux 6.13: drivers/pci/quirks.c (pcie_failed_link_retrain)\n"
			"github.com/local-inference-lab/rtx6kpro pull 88",
	},
};

RULE_TABLE(pci_degraded);
