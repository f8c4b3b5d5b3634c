/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pairing.h - assigns each GPU one of its nearest NICs. Two GPUs and two NICs below one switch are all equally near:
 * taking the first NIC for both would leave the second idle. Each NIC gets as few GPUs as possible. If
 * there are several ways to do that, the one in which GPUs and NICs keep their order is taken.
 */
#ifndef PAIRING_H
#define PAIRING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

#define PAIRING_NONE SIZE_MAX

struct pairing {
	size_t gpus, nics;
	bool *nearest; /* [gpu * nics + nic]: no NIC is nearer to that GPU; set by the caller */
	size_t *nic;   /* by GPU; PAIRING_NONE: it has no nearest one */
	size_t load;   /* most GPUs of one NIC: 1 is one to one; 0: nothing is paired */
};

struct pairing *pairing_new(size_t gpus, size_t nics, struct arena *arena);
/* Fills NIC and LOAD. */
void pairing_assign(struct pairing *pairing, struct arena *arena);

#endif
