/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules-peermem-loaded.c - the loaded peer-memory module (rules modules/peermem-...): the only one of two, with the
 * driver's version, with parameters for this RDMA stack, and seen by the libraries. */
#include <string.h>

#include "base/array.h"
#include "base/shell.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/distribution.h"
#include "query/module-find.h"
#include "query/option-value.h"
#include "query/peermem.h"
#include "query/setting.h"

static bool skip_without_loaded(struct rule_context *ctx)
{
	if (skip_without_rdma(ctx) || skip_without_modules(ctx))
		return true;
	if (node_module(ctx->node, "nvidia_peermem"))
		return false;
	NOT_APPLICABLE(ctx, .observed = "nvidia_peermem is not loaded",
		       .evidence = { "modules.loaded" });
	return true;
}

/* ---- the other module ---- */

static bool skip_before_peermem(struct rule_context *ctx)
{
	struct fact_bool has = driver_has_peermem(ctx->node);

	if (known_is(has, true))
		return false;
	if (!is_known(has))
		UNKNOWN(ctx, .evidence = { "driver.version" });
	else
		NOT_APPLICABLE(
			ctx,
			.observed = text_printf(ctx,
						"driver %s has no nvidia-peermem (" PEERMEM_SINCE
						" is the first with it): nv_peer_mem is right",
						ctx->node->driver.version.value),
			.evidence = { "driver.version" });
	return true;
}

/* Its two packages on Debian, its one package elsewhere (nv_peer_memory: debian/control, .spec). */
static const struct package_names nv_peer_mem_packages = {
	.debian = "nvidia-peer-memory nvidia-peer-memory-dkms",
	.rhel = "nvidia_peer_memory",
	.suse = "nvidia_peer_memory",
};

static void fail_conflict(struct rule_context *ctx, enum severity severity, const char *observed,
			  const char *fact)
{
	const struct node *node = ctx->node;
	const char *remove = shell_remove(ctx->arena, node, &nv_peer_mem_packages);
	bool ready = module_file_running(node, "nvidia_peermem") || !was_read(node->modules.files);

	FAIL_AS(ctx, severity, .observed = observed, .expected = "nvidia_peermem only",
		.remedy = ready ? NULL
				: "Build nvidia-peermem for this kernel first. Then remove "
				  "nv_peer_mem and load nvidia-peermem.",
		.command = ready && remove
				   ? text_printf(ctx,
						 "sudo systemctl disable --now nv_peer_mem\n%s\n"
						 "sudo modprobe nvidia-peermem",
						 remove)
				   : NULL,
		.evidence = { fact });
}

static void check_conflict(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct service *service = node_service(node, "nv_peer_mem.service");

	if (skip_without_rdma(ctx) || skip_without_modules(ctx) || skip_before_peermem(ctx))
		return;
	if (node_module(node, "nv_peer_mem"))
		fail_conflict(ctx, is_asked_for(ctx, PROFILE_DEEPEP) ? SEVERITY_ERR : SEVERITY_WARN,
			      node_module(node, "nvidia_peermem")
				      ? "nv_peer_mem is loaded beside nvidia_peermem"
				      : "nv_peer_mem is loaded instead of nvidia_peermem",
			      "modules.loaded[nv_peer_mem].state");
	else if (service &&
		 (str_is(service->enabled, "enabled") || str_is(service->active, "active")))
		fail_conflict(ctx, SEVERITY_WARN, "nv_peer_mem.service is enabled",
			      "services.units[nv_peer_mem.service].enabled");
	else if (module_file_running(node, "nv_peer_mem"))
		fail_conflict(ctx, SEVERITY_WARN, "nv_peer_mem is installed beside nvidia_peermem",
			      "modules.files");
	else if (!skip_without_module_files(ctx))
		PASS(ctx, .evidence = { "modules.loaded", "modules.files" });
}

/* ---- what libraries look for ---- */

/* The first version that also looks at /sys/module/nvidia_peermem/version. */
static const struct {
	const char *item, *name, *since;
	const char *cause; /* the rule that asks for a newer release too; NULL: none */
} lookers[] = {
	{ "nvshmem", "NVSHMEM", "3.3.9", "software/nvshmem-version" },
	{ "nccl", "NCCL", "2.23.4" },
};

static const struct software_item *find_old(const struct node *node, const char *item,
					    const char *since)
{
	for_each(i, &node->software.items)
		if (str_is(i->name, item) && is_known(i->version) &&
		    version_compare(i->version.value, since) < 0)
			return i;
	return NULL;
}

static void answer_old(struct rule_context *ctx, const char *name, const char *since,
		       const char *cause, const struct software_item *old, bool needed)
{
	const char *version = software_version_fact(ctx->arena, old);

	if (!needed)
		UNKNOWN(ctx, .subject = name,
			.observed = text_printf(
				ctx,
				"%s %s does not see nvidia_peermem here; whether DMA-BUF "
				"works instead is not known",
				name, old->version.value),
			.evidence = { "driver.flavour", version });
	else
		FAIL_AS(ctx, SEVERITY_WARN, .subject = name,
			.observed = text_printf(
				ctx,
				"%s %s looks for /sys/kernel/mm/memory_peers only; this "
				"kernel has no such folder",
				name, old->version.value),
			.expected = text_printf(ctx, "%s %s or later", name, since),
			.remedy = text_printf(ctx, "Install %s %s or later.", name, since),
			.follows = cause, .evidence = { "rdma.memory_peers", version });
}

static void answer_no_folder(struct rule_context *ctx)
{
	const char *why;
	enum dmabuf path = dmabuf_path(ctx->node, ctx->arena, &why);
	size_t before = ctx->findings->count;

	/* Both libraries look for peer memory only where DMA-BUF does not work. */
	for (size_t i = 0; path != DMABUF_YES && i < ARRAY_SIZE(lookers); i++) {
		const struct software_item *old = find_old(ctx->node, lookers[i].item,
							   lookers[i].since);

		if (old)
			answer_old(ctx, lookers[i].name, lookers[i].since, lookers[i].cause, old,
				   path == DMABUF_NO);
	}
	if (ctx->findings->count > before)
		return;
	if (path != DMABUF_YES && !was_read(ctx->node->software.items))
		UNKNOWN(ctx, .evidence = { "software.items" });
	else
		NOTE(ctx,
		     .observed =
			     "/sys/kernel/mm/memory_peers is missing, and nvidia_peermem works without it",
		     .evidence = { "rdma.memory_peers" });
}

static void check_sysfs_absent(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	if (skip_without_loaded(ctx))
		return;
	if (is_unknown(node->rdma.memory_peers))
		UNKNOWN(ctx, .evidence = { "rdma.memory_peers" });
	else if (is_known(node->rdma.memory_peers) && node->rdma.memory_peers.count)
		PASS(ctx, .evidence = { "rdma.memory_peers" });
	else
		answer_no_folder(ctx);
}

/* ---- parameters ---- */

/* nvidia-peermem.c at the tags: persistent_api_support is new in 560.28.03. Before, both clients are registered. */
#define PERSISTENT_SINCE "560.28.03"
/* nv_peer_memory 1.3, README.md: 1.1 is the last for MLNX_OFED 4.9, later ones need 5.1 or newer. */
#define NEW_PEERDIRECT "5.1"

static bool is_peermem_param(const struct modprobe_assignment *a)
{
	return str_is(a->module, "nvidia_peermem") && (str_is(a->param, "peerdirect_support") ||
						       str_is(a->param, "persistent_api_support"));
}

/* Both parameters take 0 and 1. With another number the init function returns -EINVAL. */
static size_t check_configured(struct rule_context *ctx)
{
	size_t wrong = 0;

	for_each(a, &ctx->node->modprobe.assignments) {
		uint64_t value;

		if (!is_peermem_param(a) || !known_is(a->effective, true) || !is_known(a->value) ||
		    span_u64(span_of(a->value.value), 0, &value) || value <= 1)
			continue;
		wrong++;
		FAIL_AS(ctx, SEVERITY_ERR, .subject = a->param.value,
			.observed = text_printf(ctx, "%s sets %s=%s: nvidia-peermem does not load",
						assignment_place(ctx->arena, a), a->param.value,
						a->value.value),
			.expected = "0 or 1",
			.impact = "modprobe nvidia-peermem fails with \"Invalid argument\".",
			.remedy = text_printf(ctx,
					      "Remove the option in %s, then load nvidia-peermem.",
					      assignment_place(ctx->arena, a)),
			.activation = ACTIVATION_NOW,
			.evidence = {
				ITEM_FACT(ctx->arena, ctx->node, modprobe.assignments, a, value) });
	}
	return wrong;
}

static const struct module_param *find_param(const struct module *module, const char *name)
{
	for_each(p, &module->params)
		if (str_is(p->name, name))
			return p;
	return NULL;
}

static const char *param_fact(struct rule_context *ctx, const char *name)
{
	return text_printf(ctx, "modules.loaded[nvidia_peermem].params[%s].value", name);
}

static void fail_peerdirect(struct rule_context *ctx, const struct module_param *p,
			    const struct software_item *ofed, const char *right)
{
	FAIL(ctx, .subject = p->name.value,
	     .observed = text_printf(ctx, "%s, with MLNX_OFED %s", p->value.value,
				     ofed->version.value),
	     .expected = right,
	     .impact = *right == '0' ? "A process can hang in the kernel when it frees registered "
				       "GPU memory (lock inversion)."
				     : NULL,
	     .remedy = text_printf(ctx, "Set peerdirect_support=%s, then reload nvidia-peermem.",
				   right),
	     .command =
		     shell_printf(ctx->arena,
				  "echo 'options nvidia-peermem peerdirect_support=%s' | sudo tee "
				  "/etc/modprobe.d/zz-peermem.conf",
				  right),
	     .has_fix = true,
	     .fix = { "set-option", { "nvidia_peermem", "peerdirect_support", right } },
	     .evidence = { param_fact(ctx, p->name.value),
			   software_version_fact(ctx->arena, ofed) });
}

/* It counts for the legacy client only, which persistent_api_support=1 leaves out. */
static void check_peerdirect(struct rule_context *ctx, const struct module_param *p, bool legacy)
{
	const struct software_item *ofed = node_software(ctx->node, "ofed");
	bool on = str_is(p->value, "1");
	bool known = ofed && is_known(ofed->version);
	bool old = known && version_compare(ofed->version.value, NEW_PEERDIRECT) < 0;
	const char *fact = param_fact(ctx, p->name.value);

	if (!legacy && on)
		NOTE(ctx, .subject = p->name.value,
		     .observed = "1; it has no effect without persistent_api_support=0",
		     .evidence = { fact, param_fact(ctx, "persistent_api_support") });
	else if (!legacy)
		PASS(ctx, .subject = p->name.value, .evidence = { fact });
	else if (known && old != on)
		fail_peerdirect(ctx, p, ofed, old ? "1" : "0");
	else if (known)
		PASS(ctx, .subject = p->name.value, .evidence = { fact });
	else if (on && !ofed && known_is(ctx->node->software.complete, true))
		NOTE(ctx, .subject = p->name.value,
		     .observed = "1, which is for MLNX_OFED 4.9 and 5.0; no OFED was found",
		     .evidence = { fact, "software.items" });
	else if (on || ofed || !known_is(ctx->node->software.complete, true))
		UNKNOWN(ctx, .subject = p->name.value,
			.observed = "the version of OFED, on which the right value depends, is not "
				    "known",
			.evidence = { "software.items", fact });
	else
		PASS(ctx, .subject = p->name.value, .evidence = { fact });
}

static void check_params(struct rule_context *ctx)
{
	const struct module *module = node_module(ctx->node, "nvidia_peermem");
	const struct module_param *persistent, *peerdirect;

	if (skip_without_rdma(ctx) || check_configured(ctx) || skip_without_loaded(ctx))
		return;
	if (!is_known(module->params)) {
		UNKNOWN(ctx, .evidence = { "modules.loaded[nvidia_peermem].params" });
		return;
	}
	persistent = find_param(module, "persistent_api_support");
	peerdirect = find_param(module, "peerdirect_support");
	if (persistent && str_is(persistent->value, "0"))
		NOTE(ctx, .subject = persistent->name.value,
		     .observed = "0: the clients nv_mem (legacy) and nv_mem_nc are registered",
		     .evidence = { param_fact(ctx, persistent->name.value) });
	else if (persistent)
		PASS(ctx, .subject = persistent->name.value,
		     .evidence = { param_fact(ctx, persistent->name.value) });
	if (peerdirect)
		check_peerdirect(ctx, peerdirect, !persistent || str_is(persistent->value, "0"));
	else if (!persistent)
		NOT_APPLICABLE(ctx, .observed = "this nvidia-peermem has no parameters",
			       .evidence = { "modules.loaded[nvidia_peermem].params" });
}

static void check_version(struct rule_context *ctx)
{
	const struct module *module = node_module(ctx->node, "nvidia_peermem");
	const struct driver_facts *driver = &ctx->node->driver;

	if (skip_without_loaded(ctx))
		return;
	if (!is_known(module->version) || !is_known(driver->version))
		UNKNOWN(ctx, .evidence = { is_known(driver->version)
						   ? "modules.loaded[nvidia_peermem].version"
						   : "driver.version" });
	else if (str_is(module->version, driver->version.value))
		PASS(ctx, .evidence = { "modules.loaded[nvidia_peermem].version" });
	else
		FAIL(ctx,
		     .observed = text_printf(ctx, "nvidia_peermem is %s, the driver is %s",
					     module->version.value, driver->version.value),
		     .expected = "the same version",
		     .evidence = { "modules.loaded[nvidia_peermem].version", "driver.version" });
}

static const struct rule modules_peermem_loaded_rules[] = {
	{
		.id = "modules/peermem-conflict",
		.title = "nvidia_peermem cannot work: the old module nv_peer_mem is in its place",
		.is_short_effect = true,
		.profiles = PROFILE_GPUDIRECT_ANY,
		.used_modules = "nvidia_peermem nv_peer_mem",
		.severity = SEVERITY_ERR,
		.evaluate = check_conflict,
		.impact =
			"nvidia_peermem cannot register beside nv_peer_mem. NCCL GIN GDAKI does not support nv_peer_mem.",
		.remedy =
			"Stop and disable the nv_peer_mem service, remove its package, then load nvidia-peermem.",
		.fix = { "replace-nv-peer-mem" },
		.activation = ACTIVATION_NOW,
		.reads = "The loaded modules, the nv_peer_mem service, and nv_peer_mem.ko on disk.",
		.why = "Both modules register a client of the name nv_mem, and the RDMA stack takes one. nvidia-peermem, "
		       "a part of the driver since 470, replaces nv_peer_mem.",
		.check =
			"lsmod | grep -E 'nv_peer_mem|nvidia_peermem'; systemctl is-enabled nv_peer_mem",
		.cost = "No GPUDirect RDMA between the two steps. Do it while no job runs.",
		.is_risk = true,
		.ends_jobs = true,
		.sources =
			"NVIDIA driver README 525.147.05: chapter 42, GPUDirect RDMA Peer Memory Client\n"
			"github.com/Mellanox/nv_peer_memory 1.3: README.md, nv_peer_mem.c (DRV_NAME)\n"
			"NVIDIA GPUDirect RDMA User Manual 1.8: Installing GPUDirect RDMA\n"
			"github.com/NVIDIA/nccl (2026-06-11): src/transport/net_ib/gin.cc, gdr.cc",
	},
	{
		.id = "modules/peermem-sysfs-absent",
		.title = "NVSHMEM or NCCL is too old to find nvidia_peermem on this kernel",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.used_modules = "nvidia_peermem nv_peer_mem",
		.severity = SEVERITY_INFO,
		.max_severity = SEVERITY_WARN,
		.evaluate = check_sysfs_absent,
		.impact =
			"NVSHMEM before 3.3.9 and NCCL before 2.23.4 do not see nvidia_peermem and do not use "
			"GPUDirect RDMA, unless DMA-BUF works.",
		.remedy = "Upgrade the library.",
		.activation = ACTIVATION_NEW_JOBS,
		.in_container_image = true,
		.reads =
			"/sys/kernel/mm/memory_peers, the loaded modules, and the versions of NVSHMEM and NCCL on disk.",
		.why = "The RDMA stack makes this folder, not nvidia-peermem, and newer stacks do not. nvidia-peermem works "
		       "without it.",
		.check = "ls /sys/kernel/mm/memory_peers; cat /sys/module/nvidia_peermem/version",
		.sources =
			"github.com/NVIDIA/nccl v2.22.3-1 and v2.23.4-1: src/transport/net_ib.cc; issue 1676\n"
			"NVSHMEM 3.2.5 and 3.3.9: src/modules/transport/common/transport_ib_common.cpp\n"
			"github.com/deepseek-ai/DeepEP pull 151",
	},
	{
		.id = "modules/peermem-params",
		.title =
			"GPUDirect RDMA can hang: nvidia_peermem has a parameter for another RDMA stack",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.used_modules = "nvidia_peermem nv_peer_mem",
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_params,
		.impact = "Registrations of GPU memory can fail or hang.",
		.remedy = "Remove the option, then reload nvidia-peermem.",
		.activation = ACTIVATION_RELOAD,
		.reads =
			"/sys/module/nvidia_peermem/parameters, the options for it in modprobe.d, and OFED's version.",
		.why = "peerdirect_support=1 is for MLNX_OFED 4.9 and 5.0. With 5.1 and later it brings back a lock inversion "
		       "of OFED. It counts for the legacy client, which drivers from 560.28.03 on register with "
		       "persistent_api_support=0 only. Earlier drivers always register it. Other values than 0 and 1 keep the "
		       "module from loading.",
		.check = "grep -r . /sys/module/nvidia_peermem/parameters",
		.sources =
			"open-gpu-kernel-modules 515.43.04, 555.58, 560.28.03, 595.45.04: "
			"kernel-open/nvidia-peermem/nvidia-peermem.c\n"
			"github.com/Mellanox/nv_peer_memory 1.3: README.md; pull 92 (2021-09-29)",
	},
	{
		.id = "modules/peermem-version",
		.follows = { "modules/nvidia-versions-differ", "driver/library-mismatch" },
		.title = "GPUDirect RDMA can fail: nvidia_peermem and the driver differ in version",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.used_modules = "nvidia_peermem nv_peer_mem",
		.severity = SEVERITY_ERR,
		.evaluate = check_version,
		.impact = "Registrations of GPU memory can fail.",
		.remedy =
			"Unload nvidia_peermem and the driver, then load both from the same build.",
		.activation = ACTIVATION_RELOAD,
		.reads = "/sys/module/nvidia_peermem/version and the driver's version.",
		.why = "The module's version is that of the driver sources it was built from. It refuses DMA mappings of the "
		       "driver whose version it does not know.",
		.check = "cat /sys/module/nvidia_peermem/version /sys/module/nvidia/version",
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia-peermem/nvidia-peermem.c "
			"(MODULE_VERSION, NVIDIA_P2P_DMA_MAPPING_VERSION_COMPATIBLE)",
	},
};

RULE_TABLE(modules_peermem_loaded);
