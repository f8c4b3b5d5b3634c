/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * addresses.c - the addresses of the network interfaces. The kernel's text files, which a tree can
 * have too, tell them in all simple cases; where several interfaces share a subnet only the running
 * kernel knows which has what.
 */
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "parse/inet.h"
#include "probes/probe.h"

#define ROUTES "/proc/net/route"
#define TRIE "/proc/net/fib_trie"
#define INET6 "/proc/net/if_inet6"

#define NET_ROUTES_MAX 4096
#define NET_ADDRESSES_MAX 4096
/* A line of fib_trie for each address, subnet and broadcast address, in a deep tree. */
#define TRIE_BYTES_MAX (16u << 20)

/* ---- from the kernel's text ---- */

static struct net_interface *find_interface(struct net_facts *net, struct span name)
{
	for_each_mut(interface, &net->interfaces)
		if (span_is(name, interface->name.value))
			return interface;
	return NULL;
}

static void add_address(struct probe_context *ctx, struct net_interface *interface,
			const char *address)
{
	*LIST_ADD(ctx->arena, &interface->addresses) = fact_str(ctx->arena, address).value;
}

/* The local addresses of all interfaces, each once. */
struct local_addresses {
	uint32_t items[NET_ADDRESSES_MAX];
	size_t count;
};

static bool has_address(const struct local_addresses *local, uint32_t address)
{
	for (size_t i = 0; i < local->count; i++)
		if (local->items[i] == address)
			return true;
	return false;
}

static int read_local(struct probe_context *ctx, struct local_addresses *local)
{
	_cleanup_text_ struct text text = { 0 };
	struct fib_reader reader = { 0 };
	uint32_t address;
	int rc = host_read(ctx->host, &text, TRIE_BYTES_MAX, TRIE);

	reader.rest = text_span(&text);
	while (rc == 0 && fib_local_next(&reader, &address)) {
		if (has_address(local, address))
			continue;
		if (local->count == NET_ADDRESSES_MAX)
			return -EOVERFLOW;
		local->items[local->count++] = address;
	}
	return rc;
}

#define NET_TABLES_MAX \
	256 /* the kernel has more room; a node with VRFs or rules by source has some */
#define NET_SUBNETS_MAX 64

static struct net_table *take_table(struct probe_context *ctx, uint64_t id)
{
	struct net_facts *net = &ctx->node->net;
	struct net_table *table;

	for_each_mut(known, &net->tables)
		if (known_is(known->id, id))
			return known;
	if (net->tables.count == NET_TABLES_MAX) {
		net->tables.state = FACT_UNKNOWN;
		return NULL;
	}
	table = LIST_ADD(ctx->arena, &net->tables);
	table->id = fact_u64(id);
	table->subnets.state = FACT_KNOWN;
	return table;
}

/* The tables of policy routing. The rules that choose them are in no file. */
static void read_tables(struct probe_context *ctx)
{
	_cleanup_text_ struct text text = { 0 };
	struct fib_tables reader = { 0 };
	unsigned int prefix;
	uint32_t address;
	int rc = host_read(ctx->host, &text, TRIE_BYTES_MAX, TRIE);

	ctx->node->net.tables.state = rc ? FACT_UNKNOWN : FACT_KNOWN;
	reader.rest = text_span(&text);
	while (rc == 0 && fib_table_next(&reader, &address, &prefix)) {
		struct net_table *table = take_table(ctx, reader.id);
		char subnet[INET4_TEXT];

		if (!table)
			return;
		if (prefix == FIB_NO_SUBNET || table->subnets.count == NET_SUBNETS_MAX)
			continue;
		inet4_format(subnet, address, prefix);
		*LIST_ADD(ctx->arena, &table->subnets) = fact_str(ctx->arena, subnet).value;
	}
}

/* Subnets that are on the link of an interface. */
struct subnet {
	struct span interface;
	uint32_t address;
	uint32_t mask;
	unsigned int prefix;
};

struct subnets {
	struct subnet items[NET_ROUTES_MAX];
	size_t count;
};

static int read_subnets(struct probe_context *ctx, struct text *text, struct subnets *subnets)
{
	struct inet_route route;
	struct span rest;
	size_t bad = 0;
	int rc = host_read(ctx->host, text, HOST_FILE_MAX, ROUTES);

	rest = text_span(text);
	while (rc == 0 && inet_route_next(&rest, &route, &bad)) {
		if (route.gateway || !route.interface.n || !route.prefix)
			continue;
		if (subnets->count == NET_ROUTES_MAX)
			return -EOVERFLOW;
		subnets->items[subnets->count++] = (struct subnet){
			.interface = route.interface,
			.address = route.destination,
			.mask = UINT32_MAX << (32 - route.prefix),
			.prefix = route.prefix,
		};
	}
	return rc;
}

/*
 * fib_trie does not say which interface an address is on. It is certain only where the address lies
 * in a subnet that is on the link of one interface, and is the only local one there: with two, one
 * may be a service address that another interface holds.
 */
static const struct subnet *place(uint32_t address, const struct subnets *subnets,
				  const struct local_addresses *local)
{
	const struct subnet *found = NULL;
	size_t ways = 0, neighbours = 0;

	for (size_t i = 0; i < subnets->count; i++) {
		const struct subnet *subnet = &subnets->items[i];

		if ((address & subnet->mask) != subnet->address ||
		    (found && subnet->prefix < found->prefix))
			continue;
		ways = found && subnet->prefix == found->prefix ? ways + 1 : 1;
		found = subnet;
	}
	for (size_t i = 0; found && i < local->count; i++)
		neighbours += (local->items[i] & found->mask) == found->address;
	return ways == 1 && neighbours == 1 ? found : NULL;
}

/* 127.0.0.0/8 is in the local table alone. */
static const struct subnet loopback = { .interface = SPAN("lo"), .prefix = 8 };

/* IPv4 addresses from the kernel's text. 0, or -ENODATA when it does not tell whose they are. */
static int read_inet4(struct probe_context *ctx)
{
	struct local_addresses *local = arena_alloc(ctx->arena, sizeof(*local));
	struct subnets *subnets = arena_alloc(ctx->arena, sizeof(*subnets));
	_cleanup_text_ struct text routes = { 0 };
	int rc = read_local(ctx, local);

	if (rc == 0)
		rc = read_subnets(ctx, &routes, subnets);
	for (size_t i = 0; rc == 0 && i < local->count; i++) {
		uint32_t address = local->items[i];
		const struct subnet *subnet = address >> 24 == 127 ? &loopback
								   : place(address, subnets, local);
		struct net_interface *interface =
			subnet ? find_interface(&ctx->node->net, subnet->interface) : NULL;
		char text[INET4_TEXT];

		if (!interface)
			return -ENODATA;
		inet4_format(text, address, subnet->prefix);
		add_address(ctx, interface, text);
	}
	return rc;
}

static int read_inet6(struct probe_context *ctx)
{
	_cleanup_text_ struct text text = { 0 };
	struct inet6_address found;
	struct span rest;
	size_t bad = 0, count = 0;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, INET6);

	if (rc)
		return rc == -ENOENT ? 0 : rc; /* IPv6 is switched off */
	rest = text_span(&text);
	while (count++ < NET_ADDRESSES_MAX && inet6_address_next(&rest, &found, &bad)) {
		struct net_interface *interface = find_interface(&ctx->node->net, found.interface);
		char address[INET6_TEXT];

		inet6_format(address, found.address, found.prefix);
		if (interface)
			add_address(ctx, interface, address);
	}
	if (bad)
		host_gap_note(ctx->host, INET6, -EBADMSG, "a line is not an address");
	return 0;
}

/* ---- from a running kernel ---- */

static void add_answer(struct net_facts *answer, struct arena *arena, const struct ifaddrs *found)
{
	/* The label of a further address: eth0:1. */
	struct span name = { found->ifa_name, strcspn(found->ifa_name, ":") };
	struct net_interface *interface = find_interface(answer, name);
	char text[INET6_TEXT];

	if (!found->ifa_addr || !found->ifa_netmask)
		return;
	if (found->ifa_addr->sa_family == AF_INET) {
		struct sockaddr_in address, mask;

		memcpy(&address, found->ifa_addr, sizeof(address));
		memcpy(&mask, found->ifa_netmask, sizeof(mask));
		inet4_format(text, ntohl(address.sin_addr.s_addr),
			     (unsigned int)__builtin_popcount(mask.sin_addr.s_addr));
	} else if (found->ifa_addr->sa_family == AF_INET6) {
		struct sockaddr_in6 address, mask;
		unsigned int prefix = 0;

		memcpy(&address, found->ifa_addr, sizeof(address));
		memcpy(&mask, found->ifa_netmask, sizeof(mask));
		for (size_t i = 0; i < 16; i++)
			prefix += (unsigned int)__builtin_popcount(mask.sin6_addr.s6_addr[i]);
		inet6_format(text, address.sin6_addr.s6_addr, prefix);
	} else {
		return;
	}
	if (!interface) {
		interface = LIST_ADD(arena, &answer->interfaces);
		interface->name = fact_strn(arena, name.p, name.n);
	}
	*LIST_ADD(arena, &interface->addresses) = fact_str(arena, text).value;
}

static int ask_addresses(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct ifaddrs *list;
	size_t count = 0;

	(void)user;
	/* A tree is not the host that this runs on. */
	if (host_kind(host) != HOST_LIVE)
		return 0;
	if (getifaddrs(&list) < 0)
		return -errno;
	for (const struct ifaddrs *a = list; a && count < NET_ADDRESSES_MAX; a = a->ifa_next)
		if (a->ifa_addr && a->ifa_addr->sa_family != AF_PACKET && ++count)
			add_answer(facts, arena, a);
	freeifaddrs(list);
	return 0;
}

static int query_addresses(struct probe_context *ctx)
{
	struct net_facts *net = &ctx->node->net;
	struct net_facts answer = { 0 };
	int rc;

	rc = host_query(ctx->host, "getifaddrs", &net_facts_desc, &answer, ctx->arena,
			ask_addresses, NULL);
	if (rc == 0 && !answer.interfaces.count)
		rc = -ENODATA;
	for_each(found, &answer.interfaces) {
		struct net_interface *interface = find_interface(net, span_of(found->name.value));

		if (rc == 0 && interface)
			interface->addresses = found->addresses;
	}
	return rc;
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The kernel's text first: it is the same in a tree. */
static void addresses_run(struct probe_context *ctx)
{
	struct net_facts *net = &ctx->node->net;

	if (!net->interfaces.count)
		return;
	read_tables(ctx);
	if (read_inet4(ctx) || read_inet6(ctx)) {
		for_each_mut(interface, &net->interfaces)
			memset(&interface->addresses, 0, sizeof(interface->addresses));
		if (query_addresses(ctx)) {
			host_gap_note(ctx->host, TRIE, -ENODATA,
				      "does not say which interface has an address");
			return;
		}
	}
	for_each_mut(interface, &net->interfaces) {
		interface->addresses.state = FACT_KNOWN;
		if (interface->addresses.count)
			qsort(interface->addresses.items, interface->addresses.count,
			      sizeof(interface->addresses.items[0]), compare_strings);
	}
}

/* After net, whose section it fills. */
const struct probe probe_addresses = {
	.name = "addresses",
	.phase = PHASE_SECOND,
	.is_hardware = true,
	.run = addresses_run,
};
