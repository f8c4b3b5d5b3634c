/* SPDX-License-Identifier: GPL-2.0-or-later */
/* syslog.h - lines of /var/log/syslog and messages, and the messages of systemd about a unit. */
#ifndef PARSE_SYSLOG_H
#define PARSE_SYSLOG_H

#include <stdbool.h>

#include "base/span.h"

struct syslog_line {
	struct span ident; /* the program that wrote it: systemd, slurmd */
	struct span text;
};

/* "Mar 03 22:54:22 host systemd[1]: text", also with a time as RFC 3339 has it. */
bool syslog_line_parse(struct span line, struct syslog_line *out);

/* The end of a unit's last run, as far as systemd's messages report it. */
struct unit_outcome {
	/* exit-code, signal, success, ...; "": not reported; "failed": without a reason */
	char result[24];
	char ended[24]; /* how a process ended, in older messages: the unit can still run */
	bool has_status;
	uint64_t status; /* exit status of the main process, or its signal */
	bool has_restarts;
	uint64_t restarts;
};

/* A unit, by the names that systemd's messages have of it. */
struct unit_names {
	const char *unit;
	const char *description; /* Description=, all that older messages have; NULL: none */
};

/* Returns true if MESSAGE, one of systemd's, is about the unit. */
bool unit_is_meant(const struct unit_names *names, struct span message);
/* Updates the end from MESSAGE, one of systemd's, about the unit (src/core/unit.c, job.c and service.c of systemd 255
 * and of 219, as RHEL 7 has it). A start resets it. Returns true if MESSAGE is about the unit. */
bool unit_outcome_update(struct unit_outcome *outcome, const struct unit_names *names,
			 struct span message);

#endif
