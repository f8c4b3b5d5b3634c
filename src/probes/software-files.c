/* SPDX-License-Identifier: GPL-2.0-or-later */
/* software-files.c - versions that stand in small files, in the package database or in a program.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "parse/version.h"
#include "probes/log-lines.h"
#include "probes/software.h"

#define SMALL_FILE_MAX (64u << 10) /* of which the beginning is read */

void software_add(struct arena *arena, struct software_facts *software,
		  const struct software_item *item)
{
	for_each(i, &software->items)
		if (str_is(i->path, item->path.value))
			return;
	*LIST_ADD(arena, &software->items) = *item;
}

static void add_version(struct arena *arena, struct software_facts *software, const char *path,
			const char *name, struct span version)
{
	struct software_item item = {
		.path = fact_str(arena, path),
		.name = fact_str(arena, name),
		.version = version.n ? fact_strn(arena, version.p, version.n) : FACT_NONE(fact_str),
	};

	software_add(arena, software, &item);
}

/* ---- installations ---- */

void software_read_nvshmem(struct host *host, struct arena *arena, struct software_facts *software,
			   const char *home)
{
	static const char *const names[] = { "NVSHMEM_VENDOR_MAJOR_VERSION",
					     "NVSHMEM_VENDOR_MINOR_VERSION",
					     "NVSHMEM_VENDOR_PATCH_VERSION" };
	const char *path = arena_printf(arena, "%s/include/non_abi/nvshmem_version.h", home);
	_cleanup_text_ struct text text = { 0 };
	uint64_t number[3];
	char version[72];

	if (host_read_head(host, &text, SMALL_FILE_MAX, "%s", path))
		return;
	for (size_t i = 0; i < 3; i++) {
		if (version_define(text_span(&text), names[i], &number[i]))
			continue;
		host_gap_note(host, path, -EBADMSG, "no version in this header");
		return;
	}
	snprintf(version, sizeof(version), "%" PRIu64 ".%" PRIu64 ".%" PRIu64, number[0], number[1],
		 number[2]);
	add_version(arena, software, path, "nvshmem", span_of(version));
}

void software_read_cuda(struct host *host, struct arena *arena, struct software_facts *software,
			const char *home)
{
	const char *path = arena_printf(arena, "%s/version.json", home);
	_cleanup_text_ struct text text = { 0 };
	struct span version;

	if (host_read_head(host, &text, SMALL_FILE_MAX, "%s", path))
		return;
	if (version_json(text_span(&text), "cuda", &version))
		add_version(arena, software, path, "cuda", version);
	else
		host_gap_note(host, path, -EBADMSG, "no version of cuda in it");
}

/* ---- RDMA stacks ---- */

static bool read_ofed_script(struct host *host, struct arena *arena,
			     struct software_facts *software)
{
	static const char path[] = "/usr/bin/ofed_info";
	_cleanup_text_ struct text text = { 0 };
	struct span version;

	if (host_read_head(host, &text, SMALL_FILE_MAX, path))
		return false;
	if (version_of_ofed(text_span(&text), &version))
		add_version(arena, software, path, "ofed", version);
	else
		host_gap_note(host, path, -EBADMSG, "no version in this script");
	return true;
}

void software_read_rdma(struct host *host, struct arena *arena, struct software_facts *software)
{
	static const char source[] = "mlnx-ofed-kernel-";
	static const char doca[] = "/opt/mellanox/doca/applications/VERSION";
	_cleanup_names_ struct names names = { 0 };
	_cleanup_text_ struct text text = { 0 };
	char target[NAME_MAX + 1];
	bool script = read_ofed_script(host, arena, software);

	/* Without the script, the sources that DKMS builds its modules from. */
	if (host_list(host, &names, "/usr/src") == 0)
		for (size_t i = 0; i < names.count && !script; i++)
			if (strncmp(names.items[i], source, strlen(source)) == 0)
				add_version(arena, software,
					    arena_printf(arena, "/usr/src/%s", names.items[i]),
					    "ofed", span_of(names.items[i] + strlen(source)));
	/* The kernel that the symbols which other modules are built against are for. */
	if (host_link_name(host, target, "/usr/src/ofa_kernel/default") == 0)
		add_version(arena, software, "/usr/src/ofa_kernel/default", "ofa_kernel",
			    span_of(target));
	if (host_read_head(host, &text, SMALL_FILE_MAX, doca) == 0)
		add_version(arena, software, doca, "doca", span_trim(text_span(&text)));
}

/* ---- programs ---- */

struct program {
	const char *path;
	const char *name;
	const char *package; /* its beginning */
	bool companion; /* that it is there is all that matters; in a copy its package says so too */
};

struct package_search {
	struct version_dpkg dpkg;
	bool found;
};

static bool package_line(void *user, struct span line)
{
	struct package_search *s = user;

	s->found = version_dpkg_line(&s->dpkg, line);
	return !s->found;
}

static bool program_block(void *user, struct span block)
{
	version_scan_feed(user, block);
	return true;
}

static bool ask_dpkg(struct host *host, const struct program *program, struct fact_str *version,
		     struct arena *arena)
{
	struct package_search search = { .dpkg.prefix = program->package };
	_cleanup_close_ int fd = host_open(host, "/var/lib/dpkg/status");

	if (fd < 0 || lines_read(fd, package_line, &search) || !search.found)
		return false;
	*version = fact_str(arena, search.dpkg.version);
	return true;
}

/* The database of dpkg is text; that of rpm is not, and the program has to say it itself. */
static int ask_program(struct host *host, void *facts, struct arena *arena, void *user)
{
	const struct program *program = user;
	struct software_facts *answer = facts;
	struct version_scan scan = { .n = 0 };
	struct fact_str version = FACT_NONE(fact_str);
	struct software_item *item;
	_cleanup_close_ int fd = host_open(host, program->path);
	bool installed;
	int rc;

	if (fd < 0 && !(fd == -ENOENT && program->companion && host_kind(host) == HOST_TREE))
		return fd;
	installed = ask_dpkg(host, program, &version, arena);
	if (fd < 0 && !installed)
		return fd;
	item = LIST_ADD(arena, &answer->items);
	item->path = fact_str(arena, program->path);
	item->name = fact_str(arena, program->name);
	item->version = version;
	if (installed || program->companion)
		return 0;
	rc = lines_read_blocks(fd, program_block, &scan);
	if (rc == 0 && scan.found[0] && !scan.several)
		item->version = fact_str(arena, scan.found);
	return rc;
}

void software_read_programs(struct host *host, struct arena *arena, struct software_facts *software)
{
	static const struct program programs[] = {
		{ "/usr/bin/nv-fabricmanager", "fabricmanager", "nvidia-fabricmanager", false },
		{ "/usr/bin/nvidia-imex", "imex", "nvidia-imex", false },
		/* Of its versions the driver knows nothing. */
		{ "/opt/nvidia/nvlsm/sbin/nvlsm", "nvlsm", "nvlsm", true },
	};

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		struct software_facts answer = { 0 };
		struct program program = programs[i];

		if (host_query(host, program.path, &software_facts_desc, &answer, arena,
			       ask_program, &program) == 0)
			for_each(item, &answer.items)
				software_add(arena, software, item);
	}
}
