/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job-who.c - the host and rank of a line, and the facts that the job prints about itself. */
#include <string.h>

#include "base/siphash.h"
#include "why/job-private.h"

#define NAME_MAX_BYTES 255 /* of a host */
#define FACT_MAX 120	   /* bytes of a value */

/* ---- keys ---- */

void key_table_init(struct key_table *table, struct arena *arena, uint32_t most)
{
	size_t places = 2 * (size_t)most; /* a power of two, as MOST is */

	*table = (struct key_table){ .most = most, .mask = places - 1 };
	table->slots = arena_alloc(arena, places * sizeof(*table->slots));
	table->keys = arena_alloc(arena, most * sizeof(*table->keys));
	siphash_secret(table->secret);
}

static bool is_same(struct span a, struct span b)
{
	return a.n == b.n && memcmp(a.p, b.p, a.n) == 0;
}

/* A hash for speed only: a collision costs time. */
static size_t cheap_hash(struct span key)
{
	uint64_t hash = key.n, word;

	for (; key.n >= sizeof(word); key.p += sizeof(word), key.n -= sizeof(word)) {
		memcpy(&word, key.p, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	word = 0;
	memcpy(&word, key.p, key.n);
	return (size_t)((hash ^ word) * 0x9e3779b97f4a7c15u >> 56) % KEYS_RECENT;
}

/* The slot of KEY, or the free one in which it would be. */
static size_t find_slot(const struct key_table *table, struct span key)
{
	size_t at = siphash(table->secret, key.p, key.n) & table->mask;

	while (table->slots[at] && !is_same(table->keys[table->slots[at] - 1], key))
		at = (at + 1) & table->mask;
	return at;
}

/* Returns the number of KEY, or JOB_NOBODY. */
static uint32_t key_table_find(const struct key_table *table, struct span key)
{
	uint32_t place = table->slots[find_slot(table, key)];

	return place ? place - 1 : JOB_NOBODY;
}

static uint32_t find_number(struct key_table *table, struct arena *arena, struct span key,
			    bool *is_new)
{
	size_t at = find_slot(table, key);

	*is_new = !table->slots[at];
	if (!*is_new)
		return table->slots[at] - 1;
	if (table->count == table->most) {
		*is_new = false;
		return JOB_NOBODY;
	}
	table->keys[table->count] = (struct span){ arena_strndup(arena, key.p, key.n), key.n };
	table->slots[at] = ++table->count;
	return table->count - 1;
}

/* Returns the number of KEY. A new KEY is copied, and *IS_NEW set. JOB_NOBODY: the table is full. */
static uint32_t key_table_number(struct key_table *table, struct arena *arena, struct span key,
				 bool *is_new)
{
	uint32_t *recent = &table->recent[cheap_hash(key)], number;

	*is_new = false;
	if (*recent && is_same(table->keys[*recent - 1], key))
		return *recent - 1;
	number = find_number(table, arena, key, is_new);
	if (number != JOB_NOBODY)
		*recent = number + 1;
	return number;
}

/* Like key_table_number(). A job with more names than the table holds is marked as cut. */
static uint32_t number_of(struct job_reader *r, struct key_table *table, struct span key,
			  bool *is_new)
{
	uint32_t number = key_table_number(table, r->arena, key, is_new);

	r->job->is_cut |= number == JOB_NOBODY;
	return number;
}

/* ---- hosts and ranks ---- */

uint32_t job_host_number(struct job_reader *r, struct span name)
{
	uint32_t number;
	bool is_new;

	if (!name.n || name.n > NAME_MAX_BYTES)
		return JOB_NOBODY;
	number = number_of(r, &r->hosts, name, &is_new);
	if (is_new)
		LIST_ADD(r->arena, &r->job->hosts)->name = r->hosts.keys[number].p;
	return number;
}

/* A rank by its number, or a process by its host; one that drives several GPUs has a rank for each. */
struct rank_key {
	int64_t number, pid, gpu;
	uint64_t host;
};

static struct job_rank *find_rank(struct job_reader *r, const struct rank_key *key)
{
	struct span bytes = { (const char *)key, sizeof(*key) };
	bool is_new;
	uint32_t number = number_of(r, &r->ranks, bytes, &is_new);

	if (is_new)
		*LIST_ADD(r->arena, &r->job->ranks) = (struct job_rank){ .number = key->number,
									 .pid = key->pid,
									 .host = JOB_NOBODY };
	return number == JOB_NOBODY ? NULL : &r->job->ranks.items[number];
}

static struct job_rank *numbered_rank(struct job_reader *r, int64_t number)
{
	const struct rank_key key = { .number = number, .pid = LINE_NONE };

	return find_rank(r, &key);
}

static struct job_rank *process_rank(struct job_reader *r, const struct line *line, uint32_t host)
{
	const struct rank_key key = {
		.number = LINE_NONE, .pid = line->pid, .gpu = line->gpu, .host = host
	};

	return find_rank(r, &key);
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

static uint32_t find_or_other(const struct key_table *table, struct span key)
{
	uint32_t number = key_table_find(table, key);

	return number == JOB_NOBODY ? JOB_OTHER : number;
}

static uint32_t find_known_rank(const struct job_reader *r, const struct rank_key *key)
{
	return find_or_other(&r->ranks, (struct span){ (const char *)key, sizeof(*key) });
}

uint32_t job_one_number(const struct job_reader *r, uint32_t rank)
{
	struct rank_key key = { .pid = LINE_NONE };
	uint32_t numbered;

	if (rank >= JOB_OTHER || r->job->ranks.items[rank].number == LINE_NONE)
		return rank;
	key.number = r->job->ranks.items[rank].number;
	numbered = find_known_rank(r, &key);
	return numbered == JOB_OTHER ? rank : numbered;
}

struct job_place job_find_place(struct job_reader *r, const struct line *line)
{
	struct rank_key key = { .number = line->rank, .pid = LINE_NONE };
	struct job_place place = { .host = JOB_NOBODY, .rank = JOB_NOBODY };

	if (line->host.n)
		place.host = find_or_other(&r->hosts, line->host);
	if (line->rank != LINE_NONE) {
		place.rank = find_known_rank(r, &key);
	} else if (line->pid != LINE_NONE) {
		key = (struct rank_key){
			.number = LINE_NONE, .pid = line->pid, .gpu = line->gpu, .host = place.host
		};
		place.rank = job_one_number(r, find_known_rank(r, &key));
	}
	return place;
}

/* ---- facts ---- */

/* The key is the name, the value and the host, the first two as strings. */
static void add_fact(struct job_reader *r, struct span name, struct span value, uint32_t host)
{
	char key[MESSAGE_FACT_MAX + FACT_MAX + 2 + sizeof(host)];
	uint32_t number;
	bool is_new;

	if (!name.n || !value.n || name.n >= MESSAGE_FACT_MAX)
		return;
	value.n = value.n < FACT_MAX ? value.n : FACT_MAX;
	memcpy(key, name.p, name.n);
	key[name.n] = '\0';
	memcpy(key + name.n + 1, value.p, value.n);
	key[name.n + 1 + value.n] = '\0';
	memcpy(key + name.n + value.n + 2, &host, sizeof(host));
	number = number_of(r, &r->facts, (struct span){ key, name.n + value.n + 2 + sizeof(host) },
			   &is_new);
	if (is_new)
		*LIST_ADD(r->arena, &r->job->facts) =
			(struct job_fact){ .name = r->facts.keys[number].p,
					   .value = r->facts.keys[number].p + name.n + 1,
					   .host = host,
					   .line = r->job->lines + 1 };
}

/* Returns the first word, without the marks that end a clause. */
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

/* "comm 0x7f rank 3 nranks 16 ...": which rank the process of this line is. */
static void bind_rank(struct job_reader *r, const struct message_match *match,
		      const struct line *line, uint32_t host)
{
	struct job_rank *rank;
	struct span text;
	uint64_t number;

	if (line->pid == LINE_NONE || line->rank != LINE_NONE ||
	    !message_variable(match, SPAN("rank"), &text) || span_u64(text, 10, &number) ||
	    number > INT32_MAX)
		return;
	rank = process_rank(r, line, host);
	if (rank)
		rank->number = (int64_t)number;
}

/* Facts without a variable are taken from a host once: most lines of some logs have them. */
static bool was_told(struct job_reader *r, const struct message *message, uint32_t host)
{
	uint8_t **bits = &r->told[message - r->messages], bit;
	uint32_t place = host == JOB_NOBODY ? JOB_HOSTS_MAX : host;
	bool told;

	if (!message->same_facts)
		return false;
	if (!*bits)
		*bits = arena_alloc(r->arena, JOB_HOSTS_MAX / 8 + 1);
	bit = (uint8_t)(1 << place % 8);
	told = (*bits)[place / 8] & bit;
	(*bits)[place / 8] |= bit;
	return told;
}

void job_take_facts(struct job_reader *r, const struct message_match *match,
		    const struct line *line, uint32_t host)
{
	const struct message *message = match->message;
	struct span rest = span_of(message->facts ? message->facts : "");
	struct message_fact fact;

	if (message->binds_rank)
		bind_rank(r, match, line, host);
	if (!rest.n || was_told(r, message, host))
		return;
	while (message_next_fact(match, &rest, &fact)) {
		struct span name = span_of(fact.name);

		if (span_is(name, "hca"))
			add_devices(r, name, fact.value, host);
		else
			add_fact(r, name, first_word(fact.value), host);
	}
}
