/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * redact.h - what identifies a machine or its people, found in text and replaced: the host's name and domain in
 * any spelling, MAC addresses alone and inside of GUIDs, GIDs and IPv6 addresses, UUIDs, machine ids.
 *
 * A stand-in has the form of what it stands for, and is the same for the same original, so that what depends on
 * two of them being equal still holds: a port's GUID and the GID that is made of it, the address of an interface
 * and the same in a file's name. It is made with a key that is drawn for each capture and kept nowhere. Addresses
 * stay as they are where no MAC address is in them: rules evaluate them.
 */
#ifndef REDACT_H
#define REDACT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/span.h"

struct redact;

/* NULL with errno set: without random numbers there is no key. */
struct redact *redact_new(void);
void redact_free(struct redact *r);

/* A name of this host without its domain, and its domain. Of a WORD that texts are full of only the name itself is
 * replaced, by redact_put_host(). 0 or -ENOMEM. */
int redact_learn_host(struct redact *r, struct span name, bool word);
int redact_learn_domain(struct redact *r, struct span domain, bool word);

/* Returns true if NAME is one of this host's. */
bool redact_is_host(const struct redact *r, struct span name);

enum redact_names {
	REDACT_NO_NAMES, /* text that has words of its own alone: a host may be called as one of them is */
	REDACT_NAMES,
	REDACT_NAMES_IN_ORDER, /* file names, whose order counts: two letters stay */
};

/* Called for each that is replaced; AFTER is its stand-in. */
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
