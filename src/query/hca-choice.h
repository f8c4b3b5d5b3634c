/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hca-choice.h - the ports that a job uses: how many, of which link layer, and how fast. */
#ifndef HCA_CHOICE_H
#define HCA_CHOICE_H

#include "query/ports.h"
#include "query/selection.h"

struct hca_choice {
	size_t ports, unknown, infiniband, ethernet;
	uint64_t slowest, fastest; /* Mb/s; 0: no rate is known */
	size_t at_fastest;	   /* ports that run at that rate */
};

void hca_choice_add(struct hca_choice *c, const struct rdma_port *p);
/* Returns the usable ports that LIST allows. */
struct hca_choice hca_choice_of(const struct node *node, const struct hca_list *list);
/* Returns true if link layers or rates differ. */
bool hca_choice_is_mixed(const struct hca_choice *c);
/* Returns true if a few ports are slower than most: a cable, a module, the switch's port. Two rates with as many ports
 * each are intended. */
bool hca_choice_has_laggards(const struct hca_choice *c);

#endif
