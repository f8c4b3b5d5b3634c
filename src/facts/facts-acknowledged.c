/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-acknowledged.c - the descriptions of the structs in facts-acknowledged.h, innermost first. */
#include "facts/facts.h"
#include "facts/own-files.h"

const char *const acknowledged_until_words[] = {
	[ACKNOWLEDGED_UNTIL_EVENT] = "event",
	[ACKNOWLEDGED_UNTIL_BOOT] = "boot",
	[ACKNOWLEDGED_UNTIL_TIME] = "time",
	NULL,
};

static const struct field acknowledgement_fields[] = {
	F_STR(acknowledgement, rule, NULL),
	F_STR(acknowledgement, subject, NULL),
	F_STR(acknowledgement, observed, NULL),
	F_STR(acknowledgement, reason, NULL),
	F_U64(acknowledgement, time_s, NULL),
	F_STR(acknowledgement, boot_id, NULL),
	F_ENUM(acknowledgement, until, acknowledged_until_words, NULL),
	F_U64(acknowledgement, until_s, NULL),
};
static const struct desc acknowledgement_desc = DESC(acknowledgement, .ordered = true);

static const struct field acknowledged_facts_fields[] = {
	F_LIST(acknowledged_facts, findings, acknowledgement_desc, OWN_ACKNOWLEDGED),
};
const struct desc acknowledged_facts_desc = DESC(acknowledged_facts);
