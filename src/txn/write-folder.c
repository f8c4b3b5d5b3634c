/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write-folder.c - opens the folder of a file, one component at a time. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/open-file.h"
#include "host/root.h"
#include "txn/txn.h"
#include "txn/write-private.h"

void (*txn_test_point)(const char *what);

int writer_open(struct writer *w, const struct root *root, struct arena *arena)
{
	*w = (struct writer){ .arena = arena, .live = !root };
	w->root = root ? fcntl(root->fd, F_DUPFD_CLOEXEC, 0)
		       : open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return w->root < 0 ? write_failed(w, root ? root->name : "/", "opening") : 0;
}

void writer_close(struct writer *w)
{
	close_fd(&w->root);
}

static int check_folder(struct writer *w, int fd, const char *path, const char *name)
{
	const char *who;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return write_failed(w, path, "reading the attributes of a folder above it");
	who = folder_exposed(fd, &st);
	return who ? write_refuse(w, -EACCES, path, "the folder %s on its path %s",
				  *name ? name : "/", who)
		   : 0;
}

static int open_component(struct writer *w, int above, const char *path, const char *name)
{
	int fd = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	int rc;

	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP)) {
		bool link = fstatat(above, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			    S_ISLNK(st.st_mode);

		return write_refuse(w, link ? -ELOOP : -ENOTDIR, path, "%s on its path is %s", name,
				    link ? "a symbolic link" : "not a folder");
	}
	if (fd < 0)
		return write_failed(w, path, "opening a folder above it");
	rc = check_folder(w, fd, path, name);
	if (rc) {
		close(fd);
		return rc;
	}
	return fd;
}

int write_open_folder(struct writer *w, const char *path, char name[NAME_MAX + 1])
{
	struct span rest = span_of(path + strspn(path, "/")), part;
	int fd = openat(w->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 ? write_failed(w, path, "opening the root") : check_folder(w, fd, path, "");

	name[0] = '\0';
	if (rc == 0 && path[0] != '/')
		rc = write_refuse(w, -EINVAL, path, "not an absolute path");
	while (rc == 0 && span_cut(&rest, '/', &part)) {
		if (!part.n || part.n > NAME_MAX || span_is(part, ".") || span_is(part, "..")) {
			rc = write_refuse(w, -EINVAL, path, "not a plain path");
			break;
		}
		memcpy(name, part.p, part.n);
		name[part.n] = '\0';
		if (rest.n) {
			int next = open_component(w, fd, path, name);

			close(fd);
			fd = next;
			rc = next < 0 ? next : 0;
		}
	}
	if (rc == 0 && !name[0])
		rc = write_refuse(w, -EINVAL, path, "not a file");
	if (rc) {
		close_fd(&fd);
		return rc;
	}
	return fd;
}

int write_sync_folder(struct writer *w, int folder, const char *path)
{
	TEST_POINT("fsync of a folder");
	/* EINVAL: a file system that cannot, such as some network ones. */
	if (fsync(folder) < 0 && errno != EINVAL)
		return write_failed(w, path, "fsync of its folder");
	return 0;
}

int write_make_folder(struct writer *w, const char *path, uint32_t mode)
{
	char name[NAME_MAX + 1];
	_cleanup_close_ int folder = write_open_folder(w, path, name);
	mode_t mask;
	int rc;

	if (folder < 0)
		return folder;
	TEST_POINT("mkdir");
	mask = umask(0);
	rc = mkdirat(folder, name, mode);
	umask(mask);
	if (rc < 0)
		return write_failed(w, path, "making the folder");
	rc = write_label_name(w, folder, name, path, S_IFDIR);
	return rc ? rc : write_sync_folder(w, folder, path);
}

int write_drop_folder(struct writer *w, const char *path)
{
	char name[NAME_MAX + 1];
	_cleanup_close_ int folder = write_open_folder(w, path, name);

	if (folder < 0)
		return folder == -ENOENT ? 0 : folder;
	TEST_POINT("rmdir");
	if (unlinkat(folder, name, AT_REMOVEDIR) < 0) {
		if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOENT)
			return 0;
		return write_failed(w, path, "removing the folder");
	}
	return write_sync_folder(w, folder, path);
}

bool write_folder_exists(struct writer *w, const char *path)
{
	char name[NAME_MAX + 1];
	_cleanup_close_ int folder = write_open_folder(w, path, name);
	struct stat st;

	return folder >= 0 && fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* An unfinished file, which only this program uses; grub-mkconfig appends ".new" to the name that
 * it is given. */
static bool is_unfinished(const char *entry)
{
	return starts_with(entry, WRITE_TEMPORARY) || starts_with(entry, WRITE_SIDE);
}

static int sweep(struct writer *w, DIR *dir, const char *path)
{
	const struct dirent *entry;

	while ((errno = 0, entry = readdir(dir))) {
		if (!is_unfinished(entry->d_name))
			continue;
		TEST_POINT("unlink of a temporary file");
		if (unlinkat(dirfd(dir), entry->d_name, 0) < 0)
			return write_failed(w, path, "removing an unfinished file beside it");
	}
	return errno ? write_failed(w, path, "reading its folder") : 0;
}

int write_sweep(struct writer *w, const char *path)
{
	char name[NAME_MAX + 1];
	int folder = write_open_folder(w, path, name), rc;
	DIR *dir = folder < 0 ? NULL : fdopendir(folder);

	if (!dir) {
		rc = folder < 0 ? folder : write_failed(w, path, "reading its folder");
		close_fd(&folder);
		return rc == -ENOENT ? 0 : rc;
	}
	rc = sweep(w, dir, path);
	closedir(dir);
	return rc;
}

int write_room(struct writer *w, const char *path, uint64_t *bytes)
{
	char name[NAME_MAX + 1];
	_cleanup_close_ int folder = write_open_folder(w, path, name);
	struct statvfs fs;

	if (folder < 0)
		return folder;
	if (fstatvfs(folder, &fs) < 0)
		return write_failed(w, path, "reading the free space");
	if (fs.f_flag & ST_RDONLY)
		return write_fail(w, -EROFS, path, "its file system is mounted read-only");
	*bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	return 0;
}

int write_open(struct writer *w, const char *path)
{
	char name[NAME_MAX + 1];
	_cleanup_close_ int folder = write_open_folder(w, path, name);
	int fd;

	if (folder < 0)
		return folder;
	fd = open_own_file(folder, name, O_RDONLY | O_NONBLOCK);
	return fd < 0 ? write_open_failed(w, path, fd) : fd;
}

const char *write_side_path(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return arena_printf(arena, "%.*s%s%s", (int)(name - path), path, WRITE_SIDE, name);
}
