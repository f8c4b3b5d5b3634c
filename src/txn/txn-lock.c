/* SPDX-License-Identifier: GPL-2.0-or-later */
/* txn-lock.c - one transaction at a time, and none while packages are being installed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/open-file.h"
#include "txn/txn-private.h"

#define LOCK_FOLDER "/run/nvnodecheck"

static int make_lock_folder(struct txn *t)
{
	int rc = write_folder_exists(&t->w, "/run") ? 0 : write_make_folder(&t->w, "/run", 0755);

	if (rc == 0 && !write_folder_exists(&t->w, LOCK_FOLDER))
		rc = write_make_folder(&t->w, LOCK_FOLDER, 0755);
	return rc == -EEXIST ? 0 : rc;
}

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

static int open_lock(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 && errno == EEXIST)
		return open_own_file(folder, name, O_RDWR);
	return fd < 0 ? -errno : fd;
}

/* The lock goes with the last process that has it open: that includes a generator that outlived its
 * parent. */
int txn_lock(struct txn *t)
{
	unsigned int tries = t->options->wait_s * 10;
	char text[16], name[NAME_MAX + 1], why[256];
	_cleanup_close_ int folder = -1;
	int rc = make_lock_folder(t);

	if (rc == 0)
		folder = write_open_folder(&t->w, TXN_LOCK_FILE, name);
	if (rc || folder < 0)
		return refuse_lock(t, rc ? rc : folder, t->w.why);
	t->lock = open_lock(folder, name);
	if (t->lock < 0) {
		rc = t->lock;
		snprintf(why, sizeof(why), "%s: %s", TXN_LOCK_FILE,
			 rc == -EBADF
				 ? "not a regular file with one name, or a file is mounted there"
				 : strerror(-rc));
		return refuse_lock(t, rc, why);
	}
	while (flock(t->lock, LOCK_EX | LOCK_NB) < 0) {
		const struct timespec pause = { 0, 100000000 };

		if (errno != EWOULDBLOCK && errno != EINTR)
			return txn_fail(t, -errno, "%s: %s", TXN_LOCK_FILE, strerror(errno));
		if (!tries--)
			return refuse_held(t, t->lock);
		nanosleep(&pause, NULL);
	}
	snprintf(text, sizeof(text), "%d\n", (int)getpid());
	if (ftruncate(t->lock, 0) < 0 || pwrite(t->lock, text, strlen(text), 0) < 0)
		txn_note(t, "%s: %s", TXN_LOCK_FILE, strerror(errno));
	return 0;
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
