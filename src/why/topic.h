/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topic.h - the subject of a line that reads like an error, by the names in it: data/topics.tsv. */
#ifndef WHY_TOPIC_H
#define WHY_TOPIC_H

#include "why/message.h"

/* Returns the first topic of the table whose words LINE has, or NULL. Only the beginning of a long line counts. */
const struct message *topic_find(struct span line);

#endif
