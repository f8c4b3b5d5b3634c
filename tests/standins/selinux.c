// SPDX-License-Identifier: GPL-2.0-or-later
/* selinux.c - as libselinux.so.1: a policy that wants "standin:PATH" everywhere but below
 * /etc/default. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int is_selinux_enabled(void)
{
	return 1;
}

void *selabel_open(unsigned int backend, const void *options, unsigned int n)
{
	return backend || options || n ? NULL : malloc(1);
}

int selabel_lookup_raw(void *handle, char **label, const char *path, int mode)
{
	if (!handle || strncmp(path, "/etc/default/", 13) == 0) {
		errno = ENOENT;
		return -1;
	}
	return asprintf(label, "standin:%o:%s", (unsigned int)mode & 0170000, path) < 0 ? -1 : 0;
}

void selabel_close(void *handle)
{
	free(handle);
}

void freecon(char *label)
{
	free(label);
}
