/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modinfo.c - finds the version of a kernel module in a stream of its bytes. */
#include "parse/modinfo.h"

#include <ctype.h>
#include <string.h>

static const char vermagic[] = "vermagic=";

void modinfo_begin(struct modinfo_scan *scan)
{
	scan->n = scan->vermagic = 0;
	scan->found = scan->done = scan->unsure = false;
	scan->version[0] = '\0';
}

/* KEY=VALUE between two NULs: a key of identifier characters and dots, a value without control characters except those
 * of a text (descriptions of parameters have line breaks). */
static bool is_entry(struct span s)
{
	size_t equals = span_find(s, '=');

	if (equals == 0 || equals == s.n)
		return false;
	for (size_t i = 0; i < equals; i++)
		if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '_' && s.p[i] != '.')
			return false;
	for (size_t i = equals + 1; i < s.n; i++)
		if (iscntrl((unsigned char)s.p[i]) && s.p[i] != '\n' && s.p[i] != '\t')
			return false;
	return true;
}

/* Keys with the same end as the key that is searched. Such a key looks the same as a version whose first byte follows
 * text of another section without a NUL between them. */
static bool is_other_version(struct span key)
{
	return span_ends(key, "version") && !span_is(key, "srcversion") &&
	       !span_is(key, "rhelversion");
}

/* Takes the version from an entry; false when it contradicts one that is already there. */
static bool note_version(struct modinfo_scan *scan, struct span s)
{
	struct span key = { s.p, span_find(s, '=') }, value;

	if (key.n == s.n)
		return true;
	if (!span_is(key, "version")) {
		scan->unsure |= is_other_version(key);
		return true;
	}
	value = (struct span){ s.p + key.n + 1, s.n - key.n - 1 };
	if (!value.n || value.n >= sizeof(scan->version))
		return true;
	if (scan->version[0])
		return span_is(value, scan->version);
	memcpy(scan->version, value.p, value.n);
	scan->version[value.n] = '\0';
	return true;
}

/* Before the first entry of the section is no NUL, only the last bytes of another section. */
static struct span without_foreign(struct span s)
{
	for (size_t i = s.n; i > 0; i--)
		if (!isprint((unsigned char)s.p[i - 1]) && s.p[i - 1] != '\n' && s.p[i - 1] != '\t')
			return (struct span){ s.p + i, s.n - i };
	return s;
}

/* The string that ends in the NUL before byte AT. */
static struct span string_before(const char *p, size_t at)
{
	size_t start = at - 1;

	while (start > 0 && p[start - 1] != '\0')
		start--;
	return (struct span){ p + start, at - 1 - start };
}

/* Reads the row to both sides of vermagic. */
static void evaluate(struct modinfo_scan *scan)
{
	const char *p = scan->window;
	size_t at = scan->vermagic;
	bool agreed = true;

	while (at > 1) {
		struct span entry = string_before(p, at);

		if (!is_entry(entry)) {
			agreed &= note_version(scan, without_foreign(entry));
			break;
		}
		if (entry.p == p)
			break; /* its beginning may be out of reach */
		agreed &= note_version(scan, entry);
		at = (size_t)(entry.p - p);
	}
	for (at = scan->vermagic; at < scan->n;) {
		struct span rest = { p + at, scan->n - at };
		size_t n = span_find(rest, '\0');

		if (n == rest.n || !is_entry((struct span){ rest.p, n }))
			break;
		agreed &= note_version(scan, (struct span){ rest.p, n });
		at += n + 1;
	}
	if (!agreed)
		scan->version[0] = '\0';
	scan->done = true;
}

/* Looks for vermagic in the window from byte FROM on. */
static void search(struct modinfo_scan *scan, size_t from)
{
	const char *p = scan->window + from, *end = scan->window + scan->n;

	while ((p = memmem(p, (size_t)(end - p), vermagic, sizeof(vermagic) - 1))) {
		if (p > scan->window && p[-1] == '\0') {
			scan->vermagic = (size_t)(p - scan->window);
			scan->found = true;
			return;
		}
		p++;
	}
}

static void keep_last(struct modinfo_scan *scan, size_t n)
{
	size_t drop = scan->n > n ? scan->n - n : 0;

	memmove(scan->window, scan->window + drop, scan->n - drop);
	scan->n -= drop;
	scan->vermagic -= scan->found ? drop : 0;
}

bool modinfo_feed(struct modinfo_scan *scan, struct span block)
{
	while (block.n && !scan->done) {
		size_t before = scan->n, room = sizeof(scan->window) - scan->n;
		size_t part = block.n < room ? block.n : room;
		size_t again = sizeof(vermagic); /* it may lie across two blocks */

		memcpy(scan->window + scan->n, block.p, part);
		scan->n += part;
		block.p += part;
		block.n -= part;
		if (!scan->found) {
			search(scan, before > again ? before - again : 0);
			if (scan->found)
				keep_last(scan, scan->n - scan->vermagic + MODINFO_REACH);
		}
		if (scan->n < sizeof(scan->window))
			continue;
		if (scan->found)
			evaluate(scan);
		else
			keep_last(scan, MODINFO_REACH);
	}
	return !scan->done;
}

bool modinfo_end(struct modinfo_scan *scan)
{
	if (scan->found && !scan->done)
		evaluate(scan);
	return scan->done && (scan->version[0] || !scan->unsure);
}
