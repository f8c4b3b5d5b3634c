/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confine.h - drops, for the rest of this process, the rights that reading does not need. Our parsers and libraries
 * read untrusted bytes here, and a bug in one of them must not give away root.
 *
 * A mechanism that the kernel lacks is skipped. SECURITY.md lists the rights that remain and why.
 */
#ifndef CONFINE_H
#define CONFINE_H

#include <stdbool.h>

/* Limit of private memory of one probing process: several times the unpacked size of the largest module of a driver. */
#define CONFINE_MEMORY (256u << 20)

/* The service that this process asks, besides the kernel's files. Only one, so that a fault in the library for one does
 * not reach the others. */
enum confine_asks {
	ASKS_NOBODY,
	ASKS_SYSTEMD, /* over its socket */
	ASKS_RDMA,    /* devices, which are opened for writing */
	ASKS_GPUS,    /* NVIDIA's driver through its device files, which are opened for writing */
};

/* Capabilities that a probe needs. A process that keeps none of them can only read files. */
enum confine_needs {
	NEEDS_CONFIG = 1 << 0, /* configuration space past its first 64 bytes: CAP_SYS_ADMIN */
	NEEDS_PROCESSES =
		1 << 1, /* other users' environment, links, and names (hidepid): CAP_SYS_PTRACE */
	NEEDS_LOG = 1 << 2, /* /dev/kmsg and syslog(2): CAP_SYSLOG */
};

struct confine {
	/* the only folder, besides those of libraries, whose files can be read; -1: all */
	int tree;
	unsigned int needs; /* enum confine_needs */
	bool threads;	    /* may have threads; with ASKS_GPUS always */
	enum confine_asks asks;
};

/* Must be called in a process without threads. Returns true when the process may use openat2(2), whose flags the
 * filter cannot check. */
bool confine(const struct confine *how);

/* Drops all capabilities but these, for the rest of the process. */
void confine_keep(unsigned int needs);

/* confine-calls.c: the calls of the kernel that this process may still make. */
void confine_calls(const struct confine *how, bool openat2);

#endif
