/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * redact.h - finds words in text that identify a machine or its people, and replaces them: the host's name and domain
 * in any spelling, MAC addresses (also inside of GUIDs, GIDs and IPv6 addresses), UUIDs, machine ids.
 *
 * A stand-in has the form of its original, and equal originals have equal stand-ins. So comparisons still work: between
 * a port's GUID and the GID made of it, or an address of an interface and the same in a file's name. It is made with a
 * key that is drawn for each capture and stored nowhere. Addresses without a MAC address in them stay: rules evaluate
 * them.
 */
#ifndef REDACT_H
#define REDACT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/span.h"

struct redact;

/* NULL with errno set: without random numbers no key is possible. */
struct redact *redact_new(void);
void redact_free(struct redact *r);

/* A name of this host without its domain, and its domain. Of a WORD that is common in texts, only the name itself is
 * replaced, by redact_put_host(). Returns 0 or -ENOMEM. */
int redact_learn_host(struct redact *r, struct span name, bool word);
int redact_learn_domain(struct redact *r, struct span domain, bool word);

/* Returns true if NAME is one of this host's. */
bool redact_is_host(const struct redact *r, struct span name);

enum redact_names {
	REDACT_NO_NAMES, /* text that has only words of its own: a host may have the same name as one of them */
	REDACT_NAMES,
	REDACT_NAMES_IN_ORDER, /* file names, whose order counts: two letters stay */
};

/* Called for each replacement; AFTER is the stand-in. */
typedef void redact_replaced(void *user, struct span before, const char *after);
void redact_on_replaced(struct redact *r, redact_replaced *told, void *user);

/* Writes TEXT with all of them replaced. */
void redact_put(struct redact *r, FILE *out, struct span text, enum redact_names names);

/* Writes the stand-in of NAME, which is one of this host's, with its domain or without. */
void redact_put_host(struct redact *r, FILE *out, struct span name);

/* Writes a stand-in of five digits for NUMBER, which is a user's. */
void redact_put_number(struct redact *r, FILE *out, struct span number);

/* Writes a stand-in for the whole of TEXT, which has no form that counts: redacted-1f3c8a52. */
void redact_put_instead(struct redact *r, FILE *out, struct span text);

#endif
