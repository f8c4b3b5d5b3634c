/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PEER_MEM_STANDIN_H
#define PEER_MEM_STANDIN_H

/* The front of MLNX_OFED's struct of that name: what the stand-in looks at. */
struct peer_memory_client {
	char name[64];
	char version[16];
};

/* A handle, or NULL. */
void *ib_register_peer_memory_client(const struct peer_memory_client *client, void *invalidate);
void ib_unregister_peer_memory_client(void *handle);

#endif
