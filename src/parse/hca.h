/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hca.h - the lists of RDMA devices and network interfaces in environment variables of NCCL and NVSHMEM, and the names
 * that they match.
 */
#ifndef PARSE_HCA_H
#define PARSE_HCA_H

#include "base/span.h"

#define HCA_ANY_PORT (-1)

struct hca_entry {
	struct span name;
	int port; /* HCA_ANY_PORT if not given; text that is not a number is 0, as with atoi() */
};

/* NCCL_IB_HCA, NCCL_SOCKET_IFNAME, NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME: "^" in front excludes, "="
 * after it compares whole names instead of their beginnings. NVSHMEM_HCA_LIST, _HCA_PE_MAPPING:
 * "^" in front excludes, names are always whole. */
struct hca_list {
	bool exclude;
	bool exact;
	struct span entries;
};

struct hca_list hca_list_nccl(const char *value);
struct hca_list hca_list_nvshmem(const char *value);
/* Cuts the next entry off ENTRIES. Empty ones are skipped. */
bool hca_entry_next(struct span *entries, struct hca_entry *entry);
/* Returns true if one entry matches. Blanks count: neither library removes them. */
bool hca_entry_fits(const struct hca_list *list, const struct hca_entry *entry, const char *name,
		    int port);
/* Returns true if the list allows NAME and PORT. An empty list allows all. */
bool hca_list_allows(const struct hca_list *list, const char *name, int port);

#endif
