/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reference.c - decides whether the thing that a file names exists, is missing or has changed. */
#include "query/reference.h"

#include <inttypes.h>

#include "parse/cpulist.h"

/* Numbers of a list of processors count from 0. */
static enum reference_state processors_state(const struct reference *r)
{
	struct span rest = span_of(r->name.value), range;
	uint64_t count, highest = 0, last;

	if (span_u64(span_of(r->found.value), 10, &count))
		return REFERENCE_UNSURE;
	while (span_cut(&rest, ',', &range)) {
		size_t dash = span_find(range, '-');
		struct span number = dash < range.n ? (struct span){ range.p + dash + 1,
								     range.n - dash - 1 }
						    : range;

		if (span_u64(number, 10, &last))
			return REFERENCE_UNSURE;
		highest = last > highest ? last : highest;
	}
	return highest < count ? REFERENCE_EXISTS : REFERENCE_CHANGED;
}

static enum reference_state amount_state(const struct reference *r)
{
	uint64_t there, said;

	if (!is_known(r->claim) || span_u64(span_of(r->claim.value), 10, &said) ||
	    span_u64(span_of(r->found.value), 10, &there))
		return REFERENCE_UNSURE;
	return there < said ? REFERENCE_CHANGED : REFERENCE_EXISTS;
}

/* sysctl values: numbers, with blanks between. */
static bool same_words(const char *a, const char *b)
{
	struct span x = span_of(a), y = span_of(b), first, second;

	for (;;) {
		bool more = span_word(&x, &first);

		if (more != span_word(&y, &second))
			return false;
		if (!more)
			return true;
		if (first.n != second.n || memcmp(first.p, second.p, first.n) != 0)
			return false;
	}
}

/* "511:0" among the numbers "195 504". */
static enum reference_state allowed_state(const struct reference *r)
{
	struct span rest = span_of(r->claim.value), word, major = span_of(r->found.value);
	size_t n = span_find(major, ':');

	if (n == major.n)
		return REFERENCE_UNSURE;
	while (span_word(&rest, &word))
		if (word.n == n && memcmp(word.p, major.p, n) == 0)
			return REFERENCE_EXISTS;
	return REFERENCE_CHANGED;
}

enum reference_state reference_state(const struct reference *r)
{
	if (is_unknown(r->found) || !is_known(r->kind) || !is_known(r->format) ||
	    !is_known(r->file) || !is_known(r->name))
		return REFERENCE_UNSURE;
	if (is_absent(r->found))
		return REFERENCE_MISSING;
	switch (r->kind.value) {
	case REFERENCE_PROCESSOR:
		return processors_state(r);
	case REFERENCE_AMOUNT:
		return amount_state(r);
	case REFERENCE_DEVICE:
		/* A copy has a file in place of a device: that it is there is all that it tells. */
	case REFERENCE_FUNCTION:
	case REFERENCE_SETTING:
		if (known_is(r->format, REFERENCE_LXC))
			return allowed_state(r);
		return !is_known(r->claim) || same_words(r->claim.value, r->found.value)
			       ? REFERENCE_EXISTS
			       : REFERENCE_CHANGED;
	case REFERENCE_DRIVER:
		return r->found.value[0] == '/' ? REFERENCE_EXISTS : REFERENCE_CHANGED;
	default:
		return REFERENCE_EXISTS;
	}
}

const struct reference *reference_next(const struct node *node, enum reference_format format,
				       const char *file, const struct reference *before)
{
	const struct references_facts *all = &node->references;
	const struct reference *r = before ? before + 1 : all->items.items;

	/* A reference whose file is unknown may belong to any file. */
	for (; r && r < all->items.items + all->items.count; r++)
		if (!known_not(r->format, (int)format) &&
		    (!file || !is_known(r->file) || str_is(r->file, file)))
			return r;
	return NULL;
}

const struct reference *reference_of_role(const struct node *node, enum reference_format format,
					  const char *role)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, format, NULL, r)))
		if (str_is(r->role, role))
			return r;
	return NULL;
}

const char *reference_place(struct arena *arena, const struct reference *r)
{
	return is_known(r->line) ? arena_printf(arena, "%s:%" PRIu64, r->file.value, r->line.value)
				 : r->file.value;
}

const char *reference_fact(struct arena *arena, const struct node *node, const struct reference *r,
			   const char *member)
{
	return fact_item_path(arena, "references.items", (size_t)(r - node->references.items.items),
			      member);
}
