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

/* NULL: LINE, of UNIT, is none of them. */
const struct service_word *service_word_find(const char *unit, const char *line);
/* Is a line one of them, from any program, or one of systemd's about how a service ended? */
bool service_word_is_known(struct span line);

#endif
