// SPDX-License-Identifier: GPL-2.0
/*
 * ib_peer_mem - stands in for what MLNX_OFED adds to the RDMA core: the registry of peer-memory
 * clients, which kernels from kernel.org do not have. Older ones show each client in a folder.
 */
#include <linux/kobject.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "peer_mem.h"

static bool folder = true;
module_param(folder, bool, 0444);
MODULE_PARM_DESC(folder, "show clients in /sys/kernel/mm/memory_peers");

static struct kobject *peers;
static int no_folder; /* its address is the handle of a client that is not shown */

void *ib_register_peer_memory_client(const struct peer_memory_client *client, void *invalidate)
{
	return peers ? (void *)kobject_create_and_add(client->name, peers) : &no_folder;
}
EXPORT_SYMBOL(ib_register_peer_memory_client);

void ib_unregister_peer_memory_client(void *handle)
{
	if (handle != &no_folder)
		kobject_put(handle);
}
EXPORT_SYMBOL(ib_unregister_peer_memory_client);

static int __init peer_mem_init(void)
{
	if (!folder)
		return 0;
	peers = kobject_create_and_add("memory_peers", mm_kobj);
	return peers ? 0 : -ENOMEM;
}

static void __exit peer_mem_exit(void)
{
	kobject_put(peers);
}

module_init(peer_mem_init);
module_exit(peer_mem_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("stand-in for the peer-memory registry");
