/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-source.h - whether the lines of a file are known to be of the kernel. */
#ifndef LOG_SOURCE_H
#define LOG_SOURCE_H

#include <stdbool.h>

/* Returns true if users can write lines of the kernel to the file PATH. They can to those of rsyslog: "<3>kernel: ..."
 * that is sent to its socket reaches kern.log (8.2302, imuxsock), and a line break in a message of the kernel begins a
 * line (imklog). A journal marks the kernel's own messages (_TRANSPORT=kernel, systemd.journal-fields(7)). */
bool log_is_of_users(const char *path);

#endif
