/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-scan.h - counts the lines of a kernel log that match a pattern: all of them, those about each device, and
 * those of each module. */
#ifndef LOG_SCAN_H
#define LOG_SCAN_H

#include "facts/facts.h"
#include "parse/kmsg.h"
#include "probes/log/log-denials.h"
#include "probes/log/log-failures.h"
#include "probes/log/log-join.h"
#include "probes/log/log-unexplained.h"

#define LOG_PATTERNS_MAX 512  /* found; numbered ones count each by itself */
#define LOG_SUBJECTS_MAX 2048 /* devices and modules of all patterns together */
#define LOG_LINE_MAX 512      /* bytes that are kept of a line */
#define LOG_NO_TIME UINT64_MAX

/* Lines of one kind: their number, the first and the last. */
struct log_kept {
	char name[64];
	uint64_t count, first_us, last_us;
	struct span first, last;
};

struct log_found {
	struct log_kept all; /* named by the pattern */
	LIST(struct log_kept) devices, modules;
};

struct spare;

struct log_scan {
	struct kmsg_index index;
	struct arena *arena;
	bool preflight; /* keeps no line without a pattern */
	bool full;	/* something was left out: the log does not count as complete */
	LIST(struct log_found) found;
	size_t subjects;
	struct log_failures failures;
	struct log_unexplained unexplained;
	struct log_denials denials;
	struct log_join join;
	struct spare *spare;	/* room for lines that are no longer kept */
	struct log_facts facts; /* after log_scan_end() */
};

void log_scan_begin(struct log_scan *scan, const struct kmsg_pattern *patterns, size_t count,
		    struct arena *arena);
/* TEXT is the line to keep, MESSAGE what to match; TIME_US may be LOG_NO_TIME, LEVEL KMSG_LEVEL_NONE. */
void log_scan_text(struct log_scan *scan, uint64_t time_us, int level, struct span text,
		   struct span message);
/* Scans a line without a time. It counts only as part of a message of several lines that has begun. */
void log_scan_continue(struct log_scan *scan, struct span message);
/* Scans a line of dmesg(1). */
void log_scan_line(struct log_scan *scan, const struct kmsg_line *line);
/* Scans a message, and prepares the line as dmesg(1) prints it. */
void log_scan_message(struct log_scan *scan, uint64_t time_us, int level, struct span message);
/* Drops all messages so far, because they belong to an earlier boot. */
void log_scan_forget(struct log_scan *scan);
void log_scan_end(struct log_scan *scan, const char *source, bool complete);

/* Returns TIME_US as a fact; unknown for LOG_NO_TIME. */
struct fact_u64 log_time_fact(uint64_t time_us);

#endif
