/* SPDX-License-Identifier: GPL-2.0-or-later */
/* service-words.h - messages of services that cannot start, with their meaning: data/service-words.tsv. */
#ifndef PARSE_SERVICE_WORDS_H
#define PARSE_SERVICE_WORDS_H

#include <stdbool.h>

#include "base/span.h"

/* What a line misses, where the node can show that it is there now. */
enum service_need { NEEDS_NOTHING, NEEDS_DRIVER, NEEDS_VERSIONS };

struct service_word {
	const char *unit; /* without .service; * is any */
	const char *text; /* that the line has */
	const char *cause;
	const char *remedy;
	enum service_need needs;
};

/* Returns the row of LINE, which UNIT wrote; NULL: no row. */
const struct service_word *service_word_find(const char *unit, const char *line);
/* Finds the text of a row, of any program, in LINE. Returns the whole line if systemd reports there how a service
 * ended, and an empty span if no row matches. */
struct span service_word_in(struct span line);

#endif
