/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NVIDIA_STANDIN_H
#define NVIDIA_STANDIN_H

#include <linux/types.h>

#define NVIDIA_VERSION "580.159.04"

/* 0; what nvidia-uvm calls so that it depends on nvidia. */
int nvidia_standin(void);

/* As in nv-p2p.h; always -EINVAL: there is no memory to pin. */
struct nvidia_p2p_page_table;
int nvidia_p2p_get_pages(u64 token, u32 space, u64 address, u64 length,
			 struct nvidia_p2p_page_table **table, void (*freed)(void *data),
			 void *data);

#endif
