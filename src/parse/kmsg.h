/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmsg.h - lines of the kernel log, in the forms in which it reaches us. */
#ifndef PARSE_KMSG_H
#define PARSE_KMSG_H

#include "base/span.h"
#include "parse/kmsg-driver.h"

/* A record as /dev/kmsg gives it, one a read (Documentation/ABI/testing/dev-kmsg):
 *   6,339,5140900,-;NVRM: loading ...
 *    SUBSYSTEM=pci
 */
struct kmsg_record {
	bool kernel; /* facility 0: not written by a program */
	int level;   /* 0 emerg to 7 debug */
	uint64_t sequence;
	uint64_t time_us; /* since boot, as printk counts */
	struct span message;
};

/* 0 or -EINVAL. */
int kmsg_record_parse(struct span record, struct kmsg_record *out);

/*
 * A line of a file: dmesg(1)'s
 *   [   12.345678] NVRM: ...
 *   [   12.345678][  T123] NVRM: ...
 * or, with SYSLOG, what a syslog daemon wrote:
 *   Nov 21 05:00:01 node kernel: [   12.345678] NVRM: ...
 *   2026-11-21T05:00:01.123456+00:00 node kernel: NVRM: ...
 */
struct kmsg_line {
	struct span text; /* with its time in brackets, where it has one */
	struct span message;
	bool saved; /* [    0.000000] kernel: ... is what a journal said when it was written out */
	struct span time;  /* as the line has it, in brackets */
	int level;	   /* of dmesg --raw; KMSG_LEVEL_NONE: not said */
	uint64_t clock_us; /* Unix time that a syslog daemon wrote in ISO 8601, or 0 */
};

/* False for a line that is not the kernel's. */
bool kmsg_line_parse(struct span line, bool syslog, struct kmsg_line *out);
/* The time since the boot; false: the line does not say it. */
bool kmsg_line_time(const struct kmsg_line *line, uint64_t *time_us);
/* The first thing that every kernel says. */
bool kmsg_is_banner(struct span message);

/* Does MESSAGE begin with a name that any user can choose: of a process, as "NAME[PID]: segfault at 0 ... in FILE[...]"
 * does, of a program, or of a network interface? Such a message says nothing of a device. */
bool kmsg_is_of_user(struct span message);

/* A message, and what its beginning is: found out when the first pattern asks, because most messages have the text of
 * no pattern. */
struct kmsg_message {
	struct span text;
	bool asked;
	struct span module; /* "gdrdrv: ...": a module that this program is about; empty: none */
	bool of_device;	    /* "nvidia 0000:1b:00.0: ...": a driver's line about a PCI function */
};

/* A message to look for: its beginning (NULL: any) and up to two texts that must follow it. */
struct kmsg_pattern {
	const char *name;
	const char *start;
	const char *has[2];
	enum kmsg_kind {
		KMSG_ANY,
		KMSG_NUMBERED, /* a number after "): " says which: xid-79 */
		KMSG_OF_MODULE,
		KMSG_OF_DEVICE,
		KMSG_OF_PACKET, /* a refused connection (packet.h); the message's beginning is a user's */
	} kind;
};

/* NUMBER is that of a numbered pattern. */
bool kmsg_matches(const struct kmsg_pattern *pattern, struct kmsg_message *message,
		  uint64_t *number);

/* Many patterns at once: by the byte that a message begins with, few are left to be tried. Those that do not say how a
 * message begins are tried if three of its bytes allow one of their texts (Wu and Manber, "A fast algorithm for
 * multi-pattern searching", 1994). */
#define KMSG_PATTERNS_MAX 255
#define KMSG_BLOCKS 4096
struct kmsg_index {
	const struct kmsg_pattern *patterns;
	size_t count;
	uint8_t heads[256 + 1]; /* of chains; 0: none, else one more than the pattern's number */
	uint8_t next[KMSG_PATTERNS_MAX];
	size_t window;		   /* bytes of the texts that count: the length of the shortest */
	uint8_t skip[KMSG_BLOCKS]; /* how many bytes further a text can end, by three bytes of it */
};

void kmsg_index_begin(struct kmsg_index *index, const struct kmsg_pattern *patterns, size_t count);
/* The first pattern that fits, or NULL. */
const struct kmsg_pattern *kmsg_index_find(const struct kmsg_index *index,
					   struct kmsg_message *message, uint64_t *number);

#define KMSG_BDF_MAX 24
/* Cuts REST after the next PCI function that it names; PCI:0000:1b:00 without a function is .0, and
 * 1b:00.0 without a domain is domain 0, which is all that DMAR faults say. */
bool kmsg_bdf_next(struct span *rest, char bdf[KMSG_BDF_MAX]);

#endif
