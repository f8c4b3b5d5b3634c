/* SPDX-License-Identifier: GPL-2.0-or-later */
/* root.c - the folder of --root, opened once. */
#include "host/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

#include "host/host-private.h"

#define ANCESTORS_MAX 4096

static bool is_ours(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

/* Through /proc, because FD may have O_PATH. If /proc is not mounted, there may be one. */
static bool has_acl(int fd)
{
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return getxattr(link, "system.posix_acl_access", NULL, 0) > 0 || errno == ENOENT;
}

/* An ACL that lets others write shows in the group's bits as its mask. */
const char *folder_exposed(int fd, const struct stat *st)
{
	if (!is_ours(st->st_uid))
		return "does not belong to root";
	if (st->st_mode & S_IWOTH)
		return "can be written to by all users";
	if (!(st->st_mode & S_IWGRP))
		return NULL;
	if (st->st_gid != 0 && st->st_gid != getegid())
		return "can be written to by a group";
	return has_acl(fd) ? "can be written to by other users through its ACL" : NULL;
}

static const char *name_of(int fd, char path[PATH_MAX])
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, PATH_MAX - 1);
	if (n <= 0)
		return "a folder above it";
	path[n] = '\0';
	return path;
}

/* In a sticky folder of root, such as /tmp, other users cannot rename or remove root's files. */
void entry_exposed(int folder, const struct stat *child, char exposed[ROOT_WHY])
{
	char path[PATH_MAX];
	const char *why;
	struct stat st;

	if (fstat(folder, &st) < 0) {
		snprintf(exposed, ROOT_WHY, "the attributes of %.150s cannot be read",
			 name_of(folder, path));
		return;
	}
	why = folder_exposed(folder, &st);
	if (!why || (is_ours(st.st_uid) && (st.st_mode & S_ISVTX) && is_ours(child->st_uid)))
		return;
	snprintf(exposed, ROOT_WHY, "%.150s %s", name_of(folder, path), why);
}

/* The folders above, wherever the name led through. */
static void check_ancestors(const struct root *root, char exposed[ROOT_WHY])
{
	int fd = fcntl(root->fd, F_DUPFD_CLOEXEC, 0), above;
	struct stat st, parent;

	for (int i = 0; i < ANCESTORS_MAX && fd >= 0 && !*exposed; i++) {
		above = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (above < 0 || fstat(fd, &st) < 0 || fstat(above, &parent) < 0)
			snprintf(exposed, ROOT_WHY,
				 "the attributes of a folder above it cannot be read: %s",
				 strerror(errno));
		close(fd);
		fd = above;
		if (above < 0 || (st.st_dev == parent.st_dev && st.st_ino == parent.st_ino))
			break;
		if (!*exposed)
			entry_exposed(above, &st, exposed);
	}
	close_fd(&fd);
}

static int walk_to(struct root *root, const char *name)
{
	_cleanup_close_ int top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char path[PATH_MAX], here[PATH_MAX] = "";
	int n;

	if (top < 0 || (name[0] != '/' && !getcwd(here, sizeof(here))))
		return -errno;
	n = snprintf(path, sizeof(path), "%s/%s", here, name);
	return n < (int)sizeof(path) ? resolve_name(top, path, root->exposed) : -ENAMETOOLONG;
}

int root_open(struct root *root, const char *name)
{
	struct stat st;
	int rc;

	*root = (struct root){ .name = name };
	root->fd = *name ? walk_to(root, name) : -ENOENT;
	if (root->fd < 0) {
		rc = root->fd;
		root->fd = -1;
		return rc;
	}
	rc = fstat(root->fd, &st) < 0 ? -errno : S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
	if (rc) {
		root_close(root);
		return rc;
	}
	root->device = st.st_dev;
	root->inode = st.st_ino;
	if (!*root->exposed)
		check_ancestors(root, root->exposed);
	return 0;
}

void root_close(struct root *root)
{
	close_fd(&root->fd);
	root->fd = -1;
}
