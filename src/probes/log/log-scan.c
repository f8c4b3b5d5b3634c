/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log-scan.c - counts the lines of a kernel log that match a pattern: all of them, those about each device, and those
 * of each module.
 */
#include "probes/log/log-scan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "parse/kmsg-own.h"
#include "parse/kmsg-text.h"
#include "parse/module.h"

/* Room for the time and the kept part of a message, in which the kernel may write a byte as four. */
#define KMSG_ESCAPED_MAX (4 * LOG_LINE_MAX + 1)

void log_scan_begin(struct log_scan *scan, const struct kmsg_pattern *patterns, size_t count,
		    struct arena *arena)
{
	*scan = (struct log_scan){ .arena = arena,
				   .failures = { .arena = arena },
				   .unexplained = { .arena = arena },
				   .denials = { .arena = arena } };
	kmsg_index_begin(&scan->index, patterns, count);
}

/* ---- room for lines: a file may have a thousand boots, and only the last one counts ---- */

struct spare {
	struct spare *next;
};

static char *take_room(struct log_scan *scan)
{
	struct spare *spare = scan->spare;

	if (!spare)
		return arena_alloc(scan->arena, LOG_LINE_MAX);
	scan->spare = spare->next;
	return (char *)spare;
}

static void give_back(struct log_scan *scan, struct log_kept *kept)
{
	struct span *const lines[] = { &kept->first, &kept->last };

	for (size_t i = 0; i < 2; i++) {
		struct spare *spare = (struct spare *)lines[i]->p;

		if (!spare)
			continue;
		spare->next = scan->spare;
		scan->spare = spare;
	}
	*kept = (struct log_kept){ 0 };
}

/* Empties LIST, a list of struct log_kept, and keeps its memory. */
static void empty(struct log_scan *scan, void *list)
{
	typeof(&((struct log_found *)0)->devices) kept = list;

	for_each_mut(k, kept)
		give_back(scan, k);
	kept->count = 0;
}

void log_scan_forget(struct log_scan *scan)
{
	scan->join.lines = 0;
	scan->full = false;
	for_each_mut(found, &scan->found) {
		give_back(scan, &found->all);
		empty(scan, &found->devices);
		empty(scan, &found->modules);
	}
	scan->found.count = 0;
	scan->subjects = 0;
	log_failures_forget(&scan->failures);
	log_unexplained_forget(&scan->unexplained);
	scan->denials.list.count = 0;
}

/* ---- keeping lines ---- */

static void keep(struct log_scan *scan, struct log_kept *kept, uint64_t time_us, struct span text)
{
	if (text.n >= LOG_LINE_MAX)
		text.n = utf8_cut(text.p, LOG_LINE_MAX);
	if (!kept->count++) {
		kept->first = (struct span){ take_room(scan), text.n };
		memcpy((char *)kept->first.p, text.p, text.n);
		kept->first_us = time_us;
		kept->last.p = take_room(scan);
	}
	memcpy((char *)kept->last.p, text.p, text.n);
	kept->last.n = text.n;
	kept->last_us = time_us;
}

static struct log_found *found_of(struct log_scan *scan, const char *name)
{
	struct log_found *f;

	for_each_mut(known, &scan->found)
		if (strcmp(known->all.name, name) == 0)
			return known;
	if (scan->found.count == LOG_PATTERNS_MAX) {
		scan->full = true;
		return NULL;
	}
	f = LIST_ADD(scan->arena, &scan->found);
	snprintf(f->all.name, sizeof(f->all.name), "%s", name);
	return f;
}

/* Adds a line to LIST, a list of struct log_kept. */
static void keep_of(struct log_scan *scan, void *list, const char *name, uint64_t time_us,
		    struct span text)
{
	typeof(&((struct log_found *)0)->devices) kept = list;
	struct log_kept *k;

	for_each_mut(known, kept)
		if (strcmp(known->name, name) == 0) {
			keep(scan, known, time_us, text);
			return;
		}
	if (scan->subjects == LOG_SUBJECTS_MAX) {
		scan->full = true;
		return;
	}
	scan->subjects++;
	k = LIST_ADD(scan->arena, kept);
	snprintf(k->name, sizeof(k->name), "%s", name);
	keep(scan, k, time_us, text);
}

/* A line that names a device twice is one line of it. */
static void keep_devices(struct log_scan *scan, struct log_found *found, uint64_t time_us,
			 struct span text, struct span message)
{
	char bdfs[8][KMSG_BDF_MAX];
	size_t n = 0;

	while (n < 8 && kmsg_bdf_next(&message, bdfs[n])) {
		bool again = false;

		for (size_t i = 0; i < n; i++)
			again |= strcmp(bdfs[i], bdfs[n]) == 0;
		if (!again)
			keep_of(scan, &found->devices, bdfs[n++], time_us, text);
	}
}

/* ---- finding them ---- */

static void keep_line(struct log_scan *scan, const struct kmsg_pattern *pattern, uint64_t number,
		      uint64_t time_us, struct span text, const struct kmsg_message *message)
{
	char name[64], module[MODULE_NAME_MAX];
	struct log_found *found;

	if (pattern->kind == KMSG_NUMBERED)
		snprintf(name, sizeof(name), "%s-%" PRIu64, pattern->name, number);
	else
		snprintf(name, sizeof(name), "%s", pattern->name);
	found = found_of(scan, name);
	if (!found)
		return;
	keep(scan, &found->all, time_us, text);
	if (pattern->kind == KMSG_OF_PACKET)
		return;
	keep_devices(scan, found, time_us, text, message->text);
	if (pattern->kind != KMSG_OF_MODULE)
		return;
	module_name_copy(message->module, module);
	keep_of(scan, &found->modules, module, time_us, text);
}

#define LEVEL_WARNING 4 /* include/linux/kern_levels.h */

/* The findings of one message. */
struct match {
	struct kmsg_message message; /* its text is the driver's own, in one line */
	const struct kmsg_pattern *pattern;
	uint64_t number;
	struct kmsg_failure failure;
	bool failed, unexplained;
	char own[KMSG_ESCAPED_MAX];
};

/* kernel/audit.c, kauditd_printk_skb(): where no auditd takes them. */
static bool is_of_audit(struct span message)
{
	return span_starts(message, "audit: type=") || span_starts(message, "type=");
}

static void find_pattern(const struct log_scan *scan, struct span text, struct match *m)
{
	m->message = (struct kmsg_message){ .text = text };
	m->pattern = kmsg_index_find(&scan->index, &m->message, &m->number);
}

/* Takes what the driver wrote itself out of MESSAGE. Returns false if that is all of it. A line break that is not the
 * driver's is in a text that the kernel quotes. */
static bool take_own(struct match *m, struct span message, struct span *own)
{
	if (kmsg_own(message, m->own, sizeof(m->own), own))
		return true;
	*own = log_join_is_first(message) ? message : kmsg_first_line(message);
	return own->n < message.n;
}

/* False when nothing is to be kept of it. */
static bool match_message(struct log_scan *scan, int level, struct span message, struct match *m)
{
	/* A failure has at least the level of a warning, and most lines have not: the cheap tests come first. */
	bool may_fail = !scan->preflight || level <= LEVEL_WARNING;
	struct span own;

	m->failed = m->unexplained = false;
	find_pattern(scan, message, m);
	if (!m->pattern && !may_fail)
		return false;
	if (kmsg_is_of_user(message)) {
		m->message.text = message;
		return m->pattern && m->pattern->kind == KMSG_OF_PACKET &&
		       kmsg_first_line(message).n == message.n;
	}
	if (take_own(m, message, &own))
		find_pattern(scan, own, m);
	if (!scan->preflight && is_of_audit(own))
		log_denials_add(&scan->denials, own, 0);
	m->failed = may_fail && own.p != m->own &&
		    log_failures_parse(&scan->failures, own, &m->failure);
	m->unexplained = !scan->preflight && log_unexplained_add(&scan->unexplained, level, own) &&
			 !m->pattern && !m->failed;
	return m->pattern || m->failed || m->unexplained;
}

static void keep_match(struct log_scan *scan, const struct match *m, uint64_t time_us, int level,
		       struct span text)
{
	if (m->pattern)
		keep_line(scan, m->pattern, m->number, time_us, text, &m->message);
	if (m->failed)
		log_failures_keep(&scan->failures, &m->failure, time_us, text);
	if (m->unexplained)
		log_unexplained_keep(&scan->unexplained, level, time_us, m->message.text, text);
}

/* Keeps the line TEXT, in which MESSAGE stands, with the driver's own text in the place of MESSAGE. */
static void keep_line_of(struct log_scan *scan, const struct match *m, uint64_t time_us, int level,
			 struct span text, struct span message)
{
	struct span own = m->message.text;
	size_t head = (size_t)(message.p - text.p);
	char line[KMSG_ESCAPED_MAX];

	if (own.p == message.p) {
		text.n = head + own.n;
	} else {
		head = head < LOG_LINE_MAX ? head : LOG_LINE_MAX;
		memcpy(line, text.p, head);
		text = (struct span){ line, head };
		text.n += own.n < sizeof(line) - head ? own.n : sizeof(line) - head;
		memcpy(line + head, own.p, text.n - head);
	}
	keep_match(scan, m, time_us, level, text);
}

static void scan_message(struct log_scan *scan, uint64_t time_us, int level, struct span text,
			 struct span message)
{
	struct match m;

	if (match_message(scan, level, message, &m))
		keep_line_of(scan, &m, time_us, level, text, message);
}

/* ---- messages of several lines ---- */

static void scan_lines_apart(struct log_scan *scan, struct span rest)
{
	const struct log_join *join = &scan->join;
	size_t head = join->message_at;
	struct span message;
	char text[LOG_JOIN_MAX];

	memcpy(text, join->text, head);
	while (span_cut(&rest, '\n', &message)) {
		memcpy(text + head, message.p, message.n);
		scan_message(scan, join->time_us, join->level,
			     (struct span){ text, head + message.n },
			     (struct span){ text + head, message.n });
	}
}

static void scan_held(struct log_scan *scan)
{
	struct log_join *join = &scan->join;
	struct span text = { join->text, join->n };
	struct span message = { text.p + join->message_at, text.n - join->message_at };

	if (!join->lines)
		return;
	join->lines = 0;
	if (log_join_is_apart(join))
		scan_lines_apart(scan, message);
	else
		scan_message(scan, join->time_us, join->level, text, message);
}

void log_scan_text(struct log_scan *scan, uint64_t time_us, int level, struct span text,
		   struct span message)
{
	if (log_join_may(&scan->join, message)) {
		if (log_join_continue(&scan->join, time_us, text, message))
			return;
		scan_held(scan);
		if (log_join_begin(&scan->join, time_us, level, text, message))
			return;
	}
	scan_message(scan, time_us, level, text, message);
}

void log_scan_continue(struct log_scan *scan, struct span message)
{
	if (log_join_may(&scan->join, message))
		log_join_continue(&scan->join, LOG_NO_TIME, (struct span){ 0 }, message);
}

static uint64_t time_of(const struct kmsg_line *line)
{
	uint64_t time_us;

	return kmsg_line_time(line, &time_us) ? time_us : LOG_NO_TIME;
}

void log_scan_line(struct log_scan *scan, const struct kmsg_line *line)
{
	struct match m;

	/* The time takes longer to read than most lines are worth. */
	if (log_join_may(&scan->join, line->message))
		log_scan_text(scan, time_of(line), line->level, line->text, line->message);
	else if (match_message(scan, line->level, line->message, &m))
		keep_line_of(scan, &m, time_of(line), line->level, line->text, line->message);
}

/* /dev/kmsg writes what is not printable as \x0a; the others of these in a line become blanks. */
static void unescape(char *text)
{
	char *to = text;
	uint64_t byte;

	while (*text) {
		bool escaped = text[0] == '\\' && text[1] == 'x' && text[2] && text[3] &&
			       span_u64((struct span){ text + 2, 2 }, 16, &byte) == 0;

		if (!escaped)
			byte = (unsigned char)*text;
		*to++ = byte < ' ' || byte == 127 ? ' ' : (char)byte;
		text += escaped ? 4 : 1;
	}
	*to = '\0';
}

static void scan_record_line(struct log_scan *scan, uint64_t time_us, int level,
			     struct span message)
{
	char text[KMSG_ESCAPED_MAX];
	int prefix = snprintf(text, sizeof(text), "[%5" PRIu64 ".%06" PRIu64 "] ",
			      time_us / 1000000, time_us % 1000000);
	struct span whole;

	snprintf(text + prefix, sizeof(text) - (size_t)prefix, "%.*s", SPAN_FMT(message));
	unescape(text);
	whole = span_of(text);
	log_scan_text(scan, time_us, level, whole,
		      (struct span){ text + prefix, whole.n - (size_t)prefix });
}

static bool cut_line(struct span *rest, struct span *line)
{
	size_t n;

	if (!rest->n)
		return false;
	*line = kmsg_first_line(*rest);
	*rest = (struct span){ rest->p + line->n, rest->n - line->n };
	n = kmsg_break_size(*rest);
	*rest = (struct span){ rest->p + n, rest->n - n };
	return true;
}

static void scan_record(struct log_scan *scan, uint64_t time_us, int level, struct span message)
{
	char text[KMSG_ESCAPED_MAX];
	struct match m;

	if (!match_message(scan, level, message, &m))
		return;
	snprintf(text, sizeof(text), "[%5" PRIu64 ".%06" PRIu64 "] %.*s", time_us / 1000000,
		 time_us % 1000000, SPAN_FMT(m.message.text));
	unescape(text);
	keep_match(scan, &m, time_us, level, span_of(text));
}

/* A record that the driver may have written, or that comes after the beginning of a longer message. Only the driver's
 * own messages of several lines have more than one line: they are joined as those of a file are. */
static void scan_record_of_driver(struct log_scan *scan, uint64_t time_us, int level,
				  struct span message)
{
	struct span line, rest = message;
	struct kmsg_users users;

	if (kmsg_is_of_user(message))
		return;
	if (kmsg_find_users(message, &users)) {
		scan_held(scan);
		scan_record(scan, time_us, level, message);
		return;
	}
	while (cut_line(&rest, &line)) {
		if (line.n)
			scan_record_line(scan, time_us, level, line);
		if (!log_join_is_first(message))
			break;
	}
}

void log_scan_message(struct log_scan *scan, uint64_t time_us, int level, struct span message)
{
	struct span rest = message;

	/* The driver begins some messages with a line break. */
	if (message.n && (message.p[0] == '\\' || message.p[0] == '\n')) {
		rest.p += kmsg_break_size(message);
		rest.n -= kmsg_break_size(message);
		if (span_starts(rest, "NVRM:") && !kmsg_is_of_user(message))
			message = rest;
	}
	if (log_join_may(&scan->join, message))
		scan_record_of_driver(scan, time_us, level, message);
	else
		scan_record(scan, time_us, level, message);
}

/* ---- facts ---- */

struct fact_u64 log_time_fact(uint64_t time_us)
{
	return time_us == LOG_NO_TIME ? (struct fact_u64){ 0 } : fact_u64(time_us);
}

static void add_subjects(struct log_scan *scan, const void *from, void *to)
{
	const typeof(((struct log_found *)0)->devices) *kept = from;
	typeof(&((struct log_line *)0)->devices) subjects = to;

	subjects->state = FACT_KNOWN;
	for_each(k, kept)
		*LIST_ADD(scan->arena, subjects) = (struct log_subject){
			.name = fact_str(scan->arena, k->name),
			.count = fact_u64(k->count),
			.first = fact_strn(scan->arena, k->first.p, k->first.n),
			.last = fact_strn(scan->arena, k->last.p, k->last.n),
			.first_us = log_time_fact(k->first_us),
			.last_us = log_time_fact(k->last_us),
		};
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct fact_str *)a)->value, ((const struct fact_str *)b)->value);
}

static void add_line(struct log_scan *scan, const struct log_found *found)
{
	struct log_line *line = LIST_ADD(scan->arena, &scan->facts.lines);
	const struct log_kept *all = &found->all;

	line->pattern = fact_str(scan->arena, all->name);
	line->count = fact_u64(all->count);
	line->first = fact_strn(scan->arena, all->first.p, all->first.n);
	line->last = fact_strn(scan->arena, all->last.p, all->last.n);
	line->first_us = log_time_fact(all->first_us);
	line->last_us = log_time_fact(all->last_us);
	add_subjects(scan, &found->devices, &line->devices);
	add_subjects(scan, &found->modules, &line->modules);
	fact_list_sort(&line->devices, sizeof(line->devices.items[0]), compare_names);
	fact_list_sort(&line->modules, sizeof(line->modules.items[0]), compare_names);
}

void log_scan_end(struct log_scan *scan, const char *source, bool complete)
{
	struct log_facts *facts = &scan->facts;

	scan_held(scan);
	scan->full |= scan->failures.full;
	*facts = (struct log_facts){ .lines = { .state = FACT_KNOWN } };
	facts->source = fact_str(scan->arena, source);
	facts->complete = fact_bool(complete && !scan->full);
	for_each(found, &scan->found)
		add_line(scan, found);
	fact_list_sort(&facts->lines, sizeof(facts->lines.items[0]), compare_names);
	log_failures_end(&scan->failures, facts);
	if (scan->preflight)
		return;
	log_unexplained_end(&scan->unexplained, facts);
	facts->denials = scan->denials.list;
	facts->denials.state = FACT_KNOWN;
}
