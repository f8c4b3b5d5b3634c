/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules-rdma.c - the kernel modules that RDMA over NVIDIA NICs needs (rules modules/...). */
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "query/gpus.h"
#include "query/modprobe-dry-run.h"
#include "query/module-load.h"
#include "query/pci-device.h"
#include "query/ports.h"
#include "query/service-cause.h"

#define CLASS_INFINIBAND 0x0207 /* base class and sub-class of a PCI function */

/* A function that mlx5_core drives: Connect-IB, ConnectX-4 and later, and their virtual functions. For an id that
 * is not in the table the bound driver decides. */
static bool is_mlx5(const struct pci_device *d)
{
	const struct nic_model *model = nic_model(d);

	if (!pci_is_mlx(d))
		return false;
	if (!model)
		return !str_is(d->driver, "mlx4_core");
	if (model->generation >= 4 || strstr(model->name, "Connect-IB"))
		return true;
	return model->virtual_function && !strstr(model->name, "ConnectX-3");
}

static const struct pci_device *first_nic(const struct node *node)
{
	for_each(d, &node->pci.devices)
		if (is_mlx5(d) && !pci_is_for_guest(d))
			return d;
	return NULL;
}

/* The functions by which fabric manager reaches the NVSwitches of an HGX B200 and later, and no other mlx5 one: RDMA, if
 * any, goes over other makers' NICs. */
static bool all_manage_switches(const struct node *node)
{
	bool any = false;

	for_each(d, &node->pci.devices) {
		if (!is_mlx5(d) || pci_is_for_guest(d))
			continue;
		if (!str_is(d->sub_model, "SW_MNG"))
			return false;
		any = true;
	}
	return any;
}

#define CUDA_FAILS                                                                                \
	"Fabric manager cannot manage the NVSwitches, and CUDA fails with error 802 (system not " \
	"yet initialized)."

/* Returns true if the rule has been answered. */
static bool skip_without_mlx5(struct rule_context *ctx, const struct pci_device **nic)
{
	*nic = first_nic(ctx->node);
	if (!was_read(ctx->node->pci.devices))
		UNKNOWN(ctx, .evidence = { "pci.devices" });
	else if (!*nic)
		NOT_APPLICABLE(ctx, .observed = "no NIC that mlx5_core drives on this host",
			       .evidence = { "pci.devices" });
	else
		return skip_without_modules(ctx);
	return true;
}

/* A fact that only the module NAME makes, loaded or built into the kernel; NULL: none. Built-in modules without
 * parameters are listed nowhere. */
static const char *fact_of_module(struct rule_context *ctx, const char *name)
{
	static const struct {
		const char *module, *path;
	} nodes[] = {
		{ "ib_uverbs", "/dev/infiniband/uverbs" },
		{ "rdma_ucm", "/dev/infiniband/rdma_cm" },
		{ "ib_umad", "/dev/infiniband/umad" },
	};
	const struct node *node = ctx->node;

	if (strcmp(name, "mlx5_core") == 0)
		for_each(d, &node->pci.devices)
			if (str_is(d->driver, "mlx5_core"))
				return fact_path(ctx->arena, "pci.devices", d->bdf.value, "driver");
	for_each(d, &node->rdma.devices)
		if (strcmp(name, "mlx5_ib") == 0 && str_is(d->driver, "mlx5_core"))
			return fact_path(ctx->arena, "rdma.devices", d->name.value, "driver");
	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++)
		for_each(n, &node->dev.nodes)
			if (strcmp(name, nodes[i].module) == 0 &&
			    str_starts(n->path, nodes[i].path))
				return fact_path(ctx->arena, "dev.nodes", n->path.value, "kind");
	return NULL;
}

static bool is_present(struct rule_context *ctx, const char *name)
{
	return node_module(ctx->node, name) || fact_of_module(ctx, name);
}

/* ib_core makes the RDMA devices. Where these exist and ib_core is not in the list, it is built in, and the other
 * modules can be too. Preflight does not read device files, which would show them. */
static bool may_be_built_in(const struct node *node)
{
	bool nodes = false;

	for_each(n, &node->dev.nodes)
		nodes |= str_starts(n->path, "/dev/infiniband/");
	return node->rdma.devices.count && !node_module(node, "ib_core") && !nodes;
}

/* Returns true if RDMA was set up here: a NIC on InfiniBand, or OFED. Without a profile it is not known that jobs use
 * it. */
static bool is_set_up(const struct node *node)
{
	if (node_software(node, "ofed"))
		return true;
	for_each(d, &node->pci.devices)
		if (is_mlx5(d) && !pci_is_for_guest(d) && is_known(d->class_id) &&
		    d->class_id.value >> 8 == CLASS_INFINIBAND)
			return true;
	return false;
}

/* RoCE has no subnet manager, and libibumad reads what ibstat shows from sysfs. */
static bool is_all_ethernet(const struct node *node)
{
	size_t ports = 0;

	for_each(d, &node->rdma.devices)
		for_each(p, &d->ports) {
			ports++;
			if (!port_is_ethernet(p))
				return false;
		}
	return ports > 0;
}

static enum severity severity_of(struct rule_context *ctx, enum severity severity, bool is_wrong)
{
	if (is_asked_for(ctx, PROFILE_RDMA_ANY))
		return severity;
	return is_wrong ? SEVERITY_WARN : SEVERITY_INFO;
}

/* openibd loads OFED's modules, and its log says why it did not. */
static bool is_refused_by_openibd(struct rule_context *ctx)
{
	const struct service *s = node_service(ctx->node, "openibd.service");

	return service_condition(s) == SERVICE_FAILED &&
	       service_find_cause(ctx->arena, ctx->node, s).text;
}

static void fail_missing(struct rule_context *ctx, enum severity severity, const char *name,
			 const char *effect)
{
	struct module_load load = module_load_of(ctx->node, name, ctx->arena);

	if (severity == SEVERITY_INFO) {
		NOTE(ctx, .subject = name,
		     .observed = text_printf(ctx, "%s is not loaded: %s", name, effect),
		     .evidence = { "modules.loaded" });
		return;
	}
	FAIL_AS(ctx, severity, .subject = name,
		.impact = all_manage_switches(ctx->node) && strcmp(name, "ib_uverbs") != 0
				  ? CUDA_FAILS
				  : NULL,
		.observed = text_printf(
			ctx, "%s is not loaded%s%s: %s", name, load.why_not ? " (" : "",
			load.why_not ? text_printf(ctx, "%s)", load.why_not) : "", effect),
		.expected = "loaded", .remedy = load.remedy, .command = load.command,
		.has_fix = load.no_file,
		.follows = is_refused_by_openibd(ctx) ? "services/daemon-down" : NULL,
		.follows_subject = "openibd.service", .evidence = { "modules.loaded", load.fact });
}

static void check_mlx5(struct rule_context *ctx)
{
	static const char *const needed[] = { "mlx5_core", "mlx5_ib" };
	size_t before = ctx->findings->count;
	const struct pci_device *nic;

	if (skip_without_mlx5(ctx, &nic))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++)
		if (!is_present(ctx, needed[i]))
			fail_missing(
				ctx, severity_of(ctx, SEVERITY_ERR, i == 0 || is_set_up(ctx->node)),
				needed[i],
				i == 0 ? text_printf(ctx, "%s has no driver", nic->bdf.value)
				: all_manage_switches(ctx->node)
					? "the NVSwitches' management functions have no RDMA device"
					: "no RDMA device of these NICs exists");
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { node_module(ctx->node, "mlx5_ib")
						? "modules.loaded[mlx5_ib].state"
						: fact_of_module(ctx, "mlx5_ib") });
}

/* A user who wants it cannot load it. */
static bool will_fail(struct rule_context *ctx, const char *name)
{
	struct load_verdict verdict = modprobe_dry_run(ctx->arena, ctx->node, name);

	return verdict.answer == LOAD_NO && !verdict.absent;
}

/* Another maker's device, by which programs connect through librdmacm. EFA has no connection manager. */
static bool has_other_device(const struct node *node)
{
	for_each(d, &node->rdma.devices)
		if (is_known(d->driver) && !str_is(d->driver, "efa") && is_known(d->bdf))
			return true;
	return false;
}

static bool skip_without_rdma_nic(struct rule_context *ctx, bool *is_mlx)
{
	*is_mlx = first_nic(ctx->node) != NULL;
	if (!was_read(ctx->node->pci.devices))
		UNKNOWN(ctx, .evidence = { "pci.devices" });
	else if (!*is_mlx && !was_read(ctx->node->rdma.devices))
		UNKNOWN(ctx, .evidence = { "rdma.devices" });
	else if (!*is_mlx && !has_other_device(ctx->node))
		NOT_APPLICABLE(ctx, .observed = "no NIC that mlx5_core drives, and no RDMA device",
			       .evidence = { "pci.devices", "rdma.devices" });
	else
		return skip_without_modules(ctx);
	return true;
}

/* Connections by address need rdma_ucm, which EFA does not have. */
static bool is_not_needed(const struct node *node, const char *name)
{
	if (strcmp(name, "ib_umad") == 0)
		return is_all_ethernet(node);
	if (strcmp(name, "rdma_ucm") != 0 || !all_manage_switches(node))
		return false;
	for_each(d, &node->rdma.devices)
		if (!str_is(d->driver, "efa") && !str_is(d->driver, "mlx5_core"))
			return false;
	return true;
}

static void check_rdma(struct rule_context *ctx)
{
	static const struct {
		const char *name;
		enum severity severity;
		const char *effect;
	} needed[] = {
		{ "mlx5_ib", SEVERITY_ERR, "no RDMA device of these NICs exists" },
		{ "ib_uverbs", SEVERITY_ERR, "no program can open an RDMA device" },
		{ "rdma_ucm", SEVERITY_WARN, "connections by address (rdma_cm) cannot be made" },
		{ "ib_umad", SEVERITY_WARN, "opensm and the InfiniBand diagnostics do not work" },
	};
	size_t before = ctx->findings->count;
	bool is_mlx;

	if (skip_without_rdma_nic(ctx, &is_mlx))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		if (is_present(ctx, needed[i].name) ||
		    (!is_mlx && strcmp(needed[i].name, "mlx5_ib") == 0))
			continue;
		if (is_not_needed(ctx->node, needed[i].name))
			continue;
		/* Where RDMA was not set up, one module is enough to name. */
		if (strcmp(needed[i].name, "ib_uverbs") != 0 &&
		    severity_of(ctx, SEVERITY_ERR, is_set_up(ctx->node)) == SEVERITY_INFO &&
		    !will_fail(ctx, needed[i].name))
			continue;
		if (may_be_built_in(ctx->node))
			UNKNOWN(ctx, .subject = needed[i].name,
				.observed =
					text_printf(ctx,
						    "the RDMA modules are built into the kernel; "
						    "whether %s is among them was not read",
						    needed[i].name),
				.evidence = { "dev.nodes" });
		else
			fail_missing(ctx,
				     severity_of(ctx, needed[i].severity, is_set_up(ctx->node)),
				     needed[i].name,
				     i == 3 && all_manage_switches(ctx->node)
					     ? "fabric manager cannot manage the NVSwitches"
					     : needed[i].effect);
	}
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "modules.loaded" });
}

static const struct rule modules_rdma_rules[] = {
	{
		.id = "modules/mlx5-not-loaded",
		.title = "NICs have no RDMA device: their driver is not loaded",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.needs_module = "",
		.evaluate = check_mlx5,
		.impact =
			"NCCL falls back to sockets. NVSHMEM and DeepEP do not work across nodes.",
		.remedy = "Load mlx5_ib.",
		.fix = { "load-module", { "" } },
		.activation = ACTIVATION_NOW,
		.follows = { "kernel/lacks-config" },
		.reads =
			"The loaded modules, and NVIDIA NICs from ConnectX-4 on. For modules that are built into the kernel: "
			"the bound driver and the RDMA device that they make.",
		.why = "mlx5_core drives the function, mlx5_ib makes an RDMA device of it. NICs that are given to virtual "
		       "machines are left out, and so are ConnectX-3 and earlier. Without a profile that uses RDMA, a NIC without "
		       "a driver is a warning, and a missing mlx5_ib only where OFED or InfiniBand is.",
		.check = "lspci -nnk -d 15b3:; lsmod | grep mlx5",
		.sources =
			"Linux 6.1.192: drivers/net/ethernet/mellanox/mlx5/core/main.c (mlx5_core_pci_table), "
			"drivers/infiniband/hw/mlx5/main.c",
	},
	{
		.id = "modules/rdma-modules-not-loaded",
		.title = "RDMA programs fail: a module that they need is not loaded",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.needs_module = "",
		.evaluate = check_rdma,
		.impact = "Programs cannot open RDMA devices, or cannot connect.",
		.remedy = "Load the module, and make it load at every boot.",
		.fix = { "load-module", { "", "boot" } },
		.activation = ACTIVATION_NOW,
		.follows = { "modules/mlx5-not-loaded", "kernel/lacks-config" },
		.reads =
			"The loaded modules where an NVIDIA NIC or an RDMA device exists. For modules that are built into the kernel: the device "
			"nodes that they make.",
		.why = "ib_uverbs makes /dev/infiniband/uverbsN, rdma_ucm makes rdma_cm, ib_umad makes umadN. NCCL connects "
		       "without rdma_ucm. So does NVSHMEM, except over libfabric's verbs provider. UCX, MPI over rdma_cm and storage use it. opensm and diagnostics such as "
		       "sminfo and perfquery need ib_umad; nothing is said of it where all ports are Ethernet. Fabric manager needs "
		       "it for the NVSwitches of HGX B200 and later. Where mlx5_core drives only their management functions, and "
		       "RDMA goes over EFA, nothing needs rdma_ucm.",
		.check = "lsmod | grep -E 'ib_uverbs|ib_umad|rdma_ucm|mlx5_ib'; ls /dev/infiniband",
		.sources =
			"rdma-core 691953d8d (2026-08-20): Documentation/udev.md, kernel-boot/modules/rdma.conf, "
			"infiniband.conf; libibumad/umad.c (umad_init, do_umad_open_port)\n"
			"NCCL 2.30.7-1: src/transport/net_ib (no librdmacm)\n"
			"github.com/NVIDIA/nvshmem 2d7d25f (2025-10-16): src/modules/transport/ibgda/ibgda.cpp, "
			"libfabric/libfabric.cpp, common/env_defs.h (NVSHMEM_LIBFABRIC_PROVIDER)\n"
			"github.com/NVIDIA/gpu-operator issue 2781",
	},
};

RULE_TABLE(modules_rdma);
