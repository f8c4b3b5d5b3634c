/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topic.h - what a line that reads like an error is about, by the names in it: data/topics.tsv. */
#ifndef WHY_TOPIC_H
#define WHY_TOPIC_H

#include "why/message.h"

/* The first topic of the table whose words LINE has; NULL: it has those of none. A long line counts by its
 * beginning. */
const struct message *topic_find(struct span line);

#endif
