/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-options.c - options of nvidia.ko that switch off what every node needs, now or at the next load
 * (rules driver/...). The options that DeepEP and IBGDA need are in driver-params.c. */
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "evaluate/known.h"
#include "evaluate/skip.h"
#include "parse/nvidia.h"
#include "parse/version.h"
#include "query/bootargs.h"
#include "query/gpus.h"
#include "query/kind.h"
#include "query/pci-device.h"
#include "query/registry-keys.h"
#include "query/setting.h"
#include "query/topology.h"

struct option {
	const char *name; /* in params */
	setting_is_good *wanted;
	const char *expected;
	enum severity severity;
};

static const char *text_or_default(const char *value)
{
	return value ? value : "the default";
}

/* Without one of several lines the others still set the option. */
static const char *with_places(struct rule_context *ctx, const char *option, const char *text)
{
	const char *places = setting_nvidia_places(ctx->node, option, ctx->arena);

	return places ? text_printf(ctx, "%s; %s is set at %s", text, option, places) : text;
}

static void check_wrong_option(struct rule_context *ctx, const struct option *option,
			       const struct setting *s, const struct setting_outcome *o)
{
	if (o->pending)
		PENDING(ctx, .subject = s->name,
			.observed = text_printf(
				ctx, "the running driver has %s; corrected after the boot",
				setting_quoted(ctx->arena, s->running.value)),
			.expected = option->expected, .remedy = "Reboot.",
			.evidence = { s->running.fact, s->configured.fact });
	else if (o->boot_right)
		FAIL_AS(ctx, option->severity, .subject = s->name,
			.observed = text_printf(ctx, "the running driver has %s; no file sets that",
						setting_quoted(ctx->arena, s->running.value)),
			.expected = option->expected, .remedy = "Reboot.", .has_fix = true,
			.action = ACTION_REBOOT,
			.evidence = { s->running.fact, s->configured.fact, s->early.fact });
	else
		FAIL_AS(ctx, option->severity, .subject = s->name,
			.observed = with_places(
				ctx, s->name,
				text_printf(ctx, "the running driver has %s",
					    setting_quoted(ctx->arena, s->running.value))),
			.expected = option->expected,
			.evidence = { s->running.fact, s->configured.fact, s->early.fact });
}

/* Returns true if it answered, which is never a pass. After skip_without_params(). */
static bool check_option(struct rule_context *ctx, const struct option *option)
{
	struct setting s = setting_nvreg(ctx->node, option->name, ctx->arena);
	struct setting_outcome o = setting_compare(&s, option->wanted, NULL);
	const struct setting_value *boot = s.early_counts ? &s.early : &s.configured;

	if (s.running.state != FACT_KNOWN)
		return false;
	if (!o.running_right) {
		check_wrong_option(ctx, option, &s, &o);
		return true;
	}
	if (boot->state != FACT_KNOWN || o.boot_right)
		return false;
	FAIL_AS(ctx, option->severity, .subject = s.name,
		.observed = with_places(
			ctx, s.name,
			text_printf(ctx, "the running driver has %s; the next load sets \"%s\"",
				    setting_quoted(ctx->arena, s.running.value),
				    text_or_default(boot->value))),
		.expected = option->expected, .evidence = { boot->fact, s.running.fact });
	return true;
}

/* One option that has to keep its value. */
static void check_single(struct rule_context *ctx, const struct option *option)
{
	if (skip_without_params(ctx) || check_option(ctx, option))
		return;
	if (node_param(ctx->node, option->name))
		PASS(ctx,
		     .evidence = { fact_path(ctx->arena, "driver.params", option->name, "value") });
	else
		NOT_APPLICABLE(ctx,
			       .observed = text_printf(ctx, "this driver has no parameter %s",
						       option->name),
			       .evidence = { "driver.params" });
}

/* Base 0, as the kernel reads module parameters; it refuses anything that is no number. */
static uint64_t number_of(const char *value, uint64_t standard)
{
	uint64_t number;

	return value && span_u64(span_of(value), 0, &number) == 0 ? number : standard;
}

static bool is_not_zero(const char *value, const void *user)
{
	(void)user;
	return number_of(value, 1) != 0;
}

static bool is_zero(const char *value, const void *user)
{
	(void)user;
	return number_of(value, 0) == 0;
}

static bool is_empty(const char *value, const void *user)
{
	(void)user;
	return !value || !*value;
}

/* drivers/pci/pci.c, pci_setup(): no driver of this node gets message-signalled interrupts. */
static bool is_nomsi(const struct node *node)
{
	return is_known(node->cmdline.running) &&
	       bootargs_find(node->cmdline.running.value, "pci", "nomsi");
}

static void check_msi(struct rule_context *ctx)
{
	if (skip_without_driver(ctx))
		return;
	if (is_nomsi(ctx->node))
		FAIL(ctx, .observed = "pci=nomsi is on the kernel command line",
		     .expected = "no pci=nomsi",
		     .impact =
			     "GPUs share wired interrupts or do not start. mlx5 devices need MSI-X and do not "
			     "start.",
		     .then = THEN_REBOOT,
		     .remedy = "Remove pci=nomsi from the kernel command line.",
		     .evidence = { "cmdline.running" });
	else
		check_single(ctx, &(struct option){ "EnableMSI", is_not_zero,
						    "EnableMSI=1, the default", SEVERITY_WARN });
}

static void check_register(struct rule_context *ctx)
{
	check_single(ctx, &(struct option){ "RegisterPCIDriver", is_not_zero,
					    "RegisterPCIDriver=1, the default", SEVERITY_ERR });
}

/* ---- GSP firmware ---- */

/* nv-firmware-registry.h: the low four bits are the mode, 0 is off, 2 the default policy. */
static bool firmware_on(const char *value, const void *user)
{
	(void)user;
	return (number_of(value, 0x12) & 0xf) != 0;
}

/* The open kernel modules ask for the firmware whatever the option says (rm_set_rm_firmware_requested() in osapi.c);
 * with the proprietary ones the processor can do its work. */
static void check_firmware_off(struct rule_context *ctx)
{
	check_single(ctx, &(struct option){ "EnableGpuFirmware", firmware_on,
					    "EnableGpuFirmware=18, the default", SEVERITY_INFO });
}

/* ---- excluded GPUs ---- */

static void check_excluded(struct rule_context *ctx)
{
	static const struct option options[] = {
		{ "ExcludedGpus", is_empty, "no GPU excluded", SEVERITY_WARN },
		{ "GpuBlacklist", is_empty, "no GPU excluded", SEVERITY_WARN },
		{ "ExcludeAllGpus", is_zero, "no GPU excluded", SEVERITY_WARN },
	};
	size_t before = ctx->findings->count;

	if (skip_without_gpu(ctx) || skip_without_params(ctx))
		return;
	for_each(g, &ctx->node->gpu.devices)
		if (known_is(g->excluded, true))
			FAIL(ctx, .subject = g->bdf.value, .observed = "GPU Excluded: Yes",
			     .expected = "every GPU in use",
			     .evidence = { fact_path(ctx->arena, "gpu.devices", g->bdf.value,
						     "excluded") });
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		check_option(ctx, &options[i]);
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "driver.params[ExcludedGpus].value", "gpu.devices" });
}

/* ---- NVLink ---- */

static bool leaves_nvlink_on(const char *value, const void *user)
{
	struct registry_entry entry;

	(void)user;
	return !registry_nvlink_off(value, &entry);
}

/* OFF, MIN, HALF, 3QUARTER, FULL (nv-reg.h, NVreg_RmNvlinkBandwidth). */
static bool is_full_bandwidth(const char *value, const void *user)
{
	(void)user;
	return !value || !*value || strcasecmp(value, "FULL") == 0;
}

/* Several data-centre GPUs of a node are connected by NVLink where their board has it. */
static enum severity severity_without_nvlink(const struct node *node)
{
	size_t data_centre = 0;

	for_each(d, &node->pci.devices) {
		if (pci_is_nvswitch(d))
			return SEVERITY_ERR;
		data_centre += pci_is_gpu(d) && gpu_is_data_centre(d);
	}
	return data_centre > 1 ? SEVERITY_ERR : SEVERITY_INFO;
}

static void check_nvlink_disabled(struct rule_context *ctx)
{
	struct option options[] = {
		{ "NvLinkDisable", is_zero, "NVLink not switched off", SEVERITY_ERR },
		{ "RegistryDwords", leaves_nvlink_on, "no key that switches NVLink off",
		  SEVERITY_ERR },
		{ "RegistryDwordsPerDevice", leaves_nvlink_on, "no key that switches NVLink off",
		  SEVERITY_ERR },
		{ "RmNvlinkBandwidth", is_full_bandwidth, "FULL, the default", SEVERITY_WARN },
		{ "RmNvlinkBandwidthLinkCount", is_zero, "0, the default: all links",
		  SEVERITY_WARN },
	};
	size_t before = ctx->findings->count;

	if (skip_without_gpu(ctx) || skip_without_params(ctx))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		enum severity most = severity_without_nvlink(ctx->node);

		if (options[i].severity > most)
			options[i].severity = most;
		check_option(ctx, &options[i]);
	}
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "driver.params[NvLinkDisable].value",
					"driver.params[RegistryDwords].value" });
}

/* ---- suspend ---- */

/* Returns true if all video memory is kept over a suspend. 2, the default from 595 on: with kernel suspend
 * notifiers. */
static bool keeps_video_memory(const struct node *node, const struct driver_param *preserve)
{
	const struct driver_param *notifiers = node_param(node, "UseKernelSuspendNotifiers");
	uint64_t value = number_of(preserve->value.value, 0);

	return value == 1 || (value == 2 && notifiers && number_of(notifiers->value.value, 0) != 0);
}

/* Servers are not suspended. */
static bool can_suspend(const struct node *node)
{
	for_each(d, &node->pci.devices)
		if (pci_is_gpu(d) && !gpu_is_data_centre(d))
			return true;
	return false;
}

/* With PreserveVideoMemoryAllocations=1 the driver waits for nvidia-suspend.service, which writes to
 * /proc/driver/nvidia/suspend: without it the kernel cannot suspend the GPU (nv.c, nv_pmops_suspend()). True where
 * something was answered. */
static bool check_suspend_service(struct rule_context *ctx, const struct driver_param *preserve)
{
	static const char param[] = "driver.params[PreserveVideoMemoryAllocations].value";
	static const char fact[] = "services.units[nvidia-suspend.service].enabled";
	const struct driver_param *notifiers = node_param(ctx->node, "UseKernelSuspendNotifiers");
	const struct service *service = node_service(ctx->node, "nvidia-suspend.service");
	bool installed = service && is_known(service->enabled);

	if (!preserve || number_of(preserve->value.value, 0) != 1 ||
	    (notifiers && number_of(notifiers->value.value, 0) != 0) || !can_suspend(ctx->node))
		return false;
	if (!was_read(ctx->node->services.units) || (service && is_unknown(service->enabled)))
		UNKNOWN(ctx, .subject = "nvidia-suspend.service", .evidence = { fact });
	else if (service && str_is(service->enabled, "enabled"))
		return false;
	else
		FAIL(ctx, .subject = "nvidia-suspend.service",
		     .observed = text_printf(
			     ctx,
			     "PreserveVideoMemoryAllocations=1, and nvidia-suspend.service is %s",
			     installed ? service->enabled.value : "not installed"),
		     .expected = "nvidia-suspend.service enabled",
		     .impact =
			     "The next suspend fails or hangs: \"nvidia: pci_pm_suspend(): nv_pmops_suspend "
			     "returns -5\".",
		     .remedy = text_printf(
			     ctx,
			     "%snable nvidia-suspend.service, nvidia-resume.service and "
			     "nvidia-hibernate.service. Or remove NVreg_PreserveVideoMemoryAllocations from "
			     "modprobe.d.",
			     installed ? "E"
				       : "Install the driver's package with these units, then e"),
		     .command = installed ? "sudo systemctl enable nvidia-suspend.service "
					    "nvidia-resume.service nvidia-hibernate.service"
					  : NULL,
		     /* The rule's sets the parameter, which is set. */
		     .has_fix = true, .activation = ACTIVATION_NOW, .is_kept = true,
		     .evidence = { param, fact });
	return true;
}

/* The open modules of some releases take the option and cannot suspend with it. Returns true if that was answered. */
static bool check_unsupported(struct rule_context *ctx)
{
	struct known_cause cause =
		known_cause(ctx, "PreserveVideoMemoryAllocations=1 with the open kernel modules");

	if (!cause.cure)
		return false;
	FAIL(ctx, .observed = cause.observed,
	     .expected = "an option that these kernel modules support",
	     .impact = "The node does not suspend, or does not come back from it.",
	     .remedy = cause.cure, .then = THEN_INITRAMFS | THEN_REBOOT, .source = cause.source,
	     .has_fix = true,
	     .evidence = { "driver.params[PreserveVideoMemoryAllocations].value", "driver.flavour",
			   "driver.version" });
	return true;
}

static void check_suspend(struct rule_context *ctx)
{
	const struct driver_param *preserve = node_param(ctx->node,
							 "PreserveVideoMemoryAllocations");
	const struct log_line *line = node_log(ctx->node, "suspend-entry");

	if (skip_without_gpu(ctx) || skip_without_params(ctx) || check_unsupported(ctx) ||
	    check_suspend_service(ctx, preserve))
		return;
	if (!line) {
		if (!skip_without_whole_log(ctx))
			NOT_APPLICABLE(ctx, .observed = "the node was not suspended since the boot",
				       .evidence = { "log.lines" });
	} else if (!preserve) {
		NOT_APPLICABLE(ctx,
			       .observed = "this driver has no parameter "
					   "PreserveVideoMemoryAllocations",
			       .evidence = { "driver.params" });
	} else if (keeps_video_memory(ctx->node, preserve)) {
		PASS(ctx, .evidence = { "driver.params[PreserveVideoMemoryAllocations].value" });
	} else if (ctx->node->services.uvm_sleep_hooks.count) {
		NOTE(ctx,
		     .observed = text_printf(
			     ctx,
			     "the node was suspended; %s loads nvidia_uvm again, so only "
			     "programs that ran then lost their memory",
			     ctx->node->services.uvm_sleep_hooks.items[0]),
		     .evidence = { "driver.params[PreserveVideoMemoryAllocations].value",
				   "services.uvm_sleep_hooks" });
	} else {
		FAIL(ctx,
		     .observed = text_printf(ctx,
					     "PreserveVideoMemoryAllocations=%s, and the node was "
					     "suspended: %s",
					     preserve->value.value, line->last.value),
		     .expected = "PreserveVideoMemoryAllocations=1",
		     .evidence = { "driver.params[PreserveVideoMemoryAllocations].value",
				   "log.lines[suspend-entry].last" });
	}
}

/* ---- how peers are mapped ---- */

static const struct iommu_device *translated(const struct node *node)
{
	for_each(i, &node->iommu.devices) {
		const struct pci_device *d = str_starts(i->type, "DMA")
						     ? node_pci(node, i->bdf.value)
						     : NULL;

		if (d && (pci_is_gpu(d) || topology_is_nic(node, d)))
			return i;
	}
	return NULL;
}

static void check_remap(struct rule_context *ctx)
{
	const struct iommu_device *group = translated(ctx->node);
	struct option option = { "DmaRemapPeerMmio", is_not_zero, "DmaRemapPeerMmio=1, the default",
				 SEVERITY_ERR };

	if (skip_without_params(ctx))
		return;
	if (!group)
		option.severity = SEVERITY_INFO;
	if (!group && !was_read(ctx->node->iommu.devices) && check_option(ctx, &option))
		UNKNOWN(ctx, .subject = "IOMMU", .evidence = { "iommu.devices" });
	else
		check_single(ctx, &option);
}

/* Overrides: 0 checks, 1 always allows, 2 always denies (nv-pci.c,
 * nv_grdma_pci_topology_supported()). Before TOPOLOGY_IS_CHECKED there is no such check, and any value but 0 allows a
 * direct link between GPU and NIC where GPU memory is coherent (nv_pci_is_valid_topology_for_direct_pci()). */
#define TOPOLOGY_IS_CHECKED "580.65.06"

static bool does_not_deny(const char *value, const void *user)
{
	(void)user;
	return number_of(value, 0) != 2;
}

/* Why this driver denies nothing, whatever the parameter says; NULL: it may. */
static const char *never_denies(const struct node *node)
{
	if (version_compare(node->driver.version.value, TOPOLOGY_IS_CHECKED) < 0)
		return "drivers before " TOPOLOGY_IS_CHECKED " deny no NIC";
	if (node_is(node, KIND_GH200) || node_is(node, KIND_GB200))
		return "the driver does not check GPUs with coherent memory";
	return NULL;
}

static void check_topology_check(struct rule_context *ctx)
{
	const struct driver_param *param = node_param(ctx->node, "GrdmaPciTopoCheckOverride");
	const struct log_line *refused = node_log(ctx->node, "dmabuf-attach-failed");
	struct option option = { "GrdmaPciTopoCheckOverride", does_not_deny,
				 "GrdmaPciTopoCheckOverride=0, the default", SEVERITY_ERR };

	if (skip_without_params(ctx))
		return;
	if (param && !is_known(ctx->node->driver.version)) {
		UNKNOWN(ctx, .evidence = { "driver.version" });
		return;
	}
	if (param && !refused && never_denies(ctx->node)) {
		NOT_APPLICABLE(ctx, .observed = never_denies(ctx->node),
			       .evidence = { "driver.version", "pci.devices" });
		return;
	}
	if (param && number_of(param->value.value, 0) == 0 && refused &&
	    str_is(ctx->node->os.machine, "aarch64"))
		FAIL_AS(ctx, SEVERITY_WARN, .subject = "NVreg_GrdmaPciTopoCheckOverride",
			.observed = text_printf(ctx, "0, and the driver refused a NIC: %s",
						refused->last.value),
			.expected = "GPU and NIC below one PCIe switch, or the check overridden",
			.remedy =
				"If the path is known to work, set NVreg_GrdmaPciTopoCheckOverride=1 "
				"for nvidia in modprobe.d and load the driver again.",
			.evidence = { "driver.params[GrdmaPciTopoCheckOverride].value",
				      "log.lines[dmabuf-attach-failed].last" });
	else
		check_single(ctx, &option);
}

#define OPTION_CHECK(name) \
	"grep " name " /proc/driver/nvidia/params; modprobe -c | grep NVreg_" name
#define OPTION_READS                                                                                      \
	"/proc/driver/nvidia/params for the running driver. modprobe.d, the kernel command line and the " \
	"initramfs for the next load."
#define OPTION_REMEDY "Remove the option from modprobe.d."

static const struct rule driver_options_rules[] = {
	{
		.id = "driver/msi-disabled",
		.title = "GPUs are slow or do not start: message-signalled interrupts are off",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_msi,
		.impact =
			"GPUs share wired interrupts with other devices, or do not start: \"Can't find an "
			"IRQ\".",
		.then = THEN_INITRAMFS | THEN_REBOOT,
		.remedy = OPTION_REMEDY,
		.fix = { "remove-option" },
		.activation = ACTIVATION_REBOOT,
		.reads = OPTION_READS,
		.why = "With EnableMSI=0 the driver uses wired interrupts. pci=nomsi removes message-signalled interrupts "
		       "from every device.",
		.check = OPTION_CHECK("EnableMSI"),
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-reg.h (EnableMSI), "
			"kernel-open/nvidia/nv-pci.c (nv_pci_probe)\n"
			"Linux 6.12.117: drivers/pci/pci.c (pci_setup)",
	},
	{
		.id = "driver/register-pci-driver",
		.title = "No GPU works: an option keeps the driver from binding them",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_register,
		.impact = "The module loads, but no GPU is available: \"No devices were found\".",
		.then = THEN_INITRAMFS | THEN_REBOOT,
		.remedy = OPTION_REMEDY,
		.fix = { "remove-option" },
		.activation = ACTIVATION_REBOOT,
		.reads = OPTION_READS,
		.why = "With RegisterPCIDriver=0 the driver does not register with the kernel's PCI subsystem, which then "
		       "offers it no GPU.",
		.check = OPTION_CHECK("RegisterPCIDriver"),
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-reg.h (RegisterPCIDriver)",
	},
	{
		.id = "driver/gpu-firmware-off",
		.title = "An option is set that switches the GPU's firmware off, or has no effect",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_INFO,
		.evaluate = check_firmware_off,
		.impact =
			"None with the open kernel modules. With the proprietary ones the driver runs on the processor alone.",
		.then = THEN_INITRAMFS | THEN_REBOOT,
		.remedy = OPTION_REMEDY,
		.fix = { "remove-option" },
		.activation = ACTIVATION_REBOOT,
		.reads = OPTION_READS,
		.why = "The open kernel modules use the firmware of the GPU System Processor (GSP) for every GPU but a vGPU, and "
		       "ignore this option. With the proprietary modules EnableGpuFirmware=0 is a legitimate workaround before "
		       "Blackwell.",
		.check = OPTION_CHECK("EnableGpuFirmware"),
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/common/inc/nv-firmware-registry.h; 515.43.04 and "
			"595.45.04: src/nvidia/arch/nvalloc/unix/src/osapi.c (rm_set_rm_firmware_requested)\n"
			"github.com/NVIDIA/open-gpu-kernel-modules issue 820",
	},
	{
		.id = "driver/gpu-excluded",
		.title = "CUDA sees fewer GPUs: an option excludes a GPU",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_excluded,
		.impact =
			"CUDA sees fewer GPUs than the node has. The indices of the others shift.",
		.then = THEN_INITRAMFS | THEN_REBOOT,
		.remedy = "If the GPU works or was replaced, remove the option from modprobe.d.",
		.fix = { "remove-option" },
		.activation = ACTIVATION_REBOOT,
		.reads = OPTION_READS
		" And \"GPU Excluded\" in /proc/driver/nvidia/gpus/*/information.",
		.why = "ExcludedGpus names UUIDs. GpuBlacklist"
		       " is its old name. ExcludeAllGpus excludes all of them.",
		.check = "grep -r 'GPU Excluded' /proc/driver/nvidia/gpus/; " OPTION_CHECK(
			"ExcludedGpus"),
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-reg.h (ExcludedGpus), "
			"kernel-open/nvidia/nv-procfs.c (GPU Excluded)",
	},
	{
		.id = "driver/nvlink-disabled-regkey",
		.title = "GPUs lose NVLink or a part of it: a driver option disables it",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_nvlink_disabled,
		.impact =
			"GPUs copy over PCIe or through host memory. NVLS and DeepEP's kernels within a node need NVLink.",
		.then = THEN_INITRAMFS | THEN_REBOOT,
		.remedy = OPTION_REMEDY " Keep the other keys of RegistryDwords.",
		.fix = { "remove-option" },
		.activation = ACTIVATION_REBOOT,
		.reads = OPTION_READS,
		.why = "NvLinkDisable, and in RegistryDwords RMNvLinkControl (bit 0), switch NVLink off. RMNvLinkDisableLinks and "
		       "RMNvLinkEnable remove single links or all. On an H20 board with RMNvLinkEnable=0 NCCL copied through host "
		       "memory. On a node without NVSwitch and with fewer than "
		       "two data-centre GPUs this is a note.",
		.check =
			"grep -iE 'NvLink|RegistryDwords' /proc/driver/nvidia/params; nvidia-smi nvlink -s",
		.sources =
			"open-gpu-kernel-modules 595.45.04: src/nvidia/interface/nvrm_registry.h (RMNvLink*),"
			" kernel-open/nvidia/nv-reg.h (NvLinkDisable)\n"
			"DeepEP 2.1.0: docs/nvshmem.md (Prerequisites)\n"
			"github.com/NVIDIA/nccl-tests issue 250",
	},
	{
		.id = "driver/video-memory-lost-at-suspend",
		.title = "CUDA programs fail after suspend: the driver does not keep video memory",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_suspend,
		.impact =
			"Programs that used a GPU before the suspend lose their data or crash after it.",
		.then = THEN_REBOOT,
		.remedy = "Set NVreg_PreserveVideoMemoryAllocations=1 and enable "
			  "nvidia-suspend.service and nvidia-resume.service. Rebuild the initramfs "
			  "if it loads the driver.",
		.fix = { "set-option", { "nvidia", "NVreg_PreserveVideoMemoryAllocations", "1" } },
		.activation = ACTIVATION_REBOOT,
		.reads =
			"nvidia-suspend.service, \"PM: suspend entry\" in the kernel log, and PreserveVideoMemoryAllocations and "
			"UseKernelSuspendNotifiers in /proc/driver/nvidia/params. Programs in /usr/lib/systemd/system-sleep.",
		.why = "With 0 the driver saves only some allocations over suspend and hibernation. From 595 on the default "
		       "is 2: all of them if kernel suspend notifiers are on. With 1 and without notifiers the suspend "
		       "needs nvidia-suspend.service. A hook that loads nvidia_uvm again makes it a note. Some releases of the open "
		       "modules do not support the option (data/known-bad.tsv).",
		.check =
			"grep -E 'PreserveVideo|SuspendNotifiers' /proc/driver/nvidia/params; dmesg | grep 'suspend entry'",
		.cost = "The memory is saved to a file in NVreg_TemporaryFilePath, /tmp by default. It needs that much space.",
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-reg.h (PreserveVideoMemoryAllocations, "
			"TemporaryFilePath), kernel-open/nvidia/nv.c, src/nvidia/arch/nvalloc/unix/src/osinit.c",
	},
	{
		.id = "driver/dma-remap-peer-mmio",
		.title = "Peer-to-peer faults behind the IOMMU: DmaRemapPeerMmio=0 is set",
		.profiles = PROFILE_GPUDIRECT_ANY | PROFILE_P2P,
		.severity = SEVERITY_ERR,
		.evaluate = check_remap,
		.impact =
			"With a translating IOMMU, transfers between GPUs or between GPU and NIC fault or "
			"deliver zeros.",
		.wrong_data = true,
		.then = THEN_INITRAMFS | THEN_REBOOT,
		.remedy = OPTION_REMEDY,
		.fix = { "remove-option" },
		.activation = ACTIVATION_REBOOT,
		.reads = OPTION_READS " And the type of the IOMMU groups of GPUs and NICs.",
		.why = "With DmaRemapPeerMmio=0 the driver uses raw bus addresses of a peer's BAR. Without a"
		       " translating IOMMU that works and is a note.",
		.check = OPTION_CHECK(
			"DmaRemapPeerMmio") "; cat /sys/kernel/iommu_groups/*/type | sort | "
					    "uniq -c",
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-dma.c (nv_dma_map_peer), "
			"kernel-open/nvidia/nv-reg.h (DmaRemapPeerMmio)",
	},
	{
		.id = "driver/grdma-topo-override",
		.title = "GPUDirect RDMA fails: the driver refuses the path between GPU and NIC",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_topology_check,
		.impact =
			"Registering GPU memory with the NIC fails: \"dma-buf attach failed: PCI topology not "
			"supported\".",
		.then = THEN_INITRAMFS | THEN_REBOOT,
		.remedy = OPTION_REMEDY,
		.fix = { "remove-option" },
		.activation = ACTIVATION_REBOOT,
		.reads = OPTION_READS " And the kernel log.",
		.why = "From 580.65.06 on GrdmaPciTopoCheckOverride=2 denies every NIC and 1 allows every NIC. 0, the default, "
		       "allows all NICs except on chipsets that the driver knows to lack PCIe peer-to-peer "
		       "(Grace, Ampere Altra, AmpereOne): there GPU and NIC need a common PCIe switch. With 0 it allows "
		       "all in virtual machines with passed-through GPUs. Platforms with coherent GPU memory are not "
		       "checked. Drivers from 570.86.15 to before 580.65.06 have the parameter, and deny nothing by it.",
		.check =
			OPTION_CHECK("GrdmaPciTopoCheckOverride") "; dmesg | grep 'dma-buf attach'",
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-pci.c "
			"(nv_grdma_pci_topology_supported), src/nvidia/arch/nvalloc/unix/src/osinit.c "
			"(_checkP2pChipsetSupport)\n"
			"open-gpu-kernel-modules 550.163.01, 570.86.15, 575.64.05 and 580.65.06: kernel-open/nvidia/nv-reg.h, "
			"nv-pci.c",
	},
};

RULE_TABLE(driver_options);
