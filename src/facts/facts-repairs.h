/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-repairs.h - repairs that fix --apply made on the node and that were not undone. Part of
 * facts.h, which includes it. */
#ifndef FACTS_REPAIRS_H
#define FACTS_REPAIRS_H

#include "facts/fact.h"

/* The result of the repair of one finding. */
struct repair {
	struct fact_str rule;	 /* driver/peer-mapping-override */
	struct fact_str subject; /* absent: the node */
	struct fact_str what;	 /* add iommu=pt to the kernel command line */
};

enum repair_file_state { REPAIR_FILE_KEPT, REPAIR_FILE_CHANGED, REPAIR_FILE_GONE };
extern const char *const repair_file_state_words[];

/* A file that a transaction wrote or removed itself. */
struct repair_file {
	struct fact_str path;	/* on the node */
	struct fact_enum state; /* enum repair_file_state: kept is as the transaction left it */
};

struct transaction {
	struct fact_str id;	 /* sorts by time */
	struct fact_u64 time_s;	 /* Unix time of its beginning */
	struct fact_str boot_id; /* of the boot in which it was done; absent: done through --root */
	LIST(struct repair) repairs; /* in the plan's order */
	LIST(struct repair_file) files;
	LIST(const char *) kernels; /* releases whose initramfs was built for it */
};

struct repairs_facts {
	LIST(struct transaction) applied; /* and not reverted */
};

#endif
