/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-failures.h - failures that a kernel log reports, gathered by kind, module and device. */
#ifndef LOG_FAILURES_H
#define LOG_FAILURES_H

#include "facts/facts.h"
#include "parse/kmsg-failure.h"

#define LOG_FAILURES_MAX 128 /* later ones are left out */
#define LOG_DETAILS_MAX 32

struct kept_failure;

struct log_failures {
	struct arena *arena;
	struct kmsg_crash crash;
	size_t count;
	bool full;		   /* one was left out */
	struct kept_failure *kept; /* LOG_FAILURES_MAX, made for the first one */
};

/* Returns true if MESSAGE reports one. */
bool log_failures_parse(struct log_failures *failures, struct span message,
			struct kmsg_failure *out);
/* Keeps it with TEXT, the line for people. */
void log_failures_keep(struct log_failures *failures, const struct kmsg_failure *failure,
		       uint64_t time_us, struct span text);
/* Drops all failures so far, because they belong to an earlier boot. */
void log_failures_forget(struct log_failures *failures);
void log_failures_end(const struct log_failures *failures, struct log_facts *facts);

#endif
