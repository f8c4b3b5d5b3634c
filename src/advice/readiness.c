/* SPDX-License-Identifier: GPL-2.0-or-later */
/* readiness.c - what a report means for jobs: whether those of a profile should start, and which problem is the worst. */
#include "advice/readiness.h"

#include <string.h>

#include "evaluate/preflight.h"
#include "query/topology.h"

const char *const readiness_words[] = {
	[READY] = "ready",
	[READY_WITH_WARNINGS] = "warnings",
	[READY_EXCEPT_SETTINGS] = "job-settings",
	[NOT_READY_WAITING] = "waiting",
	[NOT_READY_ERROR] = "error",
	[NOT_READY_CRITICAL] = "critical",
	[READINESS_NO_PEER] = "no-peer",
};

/* ---- checks that did not run ---- */

static const char *way_by_gap(const struct report *r, const struct gap *gap)
{
	if (str_is(gap->error, "EACCES") || str_is(gap->error, "EPERM"))
		return known_is(r->node->os.observed_uid, 0)
			       ? "find in the audit log what denied root: SELinux, AppArmor or a missing capability"
			       : "run as root";
	if (str_is(gap->error, "ELIBACC"))
		return "install the library";
	if (str_is(gap->error, "EREMOTE"))
		return "run it on the host, or with --root on the host's files";
	if (str_is(gap->error, "ENODATA"))
		return "read the live node, or a more complete copy";
	return NULL;
}

const char *readiness_way_to_check(const struct report *r, const struct finding *f)
{
	if (f->answer.remedy)
		return f->answer.remedy;
	return f->gap ? way_by_gap(r, f->gap) : NULL;
}

/* Only the driver can answer it, which is asked on request (--nvml). */
static bool is_of_driver(const struct finding *f)
{
	return f->answer.evidence[0] && starts_with(f->answer.evidence[0], "nvml.");
}

/* Returns true for a check whose failure is an error. */
static bool is_grave_unknown(const struct finding *f)
{
	return f->answer.verdict == VERDICT_UNKNOWN && !f->off && f->severity >= SEVERITY_ERR &&
	       !is_of_driver(f);
}

/* Returns true if all of the node could be read. */
static bool is_read(const struct report *r)
{
	return was_read(r->node->pci.devices) && !known_not(r->node->os.observed_uid, 0) &&
	       !is_known(r->node->os.next_boot);
}

bool readiness_can_be_said(const struct report *r)
{
	for_each(f, &r->findings)
		if (is_grave_unknown(f) && readiness_way_to_check(r, f))
			return false;
	return is_read(r);
}

/* Only some rules of a profile that was not requested are evaluated. */
static bool is_checked(const struct report *r, unsigned int profile, unsigned int included)
{
	for_each(f, &r->findings)
		if (is_grave_unknown(f) && f->rule->profiles & included)
			return false;
	return profile & (r->profiles | PROFILE_BASE) && is_read(r);
}

/* ---- one profile ---- */

static unsigned int with_included(unsigned int profile)
{
	return profile | PROFILE_BASE | (profile & PROFILE_GIN_ANY ? PROFILE_GPUDIRECT : 0);
}

/* The highest severity (enum severity) of what a profile's findings say; -1: they say nothing. */
struct severities {
	int wrong;   /* now */
	int waiting; /* corrected, not in effect yet */
	int job;     /* in the job's own settings */
};

static void count_finding(struct severities *highest, const struct finding *f, bool waits,
			  bool of_job)
{
	int *own = waits ? &highest->waiting : of_job ? &highest->job : &highest->wrong;

	*own = (int)f->severity > *own ? (int)f->severity : *own;
}

/* What a problem causes in a job's settings stops the profiles of the problem, not others. */
static bool is_of_other_jobs(const struct node *node, const struct problem *p,
			     const struct finding *f, unsigned int profiles)
{
	return steps_is_in_job_environment(node, f) && !(p->first->rule->profiles & profiles);
}

/* What a problem causes counts by its own rule: it can stop a profile that the problem itself does not. */
static struct severities find_severities(const struct steps *steps, unsigned int profiles)
{
	struct severities highest = { -1, -1, -1 };

	for_each(p, &steps->problems->items) {
		bool of_job = steps_kind(steps, p) == STEP_JOB;

		for_each(f, &p->members)
			if ((*f)->rule->profiles & profiles &&
			    !is_of_other_jobs(steps->report->node, p, *f, profiles))
				count_finding(&highest, *f, p->waits, of_job);
		for_each(f, &p->follows)
			if ((*f)->rule->profiles & profiles &&
			    !is_of_other_jobs(steps->report->node, p, *f, profiles))
				count_finding(&highest, *f, p->waits, of_job);
	}
	return highest;
}

bool readiness_lacks_peer(const struct node *node, unsigned int profile)
{
	return profile == PROFILE_P2P && was_read(node->pci.devices) && topology_gpus(node) == 1;
}

static enum readiness state_of(const struct severities *highest)
{
	if (highest->wrong >= SEVERITY_CRIT)
		return NOT_READY_CRITICAL;
	if (highest->wrong >= SEVERITY_ERR)
		return NOT_READY_ERROR;
	if (highest->waiting >= SEVERITY_ERR)
		return NOT_READY_WAITING;
	if (highest->job >= SEVERITY_ERR)
		return READY_EXCEPT_SETTINGS;
	return highest->wrong >= 0 || highest->waiting >= 0 || highest->job >= 0
		       ? READY_WITH_WARNINGS
		       : READY;
}

struct profile_readiness readiness_of(const struct steps *steps, unsigned int profile)
{
	const struct report *r = steps->report;
	unsigned int included = with_included(profile);
	struct severities highest = find_severities(steps, included);

	return (struct profile_readiness){
		.state = readiness_lacks_peer(r->node, profile) ? READINESS_NO_PEER
								: state_of(&highest),
		.stops_jobs = highest.wrong >= SEVERITY_ERR || highest.waiting >= SEVERITY_ERR,
		.is_checked = is_checked(r, profile, included),
	};
}

/* ---- all profiles ---- */

unsigned int readiness_profiles(const struct report *r, const struct problems *problems)
{
	unsigned int all = r->profiles;

	for_each(p, &problems->items) {
		for_each(member, &p->members) {
			unsigned int own = (*member)->rule->profiles;

			if (!(own & (r->profiles | PROFILE_BASE)))
				all |= own & -own;
		}
	}
	return all;
}

unsigned int readiness_stopped(const struct steps *steps)
{
	unsigned int all = readiness_profiles(steps->report, steps->problems), stopped = 0;

	for (unsigned int bit = 0; profile_words[bit]; bit++)
		if (all & 1u << bit && readiness_of(steps, 1u << bit).stops_jobs)
			stopped |= 1u << bit;
	return stopped;
}

bool readiness_is_job_error(const struct steps *steps, const struct problem *p)
{
	return p->severity >= SEVERITY_ERR && steps_kind(steps, p) == STEP_JOB;
}

/* ---- the worst problem ---- */

/* Returns true for a device that works no more, and for a boot that will fail. */
static bool is_breakdown(const struct problem *p)
{
	enum action action = finding_action(p->first);

	return action == ACTION_POWER_CYCLE || action == ACTION_RESET_GPU ||
	       action == ACTION_REPLACE_HARDWARE || p->first->rule->stops_boot;
}

/* By severity, and within one: broken hardware and wrong results, then problems of every job, then those of the next
 * job. */
int problem_gravity(const struct problem *p)
{
	const struct rule *rule = p->first->rule;

	if (p->waits)
		return 0;
	return 8 * ((int)p->severity + 1) + 4 * (p->wrong_data || is_breakdown(p)) +
	       2 * !!(rule->profiles & PROFILE_BASE) + !preflight_omission_of(rule->id);
}

const struct problem *problem_worst(const struct problems *problems)
{
	const struct problem *worst = problems->items.items;

	for_each(p, &problems->items)
		if (problem_gravity(p) > problem_gravity(worst))
			worst = p;
	return worst;
}
