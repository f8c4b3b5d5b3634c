/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rdma.c - the kernel's text below /sys/class/infiniband (drivers/infiniband/core/sysfs.c), and the rules by which
 * libibverbs finds its providers (rdma-core, libibverbs/dynamic_driver.c).
 */
#include "parse/rdma.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

int rdma_word_parse(struct span text, uint64_t *number, struct span *word)
{
	size_t colon;

	text = span_trim(text);
	colon = span_find(text, ':');
	if (colon == text.n || span_u64((struct span){ text.p, colon }, 10, number))
		return -EINVAL;
	*word = span_trim((struct span){ text.p + colon + 1, text.n - colon - 1 });
	return word->n ? 0 : -EINVAL;
}

/* A decimal number as thousandths. The kernel writes neither more than three decimals nor a number that overflows:
 * these are refused. */
static int parse_thousandths(struct span s, uint64_t *value)
{
	size_t dot = span_find(s, '.');
	struct span whole = { s.p, dot };
	struct span part = { 0 };
	uint64_t fraction = 0, scale = 1000;

	if (dot < s.n)
		part = (struct span){ s.p + dot + 1, s.n - dot - 1 };
	if (whole.n > 9 || part.n > 3 || span_u64(whole, 10, value) ||
	    (dot < s.n && span_u64(part, 10, &fraction)))
		return -EINVAL;
	*value *= 1000;
	for (size_t i = 0; i < part.n; i++)
		scale /= 10;
	*value += fraction * scale;
	return 0;
}

int rdma_rate_parse(struct span text, uint64_t *mbps)
{
	struct span number, unit;

	if (!span_word(&text, &number) || !span_word(&text, &unit) || !span_is(unit, "Gb/sec"))
		return -EINVAL;
	return parse_thousandths(number, mbps);
}

struct span rdma_lane_rate(struct span text)
{
	size_t end = span_find(text, ')');
	struct span word = { text.p + end, 0 };

	while (end < text.n && word.p > text.p && isalnum((unsigned char)word.p[-1])) {
		word.p--;
		word.n++;
	}
	/* "(4X)": the X belongs to the number. */
	if (word.p == text.p || word.p[-1] != ' ')
		word.n = 0;
	return word;
}

bool rdma_traffic_class_parse(struct span text, uint64_t *value)
{
	static const char start[] = "Global tclass=";
	struct span line;

	while (span_cut(&text, '\n', &line))
		if (span_starts(line, start))
			return span_u64(span_trim((struct span){ line.p + strlen(start),
								 line.n - strlen(start) }),
					10, value) == 0;
	return false;
}

static bool max_of(struct span word, const char *key, uint64_t *value)
{
	struct span number;

	if (!span_starts(word, key))
		return false;
	number = (struct span){ word.p + strlen(key), word.n - strlen(key) };
	if (!span_is(number, "max"))
		return span_u64(number, 10, value) == 0;
	*value = UINT64_MAX;
	return true;
}

bool rdma_max_parse(struct span line, struct rdma_max *max)
{
	struct span word;
	bool handles = false, objects = false;

	if (!span_word(&line, &max->device))
		return false;
	while (span_word(&line, &word)) {
		handles = max_of(word, "hca_handle=", &max->handles) || handles;
		objects = max_of(word, "hca_object=", &max->objects) || objects;
	}
	return handles && objects;
}

bool rdma_gid_is_set(struct span gid)
{
	struct span group;
	size_t groups = 0;
	bool set = false;

	gid = span_trim(gid);
	while (span_cut(&gid, ':', &group)) {
		uint64_t value;

		if (group.n != 4 || span_u64(group, 16, &value))
			return false;
		set = set || value;
		groups++;
	}
	return set && groups == 8;
}

bool verbs_driver_next(struct span *rest, struct span *name)
{
	struct span line, word;

	while (span_cut(rest, '\n', &line))
		if (span_word(&line, &word) && span_is(word, "driver") && span_word(&line, name))
			return true;
	return false;
}

bool verbs_library_parse(struct span file, struct span *provider, uint64_t *number)
{
	const char *mark = span_search(file, "-rdmav");
	struct span digits;

	if (!mark || !span_starts(file, "lib") || !span_ends(file, ".so") || mark - file.p <= 3)
		return false;
	*provider = (struct span){ file.p + 3, (size_t)(mark - file.p) - 3 };
	mark += strlen("-rdmav");
	digits = (struct span){ mark, (size_t)(file.p + file.n - strlen(".so") - mark) };
	return isdigit((unsigned char)*mark) && span_u64(digits, 10, number) == 0;
}

bool verbs_is_library(struct span file, struct span provider)
{
	struct span name;
	uint64_t number;

	return verbs_library_parse(file, &name, &number) && name.n == provider.n &&
	       memcmp(name.p, provider.p, name.n) == 0;
}
