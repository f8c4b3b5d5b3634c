/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-pci.c - the descriptions of the structs in facts-pci.h, innermost first. */
#include "facts/facts.h"

#define PCI "/sys/bus/pci/devices/{0}/"

const char *const pci_port_words[] = {
	[PCI_ENDPOINT] = "endpoint",
	[PCI_ROOT_PORT] = "root-port",
	[PCI_UPSTREAM_PORT] = "upstream-port",
	[PCI_DOWNSTREAM_PORT] = "downstream-port",
	[PCI_BRIDGE] = "bridge",
	[PCI_ROOT_COMPLEX] = "root-complex",
	NULL,
};

static const struct field pci_bar_fields[] = {
	F_U64(pci_bar, index, NULL),	  F_HEX(pci_bar, start, NULL),
	F_U64(pci_bar, size_bytes, NULL), F_BOOL(pci_bar, prefetchable, NULL),
	F_BOOL(pci_bar, wide, NULL),	  F_BOOL(pci_bar, io, NULL),
};
static const struct desc pci_bar_desc = DESC(pci_bar);

static const struct field pci_rebar_fields[] = {
	F_U64(pci_rebar, index, NULL),
	F_U64(pci_rebar, size_bytes, NULL),
	F_U64(pci_rebar, size_max_bytes, NULL),
};
static const struct desc pci_rebar_desc = DESC(pci_rebar);

static const struct field pci_link_fields[] = {
	F_U64(pci_link, speed_mts, NULL),
	F_U64(pci_link, speed_max_mts, NULL),
	F_U64(pci_link, speed_target_mts, NULL),
	F_BOOL(pci_link, speed_fixed, NULL),
	F_U64(pci_link, width, NULL),
	F_U64(pci_link, width_max, NULL),
};
static const struct desc pci_link_desc = DESC(pci_link, .optional = true);

static const struct field pci_acs_fields[] = {
	F_HEX(pci_acs, capability, NULL),
	F_HEX(pci_acs, control, NULL),
};
static const struct desc pci_acs_desc = DESC(pci_acs, .optional = true);

static const struct field pci_window_fields[] = {
	F_HEX(pci_window, start, NULL),
	F_U64(pci_window, size_bytes, NULL),
};
static const struct desc pci_window_desc = DESC(pci_window, .optional = true);

static const struct field pci_device_fields[] = {
	F_STR(pci_device, bdf, NULL),
	F_HEX(pci_device, vendor_id, PCI "vendor"),
	F_HEX(pci_device, device_id, PCI "device"),
	F_HEX(pci_device, subsystem_vendor_id, PCI "subsystem_vendor"),
	F_HEX(pci_device, subsystem_device_id, PCI "subsystem_device"),
	F_HEX(pci_device, class_id, PCI "class"),
	F_HEX(pci_device, revision, PCI "revision"),
	F_STR(pci_device, driver, PCI "driver"),
	F_STR(pci_device, driver_override, PCI "driver_override"),
	F_STR(pci_device, parent, PCI),
	F_STR(pci_device, root, PCI),
	F_ENUM(pci_device, port, pci_port_words, PCI "config"),
	F_U64(pci_device, numa_node, PCI "numa_node"),
	F_U64(pci_device, config_bytes, PCI "config"),
	F_BOOL(pci_device, answers, PCI "config"),
	F_BOOL(pci_device, memory_enabled, PCI "config"),
	F_BOOL(pci_device, bus_master, PCI "config"),
	F_LIST(pci_device, bars, pci_bar_desc, PCI "resource"),
	F_LIST(pci_device, rebar, pci_rebar_desc, PCI "config"),
	F_STRUCT(pci_device, link, pci_link_desc, PCI "config"),
	F_U64(pci_device, mps_bytes, PCI "config"),
	F_U64(pci_device, mps_max_bytes, PCI "config"),
	F_U64(pci_device, mrrs_bytes, PCI "config"),
	F_BOOL(pci_device, relaxed_ordering, PCI "config"),
	F_STRUCT(pci_device, acs, pci_acs_desc, PCI "config"),
	F_BOOL(pci_device, ats_enabled, PCI "config"),
	F_STRUCT(pci_device, window, pci_window_desc, PCI "config"),
	F_STR(pci_device, physical_function, PCI "physfn"),
	F_U64(pci_device, virtual_functions, PCI "sriov_numvfs"),
	F_BOOL(pci_device, boot_vga, PCI "boot_vga"),
	F_STR(pci_device, sub_model, PCI "vpd"),
	F_STR(pci_device, power_state, PCI "power_state"),
	F_STR(pci_device, runtime_status, PCI "power/runtime_status"),
};
static const struct desc pci_device_desc = DESC(pci_device);

static const struct field pci_claim_fields[] = {
	F_STR(pci_claim, bdf, NULL),
	F_STR(pci_claim, holder, NULL),
	F_HEX(pci_claim, start, NULL),
	F_U64(pci_claim, size_bytes, NULL),
};
static const struct desc pci_claim_desc = DESC(pci_claim, .ordered = true);

static const struct field pci_override_fields[] = {
	F_STR(pci_override, bdf, NULL),
	F_STR(pci_override, driver, "/etc/driverctl.d/{0}"),
};
static const struct desc pci_override_desc = DESC(pci_override);

static const struct field pci_facts_fields[] = {
	F_LIST(pci_facts, devices, pci_device_desc, "/sys/bus/pci/devices"),
	F_LIST(pci_facts, claims, pci_claim_desc, "/proc/iomem"),
	F_LIST(pci_facts, overrides, pci_override_desc, "/etc/driverctl.d"),
};
const struct desc pci_facts_desc = DESC(pci_facts);
