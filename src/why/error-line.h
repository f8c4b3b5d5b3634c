/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * error-line.h - lines that read like an error although the table does not have them. No claim is made of such a line:
 * it is where a person would begin to read.
 */
#ifndef WHY_ERROR_LINE_H
#define WHY_ERROR_LINE_H

#include "base/arena.h"
#include "base/span.h"

struct error_finder;

struct error_finder *error_finder_new(struct arena *arena);

/* The first sign of an error in TEXT, at or behind FROM; NULL: there is none. */
const char *error_finder_next(const struct error_finder *finder, struct span text,
			      const char *from);

/* Returns true if LINE says that the sign in it is no error, or an error that was overcome. */
bool error_line_is_calm(struct span line);

#endif
