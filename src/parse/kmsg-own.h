/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmsg-own.h - which bytes of a driver's message are the driver's own, and which are a user's.
 *
 * Some messages have the name of a process in them, or what a program gave the driver. Any of its bytes can be chosen, a line
 * break too, but it ends after as many bytes as the source takes, and the source's own text comes next. Every reader of the
 * log gets the text of kmsg_own().
 */
#ifndef PARSE_KMSG_OWN_H
#define PARSE_KMSG_OWN_H

#include "base/span.h"

#define KMSG_USERS_MAX 2

/* A message with users' texts in it. */
struct kmsg_users {
	struct span texts[KMSG_USERS_MAX]; /* in the order of the message */
	size_t count;
	bool whole; /* the text of the driver that ends it is there */
	bool open;  /* it can go on behind a line break */
};

/* Returns false for a message that has no form with a user's text. */
bool kmsg_find_users(struct span message, struct kmsg_users *users);

/* Copies MESSAGE into TO, if it has such a form: in one line, and with '_' in place of those of the user's bytes that could be
 * read as something else than a name or a version. The copy is OWN. Returns false for all other messages: nothing was
 * copied. */
bool kmsg_own(struct span message, char *to, size_t size, struct span *own);

/* MESSAGE without the lines behind its first. */
struct span kmsg_first_line(struct span message);

#endif
