/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tabulate.h - the files of many nodes, read by several processes into one table (diff.h). */
#ifndef TABULATE_H
#define TABULATE_H

#include "cli/source.h"
#include "fleet/diff.h"

/* ARENA is emptied for the next node. */
typedef void tabulate_node(struct diff *table, size_t node, const struct node *facts,
			   struct arena *arena);

/* HERE: this machine, the last of the nodes; NULL: not included. Files that cannot be read are counted in the table.
 * Returns EXIT_WELL, or EXIT_CANNOT after a message. */
enum exit_status tabulate(const struct fleet *fleet, const struct options *options,
			  const struct node *here, tabulate_node *add, struct diff *table);

#endif
