/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmsg.h - lines of the kernel log, in all their forms. */
#ifndef PARSE_KMSG_H
#define PARSE_KMSG_H

#include "base/span.h"
#include "parse/kmsg-driver.h"

/* A record as /dev/kmsg gives it, one a read (Documentation/ABI/testing/dev-kmsg):
 *   6,339,5140900,-;NVRM: loading ...
 *    SUBSYSTEM=pci
 */
struct kmsg_record {
	bool kernel; /* facility 0: written by the kernel, not by a program */
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
	struct span text; /* with its time in brackets, if it has one */
	struct span message;
	bool saved;	   /* [ 0.000000] kernel: ... is from an exported journal */
	struct span time;  /* as the line has it, in brackets */
	int level;	   /* of dmesg --raw; KMSG_LEVEL_NONE: not said */
	uint64_t clock_us; /* Unix time that a syslog daemon wrote in ISO 8601, or 0 */
};

/* False: not a line of the kernel. */
bool kmsg_line_parse(struct span line, bool syslog, struct kmsg_line *out);
/* The time since the boot; false: the line does not say it. */
bool kmsg_line_time(const struct kmsg_line *line, uint64_t *time_us);
/* Returns true for the first message of every kernel. */
bool kmsg_is_banner(struct span message);
/* A boot's first message has the time 0. A second later is before any user's process, by whose name or text a line
 * could begin so. */
#define KMSG_BANNER_US 1000000
/* Returns true for that message with such a time. */
bool kmsg_is_first(const struct kmsg_line *line);

/* Returns true if MESSAGE begins with a name that any user can choose: of a process, as "NAME[PID]: segfault at 0 ...
 * in FILE[...]" does, of a program, or of a network interface. Such a message is no evidence about a device. */
bool kmsg_is_of_user(struct span message);

/* A message and the kind of its beginning, which is determined only when a pattern needs it: most messages have the
 * text of no pattern. */
struct kmsg_message {
	struct span text;
	bool asked;
	struct span module; /* "gdrdrv: ...": a module of interest; empty: none */
	bool of_device;	    /* "nvidia 0000:1b:00.0: ...": a driver's line about a PCI function */
};

/* A message to look for: its beginning (NULL: any) and up to two texts that must follow it. */
struct kmsg_pattern {
	const char *name;
	const char *start;
	const char *has[2];
	enum kmsg_kind {
		KMSG_ANY,
		KMSG_NUMBERED, /* a number after "): " selects it: xid-79 */
		KMSG_OF_MODULE,
		KMSG_OF_DEVICE,
		KMSG_OF_PACKET, /* a refused connection (packet.h); the message's beginning is a user's */
	} kind;
};

/* NUMBER is set for a numbered pattern. */
bool kmsg_matches(const struct kmsg_pattern *pattern, struct kmsg_message *message,
		  uint64_t *number);

/* Many patterns at once: the first byte of a message leaves few of them. Patterns without a fixed beginning are tried
 * if three bytes of the message allow one of their texts (Wu and Manber, "A fast algorithm for multi-pattern
 * searching", 1994). */
#define KMSG_PATTERNS_MAX 255
#define KMSG_BLOCKS 4096
struct kmsg_index {
	const struct kmsg_pattern *patterns;
	size_t count;
	uint8_t heads[256 + 1]; /* of chains; 0: none, else one more than the pattern's number */
	uint8_t next[KMSG_PATTERNS_MAX];
	size_t window; /* bytes of each text that are compared: the length of the shortest */
	/* by three bytes: the distance to the next possible end of a text */
	uint8_t skip[KMSG_BLOCKS];
};

void kmsg_index_begin(struct kmsg_index *index, const struct kmsg_pattern *patterns, size_t count);
/* Returns the first pattern that matches, or NULL. */
const struct kmsg_pattern *kmsg_index_find(const struct kmsg_index *index,
					   struct kmsg_message *message, uint64_t *number);

#define KMSG_BDF_MAX 24
/* Cuts REST after the next PCI function in it. PCI:0000:1b:00 without a function is .0. 1b:00.0 without a domain is
 * domain 0, as in DMAR faults. */
bool kmsg_bdf_next(struct span *rest, char bdf[KMSG_BDF_MAX]);

#endif
