/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hca-choice.c - the ports that a job uses: how many, of which link layer, and how fast. */
#include "query/hca-choice.h"

#include <inttypes.h>

static void add_port(struct hca_choice *c, const struct rdma_port *p)
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
			add_port(&c, p);
		c.unknown += usable == USABLE_UNKNOWN;
	}
	return c;
}

struct hca_choice hca_choice_of_all(const struct node *node, const struct endpoints *endpoints)
{
	struct hca_choice c = { 0 };

	for_each_port(d, p, node) {
		enum usable usable = port_usable(node, d, p);

		if (is_management(endpoints, d) || is_virtual_function(endpoints, d))
			continue;
		if (usable == USABLE_YES)
			add_port(&c, p);
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

/* ---- the groups of NICs that are alike ---- */

/* The NICs of one rate and link layer, for a list. The port is added where a device has several. */
static const char *names_like(struct arena *arena, const struct node *node,
			      const struct endpoints *endpoints, const struct rdma_port *like)
{
	struct arena_text text = { .arena = arena };

	for_each_port(d, p, node) {
		if (port_usable(node, d, p) != USABLE_YES || is_management(endpoints, d) ||
		    is_virtual_function(endpoints, d) ||
		    port_is_ethernet(p) != port_is_ethernet(like) || !is_known(p->rate_mbps) ||
		    !is_known(like->rate_mbps) || p->rate_mbps.value != like->rate_mbps.value)
			continue;
		arena_add(&text, "%s%s", text.n ? "," : "", d->name.value);
		if (d->ports.count > 1)
			arena_add(&text, ":%" PRIu64, p->port.value);
	}
	return arena_added(&text);
}

#define GROUPS_MAX 8 /* of one rate and link layer each, that are named */

static bool is_of_group(const struct rdma_port *const *groups, size_t count,
			const struct rdma_port *p)
{
	for (size_t i = 0; i < count; i++)
		if (port_is_ethernet(p) == port_is_ethernet(groups[i]) &&
		    known_is(p->rate_mbps, groups[i]->rate_mbps.value))
			return true;
	return !is_known(p->rate_mbps);
}

const char *hca_groups_text(struct arena *arena, const struct node *node,
			    const struct endpoints *endpoints)
{
	const struct rdma_port *groups[GROUPS_MAX];
	struct arena_text text = { .arena = arena };
	size_t count = 0;

	for_each_port(d, p, node) {
		const char *names;

		if (count == GROUPS_MAX)
			break;
		if (is_of_group(groups, count, p))
			continue;
		names = names_like(arena, node, endpoints, p);
		if (!*names)
			continue;
		groups[count++] = p;
		arena_add(&text, "%s%s (%s, %" PRIu64 " Gb/s)", text.n ? "; " : "", names,
			  port_is_ethernet(p) ? "Ethernet" : "InfiniBand",
			  p->rate_mbps.value / 1000);
	}
	return arena_added(&text);
}

/* ---- one entry of a list ---- */

struct hca_entry_ports hca_ports_of_entry(const struct node *node, const struct hca_list *list,
					  const struct hca_entry *entry)
{
	struct hca_entry_ports a = { 0 };

	for_each_port(d, p, node) {
		enum usable usable;

		if (!hca_entry_fits(list, entry, d->name.value, (int)p->port.value))
			continue;
		usable = port_usable(node, d, p);
		a.ports++;
		a.count[usable]++;
		if (!a.device || usable == USABLE_YES) {
			a.device = d;
			a.port = p;
		}
	}
	return a;
}

const struct rdma_device *hca_unread_device(const struct node *node, const struct hca_list *list,
					    const struct hca_entry *entry)
{
	for_each(d, &node->rdma.devices)
		if (is_unknown(d->ports) &&
		    hca_entry_fits(list, entry, d->name.value, HCA_ANY_PORT))
			return d;
	return NULL;
}
