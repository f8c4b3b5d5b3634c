/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-read.h - reads a job's log, plain or compressed, in a child that can do nothing else. */
#ifndef LOG_READ_H
#define LOG_READ_H

#include "base/arena.h"
#include "why/job.h"

/* FILE is read, "-" is standard input; or TEXT where FILE is NULL. The job lies in ARENA. NULL after saying why. */
const struct job *log_read(const char *file, const char *text, struct arena *arena);

#endif
