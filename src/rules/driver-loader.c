/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-loader.c - whether programs get the driver's own libcuda (rules driver/...). */
#include <string.h>

#include "evaluate/skip.h"
#include "parse/nvidia.h"
#include "query/driver-files.h"

static bool is_compat(struct fact_str path)
{
	return is_known(path) && strstr(path.value, "/compat/");
}

/* The compatibility library may be newer than the driver, the driver's own not. If the node has no library of the
 * driver's version at all, driver/library-mismatch reports it. */
static bool is_wrong(const struct node *node)
{
	const struct software_facts *software = &node->software;
	int order = version_compare(software->libcuda_version.value, node->driver.version.value);

	return is_compat(software->libcuda) ? order < 0 : order && driver_libraries(node).same;
}

static void check_libcuda(struct rule_context *ctx)
{
	const struct software_facts *software = &ctx->node->software;
	const char *driver = ctx->node->driver.version.value;

	if (skip_unless_for_gpus(ctx) || skip_without_driver(ctx))
		return;
	if (is_unknown(software->libcuda) || is_unknown(software->libcuda_version))
		UNKNOWN(ctx, .evidence = { "software.libcuda" });
	else if (is_absent(software->libcuda))
		NOT_APPLICABLE(ctx, .observed = "the dynamic loader finds no libcuda.so.1",
			       .evidence = { "software.libcuda" });
	else if (is_absent(software->libcuda_version))
		UNKNOWN(ctx,
			.observed = text_printf(ctx, "the name of %s has no version",
						software->libcuda.value),
			.evidence = { "software.libcuda" });
	else if (is_wrong(ctx->node))
		FAIL(ctx,
		     .observed = text_printf(ctx, "programs load %s of %s; the driver is %s",
					     software->libcuda.value,
					     software->libcuda_version.value, driver),
		     .expected = is_compat(software->libcuda)
					 ? "the driver's own libcuda, or a newer one"
					 : "the driver's own libcuda",
		     .remedy =
			     is_compat(software->libcuda)
				     ? NULL
				     : text_printf(
					       ctx,
					       "Remove %s: in a container from the image, else with its "
					       "package. Then run ldconfig.",
					       software->libcuda.value),
		     .evidence = { "software.libcuda", "software.libcuda_version",
				   "driver.version" });
	else
		PASS(ctx, .observed = software->libcuda.value,
		     .evidence = { "software.libcuda", "driver.version" });
}

static const struct rule driver_loader_rules[] = {
	{
		.id = "driver/compat-libcuda-older",
		.title = "CUDA does not start: programs get a libcuda that does not fit the driver",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_libcuda,
		.impact =
			"cuInit fails with error 803: \"system has unsupported display driver / cuda driver "
			"combination\".",
		.remedy =
			"Remove the compat folder from LD_LIBRARY_PATH and from /etc/ld.so.conf.d, then run "
			"ldconfig. Or remove the package cuda-compat.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"LD_LIBRARY_PATH of the process, /etc/ld.so.cache (or /etc/ld.so.conf), the loader's "
			"own folders, and the targets of the links libcuda.so.1.",
		.why = "An image can bring the driver's libraries of another version, and the host's lie beside "
		       "them. cuda-compat brings a newer libcuda to an older driver. After a driver update the "
		       "same folder puts an older libcuda before the driver's own. driver/too-old-for-cuda "
		       "reports whether a newer one helps.",
		.check = "ldconfig -p | grep libcuda.so.1; echo $LD_LIBRARY_PATH; cat "
			 "/sys/module/nvidia/version",
		.sources =
			"ld.so(8) of man-pages 6.9\n"
			"github.com/espressomd/espresso pull 4090\n"
			"NVIDIA Container Toolkit 1.20.0: cmd/nvidia-cdi-hook/cudacompat/cudacompat.go",
	},
};

RULE_TABLE(driver_loader);
