/* SPDX-License-Identifier: GPL-2.0-or-later */
/* inet.c - the kernel's text about addresses and routes, and the files for name lookups. */
#include "parse/inet.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void inet4_format_address(char text[INET4_TEXT], uint32_t address)
{
	snprintf(text, INET4_TEXT, "%u.%u.%u.%u", address >> 24, address >> 16 & 255,
		 address >> 8 & 255, address & 255);
}

void inet4_format(char text[INET4_TEXT], uint32_t address, unsigned int prefix)
{
	size_t n;

	inet4_format_address(text, address);
	n = strlen(text);
	snprintf(text + n, INET4_TEXT - n, "/%u", prefix <= 32 ? prefix : 32);
}

void inet6_format(char text[INET6_TEXT], const uint8_t address[16], unsigned int prefix)
{
	size_t n;

	if (!inet_ntop(AF_INET6, address, text, INET6_TEXT))
		text[0] = '\0';
	n = strlen(text);
	snprintf(text + n, INET6_TEXT - n, "/%u", prefix <= 128 ? prefix : 128);
}

/* ---- /proc/net/route ---- */

static bool word_number(struct span *line, int base, uint64_t max, uint64_t *value)
{
	struct span word;

	return span_word(line, &word) && span_u64(word, base, value) == 0 && *value <= max;
}

/* The kernel prints the 32 bits of network order as one number of its own order. */
static bool word_address(struct span *line, uint32_t *address)
{
	uint64_t value;

	if (!word_number(line, 16, UINT32_MAX, &value))
		return false;
	*address = ntohl((uint32_t)value);
	return true;
}

/* The metric is unsigned in the kernel and printed as a signed number. */
static bool word_metric(struct span *line, uint32_t *metric)
{
	struct span word;
	uint64_t value;
	bool minus;

	if (!span_word(line, &word))
		return false;
	minus = word.p[0] == '-';
	if (minus)
		word = (struct span){ word.p + 1, word.n - 1 };
	if (span_u64(word, 10, &value) || value > UINT32_MAX)
		return false;
	*metric = minus ? (uint32_t)-value : (uint32_t)value;
	return true;
}

/* A mask has its ones in front: 0xffffff00 is 24. */
static bool mask_prefix(uint32_t mask, unsigned int *prefix)
{
	*prefix = (unsigned int)__builtin_popcount(mask);
	return (~mask & (~mask + 1)) == 0;
}

/* Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT */
static bool parse_route(struct span line, struct inet_route *route)
{
	uint64_t unused;
	uint32_t mask;

	return span_word(&line, &route->interface) && word_address(&line, &route->destination) &&
	       word_address(&line, &route->gateway) && word_number(&line, 16, 0xffff, &unused) &&
	       word_number(&line, 10, UINT32_MAX, &unused) &&
	       word_number(&line, 10, UINT32_MAX, &unused) && word_metric(&line, &route->metric) &&
	       word_address(&line, &mask) && mask_prefix(mask, &route->prefix);
}

bool inet_route_next(struct span *rest, struct inet_route *route, size_t *bad)
{
	struct span line;

	while (span_cut(rest, '\n', &line)) {
		line = span_trim(line);
		if (!line.n || span_starts(line, "Iface"))
			continue;
		if (parse_route(line, route)) {
			if (span_is(route->interface, "*"))
				route->interface.n = 0;
			return true;
		}
		(*bad)++;
	}
	return false;
}

/* ---- /proc/net/fib_trie ---- */

static bool parse_dotted(struct span text, uint32_t *address)
{
	struct span part;
	unsigned int parts = 0;
	uint64_t value;

	*address = 0;
	while (span_cut(&text, '.', &part)) {
		if (part.n > 3 || span_u64(part, 10, &value) || value > 255)
			return false;
		*address = *address << 8 | (uint32_t)value;
		parts++;
	}
	return parts == 4;
}

bool fib_local_next(struct fib_reader *reader, uint32_t *address)
{
	struct span line, word, type;

	while (span_cut(&reader->rest, '\n', &line)) {
		if (!span_word(&line, &word))
			continue;
		if (span_is(word, "|--")) {
			if (!span_word(&line, &word) || !parse_dotted(word, &reader->leaf))
				reader->leaf = 0;
		} else if (span_is(word, "/32") && span_word(&line, &word) &&
			   span_word(&line, &type) && span_is(type, "LOCAL") && reader->leaf) {
			*address = reader->leaf;
			return true;
		}
	}
	return false;
}

/* "/16 link UNICAST" */
static bool is_unicast(struct span prefix, struct span line, unsigned int *bits)
{
	struct span scope, type;
	uint64_t value;

	if (!span_starts(prefix, "/") || !span_word(&line, &scope) || !span_word(&line, &type) ||
	    !span_is(type, "UNICAST") ||
	    span_u64((struct span){ prefix.p + 1, prefix.n - 1 }, 10, &value) || value > 32)
		return false;
	*bits = (unsigned int)value;
	return true;
}

/* "Main:", "Local:", "Id 101:" */
static bool begins_table(struct span word, struct span line, uint64_t *id)
{
	struct span number;
	bool named = span_is(word, "Main:") || span_is(word, "Local:");

	if (!named && (!span_is(word, "Id") || !span_word(&line, &number)))
		return false;
	*id = 0;
	if (!named && span_ends(number, ":"))
		span_u64((struct span){ number.p, number.n - 1 }, 10, id);
	return true;
}

bool fib_table_next(struct fib_tables *reader, uint32_t *address, unsigned int *prefix)
{
	struct span line, word;

	while (span_cut(&reader->rest, '\n', &line)) {
		if (!span_word(&line, &word))
			continue;
		if (begins_table(word, line, &reader->id)) {
			*prefix = FIB_NO_SUBNET;
			if (reader->id)
				return true;
		} else if (reader->id && span_is(word, "|--")) {
			if (!span_word(&line, &word) || !parse_dotted(word, &reader->leaf))
				reader->leaf = 0;
		} else if (reader->id && is_unicast(word, line, prefix)) {
			*address = reader->leaf;
			return true;
		}
	}
	return false;
}

/* ---- /proc/net/if_inet6 ---- */

static bool parse_hex_address(struct span text, uint8_t address[16])
{
	uint64_t byte;

	if (text.n != 32)
		return false;
	for (size_t i = 0; i < 16; i++) {
		if (span_u64((struct span){ text.p + 2 * i, 2 }, 16, &byte))
			return false;
		address[i] = (uint8_t)byte;
	}
	return true;
}

/* Address, interface number, prefix length, scope, flags (all hexadecimal), interface name. */
static bool parse_inet6(struct span line, struct inet6_address *address)
{
	struct span word;
	uint64_t prefix, unused;

	if (!span_word(&line, &word) || !parse_hex_address(word, address->address) ||
	    !word_number(&line, 16, UINT32_MAX, &unused) || !word_number(&line, 16, 128, &prefix) ||
	    !word_number(&line, 16, 0xff, &unused) || !word_number(&line, 16, UINT32_MAX, &unused))
		return false;
	address->prefix = (unsigned int)prefix;
	return span_word(&line, &address->interface);
}

bool inet6_address_next(struct span *rest, struct inet6_address *address, size_t *bad)
{
	struct span line;

	while (span_cut(rest, '\n', &line)) {
		line = span_trim(line);
		if (!line.n)
			continue;
		if (parse_inet6(line, address))
			return true;
		(*bad)++;
	}
	return false;
}

/* ---- /etc/hosts and /etc/nsswitch.conf ---- */

static struct span without_comment(struct span line)
{
	return (struct span){ line.p, span_find(line, '#') };
}

bool hosts_next(struct span *rest, struct span *address, struct span *names)
{
	struct span line;

	while (span_cut(rest, '\n', &line)) {
		line = without_comment(line);
		if (!span_word(&line, address))
			continue;
		*names = span_trim(line);
		if (names->n)
			return true;
	}
	return false;
}

bool hosts_has(struct span names, struct span name)
{
	struct span word;

	while (span_word(&names, &word))
		if (word.n == name.n && strncasecmp(word.p, name.p, name.n) == 0)
			return true;
	return false;
}

bool nsswitch_find(struct span text, const char *database, struct span *words)
{
	struct span line;
	bool found = false;

	while (span_cut(&text, '\n', &line)) {
		size_t colon;

		line = span_trim(without_comment(line));
		colon = span_find(line, ':');
		if (colon == line.n ||
		    !span_is(span_trim((struct span){ line.p, colon }), database))
			continue;
		*words = span_trim((struct span){ line.p + colon + 1, line.n - colon - 1 });
		found = true;
	}
	return found;
}

bool nsswitch_next(struct span *words, struct span *word)
{
	size_t close;

	*words = span_trim(*words);
	if (!words->n || words->p[0] != '[')
		return span_word(words, word);
	close = span_find(*words, ']');
	*word = (struct span){ words->p, close < words->n ? close + 1 : words->n };
	*words = (struct span){ words->p + word->n, words->n - word->n };
	return true;
}

bool nsswitch_has_others(struct span text, const char *database)
{
	struct span words, word;

	if (!nsswitch_find(text, database, &words))
		return false;
	while (nsswitch_next(&words, &word))
		if (!span_is(word, "files") && !span_is(word, "compat") &&
		    !span_is(word, "systemd") && word.p[0] != '[')
			return true;
	return false;
}
