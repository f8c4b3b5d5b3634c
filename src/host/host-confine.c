/* SPDX-License-Identifier: GPL-2.0-or-later */
/* host-confine.c - confines a child that reads a host to the rights that this needs. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/confine.h"
#include "host/host-private.h"
#include "parse/field.h"
#include "parse/mountinfo.h"

static void close_host(struct host **host)
{
	host_close(*host);
}

/* The type of the file system that FD, a descriptor with O_PATH, is on, by the kernel's list of mounts: asking the file
 * system itself could wait for it. */
static bool is_on(int fd, const char *type)
{
	_cleanup_text_ struct text info = { 0 }, mounts = { 0 };
	_cleanup_(close_host) struct host *live = host_open_live();
	struct span rest, line, word;
	struct mountinfo mount;
	uint64_t wanted, id;
	size_t bad = 0;

	if (!live || host_read(live, &info, HOST_FILE_MAX, "/proc/self/fdinfo/%d", fd) ||
	    host_read(live, &mounts, MOUNTINFO_MAX, "/proc/self/mountinfo") ||
	    !field_find(text_span(&info), ':', "mnt_id", &word) || span_u64(word, 10, &wanted))
		return false;
	for (rest = text_span(&mounts); span_cut(&rest, '\n', &line);) {
		struct span words = line;

		if (span_cut(&words, ' ', &word) && span_u64(word, 10, &id) == 0 && id == wanted)
			return mountinfo_next(&line, &mount, &bad) && span_is(mount.type, type);
	}
	return false;
}

/* Since Linux 5.8 the kernel reports mount points without asking their file systems. */
static bool is_no_mount(int fd)
{
	struct statx stx;

	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &stx) == 0 &&
	       (stx.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) &&
	       !(stx.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

/* A folder of a tree on which the kernel's own file system is mounted; -1: none is. */
static int open_kernel_folder(const struct host *host, const char *name, const char *type)
{
	int fd = openat(host->root, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || (!is_no_mount(fd) && is_on(fd, type)))
		return fd;
	close(fd);
	return -1;
}

/* A host that is mounted into a container has the running kernel's own files, and is asked as a live one. */
void host_set_process(struct host *host)
{
	bool live = host->kind == HOST_LIVE;
	_cleanup_close_ int proc = live ? open("/proc", O_PATH | O_CLOEXEC)
					: open_kernel_folder(host, "proc", "proc");
	_cleanup_close_ int sys = live ? -1 : open_kernel_folder(host, "sys", "sysfs");
	ssize_t n = proc < 0 ? -1 : readlinkat(proc, "self", host->self, sizeof(host->self) - 1);

	host->self[n < 0 ? 0 : n] = '\0';
	host->is_running = live || proc >= 0 || sys >= 0;
}

/* The files of a copy are the same with and without them. */
static unsigned int needs_of(const struct host *host, unsigned int needs)
{
	return host->is_running ? needs : 0;
}

void host_keep(const struct host *host, unsigned int needs)
{
	confine_keep(needs_of(host, needs));
}

void host_confine(struct host *host, enum confine_asks asks, bool threads, unsigned int needs)
{
	const struct confine how = {
		.tree = host->is_running ? -1 : host->root,
		.needs = needs_of(host, needs),
		.threads = threads,
		.asks = host->kind == HOST_LIVE ? asks : ASKS_NOBODY,
	};

	host->no_openat2 |= !confine(&how);
}

const char *host_own_path(const struct host *host, const char *path, char other[64])
{
	static const char self[] = "/proc/self/";
	const char *name = path + sizeof(self) - 1;

	if (!*host->self || !starts_with(path, self) ||
	    (strcmp(name, "status") != 0 && strcmp(name, "limits") != 0))
		return path;
	snprintf(other, 64, "/proc/%s/%s", host->self, name);
	return other;
}
