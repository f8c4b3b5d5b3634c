/* SPDX-License-Identifier: GPL-2.0-or-later */
/* processor-limit.h - ends the process over a file that keeps it busy: nothing made from a stranger's file is worth a
 * minute. In a fleet's worker that costs this file alone. */
#ifndef PROCESSOR_LIMIT_H
#define PROCESSOR_LIMIT_H

/* From now on this process, without its children, may use MS milliseconds of processor time for FILE; then it ends with
 * EXIT_CANNOT after saying so. One file at a time. */
void processor_limit_begin(const char *file, unsigned int ms);
void processor_limit_end(void);

#endif
