/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules-rdma.c - the kernel modules that RDMA over NVIDIA NICs needs (rules modules/...). */
#include <string.h>

#include "evaluate/skip.h"
#include "query/gpus.h"

/* A function that mlx5_core is for: Connect-IB, ConnectX-4 and later, virtual functions of those.
 * One whose id is not in the table counts by the driver that has it. */
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

/* True when the rule has been answered. */
static bool skip_without_mlx5(struct rule_context *ctx, const struct pci_device **nic)
{
	*nic = first_nic(ctx->node);
	if (!was_read(ctx->node->pci.devices))
		UNKNOWN(ctx, .evidence = { "pci.devices" });
	else if (!*nic)
		NOT_APPLICABLE(
			ctx,
			.observed = "no NIC that mlx5_core is for, or only for virtual machines",
			.evidence = { "pci.devices" });
	else
		return skip_without_modules(ctx);
	return true;
}

/* A fact that only the module NAME makes: it is there, built into the kernel or not. NULL: no such fact. Built-in
 * modules without parameters are nowhere listed. */
static const char *seen_at_work(struct rule_context *ctx, const char *name)
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
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
		for_each(n, &node->dev.nodes)
			if (strcmp(name, nodes[i].module) == 0 &&
			    str_starts(n->path, nodes[i].path))
				return fact_path(ctx->arena, "dev.nodes", n->path.value, "kind");
	return NULL;
}

static bool is_there(struct rule_context *ctx, const char *name)
{
	return node_module(ctx->node, name) || seen_at_work(ctx, name);
}

/* ib_core makes the RDMA devices: where these are there and it is in no list, it is built in, and the modules
 * above it can be. Preflight reads no device nodes, which would tell. */
static bool may_be_built_in(const struct node *node)
{
	bool nodes = false;

	for_each(n, &node->dev.nodes)
		nodes |= str_starts(n->path, "/dev/infiniband/");
	return node->rdma.devices.count && !node_module(node, "ib_core") && !nodes;
}

static void check_mlx5(struct rule_context *ctx)
{
	static const char *const needed[] = { "mlx5_core", "mlx5_ib" };
	size_t before = ctx->findings->count;
	const struct pci_device *nic;

	if (skip_without_mlx5(ctx, &nic))
		return;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!is_there(ctx, needed[i]))
			FAIL(ctx, .subject = needed[i],
			     .observed = text_printf(ctx, "%s is not loaded", needed[i]),
			     .expected = text_printf(ctx, "%s loaded, for %s", needed[i],
						     nic->bdf.value),
			     .evidence = { "modules.loaded", fact_path(ctx->arena, "pci.devices",
								       nic->bdf.value, "driver") });
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { node_module(ctx->node, "mlx5_ib")
						? "modules.loaded[mlx5_ib].state"
						: seen_at_work(ctx, "mlx5_ib") });
}

static void check_rdma(struct rule_context *ctx)
{
	static const struct {
		const char *name;
		enum severity severity;
		const char *what;
	} needed[] = {
		{ "mlx5_ib", SEVERITY_ERR, "no RDMA device of these NICs exists" },
		{ "ib_uverbs", SEVERITY_ERR, "no program can open an RDMA device" },
		{ "rdma_ucm", SEVERITY_ERR, "connections by address (rdma_cm) cannot be made" },
		{ "ib_umad", SEVERITY_WARN, "ibstat and the InfiniBand diagnostics do not work" },
	};
	size_t before = ctx->findings->count;
	const struct pci_device *nic;

	if (skip_without_mlx5(ctx, &nic))
		return;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (is_there(ctx, needed[i].name))
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
			FAIL_AS(ctx, needed[i].severity, .subject = needed[i].name,
				.observed = text_printf(ctx, "%s is not loaded: %s", needed[i].name,
							needed[i].what),
				.expected = text_printf(ctx, "%s loaded", needed[i].name),
				.evidence = { "modules.loaded" });
	}
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "modules.loaded" });
}

static const struct rule modules_rdma_rules[] = {
	{
		.id = "modules/mlx5-not-loaded",
		.title = "The NIC's driver is not loaded",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.needs_module = "",
		.evaluate = check_mlx5,
		.impact = "No RDMA device: NCCL falls back to sockets, NVSHMEM and DeepEP do not "
			  "start.",
		.remedy = "modprobe mlx5_ib; with MLNX_OFED or DOCA systemctl start openibd. If "
			  "there is no such module, see modules/ofed-kernel-mismatch; if it does "
			  "not load, dmesg says why.",
		.fix = { "load-module", { "" } },
		.activation = ACTIVATION_NOW,
		.reads =
			"The loaded modules, and NVIDIA NICs from ConnectX-4 on among the PCI "
			"functions; where a module is built into the kernel, what it makes: the bound "
			"driver, the RDMA device.",
		.why = "mlx5_core drives the function, mlx5_ib makes an RDMA device of it. NICs "
		       "that are given to virtual machines are left out, and so are ConnectX-3 and "
		       "earlier.",
		.check = "lspci -nnk -d 15b3:; lsmod | grep mlx5",
		.sources = "Linux: drivers/net/ethernet/mellanox/mlx5/core/main.c "
			   "(mlx5_core_pci_table), drivers/infiniband/hw/mlx5/main.c",
	},
	{
		.id = "modules/rdma-modules-not-loaded",
		.title = "A module that RDMA programs need is not loaded",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.needs_module = "",
		.evaluate = check_rdma,
		.impact = "RDMA devices cannot be opened, or not connected.",
		.remedy = "modprobe it, and have it loaded at boot: rdma-core does by "
			  "rdma-load-modules@.service, OFED by openibd; else a file in "
			  "modules-load.d.",
		.fix = { "load-module", { "", "boot" } },
		.activation = ACTIVATION_NOW,
		.reads =
			"The loaded modules, where there is an NVIDIA NIC; where one is built into the "
			"kernel, the device nodes that it makes.",
		.why = "ib_uverbs makes /dev/infiniband/uverbsN, rdma_ucm rdma_cm, ib_umad umadN. "
		       "NCCL and NVSHMEM connect without rdma_ucm; UCX, MPI over rdma_cm and "
		       "storage use it. ib_umad is for tools, DeepEP's call of ibstat among them.",
		.check = "lsmod | grep -E 'ib_uverbs|ib_umad|rdma_ucm|mlx5_ib'; ls /dev/infiniband",
		.sources = "rdma-core: Documentation/udev.md, kernel-boot/modules/rdma.conf\n"
			   "NVSHMEM: src/modules/transport/ibgda/ibgda.cpp",
	},
};

RULE_TABLE(modules_rdma);
