/* SPDX-License-Identifier: GPL-2.0-or-later */
/* device-number.h - the numbers that the node of a driver's device must have. Pure. */
#ifndef DEVICE_NUMBER_H
#define DEVICE_NUMBER_H

#include "facts/facts.h"

struct device_number {
	const char *driver;		  /* as /proc/devices names it: nvidia-uvm */
	const struct device_major *major; /* NULL: no loaded module has registered it */
	struct fact_u64 minor;		  /* unknown: the driver gives them out itself */
};

/* False: PATH is no device of a driver that is known here. dev.majors must have been read. */
bool device_number_of(const struct node *node, const char *path, struct device_number *number);
/* A driver can have several majors of one name: is MAJOR one of them? */
bool device_has_major(const struct node *node, const struct device_number *number, uint64_t major);

#endif
