# SPDX-License-Identifier: GPL-2.0-or-later
"""A DMAR table for the guest. The one that QEMU makes names the functions of its own bus alone;
this one covers all of PCI segment 0, so that functions of fakepci get IOMMU groups too. The kernel
takes it from the start of the initramfs in place of QEMU's, because identity and revision say that
it is a newer version of the same table
(Documentation/admin-guide/acpi/initrd_table_override.rst)."""

import struct

from cpio import Archive

# VT-d specification, 8.1 and 8.3.
INTERRUPT_REMAPPING = 1
INCLUDE_PCI_ALL = 1
SCOPE_IOAPIC = 3
# hw/i386/intel_iommu.c and include/hw/i386/x86-iommu.h of QEMU.
REGISTERS = 0xFED90000
IOAPIC_BUS = 0xFF


def dmar():
    ioapic = struct.pack("<BBHBBBB", SCOPE_IOAPIC, 8, 0, 0, IOAPIC_BUS, 0, 0)
    unit = struct.pack("<HHBBHQ", 0, 16 + len(ioapic), INCLUDE_PCI_ALL, 0, 0, REGISTERS) + ioapic
    # 39 bits of address, QEMU's default.
    body = struct.pack("<BB10x", 38, INTERRUPT_REMAPPING) + unit
    header = struct.pack("<4sIBB6s8sI4sI", b"DMAR", 36 + len(body), 1, 0, b"BOCHS ", b"BXPC    ",
                         2, b"TEST", 1)
    table = bytearray(header + body)
    table[9] = -sum(table) & 0xFF
    return bytes(table)


def override():
    archive = Archive()
    archive.file("kernel/firmware/acpi/DMAR.aml", dmar())
    return archive.bytes()
