/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * why.h - compares a log with a node: the rules that could explain the failures of the log, their findings on this
 * node, and the differences between log and node. Pure.
 */
#ifndef WHY_H
#define WHY_H

#include "evaluate/problems.h"
#include "why/job.h"

/* The origin of a line. */
enum why_whose {
	WHY_UNKNOWN, /* the log has no host name, or the node has none */
	WHY_OWN,     /* this node's */
	WHY_OTHER,   /* another host's */
};

/* A difference between the log and the node. In the arena. */
struct why_difference {
	const char *what; /* "NCCL version" */
	const char *job;
	const char *node;
	const char *text; /* the sentence */
	uint64_t line;
};

/* A host that differs from the others. */
struct why_odd {
	const char *host;
	const char *text;
};

struct why {
	const struct job *job;
	const struct report *report;
	const char *name;     /* of this node; NULL: not known */
	uint32_t own_host;    /* in job->hosts: this node; JOB_NOBODY: not among them */
	enum why_whose whose; /* the decisive message */
	/* first failure; without one, the first consequence; or NULL */
	const struct job_event *decisive;
	LIST(const struct job_event *) failures; /* all others */
	LIST(const struct job_event *) consequences;
	LIST(const struct job_event *) fallbacks;
	LIST(const struct job_event *) survived; /* failures after which the job went on */
	struct problems problems; /* of the report: possible explanations, the likeliest first */
	LIST(const struct finding *) notes;
	LIST(const struct finding *) passed;  /* one for each rule that only passed */
	LIST(const struct finding *) unknown; /* one for each rule */
	/* one for each rule that does not apply to this node */
	LIST(const struct finding *) inapplicable;
	LIST(struct why_difference) differences;
	LIST(struct why_odd) odd;
	/* If no failure was recognised: the first line that reads like one; or NULL. */
	const struct job_place *unrecognised;
	/* words of it, or of the decisive line of a topic, that few rules have */
	LIST(const char *) words;
	LIST(const struct rule *) related; /* rules that have them, the closest first */
	/* Problems of rules that the decisive message names, and of rules for any failure. */
	uint32_t explaining_first, explaining;
};

/* NAME is the name of the node in the log; NULL: its host name. In the report's arena. */
const struct why *why_make(const struct job *job, const struct report *report, const char *name);

/* Returns true if the failure, or the whole log, is of other hosts than this node. */
bool why_is_of_others(const struct why *why);
/* Returns true if a problem of this node can explain a failure of this node, or of a log that names no host. */
bool why_is_explained(const struct why *why);

/* EXIT_WELL, EXIT_FINDINGS or EXIT_INCOMPLETE: nvnodecheck(8). */
enum exit_status why_status(const struct why *why);

/* Returns true if a host of the log, by its number, is this node. Programs print its name with a domain or without
 * one. */
bool why_is_own(const struct why *why, uint32_t host);

/* related.c: sets words and related for LINE, which has no message of the table; NULL: it has no text */
void why_find_related(struct why *why, const char *line);
/* differences.c */
void why_find_differences(struct why *why);
/* odd.c */
void why_find_odd(struct why *why);

#endif
