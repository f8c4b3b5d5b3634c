/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write-label.c - the SELinux label of new files. The kernel gives a new file the label of its folder, which may differ
 * from that of the policy for this name. restorecon(8) would correct it later, but until then processes without access
 * to that label would not see the file. An existing file keeps its label (write-meta.c).
 */
#include <fcntl.h>
#include <selinux/label.h>
#include <selinux/selinux.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base/cleanup.h"
#include "base/library.h"
#include "txn/write-private.h"

#define FUNCTIONS(F)          \
	F(is_selinux_enabled) \
	F(selabel_open)       \
	F(selabel_lookup_raw) \
	F(selabel_close)      \
	F(freecon)

static struct {
	FUNCTIONS(LIBRARY_SLOT)
} lib;

/* NULL without SELinux, or if the policy has no label for PATH. */
static char *wanted_label(const char *path, mode_t type)
{
	struct selabel_handle *handle;
	char *label = NULL;

	if (LIBRARY_LOAD(LIBSELINUX, FUNCTIONS) || lib.is_selinux_enabled() <= 0)
		return NULL;
	handle = lib.selabel_open(SELABEL_CTX_FILE, NULL, 0);
	if (!handle)
		return NULL;
	if (lib.selabel_lookup_raw(handle, &label, path, (int)type) < 0)
		label = NULL;
	lib.selabel_close(handle);
	return label;
}

int write_label(struct writer *w, int fd, const char *path, mode_t type)
{
	char *label = w->live ? wanted_label(path, type) : NULL;
	char link[32];
	int rc = 0;

	if (!label)
		return 0;
	/* Through /proc, since a device file is not opened for it: open(2), O_PATH. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	TEST_POINT("labelling");
	if (setxattr(link, "security.selinux", label, strlen(label) + 1, 0) < 0)
		rc = write_failed(w, path, "setting its SELinux label");
	lib.freecon(label);
	return rc;
}

int write_label_name(struct writer *w, int folder, const char *name, const char *path, mode_t type)
{
	_cleanup_close_ int fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? write_failed(w, path, "reading its attributes")
		      : write_label(w, fd, path, type);
}
