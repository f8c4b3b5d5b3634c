/* SPDX-License-Identifier: GPL-2.0-or-later */
/* software-packages.c - packages that dpkg did not finish, and DCGM's packages for a CUDA release (rules
 * software/...). */
#include <stdlib.h>
#include <string.h>

#include "evaluate/skip.h"
#include "parse/nvidia.h"
#include "query/cuda.h"
#include "query/gpus.h"
#include "query/pci-device.h"

/* ---- software/package-unfinished ---- */

/* Nothing is wrong with one that waits for the triggers of another. */
static bool is_finished(const struct software_package *package)
{
	return str_is(package->state, "installed") || str_is(package->state, "triggers-awaited") ||
	       str_is(package->state, "triggers-pending");
}

static void fail_package(struct rule_context *ctx, const struct software_package *package)
{
	const char *name = package->name.value;
	bool builds = strstr(name, "dkms");

	FAIL(ctx, .subject = name,
	     .observed = text_printf(ctx, "dpkg left it %s%s", package->state.value,
				     known_is(package->held, true) ? ", and it is held" : ""),
	     .expected = "installed",
	     .remedy =
		     known_is(package->held, true)
			     ? text_printf(
				       ctx,
				       "Run apt-mark unhold %s, then dpkg --configure -a and apt-get -f "
				       "install. The first error of their output is the cause.",
				       name)
			     : NULL,
	     .follows = builds ? "modules/dkms-failed" : NULL,
	     .evidence = { fact_path(ctx->arena, "software.packages", name, "state") });
}

static void check_packages(struct rule_context *ctx)
{
	const struct software_facts *software = &ctx->node->software;
	size_t before = ctx->findings->count;

	if (is_unknown(software->packages)) {
		UNKNOWN(ctx, .evidence = { "software.packages" });
		return;
	}
	if (is_absent(software->packages)) {
		NOT_APPLICABLE(ctx, .observed = "dpkg does not manage this node",
			       .evidence = { "software.packages" });
		return;
	}
	for_each(package, &software->packages)
		if (!is_known(package->state))
			UNKNOWN(ctx, .subject = package->name.value,
				.evidence = { fact_path(ctx->arena, "software.packages",
							package->name.value, "state") });
		else if (!is_finished(package))
			fail_package(ctx, package);
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "software.packages" });
}

/* ---- software/dcgm-cuda ---- */

/* CUDA 13 has no code for GPUs before Turing: for those DCGM uses its diagnostics for CUDA 12. 0: not known. */
static unsigned int cuda_of_diagnostics(const struct node *node)
{
	unsigned int major = cuda_major_of_driver(node->driver.version.value);

	if (major != 13)
		return major;
	if (!was_read(node->pci.devices))
		return 0;
	for_each(d, &node->pci.devices)
		if (pci_is_gpu(d) && gpu_is_before_turing(d))
			return 12;
	return major;
}

static void check_dcgm(struct rule_context *ctx)
{
	const struct software_item *other = NULL;
	unsigned int wanted;

	if (skip_without_driver(ctx))
		return;
	wanted = cuda_of_diagnostics(ctx->node);
	if (!wanted) {
		UNKNOWN(ctx, .evidence = { "driver.version", "pci.devices" });
		return;
	}
	for_each(item, &ctx->node->software.items) {
		const char *fact = software_version_fact(ctx->arena, item);

		if (!str_is(item->name, "dcgm-cuda") || !is_known(item->version))
			continue;
		if (strtoul(item->version.value, NULL, 10) == wanted) {
			PASS(ctx, .evidence = { fact, "driver.version" });
			return;
		}
		other = item;
	}
	if (other)
		FAIL(ctx,
		     .observed = text_printf(
			     ctx,
			     "DCGM's diagnostics are for CUDA %s, and with driver %s it uses those for CUDA %u",
			     other->version.value, ctx->node->driver.version.value, wanted),
		     .expected = text_printf(ctx, "diagnostics for CUDA %u", wanted),
		     .remedy = text_printf(
			     ctx,
			     "Install datacenter-gpu-manager-4-cuda%u, then restart nvidia-dcgm. "
			     "Packages for CUDA 13 exist from DCGM 4.4.0 on.",
			     wanted),
		     .evidence = { software_version_fact(ctx->arena, other), "driver.version" });
	else if (!skip_unless_software_whole(ctx))
		NOT_APPLICABLE(ctx, .observed = "no diagnostics of DCGM 4 were found",
			       .evidence = { "software.items" });
}

static const struct rule software_packages_rules[] = {
	{
		.id = "software/dcgm-cuda",
		.title =
			"dcgmi diag fails: DCGM's diagnostics are for another CUDA release than the driver's",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_dcgm,
		.impact =
			"\"Cannot load plugins. Unable to change to the plugin dir\", or a test of the diagnostics cannot "
			"start its program. Health checks that use dcgmi diag fail.",
		.remedy = "Install DCGM's package for the CUDA release of the driver.",
		.activation = ACTIVATION_RESTART,
		.reads =
			"The folders of /usr/libexec/datacenter-gpu-manager-4/plugins, the version of the loaded driver, and the "
			"models of the GPUs.",
		.why = "DCGM 4 has a package of diagnostics for each CUDA release. It uses the one of the driver's release, "
		       "and with driver 580 that for CUDA 12 on GPUs before Turing. An "
		       "update of the driver to branch 580 changes it from 12 to 13, and the package stays.",
		.check = "ls /usr/libexec/datacenter-gpu-manager-4/plugins; nvidia-smi | head -4",
		.sources =
			"github.com/dsx-ai-factory/infra-controller: pull 384 (2026-02)\n"
			"DCGM 4.6.0: nvvs/include/TestFramework.inl, GetPluginCudaDirExtension() and "
			"GetCompatibleCudaMajorVersion(); nvvs/plugin_src/common/PluginCommon.cpp, GetDefaultSearchPaths()",
	},
	{
		.id = "software/package-unfinished",
		.title = "A package is only partly installed: dpkg stopped with an error",
		.is_reason_name = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_packages,
		.impact =
			"Its modules are not built, its service is not set up, or its files are of two versions. "
			"Further updates stop too.",
		.remedy =
			"Run dpkg --configure -a, then apt-get -f install, and read what it would remove before you confirm. The "
			"first error of their output is the cause.",
		.command = "sudo dpkg --configure -a\nsudo apt-get -f install",
		.activation = ACTIVATION_NOW,
		.reads =
			"/var/lib/dpkg/status: packages of the driver, CUDA, RDMA, container tools, DKMS and the kernel.",
		.why = "A package in the state unpacked, half-configured or half-installed did not run its last script. The "
		       "cause is often a module that does not build, a full disk or an interrupted update.",
		.check = "dpkg --audit",
		.sources = "dpkg(1) of dpkg 1.21.22: package states",
	},
};

RULE_TABLE(software_packages);
