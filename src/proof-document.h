/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proof-document.h - a proof written down, "nvnodecheck-proof", and read back. */
#ifndef PROOF_DOCUMENT_H
#define PROOF_DOCUMENT_H

#include "report.h"

struct json_object;

/* The report is that of the rules proof/, about a node that has a proof. A new object. */
struct json_object *proof_document_make(const struct report *report);

/* Reads FILE into NODE->proof. 0, or -EINVAL (-errno of the file) with ERROR filled: what the document
 * lacks, or that it speaks of another boot than the node's. */
int proof_document_read(struct node *node, struct arena *arena, const char *file, char error[256]);

#endif
