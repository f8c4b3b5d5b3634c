/* SPDX-License-Identifier: GPL-2.0-or-later */
/* table-page.h - a self-contained page of tables that sort by a click; the one with the id "facts" has a filter. */
#ifndef TABLE_PAGE_H
#define TABLE_PAGE_H

/* Begins the page, up to the inside of <h1>. COMMAND is a constant of this program and is not escaped. */
void table_page_begin(const char *command);
void table_page_filter(const char *examples);
void table_page_end(void);

#endif
