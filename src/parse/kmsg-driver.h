/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmsg-driver.h - finds the GPU, NIC, PCIe or IOMMU driver that wrote a kernel message, and its severity. */
#ifndef PARSE_KMSG_DRIVER_H
#define PARSE_KMSG_DRIVER_H

#include "base/span.h"

#define KMSG_DRIVER_MAX 32
#define KMSG_LEVEL_NONE (-1) /* the log does not have the levels */
#define KMSG_LEVEL_ERR 3

/* Finds the driver: NVRM, nvidia_drm, mlx5_core, pci, DMAR, ... False: any other. */
bool kmsg_driver(struct span message, char driver[KMSG_DRIVER_MAX]);

/* Returns true for an error. The NVIDIA driver's resource manager writes at the default level, which is warning
 * (os-interface.c of open-gpu-kernel-modules, nv_printf()), and only errors, unless debugging is on. */
bool kmsg_is_error(const char *driver, int level);

/* For a log without levels: returns true if the message reads like a failure. */
bool kmsg_sounds_like_error(const char *driver, struct span message);

#define KMSG_SHAPE_MAX 160
/* The message with its numbers and addresses replaced, so that messages of the same kind are equal. */
void kmsg_shape(struct span message, char shape[KMSG_SHAPE_MAX]);

#endif
