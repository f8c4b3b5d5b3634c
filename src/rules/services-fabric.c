/* SPDX-License-Identifier: GPL-2.0-or-later */
/* services-fabric.c - whether fabric manager's mode is that of the virtualization model (rule services/fabric-mode). */
#include <inttypes.h>

#include "evaluate/skip.h"
#include "query/kind.h"
#include "query/pci-device.h"
#include "query/topology.h"

static const char config[] = "services.fabric_mode";

enum { MODE_BARE_METAL = 0, MODE_SHARED = 1, MODE_VGPU = 2 };

/* The host keeps the NVSwitches: the driver has them, or they are not among the PCI functions. Unknown where a driver
 * is. */
static struct fact_bool keeps_switches(const struct node *node)
{
	struct fact_bool keeps = fact_bool(true);

	for_each(d, &node->pci.devices) {
		if (!pci_is_nvswitch(d) || str_is(d->driver, "nvidia-nvswitch") ||
		    str_is(d->driver, "nvidia"))
			continue;
		if (!is_unknown(d->driver))
			return fact_bool(false);
		keeps.state = FACT_UNKNOWN;
	}
	return keeps;
}

/* Returns the mode that is needed, and why. It is unknown if the kinds are unknown. */
static struct fact_u64 wanted_mode(struct rule_context *ctx, const char **why, const char **fact)
{
	struct kind_answer vgpu = kind_find(ctx->node, KIND_VGPU_HOST, ctx->arena);
	struct kind_answer vfio = kind_find(ctx->node, KIND_VFIO_HOST, ctx->arena);

	*fact = is_known(vgpu.is) ? vfio.fact : vgpu.fact;
	if (!is_known(vgpu.is) || !is_known(vfio.is))
		return (struct fact_u64){ 0 };
	*why = vgpu.is.value ? vgpu.reason : vfio.reason;
	*fact = vgpu.is.value ? vgpu.fact : vfio.fact;
	if (vgpu.is.value)
		return fact_u64(MODE_VGPU);
	return fact_u64(vfio.is.value ? MODE_SHARED : MODE_BARE_METAL);
}

static void check_mode(struct rule_context *ctx, uint64_t mode)
{
	const char *why = NULL, *fact;
	struct fact_u64 wanted = wanted_mode(ctx, &why, &fact);

	if (!is_known(wanted))
		UNKNOWN(ctx, .evidence = { fact });
	else if (wanted.value == mode)
		PASS(ctx, .observed = text_printf(ctx, "FABRIC_MODE is %" PRIu64, mode),
		     .evidence = { config, fact });
	else
		FAIL(ctx, .observed = text_printf(ctx, "FABRIC_MODE is %" PRIu64 "; %s", mode, why),
		     .expected = text_printf(ctx, "FABRIC_MODE=%" PRIu64, wanted.value),
		     .remedy = text_printf(
			     ctx,
			     "Set FABRIC_MODE=%" PRIu64
			     " in /usr/share/nvidia/nvswitch/fabricmanager.cfg, then restart fabric "
			     "manager while no process uses the GPUs.%s",
			     wanted.value,
			     wanted.value == MODE_SHARED
				     ? " Activate the partition of a virtual machine before it starts."
				     : ""),
		     .evidence = { config, fact });
}

static void check_fabric_mode(struct rule_context *ctx)
{
	const struct services_facts *services = &ctx->node->services;
	const struct service *fm = node_service(ctx->node, "nvidia-fabricmanager.service");

	if (skip_without_gpu(ctx))
		return;
	if (is_known(ctx->node->os.hypervisor) || is_known(ctx->node->os.container))
		NOT_APPLICABLE(ctx, .observed = "not the host of the board",
			       .evidence = { "os.hypervisor", "os.container" });
	else if (skip_unless_kind(ctx, KIND_HGX))
		return;
	else if (is_unknown(services->fabric_mode))
		UNKNOWN(ctx, .evidence = { config });
	else if (is_unknown(keeps_switches(ctx->node)))
		UNKNOWN(ctx, .evidence = { "pci.devices" });
	else if (!known_is(keeps_switches(ctx->node), true))
		NOT_APPLICABLE(ctx, .observed = "the NVSwitches are given to a virtual machine too",
			       .evidence = { "pci.devices" });
	else if (!fm || is_unknown(fm->load))
		UNKNOWN(ctx, .evidence = { "services.units" });
	else if (str_is(fm->load, "not-found"))
		NOT_APPLICABLE(ctx, .observed = "fabric manager is not installed",
			       .evidence = { "services.units[nvidia-fabricmanager.service].load" });
	else
		check_mode(ctx, is_known(services->fabric_mode) ? services->fabric_mode.value
								: MODE_BARE_METAL);
}

static const struct rule services_fabric_rules[] = {
	{
		.id = "services/fabric-mode",
		.title =
			"CUDA fails with error 802: fabric manager's mode is not that of this host",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_fabric_mode,
		.needs_running = true,
		.impact =
			"cuInit fails with error 802 in virtual machines with more than one GPU, or on this host.",
		.remedy =
			"Set FABRIC_MODE in fabricmanager.cfg, then restart fabric manager while no process uses the GPUs.",
		.activation = ACTIVATION_RESTART,
		.ends_jobs = true,
		.reads =
			"FABRIC_MODE in fabricmanager.cfg, the NVSwitches and their driver, and whether this host gives "
			"GPUs to virtual machines, whole or as vGPUs.",
		.why = "0, the default, sets up the whole board for one system: bare metal, or a virtual machine that gets "
		       "the NVSwitches too. 1 keeps the switches with the host or a service machine and waits for partitions to be activated. 2 "
		       "is for vGPUs. Fabric manager reads the mode when it starts.",
		.check =
			"grep FABRIC_MODE /usr/share/nvidia/nvswitch/fabricmanager.cfg; nvidia-smi -q | grep -A4 Fabric",
		.sources =
			"NVIDIA Fabric Manager User Guide 2.3 (March 2025): Fabric Manager Config Options, Supported "
			"Virtualization Models, Fabric Manager Config File Modifications\n"
			"github.com/NVIDIA/gpu-operator pull 2602 (the values of FABRIC_MODE)\n"
			"github.com/NVIDIA/nccl-tests issue 260",
	},
};

RULE_TABLE(services_fabric);
