/* SPDX-License-Identifier: GPL-2.0-or-later */
/* image.h - findings that an image cannot have: those about its machine or its processes. */
#ifndef IMAGE_H
#define IMAGE_H

#include "evaluate/rule.h"

/* Marks an unknown of an image that lacks such a fact: it is not here, and counts as nothing that was missed. */
void image_mark(const struct node *node, struct finding *finding);

#endif
