/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan.c - a plan: the changes of a node, and their reasons. */
#include "txn/plan.h"

const char *const plan_step_words[] = {
	"initramfs",   "boot-loader",  "daemon-reload", "load-module", "unload-module",
	"unit-enable", "unit-disable", "unit-start",	"unit-stop",   "sysctl",
	"device-node", "depmod",       "reload-driver", NULL,
};
