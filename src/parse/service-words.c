/* SPDX-License-Identifier: GPL-2.0-or-later */
/* service-words.c - messages of services that cannot start, with their meaning: data/service-words.tsv. */
#include "parse/service-words.h"

#include <string.h>

#include "base/array.h"

static const struct service_word words[] = {
#include "service-words.inc"
};

static bool is_word_of(const struct service_word *word, const char *unit)
{
	size_t n = strlen(word->unit);

	return strcmp(word->unit, "*") == 0 ||
	       (strncmp(unit, word->unit, n) == 0 && strcmp(unit + n, ".service") == 0);
}

const struct service_word *service_word_find(const char *unit, const char *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (is_word_of(&words[i], unit) && strstr(line, words[i].text))
			return &words[i];
	return NULL;
}

struct span service_word_in(struct span line)
{
	static const char *const systemd[] = {
		"Failed with result '", "Main process exited, code=",
		"Control process exited, code=", "Scheduled restart job, restart counter is at",
		"Start request repeated too quickly",
		/* of systemd 219 */
		"main process exited, code=", "control process exited, code=",
		" entered failed state.", ".service failed."
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (span_search(line, words[i].text))
			return (struct span){ span_search(line, words[i].text),
					      strlen(words[i].text) };
	for (size_t i = 0; i < ARRAY_SIZE(systemd); i++)
		if (span_search(line, systemd[i]))
			return line;
	return (struct span){ 0 };
}
