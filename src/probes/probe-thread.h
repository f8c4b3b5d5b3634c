/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * probe-thread.h - a probe's preflight.ahead(), in a thread of its own while its child runs the steps before it.
 * The thread has a host handle, a node and memory of its own, and the rights that the child has when it begins.
 */
#ifndef PROBE_THREAD_H
#define PROBE_THREAD_H

#include "probes/probe.h"

struct probe_thread;

/* NULL: no thread could be made, and the probe runs in its turn. The thread's memory is a part of CTX's arena. */
struct probe_thread *probe_thread_begin(const struct probe *probe, const struct probe_context *ctx);

/* Waits for the thread, and copies the probe's section and gaps to CTX's node. Meanwhile TRACE (PATH_MAX bytes) has the
 * file that the thread is at. */
void probe_thread_take(struct probe_thread *thread, struct probe_context *ctx, char *trace);

#endif
