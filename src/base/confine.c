/* SPDX-License-Identifier: GPL-2.0-or-later */
/* confine.c - drops, for the rest of this process, the rights that reading does not need. */
#include "base/confine.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/span.h"

/* A sanitizer's mappings count against the limit of address space. */
#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

/* The parent's arena counts with all its address space. Arenas that a child makes for itself are shared mappings, which
 * do not count and which no other process has. */
#define DATA_MAX (CONFINE_MEMORY + ARENA_BYTES)

/* A file that unpacks to more costs its own answer: the library that unpacks it gets -ENOMEM. */
static void limit_memory(void)
{
	struct rlimit limit;

	if (IS_SANITIZED || getrlimit(RLIMIT_DATA, &limit) < 0 || limit.rlim_cur <= DATA_MAX)
		return;
	limit.rlim_cur = DATA_MAX;
	if (limit.rlim_max > DATA_MAX)
		limit.rlim_max = DATA_MAX;
	setrlimit(RLIMIT_DATA, &limit);
}

/* ---- capabilities ---- */

#define BIT(capability) (1ull << (capability))
/* Files of mode 0600 of other users. Containers often have the one that also lets write, and not this one. */
#define FOR_FILES BIT(CAP_DAC_READ_SEARCH)
#define FOR_FILES_ELSE BIT(CAP_DAC_OVERRIDE)

static uint64_t capabilities_for(unsigned int needs)
{
	return FOR_FILES | (needs & NEEDS_CONFIG ? BIT(CAP_SYS_ADMIN) : 0) |
	       (needs & NEEDS_PROCESSES ? BIT(CAP_SYS_PTRACE) : 0) |
	       (needs & NEEDS_LOG ? BIT(CAP_SYSLOG) : 0);
}

void confine_keep(unsigned int needs)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct has[_LINUX_CAPABILITY_U32S_3];
	uint64_t kept = capabilities_for(needs);

	if (syscall(SYS_capget, &header, has) < 0)
		return;
	if (!(has[0].permitted & FOR_FILES))
		kept |= FOR_FILES_ELSE;
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		has[i].permitted &= (uint32_t)(kept >> (32 * i));
		has[i].effective &= has[i].permitted;
		has[i].inheritable = 0;
	}
	syscall(SYS_capset, &header, has);
}

/* ---- Landlock ---- */

#define READS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define READS_FILE LANDLOCK_ACCESS_FS_READ_FILE
#define WRITES LANDLOCK_ACCESS_FS_WRITE_FILE
/* Of later headers: LANDLOCK_ACCESS_FS_TRUNCATE of Linux 6.2, LANDLOCK_ACCESS_FS_IOCTL_DEV of 6.10. */
#define TRUNCATES (1ull << 14)
#define IOCTLS (1ull << 15)

/* Returns the accesses that this version of Landlock can refuse: later versions add renaming, truncating and ioctl
 * of devices (Documentation/userspace-api/landlock.rst). 0: the kernel has no Landlock. */
static uint64_t known_accesses(void)
{
	static const unsigned int bits[] = { 0, 13, 14, 15, 15, 16 };
	const long last = ARRAY_SIZE(bits) - 1;
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0,
			       LANDLOCK_CREATE_RULESET_VERSION);

	if (version <= 0)
		return 0;
	return (1ull << bits[version < last ? version : last]) - 1;
}

static void allow(int rules, int fd, uint64_t access)
{
	const struct landlock_path_beneath_attr rule = { .allowed_access = access,
							 .parent_fd = fd };

	syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

static void allow_path(int rules, const char *path, uint64_t access)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd >= 0)
		allow(rules, fd, access);
}

/* Allows the folders in which the dynamic loader finds libraries (ld.so(8)), and libraries find their parts. */
static void allow_libraries(int rules)
{
	static const char *const folders[] = { "/usr", "/lib", "/lib64", "/nix/store",
					       "/gnu/store" };
	const char *more = secure_getenv("LD_LIBRARY_PATH");
	_cleanup_free_ char *list = more ? strdup(more) : NULL;
	char *save = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		allow_path(rules, folders[i], READS);
	allow_path(rules, "/etc/ld.so.cache", READS_FILE);
	for (char *p = list ? strtok_r(list, ":;", &save) : NULL; p;
	     p = strtok_r(NULL, ":;", &save))
		allow_path(rules, p, READS);
}

static void close_folder(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

/* /dev/nvidia0, nvidiactl, nvidia-caps, ... */
static void allow_gpus(int rules, uint64_t access)
{
	_cleanup_(close_folder) DIR *folder = opendir("/dev");
	struct dirent *entry;
	char path[sizeof("/dev/") + NAME_MAX];

	while (folder && (entry = readdir(folder))) {
		if (!starts_with(entry->d_name, "nvidia"))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
		allow_path(rules, path, access);
	}
}

/* Restricts the files that can be read. A process in a Landlock domain cannot inspect processes outside it
 * (landlock.rst, "Ptrace restrictions"), so this is not for probes that do. Returns true if Landlock refuses all
 * changes to files: before Linux 6.2 openat2() with O_TRUNC empties a file that can be read. */
static bool confine_files(const struct confine *how)
{
	uint64_t accesses = known_accesses();
	struct landlock_ruleset_attr attr = { .handled_access_fs = accesses };
	_cleanup_close_ int rules = -1;

	if (!accesses || (how->tree < 0 && !how->asks))
		return false;
	if (how->tree < 0)
		attr.handled_access_fs &= ~READS;
	rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (rules < 0)
		return false;
	if (how->tree >= 0) {
		allow(rules, how->tree, READS);
		allow_libraries(rules);
	} else if (how->asks == ASKS_GPUS) {
		allow_gpus(rules, (WRITES | IOCTLS) & accesses);
	} else if (how->asks == ASKS_RDMA) {
		allow_path(rules, "/dev/infiniband", (WRITES | IOCTLS) & accesses);
	}
	return syscall(SYS_landlock_restrict_self, rules, 0) == 0 && (accesses & TRUNCATES);
}

bool confine(const struct confine *how)
{
	bool files;

	limit_memory();
	confine_keep(how->needs);
	/* Without it the kernel takes neither rules nor a filter from an ordinary user. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return false;
	files = confine_files(how);
	confine_calls(how, files);
	return files;
}
