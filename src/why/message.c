/* SPDX-License-Identifier: GPL-2.0-or-later */
/* message.c - messages of the programs that a job runs, and their meaning: the table data/messages.tsv. */
#include "why/message.h"

#include <fnmatch.h>
#include <stdint.h>
#include <string.h>

#include "base/packed.h"

/* A row of the table without its texts. */
struct row {
	uint8_t kind, weight, parts;
	bool binds_rank, same_facts;
	int16_t anchor_at;
};
#include "messages.inc"
#include "topics.inc"

static struct message messages[MESSAGES + TOPICS];
static struct message_part parts[MESSAGE_PARTS];

const char *const message_kind_words[] = {
	[MESSAGE_FAILURE] = "failure",	 [MESSAGE_CONSEQUENCE] = "consequence",
	[MESSAGE_FALLBACK] = "fallback", [MESSAGE_CHOICE] = "choice",
	[MESSAGE_HARMLESS] = "harmless", NULL,
};

/* In the order in which data/messages.awk writes them. */
static void take_texts(struct message *m, struct message_part *own, const char **at)
{
	m->id = packed_text(at);
	m->component = packed_text(at);
	m->pattern = packed_text(at);
	m->since = packed_optional(at);
	m->until = packed_optional(at);
	m->meaning = packed_text(at);
	m->rules = packed_optional(at);
	m->elsewhere = packed_optional(at);
	m->facts = packed_optional(at);
	m->source = packed_text(at);
	m->parts = own;
	for (size_t i = 0; i < m->parts_count; i++) {
		own[i].text = packed_text(at);
		own[i].n = strlen(own[i].text);
		own[i].variable = packed_optional(at);
		m->fixed += own[i].n;
	}
	m->anchor = packed_text(at);
}

/* In the order in which data/topics.awk writes them. */
static void take_topics(void)
{
	const char *at = topic_texts;

	for (size_t i = 0; i < TOPICS; i++) {
		struct message *m = &messages[MESSAGES + i];

		*m = (struct message){ .kind = MESSAGE_FAILURE,
				       .pattern = "",
				       .anchor_at = -1,
				       .when = topic_whens[i] };
		m->id = packed_text(&at);
		m->component = packed_text(&at);
		m->meaning = packed_text(&at);
		m->rules = packed_optional(&at);
		m->elsewhere = packed_optional(&at);
		m->source = packed_text(&at);
		m->words = packed_text(&at);
		m->reasons = packed_optional(&at);
	}
}

const struct message *message_all(size_t *count)
{
	struct message_part *own = parts;
	const char *at = texts;

	*count = MESSAGES + TOPICS;
	if (messages[0].id)
		return messages;
	take_topics();
	for (size_t i = 0; i < MESSAGES; i++) {
		const struct row *row = &rows[i];

		messages[i] = (struct message){ .kind = row->kind,
						.weight = row->weight,
						.parts_count = row->parts,
						.anchor_at = row->anchor_at,
						.binds_rank = row->binds_rank,
						.same_facts = row->same_facts };
		take_texts(&messages[i], own, &at);
		own += row->parts;
	}
	return messages;
}

/* Returns the next place of PART at or after FROM, or NULL. */
static const char *find_part(const struct message_part *part, const char *from, const char *end)
{
	return part->n ? memmem(from, (size_t)(end - from), part->text, part->n) : from;
}

/* Each part is matched at its first place after the part before it. If the pattern matches at all, it matches so. */
bool message_match(const struct message *message, struct span line, const char *from,
		   struct message_match *match)
{
	const char *at = from, *end = line.p + line.n;

	match->message = message;
	for (size_t i = 0; i < message->parts_count; i++) {
		const struct message_part *part = &message->parts[i];
		const char *found = find_part(part, at, end);

		if (!found)
			return false;
		if (i)
			match->values[i - 1] = (struct span){ at, (size_t)(found - at) };
		at = found + part->n;
		match->values[i] = (struct span){ at, (size_t)(end - at) };
	}
	return true;
}

bool message_variable(const struct message_match *match, struct span name, struct span *value)
{
	const struct message *m = match->message;

	for (size_t i = 0; i < m->parts_count; i++)
		if (m->parts[i].variable && span_is(name, m->parts[i].variable)) {
			*value = match->values[i];
			return true;
		}
	return false;
}

/* Expands a variable in TEXT into NAME. False: too long. */
static bool fill_name(const struct message_match *match, struct span text,
		      char name[MESSAGE_FACT_MAX])
{
	size_t open = span_find(text, '{'), n = 0;
	struct span value = { 0 }, piece[3] = { { text.p, open } };

	if (open < text.n) {
		struct span inside = { text.p + open + 1, text.n - open - 1 };
		size_t end = span_find(inside, '}');

		message_variable(match, (struct span){ inside.p, end }, &value);
		piece[1] = value;
		if (end < inside.n)
			piece[2] = (struct span){ inside.p + end + 1, inside.n - end - 1 };
	}
	for (int i = 0; i < 3; i++) {
		if (piece[i].n >= MESSAGE_FACT_MAX - n)
			return false;
		if (piece[i].n)
			memcpy(name + n, piece[i].p, piece[i].n);
		n += piece[i].n;
	}
	name[n] = '\0';
	return true;
}

bool message_next_fact(const struct message_match *match, struct span *rest,
		       struct message_fact *fact)
{
	struct span text;
	size_t n;

	*fact = (struct message_fact){ 0 };
	if (!span_cut(rest, ';', &text))
		return false;
	n = span_find(text, '=');
	fact->value = n < text.n ? (struct span){ text.p + n + 1, text.n - n - 1 }
				 : (struct span){ 0 };
	if (fact->value.n > 2 && fact->value.p[0] == '{' &&
	    !message_variable(match, (struct span){ fact->value.p + 1, fact->value.n - 2 },
			      &fact->value))
		fact->value = (struct span){ 0 };
	fact->value = span_trim(fact->value);
	if (!fill_name(match, (struct span){ text.p, n }, fact->name))
		*fact->name = '\0';
	return true;
}

int message_names_rule(const struct message *message, const char *id)
{
	struct span rest = span_of(message->rules ? message->rules : ""), one;
	char pattern[128];

	for (int place = 0; span_cut(&rest, ',', &one); place++) {
		if (one.n >= sizeof(pattern))
			continue;
		memcpy(pattern, one.p, one.n);
		pattern[one.n] = '\0';
		if (fnmatch(pattern, id, 0) == 0)
			return place;
	}
	return -1;
}
