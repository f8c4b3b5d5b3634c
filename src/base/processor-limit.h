/* SPDX-License-Identifier: GPL-2.0-or-later */
/* processor-limit.h - ends the process if one file uses too much processor time: no answer about a stranger's file is
 * worth a minute. In a worker of a fleet only that file is lost. */
#ifndef PROCESSOR_LIMIT_H
#define PROCESSOR_LIMIT_H

/* From now on this process, without its children, may use MS milliseconds of processor time for FILE. Then it ends with
 * EXIT_CANNOT after a message. One file at a time. */
void processor_limit_begin(const char *file, unsigned int ms);
void processor_limit_end(void);

#endif
