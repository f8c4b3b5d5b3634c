/* SPDX-License-Identifier: GPL-2.0-or-later */
/* txn-lock.c - one transaction at a time, and none while packages are being installed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/open-file.h"
#include "txn/lock-file.h"
#include "txn/txn-private.h"

static int refuse_held(struct txn *t, int fd)
{
	char pid[16] = "";
	ssize_t n = pread(fd, pid, sizeof(pid) - 1, 0);
	size_t digits = n > 0 ? strspn(pid, "0123456789") : 0;

	pid[digits] = '\0';
	return txn_fail(
		t, -EWOULDBLOCK,
		"another fix or undo is running%s%s, or a program that it started; try again when "
		"it has ended",
		digits ? ": process " : "", pid);
}

/* Every transaction writes to this folder first, so its permissions decide who may make one. */
static int refuse_lock(struct txn *t, int rc, const char *why)
{
	const struct root *root = t->options->root;

	if (root && !t->w.refused && (rc == -EACCES || rc == -EPERM))
		return txn_fail(
			t, rc,
			"only root or the owner of %s and everything below it can change it (%s)",
			root->name, why);
	return txn_fail(t, rc, "%s", why);
}

/* The lock goes with the last process that has it open: that includes a generator that outlived its
 * parent. */
int txn_lock(struct txn *t)
{
	char text[16];
	int rc;

	t->lock = lock_file_open(&t->w, TXN_LOCK_FILE);
	if (t->lock < 0)
		return refuse_lock(t, t->lock, t->w.why);
	rc = lock_file_take(t->lock, t->options->wait_s * 10);
	if (rc == -EWOULDBLOCK)
		return refuse_held(t, t->lock);
	if (rc)
		return txn_fail(t, rc, "%s: %s", TXN_LOCK_FILE, strerror(-rc));
	snprintf(text, sizeof(text), "%d\n", (int)getpid());
	if (ftruncate(t->lock, 0) < 0 || pwrite(t->lock, text, strlen(text), 0) < 0)
		txn_note(t, "%s: %s", TXN_LOCK_FILE, strerror(errno));
	return txn_lock_records(t);
}

int txn_lock_records(struct txn *t)
{
	char name[NAME_MAX + 1];

	if (t->records >= 0)
		return 0;
	/* What else is wrong with the folder is said where it is needed. */
	t->records = write_open_folder(&t->w, TXN_STATE_FOLDER "/any", name);
	if (t->records < 0 || lock_file_take(t->records, t->options->wait_s * 10) == 0)
		return 0;
	return txn_fail(t, -EWOULDBLOCK,
			"another fix or undo is changing these files, on another machine, in a "
			"container or through another mount; try again when it has ended");
}

/* Returns true if a program writes to the package database. The lock is only queried, never taken, and readers such
 * as rpm -q do not count. */
static bool is_locked(struct txn *t, const char *path)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
	_cleanup_close_ int fd = host_open(t->host, path);

	return fd >= 0 && fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* dpkg writes its next action there, and empties it when that is done: dpkg(1), --audit. */
static bool dpkg_was_interrupted(struct txn *t)
{
	_cleanup_names_ struct names names = { 0 };

	if (host_list(t->host, &names, "/var/lib/dpkg/updates") < 0)
		return false;
	for (size_t i = 0; i < names.count; i++)
		if (strspn(names.items[i], "0123456789") == strlen(names.items[i]))
			return true;
	return false;
}

/* A file with the number of the process that holds it. A process that has died leaves it. */
static uint64_t holder_of(struct txn *t, const char *path)
{
	_cleanup_text_ struct text text = { 0 };
	uint64_t pid;

	if (host_read(t->host, &text, 64, "%s", path) ||
	    span_u64(span_trim(text_span(&text)), 10, &pid) || pid == 0 || pid > INT_MAX)
		return 0;
	/* The process is this host's whatever root the file is in, as with a chroot. */
	return kill((pid_t)pid, 0) == 0 || errno == EPERM ? pid : 0;
}

static int check_holders(struct txn *t)
{
	/* libzypp: zypp/ZYppFactory.cc; dnf 4: dnf/lock.py. */
	static const char *const files[] = { "/run/zypp.pid", "/var/lib/dnf/rpmdb_lock.pid" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		uint64_t pid = holder_of(t, files[i]);

		if (pid)
			return txn_fail(
				t, -EBUSY,
				"a package manager is running (%s: process %llu); try again when "
				"it has ended",
				files[i], (unsigned long long)pid);
	}
	return 0;
}

int txn_check_packages(struct txn *t)
{
	static const char *const locks[] = {
		"/var/lib/dpkg/lock-frontend",	"/var/lib/dpkg/lock",
		"/var/lib/rpm/.rpm.lock",	"/usr/lib/sysimage/rpm/.rpm.lock",
		"/run/dnf/rpmtransaction.lock", /* dnf 5: libdnf5, TRANSACTION_LOCK_FILEPATH */
	};

	for (size_t i = 0; i < ARRAY_SIZE(locks); i++)
		if (is_locked(t, locks[i]))
			return txn_fail(
				t, -EBUSY,
				"a package manager is running (%s is locked); try again when it "
				"has ended",
				locks[i]);
	/* pacman holds its lock while the file exists. */
	if (host_exists(t->host, "/var/lib/pacman/db.lck"))
		return txn_fail(
			t, -EBUSY,
			"pacman is running (/var/lib/pacman/db.lck exists); try again when it has "
			"ended");
	if (dpkg_was_interrupted(t))
		return txn_fail(t, -EBUSY, "dpkg was interrupted; run dpkg --configure -a first");
	return check_holders(t);
}
