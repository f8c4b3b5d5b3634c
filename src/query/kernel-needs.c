/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel-needs.c - the table data/kernel-needs.tsv: options of the kernel configuration, and what needs them. */
#include "query/kernel-needs.h"

#include <stddef.h>

const struct kernel_need kernel_needs[] = {
#include "kernel-needs.inc"
	{ .subject = NULL },
};
