/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu-reset.h - the commands that reset all GPUs of a node. */
#ifndef GPU_RESET_H
#define GPU_RESET_H

#include "facts/facts.h"

/* Stops the services of this node that hold GPUs, resets all GPUs, and starts the services again, as lines for a
 * shell. */
const char *shell_reset_gpus(struct arena *arena, const struct node *node);

#endif
