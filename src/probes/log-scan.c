/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "probes/log-scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* Of the time and what is kept of the message, whose bytes can be four each before they are taken back. */
#define KMSG_ESCAPED_MAX (4 * LOG_LINE_MAX + 1)

void log_scan_begin(struct log_scan *scan, const struct kmsg_pattern *patterns, size_t count,
		    struct arena *arena)
{
	*scan = (struct log_scan){ .patterns = patterns, .count = count, .arena = arena };
	log_scan_forget(scan);
}

void log_scan_forget(struct log_scan *scan)
{
	scan->facts = (struct log_facts){ .lines = { .state = FACT_KNOWN } };
	memset(scan->last, 0, sizeof(scan->last));
}

static struct log_line *line_of(struct log_scan *scan, const char *name)
{
	struct log_line *line;

	for_each_mut(l, &scan->facts.lines)
		if (str_is(l->pattern, name))
			return l;
	if (scan->facts.lines.count == LOG_PATTERNS_MAX)
		return NULL;
	line = LIST_ADD(scan->arena, &scan->facts.lines);
	line->pattern = fact_str(scan->arena, name);
	line->count = fact_u64(0);
	line->devices.state = FACT_KNOWN;
	return line;
}

static void add_devices(struct log_scan *scan, struct log_line *line, struct span message)
{
	char bdf[KMSG_BDF_MAX];

	while (kmsg_bdf_next(&message, bdf) && line->devices.count < LOG_DEVICES_MAX) {
		bool known = false;

		for (uint32_t i = 0; i < line->devices.count && !known; i++)
			known = strcmp(line->devices.items[i], bdf) == 0;
		if (!known)
			*LIST_ADD(scan->arena, &line->devices) = arena_strdup(scan->arena, bdf);
	}
}

static void set_last(struct log_scan *scan, struct log_line *line, struct span text)
{
	struct span *last = &scan->last[line - scan->facts.lines.items];

	if (text.n >= LOG_LINE_MAX)
		text.n = utf8_cut(text.p, LOG_LINE_MAX);
	if (!last->p) {
		line->first = fact_strn(scan->arena, text.p, text.n);
		last->p = arena_alloc(scan->arena, LOG_LINE_MAX);
	}
	memcpy((char *)last->p, text.p, text.n);
	last->n = text.n;
}

static const struct kmsg_pattern *match(const struct log_scan *scan, struct span message,
					uint64_t *number)
{
	struct kmsg_message m = kmsg_message_of(message);

	for (size_t i = 0; i < scan->count; i++)
		if (kmsg_matches(&scan->patterns[i], &m, number))
			return &scan->patterns[i];
	return NULL;
}

static void found(struct log_scan *scan, const struct kmsg_pattern *pattern, uint64_t number,
		  struct span text, struct span message)
{
	char name[64];
	struct log_line *line;

	snprintf(name, sizeof(name), "%s-%" PRIu64, pattern->name, number);
	line = line_of(scan, pattern->kind == KMSG_NUMBERED ? name : pattern->name);
	if (!line)
		return;
	line->count.value++;
	set_last(scan, line, text);
	add_devices(scan, line, message);
}

void log_scan_text(struct log_scan *scan, struct span text, struct span message)
{
	uint64_t number = 0;
	const struct kmsg_pattern *pattern = match(scan, message, &number);

	if (pattern)
		found(scan, pattern, number, text, message);
}

/* /dev/kmsg writes what is not printable as \x0a; a message of several lines becomes one. */
static void unescape(char *text)
{
	char *to = text;
	uint64_t byte;

	while (*text) {
		bool escaped = text[0] == '\\' && text[1] == 'x' && text[2] && text[3] &&
			       span_u64((struct span){ text + 2, 2 }, 16, &byte) == 0;

		*to++ = !escaped ? *text : byte < ' ' || byte == 127 ? ' ' : (char)byte;
		text += escaped ? 4 : 1;
	}
	*to = '\0';
}

void log_scan_message(struct log_scan *scan, uint64_t time_us, struct span message)
{
	uint64_t number = 0;
	const struct kmsg_pattern *pattern = match(scan, message, &number);
	char text[KMSG_ESCAPED_MAX];

	if (!pattern)
		return;
	snprintf(text, sizeof(text), "[%5" PRIu64 ".%06" PRIu64 "] %.*s", time_us / 1000000,
		 time_us % 1000000, SPAN_FMT(message));
	unescape(text);
	found(scan, pattern, number, span_of(text), message);
}

static int compare_lines(const void *a, const void *b)
{
	const struct log_line *x = a, *y = b;

	return strcmp(x->pattern.value, y->pattern.value);
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void log_scan_end(struct log_scan *scan, const char *source, bool complete)
{
	struct log_facts *facts = &scan->facts;

	facts->source = fact_str(scan->arena, source);
	facts->complete = fact_bool(complete);
	for_each_mut(line, &facts->lines) {
		struct span last = scan->last[line - facts->lines.items];

		line->last = fact_strn(scan->arena, last.p, last.n);
		fact_list_sort(&line->devices, sizeof(char *), compare_strings);
	}
	fact_list_sort(&facts->lines, sizeof(facts->lines.items[0]), compare_lines);
}
