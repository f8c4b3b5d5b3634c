/* SPDX-License-Identifier: GPL-2.0-or-later */
/* device-file.h - finds a device file of the node. */
#ifndef DEVICE_FILE_H
#define DEVICE_FILE_H

#include "facts/facts.h"

/* Returns the device file PATH, or that of the driver container: it has a /dev of its own, and containers with GPUs get
 * the files from there. NULL: neither exists. */
const struct device_node *device_file_find(const struct node *node, const char *path);

#define READ_WRITE_GROUP 0060
#define READ_WRITE_OTHERS 0006
/* Returns true if a device file of that mode can be opened by its group and not by all others. */
bool device_file_is_for_group(uint64_t mode);

#endif
