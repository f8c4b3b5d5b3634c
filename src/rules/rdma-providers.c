/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdma-providers.c - the user-space half of RDMA (rules rdma/...). */
#include <string.h>

#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/container-runtime.h"
#include "query/distribution.h"
#include "query/peermem.h"
#include "query/ports.h"

/* rdma-core 34: ibv_reg_dmabuf_mr in libibverbs (debian/libibverbs1.symbols, IBVERBS_1.12). */
#define CORE_DMABUF 34
/* NCCL's documentation of the device API: GIN, which came with NCCL 2.28.7. */
#define CORE_GIN 44
#define NCCL_GIN "2.28.7"

static bool has_provider(const struct node *node, const char *name)
{
	for (uint32_t i = 0; i < node->rdma.providers.count; i++)
		if (strcmp(node->rdma.providers.items[i], name) == 0)
			return true;
	return false;
}

/* libibverbs is 1.14.RELEASE.0 of rdma-core's RELEASE; a package's version is RELEASE.0. */
static bool core_release(const char *version, uint64_t *release)
{
	struct span rest = span_of(version), part;

	if (!span_cut(&rest, '.', &part))
		return false;
	if (span_is(part, "1") && (!span_cut(&rest, '.', &part) || !span_cut(&rest, '.', &part)))
		return false;
	return span_u64(part, 10, release) == 0;
}

/* Why programs need no DMA-BUF here; NULL: they need it. */
static const char *needs_no_dmabuf(const struct node *node)
{
	if (node_module(node, "nvidia_peermem"))
		return "nvidia_peermem is loaded";
	if (node_module(node, "nv_peer_mem"))
		return "nv_peer_mem is loaded";
	if (known_is(node->driver.flavour, FLAVOUR_PROPRIETARY))
		return "the proprietary kernel modules export none either";
	return known_is(node->driver.loaded, false) ? "no NVIDIA driver is loaded that exports any"
						    : NULL;
}

/* DeepEP 1 uses NVSHMEM, and DeepEP 2 GIN. */
static bool uses_gin(const struct rule_context *ctx)
{
	const struct software_item *deepep = node_software(ctx->node, "deepep");

	return is_asked_for(ctx, PROFILE_NCCL_GIN) ||
	       (is_asked_for(ctx, PROFILE_DEEPEP) &&
		!(deepep && is_known(deepep->version) &&
		  version_compare(deepep->version.value, "2") < 0));
}

/* The kernel's half is missing too: NULL, or why. */
static const char *kernel_reason(struct rule_context *ctx)
{
	const char *why = NULL;

	return kernel_lacks_dmabuf(ctx->node) &&
			       dmabuf_path(ctx->node, ctx->arena, &why) == DMABUF_NO
		       ? why
		       : NULL;
}

static void fail_dmabuf(struct rule_context *ctx, const struct software_item *core,
			uint64_t release, const char *evidence)
{
	const char *why = kernel_reason(ctx);

	FAIL_AS(ctx, SEVERITY_WARN,
		.observed = text_printf(ctx, "libibverbs %s (rdma-core %llu)%s%s",
					core->version.value, (unsigned long long)release,
					why ? "; " : "", why ? why : ""),
		.expected = why ? "kernel 5.12 and rdma-core 34 or later, for DMA-BUF"
				: "rdma-core 34 or later, for DMA-BUF",
		.impact =
			"Programs find the RDMA devices, and cannot register GPU memory by DMA-BUF.",
		.remedy =
			why ? "Boot a kernel of 5.12 or later and upgrade rdma-core to 34 or later: one of them alone "
			      "does not help. Or install MLNX_OFED or DOCA-OFED and load nvidia_peermem."
			    : "Upgrade rdma-core to 34 or later, or load nvidia_peermem.",
		.evidence = { evidence, why ? "os.kernel" : NULL });
}

static void check_too_old(struct rule_context *ctx)
{
	const struct software_item *core = node_software(ctx->node, "libibverbs");
	const struct software_item *nccl = node_software(ctx->node, "nccl");
	bool gin = uses_gin(ctx) && nccl && version_compare(nccl->version.value, NCCL_GIN) >= 0;
	const char *evidence = core ? software_version_fact(ctx->arena, core) : NULL;
	uint64_t release;

	if (skip_without_rdma_device(ctx) || (!core && skip_unless_software_whole(ctx)))
		return;
	if (!core)
		NOT_APPLICABLE(ctx, .observed = "no libibverbs was found on this node",
			       .evidence = { "software.items" });
	else if (!core_release(core->version.value, &release))
		UNKNOWN(ctx,
			.observed = text_printf(ctx,
						"libibverbs %s: rdma-core's release is not known",
						core->version.value),
			.evidence = { evidence });
	else if (release < CORE_DMABUF && !was_read(ctx->node->modules.loaded))
		UNKNOWN(ctx, .evidence = { "modules.loaded" });
	else if (release < CORE_DMABUF && needs_no_dmabuf(ctx->node))
		NOTE(ctx,
		     .observed = text_printf(ctx,
					     "libibverbs %s (rdma-core %llu) has no DMA-BUF; %s",
					     core->version.value, (unsigned long long)release,
					     needs_no_dmabuf(ctx->node)),
		     .evidence = { evidence, "driver.flavour", "modules.loaded" });
	else if (release < CORE_DMABUF)
		fail_dmabuf(ctx, core, release, evidence);
	else if (gin && release < CORE_GIN)
		FAIL_AS(ctx, SEVERITY_WARN,
			.title =
				"NCCL's GPU-initiated networking (GIN) does not start: libibverbs is too old",
			.observed = text_printf(ctx, "libibverbs %s (rdma-core %llu), NCCL %s",
						core->version.value, (unsigned long long)release,
						nccl->version.value),
			.expected = "rdma-core 44 or later, for NCCL GIN",
			.impact = "NCCL's GPU-initiated networking (GIN) does not start.",
			.remedy = "Upgrade rdma-core to 44 or later where the job runs.",
			.evidence = { evidence, software_version_fact(ctx->arena, nccl) });
	else
		PASS(ctx, .evidence = { evidence });
}

/* The libibverbs that programs get reads PREFIX/etc/libibverbs.d: "", or that of a build below /usr/local or /opt. */
static const char *prefix_of_verbs(struct rule_context *ctx)
{
	const struct fact_str *verbs = &ctx->node->libraries.verbs;
	const char *lib = is_known(*verbs) ? strstr(verbs->value, "/lib") : NULL;

	return lib && (str_starts(*verbs, "/usr/local/") || str_starts(*verbs, "/opt/"))
		       ? text_printf(ctx, "%.*s", (int)(lib - verbs->value), verbs->value)
		       : "";
}

/* Another prefix has a driver line for it. */
static const struct unread_provider *unread_provider(const struct node *node, const char *provider)
{
	for_each(p, &node->rdma.unread_providers)
		if (str_is(p->name, provider))
			return p;
	return NULL;
}

/* Programs get the libibverbs of one prefix, and the driver was installed below another. */
static const char *remedy_other_prefix(struct rule_context *ctx,
				       const struct unread_provider *other, const char *prefix)
{
	const char *path = other->path.value, *etc = strstr(path, "/etc/");

	return text_printf(
		ctx,
		"Install the driver where this libibverbs looks for it, with the files in "
		"%s/etc/libibverbs.d. Or install libibverbs below %.*s too, and name its folder "
		"in /etc/ld.so.conf.d before the others.",
		prefix, etc && etc > path ? (int)(etc - path) : 4,
		etc && etc > path ? path : "/usr");
}

static const char *named_elsewhere(struct rule_context *ctx, const struct unread_provider *other,
				   const char *prefix)
{
	const struct fact_str *verbs = &ctx->node->libraries.verbs;

	return text_printf(
		ctx, "; %s names it, and libibverbs (%s) reads %s/etc/libibverbs.d alone",
		other->path.value, is_known(*verbs) ? verbs->value : "that of the system", prefix);
}

/* The library beside libibverbs: nothing in libibverbs.d names it. */
static const char *unnamed_library(struct rule_context *ctx, const char *provider)
{
	for_each(f, &ctx->node->libraries.verbs_providers)
		if (str_is(f->name, provider))
			return text_printf(ctx,
					   "; %s is there, and no file in libibverbs.d names it",
					   f->path.value);
	return "";
}

static void check_missing(struct rule_context *ctx, const struct rdma_device *d,
			  const char *provider)
{
	static const struct package_names package = { "ibverbs-providers", "libibverbs",
						      "rdma-core", "rdma-core" };
	const char *runtime = NULL, *prefix = prefix_of_verbs(ctx);
	const struct unread_provider *other = unread_provider(ctx->node, provider);
	const char *unnamed = other ? named_elsewhere(ctx, other, prefix)
				    : unnamed_library(ctx, provider);
	bool containers = node_runs_containers(ctx->node, &runtime);

	/* Pods bring their own libraries. */
	if (node_is(ctx->node, KIND_KUBERNETES) && !node_may_be(ctx->node, KIND_SLURM)) {
		NOTE(ctx, .subject = d->name.value,
		     .observed = text_printf(
			     ctx,
			     "no provider \"%s\" on the node: pods need it in their image, and "
			     "programs outside of pods cannot use the device",
			     provider),
		     .evidence = { "rdma.providers", "kinds[kubernetes].is" });
		return;
	}
	FAIL_AS(ctx, containers ? SEVERITY_WARN : SEVERITY_ERR, .subject = d->name.value,
		.observed =
			is_absent(ctx->node->rdma.providers)
				? text_printf(ctx, "%s/etc/libibverbs.d does not exist%s", prefix,
					      *unnamed ? unnamed : ": no provider is installed")
				: text_printf(
					  ctx,
					  "no provider \"%s\" for a device with the driver %s%s%s%s",
					  provider, d->driver.value, *prefix ? ", in " : "",
					  *prefix ? text_printf(ctx, "%s/etc/libibverbs.d", prefix)
						  : "",
					  unnamed),
		.expected =
			containers
				? text_printf(
					  ctx,
					  "lib%s, unless all jobs run in containers that have it (%s "
					  "runs)",
					  provider, runtime)
				: text_printf(ctx, "lib%s, named in /etc/libibverbs.d", provider),
		.remedy = other ? remedy_other_prefix(ctx, other, prefix) : NULL,
		.command = other ? NULL : shell_install(ctx->arena, ctx->node, &package),
		.evidence = { "rdma.providers",
			      fact_path(ctx->arena, "rdma.devices", d->name.value, "driver"),
			      other ? fact_path(ctx->arena, "rdma.unread_providers",
						other->path.value, "name")
				    : NULL });
}

/* Programs use usNIC through libfabric, whose provider usnic needs no libibverbs. Programs that ask libibverbs or librdmacm
 * for all devices fail. */
static void check_usnic(struct rule_context *ctx, const struct rdma_device *d)
{
	FAIL_AS(ctx, SEVERITY_WARN, .subject = d->name.value,
		.observed =
			"a usNIC device, for which libibverbs has no provider (usnic_verbs): Cisco no "
			"longer ships one",
		.expected = "libusnic_verbs, or programs that use libfabric's provider usnic",
		.impact =
			"libibverbs warns (\"no userspace device-specific driver found\"), librdmacm ends with \"no "
			"RDMA devices found\", and older releases of libfabric find no provider at all. "
			"libfabric's own provider usnic works.",
		.remedy =
			"Start jobs with FI_PROVIDER=usnic, and use a newer libfabric. Cisco's libusnic_verbs, "
			"a provider that does nothing, ends the warnings of libibverbs.",
		.evidence = { "rdma.providers",
			      fact_path(ctx->arena, "rdma.devices", d->name.value, "driver") });
}

/* The provider is installed, and libibverbs skipped it: it is of another release than the kernel's driver. */
static void check_refused(struct rule_context *ctx, const struct rdma_device *d,
			  const char *provider)
{
	FAIL(ctx, .subject = d->name.value,
	     .observed = text_printf(
		     ctx,
		     "libibverbs does not offer the device: lib%s does not match the kernel's %s",
		     provider, d->driver.value),
	     .expected = text_printf(ctx, "lib%s of the same release as the kernel's driver",
				     provider),
	     .remedy =
		     "Install the user-space driver that belongs to the kernel's driver: the maker's package if the "
		     "kernel module is the maker's. If the job runs in a container, install it there. ibv_devices "
		     "names both versions.",
	     .evidence = { fact_path(ctx->arena, "rdma.devices", d->name.value, "offered"),
			   "rdma.providers" });
}

static void check_provider(struct rule_context *ctx)
{
	size_t before, unknown = 0;

	if (skip_without_rdma_device(ctx) || skip_without_rdma_programs(ctx))
		return;
	if (!was_read(ctx->node->rdma.providers)) {
		UNKNOWN(ctx, .evidence = { "rdma.providers" });
		return;
	}
	before = ctx->findings->count;
	for_each(d, &ctx->node->rdma.devices) {
		const char *provider = verbs_provider_of(d);

		if (!provider)
			unknown++;
		else if (is_usnic(d) && !has_provider(ctx->node, provider))
			check_usnic(ctx, d);
		else if (!has_provider(ctx->node, provider))
			check_missing(ctx, d, provider);
		else if (known_is(d->offered, false))
			check_refused(ctx, d, provider);
	}
	if (ctx->findings->count > before)
		return;
	if (unknown == ctx->node->rdma.devices.count)
		UNKNOWN(ctx, .observed = "the provider that the devices need is not known",
			.evidence = { "rdma.devices" });
	else
		PASS(ctx, .evidence = { "rdma.providers" });
}

static const struct verbs_provider_file *find_file(const struct node *node, const char *name,
						   uint64_t abi)
{
	const struct verbs_provider_file *other = NULL;

	for_each(f, &node->libraries.verbs_providers)
		if (str_is(f->name, name)) {
			other = f;
			if (known_is(f->abi, abi))
				break;
		}
	return other;
}

static void check_abi(struct rule_context *ctx, const struct rdma_device *device, const char *name)
{
	const struct libraries_facts *libraries = &ctx->node->libraries;
	uint64_t abi = libraries->verbs_abi.value;
	const struct verbs_provider_file *file = find_file(ctx->node, name, abi);
	const char *runtime;

	if (!file || known_is(file->abi, abi))
		return;
	if (!is_known(file->abi)) {
		UNKNOWN(ctx, .subject = device->name.value,
			.evidence = { fact_path(ctx->arena, "libraries.verbs_providers",
						file->path.value, "abi") });
		return;
	}
	FAIL_AS(ctx, node_runs_containers(ctx->node, &runtime) ? SEVERITY_WARN : SEVERITY_ERR,
		.subject = device->name.value,
		.observed =
			text_printf(ctx,
				    "%s is for the private interface %llu of libibverbs; programs "
				    "get %s, which has %llu",
				    file->path.value, (unsigned long long)file->abi.value,
				    libraries->verbs.value, (unsigned long long)abi),
		.expected = text_printf(ctx, "lib%s-rdmav%llu.so", name, (unsigned long long)abi),
		.evidence = { "libraries.verbs_abi",
			      fact_path(ctx->arena, "libraries.verbs_providers", file->path.value,
					"abi") });
}

static void check_release(struct rule_context *ctx)
{
	const struct libraries_facts *libraries = &ctx->node->libraries;
	size_t before = ctx->findings->count;

	if (skip_without_rdma_device(ctx))
		return;
	if (is_absent(libraries->verbs))
		NOT_APPLICABLE(ctx, .observed = "programs get no libibverbs.so.1 on this node",
			       .evidence = { "libraries.verbs" });
	else if (!is_known(libraries->verbs_abi))
		UNKNOWN(ctx,
			.observed =
				is_absent(libraries->verbs_abi)
					? "libibverbs does not say which private interface it has"
					: NULL,
			.evidence = { is_known(libraries->verbs) ? "libraries.verbs_abi"
								 : "libraries.verbs" });
	else if (is_unknown(libraries->verbs_providers))
		UNKNOWN(ctx, .evidence = { "libraries.verbs_providers" });
	else {
		for_each(d, &ctx->node->rdma.devices)
			if (verbs_provider_of(d))
				check_abi(ctx, d, verbs_provider_of(d));
		if (ctx->findings->count == before)
			PASS(ctx,
			     .evidence = { "libraries.verbs_abi", "libraries.verbs_providers" });
	}
}

static const struct rule rdma_providers_rules[] = {
	{
		.id = "rdma/provider-other-release",
		.title =
			"Programs find no RDMA device: libibverbs and its driver are of two releases",
		.is_short_effect = true,
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_release,
		.impact =
			"libibverbs does not open the driver. NCCL, UCX and NVSHMEM find no RDMA device.",
		.remedy =
			"Install libibverbs and its providers from one release of rdma-core or of OFED. Remove the "
			"other copy of libibverbs from the library path, then run ldconfig.",
		.activation = ACTIVATION_NEW_JOBS,
		.in_container_image = true,
		.reads =
			"The libibverbs.so.1 that programs get, its symbol version IBVERBS_PRIVATE_<number>, and the names "
			"lib<provider>-rdmav<number>.so in the folder libibverbs beside it.",
		.why = "libibverbs opens only providers with the number of its own private interface: 34 in rdma-core 34 to "
		       "56, 57 in 57 and 58, 59 in 59 to 63, 64 in 64. A partial upgrade, OFED over the "
		       "distribution's packages or a build in /usr/local mixes two releases.",
		.check =
			"ibv_devices; ls /usr/lib*/libibverbs /usr/lib/*/libibverbs; ldconfig -p | grep libibverbs",
		.sources =
			"rdma-core 64: CMakeLists.txt (IBVERBS_PABI_VERSION), libibverbs/dynamic_driver.c "
			"(load_driver), debian/libibverbs1.symbols",
	},
	{
		.id = "rdma/userspace-provider-missing",
		.title = "Programs find no RDMA device: libibverbs has no driver for it",
		.is_short_effect = true,
		.profiles = PROFILE_RDMA_ANY,
		.used_variables = USED_BY_RDMA_JOBS,
		.severity = SEVERITY_ERR,
		.evaluate = check_provider,
		.impact = "Programs find no RDMA device (\"No IB devices found\").",
		.remedy =
			"Install the user-space RDMA drivers where the job runs: on the host, or in its container.",
		.activation = ACTIVATION_NOW,
		.in_container_image = true,
		.follows = { "rdma/provider-other-release" },
		.reads =
			"/etc/libibverbs.d and the libraries that it names; on a live host the devices that "
			"libibverbs offers.",
		.why = "A device of the kernel can be used only with its maker's library. A host whose jobs all run in "
		       "containers does not need it, so the finding is a warning if a container runtime runs. A library of "
		       "another release than the kernel's driver (\"does not support the kernel ABI\") offers no "
		       "device. Only a live host shows that. Without programs that use RDMA the rule does not apply: NVMe, NFS and "
		       "Lustre use it in the kernel. For usNIC it is a warning, because libfabric uses it without libibverbs.",
		.check =
			"ibv_devices; ls /etc/libibverbs.d /usr/lib64/libibverbs /usr/lib/*/libibverbs",
		.sources =
			"rdma-core 64: libibverbs/dynamic_driver.c (load_driver), libibverbs/init.c (match_device)\n"
			"libibverbs of rdma-core 15: libibverbs/init.c (files of libibverbs.d, lib<name>-rdmav<number>.so)\n"
			"github.com/k8snetworkplumbingwg/sriov-cni issue 348; github.com/ofiwg/libfabric issue 975 and pull 978; "
			"github.com/open-mpi/ompi-release pull 939 (usNIC)",
	},
	{
		.id = "rdma/userspace-too-old",
		.title =
			"RDMA programs cannot register GPU memory by DMA-BUF: libibverbs is too old",
		.is_reason_name = true,
		.profiles = PROFILE_GPUDIRECT_ANY,
		.used_variables = USED_BY_RDMA_JOBS,
		.severity = SEVERITY_WARN,
		.evaluate = check_too_old,
		.impact =
			"Programs find the RDMA devices, and cannot register GPU memory by DMA-BUF. NCCL's "
			"GPU-initiated networking (GIN) does not start with rdma-core before 44.",
		.remedy = "Upgrade rdma-core where the job runs: on the host, or in its container.",
		.activation = ACTIVATION_NEW_JOBS,
		.in_container_image = true,
		.reads = "The version of libibverbs; NCCL on disk; the loaded modules.",
		.why = "rdma-core 34 has ibv_reg_dmabuf_mr. With nvidia_peermem loaded, programs do not need it, and the "
		       "proprietary kernel modules export no DMA-BUF. NCCL " NCCL_GIN
		       " and later needs rdma-core 44 for GIN, which is checked in the profiles nccl-gin "
		       "and deepep; DeepEP 1 uses NVSHMEM in its place. The kernel registers DMA-BUF from 5.12 on.",
		.check = "ls /usr/lib64/libibverbs.so.1.* /usr/lib/*/libibverbs.so.1.*",
		.sources = "rdma-core 64: debian/libibverbs1.symbols\n"
			   "NCCL 2.30.7: docs/userguide/source/usage/deviceapi.rst, Requirements",
	},
};

RULE_TABLE(rdma_providers);
