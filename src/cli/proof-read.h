/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proof-read.h - reads the document of prove. */
#ifndef PROOF_READ_H
#define PROOF_READ_H

#include "facts/facts.h"

/* Most bytes of the document: that of four GPUs in the tests has 21 kB. */
#define PROOF_MAX (16u << 20)

/* Reads FILE into NODE->proof. Returns 0, or -EINVAL (-errno of the file) with ERROR filled: a missing part, or a proof
 * of another boot than the node's. */
int proof_read(struct node *node, struct arena *arena, const char *file, char error[256]);

#endif
