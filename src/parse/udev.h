/* SPDX-License-Identifier: GPL-2.0-or-later */
/* udev.h - rules of udev(7): KEY{ATTRIBUTE}OPERATOR"VALUE", with commas between, one rule a line. */
#ifndef PARSE_UDEV_H
#define PARSE_UDEV_H

#include <stdbool.h>

#include "base/span.h"

/* Reads the next rule, without comments and empty lines. A backslash before a newline continues the line. LINE, which
 * begins at 0, is the number of the rule's first line, and NEXT that of the line after it. */
struct udev_reader {
	struct span rest;
	size_t line; /* of the rule that was given last, from 1 */
	size_t next; /* lines before REST */
};

bool udev_rule_next(struct udev_reader *reader, struct span *rule);

struct udev_token {
	struct span key;       /* KERNELS, RUN, NAME */
	struct span attribute; /* in the braces; may be empty */
	struct span op;	       /* ==, !=, =, +=, := */
	struct span value;     /* between the quotes, as written */
};

/* Cuts the next part off RULE. False at its end, and if the part has another form. */
bool udev_token_next(struct span *rule, struct udev_token *token);
/* Returns true if it is compared with a value, for equality. */
bool udev_is_match(const struct udev_token *token);

#endif
