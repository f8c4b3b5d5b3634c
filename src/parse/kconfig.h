/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kconfig.h - a kernel's .config: CONFIG_X=y, CONFIG_X="text", # CONFIG_X is not set. */
#ifndef PARSE_KCONFIG_H
#define PARSE_KCONFIG_H

#include "base/span.h"

/* Finds N options in one pass: VALUES[i] is that of NAMES[i], with .p NULL if it is not set. False: TEXT has no option,
 * and so is not such a file. */
bool kconfig_find(struct span text, const char *const *names, struct span *values, size_t n);

#endif
