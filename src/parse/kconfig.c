/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kconfig.c - a kernel's .config: CONFIG_X=y, CONFIG_X="text", # CONFIG_X is not set. */
#include "parse/kconfig.h"

bool kconfig_find(struct span text, const char *const *names, struct span *values, size_t n)
{
	struct span line;
	bool any = false;

	for (size_t i = 0; i < n; i++)
		values[i] = (struct span){ 0 };
	while (span_cut(&text, '\n', &line)) {
		size_t equals = span_find(line, '=');

		if (equals == line.n || !span_starts(line, "CONFIG_"))
			continue;
		any = true;
		for (size_t i = 0; i < n; i++)
			if (span_is((struct span){ line.p, equals }, names[i]))
				values[i] = span_trim(
					(struct span){ line.p + equals + 1, line.n - equals - 1 });
	}
	return any;
}
