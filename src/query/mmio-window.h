/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mmio-window.h - the host's setting that gives a virtual machine room for large BARs. Pure. */
#ifndef MMIO_WINDOW_H
#define MMIO_WINDOW_H

#include "facts/facts.h"

/* Returns the instruction for the host of this virtual machine; NULL if the node is not one. */
const char *mmio_window_remedy(const struct node *node);

#endif
