/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modname.c - the modules for which configuration and initramfs images are searched. */
#include "parse/modname.h"

#include <string.h>

#include "base/array.h"
#include "parse/kparam.h"

bool modname_is_ours(struct span name)
{
	static const char *const prefixes[] = { "nvidia",      "nouveau", "nova", "gdrdrv",
						"nv_peer_mem", "mlx",	  "ib_",  "rdma",
						"vfio",	       "efa" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t n = strlen(prefixes[i]);

		if (name.n >= n && kparam_name_is((struct span){ name.p, n }, prefixes[i]))
			return true;
	}
	return false;
}
