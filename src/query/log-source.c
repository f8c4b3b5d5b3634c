/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-source.c - whether the lines of a file are known to be of the kernel. */
#include "query/log-source.h"

#include <stddef.h>
#include <string.h>

#include "base/array.h"

bool log_is_of_users(const char *path)
{
	static const char *const paths[] = { "/var/log/kern.log", "/var/log/messages",
					     "/var/log/syslog" };

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (strcmp(path, paths[i]) == 0)
			return true;
	return false;
}
