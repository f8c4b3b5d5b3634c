/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmsg-failure.h - messages of the kernel about failures: to load a module, bind a device, find a firmware file. Of any
 * module and any device.
 *
 * Sources: Linux kernel/module/main.c (6.16), version.c, signing.c; kernel/params.c; init/main.c
 * (print_unknown_bootoptions); drivers/base/dd.c (call_driver_probe, before and from 6.10);
 * drivers/base/firmware_loader/main.c; drivers/net/ethernet/mellanox/mlx5/core/main.c (mlx5_function_enable, init_one);
 * arch/x86/kernel/cet.c; arch/x86/kernel/dumpstack.c; mm/hugetlb.c (hugepagesz_setup); drivers/pci/pci.c (pci_setup);
 * init/main.c (do_early_param).
 */
#ifndef PARSE_KMSG_FAILURE_H
#define PARSE_KMSG_FAILURE_H

#include "facts/facts.h"
#include "parse/kmsg.h"
#include "parse/module.h"

#define FAILURE_DEVICE_MAX 64

struct kmsg_failure {
	enum failure_kind kind;
	char module[MODULE_NAME_MAX]; /* or driver, with underscores; "": not named */
	/* a PCI function as the kernel writes it, else its name; "": not named */
	char device[FAILURE_DEVICE_MAX];
	struct span detail; /* within the message; empty: none */
	uint64_t error;	    /* positive errno; 0: none */
};

/* A crash takes many lines, and a later one names the module. Zeroed at first. */
struct kmsg_crash {
	unsigned int lines; /* that still belong to it */
};

bool kmsg_failure_parse(struct kmsg_crash *crash, struct span message, struct kmsg_failure *out);

#endif
