/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * topo.h - the part of the PCI tree that GPU and RDMA traffic passes: NUMA nodes, host bridges, ports, switches, GPUs,
 * NICs and NVSwitches. Branches without any of these are left out. Text, SVG and JSON draw the same tree.
 */
#ifndef RENDER_TOPO_H
#define RENDER_TOPO_H

#include "facts/facts.h"
#include "render/render.h"

#define TOPO_LINES_MAX 8 /* a NIC has a port or two */

enum topo_kind {
	TOPO_NODE,
	TOPO_NUMA,
	TOPO_HOST_BRIDGE,
	TOPO_PORT,
	TOPO_SWITCH,
	TOPO_GPU,
	TOPO_NIC,
	TOPO_NVSWITCH,
	TOPO_DATA_DIRECT
};
extern const char *const topo_kind_words[];

struct topo_item {
	enum topo_kind kind;
	const char *id;			 /* BDF, pci0000:15, number of the NUMA node; NULL: none */
	const char *name;		 /* GPU0, NIC3; else NULL */
	const char *label;		 /* its kind: ConnectX-7, switch, root port */
	const struct pci_device *device; /* NULL: not a function */
	const struct numa_node *numa;
	struct topo_item *parent, *next, *first, *last;
};

/* The state of a device according to the facts. Later values are worse. */
enum topo_state {
	TOPO_WELL,
	TOPO_DEGRADED, /* fewer lanes than it has, or a port that is not active */
	TOPO_UNBOUND,  /* a GPU or NIC without the driver that it needs */
	TOPO_DEAD      /* it does not answer */
};

struct topo_lines {
	const char *text[TOPO_LINES_MAX];
	bool is_warning[TOPO_LINES_MAX]; /* of ports: it is not active */
	size_t count;
};

/* The kinds of path in the matrix, for its legend. */
struct topo_seen {
	bool class[PATH_UNKNOWN];
	bool redirected;
	bool nvlink;
	bool refused; /* peer-to-peer, between two GPUs */
};

/* The route of the driver's copies from one GPU to another. */
#define TOPO_REFUSED "the driver refuses peer-to-peer: copies go through host memory"
enum topo_way { TOPO_WAY_UNKNOWN, TOPO_WAY_NVLINK, TOPO_WAY_PCIE, TOPO_WAY_HOST };

struct topo {
	const struct node *node;
	struct arena *arena;
	const struct topology_facts *table; /* GPUs and NICs are named in its order */
	const struct problems *problems;    /* of a report, to mark them as well; or NULL */
	struct topo_item *root;
	size_t not_drawn; /* devices */
};

/* A variable for jobs that use all GPUs, and the reason for its value. */
struct topo_setting {
	const char *name, *value, *reason;
};
struct topo_settings {
	LIST(struct topo_setting);
};

void topo_make(struct topo *topo, const struct node *node, struct arena *arena);
bool topo_is_empty(const struct topo *topo);
bool topo_has_matrix(const struct topo *topo); /* there is a path between two ends */

/* GPU0, NIC3, by BDF; NULL: not in the table. */
const char *topo_name(const struct topo *topo, const char *bdf);
/* Returns true if ITEM is a port with one item below it. It is then drawn together with that. */
bool topo_folds(const struct topo_item *item);
/* 1b:00.0; with its domain where that is not 0 */
const char *topo_bdf(const struct topo_item *item);
/* A device that ends a branch. */
bool topo_is_end(const struct topo_item *item);
/* Known to redirect requests between peers. */
bool topo_redirects(const struct pci_device *device);
/* "Gen5 x16", "Gen1 x16 of Gen5 x16"; "": no link of its own. */
const char *topo_link(const struct topo *topo, const struct pci_device *device);
/* Both parts of it: what the link has now, NULL for no link; and what it can have, NULL if that is the same. */
struct topo_link {
	const char *now, *most;
};
struct topo_link topo_link_parts(const struct topo *topo, const struct pci_device *device);
bool topo_link_is_narrow(const struct pci_device *device); /* fewer lanes than the device has */
/* The type of its IOMMU group; absent: in none. */
struct fact_str topo_iommu(const struct topo *topo, const struct pci_device *device);
const char *topo_iommu_text(const struct topo *topo, const struct pci_device *device);
const char *topo_driver(const struct pci_device *device);
/* "mlx5_0 InfiniBand 400 Gb/s ACTIVE", a line for each port of a NIC's RDMA devices. */
void topo_ports(const struct topo *topo, const struct pci_device *device, struct topo_lines *lines);
const char *topo_role(const struct topo *topo, const char *bdf); /* compute, ...; "" unknown */
/* Returns the path from GPU to another GPU or a NIC; NULL to itself. */
const struct topology_path *topo_path(const struct topology_gpu *gpu, const char *bdf);
/* Returns the number of NVLinks from one GPU to another, directly or through NVSwitches, according to the driver; 0:
 * none, or not known. */
uint64_t topo_nvlinks(const struct topo *topo, const char *from, const char *to);
enum topo_way topo_way(const struct topo *topo, const char *from, const char *to);
void topo_survey(const struct topo *topo, struct topo_seen *seen);
extern const char *const topo_class_help[]; /* by enum path_class */
/* Returns a sentence with the number of devices that are not drawn; NULL if all are. */
const char *topo_not_drawn(const struct topo *topo);
/* Fills LINES with the sentences that explain the matrix. */
void topo_notes(const struct topo *topo, struct topo_lines *lines);
enum topo_state topo_state(const struct topo *topo, const struct topo_item *item);
/* "does not answer", "vfio-pci has it"; NULL: no problem */
const char *topo_state_text(const struct topo *topo, const struct topo_item *item);
/* Returns the number of the worst problem of TOPO->problems about ITEM, from 1, and their count; 0: none. */
size_t topo_problem(const struct topo *topo, const struct topo_item *item, size_t *count);
/* topo-settings.c: empty if there is no choice, or if paths are not real. */
struct topo_settings topo_settings(const struct topo *topo);
/* Returns the NICs that are as near as the GPU's own: "NIC4, NIC5"; "" for none. */
const char *topo_ties(const struct topo *topo, const struct topology_gpu *gpu);
/* "NIC3 mlx5_3, compute" */
const char *topo_nearest(const struct topo *topo, const struct topology_gpu *gpu);

enum exit_status render_topo_text(const struct topo *topo, const struct render_options *options);
enum exit_status render_topo_svg(const struct topo *topo);
/* Prints only the drawing, as a part of a page. */
void topo_draw(const struct topo *topo);
enum exit_status render_topo_json(const struct topo *topo);
/* Prints tree and matrix on a page that was begun already; nothing for a node without GPU and NIC. */
void render_topo_part(struct page *page, const struct topo *topo);

#endif
