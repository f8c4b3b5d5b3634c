/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write-why.c - the reason why a file could not be written. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "txn/write-private.h"

__attribute__((format(printf, 3, 0))) static void set_why(struct writer *w, const char *path,
							  const char *format, va_list ap)
{
	size_t n = (size_t)snprintf(w->why, sizeof(w->why), "%s: %s", path,
				    w->refused ? "refused: " : "");

	if (n < sizeof(w->why))
		vsnprintf(w->why + n, sizeof(w->why) - n, format, ap);
}

int write_refuse(struct writer *w, int error, const char *path, const char *format, ...)
{
	va_list ap;

	w->refused = true;
	w->overtaken = false;
	va_start(ap, format);
	set_why(w, path, format, ap);
	va_end(ap);
	return error;
}

int write_fail(struct writer *w, int error, const char *path, const char *format, ...)
{
	va_list ap;

	w->refused = w->overtaken = false;
	va_start(ap, format);
	set_why(w, path, format, ap);
	va_end(ap);
	return error;
}

int write_was_changed(struct writer *w, const char *path, const char *format, ...)
{
	va_list ap;

	w->refused = false;
	w->overtaken = true;
	va_start(ap, format);
	set_why(w, path, format, ap);
	va_end(ap);
	return -ESTALE;
}

int write_failed(struct writer *w, const char *path, const char *what)
{
	int error = errno ? errno : EIO;

	return write_fail(w, -error, path, "%s: %s%s", what, strerror(error),
			  error == EPERM ? " (is it immutable? lsattr shows that)" : "");
}
