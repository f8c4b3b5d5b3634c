/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet.h - lines of the kernel log about packets: what a LOG rule of netfilter writes. */
#ifndef PARSE_PACKET_H
#define PARSE_PACKET_H

#include "base/span.h"

/* Returns true if a firewall refused a connection that another host of the private network made to this host, at a port
 * that jobs take. LINE begins with the prefix of the firewall's rule: only the prefix shows that it refuses. */
bool packet_is_refused(struct span line);
/* The value of "KEY=" in LINE, up to the next blank; empty: it is not there. */
struct span packet_field(struct span line, const char *key);

#endif
