/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * virt.h - recognises the hypervisor or container by reports of firmware, kernel and init. The words are those of
 * systemd-detect-virt(1), and firecracker, which it calls kvm.
 */
#ifndef PARSE_VIRT_H
#define PARSE_VIRT_H

#include "base/span.h"

/*
 * A hypervisor by a DMI string: product, system vendor, board vendor, BIOS vendor, product version. CERTAIN: only
 * virtual machines have that string; bare-metal machines of clouds have the cloud's name too. NULL: not named.
 */
const char *virt_from_dmi(struct span text, bool *certain);
/* Returns the hypervisor by /sys/devices/system/clocksource/clocksource0/available_clocksource. */
const char *virt_from_clocksource(struct span text);
/* Returns the hypervisor by the OEM ID in the header of an ACPI table (ACPI 6.5, 5.2.6). */
const char *virt_from_acpi(struct span table);
/* Returns the hypervisor by /proc/device-tree/hypervisor/compatible. */
const char *virt_from_device_tree(struct span compatible);

/* A cloud by a DMI string: aws, azure, google, oracle, alibaba, openstack. NULL: it names none. */
enum virt_field { VIRT_VENDOR, VIRT_PRODUCT, VIRT_CHASSIS_TAG };
const char *cloud_from_dmi(enum virt_field field, struct span text);

/* A container by /proc/1/cgroup; NULL: no evidence. */
const char *container_from_cgroup(struct span text);

#endif
