/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu-driver.c - what the driver answers about its GPUs (--nvml), where a site would drain the node or ask for a
 * repair. */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "query/gpus.h"
#include "query/names.h"

/* The result of a check of one GPU: it is healthy, the fact is not known, the GPU has no such part, or the check has
 * answered. */
enum gpu_answer { GPU_HEALTHY, GPU_UNKNOWN, GPU_LACKS_IT, GPU_ANSWERED };
typedef enum gpu_answer check_gpu(struct rule_context *ctx, const struct nvml_gpu *gpu);

static const char *fact_of(struct rule_context *ctx, const struct nvml_gpu *gpu, const char *member)
{
	return fact_path(ctx->arena, "nvml.gpus", gpu->bdf.value, member);
}

/* A container can have some of the GPUs: of the others nothing is known. */
static size_t answer_for_hidden(struct rule_context *ctx)
{
	size_t hidden = 0;

	for_each(gpu, &ctx->node->gpu.devices) {
		if (!is_known(gpu->bdf) || LIST_FIND(&ctx->node->nvml.gpus, gpu->bdf.value))
			continue;
		UNKNOWN(ctx, .subject = gpu->bdf.value,
			.observed = "The driver does not show this GPU to this process.",
			.evidence = { "nvml.gpus" });
		hidden++;
	}
	return hidden;
}

/* Calls CHECK for each GPU. FACT is what its answer depends on, NOTHING why it applies to none. */
static void check_gpus(struct rule_context *ctx, check_gpu *check, const char *fact,
		       const char *nothing)
{
	const struct nvml_facts *nvml = &ctx->node->nvml;
	size_t well = 0, answers;

	if (skip_without_gpu(ctx) || skip_without_driver(ctx) || skip_without_nvml(ctx))
		return;
	answers = answer_for_hidden(ctx);
	for_each(gpu, &nvml->gpus) {
		enum gpu_answer answer = check(ctx, gpu);

		well += answer == GPU_HEALTHY;
		answers += answer == GPU_UNKNOWN || answer == GPU_ANSWERED;
		if (answer == GPU_UNKNOWN)
			UNKNOWN(ctx, .subject = gpu->bdf.value,
				.evidence = { fact_of(ctx, gpu, fact) });
	}
	if (answers)
		return;
	if (well)
		PASS(ctx, .evidence = { "nvml.gpus" });
	else
		NOT_APPLICABLE(ctx, .observed = nothing, .evidence = { "nvml.gpus" });
}

/* ---- fabric ---- */

/* nvml.h, NVML_GPU_FABRIC_HEALTH_MASK: two bits each, of which 1 is yes and 2 no. The configuration has four bits, of
 * which 1 is good. */
static const struct {
	unsigned int shift;
	const char *text;
} fabric_ills[] = {
	{ 0, "its NVLink bandwidth is degraded" },
	{ 2, "a route is being recovered" },
	{ 4, "a route is unhealthy" },
	{ 6, "an access timed out" },
};
#define FABRIC_CONFIGURATION_SHIFT 8
#define FABRIC_CONFIGURATION_BITS 0xfu
#define FABRIC_CONFIGURATION_GOOD 1u

static const char *ill_of_fabric(struct rule_context *ctx, uint64_t mask)
{
	uint64_t configuration = mask >> FABRIC_CONFIGURATION_SHIFT & FABRIC_CONFIGURATION_BITS;

	for (size_t i = 0; i < ARRAY_SIZE(fabric_ills); i++)
		if ((mask >> fabric_ills[i].shift & 3) == 1)
			return fabric_ills[i].text;
	if (configuration > FABRIC_CONFIGURATION_GOOD)
		return text_printf(ctx, "its configuration is wrong (%" PRIu64 ")", configuration);
	return NULL;
}

static enum gpu_answer check_fabric_of_gpu(struct rule_context *ctx, const struct nvml_gpu *gpu)
{
	const struct nvml_fabric *fabric = &gpu->fabric;
	const char *state = fact_of(ctx, gpu, "fabric.state"), *ill;

	if (!is_known(fabric->state))
		return is_absent(fabric->state) ? GPU_LACKS_IT : GPU_UNKNOWN;
	if (fabric->state.value != NVML_FABRIC_COMPLETED) {
		FAIL(ctx, .subject = gpu->bdf.value,
		     .observed = text_printf(ctx, "the fabric state is %s",
					     nvml_fabric_state_words[fabric->state.value]),
		     .expected = "completed", .evidence = { state });
		return GPU_ANSWERED;
	}
	if (is_known(fabric->error)) {
		FAIL(ctx, .subject = gpu->bdf.value,
		     .observed = text_printf(ctx, "the GPU could not join the fabric: %s",
					     fabric->error.value),
		     .expected = "no error", .evidence = { fact_of(ctx, gpu, "fabric.error") });
		return GPU_ANSWERED;
	}
	ill = is_known(fabric->health_mask) ? ill_of_fabric(ctx, fabric->health_mask.value) : NULL;
	if (!ill)
		return GPU_HEALTHY;
	FAIL(ctx, .subject = gpu->bdf.value, .observed = ill, .expected = "a healthy fabric",
	     .evidence = { fact_of(ctx, gpu, "fabric.health_mask") });
	return GPU_ANSWERED;
}

static void check_fabric(struct rule_context *ctx)
{
	check_gpus(ctx, check_fabric_of_gpu, "fabric.state", "no GPU is part of an NVLink fabric");
}

/* ---- recovery ---- */

static const char *const recovery_texts[] = {
	[NVML_RECOVERY_GPU_RESET] = "the driver asks for a reset of this GPU",
	[NVML_RECOVERY_NODE_REBOOT] = "the driver asks for a reboot of the node",
	[NVML_RECOVERY_DRAIN_P2P] = "the driver asks that peer-to-peer traffic ends",
	[NVML_RECOVERY_DRAIN_AND_RESET] = "the driver asks for a drain and a reset of this GPU",
	[NVML_RECOVERY_IMEX_DOMAIN] = "the driver asks for a recovery of the IMEX domain",
};

static const char *const recovery_remedies[] = {
	[NVML_RECOVERY_GPU_RESET] = "Reset the GPU while no job runs, or reboot.",
	[NVML_RECOVERY_NODE_REBOOT] = "Reboot the node.",
	[NVML_RECOVERY_DRAIN_P2P] =
		"End the jobs that copy between this GPU and others. If the driver then asks for a reset, reset "
		"the GPU or reboot.",
	[NVML_RECOVERY_DRAIN_AND_RESET] = "Reset the GPU while no job runs, or reboot.",
	[NVML_RECOVERY_IMEX_DOMAIN] =
		"Stop the jobs that share memory with other nodes over NVLink. Then restart nvidia-imex on the nodes "
		"of the domain.",
};

#define RESET "sudo nvidia-smi -r -i BDF"

static const char *const recovery_commands[] = {
	[NVML_RECOVERY_GPU_RESET] = RESET,
	[NVML_RECOVERY_DRAIN_P2P] = "nvidia-smi -q | grep -i -A1 'Recovery Action'",
	[NVML_RECOVERY_DRAIN_AND_RESET] = RESET,
	[NVML_RECOVERY_IMEX_DOMAIN] = "sudo systemctl restart nvidia-imex",
};

static enum gpu_answer check_recovery_of_gpu(struct rule_context *ctx, const struct nvml_gpu *gpu)
{
	bool reboot = known_is(gpu->recovery, NVML_RECOVERY_NODE_REBOOT);

	if (!is_known(gpu->recovery))
		return is_absent(gpu->recovery) ? GPU_LACKS_IT : GPU_UNKNOWN;
	if (gpu->recovery.value == NVML_RECOVERY_NONE)
		return GPU_HEALTHY;
	FAIL(ctx, .subject = gpu->bdf.value, .observed = recovery_texts[gpu->recovery.value],
	     .expected = "no recovery action", .action = reboot ? ACTION_REBOOT : ACTION_RESET_GPU,
	     .remedy = recovery_remedies[gpu->recovery.value],
	     .command = recovery_commands[gpu->recovery.value],
	     .evidence = { fact_of(ctx, gpu, "recovery") });
	return GPU_ANSWERED;
}

static void check_recovery(struct rule_context *ctx)
{
	check_gpus(ctx, check_recovery_of_gpu, "recovery", "the GPUs report no recovery action");
}

/* ---- clocks and power ---- */

/* nvml.h, nvmlClocksEventReasons */
#define REASON_HW_SLOWDOWN 0x08u
#define REASON_HW_THERMAL 0x40u
#define REASON_HW_POWER_BRAKE 0x80u

static enum gpu_answer check_slowdown_of_gpu(struct rule_context *ctx, const struct nvml_gpu *gpu)
{
	const struct nvml_clocks *clocks = &gpu->clocks;
	uint64_t reasons = clocks->reasons.value;
	const char *what, *remedy = NULL;

	if (!is_known(clocks->reasons))
		return is_absent(clocks->reasons) ? GPU_LACKS_IT : GPU_UNKNOWN;
	if (reasons & REASON_HW_POWER_BRAKE) {
		what = "the power supply has asserted the power brake";
		remedy = "Check power supplies and power cables.";
	} else if (reasons & REASON_HW_THERMAL) {
		remedy = "Check fans, air flow, cooling water and heat sinks.";
		what = is_known(clocks->temperature_c)
			       ? text_printf(ctx, "the GPU is too hot: %" PRIu64 " degrees Celsius",
					     clocks->temperature_c.value)
			       : "the GPU is too hot";
	} else if (reasons & REASON_HW_SLOWDOWN)
		what = "the hardware slows the GPU down";
	else
		return GPU_HEALTHY;
	FAIL(ctx, .subject = gpu->bdf.value, .observed = what, .expected = "no hardware slowdown",
	     .remedy = remedy,
	     .evidence = { fact_of(ctx, gpu, "clocks.reasons"),
			   fact_of(ctx, gpu, "clocks.temperature_c") });
	return GPU_ANSWERED;
}

static void check_slowdown(struct rule_context *ctx)
{
	check_gpus(ctx, check_slowdown_of_gpu, "clocks.reasons",
		   "the GPUs do not report what limits their clocks");
}

static enum gpu_answer check_power_of_gpu(struct rule_context *ctx, const struct nvml_gpu *gpu)
{
	struct fact_u64 limit = gpu->clocks.power_limit_mw, usual = gpu->clocks.power_default_mw;

	if (is_absent(limit) || is_absent(usual))
		return GPU_LACKS_IT;
	if (!is_known(limit) || !is_known(usual))
		return GPU_UNKNOWN;
	if (limit.value >= usual.value)
		return GPU_HEALTHY;
	FAIL(ctx, .subject = gpu->bdf.value,
	     .observed = text_printf(ctx, "%" PRIu64 " W; the default is %" PRIu64 " W",
				     limit.value / 1000, usual.value / 1000),
	     .expected = text_printf(ctx, "%" PRIu64 " W, the default", usual.value / 1000),
	     .remedy = "If no one wants the limit, set it to the default.",
	     .command = text_printf(ctx, "sudo nvidia-smi -i BDF -pl %" PRIu64, usual.value / 1000),
	     .evidence = { fact_of(ctx, gpu, "clocks.power_limit_mw"),
			   fact_of(ctx, gpu, "clocks.power_default_mw") });
	return GPU_ANSWERED;
}

static void check_power(struct rule_context *ctx)
{
	check_gpus(ctx, check_power_of_gpu, "clocks.power_limit_mw",
		   "the GPUs have no power limit");
}

/* ---- modes ---- */

static enum gpu_answer check_ecc_of_gpu(struct rule_context *ctx, const struct nvml_gpu *gpu)
{
	const struct pci_device *device = node_pci(ctx->node, gpu->bdf.value);

	if (is_absent(gpu->ecc.enabled) || (device && !gpu_is_data_centre(device)))
		return GPU_LACKS_IT;
	if (!is_known(gpu->ecc.enabled))
		return GPU_UNKNOWN;
	if (gpu->ecc.enabled.value)
		return GPU_HEALTHY;
	FAIL(ctx, .subject = gpu->bdf.value, .observed = "ECC is off", .expected = "ECC is on",
	     .evidence = { fact_of(ctx, gpu, "ecc.enabled") });
	return GPU_ANSWERED;
}

static void check_ecc_mode(struct rule_context *ctx)
{
	check_gpus(ctx, check_ecc_of_gpu, "ecc.enabled", "no data-centre GPU with ECC memory");
}

static enum gpu_answer check_sram_of_gpu(struct rule_context *ctx, const struct nvml_gpu *gpu)
{
	struct fact_bool exceeded = gpu->ecc.sram_threshold_exceeded;

	if (!is_known(exceeded))
		return is_absent(exceeded) ? GPU_LACKS_IT : GPU_UNKNOWN;
	if (!exceeded.value)
		return GPU_HEALTHY;
	FAIL(ctx, .subject = gpu->bdf.value,
	     .observed = "too many uncorrectable errors in one part of the SRAM",
	     .expected = "fewer than the maker's threshold",
	     .evidence = { fact_of(ctx, gpu, "ecc.sram_threshold_exceeded") });
	return GPU_ANSWERED;
}

static void check_sram(struct rule_context *ctx)
{
	check_gpus(ctx, check_sram_of_gpu, "ecc.sram_threshold_exceeded",
		   "the GPUs do not count errors of the SRAM");
}

static bool differ(struct fact_bool a, struct fact_bool b)
{
	return is_known(a) && is_known(b) && a.value != b.value;
}

static enum gpu_answer check_pending_mode_of_gpu(struct rule_context *ctx,
						 const struct nvml_gpu *gpu)
{
	bool ecc = differ(gpu->ecc.enabled, gpu->ecc.pending),
	     mig = differ(gpu->mig, gpu->mig_pending);

	if (ecc || mig) {
		bool on = ecc ? gpu->ecc.pending.value : gpu->mig_pending.value;

		PENDING(ctx, .subject = gpu->bdf.value,
			.observed = text_printf(ctx, "%s will be %s after a %s",
						ecc ? "ECC" : "MIG mode", on ? "on" : "off",
						ecc ? "reboot" : "reset"),
			.expected = "no change is pending",
			.remedy = ecc ? "Reboot, or set the mode back." : NULL,
			.action = ecc ? ACTION_REBOOT : ACTION_DERIVED,
			.evidence = { fact_of(ctx, gpu, ecc ? "ecc.pending" : "mig_pending") });
		return GPU_ANSWERED;
	}
	if (is_unknown(gpu->ecc.enabled) || is_unknown(gpu->ecc.pending))
		return GPU_UNKNOWN;
	if (is_unknown(gpu->mig) || is_unknown(gpu->mig_pending)) {
		UNKNOWN(ctx, .subject = gpu->bdf.value, .evidence = { fact_of(ctx, gpu, "mig") });
		return GPU_ANSWERED;
	}
	return is_known(gpu->ecc.enabled) || is_known(gpu->mig) ? GPU_HEALTHY : GPU_LACKS_IT;
}

static void check_pending_mode(struct rule_context *ctx)
{
	check_gpus(ctx, check_pending_mode_of_gpu, "ecc.enabled",
		   "the GPUs have neither ECC nor MIG");
}

static enum gpu_answer check_compute_of_gpu(struct rule_context *ctx, const struct nvml_gpu *gpu)
{
	if (!is_known(gpu->compute_mode))
		return is_absent(gpu->compute_mode) ? GPU_LACKS_IT : GPU_UNKNOWN;
	if (gpu->compute_mode.value == NVML_COMPUTE_DEFAULT)
		return GPU_HEALTHY;
	if (gpu->compute_mode.value == NVML_COMPUTE_EXCLUSIVE_PROCESS &&
	    ctx->node->mps.daemons.count) {
		NOTE(ctx, .subject = gpu->bdf.value,
		     .observed =
			     "the compute mode is exclusive-process, as MPS wants it; an MPS control daemon runs",
		     .evidence = { fact_of(ctx, gpu, "compute_mode"), "mps.daemons" });
		return GPU_ANSWERED;
	}
	FAIL(ctx, .subject = gpu->bdf.value,
	     .observed = text_printf(ctx, "the compute mode is %s",
				     nvml_compute_mode_words[gpu->compute_mode.value]),
	     .expected = "default", .evidence = { fact_of(ctx, gpu, "compute_mode") });
	return GPU_ANSWERED;
}

static void check_compute(struct rule_context *ctx)
{
	check_gpus(ctx, check_compute_of_gpu, "compute_mode", "the GPUs have no compute mode");
}

/* ---- peer-to-peer ---- */

static const char *const p2p_texts[] = {
	[NVML_P2P_CHIPSET] = "the chipset does not support it",
	[NVML_P2P_GPU] = "a GPU does not support it",
	[NVML_P2P_TOPOLOGY] = "the PCIe topology does not support it",
	[NVML_P2P_REGISTRY] = "a registry key of the driver disables it",
	[NVML_P2P_NOT_SUPPORTED] = "the driver does not support it",
	[NVML_P2P_UNKNOWN] = "the driver does not know why",
};

static const char *const p2p_remedies[] = {
	[NVML_P2P_GPU] = "Install a driver that supports it for these GPUs, or use other GPUs.",
	[NVML_P2P_REGISTRY] = "Remove the registry key that disables it from NVreg_RegistryDwords.",
	[NVML_P2P_NOT_SUPPORTED] = "Install a driver that supports it for these GPUs.",
	[NVML_P2P_UNKNOWN] = NULL, /* the rule's, as for the others */
};

/* What a driver never offers is no fault of this node: GeForce has none, and MIG ends it. */
static bool may_have_p2p(const struct node *node, const struct nvml_gpu *gpu)
{
	const struct pci_device *device = node_pci(node, gpu->bdf.value);

	return device && gpu_is_data_centre(device) && !known_is(gpu->mig, true);
}

static enum gpu_answer check_p2p_of_gpu(struct rule_context *ctx, const struct nvml_gpu *gpu)
{
	bool unknown = !was_read(gpu->peers);

	if (!may_have_p2p(ctx->node, gpu) || (is_known(gpu->peers) && !gpu->peers.count))
		return GPU_LACKS_IT;
	for_each(peer, &gpu->peers) {
		bool reads = !known_not(peer->read, NVML_P2P_IS_OK);
		struct fact_enum status = reads ? peer->write : peer->read;

		unknown |= is_unknown(peer->read) || is_unknown(peer->write);
		if (!known_not(status, NVML_P2P_IS_OK))
			continue;
		FAIL(ctx, .subject = gpu->bdf.value,
		     .observed = text_printf(ctx, "the GPU cannot %s the memory of %s: %s",
					     reads ? "write" : "read",
					     subject_name(ctx->node, peer->bdf.value, ctx->arena),
					     p2p_texts[status.value]),
		     .expected = "peer-to-peer between all GPUs",
		     .remedy = p2p_remedies[status.value],
		     .then = status.value == NVML_P2P_REGISTRY ? THEN_REBOOT : 0,
		     .evidence = { fact_of(ctx, gpu, "peers") });
		return GPU_ANSWERED;
	}
	return unknown ? GPU_UNKNOWN : GPU_HEALTHY;
}

static void check_p2p(struct rule_context *ctx)
{
	check_gpus(ctx, check_p2p_of_gpu, "peers",
		   "not two data-centre GPUs that could have peer-to-peer");
}

#define API "nvml.h of NVML 13 (github.com/NVIDIA/go-nvml, gen/nvml/nvml.h): "
#define SMI \
	"nvidia-smi(1) of driver 555.58.02: --ecc-config; CHANGE LOG, Known Issues (GPU reset, pending ECC mode)"
#define HOW "Asked only with --nvml: NVML opens the GPUs."

static const struct rule gpu_driver_rules[] = {
	{
		.id = "gpu/fabric-incomplete",
		.title = "A GPU has not joined the NVLink fabric, or the fabric is unhealthy",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_fabric,
		.impact = "CUDA fails with error 802, or NCCL and NVSHMEM hang or lose bandwidth.",
		.remedy =
			"Look at the state and the log of nvidia-fabricmanager. Then reset the GPUs while no job runs, or "
			"reboot.",
		.command = "systemctl status nvidia-fabricmanager",
		.action = ACTION_RESET_GPU,
		.activation = ACTIVATION_REBOOT,
		.reads = "nvmlDeviceGetGpuFabricInfoV: state, status, health mask. " HOW,
		.why = "On boards with NVSwitches a GPU can use NVLink only after fabric manager has "
		       "registered it.",
		.check = "nvidia-smi -q | grep -A8 Fabric",
		.sources = API "nvmlDeviceGetGpuFabricInfoV, "
			       "NVML_GPU_FABRIC_STATE, NVML_GPU_FABRIC_HEALTH_MASK",
	},
	{
		.id = "gpu/recovery-needed",
		.title = "The driver asks for a reset or a drain of a GPU",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_recovery,
		.impact = "New jobs on the GPU can fail, or lose their peers.",
		.remedy = "With no jobs on the node, do what the driver asks for.",
		.command = "sudo nvidia-smi -r -i BDF",
		.action = ACTION_RESET_GPU,
		.activation = ACTIVATION_REBOOT,
		.reads = "nvmlDeviceGetFieldValues: NVML_FI_DEV_GET_GPU_RECOVERY_ACTION. " HOW,
		.why = "The driver knows which of its errors a reset ends. Drivers that do not have this "
		       "field answer with an error, and the answer is unknown.",
		.check = "nvidia-smi -q | grep -i -A1 'Recovery Action'",
		.sources = API "NVML_FI_DEV_GET_GPU_RECOVERY_ACTION, "
			       "nvmlDeviceGpuRecoveryAction_t",
	},
	{
		.id = "gpu/hardware-slowdown",
		.title = "A GPU runs slowly: heat or lack of power slows it down",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_slowdown,
		.impact =
			"The GPU's clocks are half or less. A job runs as fast as its slowest GPU.",
		.remedy =
			"Check fans, air flow, cooling water and heat sinks, then power supplies and cables.",
		.repaired_by = BY_HARDWARE,
		.activation = ACTIVATION_NOW,
		.reads = "nvmlDeviceGetCurrentClocksThrottleReasons and the temperature. " HOW,
		.why = "Hardware slowdown reduces the core clocks by a factor of two or more. Software "
		       "power caps and idle clocks are normal, and no finding.",
		.check = "nvidia-smi -q -d PERFORMANCE,TEMPERATURE",
		.sources = API
		"nvmlClocksEventReasonHwSlowdown, HwThermalSlowdown, HwPowerBrakeSlowdown",
	},
	{
		.id = "gpu/power-limit-low",
		.title = "A GPU is slower than its model: its power limit is below the default",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_power,
		.needs_running = true,
		.impact = "The GPU computes more slowly than others of its model.",
		.remedy = "If no one wants the limit, set it to the default.",
		.activation = ACTIVATION_NOW,
		.reads = "nvmlDeviceGetPowerManagementLimit and ...DefaultLimit. " HOW,
		.why = "Some sites cap the power on purpose; then switch this rule off in the "
		       "configuration.",
		.check = "nvidia-smi -q -d POWER",
		.sources = API "nvmlDeviceGetPowerManagementLimit, "
			       "nvmlDeviceGetPowerManagementDefaultLimit",
	},
	{
		.id = "gpu/ecc-off",
		.title = "Memory errors of a GPU go unnoticed: ECC is off",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_ecc_mode,
		.impact = "Errors of the GPU's memory are not found: results can be wrong.",
		.wrong_data = true,
		.then = THEN_REBOOT,
		.remedy = "Turn ECC on.",
		.command = "sudo nvidia-smi -i BDF -e 1",
		.activation = ACTIVATION_REBOOT,
		.reads = "nvmlDeviceGetEccMode. " HOW,
		.why = "Only data-centre GPUs are checked. Workstation boards may have ECC off. A reset of the GPU may not be "
		       "enough to change the mode.",
		.check = "nvidia-smi -q -d ECC",
		.sources = API "nvmlDeviceGetEccMode, nvmlDeviceSetEccMode\n" SMI,
	},
	{
		.id = "gpu/sram-errors",
		.title = "A GPU has so many errors of its SRAM that it must be replaced",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_sram,
		.impact = "Jobs on the GPU are killed by memory errors again and again.",
		.remedy =
			"Take the GPU out of service, run NVIDIA's field diagnostic and have the board replaced.",
		.repaired_by = BY_HARDWARE,
		.action = ACTION_REPLACE_HARDWARE,
		.activation = ACTIVATION_NONE,
		.reads = "nvmlDeviceGetSramEccErrorStatus: bThresholdExceeded. " HOW,
		.why = "SRAM has no spare rows. Its threshold is more than four unique uncorrectable errors in "
		       "one bank with parity, or more than two in one with SECDED. NVIDIA then replaces the board "
		       "if the field diagnostic confirms it.",
		.check = "nvidia-smi -q -d ECC | grep -i threshold",
		.sources = "NVIDIA GPU Memory Error Management: RMA Policy (read in 2026)\n" API
			   "nvmlEccSramErrorStatus_v1_t",
	},
	{
		.id = "gpu/mode-pending",
		.title = "A change of ECC or MIG mode waits for a reset of the GPU or a reboot",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_pending_mode,
		.impact = "The next reset or reboot changes what jobs get.",
		.remedy = "Reset the GPU while no job runs, or set the mode back.",
		.command = "sudo nvidia-smi -r -i BDF",
		.action = ACTION_RESET_GPU,
		.activation = ACTIVATION_REBOOT,
		.reads = "nvmlDeviceGetEccMode and nvmlDeviceGetMigMode, current and pending. " HOW,
		.why = "A mode that differs from its pending one was set after the last reset.",
		.check = "nvidia-smi -q | grep -A2 -E 'ECC Mode|MIG Mode'",
		.sources = API "nvmlDeviceGetEccMode, nvmlDeviceGetMigMode\n" SMI,
	},
	{
		.id = "gpu/compute-mode",
		.title = "A second process on a GPU fails: its compute mode allows one or none",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_compute,
		.needs_running = true,
		.impact =
			"A second process on the GPU fails with \"device busy or unavailable\"; in the mode "
			"prohibited every process does.",
		.remedy = "Set the compute mode to default, unless the site wants this one.",
		.command = "sudo nvidia-smi -i BDF -c DEFAULT",
		.activation = ACTIVATION_NEW_JOBS,
		.reads = "nvmlDeviceGetComputeMode, and whether an MPS control daemon runs. " HOW,
		.why = "Exclusive-process lets one process at a time use the GPU, prohibited none. With MPS, exclusive-process is "
		       "intended: a note.",
		.check = "nvidia-smi -q -d COMPUTE",
		.sources = API "nvmlComputeMode_t, nvmlDeviceSetComputeMode\n"
			       "CUDA Multi-Process Service r550: GPU Compute Modes",
	},
	{
		.id = "gpu/p2p-refused",
		.title = "The driver refuses peer-to-peer between two GPUs",
		.profiles = PROFILE_P2P,
		.severity = SEVERITY_ERR,
		.evaluate = check_p2p,
		.impact =
			"NCCL copies between these GPUs through host memory. DeepEP cannot run on them: it needs NVLink.",
		.remedy = "Check ACS and the slots of the two GPUs.",
		.activation = ACTIVATION_REBOOT,
		.reads = "nvmlDeviceGetP2PStatus for reads and writes. " HOW,
		.why = "The driver says whether it allows peer-to-peer, and why not. It does not say "
		       "whether a copy works: prove tries that.",
		.check = "nvidia-smi topo -p2p r; nvidia-smi topo -p2p w",
		.sources = API "nvmlDeviceGetP2PStatus, nvmlGpuP2PStatus_t",
	},
};

RULE_TABLE(gpu_driver);
