/* SPDX-License-Identifier: GPL-2.0-or-later */
/* init-cause.h - why the NVIDIA driver could not initialise a GPU, by what it wrote before that. Pure. */
#ifndef INIT_CAUSE_H
#define INIT_CAUSE_H

#include "facts/facts.h"
#include "query/cure.h"
#include "query/repaired-by.h"

struct init_cause {
	const char *meaning; /* the rest of a sentence about the GPU */
	struct cure cure;
	enum repaired_by repaired_by;
	bool is_setting;  /* a setting or another driver of this node is wrong, not the GPU */
	const char *line; /* of the kernel log */
	const char *fact; /* its path */
};

/*
 * The cause of a failure of the GPU BDF (NULL: the log does not name one) at FAILED_US. A line that names another GPU,
 * and one of another time, is of another failure. False: the log has no line that says why.
 */
bool init_cause_find(struct arena *arena, const struct node *node, const char *bdf,
		     struct fact_u64 failed_us, struct init_cause *cause);

/* Explains the numbers of "RmInitAdapter failed! (0x62:0x65:2477)": where it failed, and how. NULL: no explanation
 * is known. */
const char *init_code_text(struct arena *arena, const char *line);

#endif
