/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-read.h - reads a job's log, plain or compressed, in a child that can do nothing else. */
#ifndef LOG_READ_H
#define LOG_READ_H

#include "base/arena.h"
#include "why/job.h"

/* Most bytes that a packed log is unpacked to. One that is not packed is read whole. */
#define LOG_UNPACKED_MAX (UINT64_C(4) << 30)

/* FILE is read, "-" is standard input; or TEXT where FILE is NULL. What was not read after TIMEOUT_MS (0: no limit) is
 * left out, and the job says so. The job lies in ARENA. NULL after saying why. */
const struct job *log_read(const char *file, const char *text, unsigned int timeout_ms,
			   struct arena *arena);

#endif
