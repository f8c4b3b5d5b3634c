/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmsg-own.h - which bytes of a driver's message are the driver's own, and which are a user's.
 *
 * Some messages have the name of a process in them, or what a program gave the driver. Where they stand is decided by the
 * form in which the source prints the message: by its fixed parts from the front, and from the back behind a user's text.
 * Every reader of the log gets the text of kmsg_own().
 */
#ifndef PARSE_KMSG_OWN_H
#define PARSE_KMSG_OWN_H

#include "base/span.h"

/* Copies MESSAGE into TO, if it has a form with a user's text: in one line, and with '_' in place of those of the user's bytes
 * that could be read as something else than a name or a version. The copy is OWN. Returns false for all other
 * messages: nothing was copied. */
bool kmsg_own(struct span message, char *to, size_t size, struct span *own);

/* Where a log has a record as several lines: can a user's text in MESSAGE have been cut by a line break? */
bool kmsg_is_cut(struct span message);
/* Is LINE, after such a one, one that the driver wrote? */
bool kmsg_continues_mismatch(struct span line);
bool kmsg_is_xid(struct span message);

/* MESSAGE without the lines behind its first. */
struct span kmsg_first_line(struct span message);

#endif
