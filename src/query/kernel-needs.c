/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/kernel-needs.h"

#include <stddef.h>

const struct kernel_need kernel_needs[] = {
#include "kernel-needs.inc"
	{ .subject = NULL },
};
