/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mountinfo.c - a line of /proc/PID/mountinfo (proc_pid_mountinfo(5)). */
#include "parse/mountinfo.h"

#include <stdio.h>
#include <string.h>

/* Cuts a field and the blank after it. The kernel writes one blank between fields, and blanks in a field as \040, so that
 * a field can be empty (fs/proc_namespace.c, show_mountinfo()). */
static bool cut_field(struct span *line, struct span *field)
{
	size_t n = span_find(*line, ' ');

	if (n == line->n)
		return false;
	*field = (struct span){ line->p, n };
	*line = (struct span){ line->p + n + 1, line->n - n - 1 };
	return true;
}

static bool parse_rest(struct span line, struct mountinfo *out)
{
	struct span field;

	if (!cut_field(&line, &out->mount_options))
		return false;
	/* Skip any number of optional fields, up to "-". */
	do {
		if (!cut_field(&line, &field))
			return false;
	} while (!span_is(field, "-"));
	out->super_options = line;
	return cut_field(&out->super_options, &out->type) && out->type.n &&
	       cut_field(&out->super_options, &out->source) && out->super_options.n;
}

static bool parse_line(struct span line, struct mountinfo *out)
{
	struct span field;

	*out = (struct mountinfo){ 0 };
	/* Number, parent's number, major:minor, root within the file system. */
	for (int i = 0; i < 4; i++)
		if (!cut_field(&line, &field))
			return false;
	if (!cut_field(&line, &out->point) || !out->point.n)
		return false;
	out->is_whole = parse_rest(line, out);
	if (!out->is_whole)
		*out = (struct mountinfo){ .point = out->point };
	return true;
}

bool mountinfo_next(struct span *rest, struct mountinfo *out, size_t *bad)
{
	struct span line;

	while (span_cut(rest, '\n', &line)) {
		if (parse_line(line, out))
			return true;
		*bad += span_trim(line).n > 0;
	}
	return false;
}

static bool is_octal(struct span s, size_t at)
{
	if (at + 3 >= s.n || s.p[at] != '\\')
		return false;
	for (size_t i = at + 1; i < at + 4; i++)
		if (s.p[i] < '0' || s.p[i] > '7')
			return false;
	return true;
}

bool mountinfo_unescape(struct span text, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++, n++) {
		if (n + 1 >= size)
			return false;
		out[n] = text.p[i];
		if (is_octal(text, i)) {
			out[n] = (char)((text.p[i + 1] - '0') << 6 | (text.p[i + 2] - '0') << 3 |
					(text.p[i + 3] - '0'));
			i += 3;
		}
	}
	out[n] = '\0';
	return true;
}

bool mount_has_option(struct span options, struct span option)
{
	struct span one;

	while (span_cut(&options, ',', &one))
		if (one.n == option.n && memcmp(one.p, option.p, one.n) == 0)
			return true;
	return false;
}

static bool append(char *out, size_t size, struct span option)
{
	size_t n = strlen(out);
	int more = snprintf(out + n, size - n, "%s%.*s", n ? "," : "", SPAN_FMT(option));

	return more >= 0 && (size_t)more < size - n;
}

bool mountinfo_options(const struct mountinfo *line, char *out, size_t size)
{
	bool read_only = mount_has_option(line->mount_options, SPAN("ro")) ||
			 mount_has_option(line->super_options, SPAN("ro"));
	struct span both[] = { line->mount_options, line->super_options }, option;

	snprintf(out, size, "%s", read_only ? "ro" : "rw");
	for (size_t i = 0; i < 2; i++)
		while (span_cut(&both[i], ',', &option))
			if (!span_is(option, "ro") && !span_is(option, "rw") &&
			    !mount_has_option(span_of(out), option) && !append(out, size, option))
				return false;
	return true;
}
