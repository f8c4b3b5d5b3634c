/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * error-line.h - lines that read like an error but are not in the table. No claim is made about such a line: a person
 * would begin to read there.
 */
#ifndef WHY_ERROR_LINE_H
#define WHY_ERROR_LINE_H

#include "base/arena.h"
#include "base/span.h"

struct error_finder;

struct error_finder *error_finder_new(struct arena *arena);

/* Returns the first sign of an error in TEXT at or after FROM; NULL: none. */
const char *error_finder_next(const struct error_finder *finder, struct span text,
			      const char *from);

/* Returns true if LINE says that its sign is not an error, or that the error was overcome. */
bool error_line_is_calm(struct span line);

#endif
