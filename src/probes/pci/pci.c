/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pci.c - the PCI functions: identity, place and power from sysfs, their registers from
 * pci-config.c.
 */
#include <pci/header.h>
#include <string.h>

#include "parse/field.h"
#include "parse/pcie.h"
#include "probes/pci/pci-brief.h"
#include "probes/pci/pci-claims.h"
#include "probes/pci/pci-config.h"
#include "probes/probe.h"
#include "query/gpus.h"
#include "query/pci-device.h"

#define DEVICES PCI_DEVICES
/* A server has some hundreds. */
#define DEVICES_MAX 8192
#define CONFIG_MAX 4096
#define WIDTH_ONES 0x3f /* all ones in Negotiated Link Width (PCIe 6.0, 7.5.3.8) */

static bool is_display(const struct pci_device *d)
{
	return is_known(d->class_id) && d->class_id.value >> 16 == PCI_BASE_CLASS_DISPLAY;
}

/* ---- identity: sysfs has it cached ---- */

static void note(struct probe_context *ctx, const char *bdf, const char *file, int error,
		 const char *why)
{
	host_gap_note(ctx->host, arena_printf(ctx->arena, DEVICES "/%s%s", bdf, file), error, why);
}

static void read_files(struct probe_context *ctx, struct pci_device *d)
{
	const char *bdf = d->bdf.value;

	probe_u64(ctx, &d->vendor_id, DEVICES "/%s/vendor", bdf);
	probe_u64(ctx, &d->device_id, DEVICES "/%s/device", bdf);
	probe_u64(ctx, &d->class_id, DEVICES "/%s/class", bdf);
	if (is_known(d->class_id) && d->class_id.value > PCI_CLASS_MAX) {
		d->class_id = (struct fact_u64){ 0 };
		note(ctx, bdf, "/class", -EBADMSG, "more than the 24 bits of a class");
	}
	if (!pci_matters(d))
		return;
	probe_u64(ctx, &d->subsystem_vendor_id, DEVICES "/%s/subsystem_vendor", bdf);
	probe_u64(ctx, &d->subsystem_device_id, DEVICES "/%s/subsystem_device", bdf);
}

static void read_identity(struct probe_context *ctx, struct pci_device *d)
{
	/* The file uevent has the content of five others and of a link. A copy may lack it. */
	if (pci_read_uevent(ctx, d->bdf.value, d))
		read_files(ctx, d);
	if (!pci_matters(d))
		return;
	probe_u64(ctx, &d->revision, DEVICES "/%s/revision", d->bdf.value);
	probe_str(ctx, &d->power_state, DEVICES "/%s/power_state", d->bdf.value);
}

static int find_functions(struct probe_context *ctx)
{
	struct pci_facts *pci = &ctx->node->pci;
	_cleanup_names_ struct names names = { 0 };
	struct pci_address address;
	int rc = host_list(ctx->host, &names, DEVICES);

	/* A kernel without PCI has no such folder; a tree without it says nothing. */
	pci->devices.state = probe_state(rc);
	for (size_t i = 0; i < names.count; i++) {
		struct pci_device *d;

		if (!pci_address_parse(span_of(names.items[i]), &address)) {
			note(ctx, names.items[i], "", -EBADMSG,
			     "not the address of a PCI function");
			continue;
		}
		if (pci->devices.count == DEVICES_MAX) {
			host_gap_note(ctx->host, DEVICES, -EOVERFLOW, "more than 8192 functions");
			break;
		}
		d = LIST_ADD(ctx->arena, &pci->devices);
		d->bdf = fact_str(ctx->arena, names.items[i]);
		read_identity(ctx, d);
		/* A function without identity may be a GPU or a NIC: the list is not complete. */
		if (!is_known(d->vendor_id) || !is_known(d->class_id))
			rc = -EIO;
	}
	if (rc)
		pci->devices.state = probe_state(rc);
	return rc;
}

/* Takes over what libpci knows of each function; both lists are in the same order. */
static void merge(struct pci_facts *pci, const struct pci_facts *answer)
{
	const struct pci_device *from = answer->devices.items;
	const struct pci_device *end = from + answer->devices.count;

	for_each_mut(d, &pci->devices) {
		struct pci_device own = *d;

		while (from < end && is_known(from->bdf) &&
		       strcmp(from->bdf.value, d->bdf.value) < 0)
			from++;
		if (from == end || !str_is(from->bdf, d->bdf.value))
			continue;
		*d = *from;
		d->bdf = own.bdf;
		d->vendor_id = own.vendor_id;
		d->device_id = own.device_id;
		d->class_id = own.class_id;
		d->driver = own.driver;
		d->subsystem_vendor_id = own.subsystem_vendor_id;
		d->subsystem_device_id = own.subsystem_device_id;
		d->revision = own.revision;
		d->power_state = own.power_state;
	}
}

/* ---- place ---- */

/* A copy in which links became folders still says it in the folder's uevent file. */
static void read_variable(struct probe_context *ctx, struct fact_str *fact, const char *folder,
			  const char *name)
{
	_cleanup_text_ struct text text = { 0 };
	struct span value;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, "%s/uevent", folder);

	if (rc == 0 && field_find(text_span(&text), '=', name, &value))
		*fact = probe_span(ctx, value);
	else
		fact->state = rc ? FACT_UNKNOWN : FACT_ABSENT;
}

static void read_link_name(struct probe_context *ctx, struct fact_str *fact,
			   const struct pci_device *d, const char *link, const char *folder,
			   const char *variable)
{
	char name[NAME_MAX + 1];
	int rc = host_link_name(ctx->host, name, DEVICES "/%s/%s", d->bdf.value, link);

	if (rc == -EINVAL)
		read_variable(ctx, fact,
			      arena_printf(ctx->arena, DEVICES "/%s%s", d->bdf.value, folder),
			      variable);
	else if (rc == 0)
		*fact = fact_str(ctx->arena, name);
	else
		fact->state = probe_state(rc);
}

/* False when the function's folder is not a link, which is to be placed by bus numbers. */
static bool place_by_link(struct probe_context *ctx, struct pci_device *d)
{
	char target[PATH_MAX];
	struct pci_place place;
	int rc = host_link(ctx->host, target, DEVICES "/%s", d->bdf.value);

	if (rc == -EINVAL)
		return false;
	if (rc)
		return true;
	if (!pci_place_parse(span_of(target), &place) || !span_is(place.self, d->bdf.value)) {
		note(ctx, d->bdf.value, "", -EBADMSG,
		     "does not lead to a place below a host bridge");
		return true;
	}
	d->root = probe_span(ctx, place.root);
	if (place.parent.n)
		d->parent = probe_span(ctx, place.parent);
	else
		d->parent.state = FACT_ABSENT;
	return true;
}

/* The bus below a bridge; unknown when neither sysfs nor configuration space has it. */
static struct fact_u64 secondary_bus(struct probe_context *ctx, const struct pci_device *d)
{
	_cleanup_text_ struct text text = { 0 };
	struct fact_u64 bus = { 0 };

	probe_u64(ctx, &bus, DEVICES "/%s/secondary_bus_number", d->bdf.value);
	if (is_known(bus))
		return bus;
	if (host_read_head(ctx->host, &text, PCI_SECONDARY_BUS + 1, DEVICES "/%s/config",
			   d->bdf.value) ||
	    text.size <= PCI_SECONDARY_BUS)
		return (struct fact_u64){ 0 };
	/* The bus below has a higher number than the one above. */
	if (text.data[PCI_SECONDARY_BUS] == text.data[PCI_PRIMARY_BUS] &&
	    (unsigned char)text.data[PCI_SECONDARY_BUS] == 0xff)
		return (struct fact_u64){ 0 };
	return fact_u64((unsigned char)text.data[PCI_SECONDARY_BUS]);
}

/* Finds for each bus of DOMAIN the bridge above it, or NULL. Returns false if a bridge does not report its buses. */
static bool map_buses(struct probe_context *ctx, uint32_t domain,
		      const struct pci_device *above[256])
{
	bool complete = true;

	memset(above, 0, 256 * sizeof(above[0]));
	for_each(d, &ctx->node->pci.devices) {
		struct pci_address at;
		struct fact_u64 bus;

		if (!pci_is_bridge(d) || !pci_address_parse(span_of(d->bdf.value), &at) ||
		    at.domain != domain)
			continue;
		bus = secondary_bus(ctx, d);
		complete &= is_known(bus);
		/* 0: the bridge was never set up, and leads nowhere. */
		if (is_known(bus) && bus.value > at.bus && bus.value < 256)
			above[bus.value] = d;
	}
	return complete;
}

static void place_by_bus(struct probe_context *ctx, struct pci_device *d,
			 const struct pci_address *at, const struct pci_device *const above[256],
			 bool complete)
{
	const struct pci_device *bridge = above[at->bus];
	struct pci_address top = *at;

	if (bridge)
		d->parent = bridge->bdf;
	else if (complete)
		d->parent.state = FACT_ABSENT;
	if (!complete)
		return;
	/* A bridge's own bus has a lower number than the one below it: this ends. */
	while (above[top.bus])
		pci_address_parse(span_of(above[top.bus]->bdf.value), &top);
	d->root = fact_str(ctx->arena,
			   arena_printf(ctx->arena, "pci%04x:%02x", top.domain, top.bus));
}

static void place_functions(struct probe_context *ctx)
{
	const struct pci_device *above[256];
	bool mapped = false, complete = false;
	uint32_t domain = 0;

	for_each_mut(d, &ctx->node->pci.devices) {
		struct pci_address at;

		if (place_by_link(ctx, d) || !pci_address_parse(span_of(d->bdf.value), &at))
			continue;
		if (!mapped || at.domain != domain)
			complete = map_buses(ctx, at.domain, above);
		mapped = true;
		domain = at.domain;
		place_by_bus(ctx, d, &at, above, complete);
	}
}

/* ---- the rest of sysfs ---- */

/* -1 where the firmware gave no node. */
static void read_numa_node(struct probe_context *ctx, struct pci_device *d)
{
	struct fact_str text = { 0 };

	probe_str(ctx, &text, DEVICES "/%s/numa_node", d->bdf.value);
	d->numa_node.state = text.state;
	if (!is_known(text))
		return;
	if (str_is(text, "-1")) {
		d->numa_node.state = FACT_ABSENT;
	} else if (span_u64(span_of(text.value), 10, &d->numa_node.value)) {
		d->numa_node.state = FACT_UNKNOWN;
		note(ctx, d->bdf.value, "/numa_node", -EBADMSG, "not a number");
	}
}

static struct fact_u64 known_unless_zero(uint64_t value)
{
	return value ? fact_u64(value) : (struct fact_u64){ 0 };
}

static void read_speed(struct probe_context *ctx, struct fact_u64 *fact, const struct pci_device *d,
		       const char *name)
{
	struct fact_str text = { 0 };

	probe_str(ctx, &text, DEVICES "/%s/%s", d->bdf.value, name);
	fact->state = text.state;
	if (is_known(text))
		*fact = known_unless_zero(pcie_speed_text(span_of(text.value)));
}

/* The kernel shows Link Status to users who cannot read the register, and in copies without it. */
static void read_link_files(struct probe_context *ctx, struct pci_device *d)
{
	struct pci_link *link = &d->link;

	read_speed(ctx, &link->speed_mts, d, "current_link_speed");
	read_speed(ctx, &link->speed_max_mts, d, "max_link_speed");
	probe_u64(ctx, &link->width, DEVICES "/%s/current_link_width", d->bdf.value);
	/* The value of a register of a device that does not answer. */
	if (known_is(link->width, WIDTH_ONES))
		link->width = (struct fact_u64){ 0 };
	probe_u64(ctx, &link->width_max, DEVICES "/%s/max_link_width", d->bdf.value);
	if (is_absent(link->speed_mts) && is_absent(link->width))
		*link = FACT_NONE(pci_link);
	else if (is_known(link->speed_mts) || is_known(link->width))
		link->state = FACT_KNOWN;
}

/* Marks registers that are reserved in a virtual function and read as zero. */
static void set_virtual(struct pci_device *d)
{
	d->memory_enabled.state = d->relaxed_ordering.state = FACT_ABSENT;
	d->mps_bytes.state = d->mps_max_bytes.state = d->mrrs_bytes.state = FACT_ABSENT;
	d->link = FACT_NONE(pci_link);
}

static void read_attributes(struct probe_context *ctx, struct pci_device *d)
{
	const char *bdf = d->bdf.value;
	struct fact_u64 flag = { 0 };

	read_numa_node(ctx, d);
	probe_str(ctx, &d->runtime_status, DEVICES "/%s/power/runtime_status", bdf);
	d->boot_vga.state = d->physical_function.state = d->virtual_functions.state = FACT_ABSENT;
	if (is_display(d)) {
		probe_u64(ctx, &flag, DEVICES "/%s/boot_vga", bdf);
		d->boot_vga = (struct fact_bool){ flag.state, flag.value == 1 };
	}
	if (!pci_is_bridge(d)) {
		read_link_name(ctx, &d->physical_function, d, "physfn", "/physfn", "PCI_SLOT_NAME");
		probe_u64(ctx, &d->virtual_functions, DEVICES "/%s/sriov_numvfs", bdf);
	}
	if (is_known(d->physical_function))
		set_virtual(d);
	else if (is_unknown(d->link) && !known_is(d->answers, false) &&
		 !str_is(d->power_state, "D3cold"))
		read_link_files(ctx, d);
}

/* Extended capabilities are the last thing that is read: without them, something was missing. */
static bool is_incomplete(const struct pci_device *d)
{
	return is_unknown(d->acs) || is_unknown(d->ats_enabled) || is_unknown(d->rebar);
}

/* Why registers of a function stayed unknown. */
static void note_config(struct probe_context *ctx, const struct pci_device *d)
{
	const char *bdf = d->bdf.value;
	unsigned int bytes = (unsigned int)d->config_bytes.value;
	struct host_stat stat;
	char why[96];

	if (str_is(d->power_state, "D3cold")) {
		note(ctx, bdf, "/config", -EHOSTDOWN,
		     "powered down (D3cold): reading its registers would power it up");
	} else if (known_is(d->answers, false)) {
		note(ctx, bdf, "/config", -EIO,
		     "every register reads all ones: the function does not answer");
	} else if (host_stat(ctx->host, &stat, DEVICES "/%s/config", bdf) ||
		   !is_known(d->config_bytes)) {
		note(ctx, bdf, "/config", -ENODATA, "could not be read");
	} else if (stat.size > bytes) {
		snprintf(why, sizeof(why), "only %u of %u bytes can be read without root", bytes,
			 (unsigned int)stat.size);
		note(ctx, bdf, "/config", -EACCES, why);
	} else if (bytes >= CONFIG_MAX) {
		note(ctx, bdf, "/config", -EBADMSG,
		     "a capability could not be read, or leads out of configuration space");
	} else {
		snprintf(why, sizeof(why), "only %u bytes of configuration space are there", bytes);
		note(ctx, bdf, "/config", -ENODATA, why);
	}
}

/* "(null)" if none was written (drivers/pci/pci-sysfs.c, driver_override_show()). */
static void read_override(struct probe_context *ctx, struct pci_device *d)
{
	probe_str(ctx, &d->driver_override, DEVICES "/%s/driver_override", d->bdf.value);
	if (str_is(d->driver_override, "(null)"))
		d->driver_override.state = FACT_ABSENT;
}

static void pci_run(struct probe_context *ctx)
{
	struct pci_facts *pci = &ctx->node->pci;
	struct pci_facts answer = { 0 };
	bool nvswitches;
	int rc;

	if (find_functions(ctx))
		return;
	nvswitches = gpu_nvswitch_is_nic(pci);
	rc = host_query(ctx->host, "pci", &pci_facts_desc, &answer, ctx->arena, pci_config_ask,
			pci);
	if (rc)
		host_gap_note(ctx->host, DEVICES, rc, NULL);
	merge(pci, &answer);
	place_functions(ctx);
	for_each_mut(d, &pci->devices) {
		if (is_unknown(d->driver))
			read_link_name(ctx, &d->driver, d, "driver", "", "DRIVER");
		/* A copy that lacks uevent may lack the driver's link as well. */
		if (is_absent(d->driver) &&
		    !host_exists(ctx->host,
				 arena_printf(ctx->arena, DEVICES "/%s/uevent", d->bdf.value)))
			d->driver.state = FACT_UNKNOWN;
		if (rc == 0 && is_unknown(d->bars))
			note(ctx, d->bdf.value, "/resource", -ENODATA,
			     "not there, or not the kernel's list of BARs");
		if (nvswitches && pci_is_mlx(d) && is_unknown(d->sub_model))
			note(ctx, d->bdf.value, "/vpd", -EACCES, "can only be read by root");
		if (!pci_matters(d))
			continue;
		if (pci_is_for_guest(d) || pci_is_gpu(d))
			read_override(ctx, d);
		read_attributes(ctx, d);
		if (rc == 0 && is_incomplete(d))
			note_config(ctx, d);
	}
	pci_read_claims(ctx);
	pci_read_overrides(ctx);
}

static void pci_run_preflight(struct probe_context *ctx)
{
	if (is_unknown(ctx->node->pci.devices))
		pci_run(ctx);
}

const struct probe probe_pci = {
	.name = "pci",
	.phase = PHASE_ALONE,
	.needs = NEEDS_CONFIG,
	.is_hardware = true,
	PROBE_SECTION(pci),
	.run = pci_run,
	.preflight = {
		.run = pci_run_preflight,
		.ahead = pci_read_briefly,
		.phase = PHASE_SECOND,
	},
};
