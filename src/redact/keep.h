/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keep.h - decides what a redacted capture keeps: an allow list, by path, of the data that probes need. Of a boot menu
 * that is the entries' command lines, of a unit its limits, of an environment the variables of the tables. All else is
 * left out or replaced by a stand-in (redact/redact.h), and the kept text is searched for words that identify the
 * machine. A file that is not in the list is left out completely.
 *
 * Lines keep their numbers, names of files their order if it counts. Paths lead to the same file in every place: in the
 * key of a record, in a folder's list, in a link, in a text.
 */
#ifndef KEEP_H
#define KEEP_H

#include "redact/redact.h"

struct desc;
struct json_object;

/* The state of one record. */
struct keeping {
	struct redact *redact;
	FILE *out;
	/* Called for each omission; may be NULL. */
	void (*left_out)(void *user, struct span text);
	void *user;
};

/* keep.c. Writes the kept parts of PATH's TEXT. False: PATH is not in the list, and nothing was written. */
bool keep_text(struct keeping *k, const char *path, struct span text);

/* Returns true for a word of the files and paths that are read, in any case: a host with that name has no secret
 * name. */
bool keep_is_word(struct span name);

/* keep-path.c. A path, or a command that names one; NAME is an entry of the folder PATH. */
void keep_path(struct keeping *k, struct span path);
void keep_entry(struct keeping *k, const char *path, const char *name);
void keep_target(struct keeping *k, const char *link, const char *target);
/* The name or number of a user. */
void keep_who(struct keeping *k, struct span who);
/* The number of a user. A number of up to four digits stays, and so do 65534 and 4294967295, which are no user's. */
void keep_user_number(struct keeping *k, struct span number);

/* keep-facts.c. A copy of ANSWER, described by DESC, with its strings redacted. */
struct json_object *keep_facts(struct keeping *k, const struct desc *desc,
			       struct json_object *answer);

/* Writes TEXT, with stand-ins for words that identify the machine. */
static inline void keep_as_it_is(struct keeping *k, struct span text)
{
	redact_put(k->redact, k->out, text, REDACT_NO_NAMES);
}

#endif
