/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settings-read.h - the configuration files of a node. */
#ifndef SETTINGS_READ_H
#define SETTINGS_READ_H

#include "evaluate/settings.h"
#include "host/host.h"

/* Reads the configuration through HOST: FILE, which must exist, or the standard files if it is NULL. Returns 0, or a
 * negative errno with ERROR filled: "file:line: ..." for -EINVAL, which means that a file was read and is wrong. */
int settings_read(struct settings *settings, struct host *host, const char *file,
		  struct arena *arena, char error[512]);

#endif
