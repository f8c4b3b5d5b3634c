/* SPDX-License-Identifier: GPL-2.0-or-later */
/* selection.h - which NICs each library of a job uses on this node, by its own variables, files and defaults. */
#ifndef SELECTION_H
#define SELECTION_H

#include "query/job-env.h"
#include "query/ports.h"

/* Why no job runs over the port: the libraries' lists leave it out, or it is the fast path of the machine's
 * ordinary network. NULL: one may. FACT is the path of the fact that says so. */
const char *port_left_out(struct arena *arena, const struct endpoints *endpoints,
			  const struct rdma_device *d, const struct rdma_port *p,
			  const char **fact);

#endif
