/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "parse/bdf.h"

#include <ctype.h>

/* Takes N hexadecimal digits, or at least N with MORE. */
static bool take_hex(struct span *s, size_t n, bool more)
{
	size_t i = 0;

	while (i < s->n && (more || i < n) && isxdigit((unsigned char)s->p[i]))
		i++;
	if (i < n)
		return false;
	*s = (struct span){ s->p + i, s->n - i };
	return true;
}

static bool take_char(struct span *s, char c)
{
	if (!s->n || s->p[0] != c)
		return false;
	*s = (struct span){ s->p + 1, s->n - 1 };
	return true;
}

bool bdf_is(struct span name)
{
	return take_hex(&name, 4, true) && take_char(&name, ':') && take_hex(&name, 2, false) &&
	       take_char(&name, ':') && take_hex(&name, 2, false) && take_char(&name, '.') &&
	       name.n == 1 && name.p[0] >= '0' && name.p[0] <= '7';
}

bool bdf_in_path(struct span path, struct span *bdf)
{
	struct span part;
	bool found = false;

	while (span_cut(&path, '/', &part)) {
		if (!bdf_is(part))
			continue;
		*bdf = part;
		found = true;
	}
	return found;
}
