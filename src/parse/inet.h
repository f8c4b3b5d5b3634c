/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inet.h - the kernel's text about addresses and routes, and the files for name lookups. IPv4 addresses are numbers in
 * the host's byte order: 192.0.2.1 is 0xc0000201. */
#ifndef PARSE_INET_H
#define PARSE_INET_H

#include <stdbool.h>

#include "base/span.h"

#define INET4_TEXT 19 /* 255.255.255.255/32 and its NUL */
#define INET6_TEXT 50 /* eight groups, /128 and a NUL */

/* "192.0.2.0/24"; PREFIX is at most 32. */
void inet4_format(char text[INET4_TEXT], uint32_t address, unsigned int prefix);
/* Formats ADDRESS without a prefix length. */
void inet4_format_address(char text[INET4_TEXT], uint32_t address);
/* "fe80::1/64" as inet_ntop() shortens it; ADDRESS is in network order. */
void inet6_format(char text[INET6_TEXT], const uint8_t address[16], unsigned int prefix);

/* A line of /proc/net/route (net/ipv4/fib_trie.c, fib_route_seq_show): the main table's routes,
 * without broadcast and multicast ones. */
struct inet_route {
	struct span interface; /* empty: none, the route refuses */
	uint32_t destination;
	unsigned int prefix;
	uint32_t gateway; /* 0: on the link */
	uint32_t metric;
};

/* Reads the next route. False at the end. Lines of another form, also the heading, are skipped and counted in BAD. */
bool inet_route_next(struct span *rest, struct inet_route *route, size_t *bad);

/*
 * The next local address in /proc/net/fib_trie (fib_trie_seq_show): a leaf "|-- 192.0.2.1" with
 * "/32 host LOCAL" below it. Without policy rules the file shows the same trie as Main and as
 * Local, so an address comes up twice.
 */
struct fib_reader {
	struct span rest;
	uint32_t leaf;
};

bool fib_local_next(struct fib_reader *reader, uint32_t *address);

/*
 * Reads the next subnet of a routing table other than main and local in the same file (fib_table_print): below "Id
 * 101:" a leaf "|-- 10.1.0.0" with "/16 link UNICAST". ID is the table's number. A table without a subnet has PREFIX
 * 33.
 */
struct fib_tables {
	struct span rest;
	uint64_t id; /* 0: main or local */
	uint32_t leaf;
};

#define FIB_NO_SUBNET 33
bool fib_table_next(struct fib_tables *reader, uint32_t *address, unsigned int *prefix);

/* A line of /proc/net/if_inet6 (net/ipv6/addrconf.c, if6_seq_show). */
struct inet6_address {
	struct span interface;
	uint8_t address[16];
	unsigned int prefix;
};

bool inet6_address_next(struct span *rest, struct inet6_address *address, size_t *bad);

/* A line of /etc/hosts: an address and the names for it. */
bool hosts_next(struct span *rest, struct span *address, struct span *names);
/* Returns true if NAME is among NAMES. Host names are compared without regard to case (RFC 4343). */
bool hosts_has(struct span names, struct span name);

/* Gets the words after "DATABASE:" in nsswitch.conf, without a comment. The last such line counts, as in glibc
 * (nss/nss_database.c). */
bool nsswitch_find(struct span text, const char *database, struct span *words);
/* Cuts the next word: a service, or its reactions in brackets as one word. */
bool nsswitch_next(struct span *words, struct span *word);

/* Returns true if the entries of the database passwd or group can come from elsewhere than its file. */
bool nsswitch_has_others(struct span text, const char *database);

#endif
