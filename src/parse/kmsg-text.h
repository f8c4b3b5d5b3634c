/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmsg-text.h - reads the text of a kernel message by its form. */
#ifndef PARSE_KMSG_TEXT_H
#define PARSE_KMSG_TEXT_H

#include "base/span.h"

/* include/linux/sched.h, include/uapi/linux/if.h: TASK_COMM_LEN and IFNAMSIZ less their end. Both names are of any bytes;
 * that of an interface has no blank, colon or slash. */
#define KMSG_NAME_MAX 15

/* The size of what stands for the first byte of S, which is not empty: a record and a file of rsyslog write a byte that is
 * not printable as four. */
size_t kmsg_byte_size(struct span s);

/* The size of what S has of TEXT at its beginning, in which * stands for a word and # for a number; 0: it does not begin
 * so. */
size_t kmsg_form_size(struct span s, const char *text);

/* Does S begin with TEXT? */
bool kmsg_follows(struct span s, const char *text);

/* The size of a line break at the beginning of S, or 0. */
size_t kmsg_break_size(struct span s);

#endif
