/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gres.c - Slurm's gres.conf(5), the nodes of slurm.conf(5), which have the same form, and the lists of names in them.
 */
#include "parse/gres.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

static struct span after(struct span s, size_t n)
{
	return (struct span){ s.p + n, s.n - n };
}

static bool key_is(struct span key, const char *name)
{
	struct span wanted = span_of(name);

	return key.n == wanted.n && strncasecmp(key.p, name, key.n) == 0;
}

static void take_word(struct gres_line *out, struct span word)
{
	size_t equals = span_find(word, '=');
	struct span key = { word.p, equals }, value;

	if (equals == word.n)
		return;
	value = after(word, equals + 1);
	if (value.n > 1 && value.p[0] == '"' && value.p[value.n - 1] == '"')
		value = (struct span){ value.p + 1, value.n - 2 };
	if (key_is(key, "NodeName"))
		out->nodes = value;
	else if (key_is(key, "Name"))
		out->name = value;
	else if (key_is(key, "Type"))
		out->type = value;
	else if (key_is(key, "File") || key_is(key, "Files"))
		out->file = value;
	else if (key_is(key, "MultipleFiles")) {
		out->file = value;
		out->multiple = true;
	} else if (key_is(key, "Count"))
		out->count = value;
	else if (key_is(key, "Cores") || key_is(key, "CPUs"))
		out->cores = value;
	else if (key_is(key, "AutoDetect"))
		out->autodetect = value;
	else if (key_is(key, "Gres"))
		out->gres = value;
	else if (key_is(key, "RealMemory"))
		out->memory = value;
}

/* Reads the words of one physical line. Returns true if the next line continues it. */
static bool take_words(struct gres_line *out, struct span line)
{
	struct span word;
	bool continued;

	line.n = span_find(line, '#');
	line = span_trim(line);
	continued = line.n && line.p[line.n - 1] == '\\';
	if (continued)
		line.n--;
	while (span_word(&line, &word)) {
		if (key_is(word, "Include")) {
			out->include = span_trim(line);
			return continued;
		}
		take_word(out, word);
	}
	return continued;
}

static bool is_empty(const struct gres_line *line)
{
	return !line->nodes.n && !line->name.n && !line->file.n && !line->autodetect.n &&
	       !line->include.n;
}

bool gres_next(struct gres_reader *reader, struct gres_line *out)
{
	struct span line;

	*out = (struct gres_line){ 0 };
	while (span_cut(&reader->rest, '\n', &line)) {
		reader->line++;
		if (!out->line)
			out->line = reader->line;
		if (take_words(out, line))
			continue;
		if (!is_empty(out))
			return true;
		*out = (struct gres_line){ 0 };
	}
	return out->line && !is_empty(out);
}

/* The count is last; without one it is 1. */
static void take_parts(struct span rest, struct span *type, uint64_t *count)
{
	struct span part, last = { NULL, 0 };

	*type = (struct span){ NULL, 0 };
	*count = 1;
	while (span_cut(&rest, ':', &part)) {
		if (last.n)
			*type = last;
		last = part;
	}
	if (!last.n)
		return;
	if (!isdigit((unsigned char)last.p[0])) {
		*type = last;
		return;
	}
	/* "8(S:0-1)": sockets may follow. */
	last.n = span_find(last, '(');
	if (span_u64(last, 10, count) || *count > UINT32_MAX)
		*count = UINT64_MAX;
}

bool gres_next_gpu(struct span *gres, struct span *type, uint64_t *count)
{
	struct span item, name;

	while (span_cut(gres, ',', &item)) {
		if (!span_cut(&item, ':', &name) || !span_is(name, "gpu"))
			continue;
		take_parts(item, type, count);
		return true;
	}
	return false;
}

bool gres_count_gpus(struct span gres, uint64_t *count)
{
	struct span type;
	uint64_t one;
	bool any = false;

	*count = 0;
	while (gres_next_gpu(&gres, &type, &one)) {
		if (one == UINT64_MAX)
			return false;
		*count += one;
		any = true;
	}
	return any;
}

/* ---- lists of names ---- */

struct expansion {
	struct span before, behind; /* of the brackets */
	size_t left;
	hostlist_found *found;
	void *user;
};

/* 1: stop. */
static int give(struct expansion *e, uint64_t number, int width, bool numbered)
{
	char name[HOSTLIST_NAME_MAX], digits[24] = "";

	if (!e->left)
		return -E2BIG;
	e->left--;
	if (numbered)
		snprintf(digits, sizeof(digits), "%0*" PRIu64, width, number);
	if ((size_t)snprintf(name, sizeof(name), "%.*s%s%.*s", SPAN_FMT(e->before), digits,
			     SPAN_FMT(e->behind)) >= sizeof(name))
		return -EINVAL;
	return !e->found(e->user, name);
}

/* "0-3" or "07" */
static int expand_range(struct expansion *e, struct span range)
{
	size_t dash = span_find(range, '-');
	struct span first = { range.p, dash };
	struct span last = dash < range.n ? after(range, dash + 1) : first;
	uint64_t from, to;
	int rc = 0;

	if (span_u64(first, 10, &from) || span_u64(last, 10, &to) || from > to || first.n > 19)
		return -EINVAL;
	for (uint64_t i = from; rc == 0; i++) {
		rc = give(e, i, (int)first.n, true);
		if (i == to)
			break;
	}
	return rc;
}

static int expand_name(struct expansion *e, struct span name)
{
	size_t open = span_find(name, '['), close = span_find(name, ']');
	struct span ranges, range;
	int rc = 0;

	e->before = (struct span){ name.p, open };
	e->behind = (struct span){ name.p, 0 };
	if (open == name.n)
		return close == name.n ? give(e, 0, 0, false) : -EINVAL;
	if (close == name.n || close < open)
		return -EINVAL;
	ranges = (struct span){ name.p + open + 1, close - open - 1 };
	e->behind = after(name, close + 1);
	if (span_find(e->behind, '[') != e->behind.n)
		return -EINVAL;
	while (rc == 0 && span_cut(&ranges, ',', &range))
		rc = expand_range(e, range);
	return rc;
}

/* The next name: commas inside brackets do not part names. */
static bool cut_name(struct span *rest, struct span *name)
{
	size_t depth = 0, n = 0;

	if (!rest->n)
		return false;
	while (n < rest->n && (depth || rest->p[n] != ',')) {
		if (rest->p[n] == '[')
			depth++;
		else if (rest->p[n] == ']' && depth)
			depth--;
		n++;
	}
	*name = (struct span){ rest->p, n };
	*rest = after(*rest, n < rest->n ? n + 1 : n);
	return true;
}

int hostlist_expand(struct span list, size_t max, hostlist_found *found, void *user)
{
	struct expansion e = { .left = max, .found = found, .user = user };
	struct span name;
	int rc = 0;

	while (rc == 0 && cut_name(&list, &name))
		if (name.n)
			rc = expand_name(&e, name);
	return rc > 0 ? 0 : rc;
}
