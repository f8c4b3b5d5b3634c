/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confine.h - takes from this process what looking does not need, for the rest of its life: bytes that somebody else
 * made are read here, by our parsers and by libraries, and a fault in one of these must not become root.
 *
 * What the kernel does not have is passed over. SECURITY.md says what is left and why.
 */
#ifndef CONFINE_H
#define CONFINE_H

#include <stdbool.h>

/* Private memory of one process that looks: several times what the largest module of a driver unpacks to. */
#define CONFINE_MEMORY (256u << 20)

struct confine {
	int tree; /* the only folder, but for those of libraries, whose files may be read; -1: all */
	bool kernel;   /* asks the running kernel: its log, configuration space, other processes */
	bool connects; /* asks systemd, and RDMA devices, which are opened for writing */
};

/* In a process without threads. True: files may be opened by openat2(2), whose flags a filter cannot see. */
bool confine(const struct confine *how);

/* confine-calls.c: the calls of the kernel that this process may still make. */
void confine_calls(bool connects, bool openat2);

#endif
