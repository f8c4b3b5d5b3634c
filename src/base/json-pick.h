/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json-pick.h - some members of an object where they lie in its text: no memory is taken for the others. */
#ifndef JSON_PICK_H
#define JSON_PICK_H

#include "base/json-scan.h"

/* Sets VALUES[i] to the value of the member NAMES[i], as TEXT has it; {0}: there is none. Returns false with ERROR
 * filled unless TEXT is one strict document. */
bool json_pick(struct span text, const char *const *names, size_t count, struct span *values,
	       struct json_error *error);

/* VALUE, as json_pick() found it, if it is a whole number that is not negative. */
bool json_picked_number(struct span value, uint64_t *number);
/* Returns whether VALUE is a string without escapes, and sets TEXT to what is between its quotes. */
bool json_picked_plain(struct span value, struct span *text);
/* The meaning of VALUE if it is a string: N bytes and a NUL, which the caller frees. NULL: it is none, or there is no
 * memory. */
char *json_picked_string(struct span value, size_t *n);

#endif
