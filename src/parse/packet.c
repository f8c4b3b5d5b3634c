/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet.c - net/netfilter/nf_log_syslog.c of Linux 7.1, nf_log_dump_packet_common(), dump_ipv4_packet() and
 * nf_log_dump_tcp_header(): PREFIX IN=eth0 OUT= MAC=... SRC=10.0.0.2 DST=10.0.0.1 ... PROTO=TCP SPT=1 DPT=2 WINDOW=3 RES=0x00
 * SYN URGP=0 */
#include "parse/packet.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"

static struct span from(struct span s, size_t n)
{
	return (struct span){ s.p + n, s.n - n };
}

struct span packet_field(struct span line, const char *key)
{
	const char *at = span_search(line, key);
	struct span value = { line.p + line.n, 0 };

	if (at)
		value = from(line, (size_t)(at - line.p) + strlen(key));
	value.n = span_find(value, ' ');
	return value;
}

/* The prefixes of ufw ("[UFW BLOCK] "), of firewalld ("FINAL_REJECT: ", "filter_IN_public_DROP: ") and of most rules that
 * people write themselves. */
static bool has_refusal(struct span prefix)
{
	static const char *const words[] = { "BLOCK", "REJECT", "DROP", "DENY", "DENIED" };

	for (size_t i = 0; i < prefix.n; i++)
		for (size_t k = 0; k < ARRAY_SIZE(words); k++)
			if (prefix.n - i >= strlen(words[k]) &&
			    strncasecmp(prefix.p + i, words[k], strlen(words[k])) == 0)
				return true;
	return false;
}

/* Interfaces of containers and virtual machines on this host. */
static bool is_inside(struct span interface)
{
	static const char *const names[] = { "lo",     "docker", "br-",	 "veth", "virbr",
					     "lxc",    "lxd",	 "cni",	 "cali", "flan",
					     "cilium", "podman", "vnet", "tap" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (span_starts(interface, names[i]))
			return true;
	return false;
}

/* RFC 1918, and RFC 6598, which clouds use too. */
static bool is_private(struct span address)
{
	char text[INET_ADDRSTRLEN];
	struct in_addr in;
	uint32_t a;

	if (address.n >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)address.n, address.p);
	if (inet_pton(AF_INET, text, &in) != 1)
		return false;
	a = ntohl(in.s_addr);
	return a >> 24 == 10 || a >> 20 == 0xac1 || a >> 16 == 0xc0a8 || a >> 22 == 0x191;
}

/* The ports that the kernel chooses for NCCL, Gloo and MPI (net.ipv4.ip_local_port_range), and those around the default of
 * torchrun (29400) and of torch.distributed (29500). */
static bool is_of_jobs(struct span port)
{
	uint64_t n;

	return span_u64(port, 10, &n) == 0 && (n >= 32768 || (n >= 29400 && n < 29600));
}

bool packet_is_refused(struct span line)
{
	const char *in = span_search(line, "IN=");
	struct span rest;

	if (!in || !has_refusal((struct span){ line.p, (size_t)(in - line.p) }))
		return false;
	rest = from(line, (size_t)(in - line.p));
	return !is_inside(packet_field(rest, "IN=")) && !packet_field(rest, " OUT=").n &&
	       span_search(rest, " RES=0x00 SYN URGP=") &&
	       is_private(packet_field(rest, " SRC=")) && is_private(packet_field(rest, " DST=")) &&
	       is_of_jobs(packet_field(rest, " DPT="));
}
