/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passwd.c - passwd(5): NAME:PASSWORD:UID:GID:GECOS:HOME:SHELL, and group(5). */
#include "parse/passwd.h"

enum { FIELD_UID = 2, FIELD_GID = 3, FIELD_HOME = 5, FIELDS };
enum { GROUP_GID = 2, GROUP_MEMBERS = 3, GROUP_FIELDS };

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

static size_t cut_fields(struct span line, struct span *fields, size_t most)
{
	size_t n = 0;

	while (n < most && span_cut(&line, ':', &fields[n]))
		n++;
	return n;
}

static bool is_number(struct span field, uint64_t wanted)
{
	uint64_t number;

	return span_u64(field, 10, &number) == 0 && number == wanted;
}

bool passwd_has_group(struct span text, uint64_t gid)
{
	struct span line, fields[FIELDS];

	while (span_cut(&text, '\n', &line))
		if (cut_fields(line, fields, FIELDS) > FIELD_GID &&
		    is_number(fields[FIELD_GID], gid) && !is_number(fields[FIELD_UID], 0))
			return true;
	return false;
}

bool group_find(struct span text, uint64_t gid, bool *has_members)
{
	struct span line, member, fields[GROUP_FIELDS];
	bool found = false;

	*has_members = false;
	/* Several lines can give names to one number. */
	while (span_cut(&text, '\n', &line)) {
		size_t n = cut_fields(line, fields, GROUP_FIELDS);

		if (n <= GROUP_GID || !is_number(fields[GROUP_GID], gid))
			continue;
		found = true;
		while (n > GROUP_MEMBERS && span_cut(&fields[GROUP_MEMBERS], ',', &member))
			*has_members |= span_trim(member).n && !span_is(span_trim(member), "root");
	}
	return found;
}
