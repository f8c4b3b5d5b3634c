/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write-special.c - writes kernel settings and device files, which are not regular files. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/open-file.h"
#include "txn/write-private.h"

int write_setting(struct writer *w, const char *path, const char *value)
{
	char name[NAME_MAX + 1];
	_cleanup_close_ int folder = write_open_folder(w, path, name);
	_cleanup_close_ int fd = -1;
	size_t n = strlen(value);
	ssize_t written;

	if (folder < 0)
		return folder;
	fd = open_own_file(folder, name, O_WRONLY);
	if (fd < 0)
		return write_open_failed(w, path, fd);
	TEST_POINT("write of a setting");
	written = write(fd, value, n);
	/* Less than all is no error of write(2), and sets no errno. */
	if (written >= 0 && written != (ssize_t)n)
		errno = EIO;
	return written == (ssize_t)n ? 0 : write_failed(w, path, "writing");
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
		return write_failed(w, path, "making the device file");
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
		return errno == ENOENT ? 0 : write_failed(w, path, "reading its attributes");
	if (!S_ISCHR(st.st_mode) || st.st_rdev != device)
		return write_fail(w, -ESTALE, path,
				  "it was replaced after the repair, so it was left as it is");
	TEST_POINT("unlink of a device file");
	return unlinkat(folder, name, 0) < 0 ? write_failed(w, path, "removing it") : 0;
}
