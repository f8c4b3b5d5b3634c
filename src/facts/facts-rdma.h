/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-rdma.h - RDMA devices, and the network. Part of facts.h, which includes it. */
#ifndef FACTS_RDMA_H
#define FACTS_RDMA_H

#include "facts/fact.h"

/* ---- rdma ---- */

enum rdma_port_state {
	RDMA_PORT_NOP,
	RDMA_PORT_DOWN,
	RDMA_PORT_INIT,
	RDMA_PORT_ARMED,
	RDMA_PORT_ACTIVE,
	RDMA_PORT_ACTIVE_DEFER,
};
extern const char *const rdma_port_state_words[];

struct rdma_gid {
	struct fact_u64 index;	/* in the port's table */
	struct fact_str gid;	/* fe80:0000:...: eight groups as the kernel prints them */
	struct fact_str type;	/* IB/RoCE v1, RoCE v2 */
	struct fact_str netdev; /* absent: none */
};

struct rdma_counter {
	struct fact_str name;  /* of its file, such as link_downed */
	struct fact_u64 value; /* the present count */
};

struct rdma_port {
	struct fact_u64 port;		/* from 1 */
	struct fact_enum state;		/* enum rdma_port_state */
	struct fact_str physical_state; /* LinkUp, Polling, Disabled, ... */
	struct fact_str link_layer;	/* InfiniBand, Ethernet */
	struct fact_u64 rate_mbps;	/* 400000 for 400 Gb/s */
	struct fact_str lane_rate;	/* NDR, HDR; absent: the kernel has no word for it */
	struct fact_u64 lid;		/* address in the InfiniBand subnet, 0 with Ethernet */
	struct fact_u64 sm_lid;		/* that of the subnet manager */
	/* The state in sysfs, if it differs from that of verbs, which counts; absent: both are equal. */
	struct fact_enum sysfs_state;
	struct fact_u64 active_mtu_bytes; /* through verbs */
	struct fact_bool grh_required;	  /* through verbs: packets need a global route header */
	/* Traffic class that replaces the job's in RoCE packets; absent: the job's is used, or the driver has no
	 * such file. */
	struct fact_u64 traffic_class;
	LIST(struct rdma_gid) gids;	    /* those that are not zero */
	LIST(const char *) pkeys;	    /* all that are not zero: 0xffff */
	LIST(struct rdma_counter) counters; /* errors only; absent: none, or a virtual function */
};

struct rdma_device {
	struct fact_str name;	    /* mlx5_0 */
	struct fact_str bdf;	    /* absent: not a PCI function (soft RDMA) */
	struct fact_str driver;	    /* of the PCI function, or of the soft device */
	struct fact_str node_type;  /* CA */
	struct fact_str node_guid;  /* four groups of four digits */
	struct fact_str image_guid; /* sys_image_guid: the same for all functions of one NIC */
	struct fact_str firmware;   /* version of its firmware */
	struct fact_str board_id;   /* the vendor's name of the board, its PSID */
	struct fact_str hca_type;   /* MT4129 */
	struct fact_str uverbs;	    /* uverbs0; absent: ib_uverbs has none for it */
	/* through verbs: libibverbs has a driver that fits the kernel's; absent: only files were read */
	struct fact_bool offered;
	/* through verbs: why it could not be opened; absent: it was */
	struct fact_str open_error;
	struct fact_bool dmabuf;      /* through verbs: the kernel registers a DMA-BUF */
	LIST(struct rdma_port) ports; /* of the device */
	/* For an EFA device, the provider of GPU memory: NVIDIA or NVIDIA peermem; empty: none. Absent: another
	 * device, or a driver without the file. */
	struct fact_str p2p;
	/* True if an EFA device can register GPU memory, as efa before 2.6.0 reports it. */
	struct fact_bool gdr;
};

/* A device of the auxiliary bus, by which a network driver offers a NIC to the RDMA driver. */
struct rdma_auxiliary {
	struct fact_str name;	/* mlx5_core.rdma.0 */
	struct fact_str bdf;	/* the PCI function of the device; absent: none */
	struct fact_str driver; /* mlx5_ib.rdma; absent: none is bound */
};

/* A driver line in a libibverbs.d that is not that of the libibverbs that programs get. */
struct unread_provider {
	struct fact_str path; /* /usr/local/etc/libibverbs.d/mlx5.driver */
	struct fact_str name; /* mlx5 */
};

struct rdma_facts {
	LIST(struct rdma_device) devices; /* devices of the RDMA stack */
	/* devices of the auxiliary bus; absent: a kernel without it, or without one */
	LIST(struct rdma_auxiliary) auxiliary;
	struct fact_str netns_mode;   /* shared, exclusive */
	LIST(const char *) providers; /* user-space drivers that libibverbs would load */
	/* Driver lines of other prefixes (/usr/local, a folder of /opt), which libibverbs does not read. */
	LIST(struct unread_provider) unread_providers;
	LIST(const char *) memory_peers; /* /sys/kernel/mm/memory_peers; absent: no such folder */
};

/* ---- net ---- */

struct net_interface {
	struct fact_str name;	   /* as the kernel names it */
	struct fact_str state;	   /* operstate */
	struct fact_bool carrier;  /* it has a link partner; absent: switched off */
	struct fact_u64 mtu_bytes; /* the largest packet */
	/* Speed of the link, for the port of a PCI function; absent: it is down, or its driver does not report it. */
	struct fact_u64 speed_mbps;
	struct fact_str bdf;	      /* absent: not a PCI function */
	struct fact_str driver;	      /* of the function; bonding, bridge over one; absent: none */
	LIST(const char *) addresses; /* 192.0.2.1/24, fe80::1/64 */
	/* The interface's sysctls net.ipv4.conf.NAME. Known for interfaces that share a subnet with another. */
	struct fact_u64 arp_ignore;
	struct fact_u64 arp_announce; /* known for interfaces that share a subnet with another */
	struct fact_u64 rp_filter;    /* 0 off, 1 strict, 2 loose; known for those as well */
	/* Known for interfaces with RoCE, on a running host; absent: the driver does not report it. */
	struct fact_u64 pfc_priorities; /* a bit for each that PFC is on for; hexadecimal */
	struct fact_bool pause;		/* global pause frames, sent or obeyed */
	/* Bonds, bridges and VLANs over it, and over those. Only of PCI functions. */
	LIST(const char *) uppers;
};

struct net_route {
	struct fact_str destination; /* 192.0.2.0/24, ORDERED */
	struct fact_str interface;   /* that packets leave through */
	struct fact_str gateway;     /* absent: on the link */
	struct fact_u64 metric;	     /* of several routes the smallest counts */
};

/* A routing table other than main and local. Rules choose it by source address or otherwise. */
struct net_table {
	struct fact_u64 id;	    /* the number; ORDERED */
	LIST(const char *) subnets; /* its destinations, the first 64 */
};

struct net_facts {
	LIST(struct net_interface) interfaces; /* network interfaces */
	LIST(struct net_route) routes;	       /* of IPv4, the main table */
	LIST(struct net_table) tables;	       /* of IPv4, without main and local */
	LIST(const char *) hostname_addresses; /* of the own name in /etc/hosts */
	LIST(const char *) hosts_order; /* nsswitch.conf, hosts: files, [NOTFOUND=return], dns */
	struct fact_bool ufw;		/* ufw.conf enables it; absent: no such file */
};

#endif
