/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn-place.c - checks that the root is that of the plan, and that the programs to run belong to root. With --root both
 * are found from one descriptor. Before anything is written, it checks that others can exchange neither the folder nor
 * the files of the programs.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "txn/txn-private.h"

/* ---- the root ---- */

int txn_check_place(struct txn *t)
{
	const struct root *root = t->options->root;

	if (!root || t->options->writable_parents || !*root->exposed)
		return 0;
	return txn_fail(
		t, -EPERM,
		"--root %s was not changed: %s, so another user could replace the folder. Move it "
		"below folders that only root can write to, or add --allow-writable-parents",
		root->name, root->exposed);
}

int txn_check_identity(struct txn *t, const struct plan *plan)
{
	const struct root *root = t->options->root;

	if (plan->root_device == (root ? root->device : 0) &&
	    plan->root_inode == (root ? root->inode : 0))
		return 0;
	return txn_fail(t, -ESTALE,
			"the plan was made for another root; make it again for this one");
}

/* ---- programs ---- */

/* The folders of run.c's PATH, and those that programs read at once. Generators run many more. */
static const char *const program_folders[] = { "/usr/sbin", "/usr/bin", "/sbin",    "/bin",
					       "/lib",	    "/lib64",	"/usr/lib", "/etc" };

static int check_walk(struct txn *t, const char *path, int *fd)
{
	char exposed[ROOT_WHY];

	*fd = root_walk(t->w.root, path, exposed);
	if (*fd < 0)
		return *fd;
	return *exposed ? txn_fail(t, -EACCES, "%s was not run: on its path %s", path, exposed) : 0;
}

/* A folder that is missing has no programs. */
static int check_folder(struct txn *t, const char *path)
{
	_cleanup_close_ int fd = -1;
	int rc = check_walk(t, path, &fd);
	const char *why;
	struct stat st;

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	if (fstat(fd, &st) < 0)
		return txn_fail(t, -errno, "%s: its owner and mode cannot be read", path);
	why = folder_exposed(fd, &st);
	return why ? txn_fail(t, -EACCES, "no program was run: %s %s", path, why) : 0;
}

static int check_file(struct txn *t, const char *path, int *fd)
{
	struct stat st;
	int rc = check_walk(t, path, fd);

	if (rc == -EACCES && *fd >= 0)
		return rc;
	if (rc || fstat(*fd, &st) < 0 || !S_ISREG(st.st_mode))
		return txn_fail(t, -ENOENT, "%s: its owner and mode cannot be read", path);
	if ((st.st_uid != 0 && st.st_uid != geteuid()) || (st.st_mode & S_IWOTH) ||
	    ((st.st_mode & S_IWGRP) && st.st_gid != 0))
		return txn_fail(t, -EACCES, "%s was not run: users other than root can change it",
				path);
	return 0;
}

/* The path after "#!", or NULL: execve(2). */
static const char *interpreter_of(struct txn *t, const char *path)
{
	_cleanup_close_ int fd = host_open(t->host, path);
	char head[256];
	ssize_t n = fd < 0 ? 0 : pread(fd, head, sizeof(head), 0);
	struct span rest, word;

	if (n < 3 || head[0] != '#' || head[1] != '!')
		return NULL;
	rest = (struct span){ head + 2, (size_t)n - 2 };
	rest.n = span_find(rest, '\n');
	return span_word(&rest, &word) ? arena_strndup(t->arena, word.p, word.n) : NULL;
}

int txn_check_program(struct txn *t, const char *path)
{
	_cleanup_close_ int fd = -1, other = -1;
	const char *interpreter;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(program_folders); i++)
		rc = check_folder(t, program_folders[i]);
	if (rc == 0)
		rc = check_file(t, path, &fd);
	if (rc)
		return rc;
	interpreter = interpreter_of(t, path);
	return interpreter ? check_file(t, interpreter, &other) : 0;
}
