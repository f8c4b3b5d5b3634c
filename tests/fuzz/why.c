/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A job's log, in portions of any size: all that is kept of it is bounded, and what was counted adds up. A line that is
 * taken apart, and one of JSON, lie inside the log. */
#include "fuzz.h"

#include <stdlib.h>

#include "why/job.h"

static void parse_line(struct span text)
{
	struct line line;
	struct json_line json;
	char *room = malloc(text.n + 1);

	line_parse(&line, text);
	check_inside(text, line.text);
	check_inside(text, line.host);
	check_inside(text, line.time);
	assert(room && line.rank >= LINE_NONE && line.pid >= LINE_NONE && line.gpu >= LINE_NONE);
	if (json_line_parse(&json, text, room))
		assert(json.message.p == room && json.message.n <= text.n);
	free(room);
}

static void check_event(const struct job *job, const struct job_event *e)
{
	/* A line that is understood by a topic is not counted as recognised. */
	assert(e->message->kind <= MESSAGE_FALLBACK && e->count >= 1 &&
	       e->count <= (e->message->anchor ? job->recognised : job->lines));
	assert(e->first.line >= 1 && e->first.line <= e->last_line && e->last_line <= job->lines);
	assert(e->first.host == JOB_NOBODY || e->first.host < job->hosts.count);
	assert(e->first.rank == JOB_NOBODY || e->first.rank < job->ranks.count);
	assert(!e->first.text || strlen(e->first.text) <= JOB_TEXT_MAX);
}

static void check_job(const struct job *job, struct span text)
{
	uint64_t lines = 0;

	for (size_t i = 0; i < text.n; i++)
		lines += text.p[i] == '\n';
	assert(job->bytes == text.n && job->lines >= lines && job->lines <= lines + 1);
	assert(job->hosts.count <= JOB_HOSTS_MAX && job->ranks.count <= JOB_RANKS_MAX);
	assert(job->facts.count <= JOB_FACTS_MAX);
	assert(job->unrecognised.line <= job->lines);
	for_each(e, &job->events)
		check_event(job, e);
	for_each(f, &job->facts)
		assert(*f->name && *f->value && f->line <= job->lines);
}

/* The first byte is the size of a portion. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = fuzz_span(data, size), rest, line;
	size_t portion = (size_t)fuzz_byte(&text) + 1;
	struct job_reader *reader = job_begin(fuzz_arena());

	for (size_t i = 0; i < text.n; i += portion)
		job_feed(reader,
			 (struct span){ text.p + i, text.n - i < portion ? text.n - i : portion });
	check_job(job_end(reader), text);
	for (rest = text; span_cut(&rest, '\n', &line);)
		parse_line(line);
	return 0;
}
