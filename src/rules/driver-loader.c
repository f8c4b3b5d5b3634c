/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-loader.c - whether programs get the driver's own libcuda (rules driver/...). */
#include <string.h>

#include "evaluate/skip.h"
#include "parse/nvidia.h"

static bool is_compat(struct fact_str path)
{
	return is_known(path) && strstr(path.value, "/compat/");
}

static void check_libcuda(struct rule_context *ctx)
{
	const struct software_facts *software = &ctx->node->software;
	const char *driver = ctx->node->driver.version.value;

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	if (is_unknown(software->libcuda) || is_unknown(software->libcuda_version))
		UNKNOWN(ctx, .evidence = { "software.libcuda" });
	else if (is_absent(software->libcuda))
		NOT_APPLICABLE(ctx, .observed = "the dynamic loader finds no libcuda.so.1",
			       .evidence = { "software.libcuda" });
	else if (is_absent(software->libcuda_version))
		UNKNOWN(ctx,
			.observed = text_printf(ctx, "%s does not tell its version",
						software->libcuda.value),
			.evidence = { "software.libcuda" });
	else if (is_compat(software->libcuda) &&
		 version_compare(software->libcuda_version.value, driver) < 0)
		FAIL(ctx,
		     .observed = text_printf(ctx, "the loader gives programs %s of %s, driver %s",
					     software->libcuda.value,
					     software->libcuda_version.value, driver),
		     .expected = "the driver's own libcuda, or a newer one for compatibility",
		     .evidence = { "software.libcuda", "software.libcuda_version",
				   "driver.version" });
	else
		PASS(ctx, .observed = software->libcuda.value,
		     .evidence = { "software.libcuda", "driver.version" });
}

static const struct rule driver_loader_rules[] = {
	{
		.id = "driver/compat-libcuda-older",
		.title = "CUDA does not start: programs get an older libcuda than the driver's",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_libcuda,
		.impact =
			"cuInit fails: error 803, \"system has unsupported display driver / cuda driver "
			"combination\".",
		.remedy =
			"Take the folder compat out of LD_LIBRARY_PATH and /etc/ld.so.conf.d (then ldconfig), or "
			"remove the package cuda-compat: it is for drivers older than itself.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"LD_LIBRARY_PATH of the process that is asked about, /etc/ld.so.cache (without one "
			"/etc/ld.so.conf), the loader's own folders, and where the links of libcuda.so.1 lead.",
		.why = "cuda-compat brings a newer libcuda to an older driver. When the driver is updated past it, the "
		       "same folder puts an older libcuda before the driver's. Whether a newer one is right, "
		       "driver/too-old-for-cuda says.",
		.check =
			"ldconfig -p | grep libcuda.so.1; echo $LD_LIBRARY_PATH; cat /sys/module/nvidia/version",
		.sources =
			"ld.so(8)\n"
			"github.com/espressomd/espresso pull 4090\n"
			"NVIDIA Container Toolkit 1.20: cmd/nvidia-cdi-hook/cudacompat/cudacompat.go",
	},
};

RULE_TABLE(driver_loader);
