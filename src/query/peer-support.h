/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peer-support.h - the GPUs between which the loaded driver allows peer-to-peer over PCIe: all but GeForce cards,
 * and these with a build that is patched for it. Pure.
 */
#ifndef PEER_SUPPORT_H
#define PEER_SUPPORT_H

#include "facts/facts.h"

/* The patched builds carry the version of the stock driver, so there are only signs. Known true with two of
 * them, or with a line that only such a driver logs: "bar1BusAddr", and on GeForce cards those about peer-to-peer
 * through BAR1. SIGNS, in the arena, names them; it may be NULL. */
struct fact_bool driver_is_patched(const struct node *node, struct arena *arena,
				   const char **signs);

/* Returns true if neither NVIDIA nor a distribution built the driver. */
bool driver_is_built_here(const struct node *node);

/* Peer-to-peer access with the stock driver. From Turing on, GeForce cards reach each other over NVLink only, and
 * few have its connector (NVIDIA's product pages; tinygrad's README). A model that is not in the table is assumed to
 * have peer access. */
enum peer_support { PEERS_OVER_PCIE, PEERS_OVER_NVLINK, PEERS_NONE };
enum peer_support gpu_peer_support(const struct pci_device *gpu);

/* Returns whether the loaded driver lets this GPU reach others over PCIe. Unknown: no driver is known to be loaded,
 * or it is not known whether it is patched. */
struct fact_bool gpu_has_pcie_peers(const struct node *node, const struct pci_device *gpu,
				    struct arena *arena);

/*
 * Whether GPUs of this node can copy to each other: at least two for which the stock driver allows it, or two of any
 * kind with a patched driver. Unknown: it is not known whether the driver is patched.
 */
struct fact_bool node_has_peers(const struct node *node, struct arena *arena);

#endif
