/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-acknowledged.h - findings that an administrator has seen (nvnodecheck ack). Part of facts.h, which
 * includes it. */
#ifndef FACTS_ACKNOWLEDGED_H
#define FACTS_ACKNOWLEDGED_H

#include "facts/fact.h"

enum acknowledged_until {
	ACKNOWLEDGED_UNTIL_EVENT,
	ACKNOWLEDGED_UNTIL_BOOT,
	ACKNOWLEDGED_UNTIL_TIME
};
extern const char *const acknowledged_until_words[]; /* event, boot, time */

struct acknowledgement {
	struct fact_str rule;	  /* log/xid */
	struct fact_str subject;  /* as in the report; absent: the node */
	struct fact_str observed; /* what the finding said; absent: nothing */
	struct fact_str reason;	  /* of the administrator */
	struct fact_u64 time_s;	  /* Unix time at which it was given */
	struct fact_str boot_id;  /* of the boot that it was given in; absent: not known */
	/* event: until the finding says something else, or the next boot; boot; time: until then, or
	 * until the finding says something else */
	struct fact_enum until;
	struct fact_u64 until_s; /* Unix time; absent: another end */
};

struct acknowledged_facts {
	LIST(struct acknowledgement) findings; /* in the order that they were given in */
};

#endif
