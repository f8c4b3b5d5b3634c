/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mounted-image.h - findings that a mounted image cannot have: those about its machine or its processes. */
#ifndef MOUNTED_IMAGE_H
#define MOUNTED_IMAGE_H

#include "evaluate/rule.h"

/* If FINDING is unknown because a mounted image has no such facts, marks it as not here. It then does not count as a
 * check that could not run. */
void mounted_image_mark(const struct node *node, struct finding *finding);

#endif
