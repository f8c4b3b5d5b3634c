/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * write-swap.c - gives a name in a folder another file, and checks the displaced file before it is removed. Between a
 * check and a rename the file may change, and reading a large image takes long.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/open-file.h"
#include "txn/write-private.h"

struct swap {
	struct writer *w;
	const struct write_request *r;
	int folder;
	const char *name;
	char old[NAME_MAX + 1]; /* .nvnodecheck.old.NAME */
	struct stat ours;	/* of the new file */
};

static int name_beside(char out[NAME_MAX + 1], const char *what, const char *name)
{
	return snprintf(out, NAME_MAX + 1, WRITE_PREFIX "%s.%s", what, name) <= NAME_MAX
		       ? 0
		       : -ENAMETOOLONG;
}

/* ---- the present state ---- */

static int see_any(struct writer *w, int folder, const char *name, const char *path,
		   const struct file_seen *const *known, struct file_seen *seen)
{
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
		return write_see_link_in(w, folder, name, path, seen);
	return write_see_in(w, folder, name, path, known, seen, -1);
}

static bool same_owner(const struct file_seen *a, const struct file_seen *b)
{
	return a->link || !a->there ||
	       (a->meta.mode == b->meta.mode && a->meta.uid == b->meta.uid &&
		a->meta.gid == b->meta.gid);
}

static int check_expected(const struct swap *s, const char *name)
{
	const struct file_seen *expected = s->r->expected;
	const struct file_seen *const known[] = { expected, NULL };
	struct file_seen now;
	int rc = see_any(s->w, s->folder, name, s->r->path, known, &now);

	if (rc)
		return rc;
	if (write_same(&now, expected) && same_owner(&now, expected))
		return 0;
	return write_was_changed(s->w, s->r->path, "changed since it was read%s",
				 !now.there	    ? ": it is gone"
				 : !expected->there ? ": it did not exist then"
						    : "");
}

/* Checks that no process can still write to the displaced file: it can no longer be opened by its name, and a read
 * lease is refused while a process has it open for writing: fcntl(2), F_SETLEASE. File systems without leases are
 * not checked. */
static int check_displaced(const struct swap *s)
{
	_cleanup_close_ int fd = open_own_file(s->folder, s->old, O_RDONLY | O_NONBLOCK);
	int rc;

	if (fd >= 0 && fcntl(fd, F_SETLEASE, F_RDLCK) < 0 && errno == EAGAIN)
		return write_was_changed(s->w, s->r->path,
					 "another process has it open for writing");
	rc = check_expected(s, s->old);
	if (fd >= 0)
		fcntl(fd, F_SETLEASE, F_UNLCK);
	return rc;
}

/* ---- renames ---- */

static int rename_failed(const struct swap *s)
{
	if (errno == EEXIST)
		return write_was_changed(s->w, s->r->path,
					 "changed since it was read: it did not exist then");
	if (errno == EBUSY || errno == EXDEV)
		return write_refuse(s->w, -errno, s->r->path, "a file system is mounted there");
	return write_failed(s->w, s->r->path, "rename");
}

/* Renames to a name that must not exist. Some file systems have no RENAME_NOREPLACE (NFS, renameat2(2)); a hard link
 * is equivalent. Without hard links, as on vfat, only root can write to the folder, so that a check before is nearly
 * as good. */
static int rename_new(int folder, const char *from, const char *to)
{
	struct stat st;

	if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	if (linkat(folder, from, folder, to, 0) == 0)
		return unlinkat(folder, from, 0);
	if (errno == EEXIST)
		return -1;
	if (fstatat(folder, to, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return -1;
	}
	return renameat(folder, from, folder, to);
}

static int exchange(int folder, const char *a, const char *b)
{
	return renameat2(folder, a, folder, b, RENAME_EXCHANGE);
}

static bool same_inode(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* Replaces a file where names cannot be exchanged (NFS, older vfat), after checking that the same inode was unchanged a
 * moment before. */
static int replace_guarded(const struct swap *s)
{
	struct stat before, now;
	int rc;

	if (fstatat(s->folder, s->name, &before, AT_SYMLINK_NOFOLLOW) < 0)
		return write_failed(s->w, s->r->path, "reading its attributes");
	rc = check_expected(s, s->name);
	if (rc)
		return rc;
	if (fstatat(s->folder, s->name, &now, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !same_inode(&before, &now) || before.st_size != now.st_size ||
	    !same_time(before.st_mtim, now.st_mtim) || !same_time(before.st_ctim, now.st_ctim))
		return write_was_changed(s->w, s->r->path, "changed since it was read");
	return renameat(s->folder, s->old, s->folder, s->name) < 0 ? rename_failed(s) : 0;
}

/* ---- back ---- */

/* The file OLD belongs to another program, and is no longer the newest: it is kept, and never touched again. */
static void keep_beside(const struct swap *s)
{
	char found[NAME_MAX + 1];
	size_t n = strlen(s->w->why);

	if (name_beside(found, "found", s->name) || rename_new(s->folder, s->old, found) < 0)
		snprintf(found, sizeof(found), "%s", s->old);
	snprintf(s->w->why + n, sizeof(s->w->why) - n, "; an earlier state is kept beside it as %s",
		 found);
}

/* RC and its reason stay. */
static int swap_back(const struct swap *s, int rc)
{
	struct stat st;

	TEST_POINT("exchanging back");
	if (exchange(s->folder, s->old, s->name) < 0)
		return write_fail(
			s->w, -errno, s->r->path,
			"changed since it was read, and could not be put back: %s. It is kept "
			"beside it as %s",
			strerror(errno), s->old);
	if (fstatat(s->folder, s->old, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    !same_inode(&st, &s->ours)) {
		/* Changed once more meanwhile: the newest counts. */
		if (exchange(s->folder, s->old, s->name) == 0)
			keep_beside(s);
		return rc;
	}
	TEST_POINT("unlink after exchanging back");
	unlinkat(s->folder, s->old, 0);
	return rc;
}

/* ---- the three cases ---- */

static int put_new(const struct swap *s, const char *temp)
{
	TEST_POINT("rename");
	return rename_new(s->folder, temp, s->name) < 0 ? rename_failed(s) : 0;
}

static int replace(struct swap *s, const char *temp)
{
	int rc;

	TEST_POINT("rename beside");
	if (rename_new(s->folder, temp, s->old) < 0 ||
	    fstatat(s->folder, s->old, &s->ours, AT_SYMLINK_NOFOLLOW) < 0)
		return write_failed(s->w, s->r->path, "renaming what takes its place");
	TEST_POINT("rename");
	if (exchange(s->folder, s->old, s->name) < 0) {
		rc = errno == EINVAL || errno == ENOSYS ? replace_guarded(s) : rename_failed(s);
		if (rc)
			unlinkat(s->folder, s->old, 0);
		return rc;
	}
	TEST_POINT("after a rename");
	rc = check_displaced(s);
	if (rc)
		return swap_back(s, rc);
	TEST_POINT("unlink of what was displaced");
	return unlinkat(s->folder, s->old, 0) < 0
		       ? write_failed(s->w, s->r->path, "removing what was there")
		       : 0;
}

static int take_away(const struct swap *s)
{
	int rc;

	TEST_POINT("rename");
	if (rename_new(s->folder, s->name, s->old) < 0)
		return rename_failed(s);
	TEST_POINT("after a rename");
	rc = check_displaced(s);
	if (rc == 0) {
		TEST_POINT("unlink");
		return unlinkat(s->folder, s->old, 0) < 0
			       ? write_failed(s->w, s->r->path, "removing it")
			       : 0;
	}
	TEST_POINT("renaming back");
	if (rename_new(s->folder, s->old, s->name) < 0)
		keep_beside(s);
	return rc;
}

int write_swap(struct writer *w, int folder, const char *temp, const char *name,
	       const struct write_request *r)
{
	struct swap s = { .w = w, .r = r, .folder = folder, .name = name };
	int rc;

	if (name_beside(s.old, "old", name))
		return write_refuse(w, -ENAMETOOLONG, r->path, "its name is too long");
	/* A change is mostly visible without displacing the file. */
	rc = check_expected(&s, name);
	if (rc)
		return rc;
	if (!r->expected->there)
		rc = temp ? put_new(&s, temp) : 0;
	else
		rc = temp ? replace(&s, temp) : take_away(&s);
	return rc ? rc : write_sync_folder(w, folder, r->path);
}

/* ---- after an interruption ---- */

static bool is_known_state(const struct file_seen *seen, const struct file_seen *const *known)
{
	for (; *known; known++)
		if ((*known)->there && write_same(seen, *known))
			return true;
	return false;
}

/* KNOWN is not at its place, and goes. */
static int drop_known(const struct swap *s)
{
	TEST_POINT("unlink of what was displaced");
	if (unlinkat(s->folder, s->old, 0) < 0)
		return write_failed(s->w, s->r->path, "removing what was displaced");
	return write_sync_folder(s->w, s->folder, s->r->path);
}

static int bring_back(const struct swap *s, bool there)
{
	TEST_POINT("exchanging back");
	if ((there ? exchange(s->folder, s->old, s->name)
		   : rename_new(s->folder, s->old, s->name)) < 0)
		return write_failed(s->w, s->r->path, "putting back what was displaced");
	return there ? drop_known(s) : write_sync_folder(s->w, s->folder, s->r->path);
}

int write_settle(struct writer *w, const char *path, const struct file_seen *const *known)
{
	const struct write_request r = { .path = path };
	struct swap s = { .w = w, .r = &r };
	char name[NAME_MAX + 1];
	_cleanup_close_ int folder = write_open_folder(w, path, name);
	struct file_seen old, now;
	int rc;

	s.folder = folder;
	s.name = name;
	if (folder < 0)
		return folder == -ENOENT ? 0 : folder;
	if (name_beside(s.old, "old", name))
		return 0;
	rc = see_any(w, folder, s.old, path, known, &old);
	if (rc || !old.there)
		return rc;
	if (is_known_state(&old, known))
		return drop_known(&s);
	rc = see_any(w, folder, name, path, known, &now);
	if (rc == 0 && (!now.there || is_known_state(&now, known)))
		return bring_back(&s, now.there);
	rc = write_refuse(w, -EEXIST, path,
			  "another program changed it while it was being replaced");
	keep_beside(&s);
	return rc;
}
