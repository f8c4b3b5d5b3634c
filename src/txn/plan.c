/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plan.c - a plan: the changes of a node, and their reasons. */
#include "txn/plan.h"

const char *const plan_step_words[] = {
	[PLAN_INITRAMFS] = "initramfs",		[PLAN_BOOT_LOADER] = "boot-loader",
	[PLAN_DAEMON_RELOAD] = "daemon-reload", [PLAN_LOAD_MODULE] = "load-module",
	[PLAN_UNLOAD_MODULE] = "unload-module", [PLAN_UNIT_ENABLE] = "unit-enable",
	[PLAN_UNIT_DISABLE] = "unit-disable",	[PLAN_UNIT_START] = "unit-start",
	[PLAN_UNIT_STOP] = "unit-stop",		[PLAN_SYSCTL] = "sysctl",
	[PLAN_DEVICE_NODE] = "device-node",	[PLAN_DEPMOD] = "depmod",
	[PLAN_RELOAD_DRIVER] = "reload-driver", NULL,
};
