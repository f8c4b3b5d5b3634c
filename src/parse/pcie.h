/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pcie.h - single registers of PCI configuration space, and their text in sysfs. Registers: PCI Express Base
 * Specification 6.0, chapter 7; linux/pci_regs.h has the same bits.
 */
#ifndef PARSE_PCIE_H
#define PARSE_PCIE_H

#include "base/span.h"

#define PCI_CLASS_MAX 0xffffff

struct pci_address {
	uint32_t domain; /* 31 bits: libpci keeps it in an int */
	uint8_t bus;
	uint8_t device;	  /* 0..31 */
	uint8_t function; /* 0..7 */
};

/* A function's name in sysfs: 0000:1b:00.0. False unless it is written exactly as the kernel writes
 * it (drivers/pci/probe.c, pci_setup_device). */
bool pci_address_parse(struct span name, struct pci_address *address);

/*
 * The position of a function, from its folder below /sys/devices:
 *   ../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0
 * SELF is the last part, PARENT the bridge above (empty on a root bus), ROOT the host bridge; of several (below a VMD
 * controller) the nearest. False if the path has another form.
 */
struct pci_place {
	struct span self;
	struct span parent;
	struct span root;
};
bool pci_place_parse(struct span path, struct pci_place *place);

/* The uevent file of a PCI function (drivers/pci/pci-driver.c, pci_uevent()): "PCI_CLASS=30200", "PCI_ID=10DE:2335",
 * "PCI_SUBSYS_ID=10DE:18BE", and "DRIVER=nvidia" if a driver is bound (drivers/base/core.c). Parsing fails unless
 * the first three exist and are in range. */
struct pci_uevent {
	uint32_t class;
	uint16_t vendor, device;
	uint16_t subsystem_vendor, subsystem_device;
	struct span driver; /* empty: none */
};
bool pci_uevent_parse(struct span text, struct pci_uevent *uevent);

/* A base address register (7.5.1.2.1). A register of zero either does not exist or is a 32-bit one without an address.
 * Only a write could distinguish them, so it does not count. */
struct pci_bar_register {
	bool exists;
	bool io;
	bool wide; /* 64-bit: the next register is its upper half */
	bool prefetchable;
};
struct pci_bar_register pci_bar_register(uint32_t value);

/* The prefetchable window of a bridge, registers 0x24, 0x28, 0x2c (7.5.1.3.10). SIZE 0: closed. False if the two halves
 * of the first register disagree on the width, or have a reserved one. */
bool pci_prefetch_window(uint32_t base_limit, uint32_t base_upper, uint32_t limit_upper,
			 uint64_t *start, uint64_t *size);

/* Speed codes of Link Capabilities and Link Status (7.5.3.6, 7.5.3.8) in megatransfers a second; 0
 * for a code without a meaning. */
uint64_t pcie_speed_mts(unsigned int code);
/* Parses a speed of sysfs: "32.0 GT/s PCIe", "8 GT/s"; 0 for anything else ("Unknown"). */
uint64_t pcie_speed_text(struct span text);
/* Max_Payload_Size and Max_Read_Request_Size codes (7.5.3.4); 0 for a reserved one. */
uint64_t pcie_payload_bytes(unsigned int code);

/* One entry of the Resizable BAR capability (PCIe 6.0, 7.8.6): its capability and control registers. */
struct pcie_rebar {
	unsigned int index; /* of the BAR */
	/* number of entries, 1 to 6, which only the first one has; 0: another number */
	unsigned int count;
	uint64_t size;
	uint64_t size_max;
};
/* False: impossible index or size. */
bool pcie_rebar_parse(uint32_t capability, uint32_t control, struct pcie_rebar *rebar);

#endif
