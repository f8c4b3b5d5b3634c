/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hca-choice.c - the ports that a job uses: how many, of which link layer, and how fast. */
#include "query/hca-choice.h"

void hca_choice_add(struct hca_choice *c, const struct rdma_port *p)
{
	c->ports++;
	c->infiniband += port_is_infiniband(p);
	c->ethernet += port_is_ethernet(p);
	if (!is_known(p->rate_mbps))
		return;
	if (!c->slowest || p->rate_mbps.value < c->slowest)
		c->slowest = p->rate_mbps.value;
	if (p->rate_mbps.value > c->fastest) {
		c->fastest = p->rate_mbps.value;
		c->at_fastest = 0;
	}
	c->at_fastest += p->rate_mbps.value == c->fastest;
}

struct hca_choice hca_choice_of(const struct node *node, const struct hca_list *list)
{
	struct hca_choice c = { 0 };

	for_each_port(d, p, node) {
		enum usable usable = port_usable(node, d, p);

		if (!hca_list_allows(list, d->name.value, (int)p->port.value))
			continue;
		if (usable == USABLE_YES)
			hca_choice_add(&c, p);
		c.unknown += usable == USABLE_UNKNOWN;
	}
	return c;
}

bool hca_choice_is_mixed(const struct hca_choice *c)
{
	return (c->infiniband && c->ethernet) || c->slowest != c->fastest;
}

bool hca_choice_has_laggards(const struct hca_choice *c)
{
	return c->slowest != c->fastest && 2 * c->at_fastest > c->ports;
}
