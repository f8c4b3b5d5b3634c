/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-versions.c - the driver's version and flavour against what leans on it: the GPU, its firmware,
 * CUDA, and what the next load brings. */
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/driver-files.h"
#include "query/gpus.h"
#include "query/pci-device.h"
#include "query/setting.h"

/* ---- Blackwell ---- */

static bool is_blackwell(const struct pci_device *device)
{
	const struct gpu_model *model = gpu_model(device);

	return model && strcmp(model->architecture, "Blackwell") == 0;
}

static bool may_be_blackwell(const struct pci_device *device)
{
	return !gpu_model(device) && is_known(device->device_id) &&
	       device->device_id.value >= BLACKWELL_FIRST_ID;
}

/* The loaded driver's flavour; if none is loaded, that of the module on disk. */
static struct fact_enum flavour(struct rule_context *ctx, const char **fact)
{
	const struct node *node = ctx->node;
	const struct module_file *file;

	*fact = "driver.banner";
	if (!known_is(node->driver.loaded, false))
		return node->driver.flavour;
	*fact = "modules.files";
	if (!is_known(node->os.kernel))
		return (struct fact_enum){ 0 };
	file = driver_file(node, node->os.kernel.value);
	if (!file || !is_known(file->license))
		return (struct fact_enum){ .state = file ? FACT_UNKNOWN
							 : node->modules.files.state };
	*fact = fact_path(ctx->arena, "modules.files", file->path.value, "license");
	return fact_enum(str_is(file->license, "NVIDIA") ? FLAVOUR_PROPRIETARY : FLAVOUR_OPEN);
}

static void check_one_blackwell(struct rule_context *ctx, const struct pci_device *d,
				struct fact_enum found, const char *fact)
{
	const char *id = fact_path(ctx->arena, "pci.devices", d->bdf.value, "device_id");

	if (!is_known(found))
		UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { fact });
	else if (found.value == FLAVOUR_OPEN)
		PASS(ctx, .subject = d->bdf.value, .evidence = { fact, id });
	else if (is_blackwell(d))
		FAIL(ctx, .subject = d->bdf.value,
		     .observed = text_printf(ctx, "%s with the proprietary kernel modules",
					     gpu_model(d)->name),
		     .expected = "the open kernel modules", .evidence = { fact, id });
	else
		UNKNOWN(ctx, .subject = d->bdf.value,
			.observed =
				text_printf(ctx,
					    "the proprietary kernel modules, and a GPU (%04" PRIx64
					    ") that is not in the table of models",
					    d->device_id.value),
			.evidence = { id });
}

static void check_blackwell(struct rule_context *ctx)
{
	struct fact_enum found;
	const char *fact;
	size_t before = ctx->findings->count;

	if (skip_without_gpu(ctx))
		return;
	found = flavour(ctx, &fact);
	for_each(d, &ctx->node->pci.devices)
		if (pci_is_gpu(d) && (is_blackwell(d) || may_be_blackwell(d)))
			check_one_blackwell(ctx, d, found, fact);
	if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx, .observed = "no Blackwell GPU", .evidence = { "pci.devices" });
}

/* ---- firmware ---- */

static const struct gpu *gpu_with_firmware(const struct node *node)
{
	for_each(g, &node->gpu.devices)
		if (is_known(g->firmware))
			return g;
	return NULL;
}

/* The kernel looks there first (firmware_class.path, Documentation/driver-api/firmware). */
static bool firmware_elsewhere(const struct node *node)
{
	for_each(arg, &node->cmdline.args)
		if (str_is(arg->key, "firmware_class.path"))
			return true;
	return false;
}

/* From 555 on the proprietary modules use the firmware of every GPU that has a GSP, unless it is switched off. */
static bool uses_firmware(const struct node *node)
{
	const struct driver_param *param = node_param(node, "EnableGpuFirmware");
	uint64_t value;

	if (param && is_known(param->value) &&
	    span_u64(span_of(param->value.value), 0, &value) == 0 && (value & 0xf) == 0)
		return false;
	return version_compare(node->driver.version.value, "555") >= 0;
}

/* The proprietary modules ask for the firmware too, and start most GPUs without it. */
static void note_gsp_firmware(struct rule_context *ctx)
{
	const struct log_line *line = node_log(ctx->node, "gsp-firmware-not-found");

	if (line && uses_firmware(ctx->node))
		FAIL_AS(ctx, SEVERITY_WARN, .observed = line->last.value,
			.expected = "the firmware of the loaded version",
			.impact =
				"The proprietary modules start the GPU without its GSP, which this "
				"driver uses by default: slower, and less tested.",
			.remedy =
				"Install the package with the firmware of this driver version, on "
				"Debian firmware-nvidia-gsp, and load the driver again. If the GPU "
				"is to run without GSP, set NVreg_EnableGpuFirmware=0.",
			.evidence = { "log.lines[gsp-firmware-not-found].last", "driver.version" });
	else if (line)
		NOTE(ctx,
		     .observed = text_printf(
			     ctx, "%s; the proprietary modules also work without this firmware",
			     line->last.value),
		     .evidence = { "log.lines[gsp-firmware-not-found].last", "driver.flavour" });
	else
		NOT_APPLICABLE(
			ctx, .observed = "the proprietary modules also work without this firmware",
			.evidence = { "driver.flavour" });
}

/* nv-firmware-registry.h: the mode is the low four bits, 1 is on; 0x10 allows a start without the firmware. */
static bool demands_firmware(const struct node *node)
{
	const struct driver_param *param = node_param(node, "EnableGpuFirmware");
	uint64_t value;

	if (!param || !is_known(param->value) || span_u64(span_of(param->value.value), 0, &value) ||
	    (value & 0xf) != 1 || value & 0x10)
		return false;
	for_each(d, &node->pci.devices)
		if (pci_is_gpu(d) && gpu_model(d) && !gpu_is_before_turing(d))
			return true;
	return false;
}

static void check_gsp_firmware(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct log_line *line = node_log(node, "gsp-firmware-missing");
	const struct gpu *running = gpu_with_firmware(node);

	if (skip_unless_for_gpus(ctx) || skip_without_driver(ctx))
		return;
	if (known_is(node->driver.flavour, FLAVOUR_PROPRIETARY) && !line && !demands_firmware(node))
		note_gsp_firmware(ctx);
	else if (running)
		PASS(ctx, .subject = NULL,
		     .observed = text_printf(ctx, "firmware %s is running",
					     running->firmware.value),
		     .evidence = { fact_path(ctx->arena, "gpu.devices", running->bdf.value,
					     "firmware") });
	else if (line)
		FAIL(ctx, .observed = line->last.value,
		     .expected = "the firmware of the loaded version",
		     .evidence = { "log.lines[gsp-firmware-missing].last", "driver.gsp_firmware" });
	else if (node->driver.gsp_firmware.count)
		PASS(ctx, .evidence = { "driver.gsp_firmware" });
	else if (!was_read(node->driver.gsp_firmware))
		UNKNOWN(ctx, .evidence = { "driver.gsp_firmware" });
	else if (firmware_elsewhere(node) || is_known(node->os.container))
		UNKNOWN(ctx, .observed = "the kernel's firmware folder was not read",
			.evidence = { "driver.gsp_firmware" });
	else
		FAIL(ctx,
		     .observed = text_printf(ctx, "no gsp_*.bin in /lib/firmware/nvidia/%s",
					     node->driver.version.value),
		     .expected = "the firmware of the loaded version",
		     .evidence = { "driver.gsp_firmware", "driver.version" });
}

/* ---- the next load ---- */

struct next_load {
	const char *version;
	const char *fact;
};

/* The module that the next boot loads: from its initramfs if nvidia.ko is inside, else from /lib/modules. */
static bool find_next(struct rule_context *ctx, const char *kernel, struct next_load *next)
{
	const struct initramfs_image *image = setting_next_initramfs(ctx->node);
	const struct module_file *file = driver_file(ctx->node, kernel);

	for (uint32_t i = 0; image && i < image->modules.count; i++)
		if (str_is(image->modules.items[i].name, "nvidia") &&
		    is_known(image->modules.items[i].version)) {
			next->version = image->modules.items[i].version.value;
			next->fact = text_printf(ctx, "initramfs.images[%s].modules[%s].version",
						 image->path.value,
						 image->modules.items[i].path.value);
			return true;
		}
	if (!file || !is_known(file->version))
		return false;
	next->version = file->version.value;
	next->fact = fact_path(ctx->arena, "modules.files", file->path.value, "version");
	return true;
}

static bool has_nvswitch(const struct node *node)
{
	for_each(d, &node->pci.devices)
		if (pci_is_nvswitch(d))
			return true;
	return false;
}

/* A library of VERSION, or NULL. */
static const struct software_item *library_of(const struct node *node, const char *version)
{
	for_each(item, &node->software.items)
		if (driver_is_library(item) && str_is(item->version, version))
			return item;
	return NULL;
}

static void compare_next(struct rule_context *ctx, const struct next_load *next)
{
	const struct node *node = ctx->node;
	struct driver_libraries libraries = driver_libraries(node);
	const struct software_item *manager = has_nvswitch(node)
						      ? node_software(node, "fabricmanager")
						      : NULL;

	if (!libraries.same && libraries.other)
		NOT_APPLICABLE(
			ctx,
			.observed = "the versions differ now: driver/library-mismatch reports it",
			.evidence = { software_version_fact(ctx->arena, libraries.other),
				      "driver.version" });
	else if (strcmp(next->version, node->driver.version.value) == 0)
		PASS(ctx, .evidence = { next->fact, "driver.version" });
	else if (libraries.same && !library_of(node, next->version))
		FAIL(ctx, .subject = "libraries",
		     .observed = text_printf(ctx, "the next load brings driver %s; %s is %s",
					     next->version, libraries.same->name.value,
					     libraries.same->version.value),
		     .expected = "one version of kernel module and libraries after the next load",
		     .evidence = { next->fact, software_version_fact(ctx->arena, libraries.same),
				   "driver.version" });
	else if (manager && is_known(manager->version) && !str_is(manager->version, next->version))
		FAIL(ctx, .subject = "fabric manager",
		     .observed = text_printf(
			     ctx, "the next load brings driver %s; the fabric manager is %s",
			     next->version, manager->version.value),
		     .expected = "a fabric manager of the driver's version",
		     .impact =
			     "The fabric manager does not start: CUDA fails with \"system not yet "
			     "initialized\" (802).",
		     .evidence = { next->fact, software_version_fact(ctx->arena, manager),
				   "driver.version" });
	else
		PASS(ctx,
		     .observed = text_printf(
			     ctx, "the next load brings driver %s; its libraries are installed",
			     next->version),
		     .evidence = { next->fact });
}

static void check_next_load(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const struct boot_facts *boot = &node->boot;
	const char *kernel = is_known(boot->next_kernel) ? boot->next_kernel.value
			     : is_known(node->os.kernel) ? node->os.kernel.value
							 : NULL;
	struct next_load next;

	if (skip_without_driver(ctx))
		return;
	if (!kernel)
		UNKNOWN(ctx, .evidence = { "os.kernel" });
	else if (!was_read(node->modules.files))
		UNKNOWN(ctx, .evidence = { "modules.files" });
	else if (!was_read(node->software.items))
		UNKNOWN(ctx, .evidence = { "software.items" });
	else if (find_next(ctx, kernel, &next))
		compare_next(ctx, &next);
	else if (driver_file(node, kernel))
		UNKNOWN(ctx, .evidence = { fact_path(ctx->arena, "modules.files",
						     driver_file(node, kernel)->path.value,
						     "version") });
	else
		NOT_APPLICABLE(ctx,
			       .observed = text_printf(
				       ctx, "no nvidia.ko for %s under /lib/modules", kernel),
			       .evidence = { "modules.files" });
}

/* ---- persistence ---- */

/* The daemon is there, nothing starts it, and no service here is known to keep the GPUs open in its place. */
static bool is_left_disabled(const struct node *node, const struct service *persistenced)
{
	static const char *const clients[] = { "nvidia-dcgm.service", "nvidia-gridd.service" };

	for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
		const struct service *s = node_service(node, clients[i]);

		if (s && str_is(s->active, "active"))
			return false;
	}
	return str_is(persistenced->enabled, "disabled");
}

static void check_persistence(struct rule_context *ctx)
{
	const struct service *service = node_service(ctx->node, "nvidia-persistenced.service");
	bool data_centre = false;

	if (skip_without_gpu(ctx) || skip_without_driver(ctx))
		return;
	for_each(d, &ctx->node->pci.devices)
		data_centre |= pci_is_gpu(d) && gpu_is_data_centre(d);
	if (!data_centre)
		NOT_APPLICABLE(ctx, .observed = "no data-centre GPU",
			       .evidence = { "pci.devices" });
	else if (!service || is_unknown(service->active))
		UNKNOWN(ctx,
			.evidence = { service ? "services.units[nvidia-persistenced.service].active"
					      : "services.units" });
	else if (str_is(service->active, "active"))
		PASS(ctx, .evidence = { "services.units[nvidia-persistenced.service].active" });
	else
		FAIL_AS(ctx, is_left_disabled(ctx->node, service) ? SEVERITY_WARN : SEVERITY_INFO,
			.observed = text_printf(ctx, "nvidia-persistenced is %s%s",
						service->active.value,
						str_is(service->enabled, "disabled")
							? ", and installed without being enabled"
							: ""),
			.expected = "a program that keeps the GPUs open",
			.evidence = { "services.units[nvidia-persistenced.service].active",
				      "services.units[nvidia-persistenced.service].enabled" });
}

static const struct rule driver_versions_rules[] = {
	{
		.id = "driver/proprietary-on-blackwell",
		.title = "A Blackwell GPU does not start: the kernel modules are proprietary",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_CRIT,
		.evaluate = check_blackwell,
		.impact =
			"The GPU does not initialise: \"RmInitAdapter failed\". nvidia-smi finds no device.",
		.then = THEN_REBOOT,
		.remedy =
			"Install the open kernel modules of the same driver version. If it is before branch 570, which is the "
			"first for Blackwell, install a later driver with them.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"PCI ids in the table of GPU models, and the flavour of the loaded driver. If none is"
			" loaded: the licence of nvidia.ko on disk.",
		.why = "Only the open kernel modules drive Blackwell and later GPUs. A PCI id above "
		       "Blackwell's first one that is not in the table is unknown.",
		.check = "head -1 /proc/driver/nvidia/version; lspci -nnd 10de:",
		.cost = "Other packages and a reboot.",
		.sources =
			"NVIDIA driver 595 README: chapter Open Linux Kernel Modules\n"
			"open-gpu-kernel-modules 565.77 and 570.86.15: README.md (Compatible GPUs)\n"
			"github.com/Start9Labs/start-technologies pull 3693",
	},
	{
		.id = "driver/gsp-firmware-missing",
		.title =
			"GPUs do not start, or run without GSP: firmware of this driver is missing",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.follows = { "driver/library-mismatch" },
		.evaluate = check_gsp_firmware,
		.impact =
			"\"No firmware image found\" or \"GSP firmware image version mismatch\", then "
			"\"RmInitAdapter failed\".",
		.then = THEN_RELOAD,
		.remedy = "Install the driver's firmware package of exactly the loaded version. If "
			  "the initramfs loads the driver, rebuild it.",
		.repaired_by = BY_ADMIN,
		.activation = ACTIVATION_RELOAD,
		.reads = "/lib/firmware/nvidia/VERSION/gsp_*.bin, \"GPU Firmware\" in "
			 "/proc/driver/nvidia/gpus/*/information, and the kernel log.",
		.why = "The open kernel modules start the GPU with firmware of their own version. The "
		       "firmware can be in the initramfs only, so a GPU that runs it passes. "
		       "firmware_class.path= names a folder that the kernel searches first. The proprietary modules need it "
		       "with NVreg_EnableGpuFirmware=1, on GPUs from Turing on.",
		.check =
			"ls /lib/firmware/nvidia/$(cat /sys/module/nvidia/version); dmesg | grep 'firmware "
			"image'",
		.sources =
			"open-gpu-kernel-modules 595.45.04: src/nvidia/arch/nvalloc/unix/src/osinit.c (No "
			"firmware image found), src/nvidia/src/kernel/gpu/gsp/kernel_gsp.c, "
			"kernel-open/nvidia/nv-procfs.c, kernel-open/common/inc/nv-firmware-registry.h\n"
			"NVIDIA driver 565.57.01: README, GSP Firmware\n"
			"github.com/endlessm/eos-meta pull 811 (555.58.02)",
	},
	{
		.id = "driver/next-load-skew",
		.title = "CUDA will fail after the next boot: it loads another driver version",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_next_load,
		.impact =
			"After the next boot or reload CUDA fails (error 803), and nvidia-smi says: \"Driver/library version "
			"mismatch\".",
		.remedy =
			"Finish the update, or go back to the old packages: kernel module, libraries and "
			"fabric manager need one version. Then rebuild the initramfs if it holds the driver.",
		.activation = ACTIVATION_NONE,
		.reads =
			"The version of nvidia.ko that the next boot loads, from its initramfs or from "
			"/lib/modules. The versions of libcuda and libnvidia-ml, and of the fabric manager on"
			" nodes with NVSwitch.",
		.why = "The node works until it reboots. Only then the module on disk replaces the loaded "
		       "one.",
		.check = "modinfo -F version nvidia; cat /sys/module/nvidia/version; ls "
			 "/usr/lib/*/libcuda.so.*",
		.sources =
			"open-gpu-kernel-modules 595.45.04: src/nvidia/arch/nvalloc/unix/src/osapi.c (API "
			"mismatch)\n"
			"NVIDIA Fabric Manager User Guide 2.3 (March 2025): Other NVIDIA Software Packages",
	},
	{
		.id = "driver/persistence",
		.title = "The GPUs lose their settings between jobs: no persistence daemon runs",
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.evaluate = check_persistence,
		.impact =
			"The driver initialises the GPUs again for each first client. nvidia-smi and the first job wait some "
			"seconds, with many GPUs so long that nvidia-container-cli gives up (\"driver rpc error: timed "
			"out\"). Clocks and settings of nvidia-smi are lost when the last client ends.",
		.remedy = "Start nvidia-persistenced if no other program keeps the GPUs open.",
		.command = "sudo systemctl enable --now nvidia-persistenced",
		.fix = { "start-service", { "nvidia-persistenced.service" } },
		.activation = ACTIVATION_NOW,
		.reads = "The state of nvidia-persistenced.service.",
		.why = "Without a client the driver discards the GPU's state. DCGM or a running job is a client too. "
		       "nvidia-smi -pm 1 is not visible without opening the GPU. The finding is a warning where the "
		       "daemon is installed and its unit is disabled.",
		.check = "systemctl status nvidia-persistenced; nvidia-smi -q | grep Persistence",
		.sources =
			"NVIDIA Driver Persistence r580: Persistence Daemon\n"
			"nvidia-persistenced 410f354 (2026-04-28): nvidia-persistenced.1.m4, DESCRIPTION\n"
			"github.com/NVIDIA/nvidia-container-toolkit issue 202\n"
			"github.com/GoogleCloudPlatform/ai-infra-cluster-provisioning issue 227",
	},
};

RULE_TABLE(driver_versions);
