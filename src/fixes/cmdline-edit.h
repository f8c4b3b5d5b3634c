/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmdline-edit.h - changes one kernel argument in a line of text. */
#ifndef CMDLINE_EDIT_H
#define CMDLINE_EDIT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/span.h"

enum cmdline_form {
	CMDLINE_PLAIN, /* arguments alone */
	CMDLINE_ENTRY, /* "options" before them */
	CMDLINE_SHELL, /* NAME="arguments" */
};

/* Returns the whole line with word OLD replaced by NEW. OLD NULL: NEW at the end. NEW NULL: without OLD. NULL: the line
 * lacks OLD, or has another form. */
const char *cmdline_edit(struct arena *arena, struct span line, enum cmdline_form form,
			 const char *old, const char *new);

/* Returns true if TEXT has the argument KEY with VALUE, or with VALUE among several separated by commas. VALUE NULL:
 * with any. */
bool cmdline_has(struct span text, const char *key, const char *value);

#endif
