/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passwd.c - passwd(5): NAME:PASSWORD:UID:GID:GECOS:HOME:SHELL. */
#include "parse/passwd.h"

enum { FIELD_UID = 2, FIELD_HOME = 5, FIELDS };

bool passwd_home(struct span text, uint64_t uid, struct span *home)
{
	struct span line, fields[FIELDS];
	uint64_t number;

	while (span_cut(&text, '\n', &line)) {
		size_t n = 0;

		while (n < FIELDS && span_cut(&line, ':', &fields[n]))
			n++;
		if (n < FIELDS || span_u64(fields[FIELD_UID], 10, &number) || number != uid)
			continue;
		*home = fields[FIELD_HOME];
		return home->n > 0;
	}
	return false;
}

bool passwd_has(struct span text, const char *name)
{
	struct span line, field;

	while (span_cut(&text, '\n', &line))
		if (span_cut(&line, ':', &field) && span_is(field, name))
			return true;
	return false;
}
