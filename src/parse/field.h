/* SPDX-License-Identifier: GPL-2.0-or-later */
/* field.h - text of one field a line, as in /proc and sysfs: "Name: value" and "NAME=value". */
#ifndef PARSE_FIELD_H
#define PARSE_FIELD_H

#include "base/span.h"

/* Gets the value of the first line NAME SEPARATOR VALUE, without blanks at both ends. */
bool field_find(struct span text, char separator, const char *name, struct span *value);
/* Returns the number of lines with that name. */
size_t field_count(struct span text, char separator, const char *name);
/* A number of kibibytes, "528280612 kB", in bytes. */
bool field_kib(struct span value, uint64_t *bytes);

/* Gets the last assignment of a variable of os-release(5). Quotes and backslashes are removed as a shell does. False:
 * there is none, or it is longer than OUT. */
bool field_shell(struct span text, const char *name, char *out, size_t size);

#endif
