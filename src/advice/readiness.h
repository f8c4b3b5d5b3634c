/* SPDX-License-Identifier: GPL-2.0-or-later */
/* readiness.h - what a report means for jobs: whether those of a profile should start, and which problem is the worst. */
#ifndef READINESS_H
#define READINESS_H

#include "advice/steps.h"

enum readiness {
	READY,
	READY_WITH_WARNINGS,
	READY_EXCEPT_SETTINGS, /* of the job: it can start when its user has corrected them */
	NOT_READY_WAITING,     /* corrected, not in effect yet */
	NOT_READY_ERROR,
	NOT_READY_CRITICAL,
	READINESS_NO_PEER, /* of p2p: the node has one GPU */
};
extern const char *const readiness_words[];

struct profile_readiness {
	enum readiness state;
	bool stops_jobs; /* jobs of the profile should not start */
	/* The node was read as root, and each rule of the profile whose failure is an error has an answer. Checks that
	 * need --nvml do not count. */
	bool is_checked;
};

/* Returns the readiness for PROFILE, one bit, and the profiles that it includes. */
struct profile_readiness readiness_of(const struct steps *steps, unsigned int profile);
/* Returns the profiles of the report, and the first one of each problem that belongs to none of them: its software is in
 * use here, or its rule was asked for by name. */
unsigned int readiness_profiles(const struct report *report, const struct problems *problems);
/* Returns those of readiness_profiles() whose jobs should not start. */
unsigned int readiness_stopped(const struct steps *steps);
/* Returns true if a node without problems may be called ready: no check is open that more files, or a run as root, would
 * answer, and whose failure is an error. */
bool readiness_can_be_said(const struct report *report);
/* Returns what a person does so that FINDING, an unknown one, can be evaluated; NULL: no known way helps. */
const char *readiness_way_to_check(const struct report *report, const struct finding *finding);
/* Returns true for a node with one GPU, which has no peer, if PROFILE is p2p. */
bool readiness_lacks_peer(const struct node *node, unsigned int profile);
/* Returns true for an error in the job's own settings. */
bool readiness_is_job_error(const struct steps *steps, const struct problem *problem);

/* Returns a number by which problems are compared: by severity; within one, a breakdown or wrong results come first,
 * then a problem of every job. 0: it waits to take effect. */
int problem_gravity(const struct problem *problem);
/* Returns the first problem of the highest gravity. There must be one. */
const struct problem *problem_worst(const struct problems *problems);

#endif
