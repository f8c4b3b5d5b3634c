/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel-needs.h - the table data/kernel-needs.tsv: options of the kernel configuration, and what needs them. */
#ifndef KERNEL_NEEDS_H
#define KERNEL_NEEDS_H

#include <stdbool.h>

struct kernel_need {
	const char *subject; /* gb10, grace, mlx5, efa, enroot */
	const char *options; /* separated by commas */
	const char *module;  /* that makes up for them; NULL: none */
	bool is_error;
	const char *effect;
	const char *source;
};

extern const struct kernel_need kernel_needs[]; /* ends with a NULL subject */

#endif
