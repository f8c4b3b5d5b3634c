/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write.c - reads the state of a file before it is replaced. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/open-file.h"
#include "txn/run.h"
#include "txn/write-private.h"

#define BLOCK_SIZE (256u << 10)

static int refuse_link(struct writer *w, int folder, const char *name, const char *path)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(folder, name, target, sizeof(target) - 1);

	if (n < 0)
		n = 0;
	target[n] = '\0';
	return write_refuse(
		w, -ELOOP, path,
		"a symbolic link to %.150s, which another program (such as alternatives) or an "
		"administrator manages",
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
		return write_refuse(
			w, -EMLINK, path,
			"the file has %lu names (hard links), and the other names would keep the "
			"old content",
			(unsigned long)st->st_nlink);
	/* Before Linux 5.8 rename() fails with EBUSY. */
	if (open_is_mounted(folder, name))
		return write_refuse(w, -EBUSY, path, "another file is mounted there");
	return 0;
}

int write_open_failed(struct writer *w, const char *path, int rc)
{
	return rc == -EBADF ? write_refuse(w, -EINVAL, path,
					   "not a regular file with one name, or a file is mounted "
					   "there")
			    : write_fail(w, rc, path, "opening it: %s", strerror(-rc));
}

/* A signal ends reading before the first change, and later where a revert would take hours: the next run repeats it. */
static bool must_stop(struct writer *w, size_t n)
{
	if (!run_interrupted())
		return false;
	w->read_late += n;
	return !w->changing || w->read_late > WRITE_LATE_MAX;
}

/* Feeds the content of FD to SHA and, if OUT is a file, to OUT. */
static int copy(struct writer *w, int fd, int out, struct sha256 *sha, uint64_t *size)
{
	_cleanup_free_ char *block = malloc(BLOCK_SIZE);
	uint64_t all = 0;
	struct stat st;
	ssize_t n;
	int rc;

	if (!block)
		return -ENOMEM;
	if (fstat(fd, &st) < 0)
		return -errno;
	if ((uint64_t)st.st_size > WRITE_FILE_MAX)
		return -EOVERFLOW;
	while ((n = read(fd, block, BLOCK_SIZE)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		all += (uint64_t)n;
		if (all > WRITE_FILE_MAX)
			return -EOVERFLOW;
		if (must_stop(w, (size_t)n))
			return -EINTR;
		if (sha)
			sha256_feed(sha, block, (size_t)n);
		rc = out < 0 ? 0 : write_all(out, block, (size_t)n);
		if (rc)
			return rc;
	}
	if (size)
		*size = all;
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

int write_copy(struct writer *w, int from, int to)
{
	return copy(w, from, to, NULL, NULL);
}

int write_hash(struct writer *w, int fd, char hex[SHA256_HEX])
{
	struct sha256 sha;
	int rc, ended;

	sha256_begin(&sha);
	rc = copy(w, fd, -1, &sha, NULL);
	ended = sha256_end(&sha, hex);
	return rc ? rc : ended;
}

int write_read_failed(struct writer *w, int rc, const char *path, const char *what)
{
	if (rc == -EOVERFLOW)
		return write_refuse(
			w, rc, path,
			"the file is larger than %llu GiB, and a repair replaces no such "
			"file",
			WRITE_FILE_MAX >> 30);
	return rc == -EINTR ? write_fail(w, rc, path, "stopped by a signal")
			    : write_fail(w, rc, path, "%s: %s", what, strerror(-rc));
}

static bool can_be_known(const struct file_seen *const *known, uint64_t size)
{
	for (; *known; known++)
		if ((*known)->there && !(*known)->link &&
		    (!(*known)->sized || (*known)->size == size))
			return true;
	return false;
}

/* FD is the file; its bytes go to OUT as well unless that is -1. */
static int see_file(struct writer *w, int fd, const char *path,
		    const struct file_seen *const *known, struct file_seen *seen, int out)
{
	struct sha256 sha;
	struct stat st;
	int rc, ended;

	if (fstat(fd, &st) < 0)
		return write_failed(w, path, "reading its attributes");
	rc = write_meta_read(w, fd, path, &st, &seen->meta);
	if (rc)
		return rc;
	seen->there = seen->sized = true;
	seen->size = (uint64_t)st.st_size;
	if (known && !can_be_known(known, seen->size))
		return 0;
	sha256_begin(&sha);
	rc = copy(w, fd, out, &sha, &seen->size);
	ended = sha256_end(&sha, seen->sha256);
	rc = rc ? rc : ended;
	return rc ? write_read_failed(w, rc, path, out < 0 ? "reading it" : "copying it") : 0;
}

int write_see_in(struct writer *w, int folder, const char *name, const char *path,
		 const struct file_seen *const *known, struct file_seen *seen, int out)
{
	_cleanup_close_ int fd = -1;
	struct stat st, opened;
	int rc;

	*seen = (struct file_seen){ 0 };
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : write_failed(w, path, "reading its attributes");
	rc = check_file(w, folder, name, path, &st);
	if (rc)
		return rc;
	fd = open_own_file(folder, name, O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return write_open_failed(w, path, fd);
	if (fstat(fd, &opened) < 0)
		return write_failed(w, path, "reading its attributes");
	if (opened.st_ino != st.st_ino || opened.st_dev != st.st_dev)
		return write_fail(w, -ESTALE, path, "another program is replacing it");
	return see_file(w, fd, path, known, seen, out);
}

int write_see_link_in(struct writer *w, int folder, const char *name, const char *path,
		      struct file_seen *seen)
{
	char target[PATH_MAX];
	struct stat st;
	ssize_t n;
	int rc;

	*seen = (struct file_seen){ 0 };
	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : write_failed(w, path, "reading its attributes");
	if (!S_ISLNK(st.st_mode))
		return write_refuse(w, -EEXIST, path, "not a symbolic link");
	n = readlinkat(folder, name, target, sizeof(target));
	if (n < 0 || n == (ssize_t)sizeof(target))
		return write_fail(w, n < 0 ? -errno : -ENAMETOOLONG, path, "reading the link");
	rc = sha256_of(target, (size_t)n, seen->sha256);
	if (rc)
		return write_fail(w, rc, path, "reading the link: %s", strerror(-rc));
	seen->meta = (struct file_meta){ .mode = 0777,
					 .uid = st.st_uid,
					 .gid = st.st_gid,
					 .mtime_s = st.st_mtim.tv_sec,
					 .mtime_ns = (uint32_t)st.st_mtim.tv_nsec };
	seen->link = arena_strndup(w->arena, target, (size_t)n);
	seen->size = (uint64_t)n;
	seen->there = true;
	return 0;
}

int write_see_link(struct writer *w, const char *path, struct file_seen *seen)
{
	char name[NAME_MAX + 1];
	_cleanup_close_ int folder = write_open_folder(w, path, name);

	*seen = (struct file_seen){ 0 };
	if (folder < 0)
		return folder == -ENOENT ? 0 : folder;
	return write_see_link_in(w, folder, name, path, seen);
}

int write_see_known(struct writer *w, const char *path, const struct file_seen *const *known,
		    struct file_seen *seen)
{
	char name[NAME_MAX + 1];
	_cleanup_close_ int folder = write_open_folder(w, path, name);

	*seen = (struct file_seen){ 0 };
	if (folder < 0)
		return folder == -ENOENT ? 0 : folder;
	return write_see_in(w, folder, name, path, known, seen, -1);
}

int write_see(struct writer *w, const char *path, struct file_seen *seen)
{
	return write_see_known(w, path, NULL, seen);
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
	rc = write_see_in(w, folder, last, path, NULL, seen, out);
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
	return a->there == b->there &&
	       (!a->there || (!a->link == !b->link && strcmp(a->sha256, b->sha256) == 0));
}
