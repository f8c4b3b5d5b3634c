/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unit.c - text about systemd units: unit files, drop-ins, system.conf, cgroup paths. */
#include "parse/unit.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"

static struct span after(struct span s, size_t n)
{
	return (struct span){ s.p + n, s.n - n };
}

static bool is_continued(struct span line)
{
	while (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	return line.n && line.p[line.n - 1] == '\\';
}

/* Skips the continuation of a line. */
static void skip_continued(struct unit_reader *r)
{
	struct span line;

	while (span_cut(&r->rest, '\n', &line)) {
		struct span trimmed = span_trim(line);

		r->line++;
		/* A comment between the lines neither ends the value nor belongs to it. */
		if (trimmed.n && (trimmed.p[0] == '#' || trimmed.p[0] == ';'))
			continue;
		if (!is_continued(line))
			return;
	}
}

bool unit_value_part(struct span *more, struct span *part)
{
	while (span_cut(more, '\n', part)) {
		bool continued = is_continued(*part);

		*part = span_trim(*part);
		if (!part->n || part->p[0] == '#' || part->p[0] == ';')
			continue;
		if (continued)
			*part = span_trim((struct span){ part->p, part->n - 1 });
		return true;
	}
	return false;
}

bool unit_next(struct unit_reader *r, struct unit_assignment *out)
{
	struct span raw, line;

	while (span_cut(&r->rest, '\n', &raw)) {
		size_t equals;
		bool continued;

		r->line++;
		line = span_trim(raw);
		if (!line.n || line.p[0] == '#' || line.p[0] == ';')
			continue;
		if (line.p[0] == '[' && line.p[line.n - 1] == ']') {
			r->section = (struct span){ line.p + 1, line.n - 2 };
			continue;
		}
		equals = span_find(line, '=');
		continued = is_continued(raw);
		*out = (struct unit_assignment){ .section = r->section, .line = r->line };
		out->key = span_trim((struct span){ line.p, equals });
		if (equals < line.n)
			out->value = span_trim(after(line, equals + 1));
		if (continued) {
			if (out->value.n)
				out->value =
					span_trim((struct span){ out->value.p, out->value.n - 1 });
			out->more = r->rest;
			skip_continued(r);
			out->more.n -= r->rest.n;
		}
		if (equals < line.n && out->key.n)
			return true;
	}
	return false;
}

bool unit_is_name(struct span name)
{
	static const char *const suffixes[] = { ".service", ".scope", ".socket", ".mount",
						".swap" };

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (name.n > strlen(suffixes[i]) && span_ends(name, suffixes[i]))
			return true;
	return false;
}

static bool unit_in_path(struct span path, struct span *unit)
{
	struct span part;

	while (span_cut(&path, '/', &part)) {
		if (unit_is_name(part)) {
			*unit = part;
			return true;
		}
	}
	return false;
}

bool unit_from_cgroup(struct span text, struct span *unit)
{
	struct span line, number, controllers;

	while (span_cut(&text, '\n', &line)) {
		if (!span_cut(&line, ':', &number) || !span_cut(&line, ':', &controllers))
			continue;
		if (controllers.n && !span_is(controllers, "name=systemd"))
			continue;
		if (unit_in_path(line, unit))
			return true;
	}
	return false;
}

bool cgroup_of_controller(struct span text, const char *controller, struct span *path,
			  bool *unified)
{
	struct span line, number, controllers, one;
	bool found = false;

	while (span_cut(&text, '\n', &line)) {
		if (!span_cut(&line, ':', &number) || !span_cut(&line, ':', &controllers))
			continue;
		if (!controllers.n && span_is(number, "0")) {
			*path = line;
			*unified = found = true;
		}
		while (span_cut(&controllers, ',', &one))
			if (span_is(one, controller)) {
				*path = line;
				*unified = false;
				return true;
			}
	}
	return found;
}

bool unit_user_of_cgroup(struct span text, uint64_t *uid)
{
	static const char start[] = "/user-";
	const char *at = span_search(text, start);
	struct span rest, number;

	if (!at)
		return false;
	rest = after(text, (size_t)(at - text.p) + sizeof(start) - 1);
	number = (struct span){ rest.p, span_find(rest, '.') };
	return span_starts(after(rest, number.n), ".slice") && span_u64(number, 10, uid) == 0;
}

bool unit_is_start_link(struct span link, const char *script)
{
	return link.n > 3 && link.p[0] == 'S' && isdigit((unsigned char)link.p[1]) &&
	       isdigit((unsigned char)link.p[2]) && span_is(after(link, 3), script);
}
