/* SPDX-License-Identifier: GPL-2.0-or-later */
/* odd.c - the host of a job that differs from all others. */
#include <string.h>

#include "why/why.h"

#define LEAST_HOSTS 3 /* of two, neither is the odd one */

static void add(struct why *why, uint32_t host, const char *text)
{
	*LIST_ADD(why->report->arena,
		  &why->odd) = (struct why_odd){ why->job->hosts.items[host].name, text };
}

/* ---- messages ---- */

static bool has_event(const struct job_event *e, uint32_t host)
{
	return e->host_bits && e->host_bits[host / 8] & 1 << host % 8;
}

/* The one host that has the message, or that lacks it. */
static uint32_t find_host(const struct job *job, const struct job_event *e, bool has)
{
	for (uint32_t i = 0; i < job->hosts.count; i++)
		if (has_event(e, i) == has)
			return i;
	return JOB_NOBODY;
}

/* A failure on one host, with its consequences on all others. */
static void compare_event(struct why *why, const struct job_event *e)
{
	struct arena *arena = why->report->arena;
	uint32_t hosts = why->job->hosts.count;

	if (e->message->kind == MESSAGE_FAILURE && e->hosts == 1)
		add(why, find_host(why->job, e, true),
		    arena_printf(arena, "Of %u hosts only this one has it: %s", hosts,
				 e->first.text ? e->first.text : e->message->pattern));
	if (e->message->kind != MESSAGE_FALLBACK && e->hosts == hosts - 1)
		add(why, find_host(why->job, e, false),
		    arena_printf(arena, "Of %u hosts only this one lacks it: %s", hosts,
				 e->first.text ? e->first.text : e->message->pattern));
}

/* ---- facts ---- */

/* Returns true for values that the hosts of a job have in common; all others differ from host to host. */
static bool is_common(const char *name)
{
	const char *dot = strrchr(name, '.');

	return (dot && strcmp(dot, ".version") == 0) || starts_with(name, "env:") ||
	       strcmp(name, "gid-index") == 0 || strcmp(name, "gdr") == 0 ||
	       strcmp(name, "transport") == 0;
}

static bool is_first_of_name(const struct job *job, const struct job_fact *fact)
{
	for_each(other, &job->facts) {
		if (other == fact)
			return true;
		if (other->host != JOB_NOBODY && strcmp(other->name, fact->name) == 0)
			return false;
	}
	return true;
}

/* The facts of one name: FACT's value, and one other that a single host has. */
static void compare_values(struct why *why, const struct job_fact *fact)
{
	const struct job_fact *odd = NULL, *usual = NULL;
	size_t first = 0, others = 0;

	for_each(f, &why->job->facts) {
		if (f->host == JOB_NOBODY || strcmp(f->name, fact->name) != 0)
			continue;
		if (strcmp(f->value, fact->value) == 0) {
			first++;
			continue;
		}
		if (odd && strcmp(odd->value, f->value) != 0)
			return;
		odd = f;
		others++;
	}
	usual = fact;
	if (first == 1) {
		usual = odd;
		odd = fact;
		first = others;
		others = 1;
	}
	if (!odd || others != 1 || first + 1 < LEAST_HOSTS)
		return;
	add(why, odd->host,
	    arena_printf(why->report->arena, "%s is %s here and %s on the %zu others",
			 odd->name + (starts_with(odd->name, "env:") ? 4 : 0), odd->value,
			 usual->value, first));
}

void why_find_odd(struct why *why)
{
	if (why->job->hosts.count < LEAST_HOSTS)
		return;
	for_each(e, &why->job->events)
		compare_event(why, e);
	for_each(f, &why->job->facts)
		if (f->host != JOB_NOBODY && is_common(f->name) && is_first_of_name(why->job, f))
			compare_values(why, f);
}
