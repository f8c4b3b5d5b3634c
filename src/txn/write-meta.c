/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write-meta.c - owner, mode, time and extended attributes: SELinux labels and ACLs among them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base/cleanup.h"
#include "txn/write-private.h"

#define NAMES_MAX (64u << 10) /* XATTR_LIST_MAX, include/uapi/linux/limits.h */
#define VALUE_MAX (64u << 10) /* XATTR_SIZE_MAX */

/* Attributes that the kernel or a signer made from the content: they do not fit other bytes. */
static bool is_of_content(const char *name)
{
	return strcmp(name, "security.ima") == 0 || strcmp(name, "security.evm") == 0;
}

/* The names of FD's attributes, one NUL-terminated string after another. */
static ssize_t list_names(int fd, char **names)
{
	ssize_t n;

	*names = malloc(NAMES_MAX);
	if (!*names)
		return -ENOMEM;
	n = flistxattr(fd, *names, NAMES_MAX);
	if (n < 0)
		n = errno == ENOTSUP ? 0 : -errno;
	return n;
}

static int read_xattrs(struct writer *w, int fd, struct file_meta *meta)
{
	_cleanup_free_ char *names = NULL, *value = malloc(VALUE_MAX);
	ssize_t n = value ? list_names(fd, &names) : -ENOMEM;

	if (n < 0)
		return (int)n;
	for (const char *name = names; name < names + n; name += strlen(name) + 1) {
		ssize_t size = fgetxattr(fd, name, value, VALUE_MAX);
		struct xattr *xattr;

		if (size < 0)
			return -errno;
		xattr = LIST_ADD(w->arena, &meta->xattrs);
		xattr->name = arena_strdup(w->arena, name);
		xattr->value = arena_strndup(w->arena, value, (size_t)size);
		xattr->n = (size_t)size;
	}
	return 0;
}

int write_meta_read(struct writer *w, int fd, const char *path, const struct stat *st,
		    struct file_meta *meta)
{
	int rc;

	*meta = (struct file_meta){
		.mode = st->st_mode & 07777,
		.uid = st->st_uid,
		.gid = st->st_gid,
		.mtime_s = st->st_mtim.tv_sec,
		.mtime_ns = (uint32_t)st->st_mtim.tv_nsec,
	};
	rc = read_xattrs(w, fd, meta);
	if (rc)
		return write_fail(w, rc, path, "reading its extended attributes: %s",
				  strerror(-rc));
	return 0;
}

static bool has_xattr(const struct file_meta *meta, const char *name)
{
	for_each(x, &meta->xattrs)
		if (strcmp(x->name, name) == 0)
			return true;
	return false;
}

/* A new file inherits the default ACL of its folder; the old one need not have had it. */
static int drop_other_xattrs(int fd, const struct file_meta *meta)
{
	_cleanup_free_ char *names = NULL;
	ssize_t n = list_names(fd, &names);

	if (n < 0)
		return (int)n;
	for (const char *name = names; name < names + n; name += strlen(name) + 1) {
		if (has_xattr(meta, name) || starts_with(name, "security."))
			continue;
		TEST_POINT("removexattr");
		if (fremovexattr(fd, name) < 0 && errno != ENODATA)
			return -errno;
	}
	return 0;
}

static int set_xattrs(int fd, const struct file_meta *meta, bool exact)
{
	int rc = drop_other_xattrs(fd, meta);

	for_each(x, &meta->xattrs) {
		if (rc)
			break;
		if (is_of_content(x->name) && !exact)
			continue;
		TEST_POINT("setxattr");
		/* Only the kernel may be allowed to write signatures. */
		if (fsetxattr(fd, x->name, x->value, x->n, 0) < 0 && !is_of_content(x->name))
			rc = -errno;
	}
	return rc;
}

int write_meta_set(struct writer *w, int fd, const struct write_request *r)
{
	const struct file_meta *meta = r->meta;
	int rc;

	TEST_POINT("fchown");
	if (meta && fchown(fd, meta->uid, meta->gid) < 0)
		return write_failed(w, r->path, "setting its owner");
	TEST_POINT("fchmod");
	if (fchmod(fd, meta ? meta->mode : r->mode) < 0)
		return write_failed(w, r->path, "setting its mode");
	if (!meta)
		return write_label(w, fd, r->path, S_IFREG);
	rc = set_xattrs(fd, meta, r->exact);
	if (rc)
		return write_fail(w, rc, r->path, "setting its extended attributes: %s",
				  strerror(-rc));
	if (r->exact) {
		const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
						   { meta->mtime_s, meta->mtime_ns } };

		if (futimens(fd, times) < 0)
			return write_failed(w, r->path, "setting its time");
	}
	return 0;
}

int write_meta_set_link(struct writer *w, int folder, const char *name,
			const struct write_request *r)
{
	const struct file_meta *meta = r->meta;

	if (!meta)
		return 0;
	TEST_POINT("fchownat");
	if (fchownat(folder, name, meta->uid, meta->gid, AT_SYMLINK_NOFOLLOW) < 0)
		return write_failed(w, r->path, "setting its owner");
	if (r->exact) {
		const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT },
						   { meta->mtime_s, meta->mtime_ns } };

		if (utimensat(folder, name, times, AT_SYMLINK_NOFOLLOW) < 0)
			return write_failed(w, r->path, "setting its time");
	}
	return 0;
}
