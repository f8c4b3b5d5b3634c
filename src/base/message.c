/* SPDX-License-Identifier: GPL-2.0-or-later */
/* message.c - messages to the user on standard error. */
#include "base/message.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/escape.h"

static char last[512];

/* Without memory for a line. */
static void write_last(void)
{
	fputs("nvnodecheck: ", stderr);
	escape_text(stderr, SINK_TERMINAL, last);
	putc('\n', stderr);
}

/* Writes the line with one call, so that lines of several processes do not mix. */
__attribute__((format(printf, 1, 0))) static void write_line(const char *format, va_list ap)
{
	_cleanup_free_ char *line = NULL;
	size_t n;
	FILE *memory = open_memstream(&line, &n);

	if (memory) {
		fputs("nvnodecheck: ", memory);
		escape_vprintf(memory, SINK_TERMINAL, NULL, format, ap);
		putc('\n', memory);
	}
	if (!memory || fclose(memory))
		write_last();
	else
		fwrite(line, 1, n, stderr);
}

void vcomplain(const char *format, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	vsnprintf(last, sizeof(last), format, again);
	va_end(again);
	write_line(format, ap);
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
