// SPDX-License-Identifier: GPL-2.0
/*
 * nvidia-peermem - stands in for NVIDIA's module of that name: its parameters, and the symbols that
 * it wants from the RDMA core and from nvidia. It registers its client and no memory.
 */
#include <linux/module.h>

#include "nvidia.h"
#include "peer_mem.h"

static int peerdirect_support;
module_param(peerdirect_support, int, 0444);
static int persistent_api_support = 1;
module_param(persistent_api_support, int, 0444);

static const struct peer_memory_client client = { .name = "nv_mem", .version = "1.0" };
static void *handle;

static int __init peermem_init(void)
{
	/* Nothing can be pinned; the call makes the module want the symbol. */
	if (nvidia_p2p_get_pages(0, 0, 0, 0, NULL, NULL, NULL) != -EINVAL)
		return -EINVAL;
	handle = ib_register_peer_memory_client(&client, NULL);
	return handle ? 0 : -EINVAL;
}

static void __exit peermem_exit(void)
{
	ib_unregister_peer_memory_client(handle);
}

module_init(peermem_init);
module_exit(peermem_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(NVIDIA_VERSION);
MODULE_DESCRIPTION("stand-in for nvidia-peermem");
