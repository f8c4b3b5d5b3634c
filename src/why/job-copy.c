/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job-copy.c - copies the job of a child's window into memory of this process. */
#include <string.h>

#include "why/job.h"

struct copy {
	const struct window *from;
	struct arena *to;
	struct job *job;
};

static const char *copy_text(const struct copy *c, const char *const *text)
{
	return window_copy(c->from, WINDOW_READ(*text), c->to);
}

/* A text that is always there. */
static const char *copy_word(const struct copy *c, const char *const *text)
{
	const char *copy = copy_text(c, text);

	return copy ? copy : "";
}

/* The table is this program's own, at the same place in both processes. NULL: none of it. */
static const struct message *read_message(const struct message *const *from)
{
	const struct message *message = WINDOW_READ(*from);
	size_t count;
	const struct message *all = message_all(&count);

	uintptr_t at = (uintptr_t)message - (uintptr_t)all;

	return at % sizeof(*all) == 0 && at / sizeof(*all) < count ? message : NULL;
}

/* A number of a list with COUNT items. */
static uint32_t read_number(const uint32_t *from, uint32_t count)
{
	uint32_t number = WINDOW_READ(*from);

	return number < count ? number : JOB_NOBODY;
}

/* Gets the items of the list FROM and returns their number, at most MOST. The list is not trusted. */
static uint32_t read_list(const struct copy *c, const void *from, size_t size, uint32_t most,
			  const void **items)
{
	const struct fact_list *list = from;
	uint32_t count = WINDOW_READ(list->count);

	*items = WINDOW_READ(list->items);
	return count <= most && window_holds(c->from, *items, count, size) ? count : 0;
}

static uint8_t *copy_bits(const struct copy *c, uint8_t *const *from, size_t most)
{
	const uint8_t *bits = WINDOW_READ(*from);

	if (!bits || !window_holds(c->from, bits, most / 8, 1))
		return NULL;
	return memcpy(arena_alloc(c->to, most / 8), bits, most / 8);
}

/* After the hosts and ranks, to whose numbers it refers. */
static struct job_place copy_place(const struct copy *c, const struct job_place *from)
{
	return (struct job_place){
		.line = WINDOW_READ(from->line),
		.host = read_number(&from->host, c->job->hosts.count),
		.rank = read_number(&from->rank, c->job->ranks.count),
		.time = copy_text(c, &from->time),
		.text = copy_text(c, &from->text),
	};
}

static void copy_event(const struct copy *c, const struct job_event *from)
{
	struct job_event e = { .message = read_message(&from->message) };

	if (!e.message)
		return;
	e.count = WINDOW_READ(from->count);
	e.last_line = WINDOW_READ(from->last_line);
	e.hosts = WINDOW_READ(from->hosts);
	e.ranks = WINDOW_READ(from->ranks);
	e.host_bits = copy_bits(c, &from->host_bits, JOB_HOSTS_MAX);
	e.rank_bits = copy_bits(c, &from->rank_bits, JOB_RANKS_MAX);
	e.is_mild = *(const volatile char *)&from->is_mild != 0;
	e.outcome = WINDOW_READ(from->outcome);
	if (e.outcome >= JOB_OUTCOMES)
		e.outcome = JOB_ENDED;
	e.first = copy_place(c, &from->first);
	*LIST_ADD(c->to, &c->job->events) = e;
}

static void copy_host(const struct copy *c, const struct job_host *from)
{
	*LIST_ADD(c->to, &c->job->hosts) = (struct job_host){
		.name = copy_word(c, &from->name),
		.lines = WINDOW_READ(from->lines),
		.failures = WINDOW_READ(from->failures),
		.failure = read_message(&from->failure),
		.failure_line = WINDOW_READ(from->failure_line),
	};
}

static void copy_rank(const struct copy *c, const struct job_rank *from)
{
	*LIST_ADD(c->to, &c->job->ranks) = (struct job_rank){
		.number = WINDOW_READ(from->number),
		.pid = WINDOW_READ(from->pid),
		.host = read_number(&from->host, c->job->hosts.count),
		.failure = read_message(&from->failure),
		.failure_line = WINDOW_READ(from->failure_line),
	};
}

static void copy_fact(const struct copy *c, const struct job_fact *from)
{
	*LIST_ADD(c->to, &c->job->facts) = (struct job_fact){
		.name = copy_word(c, &from->name),
		.value = copy_word(c, &from->value),
		.host = read_number(&from->host, c->job->hosts.count),
		.line = WINDOW_READ(from->line),
	};
}

/* Hosts and ranks first: the others have their numbers. */
static void copy_lists(const struct copy *c, const struct job *from)
{
	const void *items;
	size_t messages;
	uint32_t n = read_list(c, &from->hosts, sizeof(struct job_host), JOB_HOSTS_MAX, &items);

	for (uint32_t i = 0; i < n; i++)
		copy_host(c, (const struct job_host *)items + i);
	n = read_list(c, &from->ranks, sizeof(struct job_rank), JOB_RANKS_MAX, &items);
	for (uint32_t i = 0; i < n; i++)
		copy_rank(c, (const struct job_rank *)items + i);
	n = read_list(c, &from->facts, sizeof(struct job_fact), JOB_FACTS_MAX, &items);
	for (uint32_t i = 0; i < n; i++)
		copy_fact(c, (const struct job_fact *)items + i);
	message_all(&messages);
	n = read_list(c, &from->events, sizeof(struct job_event), (uint32_t)messages, &items);
	for (uint32_t i = 0; i < n; i++)
		copy_event(c, (const struct job_event *)items + i);
}

const struct job *job_copy(const struct job *from, const struct window *window, struct arena *arena)
{
	const struct copy c = { .from = window,
				.to = arena,
				.job = arena_alloc(arena, sizeof(*c.job)) };

	if (!window_holds(window, from, 1, sizeof(*from)))
		return NULL;
	c.job->lines = WINDOW_READ(from->lines);
	c.job->bytes = WINDOW_READ(from->bytes);
	c.job->recognised = WINDOW_READ(from->recognised);
	for (size_t i = 0; i < MESSAGE_KINDS; i++)
		c.job->counts[i] = WINDOW_READ(from->counts[i]);
	c.job->is_cut = *(const volatile char *)&from->is_cut != 0;
	c.job->read = WINDOW_READ(from->read);
	if (c.job->read != JOB_READ_WHOLE && c.job->read != JOB_READ_SIZE)
		c.job->read = JOB_READ_TIME;
	c.job->is_undecided = *(const volatile char *)&from->is_undecided != 0;
	copy_lists(&c, from);
	c.job->unrecognised = copy_place(&c, &from->unrecognised);
	c.job->unrecognised_survived = *(const volatile char *)&from->unrecognised_survived != 0;
	return c.job;
}
