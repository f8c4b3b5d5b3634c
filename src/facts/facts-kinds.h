/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-kinds.h - the kinds of the node. Part of facts.h, which includes it. */
#ifndef FACTS_KINDS_H
#define FACTS_KINDS_H

#include "facts/fact.h"

/* ---- kinds: the kinds of the node; derived from the other sections by query/kind.h ---- */

/* One kind of node. A node can have several: HGX board, bare metal, Kubernetes node. */
struct kind_fact {
	struct fact_str name; /* hgx, kubernetes-node, vfio-host, ...: the words of query/kind.h */
	struct fact_bool is;  /* unknown: the deciding fact was not read */
	struct fact_str reason; /* why it is, is not, or is not known */
	struct fact_str fact;	/* path of the fact that decides it, or that is missing */
};

#endif
