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
	char result[24]; /* exit-code, signal, success, ...; "": not reported */
	bool has_status;
	uint64_t status; /* exit status of the main process, or its signal */
	bool has_restarts;
	uint64_t restarts;
};

/* Updates the end from MESSAGE, one of systemd's, about UNIT (src/core/unit.c and service.c of systemd 255). A start
 * resets it. Returns true if MESSAGE is about UNIT. */
bool unit_outcome_update(struct unit_outcome *outcome, const char *unit, struct span message);

#endif
