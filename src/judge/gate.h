/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate.h - the conditions under which most rules have nothing to say. Each answers the rule
 * (not-applicable, or unknown when even that cannot be told) and returns true, or returns false and
 * the rule goes on.
 */
#ifndef GATE_H
#define GATE_H

#include "rule.h"

bool gate_no_gpu(struct judge *j);	/* no NVIDIA GPU on the PCI bus */
bool gate_no_driver(struct judge *j);	/* the NVIDIA driver is not loaded; else its version is known */
bool gate_no_params(struct judge *j);	/* nor its parameters are known */
/* No RDMA device. Where ib_core is not loaded there is no folder of devices either: absent counts as none. */
bool gate_no_rdma_device(struct judge *j);
bool gate_no_rdma(struct judge *j);	/* nor a driver to use one with */
bool gate_no_modules(struct judge *j);	/* the loaded modules are not known */
bool gate_no_modprobe(struct judge *j);	/* nothing of modprobe.d is known */
bool gate_modprobe_unread(struct judge *j);	/* a file that counts is unread: what was not seen may be in it */
/* What was not found in it may be in a folder that could not be read. */
bool gate_no_software(struct judge *j);
/* What is not in the log need not mean anything: it could not be read, or not back to the boot. */
bool gate_no_log(struct judge *j);
/* A virtual machine shows the topology that its hypervisor made up: unknown, with that reason. */
bool gate_vm(struct judge *j, const char *what);

/* Nothing bad is in the kernel log: a pass as far as it goes back to the boot, else unknown. */
void gate_log_clean(struct judge *j);

#endif
