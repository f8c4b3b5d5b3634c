/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cdi.h - a specification of the Container Device Interface (github.com/cncf-tags/container-device-interface, SPEC.md
 * 1.1.0): what is injected into a container. It is YAML, or JSON, which is YAML as well. libyaml reads it, and is
 * opened at the first use.
 */
#ifndef PARSE_CDI_H
#define PARSE_CDI_H

#include <stdbool.h>

#include "base/span.h"

enum cdi_what {
	CDI_DEVICE_NODE,
	CDI_MOUNT,
	CDI_HOOK,
	CDI_NET_DEVICE,
	CDI_DEVICE,
	CDI_VERSION, /* cdiVersion */
	CDI_FIELD,   /* something that only files of a later version than 0.3.0 may have */
};

struct cdi_item {
	enum cdi_what what;
	/* on the host: a path, or the name of a net device; "": not given. Of a device name: "0", "all". Of a version:
	 * "0.5.0". Of a field: what it is. */
	struct span name;
	const char *since; /* of a field: the version of the specification that it needs */
	size_t line;	   /* from 1, of that name */
	bool typed;	   /* of a device node: it has a type */
	bool numbered;	   /* and a major number that is not 0 */
	uint64_t major, minor;
};

/* Called with only KIND ("nvidia.com/gpu") first, then for each item of it. Returning false ends the reading. */
typedef bool cdi_found(void *user, struct span kind, const struct cdi_item *item);

/*
 * Reads the first document of TEXT. Returns 0; -ELIBACC without libyaml; -ENOMEM; -EBADMSG if it is not YAML, is deeper
 * than a specification or has anchors, which no specification has. LINE is then its place, and all items before it were
 * given.
 */
int cdi_read(struct span text, cdi_found *found, void *user, size_t *line);

#endif
