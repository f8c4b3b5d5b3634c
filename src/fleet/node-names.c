/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node-names.c - sets of nodes as Slurm and ClusterShell write them: gpu[001-064,070]. */
#include "fleet/node-names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define DIGITS_MAX 18 /* longer numbers are not folded */

static struct node_name split(const char *whole, size_t node)
{
	struct node_name name = { .whole = whole, .node = node };
	size_t n = strlen(whole), end = n, start;

	while (end && !isdigit((unsigned char)whole[end - 1]))
		end--;
	for (start = end; start && isdigit((unsigned char)whole[start - 1]);)
		start--;
	if (end - start > DIGITS_MAX)
		start = end = n;
	if (start == end)
		start = end = n;
	name.before = (struct span){ whole, start };
	name.number = (struct span){ whole + start, end - start };
	name.after = (struct span){ whole + end, n - end };
	span_u64(name.number, 10, &name.value);
	return name;
}

static int compare_spans(struct span a, struct span b)
{
	int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	return order ? order : (a.n > b.n) - (a.n < b.n);
}

static bool is_padded(const struct node_name *name)
{
	return name->number.n > 1 && *name->number.p == '0';
}

/* Returns the width of the number, or 0 without leading zeros. Names can be in one range if this is equal. */
static size_t width(const struct node_name *name)
{
	return is_padded(name) ? name->number.n : 0;
}

static int compare(const void *a, const void *b)
{
	const struct node_name *x = a, *y = b;
	int order = compare_spans(x->before, y->before);

	if (!order)
		order = compare_spans(x->after, y->after);
	if (!order)
		order = (x->number.n > 0) - (y->number.n > 0);
	if (!order)
		order = (x->value > y->value) - (x->value < y->value);
	if (!order)
		order = (x->number.n > y->number.n) - (x->number.n < y->number.n);
	return order ? order : (x->node > y->node) - (x->node < y->node);
}

void node_names_init(struct node_names *names, const struct fleet *fleet)
{
	names->count = fleet->count;
	names->sorted = memory_need(calloc(fleet->count + 1, sizeof(*names->sorted)));
	for (size_t i = 0; i < fleet->count; i++)
		names->sorted[i] = split(fleet->names[i], i);
	qsort(names->sorted, names->count, sizeof(*names->sorted), compare);
}

void node_names_free(struct node_names *names)
{
	free(names->sorted);
	*names = (struct node_names){ 0 };
}

/* ---- folding ---- */

static bool is_of_group(const struct node_name *a, const struct node_name *b)
{
	return a->number.n && b->number.n && compare_spans(a->before, b->before) == 0 &&
	       compare_spans(a->after, b->after) == 0;
}

/* Returns true if NEXT continues, after LAST, a range that begins with FIRST, when it is expanded with its zeros. */
static bool goes_on(const struct node_name *first, const struct node_name *last,
		    const struct node_name *next)
{
	return next->value == last->value + 1 &&
	       (width(first) ? next->number.n == first->number.n : !is_padded(next));
}

static size_t put_range(FILE *out, struct node_name *const *picked, size_t n)
{
	size_t k = 1;

	while (k < n && goes_on(picked[0], picked[k - 1], picked[k]))
		k++;
	fprintf(out, "%.*s", SPAN_FMT(picked[0]->number));
	if (k > 1)
		fprintf(out, "-%.*s", SPAN_FMT(picked[k - 1]->number));
	return k;
}

/* Prints names with the same text before and after the number. A file name that is in two folders counts once. */
static size_t put_group(FILE *out, struct node_name *const *picked, size_t n)
{
	const struct node_name *first = picked[0];
	size_t k = 1;

	while (k < n && is_of_group(first, picked[k]))
		k++;
	if (k == 1) {
		fputs(first->whole, out);
		return k;
	}
	fprintf(out, "%.*s[", SPAN_FMT(first->before));
	for (size_t i = 0; i < k;) {
		if (i)
			putc(',', out);
		i += put_range(out, picked + i, k - i);
	}
	fprintf(out, "]%.*s", SPAN_FMT(first->after));
	return k;
}

/* The set's nodes in the order of their names. */
static struct node_name **pick(const struct node_names *names, const struct node_set *nodes,
			       size_t *count)
{
	_cleanup_free_ bool *in = memory_need(calloc(names->count + 1, sizeof(*in)));
	struct node_name **picked =
		memory_need(calloc(nodes->nodes + 1, sizeof(struct node_name *)));

	*count = 0;
	for_each_node(node, nodes) in[node] = true;
	for (size_t i = 0; i < names->count; i++) {
		struct node_name *name = &names->sorted[i];

		if (in[name->node] &&
		    (!*count || strcmp(picked[*count - 1]->whole, name->whole) != 0))
			picked[(*count)++] = name;
	}
	return picked;
}

char *node_names_fold(const struct node_names *names, const struct node_set *nodes)
{
	char *text = NULL;
	size_t size, count;
	FILE *out = memory_need(open_memstream(&text, &size));
	struct node_name **picked = pick(names, nodes, &count);

	for (size_t i = 0; i < count;) {
		if (i)
			putc(',', out);
		i += put_group(out, picked + i, count - i);
	}
	fclose(out);
	free(picked);
	return memory_need(text);
}
