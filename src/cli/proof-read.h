/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proof-read.h - the document that prove wrote, read back. */
#ifndef PROOF_READ_H
#define PROOF_READ_H

#include "facts/facts.h"

/* Most bytes of the document: that of four GPUs in the tests has 21 kB. */
#define PROOF_MAX (16u << 20)

/* Reads FILE into NODE->proof. 0, or -EINVAL (-errno of the file) with ERROR filled: what the document
 * lacks, or that it speaks of another boot than the node's. */
int proof_read(struct node *node, struct arena *arena, const char *file, char error[256]);

#endif
