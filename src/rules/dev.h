/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dev.h - the answer about one device file, for the rules of several files. */
#ifndef DEV_H
#define DEV_H

#include "evaluate/rule.h"

/* Answers whether PATH is a character device. MAJOR is the driver's number, with which it is compared; or NULL. */
void dev_check_node(struct rule_context *ctx, const char *path, const struct device_major *major);

#endif
