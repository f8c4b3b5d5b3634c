/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses, routes, host names: every reader ends, and what it gives can be printed. */
#include "fuzz.h"

#include "parse/inet.h"

static void read_kernel_text(struct span text)
{
	struct fib_reader reader = { .rest = text };
	struct fib_tables tables = { .rest = text };
	unsigned int prefix;
	struct span rest = text;
	struct inet6_address address;
	struct inet_route route;
	char four[INET4_TEXT], six[INET6_TEXT];
	uint32_t local;
	size_t bad = 0;

	while (inet_route_next(&rest, &route, &bad)) {
		assert(route.prefix <= 32);
		check_inside(text, route.interface);
		inet4_format(four, route.destination, route.prefix);
		assert(strchr(four, '/'));
	}
	rest = text;
	while (inet6_address_next(&rest, &address, &bad)) {
		assert(address.prefix <= 128 && address.interface.n);
		inet6_format(six, address.address, address.prefix);
		assert(strchr(six, '/'));
	}
	while (fib_local_next(&reader, &local))
		assert(local);
	while (fib_table_next(&tables, &local, &prefix))
		assert(tables.id && prefix <= FIB_NO_SUBNET);
	assert(bad <= 2 * text.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = { (const char *)data, size }, rest = text, address, names, words, word;

	read_kernel_text(text);
	while (hosts_next(&rest, &address, &names)) {
		assert(address.n && names.n);
		check_inside(text, names);
		(void)hosts_has(names, address);
	}
	if (nsswitch_find(text, "hosts", &words))
		while (nsswitch_next(&words, &word)) {
			assert(word.n);
			check_inside(text, word);
		}
	return 0;
}
