/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-scan.h - counts the lines of a kernel log that match patterns. */
#ifndef LOG_SCAN_H
#define LOG_SCAN_H

#include "facts/facts.h"
#include "parse/kmsg.h"

#define LOG_DEVICES_MAX 256  /* named by the lines of one pattern */
#define LOG_PATTERNS_MAX 512 /* found; numbered ones count each by itself */
#define LOG_LINE_MAX 512     /* bytes that are kept of a line */

struct log_scan {
	const struct kmsg_pattern *patterns;
	size_t count;
	struct arena *arena;
	struct log_facts facts;
	/* The last line of each, which is replaced too often to take new memory for it. */
	struct span last[LOG_PATTERNS_MAX];
};

void log_scan_begin(struct log_scan *scan, const struct kmsg_pattern *patterns, size_t count,
		    struct arena *arena);
/* TEXT is the line to keep, MESSAGE what to match. */
void log_scan_text(struct log_scan *scan, struct span text, struct span message);
/* The same, with the line as dmesg(1) prints it. */
void log_scan_message(struct log_scan *scan, uint64_t time_us, struct span message);
/* What was found so far belongs to an earlier boot. */
void log_scan_forget(struct log_scan *scan);
void log_scan_end(struct log_scan *scan, const char *source, bool complete);

#endif
