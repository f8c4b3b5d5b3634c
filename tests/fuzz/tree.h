/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tree.h - a small tree in memory, for what asks for files by descriptor or through a library. */
#ifndef FUZZ_TREE_H
#define FUZZ_TREE_H

#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/host.h"
#include "host/root.h"

static char tree_folder[64];

static int tree_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static void tree_remove(void)
{
	nftw(tree_folder, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* PATH begins with "/"; the folders on the way are made. */
static inline void tree_put(const char *path, const void *bytes, size_t n)
{
	char full[512];
	int fd;

	snprintf(full, sizeof(full), "%s%s", tree_folder, path);
	for (char *slash = strchr(full + strlen(tree_folder) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert(mkdir(full, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
	fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	close(fd);
}

static inline void tree_link(const char *path, const char *target)
{
	char full[512];

	tree_put(path, "", 0);
	snprintf(full, sizeof(full), "%s%s", tree_folder, path);
	assert(unlink(full) == 0 && symlink(target, full) == 0);
}

/* True the first time, when the fixed files are to be made. */
static inline bool tree_begin(void)
{
	if (*tree_folder)
		return false;
	strcpy(tree_folder, "/dev/shm/nvnodecheck-fuzz-XXXXXX");
	assert(mkdtemp(tree_folder));
	atexit(tree_remove);
	return true;
}

/* The caller closes it. */
static inline struct host *tree_open(void)
{
	struct root root;
	struct host *host;
	char error[256];

	assert(root_open(&root, tree_folder) == 0);
	host = host_open_tree(&root, error);
	assert(host);
	root_close(&root);
	return host;
}

#endif
