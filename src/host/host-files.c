/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host-files.c - the live host and a tree of files. They differ only in how a path is opened. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/open-file.h"
#include "facts/fact.h"
#include "host/host-private.h"

#define READ_FIRST 4096
#define LIST_BYTES 8192

static int open_path(struct host *host, const char *path, int flags)
{
	char other[64];
	int fd;

	path = host_own_path(host, path, other);
	flags |= O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	if (host->kind == HOST_LIVE) {
		fd = open(path, flags);
		return fd < 0 ? -errno : fd;
	}
	return resolve_in_root(host, path, flags);
}

/* Folders and files that every kernel has (of those that run servers) as soon as it has the folder above
 * them. Sources: the kernel's drivers/base/{bus,class,cpu,core}.c, fs/proc/root.c,
 * fs/proc/proc_sysctl.c, mm/mm_init.c, net/core/net-sysfs.c, drivers/iommu/iommu{,-sysfs}.c. */
static const char *const sections[] = {
	"/lib/modules",
	"/proc/bus",
	"/proc/cmdline",
	"/proc/cpuinfo",
	"/proc/devices",
	"/proc/driver",
	"/proc/meminfo",
	"/proc/mounts",
	"/proc/stat",
	"/proc/sys",
	"/proc/sys/kernel",
	"/proc/sys/net",
	"/proc/sys/vm",
	"/proc/version",
	"/sys/bus",
	"/sys/bus/pci",
	"/sys/bus/pci/devices",
	"/sys/class",
	"/sys/class/dmi",
	"/sys/class/iommu",
	"/sys/class/net",
	"/sys/devices",
	"/sys/devices/system",
	"/sys/devices/system/cpu",
	"/sys/devices/system/node",
	"/sys/firmware",
	"/sys/kernel",
	"/sys/kernel/iommu_groups",
	"/sys/kernel/mm",
	"/sys/kernel/security",
	"/sys/module",
};

struct span host_section(const char *path)
{
	struct span found = { path, 1 + strcspn(path + 1, "/") };

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		size_t n = strlen(sections[i]);

		if (n > found.n && strncmp(path, sections[i], n) == 0 &&
		    (path[n] == '/' || !path[n]))
			found.n = n;
	}
	return found;
}

static bool has_entries(struct host *host, const char *path)
{
	_cleanup_close_ int fd = open_path(host, path, O_DIRECTORY);
	alignas(struct dirent64) char entries[512];
	ssize_t n = fd < 0 ? 0 : getdents64(fd, entries, sizeof(entries));
	size_t count = 0;

	for (ssize_t at = 0; at < n; count++)
		at += ((const struct dirent64 *)(entries + at))->d_reclen;
	return count > 2; /* "." and ".." */
}

/* Top-level folders are often mounts, and so is this one: a copy has them empty. */
static bool is_mount(struct span section)
{
	return span_find((struct span){ section.p + 1, section.n - 1 }, '/') == section.n - 1 ||
	       span_is(section, "/sys/kernel/security");
}

static bool is_folder(struct host *host, const char *path)
{
	_cleanup_close_ int fd = open_path(host, path, O_DIRECTORY | O_PATH);

	return fd >= 0;
}

/* A tree is a copy. A top-level folder that it lacks, or an empty folder where /proc or /dev would be mounted, is no
 * evidence about the node. */

static bool tree_has_area(struct host *host, const char *path)
{
	struct span section = host_section(path);
	char name[PATH_MAX];
	bool has;

	for (size_t i = 0; i < host->areas_count; i++)
		if (span_is(section, host->areas[i].name))
			return host->areas[i].has;
	snprintf(name, sizeof(name), "%.*s", SPAN_FMT(section));
	has = is_mount(section) ? has_entries(host, name) : is_folder(host, name);
	if (host->areas_count < AREAS_MAX && section.n < sizeof(host->areas[0].name)) {
		struct area *area = &host->areas[host->areas_count++];

		memcpy(area->name, name, section.n + 1);
		area->has = has;
	}
	return has;
}

/* Checked again until it exists. */
static bool is_there(bool *there, const char *path)
{
	*there = *there || access(path, F_OK) == 0;
	return *there;
}

/* Returns true if the live host has the area of PATH. If /proc or /sys is not mounted, as in a chroot, a missing file
 * there is unknown. */
static bool live_has_area(struct host *host, const char *path)
{
	if (starts_with(path, "/proc/"))
		return is_there(&host->has_proc, "/proc/self");
	if (starts_with(path, "/sys/"))
		return is_there(&host->has_sys, "/sys/kernel");
	return true;
}

/* RC, but of a whole area that is not there -ENODATA, of a part of one -ENOMEDIUM. */
static int or_missing(struct host *host, const char *path, int rc)
{
	char top[NAME_MAX + 2];

	if (rc != -ENOENT || !path[1] || !strchr(path + 1, '/'))
		return rc;
	if (host->kind == HOST_TREE ? tree_has_area(host, path) : live_has_area(host, path))
		return rc;
	snprintf(top, sizeof(top), "%.*s", (int)(1 + strcspn(path + 1, "/")), path);
	return host->kind == HOST_TREE && tree_has_area(host, top) ? -ENOMEDIUM : -ENODATA;
}

static int open_or_missing(struct host *host, const char *path, int flags)
{
	return or_missing(host, path, open_path(host, path, flags));
}

/* A device, FIFO or socket is refused before it is opened: opening one can block or have an effect. */
static int check_regular(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISREG(st.st_mode))
		return 0;
	return S_ISDIR(st.st_mode) ? -EISDIR : -ENXIO;
}

/* Most files are the kernel's own. In sysfs and procfs opening one neither blocks nor has an effect, and a folder
 * reports itself that it cannot be read. Only links lead out of a process's folder. */
static bool is_in(const struct host *host, const char *path, const char *folder)
{
	return host->kind == HOST_LIVE && !host->distrust && starts_with(path, folder) &&
	       !strstr(path, "/..");
}

/* Returns true for a path below procfs or sysfs that can be read without an effect. */
static bool is_asked_of_kernel(const struct host *host, const char *path)
{
	return !host->distrust && (starts_with(path, "/proc/") || starts_with(path, "/sys/"));
}

/* Opens PATH again by its name and checks that it is the same file. */
static int open_same(struct host *host, const char *path, int there)
{
	int fd = open_path(host, path, O_RDONLY);
	struct stat a, b;

	if (fd < 0 || (fstat(fd, &a) == 0 && fstat(there, &b) == 0 && a.st_dev == b.st_dev &&
		       a.st_ino == b.st_ino))
		return fd;
	close(fd);
	return -ESTALE;
}

void files_leave_descriptors(struct host *host)
{
	if (host->knows_own && host->own >= 0)
		close(host->own);
	host->knows_own = false;
}

/* Opened once, because resolving this path takes longer than most others: procfs checks the caller's identity. */
static int own_descriptors(struct host *host)
{
	if (!host->knows_own)
		host->own = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
	host->knows_own = true;
	return host->own;
}

/* The very file that was looked at, for reading. */
static int reopen(struct host *host, const char *path, int there)
{
	char number[24];
	int own = own_descriptors(host), fd;

	/* The file exists, but /proc is not mounted. */
	if (own < 0)
		return open_same(host, path, there);
	fd = openat(own, fact_decimal((uint64_t)there, number),
		    O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int files_open(struct host *host, const char *path)
{
	bool sysfs = is_in(host, path, "/sys/"), direct = sysfs || is_in(host, path, "/proc/");
	int there = host->distrust ? or_missing(host, path, resolve_distrusted(host, path))
				   : open_or_missing(host, path, direct ? O_RDONLY : O_PATH);
	int rc;

	if (there < 0 || sysfs)
		return there;
	/* Containers have devices mounted over files of procfs. */
	rc = check_regular(there);
	if (rc == 0 && direct)
		return there;
	if (rc == 0 && !is_asked_of_kernel(host, path) && open_is_made_up(there))
		rc = -ENXIO;
	if (rc == 0)
		rc = reopen(host, path, there);
	close(there);
	return rc;
}

/* -ENODATA has a meaning of its own here (host.h), so from a driver it is an input error. */
static int read_error(void)
{
	return errno == ENODATA ? -EIO : -errno;
}

/* Documentation/admin-guide/devices.txt: 1 char, 11 = /dev/kmsg */
#define KMSG_DEVICE makedev(1, 11)

int files_open_kmsg(struct host *host)
{
	_cleanup_close_ int there = open_path(host, "/dev/kmsg", O_PATH);
	struct stat st;

	if (there < 0)
		return there;
	if (fstat(there, &st) < 0)
		return -errno;
	if (!S_ISCHR(st.st_mode) || st.st_rdev != KMSG_DEVICE)
		return -ENXIO;
	return reopen(host, "/dev/kmsg", there);
}

/* syslog(2) */
#define LOG_READ_ALL 3
#define LOG_SIZE 10
/* Room for the log as text: each record gets some 20 bytes with its level and time. */
#define LOG_TEXT_MAX (32 << 20)

int files_read_kernel_log(struct text *text, size_t *whole_bytes)
{
	int size = klogctl(LOG_SIZE, NULL, 0), room, n;

	if (size < 0)
		return -errno;
	room = size < LOG_TEXT_MAX / 2 ? 2 * size : LOG_TEXT_MAX;
	text->data = malloc((size_t)room + 1);
	if (!text->data)
		return -ENOMEM;
	memory_make_ready(text->data, (size_t)size < (size_t)room ? (size_t)size : (size_t)room);
	n = klogctl(LOG_READ_ALL, text->data, room);
	if (n < 0)
		return -errno;
	text->size = (size_t)n;
	text->data[n] = '\0';
	*whole_bytes = (size_t)size;
	return 0;
}

int text_read(int fd, size_t first, size_t limit, bool at_once, uint64_t end_us, struct text *text)
{
	size_t room = first;

	text->data = malloc(room + 1);
	while (text->data) {
		ssize_t n;

		if (!clock_wait_readable(fd, end_us))
			return -ETIMEDOUT;
		n = read(fd, text->data + text->size, room - text->size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return read_error();
		text->size += (size_t)n;
		text->data[text->size] = '\0';
		if (text->size > limit)
			return -EFBIG;
		if (n == 0 || (at_once && text->size < room))
			return 0;
		if (text->size == room) {
			char *more = realloc(text->data, room * 2 + 1);

			if (!more)
				return -ENOMEM;
			text->data = more;
			room *= 2;
		}
	}
	return -ENOMEM;
}

/* Sizes that stat gives for procfs and sysfs mean nothing: read until the end. The kernel gives all of an
 * attribute of sysfs at once. */
static int read_file(struct host *host, const char *path, size_t limit, struct text *text)
{
	int fd = files_open(host, path);
	int rc;

	if (fd < 0)
		return fd;
	rc = text_read(fd, READ_FIRST, limit, is_in(host, path, "/sys/"), 0, text);
	close(fd);
	if (rc) {
		text_free(text);
		*text = (struct text){ 0 };
	}
	return rc;
}

static int read_head(struct host *host, const char *path, size_t n, struct text *text)
{
	_cleanup_close_ int fd = files_open(host, path);
	ssize_t got = 1;

	if (fd < 0)
		return fd;
	text->data = malloc(n + 1);
	if (!text->data)
		return -ENOMEM;
	while (got && text->size < n) {
		got = read(fd, text->data + text->size, n - text->size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			got = read_error();
			text_free(text);
			*text = (struct text){ 0 };
			return (int)got;
		}
		text->size += (size_t)got;
	}
	text->data[text->size] = '\0';
	return 0;
}

static int add_entries(struct names *names, const char *entries, size_t n)
{
	const struct dirent64 *entry;
	int rc = 0;

	for (size_t at = 0; rc == 0 && at < n; at += entry->d_reclen) {
		entry = (const struct dirent64 *)(entries + at);
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		rc = names->count < HOST_NAMES_MAX ? names_add(names, entry->d_name) : -EOVERFLOW;
	}
	return rc;
}

static int list_folder(struct host *host, const char *path, struct names *names)
{
	_cleanup_close_ int fd = open_or_missing(host, path, O_DIRECTORY);
	alignas(struct dirent64) char entries[LIST_BYTES];
	ssize_t n = 1;
	int rc = 0;

	if (fd < 0)
		return fd;
	while (rc == 0 && n > 0) {
		n = getdents64(fd, entries, sizeof(entries));
		rc = n < 0 ? -errno : add_entries(names, entries, (size_t)n);
	}
	if (rc)
		names_free(names);
	return rc;
}

static int stat_path(struct host *host, const char *path, struct stat *st)
{
	_cleanup_close_ int fd = -1;

	if (host->kind == HOST_LIVE)
		return stat(path, st) < 0 ? or_missing(host, path, -errno) : 0;
	fd = open_or_missing(host, path, O_PATH);
	if (fd < 0)
		return fd;
	return fstat(fd, st) < 0 ? -errno : 0;
}

static int stat_file(struct host *host, const char *path, struct host_stat *out)
{
	struct stat st;
	int rc = stat_path(host, path, &st);

	if (rc)
		return rc;
	*out = (struct host_stat){
		.mode = st.st_mode,
		.rdev = st.st_rdev,
		.size = (uint64_t)st.st_size,
		.mtime_s = (uint64_t)st.st_mtim.tv_sec,
		.has_owner = true,
		.uid = st.st_uid,
		.gid = st.st_gid,
	};
	return 0;
}

static int read_link(struct host *host, const char *path, char target[PATH_MAX])
{
	ssize_t n;
	int fd;

	if (host->kind == HOST_LIVE) {
		n = readlink(path, target, PATH_MAX - 1);
		if (n < 0)
			return or_missing(host, path, -errno);
		target[n] = '\0';
		return 0;
	}
	fd = open_or_missing(host, path, O_PATH | O_NOFOLLOW);
	if (fd < 0)
		return fd;
	n = readlinkat(fd, "", target, PATH_MAX - 1);
	if (n < 0) {
		/* readlinkat fails with ENOENT on an fd that is not a link. */
		n = errno == ENOENT ? -EINVAL : -errno;
		close(fd);
		return (int)n;
	}
	close(fd);
	target[n] = '\0';
	return 0;
}

static int query(struct host *host, const char *key, const struct desc *desc, void *facts,
		 struct arena *arena, host_ask *ask, void *user)
{
	int rc;

	(void)key;
	(void)desc;
	host->asking = true;
	rc = ask(host, facts, arena, user);
	host->asking = false;
	return rc;
}

static void close_files(struct host *host)
{
	if (host->root >= 0)
		close(host->root);
	files_leave_descriptors(host);
}

static const struct host_ops files_ops = {
	.read = read_file,
	.head = read_head,
	.list = list_folder,
	.stat = stat_file,
	.link = read_link,
	.query = query,
	.close = close_files,
};

struct host *host_open_live(void)
{
	struct host *host = calloc(1, sizeof(*host));

	if (!host)
		return NULL;
	host->kind = HOST_LIVE;
	host->ops = &files_ops;
	host->root = -1;
	return host;
}

struct host *host_open_tree(const struct root *root, char error[256])
{
	struct host *host = calloc(1, sizeof(*host));

	if (!host) {
		snprintf(error, 256, "out of memory");
		return NULL;
	}
	host->kind = HOST_TREE;
	host->ops = &files_ops;
	host->root_name = root->name;
	host->device = root->device;
	host->inode = root->inode;
	host->root = fcntl(root->fd, F_DUPFD_CLOEXEC, 3);
	if (host->root >= 0)
		return host;
	snprintf(error, 256, "--root %.180s: %s", root->name, strerror(errno));
	free(host);
	return NULL;
}

/* Writes the path by which a library opens PATH: below the root's descriptor, because the tree's name may lead
 * elsewhere now. Without /proc it is the name, and check_confined() verifies that it is the same file. */
static void native_path(struct host *host, const char *path, char native[PATH_MAX])
{
	if (own_descriptors(host) >= 0)
		snprintf(native, PATH_MAX, "/proc/self/fd/%d%s", host->root, path);
	else
		snprintf(native, PATH_MAX, "%s%s", host->root_name, path);
}

/* The file inside the root and the file that a library opens by its native path must be the same, and of a type that
 * cannot block the library. */
static int check_confined(struct host *host, const char *path)
{
	char native[PATH_MAX];
	struct stat inside, outside;
	bool here, there;
	int fd = resolve_in_root(host, path, O_PATH | O_CLOEXEC);

	here = fd >= 0 && fstat(fd, &inside) == 0;
	close_fd(&fd);
	native_path(host, path, native);
	there = stat(native, &outside) == 0;
	if (here != there)
		return -EXDEV;
	if (!here)
		return 0;
	if (inside.st_dev != outside.st_dev || inside.st_ino != outside.st_ino)
		return -EXDEV;
	return S_ISREG(inside.st_mode) || S_ISDIR(inside.st_mode) ? 0 : -ENXIO;
}

int host_folder(struct host *host, const char *path, const char *const *names,
		char native[PATH_MAX])
{
	_cleanup_names_ struct names entries = { 0 };
	char sub[PATH_MAX];
	int rc;

	if (host->kind == HOST_CAPTURE)
		return -ENODATA;
	if (host->kind == HOST_LIVE) {
		snprintf(native, PATH_MAX, "%s", path);
		return 0;
	}
	rc = files_ops.list(host, path, &entries);
	for (size_t i = 0; rc == 0 && i < entries.count; i++) {
		snprintf(sub, sizeof(sub), "%s/%s", path, entries.items[i]);
		rc = check_confined(host, sub);
		for (size_t k = 0; rc == 0 && names[k]; k++) {
			snprintf(sub, sizeof(sub), "%s/%s/%s", path, entries.items[i], names[k]);
			rc = check_confined(host, sub);
		}
		if (rc)
			host_gap_note(host, sub, rc, NULL);
	}
	if (rc == 0)
		native_path(host, path, native);
	return rc;
}
