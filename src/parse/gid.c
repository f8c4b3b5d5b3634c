/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gid.c - the address in a GID. */
#include "parse/gid.h"

#include <arpa/inet.h>
#include <string.h>

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
static const uint8_t link_local[8] = { 0xfe, 0x80 };

bool gid_parse(struct span text, struct gid *gid)
{
	if (text.n != 39)
		return false;
	for (size_t i = 0; i < 8; i++) {
		const char *group = text.p + 5 * i;
		int value = 0;

		if (i && group[-1] != ':')
			return false;
		for (size_t k = 0; k < 4 && value >= 0; k++)
			value = span_digit(group[k]) < 0 ? -1 : value << 4 | span_digit(group[k]);
		if (value < 0)
			return false;
		gid->raw[2 * i] = (uint8_t)(value >> 8);
		gid->raw[2 * i + 1] = (uint8_t)value;
	}
	return true;
}

bool gid_from_address(struct span text, struct gid *gid, unsigned int *prefix)
{
	char address[INET6_ADDRSTRLEN];
	size_t slash = span_find(text, '/');
	uint64_t bits = 128, extra = 0;

	if (slash >= sizeof(address))
		return false;
	memcpy(address, text.p, slash);
	address[slash] = '\0';
	if (inet_pton(AF_INET, address, gid->raw + sizeof(mapped)) == 1) {
		memcpy(gid->raw, mapped, sizeof(mapped));
		extra = 96;
	} else if (inet_pton(AF_INET6, address, gid->raw) != 1) {
		return false;
	}
	if (slash < text.n) {
		struct span length = { text.p + slash + 1, text.n - slash - 1 };

		if (span_u64(length, 10, &bits) || bits > 128 - extra)
			return false;
		bits += extra;
	}
	*prefix = (unsigned int)bits;
	return true;
}

bool gid_is_zero(const struct gid *gid)
{
	static const struct gid zero;

	return gid_is_equal(gid, &zero);
}

bool gid_is_link_local(const struct gid *gid)
{
	return memcmp(gid->raw, link_local, sizeof(link_local)) == 0;
}

bool gid_is_ipv4(const struct gid *gid)
{
	return memcmp(gid->raw, mapped, sizeof(mapped)) == 0;
}

bool gid_is_equal(const struct gid *a, const struct gid *b)
{
	return memcmp(a->raw, b->raw, sizeof(a->raw)) == 0;
}

bool gid_is_within(const struct gid *gid, const struct gid *base, unsigned int prefix)
{
	size_t whole = prefix / 8;
	unsigned int mask = 0xff00u >> prefix % 8 & 0xff;

	return memcmp(gid->raw, base->raw, whole) == 0 &&
	       (whole == sizeof(gid->raw) || ((gid->raw[whole] ^ base->raw[whole]) & mask) == 0);
}

void gid_format(char text[GID_TEXT], const struct gid *gid)
{
	bool ipv4 = gid_is_ipv4(gid);

	if (!inet_ntop(ipv4 ? AF_INET : AF_INET6, gid->raw + (ipv4 ? sizeof(mapped) : 0), text,
		       GID_TEXT))
		text[0] = '\0';
}
