/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job.c - a log in portions, to lines, to their messages. */
#include "why/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "why/ending.h"
#include "why/job-private.h"
#include "why/sign.h"
#include "why/topic.h"

/* The part of a long line that is compared with messages, before and after an anchor. */
#define LINE_BEFORE 8192
#define LINE_AFTER (JOB_LINE_MAX - LINE_BEFORE)
#define SAME_FAILURE_LINES 4 /* lines that one program prints of one failure, at most */
#define SAME_CAUSE_LINES 40  /* and with a traceback between */
#define NEXT_MAX 1024	     /* bytes after a line that are read with it */
#define OVERCOME_LINES 2     /* after an error, in which a program says what it does instead */
#define JOB_RULE_MAX 128     /* bytes of a rule's id */

struct job_reader *job_begin(struct arena *arena)
{
	struct job_reader *r = arena_alloc(arena, sizeof(*r));
	size_t count;

	r->arena = arena;
	r->job = arena_alloc(arena, sizeof(*r->job));
	r->scanner = scanner_new(arena);
	r->errors = error_finder_new(arena);
	r->messages = message_all(&count);
	r->events = arena_alloc(arena, count * sizeof(struct job_event *));
	r->told = arena_alloc(arena, count * sizeof(uint8_t *));
	r->buffer = arena_alloc(arena, JOB_BUFFER + 1);
	r->decoded = arena_alloc(arena, JOB_LINE_MAX);
	r->tail = arena_alloc(arena, JOB_TAIL);
	key_table_init(&r->hosts, arena, JOB_HOSTS_MAX);
	key_table_init(&r->ranks, arena, JOB_RANKS_MAX);
	key_table_init(&r->facts, arena, JOB_FACTS_MAX);
	return r;
}

/* ---- events ---- */

static const char *keep(struct job_reader *r, struct span text)
{
	if (!text.n)
		return NULL;
	return arena_strndup(r->arena, text.p, text.n < JOB_TEXT_MAX ? text.n : JOB_TEXT_MAX);
}

/* One more host or rank that has it. */
static void count_bit(struct job_reader *r, uint8_t **bits, uint32_t *count, uint32_t number,
		      size_t most)
{
	if (number == JOB_NOBODY)
		return;
	if (!*bits)
		*bits = arena_alloc(r->arena, most / 8);
	if ((*bits)[number / 8] & 1 << number % 8)
		return;
	(*bits)[number / 8] |= (uint8_t)(1 << number % 8);
	++*count;
}

/* The list of events moves when it grows: events are found again by their message's place. */
static struct job_event *event_of(struct job_reader *r, const struct message *message)
{
	struct job_event **event = &r->events[message - r->messages];

	if (!*event)
		*event = arena_alloc(r->arena, sizeof(**event));
	return *event;
}

static void begin_event(struct job_reader *r, struct job_event *event,
			const struct message *message, const struct line *line,
			const struct job_place *place)
{
	event->message = message;
	event->is_mild = true;
	event->first = *place;
	event->first.time = keep(r, line->time);
	event->first.text = keep(r, line->text);
}

static void blame(struct job_reader *r, const struct message *message,
		  const struct job_place *place)
{
	struct job_host *host = place->host == JOB_NOBODY ? NULL
							  : &r->job->hosts.items[place->host];
	struct job_rank *rank = place->rank == JOB_NOBODY ? NULL
							  : &r->job->ranks.items[place->rank];

	if (message->kind != MESSAGE_FAILURE)
		return;
	if (host && !host->failures++) {
		host->failure = message;
		host->failure_line = place->line;
	}
	if (rank && !rank->failure) {
		rank->failure = message;
		rank->failure_line = place->line;
	}
}

static void take_event(struct job_reader *r, const struct message *message, const struct line *line,
		       const struct job_place *place, bool is_mild)
{
	struct job_event *event = event_of(r, message);

	if (!event->count++)
		begin_event(r, event, message, line, place);
	event->last_line = place->line;
	event->is_mild &= is_mild;
	count_bit(r, &event->host_bits, &event->hosts, place->host, JOB_HOSTS_MAX);
	count_bit(r, &event->rank_bits, &event->ranks, place->rank, JOB_RANKS_MAX);
	blame(r, message, place);
}

/* ---- lines ---- */

static const struct message_match *most_special(const struct message_match *matches, size_t count)
{
	const struct message_match *best = matches;

	for (size_t i = 1; i < count; i++)
		if (matches[i].message->fixed > best->message->fixed)
			best = &matches[i];
	return best;
}

static struct job_place place_of(struct job_reader *r, const struct line *line, uint64_t number)
{
	struct job_place place = { .line = number, .host = job_host_number(r, line->host) };

	place.rank = job_rank_number(r, line, place.host);
	if (place.host == JOB_NOBODY && place.rank != JOB_NOBODY)
		place.host = r->job->ranks.items[place.rank].host;
	return place;
}

/* Returns true if AT is within quotation marks. A value after "=" or ":" is not a quotation. */
static bool is_quoted(struct span line, const char *at)
{
	const char *open = memrchr(line.p, '"', (size_t)(at - line.p));
	size_t marks = 0;

	for (const char *c = line.p; c < at; c++)
		marks += *c == '"';
	return marks % 2 && open - line.p > 1 && open[-1] == ' ' && open[-2] != ':' &&
	       open[-2] != '=' && memchr(at, '"', (size_t)(line.p + line.n - at));
}

/* Returns true if one of the next lines says that the program does something else instead. */
static bool is_overcome(struct span next)
{
	struct span line;

	for (int i = 0; i < OVERCOME_LINES && span_cut(&next, '\n', &line); i++)
		if (sign_is_in_text(SIGN_OVERCOME, line))
			return true;
	return false;
}

/* Returns true if the line says that its message is no failure, or one of the next lines that it was overcome. False if
 * an earlier line with the message said neither. */
static bool is_mild(const struct job_reader *r, const struct message_match *match, struct span line)
{
	const struct job_event *event = r->events[match->message - r->messages];

	if (match->message->kind > MESSAGE_CONSEQUENCE || (event && !event->is_mild))
		return false;
	return error_line_is_calm(line) ||
	       is_quoted(line, match->values[0].p - match->message->parts[0].n) ||
	       is_overcome(r->next);
}

/* WHOLE is the line with the prefix of its message, which is part of some patterns. No anchor is before ANCHOR. */
static void take_text(struct job_reader *r, struct span whole, const char *anchor,
		      struct line *line)
{
	struct message_match matches[SCAN_MATCHES_MAX];
	size_t count = scanner_match(r->scanner, whole, anchor, matches);
	const struct message_match *match;
	enum message_kind kind;
	struct job_place place;

	if (!count)
		return;
	match = most_special(matches, count);
	kind = match->message->kind;
	if (match->message->weight == FAILURE_UNWARNED && error_line_is_calm(whole))
		return;
	place = place_of(r, line, r->job->lines + 1);
	if (place.host != JOB_NOBODY)
		r->job->hosts.items[place.host].lines++;
	r->job->recognised++;
	r->job->counts[kind]++;
	for (size_t i = 0; i < count; i++)
		job_take_facts(r, &matches[i], line, place.host);
	if (kind <= MESSAGE_FALLBACK)
		take_event(r, match->message, line, &place, is_mild(r, match, whole));
}

static void take_json(struct job_reader *r, const struct line *outer, const struct json_line *json)
{
	enum clean_state state = CLEAN_TEXT;
	struct span rest = { r->decoded, clean_copy(&state, r->decoded, json->message) }, text;

	while (span_cut(&rest, '\n', &text)) {
		struct line line;

		line_parse(&line, text);
		if (!line.host.n)
			line.host = json->host.n ? json->host : outer->host;
		if (!line.time.n)
			line.time = json->time.n ? json->time : outer->time;
		if (line.rank == LINE_NONE)
			line.rank = json->rank != LINE_NONE ? json->rank : outer->rank;
		take_text(r, text, text.p, &line);
	}
}

static void take_line(struct job_reader *r, struct span text, const char *anchor)
{
	struct line line;
	struct json_line json;

	line_parse(&line, text);
	if (json_line_parse(&json, line.text, r->decoded))
		take_json(r, &line, &json);
	else
		take_text(r, text, anchor, &line);
}

/* ---- portions ---- */

static uint64_t count_lines(const char *from, const char *to)
{
	uint64_t n = 0;

	while ((from = memchr(from, '\n', (size_t)(to - from)))) {
		n++;
		from++;
	}
	return n;
}

/* The line around AT, within the compared length. A carriage return ends a line too: progress bars write a line again
 * with it. */
static struct span line_around(struct span region, const char *at)
{
	const char *begin = at - region.p > LINE_BEFORE ? at - LINE_BEFORE : region.p;
	size_t left = (size_t)(region.p + region.n - at);
	const char *end = at + (left < LINE_AFTER ? left : LINE_AFTER), *mark;

	mark = memrchr(begin, '\n', (size_t)(at - begin));
	begin = mark ? mark + 1 : begin;
	mark = memrchr(begin, '\r', (size_t)(at - begin));
	begin = mark ? mark + 1 : begin;
	mark = memchr(at, '\n', (size_t)(end - at));
	end = mark ? mark : end;
	mark = memchr(at, '\r', (size_t)(end - at));
	end = mark ? mark : end;
	return (struct span){ begin, (size_t)(end - begin) };
}

/* The lines after LINE in REGION that are read with it. */
static struct span lines_after(struct span region, struct span line)
{
	const char *end = region.p + region.n, *from = line.p + line.n;

	from += from < end && *from == '\r';
	from += from < end && *from == '\n';
	return (struct span){ from, end - from < NEXT_MAX ? (size_t)(end - from) : NEXT_MAX };
}

/* ---- lines that read like an error ---- */

/* Messages that only report a choice of the job occur in lines of errors, too. */
static bool has_message(struct job_reader *r, struct span text, bool *is_new)
{
	struct message_match matches[SCAN_MATCHES_MAX];
	size_t count = scanner_match(r->scanner, text, text.p, matches);

	*is_new = !count;
	for (size_t i = 0; i < count; i++)
		if (matches[i].message->kind != MESSAGE_CHOICE)
			return true;
	return false;
}

static struct job_place keep_place(struct job_reader *r, const struct line *line, uint64_t number)
{
	struct job_place place = place_of(r, line, number);

	place.time = keep(r, line->time);
	place.text = keep(r, line->text);
	return place;
}

static void take_topic(struct job_reader *r, const struct line *line, uint64_t number)
{
	const struct message *topic = topic_find(line->text);

	if (!topic || r->suspects[topic->when].topic)
		return;
	r->suspects[topic->when] = (struct job_suspect){ .topic = topic,
							 .place = keep_place(r, line, number) };
}

/* A line with a sign of an error and without a message of the table, whatever it means. */
static void take_unrecognised(struct job_reader *r, struct span text, uint64_t number)
{
	enum clean_state state = CLEAN_TEXT;
	struct json_line json;
	struct line line;
	bool is_new;

	if (error_line_is_calm(text))
		return;
	line_parse(&line, text);
	if (json_line_parse(&json, line.text, r->decoded))
		text = line.text = (struct span){ r->decoded,
						  clean_copy(&state, r->decoded, json.message) };
	if (has_message(r, text, &is_new))
		return;
	take_topic(r, &line, number);
	r->suspects_seen++;
	if (is_new && !r->job->unrecognised.line)
		r->job->unrecognised = keep_place(r, &line, number);
}

/* Not needed after the first failure. */
static bool is_search_over(const struct job_reader *r)
{
	return r->job->counts[MESSAGE_FAILURE] || r->suspects_seen >= JOB_SUSPECTS_MAX ||
	       r->suspects[TOPIC_ALWAYS].topic;
}

static void find_unrecognised(struct job_reader *r, struct span region)
{
	const char *counted = region.p, *at = region.p;
	uint64_t number = r->job->lines + 1;

	while (!is_search_over(r) && (at = error_finder_next(r->errors, region, at))) {
		struct span line = line_around(region, at);

		number += count_lines(counted, line.p);
		counted = line.p;
		take_unrecognised(r, line, number);
		at = line.p + line.n + 1;
	}
}

/* Whole lines, but for one that is longer than the buffer. */
static void take_region(struct job_reader *r, struct span region)
{
	const char *counted = region.p, *at = region.p, *end = region.p + region.n;

	find_unrecognised(r, region);
	while ((at = scanner_next(r->scanner, region, at))) {
		struct span line = line_around(region, at);

		r->job->lines += count_lines(counted, line.p);
		counted = line.p;
		r->next = lines_after(region, line);
		take_line(r, line, at);
		at = line.p + line.n;
	}
	r->job->lines += count_lines(counted, end);
}

static void keep_tail(struct job_reader *r, struct span region)
{
	size_t kept = r->tail_n;

	if (region.n > JOB_TAIL)
		region = (struct span){ region.p + region.n - JOB_TAIL, JOB_TAIL };
	if (kept > JOB_TAIL - region.n)
		kept = JOB_TAIL - region.n;
	memmove(r->tail, r->tail + r->tail_n - kept, kept);
	memcpy(r->tail + kept, region.p, region.n);
	r->tail_n = kept + region.n;
}

static void empty_buffer(struct job_reader *r, bool is_end)
{
	const char *mark = memrchr(r->buffer, '\n', r->fill);
	size_t n = is_end || !mark ? r->fill : (size_t)(mark + 1 - r->buffer);

	take_region(r, (struct span){ r->buffer, n });
	keep_tail(r, (struct span){ r->buffer, n });
	memmove(r->buffer, r->buffer + n, r->fill - n);
	r->fill -= n;
}

void job_feed(struct job_reader *r, struct span bytes)
{
	r->job->bytes += bytes.n;
	while (bytes.n) {
		size_t room = JOB_BUFFER - r->fill, n = bytes.n < room ? bytes.n : room;

		r->fill += clean_copy(&r->clean, r->buffer + r->fill, (struct span){ bytes.p, n });
		bytes.p += n;
		bytes.n -= n;
		if (r->fill == JOB_BUFFER)
			empty_buffer(r, false);
	}
}

void job_stop(struct job_reader *r, enum job_read why)
{
	r->job->read = why;
}

static int compare_events(const void *a, const void *b)
{
	const struct job_event *x = a, *y = b;

	return x->first.line < y->first.line ? -1 : x->first.line > y->first.line;
}

/* The line of the first message of KIND; UINT64_MAX: none. The events are in order. */
static uint64_t first_line(const struct job *job, enum message_kind kind)
{
	for_each(e, &job->events)
		if (e->message->kind == kind)
			return e->first.line;
	return UINT64_MAX;
}

/* Returns true if the likeliest rule of A is one of the rules of B. */
static bool shares_cause(const struct message *a, const struct message *b)
{
	struct span rest = span_of(a->rules ? a->rules : ""), first;
	char id[JOB_RULE_MAX];

	if (!span_cut(&rest, ',', &first) || first.n >= sizeof(id))
		return false;
	memcpy(id, first.p, first.n);
	id[first.n] = '\0';
	return message_names_rule(b, id) >= 0;
}

/* A program often reports one error twice: a message of the table a few lines later says it better than a line that is
 * only known by its words. */
static bool says_it_better(const struct message *m, const struct job_suspect *s, uint64_t distance)
{
	bool is_a = shares_cause(m, s->topic), is_b = shares_cause(s->topic, m);

	if (distance <= SAME_FAILURE_LINES)
		return is_a || is_b ||
		       (s->topic->when == TOPIC_BEFORE &&
			strcmp(m->component, s->topic->component) == 0);
	return is_a && is_b && distance <= SAME_CAUSE_LINES;
}

static bool is_said_better(const struct job *job, const struct job_suspect *s)
{
	for_each(e, &job->events)
		if (e->message->kind == MESSAGE_FAILURE && e->first.line >= s->place.line)
			return says_it_better(e->message, s, e->first.line - s->place.line);
	return false;
}

/* The line of a topic that counts, if one does: the first. */
static const struct job_suspect *find_suspect(const struct job_reader *r)
{
	uint64_t failure = first_line(r->job, MESSAGE_FAILURE),
		 consequence = first_line(r->job, MESSAGE_CONSEQUENCE),
		 first = failure < consequence ? failure : consequence;
	const uint64_t before[TOPIC_WHENS] = {
		[TOPIC_ALWAYS] = failure,
		[TOPIC_ALONE] = failure == UINT64_MAX ? consequence : 0,
		[TOPIC_BEFORE] = first == UINT64_MAX ? 0 : first,
	};
	const struct job_suspect *best = NULL;

	for (int when = 0; when < TOPIC_WHENS; when++) {
		const struct job_suspect *s = &r->suspects[when];

		if (s->topic && s->place.line < before[when] && !is_said_better(r->job, s) &&
		    (!best || s->place.line < best->place.line))
			best = s;
	}
	return best;
}

/* A line that is only known by its words did not end a job that went on. */
static void add_suspect(struct job_reader *r, const struct ending *ending)
{
	const struct job_suspect *suspect = find_suspect(r);
	struct job_event event;

	if (!suspect)
		return;
	event = (struct job_event){ .message = suspect->topic,
				    .count = 1,
				    .first = suspect->place,
				    .last_line = suspect->place.line,
				    .one_rank = job_one_number(r, suspect->place.rank) };
	if (job_outcome_of(r->job, &event, ending) == JOB_SURVIVED)
		return;
	count_bit(r, &event.host_bits, &event.hosts, suspect->place.host, JOB_HOSTS_MAX);
	count_bit(r, &event.rank_bits, &event.ranks, suspect->place.rank, JOB_RANKS_MAX);
	blame(r, suspect->topic, &suspect->place);
	*LIST_ADD(r->arena, &r->job->events) = event;
}

static void sort_events(struct job *job)
{
	if (job->events.count)
		qsort(job->events.items, job->events.count, sizeof(struct job_event),
		      compare_events);
}

/* Lines that have only a rank and lines that have only a process can be of one process. */
struct names {
	int64_t rank, pid;
	bool are_many;
};

static void add_name(int64_t *name, int64_t other, bool *are_many)
{
	if (other == LINE_NONE)
		return;
	*are_many |= *name != LINE_NONE && *name != other;
	*name = other;
}

static struct ending read_ending(struct job_reader *r)
{
	struct span tail = { r->tail, r->tail_n };
	struct ending ending = find_ending(r->arena, r->errors, tail, r->job->lines);
	struct names names = { .rank = LINE_NONE, .pid = LINE_NONE };
	bool has_other_host = false;

	for_each(rank, &r->job->ranks) {
		add_name(&names.rank, rank->number, &names.are_many);
		add_name(&names.pid, rank->pid, &names.are_many);
	}
	for (uint32_t i = 0; i < ending.count; i++) {
		struct ending_line *line = &ending.lines[i];
		struct job_place place = job_find_place(r, &line->whose);

		line->host = place.host;
		line->rank = place.rank;
		has_other_host |= place.host == JOB_OTHER;
		add_name(&names.rank, line->whose.rank, &names.are_many);
		add_name(&names.pid, line->whose.pid, &names.are_many);
	}
	ending.is_one_rank = !names.are_many;
	ending.is_one_host = r->job->hosts.count + has_other_host <= 1;
	return ending;
}

const struct job *job_end(struct job_reader *r)
{
	bool is_open = r->fill && r->buffer[r->fill - 1] != '\n';
	struct ending ending;
	size_t count;

	empty_buffer(r, true);
	r->job->lines += is_open;
	message_all(&count);
	for (size_t i = 0; i < count; i++) {
		if (!r->events[i])
			continue;
		r->events[i]->one_rank = job_one_number(r, r->events[i]->first.rank);
		*LIST_ADD(r->arena, &r->job->events) = *r->events[i];
	}
	sort_events(r->job);
	ending = read_ending(r);
	add_suspect(r, &ending);
	sort_events(r->job);
	job_find_outcomes(r->job, &ending);
	return r->job;
}
