/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * software-programs.c - versions of programs: dpkg's database has them as text. That of rpm is not text, so
 * there only those are known that a program or script carries in itself.
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "parse/version.h"
#include "probes/log/log-lines.h"
#include "probes/software/software.h"

/* A program in Go has the options that it was linked with in it, and the toolkit's give its version (Makefile;
 * Go: cmd/go/internal/load/pkg.go, setBuildInfo()). */
struct program {
	const char *path;
	const char *name;
	const char *packages[3]; /* with * at the end: the beginning of a package's name */
	const char *mark;	 /* the text before its version in the file */
	bool is_driver;		 /* its version is a driver's, a string of its own in it */
	bool companion; /* that it is there is all that matters; in a copy its package says so too */
};

static const struct program programs[] = {
	{ .path = "/usr/bin/nv-fabricmanager",
	  .name = "fabricmanager",
	  .packages = { "nvidia-fabricmanager*" },
	  .is_driver = true },
	{ .path = "/usr/bin/nvidia-imex",
	  .name = "imex",
	  .packages = { "nvidia-imex*" },
	  .is_driver = true },
	/* The driver does not depend on its version. */
	{ .path = "/opt/nvidia/nvlsm/sbin/nvlsm",
	  .name = "nvlsm",
	  .packages = { "nvlsm*" },
	  .companion = true },
	{ .path = "/usr/bin/nvidia-ctk",
	  .name = "container-toolkit",
	  .packages = { "nvidia-container-toolkit-base", "nvidia-container-toolkit" },
	  .mark = "/internal/info.version=" },
	/* Path of the GPU operator's copy, which a script wraps. */
	{ .path = "/usr/local/nvidia/toolkit/nvidia-ctk.real",
	  .name = "container-toolkit",
	  .packages = { NULL },
	  .mark = "/internal/info.version=" },
	{ .path = "/usr/bin/containerd",
	  .name = "containerd",
	  .packages = { "containerd.io", "containerd" } },
	{ .path = "/usr/bin/dockerd", .name = "docker", .packages = { "docker-ce", "docker.io" } },
	{ .path = "/usr/bin/cri-dockerd", .name = "cri-dockerd", .packages = { "cri-dockerd" } },
	{ .path = "/usr/bin/podman", .name = "podman", .packages = { "podman" } },
	{ .path = "/usr/bin/enroot",
	  .name = "enroot",
	  .packages = { "enroot*" },
	  .mark = "ENROOT_VERSION=\"" },
	{ .path = "/usr/sbin/dkms", .name = "dkms", .packages = { "dkms" }, .mark = "\"dkms-" },
	{ .path = "/usr/bin/ucx_info", .name = "ucx", .packages = { "ucx", "libucx0" } },
};
#define PROGRAMS (ARRAY_SIZE(programs))

struct question {
	const struct program *program;
	const struct software_facts *software;
};

/* ---- dpkg ---- */

static bool is_package(const char *name, const char *pattern)
{
	size_t n = strlen(pattern);

	return n && pattern[n - 1] == '*' ? strncmp(name, pattern, n - 1) == 0
					  : strcmp(name, pattern) == 0;
}

static bool is_package_of(const struct program *program, const char *name)
{
	for (size_t i = 0; i < 3 && program->packages[i]; i++)
		if (is_package(name, program->packages[i]))
			return true;
	return false;
}

/* ---- what a program says itself ---- */

static bool driver_block(void *user, struct span block)
{
	version_scan_feed(user, block);
	return true;
}

static bool mark_block(void *user, struct span block)
{
	return !version_mark_feed(user, block);
}

static int scan_program(int fd, const struct program *program, struct fact_str *version,
			struct arena *arena)
{
	struct version_scan scan = { .n = 0 };
	struct version_mark mark = { .mark = program->mark };
	int rc = 0;

	if (program->is_driver)
		rc = lines_read_blocks(fd, driver_block, &scan);
	else if (program->mark)
		rc = lines_read_blocks(fd, mark_block, &mark);
	if (rc == 0 && scan.found[0] && !scan.several)
		*version = fact_str(arena, scan.found);
	else if (rc == 0 && mark.is_whole)
		*version = fact_str(arena, mark.found);
	return rc;
}

/* NULL: dpkg has no such package, or is not what installs here. */
static const struct fact_str *version_by_package(const struct question *q)
{
	for_each(package, &q->software->packages)
		if (is_package_of(q->program, package->name.value) && software_has_files(package) &&
		    is_known(package->version))
			return &package->version;
	return NULL;
}

static int ask_program(struct host *host, void *facts, struct arena *arena, void *user)
{
	const struct question *q = user;
	struct software_facts *answer = facts;
	struct software_item *item;
	const struct fact_str *version;
	_cleanup_close_ int fd = host_open(host, q->program->path);

	if (fd < 0 && !(fd == -ENOENT && q->program->companion && host_kind(host) == HOST_TREE))
		return fd;
	version = version_by_package(q);
	if (fd < 0 && !version)
		return fd;
	item = LIST_ADD(arena, &answer->items);
	item->path = fact_str(arena, q->program->path);
	item->name = fact_str(arena, q->program->name);
	item->version = version ? *version : FACT_NONE(fact_str);
	if (version || q->program->companion)
		return 0;
	return scan_program(fd, q->program, &item->version, arena);
}

void software_read_programs(struct host *host, struct arena *arena, struct software_facts *software)
{
	for (size_t i = 0; i < PROGRAMS; i++) {
		struct question question = { &programs[i], software };
		struct software_facts answer = { 0 };

		if (host_query(host, programs[i].path, &software_facts_desc, &answer, arena,
			       ask_program, &question) == 0)
			for_each(item, &answer.items)
				software_add(arena, software, item);
	}
}

/* ---- plugins of NCCL ---- */

/* The plugin for EFA has the name that all have; its first message gives it away. */
static int ask_plugin(struct host *host, void *facts, struct arena *arena, void *user)
{
	static const struct program plugin = { .mark = "Initializing aws-ofi-nccl " };
	struct software_facts *answer = facts;
	struct software_item *item;
	_cleanup_close_ int fd = host_open(host, user);

	if (fd < 0)
		return fd;
	answer->items.state = FACT_KNOWN;
	item = LIST_ADD(arena, &answer->items);
	item->path = fact_str(arena, user);
	item->name = fact_str(arena, "nccl-net");
	item->version.state = FACT_ABSENT;
	return scan_program(fd, &plugin, &item->version, arena);
}

void software_read_plugins(struct host *host, struct arena *arena, struct software_facts *software)
{
	for_each_mut(item, &software->items) {
		struct software_facts answer = { 0 };

		if (!str_is(item->name, "nccl-net") || is_known(item->version) ||
		    host_query(host, item->path.value, &software_facts_desc, &answer, arena,
			       ask_plugin, (void *)item->path.value))
			continue;
		for_each(found, &answer.items)
			if (is_known(found->version)) {
				item->name = fact_str(arena, "aws-ofi-nccl");
				item->version = found->version;
			}
	}
}
