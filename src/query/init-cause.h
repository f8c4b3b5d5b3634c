/* SPDX-License-Identifier: GPL-2.0-or-later */
/* init-cause.h - why the NVIDIA driver could not initialise a GPU, by what it wrote before that. Pure. */
#ifndef INIT_CAUSE_H
#define INIT_CAUSE_H

#include "facts/facts.h"

enum init_mender { INIT_ADMIN, INIT_FIRMWARE, INIT_HARDWARE, INIT_HOST };

struct init_cause {
	const char *meaning; /* the rest of a sentence about the GPU */
	const char *remedy;
	enum init_mender mender;
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
