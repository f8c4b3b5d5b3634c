/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-cuda.c - installed CUDA releases and the loaded driver (rule driver/too-old-for-cuda). */
#include <string.h>

#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/cuda.h"
#include "query/driver-files.h"
#include "query/gpus.h"
#include "query/pci-device.h"

static bool older(const char *a, const char *b)
{
	return version_compare(a, b) < 0;
}

/* The release of a toolkit or runtime, or NULL for another piece of software or an unknown version. */
static const struct cuda_release *release_of(const struct software_item *item)
{
	const char *soname;

	if (!str_is(item->name, "cuda") && !str_is(item->name, "libcudart"))
		return NULL;
	if (is_known(item->version))
		return cuda_release(item->version.value);
	soname = strstr(item->path.value, ".so.");
	return soname ? cuda_release(soname + strlen(".so.")) : NULL;
}

static const struct software_item *newest_compat(const struct node *node)
{
	const struct software_item *newest = NULL;

	for_each(item, &node->software.items)
		if (driver_is_compat_library(item) &&
		    (!newest || older(newest->version.value, item->version.value)))
			newest = item;
	return newest;
}

/* Forward compatibility supports data-centre GPUs and some professional ones, and no GeForce. */
static bool all_geforce(const struct node *node)
{
	size_t gpus = 0;

	for_each(d, &node->pci.devices) {
		const struct gpu_model *model = gpu_model(d);

		if (!pci_is_gpu(d))
			continue;
		if (!model || model->kind != GPU_GEFORCE)
			return false;
		gpus++;
	}
	return gpus > 0;
}

/* Returns true if programs load libcuda from the compatibility folder. In CUDA's container images they do. */
static bool compat_in_use(const struct node *node)
{
	const char *path = node_env(node, "LD_LIBRARY_PATH");

	/* In a container the loader's cache can be older than the folder's entry in ld.so.conf.d. */
	return (path && strstr(path, "/compat")) || is_known(node->os.container) ||
	       (is_known(node->software.libcuda) &&
		strstr(node->software.libcuda.value, "/compat"));
}

struct newest {
	const struct software_item *item;
	const struct cuda_release *release;
	bool another_runs; /* an older release runs with this driver */
};

static struct newest newest_release(const struct node *node)
{
	struct newest n = { 0 };

	for_each(item, &node->software.items) {
		const struct cuda_release *r = release_of(item);

		if (!r)
			continue;
		n.another_runs |= !older(node->driver.version.value, r->minimum);
		if (!n.release || older(n.release->own, r->own)) {
			n.release = r;
			n.item = item;
		}
	}
	return n;
}

/* The driver is older than the release needs, and COMPAT is a libcuda that lifts the limit. */
static void check_forward(struct rule_context *ctx, const char *seen, const char *fact,
			  const struct software_item *compat)
{
	if (compat_in_use(ctx->node))
		PASS(ctx,
		     .observed = text_printf(ctx, "%s, with forward compatibility (%s)", seen,
					     compat->path.value),
		     .evidence = { fact, "driver.version" });
	else if (is_unknown(ctx->node->software.libcuda))
		UNKNOWN(ctx, .evidence = { "software.libcuda" });
	else
		FAIL_AS(ctx, SEVERITY_WARN,
			.observed = text_printf(ctx, "%s; %s helps, and no search path leads to it",
						seen, compat->path.value),
			.expected =
				"the folder of cuda-compat in LD_LIBRARY_PATH or /etc/ld.so.conf.d",
			.remedy =
				"Add the folder of cuda-compat to LD_LIBRARY_PATH of the jobs, or install "
				"a newer driver.",
			.activation = ACTIVATION_NEW_JOBS,
			.evidence = { fact, "driver.version", "software.libcuda" });
}

static void check_release(struct rule_context *ctx, const struct newest *n)
{
	const char *driver = ctx->node->driver.version.value;
	const struct software_item *compat = newest_compat(ctx->node);
	bool lifts = compat && !older(compat->version.value, n->release->minimum) &&
		     !all_geforce(ctx->node);
	const char *fact = software_version_fact(ctx->arena, n->item);
	const char *seen = text_printf(ctx, "CUDA %u.%u, driver %s", n->release->major,
				       n->release->minor, driver);

	if (!older(driver, n->release->own))
		PASS(ctx, .observed = seen, .evidence = { fact, "driver.version" });
	else if (!older(driver, n->release->minimum))
		NOTE(ctx,
		     .observed = text_printf(
			     ctx,
			     "%s: most programs run; PTX compiled at run time (error 222) "
			     "and new API need driver %s",
			     seen, n->release->own),
		     .evidence = { fact, "driver.version" });
	else if (lifts)
		check_forward(ctx, seen, fact, compat);
	else
		FAIL_AS(ctx, n->another_runs ? SEVERITY_WARN : SEVERITY_ERR, .observed = seen,
			.expected = text_printf(ctx, "driver %s or later", n->release->minimum),
			.remedy = text_printf(ctx,
					      "Install driver %s or later, or use an older CUDA.",
					      n->release->minimum),
			.evidence = { fact, "driver.version" });
}

static void check_too_old(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct software_item *compat = newest_compat(node);
	struct newest n;

	if (skip_unless_for_gpus(ctx) || skip_without_driver(ctx))
		return;
	if (!was_read(node->software.items)) {
		UNKNOWN(ctx, .evidence = { "software.items" });
		return;
	}
	n = newest_release(node);
	if (compat && all_geforce(node) && compat_in_use(node) &&
	    older(node->driver.version.value, compat->version.value))
		FAIL(ctx,
		     .observed = text_printf(
			     ctx, "driver %s, forward-compatibility libcuda %s on a GeForce",
			     node->driver.version.value, compat->version.value),
		     .expected = text_printf(ctx, "driver %s or later", compat->version.value),
		     .impact =
			     "CUDA does not start: \"forward compatibility was attempted on non supported "
			     "HW\" (804).",
		     .remedy = text_printf(ctx, "Install driver %s or later.",
					   compat->version.value),
		     .evidence = { software_version_fact(ctx->arena, compat), "driver.version" });
	else if (n.release)
		check_release(ctx, &n);
	else
		NOT_APPLICABLE(ctx, .observed = "no CUDA toolkit or runtime was found on this node",
			       .evidence = { "software.items" });
}

static const struct rule driver_cuda_rules[] = {
	{
		.id = "driver/too-old-for-cuda",
		.title = "CUDA programs do not start: the driver is older than this CUDA needs",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_too_old,
		.impact =
			"CUDA programs fail: \"CUDA driver version is insufficient for CUDA runtime version\" "
			"(35).",
		.remedy = "Install a newer driver, or use an older CUDA.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"version.json of CUDA toolkits, libcudart's file names and wheels, the compat folder,"
			" the search path of the dynamic loader, and the loaded driver's version. The newest CUDA counts.",
		.why = "Each CUDA release has an oldest driver; from 11.1 on it is the same for all releases"
		       " of a major version. With a driver below the one that a release came with most "
		       "programs run, and that is a note. On data-centre GPUs the package cuda-compat of the"
		       " newer CUDA lifts the limit, where programs find it. On GeForce it fails with error 804. A runtime that is "
		       "linked into a program is not visible here.",
		.check = "nvidia-smi | grep 'CUDA Version'; cat /usr/local/cuda/version.json",
		.sources =
			"CUDA Toolkit 13.3 Release Notes: tables of driver versions (CUDA minor version "
			"compatibility; toolkit driver version)\n"
			"NVIDIA CUDA Compatibility r580: Minor Version Compatibility, Forward Compatibility\n"
			"github.com/oobabooga/textgen issue 4407",
	},
};

RULE_TABLE(driver_cuda);
