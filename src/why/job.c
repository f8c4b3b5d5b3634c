/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job.c - a log in portions, to lines, to the messages in them. */
#include "why/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "why/ending.h"
#include "why/job-private.h"
#include "why/sign.h"
#include "why/topic.h"

/* Of a long line, what is compared with messages before and behind the place of an anchor. */
#define LINE_BEFORE 8192
#define LINE_BEHIND (JOB_LINE_MAX - LINE_BEFORE)
#define SAME_FAILURE_LINES 4 /* what one program prints of one failure, at most */
#define SAME_CAUSE_LINES 40  /* and with a traceback between */
#define BEHIND_MAX 1024	     /* bytes behind a line that are looked at with it */
#define OVERCOME_LINES 2     /* behind an error, in which a program says what it does instead */
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
	event->is_calm = true;
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
		       const struct job_place *place, bool is_calm)
{
	struct job_event *event = event_of(r, message);

	if (!event->count++)
		begin_event(r, event, message, line, place);
	event->last_line = place->line;
	event->is_calm &= is_calm;
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

/* Does a quotation that stands before AT include it? A value behind "=" or ":" is none. */
static bool is_quoted(struct span line, const char *at)
{
	const char *open = memrchr(line.p, '"', (size_t)(at - line.p));
	size_t marks = 0;

	for (const char *c = line.p; c < at; c++)
		marks += *c == '"';
	return marks % 2 && open - line.p > 1 && open[-1] == ' ' && open[-2] != ':' &&
	       open[-2] != '=' && memchr(at, '"', (size_t)(line.p + line.n - at));
}

static const char *begin_of(const struct message_match *match)
{
	return match->values[0].p - match->message->parts[0].n;
}

/* Does one of the next lines say that the program does something else instead? */
static bool is_overcome(struct span behind)
{
	struct span line;

	for (int i = 0; i < OVERCOME_LINES && span_cut(&behind, '\n', &line); i++)
		if (sign_is_in_text(SIGN_OVERCOME, line))
			return true;
	return false;
}

/* Does the line say that its message is no failure? One of the next lines can say that it was overcome. Not asked if
 * an earlier line with the message said nothing. */
static bool is_calm(const struct job_reader *r, const struct message_match *match, struct span line)
{
	const struct job_event *event = r->events[match->message - r->messages];

	if (match->message->kind > MESSAGE_CONSEQUENCE || (event && !event->is_calm))
		return false;
	return error_line_is_calm(line) || is_quoted(line, begin_of(match)) ||
	       is_overcome(r->behind);
}

/* WHOLE is the line with what stands before its message, which is part of some patterns; no anchor is before
 * ANCHOR. */
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
		take_event(r, match->message, line, &place, is_calm(r, match, whole));
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

/* The line around AT, as far as it is compared: a carriage return, with which progress bars write a line again,
 * ends one too. */
static struct span line_around(struct span region, const char *at)
{
	const char *begin = at - region.p > LINE_BEFORE ? at - LINE_BEFORE : region.p;
	size_t left = (size_t)(region.p + region.n - at);
	const char *end = at + (left < LINE_BEHIND ? left : LINE_BEHIND), *mark;

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

/* What stands behind LINE in REGION, as far as it is looked at. */
static struct span lines_behind(struct span region, struct span line)
{
	const char *end = region.p + region.n, *from = line.p + line.n;

	from += from < end && *from == '\r';
	from += from < end && *from == '\n';
	return (struct span){ from, end - from < BEHIND_MAX ? (size_t)(end - from) : BEHIND_MAX };
}

/* ---- lines that read like an error ---- */

/* Messages that only tell what the job chose are in lines of errors, too. */
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

/* A line with a sign of an error, where it has no message of the table, whatever that means. */
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

/* Not needed behind the first failure. */
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
		r->behind = lines_behind(region, line);
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

/* Is the likeliest rule of A among those of B? */
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

/* A program often says a thing twice: a message of the table a few lines behind says it better than a line that is only
 * known by its words. */
static bool says_it_better(const struct message *m, const struct job_suspect *s, uint64_t behind)
{
	bool is_a = shares_cause(m, s->topic), is_b = shares_cause(s->topic, m);

	if (behind <= SAME_FAILURE_LINES)
		return is_a || is_b ||
		       (s->topic->when == TOPIC_BEFORE &&
			strcmp(m->component, s->topic->component) == 0);
	return is_a && is_b && behind <= SAME_CAUSE_LINES;
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

#define WENT_ON_LINES 20 /* lines without an error, behind which a failure is forgotten */
#define PROGRESS_LINES 3 /* lines of work that the end of a job does not leave behind */
#define OPEN_LINES 4	 /* plain lines that a job that has failed does not write */

/* A job whose ranks no longer reach each other hangs, and the other ranks go on writing. */
static bool can_hang(const struct message *m)
{
	return sign_is_in_text(SIGN_HANG, span_of(m->component)) ||
	       sign_is_in_text(SIGN_HANG, span_of(m->id));
}

/* A failure, and what the log has behind it. */
struct aftermath {
	bool is_mild;	  /* its own line says that it is none, or only its words are known */
	bool is_bad;	  /* the job ended badly */
	bool is_hang;	  /* lines of other ranks tell nothing */
	bool is_fatal;	  /* its process ends, or can do no more */
	bool went_on;	  /* a process of the job did its work */
	bool has_gone_on; /* the process that printed it did */
	bool is_raised;	  /* an exception, behind which buffered lines can still be written */
	struct ending_behind behind;
};

/* Does its program end with it, as the source of the message or its line says? */
static bool is_fatal(const struct job_event *e)
{
	return !e->is_calm &&
	       (sign_is_in_text(SIGN_FATAL, span_of(e->message->id)) ||
		sign_is_in_text(SIGN_FATAL, span_of(e->first.text ? e->first.text : "")));
}

/* The kernel and services print of other processes: no work is theirs. */
static bool is_of_system(const struct job_event *e)
{
	return sign_is_in_text(SIGN_SYSTEM, span_of(e->message->component));
}

static struct ending_message message_place(const struct job_event *e)
{
	return (struct ending_message){ .first = e->first.line,
					.last = e->last_line,
					.host = e->first.host,
					.rank = e->one_rank };
}

/* Lines of work that show that a failure was no end. */
static uint32_t work_needed(const struct job_event *e)
{
	return e->is_calm || e->message->when ? 1 : PROGRESS_LINES;
}

static struct aftermath aftermath_of(const struct job_event *e, const struct ending *ending)
{
	const struct ending_message place = message_place(e);
	struct aftermath a = { .is_mild = e->is_calm || e->message->when,
			       .behind = ending_behind(ending, &place) };

	a.is_bad = a.is_mild ? a.behind.is_very_bad : a.behind.is_bad;
	a.is_raised = !e->is_calm && a.behind.is_raised;
	a.is_hang = !a.is_mild && can_hang(e->message);
	a.is_fatal = is_fatal(e);
	a.went_on = !a.is_bad && a.behind.progress >= work_needed(e);
	/* A line that says of itself that it is no failure needs no other evidence. */
	a.has_gone_on = a.went_on && (e->is_calm || (!is_of_system(e) && !a.is_fatal &&
						     a.behind.own >= work_needed(e)));
	return a;
}

/* No failure ended a job that succeeded, or that went on. A process that has ended does not go on; others can take its
 * place. */
static bool is_survived(const struct job_event *e, const struct ending *ending)
{
	struct aftermath a = aftermath_of(e, ending);

	if (e->message->kind > MESSAGE_CONSEQUENCE)
		return false;
	if (ending->is_success || (a.is_mild && ending->is_good))
		return true;
	if (a.is_bad)
		return false;
	if (a.went_on && a.behind.overcome)
		return true;
	return (a.has_gone_on && !a.is_raised) || (a.is_mild && a.behind.calm >= WENT_ON_LINES);
}

/* Neither did the job go on behind this failure nor did it end, as far as the log tells. */
static bool is_open(const struct job_event *e, const struct ending *ending)
{
	struct aftermath a = aftermath_of(e, ending);
	uint32_t plain = a.is_mild ? 1 : OPEN_LINES;

	if (e->message->kind > MESSAGE_CONSEQUENCE || e->survived || a.is_bad)
		return false;
	return a.went_on || (!a.is_hang && !a.is_fatal && a.behind.plain >= plain);
}

/* The same of a line that is only known to read like an error. */
static bool is_place_survived(const struct job_place *place, const struct ending *ending)
{
	const struct ending_message own = {
		.first = place->line, .last = place->line, .host = place->host, .rank = place->rank
	};
	struct ending_behind behind = ending_behind(ending, &own);

	if (ending->is_success || ending->is_raised)
		return ending->is_success;
	return (ending->is_good && !ending->is_bad) ||
	       (!behind.is_very_bad && (behind.own || behind.calm >= WENT_ON_LINES));
}

static bool is_cause(const struct message *m)
{
	return m->weight == FAILURE_CAUSE || m->weight == FAILURE_LOSS;
}

/* Did the process of E do its work between E and a later failure? Then that one is the first of its end. */
static bool is_left_behind(const struct job *job, const struct job_event *e,
			   const struct ending *ending)
{
	const struct ending_message place = message_place(e);
	struct aftermath a = aftermath_of(e, ending);

	if (e->message->kind > MESSAGE_CONSEQUENCE || is_cause(e->message) ||
	    (a.is_raised && !a.behind.overcome))
		return false;
	for_each(f, &job->events)
		if (f->message->kind == MESSAGE_FAILURE && !f->is_calm && !f->message->when &&
		    f->first.line > e->last_line &&
		    ending_progress(ending, &place, f->first.line) >= work_needed(e))
			return true;
	return false;
}

/* The log shows that the job failed if one of its failures is not open. */
static void find_outcome(struct job *job, const struct ending *ending)
{
	bool has_open = false, has_end = false;

	for (uint32_t i = 0; i < job->events.count; i++) {
		struct job_event *e = &job->events.items[i];
		bool open;

		e->survived = is_survived(e, ending) || is_left_behind(job, e, ending);
		open = is_open(e, ending);
		has_open |= open;
		has_end |= e->message->kind <= MESSAGE_CONSEQUENCE && !e->survived && !open;
	}
	job->is_open = has_open && !has_end;
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
	if (is_survived(&event, ending))
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

/* A process whose lines have no number can be the one whose lines have no process. */
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
	find_outcome(r->job, &ending);
	r->job->unrecognised_survived = is_place_survived(&r->job->unrecognised, &ending);
	return r->job;
}

/* The first one that counts before M. A GPU that is lost explains all that an Xid can explain. */
static const struct job_event *first_cause(const struct job *job, const struct message *m)
{
	bool is_symptom = m->weight == FAILURE_SYMPTOM,
	     is_of_gpu = !is_cause(m) && message_names_rule(m, "log/xid") >= 0;

	for_each(e, &job->events)
		if (!e->survived && ((is_symptom && is_cause(e->message)) ||
				     (is_of_gpu && e->message->weight == FAILURE_LOSS)))
			return e;
	return NULL;
}

static const struct job_event *first_failure(const struct job *job, bool may_be_calm)
{
	for_each(e, &job->events)
		if (e->message->kind == MESSAGE_FAILURE && !e->survived &&
		    (may_be_calm || !e->is_calm))
			return e;
	return NULL;
}

/* A line that says of itself that it is no failure counts before a failure of the same program, and where there is none. */
const struct job_event *job_decisive(const struct job *job)
{
	const struct job_event *first = first_failure(job, true), *plain, *cause;

	if (!first)
		return NULL;
	plain = first_failure(job, false);
	if (plain && strcmp(plain->message->component, first->message->component) != 0)
		first = plain;
	cause = first_cause(job, first->message);
	return cause ? cause : first;
}
