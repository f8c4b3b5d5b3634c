/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-unexplained.h - errors of GPU, NIC, PCIe and IOMMU drivers that no pattern is for, gathered by their shape. */
#ifndef LOG_UNEXPLAINED_H
#define LOG_UNEXPLAINED_H

#include "facts/facts.h"
#include "parse/kmsg-driver.h"

#define LOG_UNEXPLAINED_MAX 64 /* shapes; later ones are left out */

struct kept_message;

struct log_unexplained {
	struct arena *arena;
	bool has_levels; /* of some message at least */
	size_t count;
	struct kept_message *kept; /* LOG_UNEXPLAINED_MAX, made for the first one */
};

/* Returns true if MESSAGE is such an error. LEVEL as syslog has it, or KMSG_LEVEL_NONE. */
bool log_unexplained_add(struct log_unexplained *unexplained, int level, struct span message);
/* Keeps it with TEXT, the line for people. */
void log_unexplained_keep(struct log_unexplained *unexplained, int level, uint64_t time_us,
			  struct span message, struct span text);
/* Drops all lines so far, because they belong to an earlier boot. */
void log_unexplained_forget(struct log_unexplained *unexplained);
void log_unexplained_end(const struct log_unexplained *unexplained, struct log_facts *facts);

#endif
