/* SPDX-License-Identifier: GPL-2.0-or-later */
/* message.h - messages to the user on standard error. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdarg.h>

/* Prints one line on standard error, with the program's name before it. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
void vcomplain(const char *format, va_list ap) __attribute__((format(printf, 1, 0)));
/* The text of the last such line; "" before the first. */
const char *last_complaint(void);

#endif
