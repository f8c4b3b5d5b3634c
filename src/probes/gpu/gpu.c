/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gpu.c - the NVIDIA GPUs as their driver describes them (open-gpu-kernel-modules:
 * kernel-open/nvidia/nv-procfs.c, nv_procfs_read_gpu_info).
 */
#include <string.h>

#include "parse/field.h"
#include "probes/probe.h"
#include "query/node-find.h"
#include "query/pci-device.h"

#define PCI "/sys/bus/pci/devices"
#define GPUS "/proc/driver/nvidia/gpus"
#define CAPABILITIES "/proc/driver/nvidia/capabilities"

/* Absent: this driver has no such line. What it has not found out yet it fills with '?'. */
static struct fact_str read_text(struct probe_context *ctx, struct span text, const char *name)
{
	struct span value;

	if (!field_find(text, ':', name, &value))
		return FACT_NONE(fact_str);
	if (span_find(value, '?') < value.n)
		return (struct fact_str){ 0 };
	return probe_span(ctx, value);
}

static void describe(struct probe_context *ctx, struct gpu *gpu, struct span text)
{
	struct fact_str excluded = read_text(ctx, text, "GPU Excluded");
	struct span minor, bits, number;

	gpu->model = read_text(ctx, text, "Model");
	gpu->uuid = read_text(ctx, text, "GPU UUID");
	gpu->video_bios = read_text(ctx, text, "Video BIOS");
	gpu->firmware = read_text(ctx, text, "GPU Firmware");
	if (str_is(gpu->firmware, "N/A"))
		gpu->firmware = FACT_NONE(fact_str);
	gpu->excluded.state = excluded.state;
	if (is_known(excluded))
		gpu->excluded = fact_bool(str_is(excluded, "Yes"));
	/* "DMA Size: 47 bits" */
	gpu->dma_bits.state = FACT_ABSENT;
	if (field_find(text, ':', "DMA Size", &bits) && span_word(&bits, &number) &&
	    span_u64(number, 10, &gpu->dma_bits.value) == 0)
		gpu->dma_bits.state = FACT_KNOWN;
	gpu->minor.state = FACT_ABSENT;
	if (field_find(text, ':', "Device Minor", &minor) &&
	    span_u64(minor, 10, &gpu->minor.value) == 0)
		gpu->minor.state = FACT_KNOWN;
}

/* GPU instances stand as gi0, gi1, ... below the GPU's minor number. */
static void count_instances(struct probe_context *ctx, struct gpu *gpu)
{
	_cleanup_names_ struct names names = { 0 };
	int rc;

	if (!is_known(gpu->minor)) {
		gpu->mig_instances.state = gpu->minor.state;
		return;
	}
	rc = host_list(ctx->host, &names, CAPABILITIES "/gpu%u/mig",
		       (unsigned int)gpu->minor.value);
	gpu->mig_instances.state = probe_state(rc);
	for (size_t i = 0; i < names.count; i++)
		gpu->mig_instances.value += span_starts(span_of(names.items[i]), "gi");
}

static void read_information(struct probe_context *ctx, struct gpu *gpu)
{
	_cleanup_text_ struct text text = { 0 };
	enum fact_state state;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, GPUS "/%s/information", gpu->bdf.value);

	if (rc == 0) {
		describe(ctx, gpu, text_span(&text));
		if (!is_known(gpu->uuid) || !is_known(gpu->video_bios))
			host_gap_note(
				ctx->host,
				arena_printf(ctx->arena, GPUS "/%s/information", gpu->bdf.value),
				-EAGAIN, "the driver has not initialised this GPU yet");
	} else {
		state = probe_state(rc);
		gpu->model.state = gpu->uuid.state = gpu->video_bios.state = gpu->firmware.state =
			gpu->minor.state = gpu->excluded.state = gpu->dma_bits.state = state;
	}
	if (!ctx->preflight)
		count_instances(ctx, gpu);
}

/* Reading a GPU's information powers it up when it sleeps. */
static bool sleeps(struct probe_context *ctx, const struct gpu *gpu)
{
	const struct pci_device *device = node_pci(ctx->node, gpu->bdf.value);

	if (!device || !str_is(device->runtime_status, "suspended"))
		return false;
	host_gap_note(ctx->host, arena_printf(ctx->arena, GPUS "/%s/information", gpu->bdf.value),
		      -EHOSTDOWN, "suspended: reading this would power it up");
	return true;
}

/* card0/card0-HDMI-A-1/status. The kernel keeps it and reading it asks no hardware (Linux:
 * drivers/gpu/drm/drm_sysfs.c, status_show()). */
static void read_card(struct probe_context *ctx, struct gpu *gpu, const char *card)
{
	_cleanup_names_ struct names names = { 0 };
	size_t n = strlen(card);

	if (host_list(ctx->host, &names, PCI "/%s/drm/%s", gpu->bdf.value, card))
		return;
	for (size_t i = 0; i < names.count; i++) {
		struct fact_str status = { 0 };

		if (strncmp(names.items[i], card, n) != 0 || names.items[i][n] != '-')
			continue;
		probe_str(ctx, &status, PCI "/%s/drm/%s/%s/status", gpu->bdf.value, card,
			  names.items[i]);
		if (str_is(status, "connected"))
			*LIST_ADD(ctx->arena, &gpu->displays) =
				fact_str(ctx->arena, names.items[i] + n + 1).value;
	}
}

static void read_displays(struct probe_context *ctx, struct gpu *gpu)
{
	_cleanup_names_ struct names names = { 0 };

	gpu->displays.state =
		probe_state(host_list(ctx->host, &names, PCI "/%s/drm", gpu->bdf.value));
	for (size_t i = 0; i < names.count; i++)
		if (starts_with(names.items[i], "card"))
			read_card(ctx, gpu, names.items[i]);
}

static struct gpu *append_gpu(struct probe_context *ctx, const char *bdf)
{
	struct gpu *gpu = LIST_ADD(ctx->arena, &ctx->node->gpu.devices);

	gpu->bdf = fact_str(ctx->arena, bdf);
	return gpu;
}

static void add_gpu(struct probe_context *ctx, const char *bdf)
{
	struct gpu *gpu = append_gpu(ctx, bdf);

	if (!ctx->preflight)
		read_displays(ctx, gpu);
	if (!sleeps(ctx, gpu))
		read_information(ctx, gpu);
}

/* Without the PCI functions, those that the driver has taken are all that can be seen. */
static void ask_driver(struct probe_context *ctx)
{
	struct gpu_facts *gpu = &ctx->node->gpu;
	_cleanup_names_ struct names names = { 0 };

	gpu->devices.state = probe_state(host_list(ctx->host, &names, GPUS));
	for (size_t i = 0; i < names.count; i++)
		add_gpu(ctx, names.items[i]);
}

/* AHEAD are GPUs that were read already; those that are no PCI function are left out. */
static void add_gpus(struct probe_context *ctx, const struct gpu_facts *ahead)
{
	const struct pci_facts *pci = &ctx->node->pci;

	if (is_unknown(pci->devices)) {
		ask_driver(ctx);
		return;
	}
	ctx->node->gpu.devices.state = FACT_KNOWN;
	for_each(device, &pci->devices) {
		const struct gpu *gpu;

		if (!pci_is_gpu(device))
			continue;
		gpu = LIST_FIND(&ahead->devices, device->bdf.value);
		if (gpu)
			*LIST_ADD(ctx->arena, &ctx->node->gpu.devices) = *gpu;
		else
			add_gpu(ctx, device->bdf.value);
	}
}

static void gpu_run(struct probe_context *ctx)
{
	add_gpus(ctx, &(struct gpu_facts){ 0 });
}

/* The driver takes 0.2 ms for the information of a GPU, so preflight reads it while other probes run. PCI functions are
 * not known then: the GPUs that the driver has taken are. */
static void read_ahead(struct probe_context *ctx)
{
	struct gpu_facts *gpu = &ctx->node->gpu;
	_cleanup_names_ struct names names = { 0 };

	gpu->devices.state = probe_state(host_list(ctx->host, &names, GPUS));
	for (size_t i = 0; i < names.count; i++) {
		struct fact_str status = { 0 };

		probe_str(ctx, &status, PCI "/%s/power/runtime_status", names.items[i]);
		if (!is_known(status) || str_is(status, "suspended"))
			continue;
		read_information(ctx, append_gpu(ctx, names.items[i]));
	}
}

/* After read_ahead(), or without it. */
static void gpu_run_briefly(struct probe_context *ctx)
{
	const struct gpu_facts ahead = ctx->node->gpu;

	ctx->node->gpu = (struct gpu_facts){ 0 };
	add_gpus(ctx, &ahead);
}

const struct probe probe_gpu = {
	.name = "gpu",
	.phase = PHASE_SECOND,
	.is_hardware = true,
	PROBE_SECTION(gpu),
	.run = gpu_run,
	.preflight = {
		.run = gpu_run_briefly,
		.ahead = read_ahead,
	},
};
