/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ports.h - RDMA devices, their ports and their GIDs: what several rules ask about them. */
#ifndef PORTS_H
#define PORTS_H

#include "parse/gid.h"
#include "query/endpoints.h"

#define for_each_port(d, p, node)          \
	for_each(d, &(node)->rdma.devices) \
		for_each(p, &(d)->ports)

/* Returns true if DEVICE is one of ENDPOINTS, which is of the same node. */
bool is_job_nic(const struct endpoints *endpoints, const struct rdma_device *device);
bool is_virtual_function(const struct endpoints *endpoints, const struct rdma_device *device);
bool is_management(const struct endpoints *endpoints, const struct rdma_device *device);
/* Returns true if A and B are two PCIe links to one NIC, for the same port of it (Socket Direct, as on GB10). */
bool is_half_of_port(const struct endpoints *endpoints, const struct rdma_device *a,
		     const struct rdma_device *b);
bool is_fast_path(const struct endpoints *endpoints, const struct rdma_device *device);

bool port_is_active(const struct rdma_port *port);
bool port_is_ethernet(const struct rdma_port *port);
bool port_is_infiniband(const struct rdma_port *port);

enum usable {
	USABLE_NO_NODE, /* the container has no device node of the device */
	USABLE_DOWN,
	USABLE_UNKNOWN,
	USABLE_YES
};
/* Returns whether a job can use a port. */
enum usable port_usable(const struct node *node, const struct rdma_device *d,
			const struct rdma_port *p);

/* An Elastic Fabric Adapter. */
bool is_efa(const struct rdma_device *device);
/* Cisco's usNIC: enic makes no other RDMA device. */
bool is_usnic(const struct rdma_device *device);
/* Returns whether the EFA devices of the node reach GPU memory: known true if all RDMA devices are EFA and do, known
 * false if one is EFA and does not. DEVICE, if not NULL, gets the one that decides. */
struct fact_bool node_efa_reaches_gpus(const struct node *node, const struct rdma_device **device);

/* RDMA here is EFA and nothing else, so that no peer-memory module matters: of its devices the one whose driver says
 * least. NULL: it is not. */
const struct rdma_device *node_efa_alone(const struct node *node);
/* An instance type of EC2 that has EFA and GPUs, and no GPUDirect RDMA: all but the P series from p4d on
 * (github.com/aws/aws-ofi-nccl issues 104 and 547). */
bool node_is_efa_without_gpudirect(const struct node *node);

/* Returns true for iWARP, false for RoCE and InfiniBand. */
bool is_iwarp(const struct rdma_device *device);

/* "mlx5_0/1" and the path of a fact of that port. */
const char *port_name(struct arena *arena, const struct rdma_device *d, const struct rdma_port *p);
const char *port_fact(struct arena *arena, const struct rdma_device *d, const struct rdma_port *p,
		      const char *member);
const char *gid_fact(struct arena *arena, const struct rdma_device *d, const struct rdma_port *p,
		     const struct rdma_gid *g, const char *member);

/* Why an Ethernet port carries other traffic than that of jobs: it belongs to a bridge, or jobs have InfiniBand.
 * NULL: nothing says so. */
const char *port_other_purpose(struct arena *arena, const struct endpoints *endpoints,
			       const struct rdma_device *d, const struct rdma_port *p);

/* RoCE v2 with an address that is not confined to the link. */
bool gid_is_usable(const struct rdma_gid *gid);
const struct rdma_gid *port_usable_gid(const struct rdma_port *port);
/* Returns a usable GID whose address its interface has; if there is none, any usable GID. */
const struct rdma_gid *port_job_gid(const struct node *node, const struct rdma_device *device,
				    const struct rdma_port *port);
const struct rdma_gid *port_gid(const struct rdma_port *port, uint64_t index);

/* Returns true if the GID needs an address of its interface, and the interface no longer has it. */
bool gid_needs_address(const struct node *node, const struct rdma_device *device,
		       const struct rdma_gid *gid);
bool gid_is_stale(const struct node *node, const struct rdma_device *device,
		  const struct rdma_gid *gid);

const struct net_interface *node_interface(const struct node *node, const char *name);
/* Up, or of a driver that does not tell. */
bool interface_is_up(const struct net_interface *interface);
/* Returns true if INTERFACE is a leg of a bond that is NAME or lies over NAME. The ports of a bridge are no legs,
 * because they carry different traffic. */
bool interface_is_leg(const struct node *node, const struct net_interface *interface,
		      const char *name);
/* An interface of the NIC itself that is known to be down while the port runs over the bond that it belongs
 * to: only another leg is left. NULL: there is none. */
const struct net_interface *port_leg_down(const struct node *node, const struct rdma_device *device,
					  const struct rdma_port *port);
/* Returns true if the interface of that PCI function, or one over it, has the default route. */
bool node_has_default_route(const struct node *node, const char *bdf);
/* Functions of one NIC: they differ in the last digit. */
bool is_same_slot(const char *bdf, const char *other);

/* The user-space driver that a device needs, as files in libibverbs.d name it: mlx5. NULL: its driver is not known, or not
 * in the list. */
const char *verbs_provider_of(const struct rdma_device *device);

#endif
