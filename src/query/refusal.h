/* SPDX-License-Identifier: GPL-2.0-or-later */
/* refusal.h - the reason in the kernel log why the driver was not loaded, or did not take a GPU. */
#ifndef REFUSAL_H
#define REFUSAL_H

#include "facts/facts.h"
#include "query/cure.h"

struct refusal {
	const char *text; /* the line of the log, or what the versions say */
	const char *fact;
	struct cure cure;
};

/* The last words about nvidia.ko as a whole, or about the only GPUs that it found. */
bool refusal_of_driver(struct arena *arena, const struct node *node, struct refusal *refusal);
/* About this GPU; of a line that names none it is not known which GPU is meant, and any may be. */
bool refusal_of_gpu(struct arena *arena, const struct node *node, const struct pci_device *gpu,
		    struct refusal *refusal);
/* A driver of VERSION, as FACT says, is of no branch for the GPU, so that its probe turns it away. */
bool refusal_by_branch(struct arena *arena, const struct pci_device *gpu, const char *version,
		       const char *fact, struct refusal *refusal);
/* The kernel modules that are loaded are of the flavour, open or proprietary, that does not drive the GPU. */
bool refusal_by_flavour(const struct node *node, const struct pci_device *gpu,
			struct refusal *refusal);
/* The driver's own words in the kernel log: it was loaded since the boot, from wherever. FACT names them. */
bool refusal_shows_driver(struct arena *arena, const struct node *node, const char **fact);
/* The kernel refused the file: it was built for another kernel. */
bool refusal_of_build(struct arena *arena, const struct node *node, struct refusal *refusal);

#endif
