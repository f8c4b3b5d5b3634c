/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log-join.h - the NVIDIA driver writes some messages over several lines, of which each begins with "NVRM:" and the
 * reason is not in the first. They become one. Where the log is not read by records, a line break in a user's text
 * makes lines, too (parse/kmsg-own.h): they are held until it is clear whether they are of the message that began
 * before them.
 *
 * Sources: open-gpu-kernel-modules 595.45.04: src/nvidia/arch/nvalloc/unix/src/osapi.c (rm_is_supported_device),
 * kernel-open/nvidia/nv-pci.c (nv_pci_validate_bars, nv_pci_probe), kernel-open/nvidia/nv.c (nvidia_init_module).
 */
#ifndef LOG_JOIN_H
#define LOG_JOIN_H

#include "base/span.h"

#define LOG_JOIN_MAX 1024

/* Zeroed to begin with. */
struct log_join {
	char text[LOG_JOIN_MAX];
	size_t n, message_at;
	uint64_t time_us, last_us; /* of its first line and its last */
	int level;
	unsigned int lines; /* 0: nothing is held */
	bool advice;	    /* what follows is where to read more, and is dropped */
	/* A user's text is in the lines: they are kept as they are, with their breaks. */
	bool of_user;
	bool whole; /* the end of the driver's message has come */
	bool ended; /* no further line can be of it */
	bool sure;  /* the log says that they are of one message */
};

/* Returns true if the line begins such a message. The first byte of most lines is another. */
static inline bool log_join_may(const struct log_join *join, struct span message)
{
	return join->lines || (message.n && message.p[0] == 'N');
}

/* The line belongs to the message that is held, and is now part of it. MESSAGE lies within TEXT, which is empty where
 * the log says that the line is of the same record as the one before. */
bool log_join_continue(struct log_join *join, uint64_t time_us, struct span text,
		       struct span message);
/* Returns true if each held line is a message of its own: they are not a user's text in the first one. */
static inline bool log_join_is_apart(const struct log_join *join)
{
	return join->of_user && !join->whole && !join->sure;
}
/* Returns true if the driver writes a message that begins so over several lines. */
bool log_join_is_first(struct span message);
/* The line begins a message of several lines, and is now held. MESSAGE lies within TEXT. Nothing may be held. */
bool log_join_begin(struct log_join *join, uint64_t time_us, int level, struct span text,
		    struct span message);

#endif
