/* SPDX-License-Identifier: GPL-2.0-or-later */
/* software-doubles.c - two packages that own one library file (rule software/wheels-share-files). */
#include <string.h>

#include "base/array.h"
#include "base/span.h"
#include "base/text-map.h"
#include "evaluate/skip.h"

/* NVIDIA's wheels that have the CUDA release in the project's name and not in the folder of their library, so that
 * those of two releases install the same files. */
static const struct shared {
	const char *project; /* up to the number */
	const char *folder;  /* below site-packages */
} shared[] = {
	{ "nvidia_nccl_cu", "nvidia/nccl/lib" },
	{ "nvidia_nvshmem_cu", "nvidia/nvshmem/lib" },
};

static const char *base_name(const struct software_item *item)
{
	return is_known(item->path) ? span_base_name(item->path.value) : "";
}

static const struct shared *shared_of(const struct software_item *item)
{
	for (size_t i = 0; i < ARRAY_SIZE(shared); i++)
		if (starts_with(base_name(item), shared[i].project))
			return &shared[i];
	return NULL;
}

/* Up to the version: nvidia_nccl_cu12 */
static size_t project_length(const struct software_item *item)
{
	return strcspn(base_name(item), "-");
}

static size_t folder_length(const struct software_item *item)
{
	return (size_t)(base_name(item) - item->path.value);
}

/* Two projects of one folder install the same files. */
static bool same_project(const struct software_item *a, const struct software_item *b)
{
	return project_length(a) == project_length(b) &&
	       strncmp(base_name(a), base_name(b), project_length(a)) == 0;
}

static const char *version_text(const struct software_item *item)
{
	return is_known(item->version) ? item->version.value : "of an unknown version";
}

static void fail_pair(struct rule_context *ctx, const struct software_item *a,
		      const struct software_item *b)
{
	FAIL(ctx, .subject = a->path.value,
	     .observed = text_printf(ctx, "%.*s %s and %.*s %s both install %.*s%s",
				     (int)project_length(a), base_name(a), version_text(a),
				     (int)project_length(b), base_name(b), version_text(b),
				     (int)folder_length(a), a->path.value, shared_of(a)->folder),
	     .expected = "one of the two",
	     .remedy = text_printf(ctx,
				   "Uninstall both, then install the one for the CUDA release of "
				   "PyTorch: pip uninstall %.*s %.*s",
				   (int)project_length(a), base_name(a), (int)project_length(b),
				   base_name(b)),
	     .evidence = { software_version_fact(ctx->arena, a),
			   software_version_fact(ctx->arena, b) });
}

/* The wheels of one folder. */
struct wheels {
	const struct software_item *last;
	const struct software_item *other; /* the last one of another project than that */
};

static const struct software_item *add_wheel(struct wheels *wheels,
					     const struct software_item *item)
{
	const struct software_item *last = wheels->last;
	bool same = last && same_project(last, item);

	wheels->last = item;
	if (!same)
		wheels->other = last;
	return wheels->other;
}

/* Holds each wheel against the one before it in its folder that is of another project. */
static size_t check_project(struct rule_context *ctx, const struct shared *project)
{
	const struct software_facts *software = &ctx->node->software;
	struct text_map *folders = text_map_new(ctx->arena, software->items.count);
	size_t count = 0;

	for_each(item, &software->items) {
		const struct software_item *other;
		void **at;

		if (shared_of(item) != project)
			continue;
		count++;
		at = text_map_at(folders, (struct span){ item->path.value, folder_length(item) });
		if (!*at)
			*at = arena_alloc(ctx->arena, sizeof(struct wheels));
		other = add_wheel(*at, item);
		if (other && !rule_has_answered(ctx, other->path.value))
			fail_pair(ctx, other, item);
	}
	return count;
}

static void check_wheels(struct rule_context *ctx)
{
	size_t before = ctx->findings->count, wheels = 0;

	for (size_t i = 0; i < ARRAY_SIZE(shared); i++)
		wheels += check_project(ctx, &shared[i]);
	if (ctx->findings->count > before || skip_unless_software_whole(ctx))
		return;
	if (wheels)
		PASS(ctx, .evidence = { "software.items" });
	else
		NOT_APPLICABLE(ctx, .observed = "no wheel of NCCL or NVSHMEM was found",
			       .evidence = { "software.items" });
}

static const struct rule software_doubles_rules[] = {
	{
		.id = "software/wheels-share-files",
		.title =
			"Jobs load another NCCL or NVSHMEM than installed: two wheels own one file",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_wheels,
		.impact =
			"The library is that of the wheel that was installed last. PyTorch fails with an undefined "
			"symbol, or NCCL reports an unexpected version.",
		.remedy =
			"Uninstall both, then install the one for the CUDA release of PyTorch. To uninstall one alone "
			"removes the file of the other.",
		.activation = ACTIVATION_NEW_JOBS,
		.in_container_image = true,
		.reads =
			"The names of nvidia_nccl_cu*.dist-info and nvidia_nvshmem_cu*.dist-info in the folders of "
			"Python packages: the system's, those of the process's virtual environment, and its user's.",
		.why = "The wheels for CUDA 11, 12 and 13 have different names, so pip keeps them side by side. Their "
		       "library has one path. Wheels in different environments do not conflict.",
		.check = "pip list | grep -E 'nvidia-(nccl|nvshmem)'; strings "
			 "SITE-PACKAGES/nvidia/nccl/lib/libnccl.so.2 | grep 'NCCL version'",
		.sources =
			"PyTorch 00c7a38 (main): .ci/manywheel/build_cuda.sh, CUDA_RPATHS (nvidia/nccl/lib, nvidia/nvshmem/lib)\n"
			"github.com/pytorch/pytorch issue 186591\n"
			"github.com/rwth-i6/returnn issue 1802",
	},
};

RULE_TABLE(software_doubles);
