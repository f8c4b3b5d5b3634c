/* SPDX-License-Identifier: GPL-2.0-or-later */
/* page.h - text for a terminal, a pager or a file. */
#ifndef PAGE_H
#define PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/exit-status.h"

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_RED, STYLE_YELLOW, STYLE_GREEN, STYLE_BLUE };

/* The destination of text: standard output, or a pager if standard output is a terminal and the caller wants one. */
struct page {
	FILE *out;
	bool color;
	int width;  /* of a line */
	int rows;   /* of the screen, or of a usual one */
	char *text; /* kept until the end, to see whether it fits the screen */
	size_t size;
	bool pager;
};

/* PAGER: long text may go through a pager if standard output is a terminal. */
void page_begin(struct page *page, enum color color, bool pager);
/* Escape sequences, or "" without colour. */
const char *page_style(const struct page *page, enum style style);
/* Prints to PAGE. FORMAT and page_style() are written unchanged; all other arguments of %s are escaped for a
 * terminal (escape.h). Returns the number of columns written. */
int page_printf(const struct page *page, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Prints TEXT as a heading, after an empty line. */
void page_heading(struct page *page, const char *text);
/* Prints NAME, dimmed, in a column of WIDTH after INDENT, with TEXT wrapped beside it. Without TEXT, prints nothing. */
void page_label(const struct page *page, int indent, int width, const char *name, const char *text);
/* Returns EXIT_CANNOT if not all could be written. */
enum exit_status page_end(struct page *page, enum exit_status status);

#endif
