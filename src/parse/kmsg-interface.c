/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmsg-interface.c - messages of the kernel that begin with the name of a network interface. */
#include "parse/kmsg-interface.h"

#include <string.h>

#include "base/array.h"
#include "parse/kmsg-text.h"

/* What comes after the name and ": "; * is a word, # a number. Found by reading all calls of netdev_err() and its like,
 * of br_warn() and of printk("%s: ...", dev->name) in net and drivers/net of Linux 6.12.117. Left out are drivers of
 * hardware, and protocols that need hardware or whose interfaces only root can make. */
static const char *const after_interface[] = {
	/* clang-format off */
	/* drivers/net/bonding/bond_3ad.c */
	"(slave ",
	"Warning: Found an uninitialized ",
	"Warning: No 802.3ad response from ",
	"Warning: bond's first port is ",
	"Warning: port of slave * is ",
	/* drivers/net/bonding/bond_alb.c */
	"found a client with no channel in ",
	/* drivers/net/bonding/bond_debugfs.c */
	"failed to reregister, so ",
	/* drivers/net/bonding/bond_main.c */
	"Destroying bond",
	"Error: CAN devices cannot be ",
	"Error: Cannot enslave bond ",
	"Error: Device type (master ",
	"Error: No native XDP support ",
	"PROBE: c_arp * && cas * BAD",
	"Primary slave changed to ",
	"Released all slaves",
	"Unknown bonding mode ",
	"active interface up!",
	"bond_do_fail_over_mac impossible: ",
	"impossible primary_reselect ",
	"no route to arp_ip_target ",
	"no route to ns_ip6_target ",
	"now running without any active ",
	/* drivers/net/bonding/bond_netlink.c */
	"Removing last arp target with ",
	"Removing last ns target with ",
	/* drivers/net/bonding/bond_options.c */
	"ARP target ",
	"Invalid ad_actor_system MAC ",
	"NS target ",
	"Setting coupled_control to * (#)",
	"Unable to set * as MII monitoring ",
	"invalid ARP target ",
	"invalid NS target ",
	"no command found in ",
	"option ",
	"unable to remove nonexistent ARP ",
	/* drivers/net/bonding/bond_procfs.c */
	"Cannot create /proc/net/",
	/* drivers/net/can/dev/dev.c */
	"Attempt to restart for bus-off ",
	"Cannot get termination-ohms: ",
	"Invalid termination-ohms value (# ",
	"Invalid value for transceiver max ",
	"Restart failed, error ",
	"bit-timing not yet defined",
	"bus-off",
	"incorrect/missing data bit-timing",
	/* drivers/net/eql.c */
	"remember to turn off Van-Jacobson ",
	/* drivers/net/ipvlan/ipvlan_main.c */
	"Device is already in use.",
	"Master is either lo or non-ether ",
	/* drivers/net/net_failover.c */
	"* attempting to register as slave ",
	"Device * is ",
	"Failed to add vlan ids to device ",
	"Opening slave * failed err:",
	"failover * slave:* registered",
	"failover * slave:* unregistered",
	"unable to change mtu of * to # ",
	/* drivers/net/ppp/ppp_generic.c */
	"PPP: VJ uncompressed error",
	"PPP: no memory (VJ comp pkt)",
	"PPP: no memory (VJ decomp)",
	"PPP: no memory (comp pkt)",
	"PPP: no memory (fragment)",
	"ppp: compression required but ",
	"ppp: compressor dropped pkt",
	"ppp: destroying ppp struct ",
	"ppp_decompress_frame: no memory",
	"ppp_mp_reconstruct bad seq # < #",
	"recursion detected",
	/* drivers/net/slip/slip.c */
	"compressed packet ignored",
	"header compression turned on",
	"memory squeeze, dropping packet.",
	"no packets received during ",
	"transmit timed out, ",
	"truncating oversized transmit ",
	"tty discipline still running",
	"unable to grow slip buffers, MTU ",
	"xmit call when iface is down",
	/* drivers/net/tap.c */
	"Too many tap devices",
	/* drivers/net/team/team_core.c */
	"Cannot enslave team device to ",
	"Device * does ",
	"Device * failed ",
	"Failed to change to mode \"",
	"Failed to enable netpoll on ",
	"Failed to send options change via ",
	"Failed to send port change of ",
	"Mode \"",
	"Mode changed to \"",
	"No ports can be present during ",
	"Port device * added",
	"Port device * removed",
	"Refused to change device type",
	"Unable to change to the same mode ",
	/* drivers/net/tun.c */
	"unexpected GSO type: 0x",
	/* drivers/net/vrf.c */
	"Failed to add FIB rules.",
	"Failed to cycle device ",
	/* drivers/net/wireguard/socket.c */
	"Could not create IPv4 socket",
	"Could not create IPv6 socket",
	/* net/6lowpan/nhc.c */
	"received nhc id for * which is ",
	"received unknown nhc id which was ",
	/* net/8021q/vlan_core.c */
	"failed to kill vid ",
	/* net/8021q/vlan_dev.c */
	"VLAN features are set ",
	/* net/batman-adv/bat_v_elp.c */
	"WiFi driver or ethtool info does ",
	/* net/batman-adv/bridge_loop_avoidance.c */
	"Possible loop on VLAN ",
	/* net/batman-adv/hard-interface.c */
	"Adding interface: *",
	"Interface activated: *",
	"Interface deactivated: *",
	"Not using interface * (retrying ",
	"Removing interface: *",
	"The MTU of interface * is too ",
	/* net/batman-adv/multicast.c */
	"* Querier appeared",
	"* Querier disappeared - multicast ",
	"No * Querier present - multicast ",
	/* net/bridge/br_fdb.c */
	"adding interface * with same ",
	"received packet on * with own ",
	/* net/bridge/br_if.c */
	"failed insert local address ",
	"failed to initialize vlan ",
	"failed to sync bridge static fdb ",
	/* net/bridge/br_multicast.c */
	"trying to set multicast query ",
	"trying to set multicast startup ",
	/* net/bridge/br_netlink.c */
	"the hash_elasticity option has ",
	/* net/bridge/br_stp.c */
	"error offloading ageing time",
	"error setting MST state on port #(",
	"error setting offload STP state ",
	"port #(",
	"topology change detected, *",
	/* net/bridge/br_stp_if.c */
	"failed to offload ageing time",
	"failed to start userspace STP (",
	"failed to stop userspace STP (",
	/* net/bridge/br_sysfs_if.c */
	"unable to rename link * to *",
	/* net/bridge/br_vlan.c */
	"failed to insert local address ",
	"vlan filtering disabled, ",
	/* net/core/dev.c */
	"* allmulticast mode",
	"* promiscuous mode",
	"Budget exhausted after napi ",
	"Buggy VLAN acceleration in driver!",
	"NAPI poll function ",
	"Number of in use tx queues ",
	"allmulti touches roof, set ",
	"failed to disable ",
	"hw csum failure",
	"invalid qcount, qoffset # for tc #",
	"mixed HW and IP checksum settings.",
	"name change rollback failed: ",
	"promiscuity touches roof, set ",
	"refused to change device ",
	"renamed from ",
	"run_todo but not unregistering",
	"set_features() failed (",
	/* net/core/dev_addr_lists.c */
	"Current addr:  ",
	"Expected addr: ",
	"Incorrect netdev->dev_addr",
	/* net/core/failover.c */
	"can not register failover rx ",
	"can not set failover device * ",
	"failover master:* registered",
	"failover master:* unregistered",
	/* net/core/rtnetlink.c */
	"default FDB implementation only ",
	"invalid flags given to default ",
	"vlans aren't supported yet for ",
	/* net/core/selftests.c */
	"Only offline tests are supported",
	/* net/ethtool/cmis_cdb.c */
	"CDB reply length mismatch, ",
	/* net/ethtool/common.c */
	"device error, RSS context ",
	/* net/hsr/hsr_debugfs.c */
	"failed to rename",
	/* net/hsr/hsr_device.c */
	"A HSR master's MTU cannot be ",
	"HSR: Could not send supervision ",
	"No slave devices configured",
	"PRP: Could not send supervision ",
	"add vid failed for Slave-A",
	"add vid failed for Slave-B",
	/* net/hsr/hsr_forward.c */
	"Unexpected frame received in ",
	"VLAN not yet supported",
	/* net/hsr/hsr_main.c */
	"Could not update HSR node address.",
	/* net/hsr/hsr_netlink.c */
	"Could not send HSR node down",
	"Could not send HSR ring error ",
	/* net/ipv4/udp_tunnel_nic.c */
	"UDP tunnel port sync failed for ",
	"UDP tunnel port sync failed port ",
	"device assumes port 4789 will be ",
	"failed to register for UDP tunnel ",
	/* net/ipv6/ip6_vti.c */
	"Local routing loop detected!",
	/* net/openvswitch/vport.c */
	"dropped over-mtu packet: ",
	/* net/sched/sch_api.c */
	"Caught tx_queue_len zero misconfig",
	/* net/sched/sch_generic.c */
	"NETDEV WATCHDOG: CPU: ",
	"default qdisc (",
	/* net/switchdev/switchdev.c */
	"Failed to * * (object id=",
	"failed (err=",
	/* net/tipc/bearer.h */
	"MTU too low for tipc bearer",
	/* clang-format on */
};

/* net/core/dev.c, netdev_reg_state(): after the name of an interface that comes or goes. */
static const char *const states[] = { " (uninitialized)", " (unregistering)", " (unregistered)",
				      " (released)",	  " (dummy)",	      " (unknown)" };

static struct span from(struct span s, size_t n)
{
	return (struct span){ s.p + n, s.n - n };
}

/* Cuts the name and ": " off. */
static bool cut_name(struct span *s)
{
	size_t n = 0;

	for (; s->n && n <= KMSG_NAME_MAX && !strchr(" :/", s->p[0]); n++)
		*s = from(*s, kmsg_byte_size(*s));
	if (!n || n > KMSG_NAME_MAX)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (span_starts(*s, states[i])) {
			*s = from(*s, strlen(states[i]));
			break;
		}
	if (!span_starts(*s, ": "))
		return false;
	*s = from(*s, 2);
	return true;
}

bool kmsg_is_of_interface(struct span message)
{
	if (!cut_name(&message))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(after_interface); i++)
		if (kmsg_follows(message, after_interface[i]))
			return true;
	return false;
}
