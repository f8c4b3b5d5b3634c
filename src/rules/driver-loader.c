/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-loader.c - whether programs get the driver's own libcuda (rules driver/...). */
#include <string.h>

#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/distribution.h"
#include "query/driver-files.h"
#include "query/kind.h"

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

/* ---- none at all ---- */

/* The driver's own library of that name, which lies where the loader does not look. */
static const struct software_item *misplaced(const struct node *node, const char *name)
{
	for_each(item, &node->software.items)
		if (driver_is_library(item) && str_is(item->name, name) &&
		    str_is(item->version, node->driver.version.value))
			return item;
	return NULL;
}

/* Systems without packages keep the driver's libraries for containers elsewhere: Talos, COS, Bottlerocket, NixOS. A
 * container that was given no GPU has none on purpose. */
static bool is_without_on_purpose(const struct node *node)
{
	bool gpu = false;

	for_each(n, &node->dev.nodes)
		gpu |= str_is(n->path, "/dev/nvidiactl");
	return is_known(node->os.container) ? !gpu : distribution_of(node) == DISTRIBUTION_UNKNOWN;
}

/* Names the package that has libcuda, where it is known. Ubuntu's of 384 is libcuda1-384 (github.com/tensorflow/tensorflow
 * issue 4267), that of 390 libnvidia-compute-390 (source package nvidia-graphics-drivers-390). */
static const char *package_text(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *version = node->driver.version.value;
	int branch = (int)strcspn(version, ".");

	if (str_is(node->os.id, "debian"))
		return ": the packages libcuda1 and libnvidia-ml1";
	if (str_is(node->os.id, "ubuntu"))
		return text_printf(ctx, ": the package %s-%.*s",
				   version_compare(version, "390") < 0 ? "libcuda1"
								       : "libnvidia-compute",
				   branch, version);
	return distribution_of(node) == DISTRIBUTION_RHEL
		       ? ": the package nvidia-driver-cuda of NVIDIA's repository"
		       : "";
}

static const char *how_to_install(struct rule_context *ctx, const struct software_item *item)
{
	const char *version = ctx->node->driver.version.value;

	if (item)
		return text_printf(ctx,
				   "Add the folder of %s to /etc/ld.so.conf.d, then run ldconfig.",
				   item->path.value);
	if (is_known(ctx->node->os.container))
		return "Start the container with GPUs (--gpus, a CDI device, nvidia.com/gpu) and with "
		       "NVIDIA_DRIVER_CAPABILITIES=compute,utility.";
	return text_printf(
		ctx, "Install the driver's compute libraries in version %s%s. Then run ldconfig.",
		version, package_text(ctx));
}

static void fail_library(struct rule_context *ctx, const char *soname, const char *name,
			 const char *fact)
{
	const struct software_item *item = misplaced(ctx->node, name);
	bool purpose = is_without_on_purpose(ctx->node);
	const char *observed =
		item ? text_printf(ctx,
				   "the dynamic loader finds no %s; %s is in none of its folders",
				   soname, item->path.value)
		     : text_printf(ctx, "the driver %s is loaded, and there is no %s",
				   ctx->node->driver.version.value, soname);

	if (purpose)
		NOTE(ctx, .subject = soname, .observed = observed,
		     .evidence = { fact, "driver.version" });
	else
		FAIL(ctx, .subject = soname,
		     .title = text_printf(ctx, "%s: programs find no %s",
					  starts_with(soname, "libcuda") ? "CUDA does not start"
									 : "NVML does not start",
					  soname),
		     .observed = observed,
		     .expected = text_printf(ctx, "%s of version %s", soname,
					     ctx->node->driver.version.value),
		     .remedy = how_to_install(ctx, item), .evidence = { fact, "driver.version" });
}

static void check_libraries(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct software_facts *software = &node->software;

	if (skip_without_own_gpu(ctx) || skip_without_driver(ctx))
		return;
	if (is_unknown(software->libcuda) || is_unknown(software->libnvidia_ml))
		UNKNOWN(ctx,
			.evidence = { is_unknown(software->libcuda) ? "software.libcuda"
								    : "software.libnvidia_ml" });
	else if (is_known(software->libcuda) && is_known(software->libnvidia_ml))
		PASS(ctx, .evidence = { "software.libcuda", "software.libnvidia_ml" });
	else if (is_known(node->services.driver_container))
		NOT_APPLICABLE(ctx, .observed = "the driver's libraries are in a driver container",
			       .evidence = { "services.driver_container" });
	else if (node_is(node, KIND_VGPU_HOST))
		NOT_APPLICABLE(ctx, .observed = "a host of vGPUs, whose driver has no CUDA",
			       .evidence = { "software.libcuda" });
	else if (skip_unless_software_whole(ctx))
		return;
	else {
		if (is_absent(software->libcuda))
			fail_library(ctx, "libcuda.so.1", "libcuda", "software.libcuda");
		if (is_absent(software->libnvidia_ml))
			fail_library(ctx, "libnvidia-ml.so.1", "libnvidia-ml",
				     "software.libnvidia_ml");
	}
}

static const struct rule driver_loader_rules[] = {
	{
		.id = "driver/libraries-missing",
		.title = "CUDA does not start: programs find no libcuda or libnvidia-ml",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_libraries,
		.impact =
			"CUDA programs report \"CUDA driver version is insufficient for CUDA runtime version\" (error 35) or "
			"\"libcuda.so.1: cannot open shared object file\". nvidia-smi, NCCL and containers fail without libnvidia-ml.so.1.",
		.remedy =
			"Install the driver's compute libraries in the version of the loaded driver.",
		.activation = ACTIVATION_NEW_JOBS,
		.reads =
			"What the dynamic loader finds for libcuda.so.1 and libnvidia-ml.so.1: LD_LIBRARY_PATH, "
			"/etc/ld.so.cache (or ld.so.conf), its own folders; the libraries of the driver on disk.",
		.why = "The kernel modules and the libraries come in packages of their own. A \"headless\" or a "
		       "desktop selection of packages can lack the compute part. A folder that ldconfig does not know "
		       "is not searched. Driver containers, hosts of vGPUs, and systems without packages (Talos, COS, "
		       "Bottlerocket, NixOS) keep them elsewhere.",
		.check = "ldconfig -p | grep -E 'libcuda.so.1|libnvidia-ml.so.1'",
		.sources =
			"NVIDIA Driver Installation Guide r590: Compute-only and Desktop Installation\n"
			"CUDA 9.0: cuda_runtime_api.h, cudaGetDeviceCount()\n"
			"ld.so(8) of man-pages 6.9\n"
			"github.com/NVIDIA/libnvidia-container issue 8",
	},
	{
		.id = "driver/compat-libcuda-older",
		.title = "CUDA does not start: programs get a libcuda that does not fit the driver",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_libcuda,
		.impact =
			"With an older libcuda cuInit fails with error 803: \"system has unsupported display "
			"driver / cuda driver combination\". With a newer one it can fail with error 804.",
		.remedy =
			"Remove the compat folder from LD_LIBRARY_PATH and from /etc/ld.so.conf.d, then run "
			"ldconfig. Or remove the package cuda-compat.",
		.activation = ACTIVATION_NEW_JOBS,
		.in_container_image = true,
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
			"github.com/espressomd/espresso pull 4090; github.com/NVIDIA/nvidia-docker issue 1515\n"
			"NVIDIA Container Toolkit 1.20.0: cmd/nvidia-cdi-hook/cudacompat/cudacompat.go",
	},
};

RULE_TABLE(driver_loader);
