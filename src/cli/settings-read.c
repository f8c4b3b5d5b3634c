/* SPDX-License-Identifier: GPL-2.0-or-later */
/* settings-read.c - the configuration files of a node. */
#include "cli/settings-read.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static int read_one(struct settings *settings, struct host *host, const char *file, bool wanted,
		    struct arena *arena, char error[512])
{
	_cleanup_text_ struct text text = { 0 };
	int rc = host_read(host, &text, HOST_FILE_MAX, "%s", file);

	/* A missing configuration is valid; one that cannot be read is an error. */
	if ((rc == -ENOENT || rc == -ENODATA) && !wanted)
		return 0;
	if (rc) {
		snprintf(error, 512, "%s: %s", file, strerror(-rc));
		return rc;
	}
	return settings_parse(settings, file, text.data, text.size, arena, error);
}

/* Of a folder that cannot be listed, any expectation can be in it. */
static int list_folder(struct host *host, struct names *names, char error[512])
{
	int rc = host_list(host, names, SETTINGS_FOLDER);

	if (rc && rc != -ENOENT && rc != -ENODATA) {
		snprintf(error, 512, SETTINGS_FOLDER ": %s", strerror(-rc));
		return rc;
	}
	return 0;
}

int settings_read(struct settings *settings, struct host *host, const char *file,
		  struct arena *arena, char error[512])
{
	_cleanup_names_ struct names names = { 0 };
	char path[PATH_MAX];
	int rc;

	if (file)
		return read_one(settings, host, file, true, arena, error);
	rc = read_one(settings, host, SETTINGS_FILE, false, arena, error);
	if (rc == 0)
		rc = list_folder(host, &names, error);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		if (!span_ends(span_of(names.items[i]), ".conf") || names.items[i][0] == '.')
			continue;
		snprintf(path, sizeof(path), SETTINGS_FOLDER "/%s", names.items[i]);
		rc = read_one(settings, host, path, true, arena, error);
	}
	return rc;
}
