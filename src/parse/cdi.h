/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cdi.h - a specification of the Container Device Interface (github.com/cncf-tags/container-device-interface,
 * SPEC.md 1.1.0): what it has brought into a container. Written in YAML or JSON, which is YAML as well; read by
 * libyaml, which is opened when it is first wanted.
 */
#ifndef PARSE_CDI_H
#define PARSE_CDI_H

#include <stdbool.h>

#include "base/span.h"

enum cdi_what { CDI_DEVICE_NODE, CDI_MOUNT, CDI_HOOK, CDI_NET_DEVICE, CDI_DEVICE };

struct cdi_item {
	enum cdi_what what;
	struct span
		name; /* on the host: a path, of a net device its name; "" where it is not said. Of a device
			* that containers ask for: "0", "all" */
	size_t line;   /* from 1, of that name */
	bool typed;    /* of a device node: its type is given */
	bool numbered; /* and its major number, which is not 0 */
	uint64_t major, minor;
};

/* Called with KIND ("nvidia.com/gpu") alone, then for each item of it. Returning false ends the reading. */
typedef bool cdi_found(void *user, struct span kind, const struct cdi_item *item);

/*
 * Reads the first document of TEXT. 0; -ELIBACC without libyaml; -EBADMSG where it is not YAML, is deeper than
 * a specification or has anchors, of which no specification has any: what came before was given. -ENOMEM.
 * LINE: where that is.
 */
int cdi_read(struct span text, cdi_found *found, void *user, size_t *line);

#endif
