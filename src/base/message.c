/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/message.h"

#include <stdio.h>

static char last[512];

void vcomplain(const char *format, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	vsnprintf(last, sizeof(last), format, again);
	va_end(again);
	fputs("nvnodecheck: ", stderr);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
}

void complain(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vcomplain(format, ap);
	va_end(ap);
}

const char *last_complaint(void)
{
	return last;
}
