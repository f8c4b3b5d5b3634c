/* SPDX-License-Identifier: GPL-2.0-or-later */
/* version.c - compares versions, and finds the version of software in names and texts of its files. */
#include "parse/version.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"

static struct span after(struct span s, size_t n)
{
	return (struct span){ s.p + n, s.n - n };
}

/* Returns how many bytes of digits and dots S begins with; the first must be a digit. */
static size_t number_run(struct span s)
{
	size_t n = 0;

	if (!s.n || !isdigit((unsigned char)s.p[0]))
		return 0;
	while (n < s.n && (isdigit((unsigned char)s.p[n]) || s.p[n] == '.'))
		n++;
	return n;
}

bool version_of_library(struct span name, const char *stem, struct span *version)
{
	size_t n = strlen(stem);

	if (!span_starts(name, stem))
		return false;
	*version = after(name, n);
	if (!version->n)
		return true;
	if (version->p[0] != '.')
		return false;
	*version = after(*version, 1);
	return version->n && number_run(*version) == version->n;
}

bool version_is_whole(struct span version)
{
	return span_find(version, '.') < version.n;
}

bool version_of_dist_info(struct span name, struct span *project, struct span *version)
{
	static const char *const suffixes[] = { ".dist-info", ".egg-info", ".egg" };
	size_t dash, i = 0;

	while (i < 3 && !span_ends(name, suffixes[i]))
		i++;
	if (i == 3)
		return false;
	name.n -= strlen(suffixes[i]);
	dash = span_find(name, '-');
	*project = (struct span){ name.p, dash };
	if (dash == name.n || !dash)
		return false;
	*version = after(name, dash + 1);
	version->n = span_find(*version, '-');
	return version->n > 0;
}

bool version_define(struct span text, const char *name, uint64_t *value)
{
	struct span line, word;

	while (span_cut(&text, '\n', &line)) {
		if (!span_word(&line, &word) || !span_is(word, "#define") ||
		    !span_word(&line, &word) || !span_is(word, name))
			continue;
		return span_word(&line, &word) && span_u64(word, 0, value) == 0;
	}
	return false;
}

/* The next string in double quotes; escapes do not occur in versions. */
static bool next_string(struct span *rest, struct span *string)
{
	size_t begin = span_find(*rest, '"'), end;

	if (begin == rest->n)
		return false;
	*rest = after(*rest, begin + 1);
	end = span_find(*rest, '"');
	if (end == rest->n)
		return false;
	*string = (struct span){ rest->p, end };
	*rest = after(*rest, end + 1);
	return true;
}

bool version_of_cuda(struct span text, struct span *version)
{
	struct span string;

	while (next_string(&text, &string))
		if (span_is(string, "cuda"))
			break;
	while (next_string(&text, &string))
		if (span_is(string, "version"))
			return next_string(&text, version) && version->n > 0;
	return false;
}

bool version_of_ofed(struct span text, struct span *version)
{
	static const char *const marks[] = { "MLNX_OFED_LINUX-", "OFED-internal-", "OFED-" };

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		const char *at = span_search(text, marks[i]);
		struct span rest;
		size_t n = 0;

		if (!at)
			continue;
		rest = after(text, (size_t)(at - text.p) + strlen(marks[i]));
		if (!number_run(rest))
			continue;
		while (n < rest.n && (isalnum((unsigned char)rest.p[n]) ||
				      (rest.p[n] && strchr(".-", rest.p[n]))))
			n++;
		*version = (struct span){ rest.p, n };
		return true;
	}
	return false;
}

struct span version_upstream(struct span version)
{
	size_t colon = span_find(version, ':');

	if (colon < version.n)
		version = after(version, colon + 1);
	return (struct span){ version.p, span_find(version, '-') };
}

bool version_after(struct span text, const char *mark, struct span *version)
{
	const char *at = span_search(text, mark);

	if (!at)
		return false;
	at += strlen(mark);
	*version = (struct span){ at, (size_t)(text.p + text.n - at) };
	version->n = number_run(*version);
	while (version->n && version->p[version->n - 1] == '.')
		version->n--;
	return version->n > 0;
}

bool version_of_sources(struct span folder, struct span *name, struct span *version)
{
	size_t dash = folder.n;

	while (dash > 0 && folder.p[dash - 1] != '-')
		dash--;
	if (dash < 2)
		return false;
	*name = (struct span){ folder.p, dash - 1 };
	*version = after(folder, dash);
	return number_run(*version) > 0;
}

bool version_is_driver(struct span s)
{
	size_t dots = 0, digits = 0, first = 0;

	if (!s.n || number_run(s) != s.n || s.p[s.n - 1] == '.')
		return false;
	for (size_t i = 0; i < s.n; i++) {
		digits = s.p[i] == '.' ? 0 : digits + 1;
		dots += s.p[i] == '.';
		if (s.p[i] == '.' && i && s.p[i - 1] == '.')
			return false;
		if (!dots)
			first = digits;
		else if (digits > 3)
			return false;
	}
	return first == 3 && (dots == 1 || dots == 2);
}

static void end_of_run(struct version_scan *scan)
{
	struct span run = { scan->run, scan->n };

	if (!scan->fresh || scan->n >= sizeof(scan->run) || !version_is_driver(run))
		return;
	scan->run[scan->n] = '\0';
	if (!scan->found[0])
		memcpy(scan->found, scan->run, sizeof(scan->found));
	else if (strcmp(scan->found, scan->run) != 0)
		scan->several = true;
}

void version_scan_feed(struct version_scan *scan, struct span bytes)
{
	for (size_t i = 0; i < bytes.n; i++) {
		char c = bytes.p[i];

		if (c == '\0') {
			end_of_run(scan);
			scan->n = 0;
			scan->fresh = true;
		} else if ((c >= '0' && c <= '9') || c == '.') {
			if (scan->n < sizeof(scan->run))
				scan->run[scan->n++] = c;
		} else {
			scan->fresh = false;
		}
	}
}

static void end_of_version(struct version_mark *mark)
{
	mark->is_whole = mark->n && mark->n < sizeof(mark->found);
	mark->found[mark->is_whole ? mark->n : 0] = '\0';
	mark->seen = 0;
	mark->n = 0;
}

/* Returns how much of MARK matches after C, when SEEN bytes of it matched before. */
static size_t mark_seen(const char *mark, size_t seen, char c)
{
	while (mark[seen] != c) {
		size_t shorter = seen ? seen - 1 : 0;

		if (!seen)
			return 0;
		while (shorter && memcmp(mark, mark + seen - shorter, shorter) != 0)
			shorter--;
		seen = shorter;
	}
	return seen + 1;
}

bool version_mark_feed(struct version_mark *mark, struct span bytes)
{
	const char *end = bytes.p + bytes.n;

	for (const char *p = bytes.p; p < end && !mark->is_whole; p++) {
		if (!mark->seen && *p != mark->mark[0]) {
			p = memchr(p, mark->mark[0], (size_t)(end - p));
			if (!p)
				break;
		}
		if (mark->mark[mark->seen])
			mark->seen = mark_seen(mark->mark, mark->seen, *p);
		else if (!isdigit((unsigned char)*p) && (!mark->n || *p != '.'))
			end_of_version(mark);
		else if (mark->n < sizeof(mark->found))
			mark->found[mark->n++] = *p;
	}
	return mark->is_whole;
}

static void begin_stanza(struct version_dpkg *dpkg, struct span name, bool (*wanted)(struct span))
{
	dpkg->package[0] = '\0';
	dpkg->state[0] = '\0';
	dpkg->held = false;
	if (name.n >= sizeof(dpkg->package) || !wanted(name))
		return;
	memcpy(dpkg->package, name.p, name.n);
	dpkg->package[name.n] = '\0';
}

/* "install ok installed": the selection, the error flag and the state (dpkg(1)). */
static void read_status(struct version_dpkg *dpkg, struct span text)
{
	struct span word, last = { NULL, 0 };

	dpkg->held = span_word(&text, &word) && span_is(word, "hold");
	while (span_word(&text, &word))
		last = word;
	if (last.n >= sizeof(dpkg->state))
		last.n = 0;
	memcpy(dpkg->state, last.n ? last.p : "", last.n);
	dpkg->state[last.n] = '\0';
}

bool version_dpkg_line(struct version_dpkg *dpkg, struct span line,
		       bool (*wanted)(struct span name))
{
	struct span value;

	if (span_starts(line, "Package: ")) {
		begin_stanza(dpkg, span_trim(after(line, strlen("Package: "))), wanted);
		return false;
	}
	if (!dpkg->package[0])
		return false;
	if (span_starts(line, "Status: "))
		read_status(dpkg, span_trim(after(line, strlen("Status: "))));
	if (!dpkg->state[0] || !span_starts(line, "Version: "))
		return false;
	value = version_upstream(span_trim(after(line, strlen("Version: "))));
	if (!value.n || value.n >= sizeof(dpkg->version))
		return false;
	memcpy(dpkg->version, value.p, value.n);
	dpkg->version[value.n] = '\0';
	return true;
}

int version_compare(const char *a, const char *b)
{
	while (*a || *b) {
		unsigned long x = 0, y = 0;

		for (; isdigit((unsigned char)*a); a++)
			x = x * 10 + (unsigned long)(*a - '0');
		for (; isdigit((unsigned char)*b); b++)
			y = y * 10 + (unsigned long)(*b - '0');
		if (x != y)
			return x < y ? -1 : 1;
		/* All characters except digits separate. A suffix after "-" or "+" that only one version has is
		 * ignored. */
		while (*a && !isdigit((unsigned char)*a))
			a++;
		while (*b && !isdigit((unsigned char)*b))
			b++;
	}
	return 0;
}
