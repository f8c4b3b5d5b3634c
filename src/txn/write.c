/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "txn/write-private.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/stat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "txn/txn.h"

#define BLOCK_SIZE (256u << 10)

/* ---- looking ---- */

/* A file that is mounted onto its name; known since Linux 5.8, before that rename() says EBUSY. */
static bool is_mounted_on(int folder, const char *name)
{
	struct statx stx;

	return statx(folder, name, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &stx) == 0 &&
	       (stx.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) &&
	       (stx.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

static int refuse_link(struct writer *w, int folder, const char *name, const char *path)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(folder, name, target, sizeof(target) - 1);

	if (n < 0)
		n = 0;
	target[n] = '\0';
	return write_refuse(
		w, -ELOOP, path,
		"a symbolic link to %.150s, which something else (alternatives, an administrator) "
		"looks after",
		target);
}

static int check_file(struct writer *w, int folder, const char *name, const char *path,
		      const struct stat *st)
{
	if (S_ISLNK(st->st_mode))
		return refuse_link(w, folder, name, path);
	if (S_ISDIR(st->st_mode))
		return write_refuse(w, -EISDIR, path, "a folder");
	if (!S_ISREG(st->st_mode))
		return write_refuse(w, -EINVAL, path, "not a regular file");
	if (st->st_nlink > 1)
		return write_refuse(w, -EMLINK, path,
				    "the file has %lu names (hard links), and the others would "
				    "keep the old content",
				    (unsigned long)st->st_nlink);
	if (is_mounted_on(folder, name))
		return write_refuse(w, -EBUSY, path, "another file is mounted there");
	return 0;
}

/* Feeds what FD holds to SHA and, where OUT is a file, to that. */
static int copy(int fd, int out, struct sha256 *sha, uint64_t *size)
{
	_cleanup_free_ char *block = malloc(BLOCK_SIZE);
	ssize_t n;
	int rc;

	if (!block)
		return -ENOMEM;
	while ((n = read(fd, block, BLOCK_SIZE)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (sha)
			sha256_feed(sha, block, (size_t)n);
		if (size)
			*size += (uint64_t)n;
		rc = out < 0 ? 0 : write_all(out, block, (size_t)n);
		if (rc)
			return rc;
	}
	return 0;
}

int write_all(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n) {
		ssize_t done;

		TEST_POINT("write");
		done = write(fd, p, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -EIO;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

int write_hash(int fd, char hex[SHA256_HEX])
{
	struct sha256 sha;
	int rc, ended;

	sha256_begin(&sha);
	rc = copy(fd, -1, &sha, NULL);
	ended = sha256_end(&sha, hex);
	return rc ? rc : ended;
}

/* FD is the file; its bytes go to OUT as well unless that is -1. */
static int see_file(struct writer *w, int fd, const char *path, struct file_seen *seen, int out)
{
	struct sha256 sha;
	struct stat st;
	int rc, ended;

	if (fstat(fd, &st) < 0)
		return write_failed(w, path, "looking at it");
	rc = meta_read(w, fd, path, &st, &seen->meta);
	if (rc)
		return rc;
	sha256_begin(&sha);
	rc = copy(fd, out, &sha, &seen->size);
	ended = sha256_end(&sha, seen->sha256);
	rc = rc ? rc : ended;
	if (rc)
		return write_fail(w, rc, path, "%s: %s", out < 0 ? "reading it" : "copying it",
				  strerror(-rc));
	seen->there = true;
	return 0;
}

static int see_in(struct writer *w, int folder, const char *name, const char *path,
		  struct file_seen *seen, int out)
{
	_cleanup_close_ int fd = -1;
	struct stat st, opened;
	int rc;

	*seen = (struct file_seen){ 0 };
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : write_failed(w, path, "looking at it");
	rc = check_file(w, folder, name, path, &st);
	if (rc)
		return rc;
	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return write_failed(w, path, "opening it");
	if (fstat(fd, &opened) < 0 || opened.st_ino != st.st_ino || opened.st_dev != st.st_dev)
		return write_fail(w, -ESTALE, path, "is being replaced by somebody else just now");
	return see_file(w, fd, path, seen, out);
}

int write_see(struct writer *w, const char *path, struct file_seen *seen)
{
	char name[NAME_MAX + 1];
	_cleanup_close_ int folder = write_open_folder(w, path, name);

	*seen = (struct file_seen){ 0 };
	if (folder < 0)
		return folder == -ENOENT ? 0 : folder;
	return see_in(w, folder, name, path, seen, -1);
}

int write_keep(struct writer *w, const char *path, struct file_seen *seen, int into,
	       const char *name)
{
	_cleanup_close_ int out = -1;
	char last[NAME_MAX + 1];
	_cleanup_close_ int folder = write_open_folder(w, path, last);
	int rc;

	*seen = (struct file_seen){ 0 };
	if (folder < 0)
		return folder == -ENOENT ? 0 : folder;
	TEST_POINT("creating a kept file");
	out = openat(into, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return write_failed(w, path, "keeping a copy of it");
	rc = see_in(w, folder, last, path, seen, out);
	if (rc)
		return rc;
	if (!seen->there) {
		unlinkat(into, name, 0);
		return 0;
	}
	TEST_POINT("fsync of a kept file");
	return fsync(out) < 0 ? write_failed(w, path, "fsync of its copy") : 0;
}

bool write_same(const struct file_seen *a, const struct file_seen *b)
{
	return a->there == b->there && (!a->there || strcmp(a->sha256, b->sha256) == 0);
}

/* ---- changing ---- */

static int check_expected(struct writer *w, int folder, const char *name,
			  const struct write_request *r)
{
	struct file_seen now;
	int rc = see_in(w, folder, name, r->path, &now, -1);

	if (rc)
		return rc;
	if (write_same(&now, r->expected))
		return 0;
	return write_fail(w, -ESTALE, r->path, "changed since it was looked at%s",
			  !now.there		? ": it is gone"
			  : !r->expected->there ? ": it was not there"
						: "");
}

/* Some file systems have no RENAME_NOREPLACE (NFS, renameat2(2)); FOLDER is root's alone, so that
 * looking first is nearly as good there. */
static int rename_new(int folder, const char *from, const char *to)
{
	struct stat st;

	if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (fstatat(folder, to, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return -1;
	}
	return renameat(folder, from, folder, to);
}

/* TEMP, which FD is open on, gets what its bytes do not have and takes the place of NAME. */
static int put_in_place(struct writer *w, int folder, int fd, const char *temp, const char *name,
			const struct write_request *r)
{
	int rc = meta_set(w, fd, r);

	if (rc)
		return rc;
	TEST_POINT("fsync of a file");
	if (fsync(fd) < 0)
		return write_failed(w, r->path, "fsync");
	rc = check_expected(w, folder, name, r);
	if (rc)
		return rc;
	TEST_POINT("rename");
	rc = r->expected->there ? renameat(folder, temp, folder, name)
				: rename_new(folder, temp, name);
	if (rc < 0 && errno == EEXIST)
		return write_fail(w, -ESTALE, r->path,
				  "changed since it was looked at: it was not there");
	if (rc < 0 && (errno == EBUSY || errno == EXDEV))
		return write_refuse(w, -errno, r->path, "a mount is in the way");
	if (rc < 0)
		return write_failed(w, r->path, "rename");
	TEST_POINT("after a rename");
	return write_sync_folder(w, folder, r->path);
}

static int create_temp(int folder, char temp[NAME_MAX + 1])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	unsigned char random[6];
	int fd;

	do {
		if (getrandom(random, sizeof(random), 0) != sizeof(random))
			return -1;
		memcpy(temp, WRITE_PREFIX, strlen(WRITE_PREFIX));
		for (size_t i = 0; i < sizeof(random); i++)
			temp[strlen(WRITE_PREFIX) + i] = letters[random[i] % (sizeof(letters) - 1)];
		temp[strlen(WRITE_PREFIX) + sizeof(random)] = '\0';
		TEST_POINT("creating a temporary file");
		fd = openat(folder, temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	} while (fd < 0 && errno == EEXIST);
	return fd;
}

int write_put(struct writer *w, const struct write_request *r)
{
	char name[NAME_MAX + 1], temp[NAME_MAX + 1];
	_cleanup_close_ int folder = write_open_folder(w, r->path, name);
	_cleanup_close_ int fd = -1;
	int rc;

	if (folder < 0)
		return folder;
	fd = create_temp(folder, temp);
	if (fd < 0)
		return write_failed(w, r->path, "creating a file beside it");
	rc = r->from >= 0 ? copy(r->from, fd, NULL, NULL) : write_all(fd, r->bytes.p, r->bytes.n);
	if (rc)
		write_fail(w, rc, r->path, "writing: %s", strerror(-rc));
	else
		rc = put_in_place(w, folder, fd, temp, name, r);
	/* After the rename nothing is there under that name any more. */
	if (rc)
		unlinkat(folder, temp, 0);
	return rc;
}

int write_take(struct writer *w, const char *side, const struct write_request *r)
{
	char name[NAME_MAX + 1], temp[NAME_MAX + 1];
	_cleanup_close_ int folder = write_open_folder(w, r->path, name);
	_cleanup_close_ int fd = -1;

	if (folder < 0)
		return folder;
	fd = write_open(w, side, 0);
	if (fd < 0)
		return fd;
	snprintf(temp, sizeof(temp), "%s", strrchr(side, '/') + 1);
	return put_in_place(w, folder, fd, temp, name, r);
}

int write_remove(struct writer *w, const char *path, const struct file_seen *expected)
{
	const struct write_request r = { .path = path, .expected = expected };
	char name[NAME_MAX + 1];
	_cleanup_close_ int folder = write_open_folder(w, path, name);
	int rc;

	if (folder < 0)
		return folder;
	rc = check_expected(w, folder, name, &r);
	if (rc)
		return rc;
	TEST_POINT("unlink");
	if (unlinkat(folder, name, 0) < 0)
		return errno == EBUSY ? write_refuse(w, -EBUSY, path, "a mount is in the way")
				      : write_failed(w, path, "removing it");
	return write_sync_folder(w, folder, path);
}

/* ---- what is no file of bytes ---- */

int write_setting(struct writer *w, const char *path, const char *value)
{
	char name[NAME_MAX + 1];
	_cleanup_close_ int folder = write_open_folder(w, path, name);
	_cleanup_close_ int fd = -1;
	size_t n = strlen(value);

	if (folder < 0)
		return folder;
	fd = openat(folder, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return write_failed(w, path, "opening it for writing");
	TEST_POINT("write of a setting");
	if (write(fd, value, n) != (ssize_t)n)
		return write_failed(w, path, "writing");
	return 0;
}

int write_make_node(struct writer *w, const char *path, uint32_t mode, dev_t device)
{
	char name[NAME_MAX + 1];
	_cleanup_close_ int folder = write_open_folder(w, path, name);
	mode_t mask;
	int rc;

	if (folder < 0)
		return folder;
	TEST_POINT("mknod");
	mask = umask(0);
	rc = mknodat(folder, name, S_IFCHR | mode, device);
	umask(mask);
	if (rc < 0)
		return write_failed(w, path, "making the device node");
	return write_label_name(w, folder, name, path, S_IFCHR);
}

int write_drop_node(struct writer *w, const char *path, dev_t device)
{
	char name[NAME_MAX + 1];
	_cleanup_close_ int folder = write_open_folder(w, path, name);
	struct stat st;

	if (folder < 0)
		return folder;
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : write_failed(w, path, "looking at it");
	if (!S_ISCHR(st.st_mode) || st.st_rdev != device)
		return write_fail(w, -ESTALE, path, "somebody replaced it since: kept as it is");
	TEST_POINT("unlink of a device node");
	return unlinkat(folder, name, 0) < 0 ? write_failed(w, path, "removing it") : 0;
}
