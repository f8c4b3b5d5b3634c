/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * message.h - messages of the programs that a job runs, and their meaning: the table data/messages.tsv.
 *
 * A pattern is literal text with variables between. A variable is any run of characters, the shortest one. A pattern is
 * found anywhere in a line. A topic (data/topics.tsv) is a message without a pattern: it is the subject of a line that
 * reads like an error, found by the names in the line, if the line has no pattern.
 */
#ifndef WHY_MESSAGE_H
#define WHY_MESSAGE_H

#include <stdbool.h>

#include "base/span.h"

enum message_kind {
	MESSAGE_FAILURE,     /* the root message of a failure */
	MESSAGE_CONSEQUENCE, /* follows from an earlier one */
	MESSAGE_FALLBACK,    /* the job continues over a slower path */
	MESSAGE_CHOICE,	     /* reports a choice of the job */
	MESSAGE_HARMLESS,    /* looks bad, and is not */
	MESSAGE_KINDS
};
extern const char *const message_kind_words[];

/* Which of several failures counts. */
enum message_weight {
	FAILURE_PLAIN,
	FAILURE_SYMPTOM, /* it does not name its reason: a cause counts before it */
	FAILURE_CAUSE,	 /* other failures follow from it, also those printed before it */
	FAILURE_LOSS, /* a cause that removes a GPU: it counts before failures that an Xid can explain */
	FAILURE_UNWARNED, /* not a failure in a line that is information or a warning */
};

/* When a line of a topic counts as a failure. */
enum topic_when {
	TOPIC_NEVER,  /* not a topic: the message has a pattern */
	TOPIC_ALWAYS, /* always, as a message with a pattern does */
	TOPIC_ALONE,  /* if the log has no other failure */
	TOPIC_BEFORE, /* if a failure or a consequence follows */
	TOPIC_WHENS
};

/* Literal text, then a variable. */
struct message_part {
	const char *text; /* "": the pattern begins with a variable */
	size_t n;
	const char *variable; /* NULL: the pattern ends here */
};

#define MESSAGE_WINDOW 8 /* fixed bytes in a row that every pattern has */
#define MESSAGE_PARTS_MAX 16

struct message {
	const char *id;
	const char *component;
	enum message_kind kind;
	enum message_weight weight;
	const char *pattern; /* as in the table; "": a topic */
	const char *since;   /* the first version that has it; NULL: not known */
	const char *until;   /* the first version that no longer has it; NULL: none */
	const char *meaning;
	const char *rules;     /* ids and PREFIX/ASTERISK, joined by commas; NULL: none */
	const char *elsewhere; /* where else to look; NULL: nothing to say */
	const char *facts;     /* NAME=VALUE joined by ";", either with a {variable}; NULL: none */
	const char *source;
	const struct message_part *parts;
	size_t parts_count;
	size_t fixed; /* literal bytes: of two messages in one line, the one with more of them counts */
	/* MESSAGE_WINDOW bytes of a part that few other messages have; NULL: a topic */
	const char *anchor;
	int anchor_at; /* its place in the first part; -1: another part has it */
	bool binds_rank; /* it has the variables rank and nranks: the rank of the process that prints it */
	bool same_facts; /* its facts have no variable */
	enum topic_when when;
	const char *words;   /* of a topic: a line has one of them */
	const char *reasons; /* and one of these; NULL: not needed */
};

/* Returns all messages in the order of the table, then the topics. The first call builds the table, whose address never
 * changes. */
const struct message *message_all(size_t *count);

/* The values of a message's variables in one line. */
struct message_match {
	const struct message *message;
	struct span values[MESSAGE_PARTS_MAX]; /* by part */
};

/* Returns true if LINE has MESSAGE at or after FROM. If a pattern ends with a variable, that variable extends to the
 * end of the line. */
bool message_match(const struct message *message, struct span line, const char *from,
		   struct message_match *match);

/* Gets the value of a variable. Returns false if the message has none of that name. */
bool message_variable(const struct message_match *match, struct span name, struct span *value);

#define MESSAGE_FACT_MAX 64

struct message_fact {
	char name[MESSAGE_FACT_MAX]; /* "": too long, or without a value in this line */
	struct span value;
};

/* Cuts the next of a message's facts off REST, which begins as the message's facts. False at the end. */
bool message_next_fact(const struct message_match *match, struct span *rest,
		       struct message_fact *fact);

/* Returns the place of ID in the list of rules of MESSAGE, from 0; -1: not in the list. */
int message_names_rule(const struct message *message, const char *id);

#endif
