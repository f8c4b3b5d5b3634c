/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mountinfo.c - a line of /proc/PID/mountinfo (proc_pid_mountinfo(5)). */
#include "parse/mountinfo.h"

#include <stdio.h>
#include <string.h>

static bool parse_line(struct span line, struct mountinfo *out)
{
	struct span word;

	/* Number, parent's number, major:minor, root within the file system. */
	for (int i = 0; i < 4; i++)
		if (!span_word(&line, &word))
			return false;
	if (!span_word(&line, &out->point) || !span_word(&line, &out->mount_options))
		return false;
	/* Skip any number of optional fields, up to "-". */
	do {
		if (!span_word(&line, &word))
			return false;
	} while (!span_is(word, "-"));
	return span_word(&line, &out->type) && span_word(&line, &out->source) &&
	       span_word(&line, &out->super_options);
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
