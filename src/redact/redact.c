/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * redact.c - finds words in text that identify a machine or its people, and replaces them: the host's name and domain
 * in any spelling, MAC addresses (also inside of GUIDs, GIDs and IPv6 addresses), UUIDs, machine ids.
 */
#include "redact/redact.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "base/array.h"
#include "base/siphash.h"

#define HOST "redacted-host"
#define DOMAIN "redacted-domain"

struct name {
	char *text;
	bool domain;
	bool word; /* a common word of texts: there it stays */
};

struct redact {
	uint64_t key[2];
	struct name *names; /* the longest first */
	size_t count;
	redact_replaced *told;
	void *user;
};

struct redact *redact_new(void)
{
	struct redact *r = calloc(1, sizeof(*r));

	if (r && getrandom(r->key, sizeof(r->key), 0) == (ssize_t)sizeof(r->key))
		return r;
	free(r);
	return NULL;
}

void redact_free(struct redact *r)
{
	for (size_t i = 0; r && i < r->count; i++)
		free(r->names[i].text);
	if (r)
		free(r->names);
	free(r);
}

void redact_on_replaced(struct redact *r, redact_replaced *told, void *user)
{
	r->told = told;
	r->user = user;
}

/* KIND separates originals that could have the same bytes by chance. */
static uint64_t hash(const struct redact *r, char kind, struct span text)
{
	uint64_t h = siphash(r->key, text.p, text.n);

	return siphash(r->key, &h, sizeof(h)) ^ siphash(r->key, &kind, 1);
}

/* ---- names ---- */

static int compare_lengths(const void *a, const void *b)
{
	size_t x = strlen(((const struct name *)a)->text),
	       y = strlen(((const struct name *)b)->text);

	return x < y ? 1 : x > y ? -1 : 0;
}

static int learn(struct redact *r, struct span text, bool domain, bool word)
{
	struct name *names;

	for (size_t i = 0; i < r->count; i++)
		if (strlen(r->names[i].text) == text.n &&
		    strncasecmp(r->names[i].text, text.p, text.n) == 0)
			return 0;
	names = realloc(r->names, (r->count + 1) * sizeof(*names));
	if (!names)
		return -ENOMEM;
	r->names = names;
	names[r->count] = (struct name){ strndup(text.p, text.n), domain, word };
	if (!names[r->count].text)
		return -ENOMEM;
	r->count++;
	qsort(names, r->count, sizeof(*names), compare_lengths);
	return 0;
}

int redact_learn_domain(struct redact *r, struct span domain, bool word)
{
	return domain.n ? learn(r, domain, true, word) : 0;
}

int redact_learn_host(struct redact *r, struct span name, bool word)
{
	return name.n ? learn(r, name, false, word) : 0;
}

bool redact_is_host(const struct redact *r, struct span name)
{
	struct span first = { name.p, span_find(name, '.') };

	for (size_t i = 0; i < r->count; i++)
		if (!r->names[i].domain && strlen(r->names[i].text) == first.n &&
		    strncasecmp(r->names[i].text, first.p, first.n) == 0)
			return true;
	return false;
}

/* node-17, NODE_17 and node.17 are one name. */
static bool same_letter(char a, char b)
{
	bool joins = strchr("-_.", a) && strchr("-_.", b) && a && b;

	return joins || tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t name_length(const char *name, struct span text)
{
	size_t n = strlen(name);

	if (text.n < n || (text.n > n && isalnum((unsigned char)text.p[n])))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!same_letter(name[i], text.p[i]))
			return 0;
	return n;
}

/* ---- bytes ---- */

struct replacement {
	size_t taken; /* bytes of the text; 0: no match here */
	char text[80];
};

/* The maker's half of a MAC address stays; the bit that EUI-64 turns round does not count. */
static void map_interface(const struct redact *r, const uint8_t maker[3], uint8_t own[3])
{
	char bytes[6] = { (char)(maker[0] & ~2), (char)maker[1], (char)maker[2],
			  (char)own[0],		 (char)own[1],	 (char)own[2] };
	uint64_t h = hash(r, 'm', (struct span){ bytes, sizeof(bytes) });

	for (size_t i = 0; i < 3; i++)
		own[i] = (uint8_t)(h >> 8 * i);
}

static bool has_marker(const uint8_t id[8])
{
	return (id[3] == 0xff && id[4] == 0xfe) || (id[3] == 0x03 && id[4] == 0x00);
}

/* The 64 bits that a GUID is and a GID ends with: a MAC address with FF:FE in it (RFC 4291) or 03:00, as
 * Mellanox makes them. */
static void map_guid(const struct redact *r, uint8_t id[8])
{
	uint64_t h = hash(r, 'g', (struct span){ (const char *)id, 8 });

	map_interface(r, id, id + 5);
	if (!has_marker(id)) {
		id[3] = (uint8_t)h;
		id[4] = (uint8_t)(h >> 8);
	}
}

static bool is_zero(const uint8_t *bytes, size_t n)
{
	while (n && !bytes[n - 1])
		n--;
	return n == 0;
}

/* Changes digits only: separators and letters beside them stay. */
static void map_digits(const struct redact *r, char *text)
{
	uint64_t seed = hash(r, 'd', span_of(text));

	for (; *text; text++) {
		if (!isxdigit((unsigned char)*text))
			continue;
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		*text = (isupper((unsigned char)*text) ? "0123456789ABCDEF"
						       : "0123456789abcdef")[seed >> 60];
	}
}

/* ---- forms ---- */

static bool is_hex(struct span s, size_t at)
{
	return at < s.n && isxdigit((unsigned char)s.p[at]);
}

static uint8_t byte_at(struct span s, size_t at)
{
	return (uint8_t)(span_digit(s.p[at]) << 4 | span_digit(s.p[at + 1]));
}

static bool ends_word(struct span s, size_t at)
{
	return at >= s.n || !isalnum((unsigned char)s.p[at]);
}

static size_t hex_run(struct span s)
{
	size_t n = 0;

	while (is_hex(s, n))
		n++;
	return n;
}

static void take_digits(const struct redact *r, struct replacement *out, struct span s, size_t n)
{
	out->taken = n;
	snprintf(out->text, sizeof(out->text), "%.*s", (int)n, s.p);
	map_digits(r, out->text);
}

/* 8-4-4-4-12. Those of EFI variables are names of a kind, and the same everywhere. */
static void find_uuid(const struct redact *r, struct replacement *out, struct span s)
{
	static const char *const kinds[] = { "8be4df61-93ca-11d2-aa0d-00e098032b8c",
					     "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f" };
	static const size_t groups[] = { 8, 4, 4, 4, 12 };
	size_t at = 0;

	for (size_t i = 0; i < 5; i++) {
		for (size_t end = at + groups[i]; at < end; at++)
			if (!is_hex(s, at))
				return;
		if (i < 4 && (at >= s.n || s.p[at++] != '-'))
			return;
	}
	if (!ends_word(s, at) || strncasecmp(s.p, kinds[0], at) == 0 ||
	    strncasecmp(s.p, kinds[1], at) == 0)
		return;
	take_digits(r, out, s, at);
}

/* A machine's id, or a UUID without its dashes. */
static void find_id(const struct redact *r, struct replacement *out, struct span s)
{
	if (hex_run(s) == 32 && ends_word(s, 32))
		take_digits(r, out, s, 32);
}

/* enx0c42a1123456 (systemd.net-naming-scheme(7)). */
static void find_interface_name(const struct redact *r, struct replacement *out, struct span s)
{
	uint8_t mac[6];

	if (s.n < 15 || (!span_starts(s, "enx") && !span_starts(s, "wlx")) ||
	    hex_run((struct span){ s.p + 3, s.n - 3 }) != 12)
		return;
	for (size_t i = 0; i < 6; i++)
		mac[i] = byte_at(s, 3 + 2 * i);
	map_interface(r, mac, mac + 3);
	out->taken = 15;
	snprintf(out->text, sizeof(out->text), "%.3s%02x%02x%02x%02x%02x%02x", s.p, mac[0], mac[1],
		 mac[2], mac[3], mac[4], mac[5]);
}

/* 0xffff888123456789: an address in the kernel. */
static void find_pointer(const struct redact *r, struct replacement *out, struct span s)
{
	(void)r;
	if (s.n >= 18 && span_starts(s, "0xffff") &&
	    hex_run((struct span){ s.p + 2, s.n - 2 }) == 16) {
		out->taken = 18;
		snprintf(out->text, sizeof(out->text), "0x0000000000000000");
	}
}

#define PAIRS_MAX 20 /* the hardware address of IPoIB */

/* Pairs of digits with colons or dashes: their number, 0 for none. */
static size_t read_pairs(struct span s, uint8_t bytes[PAIRS_MAX])
{
	size_t n = 0;

	for (size_t at = 0;; at += 3) {
		if (!is_hex(s, at) || !is_hex(s, at + 1) || n == PAIRS_MAX)
			return 0;
		bytes[n++] = byte_at(s, at);
		if (at + 2 >= s.n || s.p[at + 2] != s.p[2] || (s.p[2] != ':' && s.p[2] != '-'))
			return ends_word(s, at + 2) ? n : 0;
		/* Other text can also follow "-". */
		if (!is_hex(s, at + 3))
			return n;
	}
}

/* A MAC address; 01- before it in BOOTIF (pxelinux); a GUID; the address of IPoIB, which ends with a GID. */
static void find_pairs(const struct redact *r, struct replacement *out, struct span s)
{
	uint8_t bytes[PAIRS_MAX];
	size_t count = read_pairs(s, bytes), n = 0;

	if (count < 6)
		return;
	if (count == PAIRS_MAX || count == 8)
		map_guid(r, bytes + count - 8);
	else if (count <= 7)
		map_interface(r, bytes + count - 6, bytes + count - 3);
	else
		return;
	out->taken = 3 * count - 1;
	for (size_t i = 0; i < count; i++)
		n += (size_t)snprintf(out->text + n, sizeof(out->text) - n, "%s%02x",
				      i ? (s.p[2] == ':' ? ":" : "-") : "", bytes[i]);
}

/* Four groups of four digits. */
static void find_guid(const struct redact *r, struct replacement *out, struct span s, size_t n)
{
	uint8_t id[8];

	if (n != 19 || s.p[4] != ':' || s.p[9] != ':' || s.p[14] != ':')
		return;
	for (size_t i = 0; i < 8; i++) {
		size_t at = i / 2 * 5 + i % 2 * 2;

		if (!is_hex(s, at) || !is_hex(s, at + 1))
			return;
		id[i] = byte_at(s, at);
	}
	if (is_zero(id, 8))
		return;
	map_guid(r, id);
	out->taken = n;
	snprintf(out->text, sizeof(out->text), "%02x%02x:%02x%02x:%02x%02x:%02x%02x", id[0], id[1],
		 id[2], id[3], id[4], id[5], id[6], id[7]);
}

/* Returns true if the lower half comes from a GUID. In a link-local address it always does, except for small numbers
 * that people choose. */
static bool ends_with_guid(const uint8_t address[16])
{
	static const uint8_t link_local[8] = { 0xfe, 0x80 };

	return has_marker(address + 8) ||
	       (memcmp(address, link_local, 8) == 0 && !is_zero(address + 8, 3));
}

/* An IPv6 address or a GID, in full or with "::". */
static void find_address(const struct redact *r, struct replacement *out, struct span s)
{
	char copy[INET6_ADDRSTRLEN];
	uint8_t address[16];
	size_t n = 0, colons = 0, used = 0;
	bool full;

	while (n < s.n && (is_hex(s, n) || s.p[n] == ':'))
		colons += s.p[n++] == ':';
	if (n >= sizeof(copy) || !ends_word(s, n) || colons < 2)
		return;
	if (colons == 3)
		find_guid(r, out, s, n);
	snprintf(copy, sizeof(copy), "%.*s", (int)n, s.p);
	if (out->taken || inet_pton(AF_INET6, copy, address) != 1 || !ends_with_guid(address))
		return;
	map_guid(r, address + 8);
	full = n == 39;
	out->taken = n;
	if (!full)
		inet_ntop(AF_INET6, address, out->text, sizeof(out->text));
	for (size_t i = 0; full && i < 16; i++)
		used += (size_t)snprintf(out->text + used, sizeof(out->text) - used, "%s%02x",
					 i && i % 2 == 0 ? ":" : "", address[i]);
}

static void find_name(const struct redact *r, struct replacement *out, struct span s,
		      enum redact_names names)
{
	for (size_t i = 0; names && !out->taken && i < r->count; i++) {
		const struct name *name = &r->names[i];

		out->taken = name->word ? 0 : name_length(name->text, s);
		if (!out->taken)
			continue;
		/* Its beginning keeps its place among others; of a short name not all of it. */
		if (names == REDACT_NAMES_IN_ORDER)
			snprintf(out->text, sizeof(out->text), "%.*s%s",
				 out->taken < 4 ? (int)out->taken / 2 : 2, s.p,
				 name->domain ? "-" DOMAIN : "-" HOST);
		else
			snprintf(out->text, sizeof(out->text), "%s", name->domain ? DOMAIN : HOST);
	}
}

/* ---- text ---- */

/* BEFORE is the byte before S. */
static void find(const struct redact *r, struct replacement *out, struct span s, char before,
		 enum redact_names names)
{
	static void (*const forms[])(const struct redact *r, struct replacement *out,
				     struct span s) = { find_uuid,	     find_id,
							find_interface_name, find_pointer,
							find_pairs,	     find_address };

	out->taken = 0;
	find_name(r, out, s, names);
	/* The end of an address is not an address itself. */
	for (size_t i = 0; !out->taken && i < ARRAY_SIZE(forms); i++)
		if (before != ':' || forms[i] != find_address)
			forms[i](r, out, s);
}

static void report_replaced(const struct redact *r, struct span before, const char *after)
{
	if (r->told && !span_is(before, after))
		r->told(r->user, before, after);
}

void redact_put(struct redact *r, FILE *out, struct span text, enum redact_names names)
{
	struct replacement found;
	bool inside = false; /* a word */

	for (size_t i = 0; i < text.n;) {
		struct span rest = { text.p + i, text.n - i };

		found.taken = 0;
		if (!inside)
			find(r, &found, rest, i ? text.p[i - 1] : ' ', names);
		if (found.taken) {
			report_replaced(r, (struct span){ rest.p, found.taken }, found.text);
			fputs(found.text, out);
			i += found.taken;
			inside = true;
			continue;
		}
		inside = isalnum((unsigned char)text.p[i]);
		putc(text.p[i++], out);
	}
}

void redact_put_host(struct redact *r, FILE *out, struct span name)
{
	const char *stand_in = span_find(name, '.') < name.n ? HOST "." DOMAIN : HOST;

	report_replaced(r, name, stand_in);
	fputs(stand_in, out);
}

void redact_put_number(struct redact *r, FILE *out, struct span number)
{
	char stand_in[32];

	snprintf(stand_in, sizeof(stand_in), "%u", 10000 + (uint32_t)hash(r, 'u', number) % 50000);
	report_replaced(r, number, stand_in);
	fputs(stand_in, out);
}

void redact_put_instead(struct redact *r, FILE *out, struct span text)
{
	char stand_in[32];

	snprintf(stand_in, sizeof(stand_in), "redacted-%08" PRIx32, (uint32_t)hash(r, 'w', text));
	report_replaced(r, text, stand_in);
	fputs(stand_in, out);
}
