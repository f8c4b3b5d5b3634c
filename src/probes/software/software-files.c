/* SPDX-License-Identifier: GPL-2.0-or-later */
/* software-files.c - versions in small files, and in the names of folders with sources. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "parse/version.h"
#include "probes/software/software.h"

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
	if (version_of_cuda(text_span(&text), &version))
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

/* ---- sources of modules ---- */

/* Returns the item of a folder below /usr/src by its name. The driver's folder is recognised by a version that only
 * drivers have. */
static const char *item_of_sources(struct span name, struct span version)
{
	static const struct {
		const char *folder, *item;
	} sources[] = {
		{ "gdrdrv", "gdrdrv-source" },
		{ "nvidia-fs", "nvidia-fs-source" },
		{ "nvidia_peer_memory", "nv-peer-mem-source" },
		{ "efa", "efa-source" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (span_is(name, sources[i].folder))
			return sources[i].item;
	return span_starts(name, "nvidia") && version_is_driver(version) ? "driver-source" : NULL;
}

/* Reads the sources that DKMS builds for each kernel. */
static void read_sources(struct host *host, struct arena *arena, struct software_facts *software,
			 bool with_ofed)
{
	static const char ofed[] = "mlnx-ofed-kernel-";
	_cleanup_names_ struct names names = { 0 };

	if (host_list(host, &names, "/usr/src"))
		return;
	for (size_t i = 0; i < names.count; i++) {
		const char *path = arena_printf(arena, "/usr/src/%s", names.items[i]);
		struct span name, version;
		const char *item;

		if (with_ofed && starts_with(names.items[i], ofed))
			add_version(arena, software, path, "ofed",
				    span_of(names.items[i] + strlen(ofed)));
		if (!version_of_sources(span_of(names.items[i]), &name, &version))
			continue;
		item = item_of_sources(name, version);
		if (item)
			add_version(arena, software, path, item, version);
	}
}

/* Reads EFA's list of packages, of which a capture keeps only the installer's version. */
static int ask_efa(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct software_facts *answer = facts;
	_cleanup_text_ struct text text = { 0 };
	struct span version;
	int rc = host_read_head(host, &text, SMALL_FILE_MAX, "%s", (const char *)user);

	if (rc)
		return rc;
	answer->items.state = FACT_KNOWN;
	if (!version_after(text_span(&text), "EFA installer version: ", &version))
		return -EBADMSG;
	add_version(arena, answer, user, "efa-installer", version);
	return 0;
}

#define OFED_SYMBOLS "/usr/src/ofa_kernel"

static bool is_release(const char *name)
{
	return *name >= '0' && *name <= '9';
}

/* Folders of symbols that modules are built against, RELEASE or ARCH/RELEASE; "default" leads to one, from 5.5
 * on by way of alternatives (kernel-open/conftest.sh looks into them in this order). */
static void read_symbols(struct host *host, struct arena *arena, struct software_facts *software)
{
	_cleanup_names_ struct names names = { 0 };
	char target[NAME_MAX + 1];

	if (host_list(host, &names, OFED_SYMBOLS))
		return;
	for (size_t i = 0; i < names.count; i++) {
		const char *path = arena_printf(arena, OFED_SYMBOLS "/%s", names.items[i]);
		_cleanup_names_ struct names releases = { 0 };

		if (is_release(names.items[i]))
			add_version(arena, software, path, "ofa_kernel", span_of(names.items[i]));
		else if (strcmp(names.items[i], "default") == 0) {
			if (host_link_end(host, target, "%s", path) == 0)
				add_version(arena, software, path, "ofa_kernel", span_of(target));
		} else if (host_list(host, &releases, "%s", path) == 0) {
			for (size_t k = 0; k < releases.count; k++)
				if (is_release(releases.items[k]))
					add_version(arena, software,
						    arena_printf(arena, "%s/%s", path,
								 releases.items[k]),
						    "ofa_kernel", span_of(releases.items[k]));
		}
	}
}

void software_read_rdma(struct host *host, struct arena *arena, struct software_facts *software)
{
	static char efa[] = "/opt/amazon/efa_installed_packages";
	static const char doca[] = "/opt/mellanox/doca/applications/VERSION";
	struct software_facts answer = { 0 };
	_cleanup_text_ struct text text = { 0 };

	/* Without OFED's script, the sources of its modules tell its version. */
	read_sources(host, arena, software, !read_ofed_script(host, arena, software));
	read_symbols(host, arena, software);
	if (host_read_head(host, &text, SMALL_FILE_MAX, doca) == 0)
		add_version(arena, software, doca, "doca", span_trim(text_span(&text)));
	if (host_query(host, efa, &software_facts_desc, &answer, arena, ask_efa, efa) == 0)
		for_each(item, &answer.items)
			software_add(arena, software, item);
}

/* /usr/libexec/datacenter-gpu-manager-4/plugins/cuda13 */
void software_read_dcgm(struct host *host, struct arena *arena, struct software_facts *software)
{
	static const char folder[] = "/usr/libexec/datacenter-gpu-manager-4/plugins";
	_cleanup_names_ struct names names = { 0 };
	uint64_t number;

	if (host_list(host, &names, folder))
		return;
	for (size_t i = 0; i < names.count; i++) {
		struct span name = span_of(names.items[i]);

		if (!span_starts(name, "cuda") ||
		    span_u64((struct span){ name.p + 4, name.n - 4 }, 10, &number))
			continue;
		add_version(arena, software, arena_printf(arena, "%s/%s", folder, names.items[i]),
			    "dcgm-cuda", (struct span){ name.p + 4, name.n - 4 });
	}
}
