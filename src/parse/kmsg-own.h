/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmsg-own.h - separates the bytes of the driver from those of a user in a driver's message.
 *
 * Some messages contain the name of a process, or text that a program gave the driver. A user can choose any of these
 * bytes, also a line break. But the text ends at the length limit in the source, and text of the source follows. Every
 * reader of the log gets the text of kmsg_own().
 */
#ifndef PARSE_KMSG_OWN_H
#define PARSE_KMSG_OWN_H

#include "base/span.h"

#define KMSG_USERS_MAX 2

/* A message with users' texts in it. */
struct kmsg_users {
	struct span texts[KMSG_USERS_MAX]; /* in the order of the message */
	size_t count;
	bool whole; /* the message has the driver's text that ends it */
	bool open;  /* it can continue after a line break */
};

/* Returns false for a message without a user's text. */
bool kmsg_find_users(struct span message, struct kmsg_users *users);

/* Copies MESSAGE into TO, if it has such a form: in one line, and with '_' for those of the user's bytes that do not
 * fit a name or a version. The copy is OWN. Returns false for all other messages, and copies nothing. */
bool kmsg_own(struct span message, char *to, size_t size, struct span *own);

/* MESSAGE without the lines after its first. */
struct span kmsg_first_line(struct span message);

#endif
