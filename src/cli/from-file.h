/* SPDX-License-Identifier: GPL-2.0-or-later */
/* from-file.h - the text of a capture or facts file, which may be from a stranger: compressed or not, of bounded
 * size. */
#ifndef FROM_FILE_H
#define FROM_FILE_H

#include "base/exit-status.h"
#include "host/host.h"

/* Limit of its unpacked bytes. The capture of a node of eight GPUs has 130 thousand; one that is not redacted also has
 * the logs. */
#define FROM_MAX (128u << 20)
/* Limit of a compressed file. */
#define FROM_PACKED_MAX (32u << 20)

/* Reads FILE, "-" is standard input, into TEXT and unpacks it. TIMEOUT_MS limits the time; 0: no limit. Prints the
 * reason unless it returns EXIT_WELL. */
enum exit_status from_file_read(const char *file, unsigned int timeout_ms, struct text *text);

#endif
