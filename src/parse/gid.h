/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gid.h - the address in a GID. Addresses are 16 bytes in network order. An IPv4 address is its mapped IPv6 address,
 * ::ffff:192.0.2.1, as in a GID.
 */
#ifndef PARSE_GID_H
#define PARSE_GID_H

#include "base/span.h"

struct gid {
	uint8_t raw[16];
};

/* Parses eight groups of four hexadecimal digits, as sysfs prints a GID. */
bool gid_parse(struct span text, struct gid *gid);
/* Parses 192.0.2.1 or fe80::1. PREFIX gets the prefix length after "/", in bits of the GID: 120 for /24 of IPv4. It is
 * 128 if TEXT has none. */
bool gid_from_address(struct span text, struct gid *gid, unsigned int *prefix);

bool gid_is_zero(const struct gid *gid);
bool gid_is_link_local(const struct gid *gid); /* fe80::/64: not routed */
bool gid_is_ipv4(const struct gid *gid);
bool gid_is_equal(const struct gid *a, const struct gid *b);
/* Returns true if the first PREFIX bits are equal. */
bool gid_is_within(const struct gid *gid, const struct gid *base, unsigned int prefix);

#define GID_TEXT 46
/* 192.0.2.1 or fe80::1, for people. */
void gid_format(char text[GID_TEXT], const struct gid *gid);

#endif
