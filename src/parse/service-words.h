/* SPDX-License-Identifier: GPL-2.0-or-later */
/* service-words.h - messages of services that cannot start, with their meaning: data/service-words.tsv. */
#ifndef PARSE_SERVICE_WORDS_H
#define PARSE_SERVICE_WORDS_H

#include <stdbool.h>

#include "base/span.h"

struct service_word {
	const char *unit; /* without .service; * is any */
	const char *text; /* that the line has */
	const char *cause;
	const char *remedy;
};

/* Returns the row of LINE, which UNIT wrote; NULL: no row. */
const struct service_word *service_word_find(const char *unit, const char *line);
/* Finds the text of a row, of any program, in LINE. Returns the whole line if systemd reports there how a service
 * ended, and an empty span if no row matches. */
struct span service_word_in(struct span line);

#endif
