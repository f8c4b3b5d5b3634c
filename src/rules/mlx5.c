/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mlx5.c - the kernel modules that RDMA over NVIDIA NICs needs (rules modules/...). */
#include <string.h>

#include "judge/gate.h"
#include "judge/gpus.h"

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
static bool gate_no_mlx5(struct judge *j, const struct pci_device **nic)
{
	*nic = first_nic(j->node);
	if (!is_told(j->node->pci.devices))
		UNKNOWN(j, .evidence = { "pci.devices" });
	else if (!*nic)
		NOT_APPLICABLE(
			j, .observed = "no NIC that mlx5_core is for, or only for virtual machines",
			.evidence = { "pci.devices" });
	else
		return gate_no_modules(j);
	return true;
}

static void judge_mlx5(struct judge *j)
{
	static const char *const needed[] = { "mlx5_core", "mlx5_ib" };
	size_t before = j->findings->count;
	const struct pci_device *nic;

	if (gate_no_mlx5(j, &nic))
		return;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!node_module(j->node, needed[i]))
			FAIL(j, .subject = needed[i],
			     .observed = say(j, "%s is not loaded", needed[i]),
			     .expected = say(j, "%s loaded, for %s", needed[i], nic->bdf.value),
			     .evidence = { "modules.loaded",
					   say_fact(j, "pci.devices", nic->bdf.value, "driver") });
	if (j->findings->count == before)
		PASS(j, .evidence = { "modules.loaded[mlx5_core].state",
				      "modules.loaded[mlx5_ib].state" });
}

static void judge_rdma(struct judge *j)
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
	size_t before = j->findings->count;
	const struct pci_device *nic;

	if (gate_no_mlx5(j, &nic))
		return;
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!node_module(j->node, needed[i].name))
			FAIL_AS(j, needed[i].severity, .subject = needed[i].name,
				.observed = say(j, "%s is not loaded: %s", needed[i].name,
						needed[i].what),
				.expected = say(j, "%s loaded", needed[i].name),
				.evidence = { "modules.loaded" });
	if (j->findings->count == before)
		PASS(j, .evidence = { "modules.loaded" });
}

static const struct rule mlx5_rules[] = {
	{
		.id = "modules/mlx5-not-loaded",
		.title = "The NIC's driver is not loaded",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.judge = judge_mlx5,
		.impact = "No RDMA device: NCCL falls back to sockets, NVSHMEM and DeepEP do not "
			  "start.",
		.remedy = "modprobe mlx5_ib; with MLNX_OFED or DOCA systemctl start openibd. If "
			  "there is no such module, see modules/ofed-kernel-mismatch; if it does "
			  "not load, dmesg says why.",
		.fix = "modules-load",
		.activation = ACTIVATION_NOW,
		.reads = "The loaded modules, and NVIDIA NICs from ConnectX-4 on among the PCI "
			 "functions.",
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
		.judge = judge_rdma,
		.impact = "RDMA devices cannot be opened, or not connected.",
		.remedy = "modprobe it, and have it loaded at boot: rdma-core does by "
			  "rdma-load-modules@.service, OFED by openibd; else a file in "
			  "modules-load.d.",
		.fix = "modules-load",
		.activation = ACTIVATION_NOW,
		.reads = "The loaded modules, where there is an NVIDIA NIC.",
		.why = "ib_uverbs makes /dev/infiniband/uverbsN, rdma_ucm rdma_cm, ib_umad umadN. "
		       "NCCL and NVSHMEM connect without rdma_ucm; UCX, MPI over rdma_cm and "
		       "storage use it. ib_umad is for tools, DeepEP's call of ibstat among them.",
		.check = "lsmod | grep -E 'ib_uverbs|ib_umad|rdma_ucm|mlx5_ib'; ls /dev/infiniband",
		.sources = "rdma-core: Documentation/udev.md, kernel-boot/modules/rdma.conf\n"
			   "NVSHMEM: src/modules/transport/ibgda/ibgda.cpp",
	},
};

RULE_TABLE(mlx5);
