/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * redact.h - what a capture should not tell about people and machines: the host's name, GPU UUIDs,
 * MAC addresses, serial numbers. Each is replaced by a made-up one of the same form, the same for
 * the same original, so that what depends on two of them being equal still holds. IP addresses stay:
 * GID and routing rules judge by them.
 */
#ifndef REDACT_H
#define REDACT_H

#include <stddef.h>

/* A new string with N bytes of TEXT, redacted, or NULL. HOSTNAME may be NULL. */
char *redact_text(const char *text, size_t n, const char *hostname, size_t *size);

#endif
