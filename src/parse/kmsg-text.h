/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmsg-text.h - reads the text of a kernel message by its form. */
#ifndef PARSE_KMSG_TEXT_H
#define PARSE_KMSG_TEXT_H

#include "base/span.h"

/* include/linux/sched.h, include/uapi/linux/if.h: TASK_COMM_LEN and IFNAMSIZ without the NUL. Both names have any
 * bytes; that of an interface has no blank, colon or slash. */
#define KMSG_NAME_MAX 15

/* Returns the size of the first character of S, which is not empty. A record and a file of rsyslog write a byte that is
 * not printable as four. */
size_t kmsg_byte_size(struct span s);

/* Returns the size of TEXT at the beginning of S, where * in TEXT matches a word and # a number; 0: S does not begin
 * so. */
size_t kmsg_form_size(struct span s, const char *text);

/* Returns true if S begins with TEXT. */
bool kmsg_follows(struct span s, const char *text);

/* Returns the size of a line break at the beginning of S, or 0. */
size_t kmsg_break_size(struct span s);

#endif
