/* SPDX-License-Identifier: GPL-2.0-or-later */
/* software-folder.c - libraries and Python projects by the names in a folder. */

#include "base/array.h"
#include "parse/version.h"
#include "probes/software/software.h"
#include "query/driver-parts.h"

struct pattern {
	const char *begins;
	const char *name;
};

static const struct pattern libraries[] = {
	{ "libcuda.so", "libcuda" },
	{ "libcudart.so", "libcudart" },
	{ "libdoca_common.so", "doca" },
	{ "libgdrapi.so", "gdrcopy" },
	{ "libibverbs.so", "libibverbs" },
	{ "libmlx5.so", "libmlx5" },
	{ "libnccl.so", "nccl" },
	{ "libnccl-net.so", "nccl-net" },
	{ "libnccl-net-aws-ofi.so", "nccl-net" },
	{ "libnccl-net-ofi.so", "nccl-net" },
	{ "libnixl.so", "nixl" },
	{ "libnvidia-container.so", "libnvidia-container" },
	{ "libnvidia-ml.so", "libnvidia-ml" },
	{ "libnvshmem.so", "nvshmem" }, /* before 2.5 */
	{ "libnvshmem_host.so", "nvshmem" },
	{ "libslurm.so", "slurm" },
};

/* The projects of wheels: nvidia_nccl_cu12. */
static const struct pattern projects[] = {
	{ "deep_ep", "deepep" },
	{ "deepep", "deepep" },
	{ "libucx_cu", "ucx" },
	{ "nixl", "nixl" }, /* nixl, nixl_cu12, nixl_cu13 */
	{ "nvidia_cuda_runtime", "libcudart" },
	{ "nvidia_nccl_cu", "nccl" },
	{ "nvidia_nvshmem_cu", "nvshmem" },
};

static void software_folder_add(struct software_facts *answer, struct arena *arena,
				const char *folder, const char *file, const char *name,
				struct span version)
{
	struct software_item *item = LIST_ADD(arena, &answer->items);

	item->path = fact_str(arena, arena_printf(arena, "%s/%s", folder, file));
	item->name = fact_str(arena, name);
	if (version.n)
		item->version = fact_strn(arena, version.p, version.n);
	else
		item->version.state = FACT_ABSENT;
}

/* ---- libraries ---- */

/* Adds a library by its most exact name: of libnccl.so, libnccl.so.2 and libnccl.so.2.28.9 in one folder the last.
 * If only a SONAME exists, its link may lead to a more exact name elsewhere. */
static void add_by_link(struct host *host, struct software_facts *answer, struct arena *arena,
			const char *folder, const char *file, const struct pattern *library)
{
	char target[NAME_MAX + 1];
	struct span version;
	int rc = host_link_end(host, target, "%s/%s", folder, file);

	if (rc == 0 && version_of_library(span_of(target), library->begins, &version) &&
	    version_is_whole(version))
		software_folder_add(answer, arena, folder, file, library->name, version);
	else
		software_folder_add(answer, arena, folder, file, library->name,
				    (struct span){ NULL, 0 });
}

static void find_library(struct host *host, struct software_facts *answer, struct arena *arena,
			 const char *folder, const struct names *names,
			 const struct pattern *library)
{
	const char *shorter = NULL;
	bool whole = false;

	for (size_t i = 0; i < names->count; i++) {
		struct span version;

		if (!version_of_library(span_of(names->items[i]), library->begins, &version))
			continue;
		if (version_is_whole(version)) {
			software_folder_add(answer, arena, folder, names->items[i], library->name,
					    version);
			whole = true;
		} else {
			/* Sorted: libnccl.so comes before libnccl.so.2, which programs load. */
			shorter = names->items[i];
		}
	}
	if (!whole && shorter)
		add_by_link(host, answer, arena, folder, shorter, library);
}

/* Only files whose name has a driver's version: a link says nothing more. */
static void find_parts(struct software_facts *answer, struct arena *arena, const char *folder,
		       const struct names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		struct span version, name = span_of(names->items[i]);

		/* Almost all names of a folder are others. */
		if (!span_starts(name, "libnv") && !span_starts(name, "libcudad"))
			continue;
		for (const struct driver_part *part = driver_parts; part->name; part++)
			if (version_of_library(name, part->library, &version) &&
			    version_is_driver(version))
				software_folder_add(answer, arena, folder, names->items[i],
						    part->name, version);
	}
}

int software_ask_libraries(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct software_facts *answer = facts;
	_cleanup_names_ struct names names = { 0 };
	const char *folder = user;
	int rc = host_list(host, &names, "%s", folder);

	if (rc)
		return rc;
	answer->items.state = FACT_KNOWN;
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++)
		find_library(host, answer, arena, folder, &names, &libraries[i]);
	find_parts(answer, arena, folder, &names);
	return 0;
}

/* ---- Python ---- */

int software_ask_python(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct software_facts *answer = facts;
	_cleanup_names_ struct names names = { 0 };
	const char *folder = user;
	int rc = host_list(host, &names, "%s", folder);

	if (rc)
		return rc;
	answer->items.state = FACT_KNOWN;
	for (size_t i = 0; i < names.count; i++) {
		struct span project, version;

		if (!version_of_dist_info(span_of(names.items[i]), &project, &version))
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(projects); k++)
			if (span_starts(project, projects[k].begins))
				software_folder_add(answer, arena, folder, names.items[i],
						    projects[k].name, version);
	}
	return 0;
}
