/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bls.c - entries in the form of the Boot Loader Specification (UAPI.1), as systemd-boot and the GRUB of Fedora and
 * RHEL read them.
 */
#include "parse/bls.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- lines ---- */

/* Cuts "KEY VALUE". GRUB divides at the first blank, and only without one at the first tab. */
static bool cut_key(struct span line, enum bls_reader reader, struct span *key, struct span *value)
{
	size_t at;

	if (reader == BLS_SYSTEMD)
		line = span_trim(line);
	while (line.n && (*line.p == ' ' || *line.p == '\t')) {
		line.p++;
		line.n--;
	}
	for (at = 0; at < line.n; at++)
		if (line.p[at] == ' ' || (line.p[at] == '\t' && (reader == BLS_SYSTEMD ||
								 span_find(line, ' ') == line.n)))
			break;
	*key = (struct span){ line.p, at };
	while (at < line.n && (line.p[at] == ' ' || line.p[at] == '\t'))
		at++;
	*value = (struct span){ line.p + at, line.n - at };
	return key->n && value->n;
}

static void set(struct arena *arena, const char **field, struct span value)
{
	*field = arena_strndup(arena, value.p, value.n);
}

static void set_first(struct arena *arena, const char **field, struct span value)
{
	if (!*field)
		set(arena, field, value);
}

static void take_line(struct bls_entry *e, struct arena *arena, struct span key, struct span value,
		      enum bls_reader reader)
{
	e->grub |= span_starts(key, "grub_");
	if (span_is(key, "title"))
		set_first(arena, &e->title, value);
	else if (span_is(key, "version"))
		set_first(arena, &e->version, value);
	else if (span_is(key, "machine-id"))
		set_first(arena, &e->machine_id, value);
	else if (span_is(key, "sort-key"))
		set_first(arena, &e->sort_key, value);
	else if (span_is(key, "linux"))
		set_first(arena, &e->kernel, value);
	else if (reader == BLS_SYSTEMD && (span_is(key, "efi") || span_is(key, "uki")))
		set_first(arena, &e->uki, value);
	else if (span_is(key, "initrd"))
		set(arena, &e->initrd, value);
	else if (span_is(key, "options") && e->options && reader == BLS_SYSTEMD)
		e->options = arena_printf(arena, "%s %.*s", e->options, SPAN_FMT(value));
	else if (span_is(key, "options"))
		set_first(arena, &e->options, value);
}

static bool at_end(struct span s)
{
	return s.n == 0;
}

static bool at(struct span s, char c)
{
	return s.n && *s.p == c;
}

static void step(struct span *s, size_t n)
{
	s->p += n;
	s->n -= n;
}

static size_t run_of(struct span s, int (*is)(int))
{
	size_t n = 0;

	while (n < s.n && is((unsigned char)s.p[n]))
		n++;
	return n;
}

static bool cut_number(struct span *s, uint64_t *number)
{
	size_t n = run_of(*s, isdigit);
	bool is_one = span_u64((struct span){ s->p, n }, 10, number) == 0 && *number <= INT_MAX;

	step(s, n);
	return is_one;
}

/* Boot counting: "NAME+LEFT.conf", "NAME+LEFT-DONE.conf". NAME of the stem. */
static struct span take_counter(struct bls_entry *e, struct span stem)
{
	struct span rest = stem;
	size_t end = stem.n;

	while (end > 0 && stem.p[end - 1] != '+')
		end--;
	step(&rest, end);
	if (end == 0 || !cut_number(&rest, &e->tries_left))
		return stem;
	if (at(rest, '-')) {
		step(&rest, 1);
		if (!cut_number(&rest, &e->tries_done))
			return stem;
	}
	e->counted = at_end(rest);
	return e->counted ? (struct span){ stem.p, end - 1 } : stem;
}

bool bls_has_suffix(struct span name, const char *suffix)
{
	size_t n = strlen(suffix);

	return name.n >= n && strncasecmp(name.p + name.n - n, suffix, n) == 0;
}

static bool is_entry_name(struct span name, enum bls_reader reader)
{
	if (name.n <= 5 || name.p[0] == '.')
		return false;
	return reader == BLS_GRUB ? span_ends(name, ".conf") : bls_has_suffix(name, ".conf");
}

bool bls_read(struct bls_entry *entry, struct arena *arena, struct span name, struct span text,
	      enum bls_reader reader)
{
	struct span stem, line, key, value;

	*entry = (struct bls_entry){ 0 };
	if (!is_entry_name(name, reader))
		return false;
	stem = (struct span){ name.p, name.n - 5 };
	if (reader == BLS_GRUB) {
		set(arena, &entry->id, stem);
	} else {
		stem = take_counter(entry, stem);
		entry->id = arena_printf(arena, "%.*s%.5s", SPAN_FMT(stem), name.p + name.n - 5);
	}
	while (span_cut(&text, '\n', &line)) {
		if (span_starts(span_trim(line), "#"))
			continue;
		if (cut_key(line, reader, &key, &value))
			take_line(entry, arena, key, value, reader);
		else if (reader == BLS_GRUB)
			break; /* GRUB reads no further, also at an empty line */
	}
	return true;
}

const char *bls_default(struct span text, struct arena *arena)
{
	struct span line, key, value;
	const char *found = NULL;

	while (span_cut(&text, '\n', &line))
		if (cut_key(line, BLS_SYSTEMD, &key, &value) && span_is(key, "default"))
			set(arena, &found, value);
	return found;
}

/* ---- versions ---- */

static int compare_bytes(struct span a, struct span b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int order = n ? memcmp(a.p, b.p, n) : 0;

	return order ? order : a.n < b.n ? -1 : a.n > b.n;
}

/* Numbers of any length: without leading zeros, the longer one is larger. */
static int compare_numbers(struct span a, struct span b)
{
	while (at(a, '0'))
		step(&a, 1);
	while (at(b, '0'))
		step(&b, 1);
	if (a.n != b.n)
		return a.n < b.n ? -1 : 1;
	return compare_bytes(a, b);
}

/* Takes a run of digits or of letters, as A begins, off both. */
static int compare_runs(struct span *a, struct span *b, bool digits)
{
	int (*is)(int) = digits ? isdigit : isalpha;
	struct span x = { a->p, run_of(*a, is) }, y = { b->p, run_of(*b, is) };

	step(a, x.n);
	step(b, y.n);
	return digits ? compare_numbers(x, y) : compare_bytes(x, y);
}

static void pass_separators(struct span *s, const char *kept)
{
	while (s->n && !isalnum((unsigned char)*s->p) && !strchr(kept, *s->p))
		step(s, 1);
}

int bls_compare_rpm(struct span a, struct span b)
{
	for (;;) {
		bool digits;
		int order;

		pass_separators(&a, "~+");
		pass_separators(&b, "~+");
		/* A tilde sorts before everything, even the end; a plus only after the end. */
		if (at(a, '~') || at(b, '~')) {
			if (!at(a, '~') || !at(b, '~'))
				return at(a, '~') ? -1 : 1;
			step(&a, 1);
			step(&b, 1);
			continue;
		}
		if (at_end(a) || at_end(b))
			return at_end(a) ? (at_end(b) ? 0 : -1) : 1;
		if (at(a, '+') || at(b, '+')) {
			if (!at(a, '+') || !at(b, '+'))
				return at(a, '+') ? -1 : 1;
			step(&a, 1);
			step(&b, 1);
			continue;
		}
		digits = isdigit((unsigned char)*a.p);
		if (digits != !!isdigit((unsigned char)*b.p))
			return digits ? 1 : -1;
		order = compare_runs(&a, &b, digits);
		if (order)
			return order;
	}
}

/* Compares by a mark, which a name may have: names with it sort first. The mark is removed. */
static int compare_marks(struct span *a, struct span *b, char mark)
{
	if (at(*a, mark) != at(*b, mark))
		return at(*a, mark) ? -1 : 1;
	if (at(*a, mark)) {
		step(a, 1);
		step(b, 1);
	}
	return 0;
}

int bls_compare_uapi(const char *x, const char *y)
{
	struct span a = span_of(x ? x : ""), b = span_of(y ? y : "");

	for (;;) {
		bool digits;
		int order;

		pass_separators(&a, "~-^.");
		pass_separators(&b, "~-^.");
		order = compare_marks(&a, &b, '~');
		if (order)
			return order;
		if (at_end(a) || at_end(b))
			return at_end(a) ? (at_end(b) ? 0 : -1) : 1;
		for (const char *mark = "-^."; *mark && !order; mark++)
			order = compare_marks(&a, &b, *mark);
		if (order)
			return order;
		digits = (a.n && isdigit((unsigned char)*a.p)) ||
			 (b.n && isdigit((unsigned char)*b.p));
		/* A number is newer than none. */
		if (digits && !!run_of(a, isdigit) != !!run_of(b, isdigit))
			return run_of(a, isdigit) ? 1 : -1;
		order = compare_runs(&a, &b, digits);
		if (order)
			return order;
	}
}

/* ---- menus ---- */

static struct span cut_last(struct span *s)
{
	for (size_t i = s->n; i > 0; i--) {
		struct span tail = { s->p + i, s->n - i };

		if (s->p[i - 1] != '-')
			continue;
		s->n = i - 1;
		return tail;
	}
	return (struct span){ 0 };
}

/* A file's name is taken for name-version-release of a package; with fewer dashes, the parts that
 * are missing are the last ones. */
struct package {
	struct span name, version, release;
};

static struct package split(const char *id)
{
	struct package p = { .name = span_of(id) };

	p.release = cut_last(&p.name);
	p.version = cut_last(&p.name);
	if (!p.version.p) {
		p.version = p.release;
		p.release = (struct span){ 0 };
	}
	return p;
}

/* Newest first. */
static int compare_grub(const void *x, const void *y)
{
	struct package a = split(((const struct bls_entry *)x)->id);
	struct package b = split(((const struct bls_entry *)y)->id);
	int order = bls_compare_rpm(b.name, a.name);

	if (!order)
		order = bls_compare_rpm(b.version, a.version);
	return order ? order : bls_compare_rpm(b.release, a.release);
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static bool is_given_up(const struct bls_entry *e)
{
	return e->counted && e->tries_left == 0;
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_systemd(const void *x, const void *y)
{
	const struct bls_entry *a = x, *b = y;
	int order = 0;

	if (is_given_up(a) != is_given_up(b))
		return is_given_up(a) ? 1 : -1;
	if (!a->sort_key != !b->sort_key)
		return a->sort_key ? -1 : 1;
	if (a->sort_key) {
		order = strcmp(a->sort_key, b->sort_key);
		if (!order)
			order = compare_text(a->machine_id, b->machine_id);
		if (!order)
			order = bls_compare_uapi(b->version, a->version);
	}
	if (!order)
		order = bls_compare_uapi(b->id, a->id);
	if (order || !a->counted || !b->counted)
		return order;
	return a->tries_left != b->tries_left ? compare_u64(b->tries_left, a->tries_left)
					      : compare_u64(a->tries_done, b->tries_done);
}

size_t bls_sort(struct bls_entry *entries, size_t count, enum bls_reader reader)
{
	size_t kept = 0;

	if (count > 1)
		qsort(entries, count, sizeof(*entries),
		      reader == BLS_GRUB ? compare_grub : compare_systemd);
	for (size_t i = 0; i < count; i++)
		if (reader != BLS_GRUB || !kept || compare_grub(&entries[kept - 1], &entries[i]))
			entries[kept++] = entries[i];
	return kept;
}
