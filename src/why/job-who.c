/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job-who.c - whose line it is, and what the job tells of itself. */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/siphash.h"
#include "why/job-private.h"

#define KEY_MAX 320
#define FACT_MAX 120 /* bytes of a value */

/* ---- names ---- */

void name_table_init(struct name_table *table, struct arena *arena, size_t places)
{
	table->slots = arena_alloc(arena, places * sizeof(*table->slots));
	table->mask = places - 1;
	/* Without randomness a log could be made to be read slowly. */
	if (getrandom(table->key, sizeof(table->key), GRND_NONBLOCK) < 0)
		memset(table->key, 0, sizeof(table->key));
}

uint32_t *name_table_slot(struct name_table *table, const char *name, name_of *of, const void *user)
{
	size_t at = siphash(table->key, name, strlen(name)) & table->mask;

	while (table->slots[at] && strcmp(of(user, table->slots[at] - 1), name) != 0)
		at = (at + 1) & table->mask;
	return &table->slots[at];
}

static const char *host_name(const void *user, uint32_t number)
{
	return ((const struct job *)user)->hosts.items[number].name;
}

static const char *rank_key(const void *user, uint32_t number)
{
	return ((const struct job *)user)->ranks.items[number].key;
}

static const char *fact_key(const void *user, uint32_t number)
{
	return ((const struct job *)user)->facts.items[number].key;
}

/* ---- hosts and ranks ---- */

uint32_t job_host_number(struct job_reader *r, struct span name)
{
	struct job *job = r->job;
	char text[KEY_MAX];
	uint32_t *slot;

	if (!name.n || name.n >= sizeof(text))
		return JOB_NOBODY;
	memcpy(text, name.p, name.n);
	text[name.n] = '\0';
	slot = name_table_slot(&r->hosts, text, host_name, job);
	if (*slot)
		return *slot - 1;
	if (job->hosts.count == JOB_HOSTS_MAX) {
		job->is_cut = true;
		return JOB_NOBODY;
	}
	LIST_ADD(r->arena, &job->hosts)->name = arena_strdup(r->arena, text);
	*slot = job->hosts.count;
	return *slot - 1;
}

static struct job_rank *find_rank(struct job_reader *r, const char *key)
{
	struct job *job = r->job;
	uint32_t *slot = name_table_slot(&r->ranks, key, rank_key, job);
	struct job_rank *rank;

	if (*slot)
		return &job->ranks.items[*slot - 1];
	if (job->ranks.count == JOB_RANKS_MAX) {
		job->is_cut = true;
		return NULL;
	}
	rank = LIST_ADD(r->arena, &job->ranks);
	*rank = (struct job_rank){ .key = arena_strdup(r->arena, key),
				   .number = LINE_NONE,
				   .pid = LINE_NONE,
				   .host = JOB_NOBODY };
	*slot = job->ranks.count;
	return rank;
}

static struct job_rank *numbered_rank(struct job_reader *r, int64_t number)
{
	char key[KEY_MAX];
	struct job_rank *rank;

	snprintf(key, sizeof(key), "rank %lld", (long long)number);
	rank = find_rank(r, key);
	if (rank)
		rank->number = number;
	return rank;
}

/* A process that drives several GPUs has a rank for each. */
static struct job_rank *process_rank(struct job_reader *r, const struct line *line, uint32_t host)
{
	char key[KEY_MAX];
	struct job_rank *rank;

	snprintf(key, sizeof(key), "%u:%lld:%lld", host, (long long)line->pid,
		 (long long)line->gpu);
	rank = find_rank(r, key);
	if (rank)
		rank->pid = line->pid;
	return rank;
}

uint32_t job_rank_number(struct job_reader *r, const struct line *line, uint32_t host)
{
	struct job_rank *rank = NULL;

	if (line->rank != LINE_NONE)
		rank = numbered_rank(r, line->rank);
	else if (line->pid != LINE_NONE)
		rank = process_rank(r, line, host);
	if (rank && line->rank == LINE_NONE && rank->number != LINE_NONE)
		rank = numbered_rank(r, rank->number);
	if (!rank)
		return JOB_NOBODY;
	if (rank->host == JOB_NOBODY)
		rank->host = host;
	return (uint32_t)(rank - r->job->ranks.items);
}

/* ---- facts ---- */

static void add_fact(struct job_reader *r, struct span name, struct span value, uint32_t host)
{
	struct job *job = r->job;
	struct job_fact *fact;
	char key[KEY_MAX];
	uint32_t *slot;

	if (!name.n || !value.n || name.n > FACT_MAX)
		return;
	value.n = value.n < FACT_MAX ? value.n : FACT_MAX;
	snprintf(key, sizeof(key), "%.*s\n%.*s\n%u", SPAN_FMT(name), SPAN_FMT(value), host);
	slot = name_table_slot(&r->facts, key, fact_key, job);
	if (*slot) {
		job->facts.items[*slot - 1].count++;
		return;
	}
	if (job->facts.count == JOB_FACTS_MAX) {
		job->is_cut = true;
		return;
	}
	fact = LIST_ADD(r->arena, &job->facts);
	*fact = (struct job_fact){ .key = arena_strdup(r->arena, key),
				   .name = arena_strndup(r->arena, name.p, name.n),
				   .value = arena_strndup(r->arena, value.p, value.n),
				   .host = host,
				   .line = job->lines + 1,
				   .count = 1 };
	*slot = job->facts.count;
}

/* One word, without the marks that end a clause. */
static struct span first_word(struct span text)
{
	for (size_t i = 0; i < text.n; i++)
		if (strchr(" \t\"',;", text.p[i])) {
			text.n = i;
			break;
		}
	while (text.n && strchr(".:)]", text.p[text.n - 1]))
		text.n--;
	return text;
}

/* "[0]mlx5_0:1/IB [1]mlx5_3:1/IB [RO]", "mlx5_0:1": the names of the devices in it. */
static void add_devices(struct job_reader *r, struct span name, struct span value, uint32_t host)
{
	struct span word;

	while (span_word(&value, &word)) {
		size_t end = span_find(word, ']');

		if (*word.p == '[' && end < word.n) {
			word.p += end + 1;
			word.n -= end + 1;
		}
		word.n = span_find(word, ':');
		add_fact(r, name, first_word(word), host);
	}
}

/* "NCCL INFO comm 0x7f rank 3 nranks 16 ...": which rank the process of this line is. */
static void bind_rank(struct job_reader *r, const struct line *line, uint32_t host)
{
	const char *found = span_search(line->text, " rank "), *end = line->text.p + line->text.n;
	struct job_rank *rank;
	struct span rest, number;
	uint64_t value;

	if (!found || line->pid == LINE_NONE || line->rank != LINE_NONE)
		return;
	rest = (struct span){ found + 6, (size_t)(end - found - 6) };
	if (!span_word(&rest, &number) || span_u64(number, 10, &value) || value > INT32_MAX ||
	    !span_word(&rest, &number) || !span_is(number, "nranks"))
		return;
	rank = process_rank(r, line, host);
	if (rank)
		rank->number = (int64_t)value;
}

void job_take_facts(struct job_reader *r, const struct message_match *match,
		    const struct line *line, uint32_t host)
{
	struct span rest = span_of(match->message->facts ? match->message->facts : "");
	struct message_fact fact;

	bind_rank(r, line, host);
	while (message_next_fact(match, &rest, &fact)) {
		struct span name = span_of(fact.name);

		if (span_is(name, "hca"))
			add_devices(r, name, fact.value, host);
		else
			add_fact(r, name, first_word(fact.value), host);
	}
}
