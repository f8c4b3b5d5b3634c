/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confine.h - drops, for the rest of this process, the rights that reading does not need. Our
 * parsers and libraries read untrusted bytes here, and a bug in one of them must not give away
 * root.
 *
 * A mechanism that the kernel lacks is skipped. SECURITY.md lists the rights that remain and
 * why.
 */
#ifndef CONFINE_H
#define CONFINE_H

#include <stdbool.h>

/* Private memory of one process that looks: several times what the largest module of a driver unpacks to. */
#define CONFINE_MEMORY (256u << 20)

struct confine {
	/* the only folder, besides those of libraries, whose files can be read; -1: all */
	int tree;
	bool kernel;   /* asks the running kernel: its log, configuration space, other processes */
	bool connects; /* asks systemd, and RDMA devices, which are opened for writing */
};

/* In a process without threads. True: files may be opened by openat2(2), whose flags a filter cannot see. */
bool confine(const struct confine *how);

/* confine-calls.c: the calls of the kernel that this process may still make. */
void confine_calls(bool connects, bool openat2);

#endif
