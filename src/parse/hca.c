/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hca.c - the lists of RDMA devices and network interfaces in environment variables of NCCL and NVSHMEM, and the names
 * that they match.
 */
#include "parse/hca.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

/* NCCL: src/transport/net_ib/init.cc and src/os/linux.cc remove the two signs in this order. */
struct hca_list hca_list_nccl(const char *value)
{
	struct hca_list list = { .entries = span_of(value) };

	list.exclude = span_starts(list.entries, "^");
	if (list.exclude)
		list.entries = (struct span){ list.entries.p + 1, list.entries.n - 1 };
	list.exact = span_starts(list.entries, "=");
	if (list.exact)
		list.entries = (struct span){ list.entries.p + 1, list.entries.n - 1 };
	return list;
}

/* NVSHMEM: src/modules/transport/common/transport_common.cpp, nvshmemt_parse_hca_list() */
struct hca_list hca_list_nvshmem(const char *value)
{
	struct hca_list list = { .entries = span_of(value), .exact = true };

	list.exclude = span_starts(list.entries, "^");
	if (list.exclude)
		list.entries = (struct span){ list.entries.p + 1, list.entries.n - 1 };
	return list;
}

static int number_of(struct span text)
{
	size_t n = 0;
	uint64_t value;

	while (n < text.n && isdigit((unsigned char)text.p[n]))
		n++;
	if (span_u64((struct span){ text.p, n }, 10, &value) || value > INT_MAX)
		return 0;
	return (int)value;
}

bool hca_entry_next(struct span *entries, struct hca_entry *entry)
{
	struct span piece, port;

	while (span_cut(entries, ',', &piece)) {
		if (!span_cut(&piece, ':', &entry->name) || !entry->name.n)
			continue;
		entry->port = HCA_ANY_PORT;
		if (span_cut(&piece, ':', &port) && port.n)
			entry->port = number_of(port);
		return true;
	}
	return false;
}

/* NCCL: src/misc/utils.cc, matchIf() and matchPort() */
bool hca_entry_fits(const struct hca_list *list, const struct hca_entry *entry, const char *name,
		    int port)
{
	size_t n = strlen(name);

	if (n < entry->name.n || memcmp(name, entry->name.p, entry->name.n) != 0 ||
	    (list->exact && n != entry->name.n))
		return false;
	return port == HCA_ANY_PORT || entry->port == HCA_ANY_PORT || port == entry->port;
}

bool hca_list_allows(const struct hca_list *list, const char *name, int port)
{
	struct span rest = list->entries;
	struct hca_entry entry;
	bool any = false;

	while (hca_entry_next(&rest, &entry)) {
		any = true;
		if (hca_entry_fits(list, &entry, name, port))
			return !list->exclude;
	}
	/* NCCL's matchIfList() answers true to an empty list, which "^" turns round. */
	return any ? list->exclude : !list->exclude;
}
