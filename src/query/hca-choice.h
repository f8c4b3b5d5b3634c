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

/* Returns the usable ports that LIST allows. */
struct hca_choice hca_choice_of(const struct node *node, const struct hca_list *list);
/* The same without a list: NICs for management and virtual functions are not counted. */
struct hca_choice hca_choice_of_all(const struct node *node, const struct endpoints *endpoints);
/* Returns true if link layers or rates differ. */
bool hca_choice_is_mixed(const struct hca_choice *c);
/* Returns true if a few ports are slower than most: a cable, a module, the switch's port. Two rates with as many ports
 * each are intended. */
bool hca_choice_has_laggards(const struct hca_choice *c);

/* Returns the NICs that hca_choice_of_all() counts, in groups: "mlx5_0,mlx5_1 (InfiniBand, 400 Gb/s); mlx5_2 (Ethernet,
 * 100 Gb/s)". */
const char *hca_groups_text(struct arena *arena, const struct node *node,
			    const struct endpoints *endpoints);

/* The ports that one entry of a list means. */
struct hca_entry_ports {
	size_t ports;
	size_t count[USABLE_YES + 1];
	const struct rdma_device *device; /* of the best port, or the last */
	const struct rdma_port *port;
};

struct hca_entry_ports hca_ports_of_entry(const struct node *node, const struct hca_list *list,
					  const struct hca_entry *entry);
/* Returns a device that the entry means, and whose ports were not read; or NULL. */
const struct rdma_device *hca_unread_device(const struct node *node, const struct hca_list *list,
					    const struct hca_entry *entry);

#endif
