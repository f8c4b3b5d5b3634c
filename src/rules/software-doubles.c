/* SPDX-License-Identifier: GPL-2.0-or-later */
/* software-doubles.c - two packages that own one library file (rule software/wheels-share-files). */
#include <string.h>

#include "base/array.h"
#include "base/span.h"
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
		if (strncmp(base_name(item), shared[i].project, strlen(shared[i].project)) == 0)
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

/* Two projects of one folder that install the same files. */
static bool share(const struct software_item *a, const struct software_item *b)
{
	return shared_of(a) && shared_of(a) == shared_of(b) &&
	       folder_length(a) == folder_length(b) &&
	       strncmp(a->path.value, b->path.value, folder_length(a)) == 0 &&
	       (project_length(a) != project_length(b) ||
		strncmp(base_name(a), base_name(b), project_length(a)) != 0);
}

static const char *version_text(const struct software_item *item)
{
	return is_known(item->version) ? item->version.value : "of an unknown version";
}

static const char *fact_of(struct rule_context *ctx, const struct software_item *item)
{
	return fact_path(ctx->arena, "software.items", item->path.value, "version");
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
	     .evidence = { fact_of(ctx, a), fact_of(ctx, b) });
}

static void check_wheels(struct rule_context *ctx)
{
	const struct software_facts *software = &ctx->node->software;
	size_t before = ctx->findings->count, wheels = 0;

	for_each(a, &software->items) {
		if (!shared_of(a))
			continue;
		wheels++;
		for_each(b, &software->items)
			if (b > a && share(a, b) && !rule_has_answered(ctx, a->path.value))
				fail_pair(ctx, a, b);
	}
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
