/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-read.h - reads a job's log, plain or compressed, in a child that can do nothing else. */
#ifndef LOG_READ_H
#define LOG_READ_H

#include "base/arena.h"
#include "why/job.h"

/* Limit of unpacked bytes of a compressed log. A plain log is read completely. */
#define LOG_UNPACKED_MAX (UINT64_C(4) << 30)
/* Processor time for reading, without --timeout: a small packed log can unpack to much. */
#define LOG_PROCESSOR_MS 300000

/* Reads FILE, "-" is standard input; or TEXT if FILE is NULL. The rest after TIMEOUT_MS (0: no limit) is left out, and
 * the job says so. The job is in ARENA. NULL after a message. */
const struct job *log_read(const char *file, const char *text, unsigned int timeout_ms,
			   struct arena *arena);

#endif
