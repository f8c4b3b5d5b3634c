/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json-pick.h - picks some members of an object out of its text, without memory for the others. */
#ifndef JSON_PICK_H
#define JSON_PICK_H

#include "base/json-scan.h"

/* Sets VALUES[i] to the value of the member NAMES[i], as TEXT has it; {0}: not there. Returns false with ERROR filled
 * unless TEXT is one strict document. */
bool json_pick(struct span text, const char *const *names, size_t count, struct span *values,
	       struct json_error *error);

/* Returns VALUE, as json_pick() found it, if it is a whole number that is not negative. */
bool json_picked_number(struct span value, uint64_t *number);
/* Returns whether VALUE is a string without escapes, and sets TEXT to what is between its quotes. */
bool json_picked_plain(struct span value, struct span *text);
/* Returns the decoded string VALUE: N bytes and a NUL, which the caller frees. NULL: not a string, or no memory. */
char *json_picked_string(struct span value, size_t *n);

#endif
