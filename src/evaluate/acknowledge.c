/* SPDX-License-Identifier: GPL-2.0-or-later */
/* acknowledge.c - the findings that an administrator has acknowledged, and until when. */
#include "evaluate/acknowledge.h"

#include <string.h>
#include <time.h>

bool acknowledgement_holds(const struct node *node, const struct acknowledgement *a)
{
	if (known_is(a->until, ACKNOWLEDGED_UNTIL_TIME))
		return is_known(a->until_s) && is_known(node->os.observed_time_s) &&
		       node->os.observed_time_s.value < a->until_s.value;
	return is_known(a->until) && is_known(a->boot_id) &&
	       str_is(node->os.boot_id, a->boot_id.value);
}

static bool same(struct fact_str fact, const char *text)
{
	return text ? str_is(fact, text) : is_absent(fact);
}

/* An event leaves its line and time in what the finding says: a different line changes that
 * text. */
static bool is_about(const struct acknowledgement *a, const struct finding *f)
{
	return str_is(a->rule, f->rule->id) && same(a->subject, f->answer.subject) &&
	       (known_is(a->until, ACKNOWLEDGED_UNTIL_BOOT) ||
		same(a->observed, f->answer.observed));
}

const struct acknowledgement *acknowledgement_of(const struct node *node,
						 const struct finding *finding)
{
	if (!finding_is_problem(finding))
		return NULL;
	for_each(a, &node->acknowledged.findings)
		if (is_about(a, finding) && acknowledgement_holds(node, a))
			return a;
	return NULL;
}

const char *acknowledgement_end(struct arena *arena, const struct acknowledgement *a)
{
	time_t seconds = (time_t)a->until_s.value;
	char text[64];
	struct tm tm;

	if (known_is(a->until, ACKNOWLEDGED_UNTIL_BOOT))
		return "until the next boot";
	if (!known_is(a->until, ACKNOWLEDGED_UNTIL_TIME) || !gmtime_r(&seconds, &tm) ||
	    !strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &tm))
		return "until it says something else or the next boot";
	return arena_printf(arena, "until %s or until it says something else", text);
}
