/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.h - labels for the parts of a node: "GPU3 (0000:3c:00.0)", "mlx5_4 port 1". A finding's subject is an identity
 * of the facts: a PCI address, "mlx5_4/1", the path of a fact.
 *
 * GPUs have the driver's number: their minor, /dev/nvidiaN. Where the driver gave none to any of them, they are
 * counted by their PCI addresses, which is the order in which the driver would number them. A GPU that the driver
 * left out while it numbered others has a letter.
 */
#ifndef NAMES_H
#define NAMES_H

#include "facts/facts.h"

enum gpu_numbering { GPU_NUMBERS_DRIVER, GPU_NUMBERS_PCI };
enum gpu_numbering gpu_numbering(const struct node *node);

/* "GPU3", "GPUa"; NULL: BDF is no GPU of this node. */
const char *gpu_label(const struct node *node, const char *bdf, struct arena *arena);
/* False: it has no number, or is no GPU of this node. */
bool gpu_number(const struct node *node, const char *bdf, uint64_t *number);
/* NULL: there is none, or it is not known. */
const char *gpu_uuid(const struct node *node, const char *bdf);

/* Without an address where there is a name: "GPU3", "mlx5_4 port 1"; "" for NULL, the node itself. */
const char *subject_label(const struct node *node, const char *subject, struct arena *arena);
/* Returns the label of SUBJECT with its PCI address. */
const char *subject_name(const struct node *node, const char *subject, struct arena *arena);

#define LABELS_ALL SIZE_MAX
/* Labels, sorted, as a list in which what is numbered in a row is one: "GPU0-GPU3, GPU7", "mlx5_0-mlx5_9 port 1". More
 * than MOST such parts: "GPU0-GPU3 and 5 more". */
const char *labels_join(const char **labels, size_t count, size_t most, struct arena *arena);

#endif
