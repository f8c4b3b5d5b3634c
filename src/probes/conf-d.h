/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf-d.h - reads folders of small files of several owners (*.d) as systemd does. If several folders have a file of
 * one name, that of the first folder counts. A link to /dev/null removes the name. The files are read in the order of
 * their names. */
#ifndef CONF_D_H
#define CONF_D_H

#include "host/host.h"

#define CONF_D_MAX 512 /* files of one kind */

struct conf_d {
	struct conf_d_file {
		const char *folder;
		const char *name;
	} items[CONF_D_MAX];
	size_t count;
	/* The first error that leaves the list incomplete. /run may be missing from a tree: it is
	 * empty before the boot. */
	int error;
};

/* The folders of systemd, the highest first, with LAST for the final part: "modules-load.d". NULL-
 * terminated, in ARENA. */
const char *const *conf_d_folders(struct host *host, struct arena *arena, const char *first,
				  const char *last);
const char *conf_d_path(struct arena *arena, const struct conf_d_file *file);
void conf_d_list(struct host *host, struct arena *arena, const char *const *folders,
		 const char *suffix, struct conf_d *out);

#endif
