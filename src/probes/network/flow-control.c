/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flow-control.c - PFC and global pause of the interfaces that RoCE runs over. The kernel tells
 * them over a netlink socket (net/dcb/dcbnl.c) and an ioctl of ethtool alone, to everybody, and on
 * a running host only.
 */
#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/cleanup.h"
#include "probes/probe.h"

#define ANSWER_MAX 8192
#define ANSWER_SECONDS 1

/* ---- PFC ---- */

struct question {
	struct nlmsghdr header;
	struct dcbmsg dcb;
	struct rtattr name;
	char text[IFNAMSIZ];
};

static int send_question(int fd, const char *interface)
{
	struct question q = {
		.header = { .nlmsg_type = RTM_GETDCB,
			    .nlmsg_flags = NLM_F_REQUEST,
			    .nlmsg_seq = 1 },
		.dcb = { .dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET },
		.name = { .rta_type = DCB_ATTR_IFNAME },
	};
	size_t n = strlen(interface) + 1;

	if (n > sizeof(q.text))
		return -ENAMETOOLONG;
	memcpy(q.text, interface, n);
	q.name.rta_len = (unsigned short)RTA_LENGTH(n);
	q.header.nlmsg_len = (uint32_t)(offsetof(struct question, text) + NLMSG_ALIGN(n));
	return send(fd, &q, q.header.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* The attribute TYPE among N bytes of attributes, or NULL. */
static const struct rtattr *find_attribute(const void *attributes, size_t n, unsigned int type)
{
	const struct rtattr *a = attributes;
	int left = (int)n;

	for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
		if ((a->rta_type & NLA_TYPE_MASK) == type)
			return a;
	return NULL;
}

static int read_answer(const struct nlmsghdr *header, size_t n, struct fact_u64 *fact)
{
	const struct rtattr *ieee, *pfc;
	struct ieee_pfc value;

	if (!NLMSG_OK(header, n))
		return -EBADMSG;
	if (header->nlmsg_type == NLMSG_ERROR) {
		const struct nlmsgerr *error = NLMSG_DATA(header);

		if (header->nlmsg_len < NLMSG_LENGTH(sizeof(*error)) || error->error >= 0)
			return -EBADMSG;
		return error->error;
	}
	if (header->nlmsg_len < NLMSG_LENGTH(sizeof(struct dcbmsg)))
		return -EBADMSG;
	ieee = find_attribute((const char *)NLMSG_DATA(header) + NLMSG_ALIGN(sizeof(struct dcbmsg)),
			      NLMSG_PAYLOAD(header, NLMSG_ALIGN(sizeof(struct dcbmsg))),
			      DCB_ATTR_IEEE);
	pfc = ieee ? find_attribute(RTA_DATA(ieee), RTA_PAYLOAD(ieee), DCB_ATTR_IEEE_PFC) : NULL;
	if (!pfc || RTA_PAYLOAD(pfc) < sizeof(value)) {
		fact->state = FACT_ABSENT;
		return 0;
	}
	memcpy(&value, RTA_DATA(pfc), sizeof(value));
	*fact = fact_u64(value.pfc_en);
	return 0;
}

static int ask_pfc(const char *interface, struct fact_u64 *fact)
{
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct timeval patience = { .tv_sec = ANSWER_SECONDS };
	_Alignas(struct nlmsghdr) char answer[ANSWER_MAX];
	ssize_t n;
	int rc;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
		return -errno;
	rc = send_question(fd, interface);
	if (rc)
		return rc;
	n = recv(fd, answer, sizeof(answer), 0);
	if (n < 0)
		return -errno;
	rc = read_answer((const struct nlmsghdr *)answer, (size_t)n, fact);
	if (rc == -EOPNOTSUPP) /* a driver without DCB, or a kernel without it */
		fact->state = FACT_ABSENT;
	return rc == -EOPNOTSUPP ? 0 : rc;
}

/* ---- global pause ---- */

static int ask_pause(const char *interface, struct fact_bool *fact)
{
	/* Any socket accepts the ioctl (net/socket.c, sock_do_ioctl), and netlink is allowed in services that may
	 * not use the network. */
	_cleanup_close_ int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	struct ethtool_pauseparam pause = { .cmd = ETHTOOL_GPAUSEPARAM };
	struct ifreq request = { 0 };

	if (fd < 0)
		return -errno;
	if (strlen(interface) >= sizeof(request.ifr_name))
		return -ENAMETOOLONG;
	memcpy(request.ifr_name, interface, strlen(interface));
	request.ifr_data = (char *)&pause;
	if (ioctl(fd, SIOCETHTOOL, &request) == 0)
		*fact = fact_bool(pause.rx_pause || pause.tx_pause);
	else if (errno == EOPNOTSUPP)
		fact->state = FACT_ABSENT;
	else
		return -errno;
	return 0;
}

/* ---- into the facts of net.c ---- */

static int flow_control_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct net_facts *answer = facts;
	struct net_interface *interface;
	const char *name = user;
	int rc;

	if (host_kind(host) != HOST_LIVE)
		return 0;
	interface = LIST_ADD(arena, &answer->interfaces);
	interface->name = fact_str(arena, name);
	rc = ask_pfc(name, &interface->pfc_priorities);
	return rc ? rc : ask_pause(name, &interface->pause);
}

static void ask_interface(struct probe_context *ctx, struct net_interface *interface)
{
	char *key = arena_printf(ctx->arena, "flow control of %s", interface->name.value);
	char *name = arena_printf(ctx->arena, "%s", interface->name.value);
	struct net_facts answer = { 0 };
	int rc;

	rc = host_query(ctx->host, key, &net_facts_desc, &answer, ctx->arena, flow_control_ask,
			name);
	if (rc == 0 && !answer.interfaces.count)
		host_gap_note(ctx->host, key, -ENODATA, "only a running host can be asked");
	for_each(found, &answer.interfaces) {
		if (rc)
			break;
		interface->pfc_priorities = found->pfc_priorities;
		interface->pause = found->pause;
	}
}

static bool carries_roce(const struct node *node, const char *interface)
{
	for_each(d, &node->rdma.devices)
		for_each(p, &d->ports)
			for_each(g, &p->gids)
				if (str_is(g->netdev, interface))
					return true;
	return false;
}

static void flow_control_run(struct probe_context *ctx)
{
	for_each_mut(interface, &ctx->node->net.interfaces)
		if (carries_roce(ctx->node, interface->name.value))
			ask_interface(ctx, interface);
}

/* After rdma and net, whose section it fills. */
const struct probe probe_flow_control = {
	.name = "flow-control",
	.phase = PHASE_SECOND,
	.is_hardware = true,
	.run = flow_control_run,
};
