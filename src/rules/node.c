/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node.c - the node as a whole: what its administrator expects of it, and whether it answered. */
#include <inttypes.h>

#include "settings.h"

/* ---- [expect] ---- */

struct expected {
	struct judge *j;
	const struct expectation *e;
	struct expect_look look;
};

static void differs(struct expected *x, const char *subject, const char *seen, const char *fact)
{
	FAIL(x->j, .subject = subject ? say(x->j, "%s %s", x->e->key, subject) : x->e->key,
	     .observed = seen, .expected = say(x->j, "%s (%s)", x->e->value, x->e->file),
	     .evidence = { fact });
}

static bool judge_one(struct expected *x, const struct expect_seen *seen)
{
	if (seen->state == FACT_UNKNOWN)
		UNKNOWN(x->j,
			.subject = seen->subject ? say(x->j, "%s %s", x->e->key, seen->subject)
						 : x->e->key,
			.evidence = { seen->fact });
	else if (seen->state == FACT_ABSENT)
		differs(x, seen->subject, "not there", seen->fact);
	else if (!expect_fits(x->e->row, seen->value, x->e->value, NULL))
		differs(x, seen->subject, seen->value, seen->fact);
	else
		return true;
	return false;
}

/* "8 x 400, 2 x 100": all fit, but are they so many? */
static bool judge_count(struct expected *x, size_t which)
{
	uint64_t wanted, count = 0;
	size_t fits;

	if (!expect_count(x->e->value, which, &wanted))
		return true;
	for_each(seen, &x->look.seen)
		count += expect_fits(x->e->row, seen->value, x->e->value, &fits) && fits == which;
	if (count == wanted)
		return true;
	differs(x, NULL, say(x->j, "%" PRIu64 " that are as the %" PRIu64 " wanted", count, wanted),
		x->e->row->reads);
	return false;
}

static void judge_key(struct expected *x)
{
	size_t right = 0, alternatives = 1;

	expect_look_at(x->e->row, x->e->argument, x->j->node, x->j->arena, &x->look);
	if (!x->look.seen.count) {
		differs(x, NULL, x->look.none ? x->look.none : "nothing", x->e->row->reads);
		return;
	}
	for_each(seen, &x->look.seen)
		right += judge_one(x, seen);
	if (right < x->look.seen.count)
		return;
	for (const char *p = x->e->value; *p; p++)
		alternatives += *p == ',';
	for (size_t i = 0; i < alternatives; i++)
		if (!judge_count(x, i))
			return;
	PASS(x->j, .subject = x->e->key,
	     .evidence = { x->look.seen.count == 1 ? x->look.seen.items[0].fact : x->e->row->reads });
}

static void judge_expectation(struct judge *j)
{
	size_t before = j->findings->count;

	for_each(e, &j->settings->expect) {
		struct expected x = { .j = j, .e = e };

		if (settings_expect(j->settings, e->key) == e)
			judge_key(&x);
	}
	if (j->findings->count == before)
		NOT_APPLICABLE(j, .observed = "the configuration has no [expect] section");
}

/* ---- probes ---- */

static void judge_timed_out(struct judge *j)
{
	size_t bad = 0;

	for_each(p, &j->node->probes) {
		bool timed_out = known_is(p->state, PROBE_TIMED_OUT);

		if (!timed_out && !known_is(p->state, PROBE_FAILED))
			continue;
		bad++;
		FAIL(j, .subject = p->name.value,
		     .observed = !timed_out ? "the probe was ended before it was done"
				 : is_known(p->stuck_at)
					 ? say(j, "no answer from %s", p->stuck_at.value)
					 : "no answer in time",
		     .expected = "an answer within the probe's deadline",
		     .evidence = { say_fact(j, "probes", p->name.value, "state") });
	}
	if (!bad)
		PASS(j, .evidence = { "probes" });
}

static const struct rule node_rules[] = {
	{
		.id = "node/expectation",
		.title = "The node is not what its configuration expects",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.judge = judge_expectation,
		.impact = "Something is missing, was exchanged or has another version than on its peers.",
		.remedy = "Repair the node, or correct the [expect] section; 'nvnodecheck expect' prints one "
			  "made from a node that is right.",
		.activation = ACTIVATION_NONE,
		.reads = "Every key of the [expect] section against the facts.",
		.why = "A GPU that fell off the bus leaves seven that work: only an expectation tells. A key "
		       "about devices is not met where there is none of them. What could not be read is "
		       "unknown, and so is what only a loaded driver tells.",
		.check = "nvnodecheck expect",
		.sources = "nvnodecheck.conf(5)",
	},
	{
		.id = "node/probe-timed-out",
		.title = "A part of the node gave no answer",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.judge = judge_timed_out,
		.impact = "A read that hangs here hangs jobs too: a wedged GPU or driver.",
		.remedy = "Look at the file that is named, and at the kernel log; a process stuck in the kernel "
			  "only goes with a reboot.",
		.reads = "What each probe reported: its state, and the file that it was reading.",
		.why = "Every probe has a deadline (2 s, the initramfs 20 s). One that passes it, crashes or is "
		       "ended by a library costs its own section, which is then unknown.",
		.check = "timeout 2 cat FILE",
		.sources = "nvnodecheck(8)",
	},
};

RULE_TABLE(node);
