/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pci.c - BARs, links and distances of GPUs and NICs. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "evaluate/settings.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/endpoints.h"
#include "query/gpus.h"
#include "query/mmio-window.h"
#include "query/names.h"
#include "query/pci-device.h"
#include "query/peer-support.h"
#include "query/ports.h"
#include "query/topology.h"

#define FACT(ctx, d, field) fact_path(ctx->arena, "pci.devices", (d)->bdf.value, field)

static const char *bar1_fact(struct rule_context *ctx, const struct pci_device *gpu)
{
	const struct pci_bar *bar = gpu_bar1(gpu);

	return bar ? text_printf(ctx, "pci.devices[%s].bars[%" PRIu64 "].size_bytes",
				 gpu->bdf.value, bar->index.value)
		   : FACT(ctx, gpu, "bars");
}

static const struct pci_rebar *gpu_rebar(const struct pci_device *gpu)
{
	const struct pci_bar *bar = gpu_bar1(gpu);

	for_each(r, &gpu->rebar)
		if (bar && known_is(r->index, bar->index.value))
			return r;
	return NULL;
}

/* ---- BAR1 ---- */

/* GB10 and similar GPUs share the processor's memory and have no window to it on the bus. */
static bool skip_integrated(struct rule_context *ctx, const struct pci_device *gpu)
{
	if (!gpu_is_integrated(gpu))
		return false;
	NOT_APPLICABLE(ctx, .subject = gpu->bdf.value,
		       .observed = text_printf(ctx, "%s has no BAR1", gpu_model(gpu)->name),
		       .evidence = { FACT(ctx, gpu, "device_id") });
	return true;
}

/* No larger BAR1 is offered: not by Resizable BAR, or it ends there. Unknown: the capability was not read. */
static struct fact_bool is_largest(const struct pci_device *gpu, uint64_t size)
{
	const struct pci_rebar *rebar = gpu_rebar(gpu);

	if (is_unknown(gpu->rebar))
		return (struct fact_bool){ 0 };
	return fact_bool(!rebar ||
			 (is_known(rebar->size_max_bytes) && rebar->size_max_bytes.value <= size));
}

static bool is_unassigned(const struct pci_bar *bar)
{
	return known_is(bar->start, 0) || known_is(bar->size_bytes, 0);
}

/* NVreg_EnableResizableBar is in kernel-open/nvidia/nv-reg.h from 530.30.02 on, and not in 525.147.05. */
#define RESIZES_SINCE "530.30.02"

/* Answers with the setting that makes BAR1 larger: of the driver, of this node's firmware, of the host's, or of the
 * card. */
/* CARD: the remedy where the card offers no larger BAR1; else NULL. */
static void fail_small(struct rule_context *ctx, const struct answer *base, const char *card)
{
	struct answer answer = *base;
	const struct fact_str *driver = &ctx->node->driver.version;

	if (node_is(ctx->node, KIND_VIRTUAL_MACHINE)) {
		answer.remedy = "On the host: switch on Above 4G Decoding and Resizable BAR in the "
				"firmware setup, then check the size of BAR1 there.";
		answer.repaired_by = BY_HOST;
		answer.action = ACTION_HOST_SIDE;
	} else if (card) {
		answer.remedy = card;
		answer.repaired_by = BY_HARDWARE;
		answer.action = ACTION_UPDATE_FIRMWARE;
	} else if (is_known(*driver) && version_compare(driver->value, RESIZES_SINCE) < 0) {
		answer.remedy =
			"Switch on Above 4G Decoding and Resizable BAR in the firmware setup.";
		answer.repaired_by = BY_FIRMWARE;
	} else {
		answer.remedy = NULL;
	}
	answer.has_fix = answer.remedy != NULL;
	rule_answer(ctx, &answer);
}

/* A workstation or data-centre card can have a display mode with a small BAR1. No setting of this node changes
 * either. */
static const char *card_remedy(const struct gpu_model *model)
{
	return model->kind == GPU_GEFORCE
		       ? "Update the card's VBIOS with a release of its vendor that has Resizable BAR, or "
			 "use another card. The firmware setup and the driver of this node cannot "
			 "change it."
		       : "Change the card's display mode with NVIDIA's displaymodeselector, or update "
			 "its VBIOS. The firmware setup of this node cannot change it.";
}

/* "; its VBIOS (94.02.26.48.3A) offers no larger one" */
static const char *vbios_text(struct rule_context *ctx, const struct pci_device *gpu)
{
	const struct gpu *d = LIST_FIND(&ctx->node->gpu.devices, gpu->bdf.value);

	return d && is_known(d->video_bios)
		       ? text_printf(ctx, "; its VBIOS (%s) offers no larger one",
				     d->video_bios.value)
		       : "; its VBIOS offers no larger one";
}

/* Returns true if it can be the size that the card was built with. A data-centre card of 256 MiB is in a display
 * mode. */
static bool may_be_by_design(const struct gpu_model *model, uint64_t size)
{
	return model->bar1 == GPU_BAR1_UNKNOWN ||
	       (model->bar1 == GPU_BAR1_LARGE && model->kind == GPU_DATA_CENTRE &&
		size > BAR1_SMALL_BYTES);
}

/* The driver's keys that select copies over BAR1. True also where they were not read. */
static bool may_ask_for_bar1_copies(const struct node *node)
{
	static const char *const keys[] = { "RMPcieP2PType", "RMForceP2PType",
					    "RMForceStaticBar1" };
	const struct driver_param *words = node_param(node, "RegistryDwords");

	if (!words || !is_known(words->value))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strcasestr(words->value.value, keys[i]))
			return true;
	return false;
}

/* By default the stock driver copies between GPUs before Blackwell through a small window, the mailbox. A NIC
 * registers any part of the memory that fits into BAR1. */
static bool is_large_enough(struct rule_context *ctx, const struct gpu_model *model, uint64_t size)
{
	return size > BAR1_SMALL_BYTES && model->kind == GPU_WORKSTATION &&
	       strcmp(model->architecture, "Blackwell") != 0 &&
	       known_is(driver_is_patched(ctx->node, ctx->arena, NULL), false) &&
	       !may_ask_for_bar1_copies(ctx->node);
}

static void fail_small_bar1(struct rule_context *ctx, const struct pci_device *gpu,
			    const struct gpu_model *model, uint64_t size)
{
	struct fact_bool largest = is_largest(gpu, size);
	bool open = may_be_by_design(model, size);
	bool by_design = model->bar1 == GPU_BAR1_SMALL || (open && known_is(largest, true));
	const char *text = text_printf(ctx, "%s: BAR1 is %s, for %u GiB of memory%s", model->name,
				       format_bytes(ctx->arena, size), model->memory_gib,
				       by_design ? "; this card cannot have a larger one" : "");

	if (!by_design && is_large_enough(ctx, model, size)) {
		NOTE(ctx, .subject = gpu->bdf.value,
		     .observed = text_printf(
			     ctx, "%s. NICs can register %s at once; peer copies do not need BAR1",
			     text, format_bytes(ctx->arena, size)),
		     .evidence = { bar1_fact(ctx, gpu), "driver.params[RegistryDwords].value" });
		return;
	}
	/* The driver offers no GPUDirect on GeForce: without a wish for peer-to-peer BAR1 does not matter. */
	if (by_design || (model->kind == GPU_GEFORCE && !is_asked_for(ctx, PROFILE_P2P)))
		NOTE(ctx, .subject = gpu->bdf.value, .observed = text,
		     .evidence = { bar1_fact(ctx, gpu) });
	else if (open && is_unknown(largest))
		UNKNOWN(ctx, .subject = gpu->bdf.value,
			.observed = text_printf(
				ctx, "%s; whether the GPU offers a larger one was not read", text),
			.remedy = "run as root", .evidence = { FACT(ctx, gpu, "rebar") });
	else
		fail_small(
			ctx,
			&(struct answer){
				.verdict = VERDICT_FAIL,
				.graded = true,
				.severity = is_asked_for(ctx, PROFILE_P2P) ? SEVERITY_ERR
									   : SEVERITY_WARN,
				.subject = gpu->bdf.value,
				.observed = known_is(largest, true)
						    ? text_printf(ctx, "%s%s", text,
								  vbios_text(ctx, gpu))
						    : text,
				.expected = text_printf(ctx, "at least %u GiB", model->memory_gib),
				.evidence = { bar1_fact(ctx, gpu), FACT(ctx, gpu, "rebar") },
			},
			known_is(largest, true) ? card_remedy(model) : NULL);
}

static bool has_active_nvlink(const struct node *node, const struct pci_device *gpu)
{
	const struct nvml_gpu *asked = LIST_FIND(&node->nvml.gpus, gpu->bdf.value);

	if (!asked)
		return false;
	for_each(link, &asked->links)
		if (known_is(link->active, true))
			return true;
	return false;
}

/* The user asks for peer-to-peer on cards that have it over NVLink alone, as far as the node shows. A driver that was built on the node can be
 * patched for PCIe; with such a VBIOS the patch can have no effect, and so leaves no other sign. */
static bool fail_old_vbios(struct rule_context *ctx, const struct pci_device *gpu)
{
	const struct gpu_model *model = gpu_model(gpu);
	const struct pci_bar *bar = gpu_bar1(gpu);

	if (!(ctx->settings->profiles & PROFILE_P2P) || !model ||
	    model->bar1 != GPU_BAR1_RESIZABLE || gpu_peer_support(gpu) != PEERS_OVER_NVLINK ||
	    known_is(gpu_has_pcie_peers(ctx->node, gpu, ctx->arena), true) ||
	    !driver_is_built_here(ctx->node) || has_active_nvlink(ctx->node, gpu) ||
	    node_is(ctx->node, KIND_VIRTUAL_MACHINE) || !bar || !is_known(bar->size_bytes) ||
	    bar->size_bytes.value > BAR1_SMALL_BYTES || is_unassigned(bar) ||
	    !known_is(is_largest(gpu, bar->size_bytes.value), true))
		return false;
	FAIL_AS(ctx, SEVERITY_WARN, .subject = gpu->bdf.value,
		.observed = text_printf(
			ctx,
			"%s: BAR1 is %s%s. Peer-to-peer over PCIe needs a larger one, "
			"also with a patched driver; only an NVLink bridge works without",
			model->name, format_bytes(ctx->arena, bar->size_bytes.value),
			vbios_text(ctx, gpu)),
		.expected = "a VBIOS with Resizable BAR", .remedy = card_remedy(model),
		.repaired_by = BY_HARDWARE, .action = ACTION_UPDATE_FIRMWARE, .has_fix = true,
		.evidence = { bar1_fact(ctx, gpu), FACT(ctx, gpu, "rebar"), "driver.banner" });
	return true;
}

static void check_small_bar1(struct rule_context *ctx, const struct pci_device *gpu,
			     const struct gpu_model *model, uint64_t size)
{
	uint64_t memory = (uint64_t)model->memory_gib << 30;

	if (size == memory && is_asked_for(ctx, PROFILE_P2P))
		NOTE(ctx, .subject = gpu->bdf.value,
		     .observed = text_printf(
			     ctx,
			     "BAR1 has %s, as much as the GPU's memory (%u GiB): the driver uses a part of "
			     "BAR1, so peers cannot map all of the memory",
			     format_bytes(ctx->arena, size), model->memory_gib),

		     .evidence = { bar1_fact(ctx, gpu) });
	else if (size >= memory)
		PASS(ctx, .subject = gpu->bdf.value,
		     .observed = text_printf(ctx, "%s for %u GiB of memory",
					     format_bytes(ctx->arena, size), model->memory_gib),
		     .evidence = { bar1_fact(ctx, gpu) });
	else
		fail_small_bar1(ctx, gpu, model, size);
}

/* Only peers and NICs use BAR1 of a GPU. */
static bool skip_alone(struct rule_context *ctx)
{
	if (!is_asked_for(ctx, PROFILE_P2P) || is_asked_for(ctx, PROFILE_GPUDIRECT_ANY) ||
	    topology_gpus(ctx->node) != 1)
		return false;
	NOT_APPLICABLE(ctx, .observed = "one GPU has no peer", .evidence = { "pci.devices" });
	return true;
}

static void check_bar1_size(struct rule_context *ctx)
{
	if (skip_without_gpu(ctx) || skip_alone(ctx))
		return;
	for_each(d, &ctx->node->pci.devices) {
		const struct gpu_model *model = gpu_model(d);
		const struct pci_bar *bar = gpu_bar1(d);

		if (!pci_is_gpu(d) || skip_integrated(ctx, d))
			continue;
		if (fail_old_vbios(ctx, d) || skip_without_pcie_peers(ctx, d))
			continue;
		if (!bar || !is_known(bar->size_bytes))
			UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { bar1_fact(ctx, d) });
		else if (is_unassigned(bar))
			NOT_APPLICABLE(ctx, .subject = d->bdf.value,
				       .observed = "BAR1 has no address: see pci/bar1-unassigned");
		else if (gpu_is_vgpu(ctx->node, d))
			NOT_APPLICABLE(ctx, .subject = d->bdf.value,
				       .observed = "a vGPU: see virt/vgpu",
				       .evidence = { fact_path(ctx->arena, "gpu.devices",
							       d->bdf.value, "model") });
		else if (!model || !model->memory_gib)
			UNKNOWN(ctx, .subject = d->bdf.value,
				.observed = text_printf(
					ctx,
					"BAR1 is %s; the memory size of this GPU is not known from "
					"its PCI id",
					format_bytes(ctx->arena, bar->size_bytes.value)),
				.evidence = { bar1_fact(ctx, d), FACT(ctx, d, "device_id") });
		else
			check_small_bar1(ctx, d, model, bar->size_bytes.value);
	}
}

static bool names_bar(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	return at && !isdigit((unsigned char)at[strlen(name)]);
}

/* "pci 0000:19:00.0: BAR 2 [mem ...]: can't assign; no space": no "VF BAR" and no ROM. */
static bool is_about_bar1(const struct log_line *line, const struct pci_device *gpu)
{
	const struct log_subject *own = log_of_device(line, gpu->bdf.value);
	const struct pci_bar *bar = gpu_bar1(gpu);
	char name[32];

	if (!bar || !str_is(line->pattern, "bar-no-space"))
		return bar;
	snprintf(name, sizeof(name), ": BAR %" PRIu64, bar->index.value);
	return names_bar(own->first.value, name) || names_bar(own->last.value, name);
}

/* Why BAR1 is not larger, in the words of the kernel or the driver: of this GPU where the line names one. */
static const struct log_line *no_room(const struct node *node, const struct pci_device *gpu)
{
	static const char *const patterns[] = { "bar-no-space", "bar-resize-failed",
						"bar-resize-no-space" };

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		const struct log_line *line = node_log(node, patterns[i]);

		if (line && !line->devices.count)
			return line;
		if (log_of_device(line, gpu->bdf.value) && is_about_bar1(line, gpu))
			return line;
	}
	return NULL;
}

static const char *no_room_fact(struct rule_context *ctx, const struct log_line *line)
{
	return line ? fact_path(ctx->arena, "log.lines", line->pattern.value, "last") : NULL;
}

static void check_bar1_unassigned(struct rule_context *ctx)
{
	const struct log_line *line = node_log(ctx->node, "bar-invalid");
	const char *guest = mmio_window_remedy(ctx->node);

	if (skip_without_gpu(ctx))
		return;
	for_each(d, &ctx->node->pci.devices) {
		const struct pci_bar *bar = gpu_bar1(d);

		if (!pci_is_gpu(d) || skip_integrated(ctx, d))
			continue;
		if (!is_known(d->bars))
			UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { FACT(ctx, d, "bars") });
		else if (!bar || is_unassigned(bar))
			FAIL(ctx, .subject = d->bdf.value,
			     .observed = "BAR1 has no address on the bus",
			     .expected = "BAR1 with an address", .remedy = guest,
			     .repaired_by = guest ? BY_HOST : BY_UNSET,
			     .evidence = { bar1_fact(ctx, d),
					   line ? "log.lines[bar-invalid].last"
						: no_room_fact(ctx, no_room(ctx->node, d)) });
		else
			PASS(ctx, .subject = d->bdf.value,
			     .evidence = { text_printf(ctx,
						       "pci.devices[%s].bars[%" PRIu64 "].start",
						       d->bdf.value, bar->index.value) });
	}
}

/* With the driver's own part of BAR1 all of the memory finds room: a larger BAR1 gains nothing. */
static bool has_room_for_memory(const struct pci_device *gpu, uint64_t size)
{
	const struct gpu_model *model = gpu_model(gpu);

	return model && model->memory_gib && size > (uint64_t)model->memory_gib << 30;
}

static void check_rebar(struct rule_context *ctx)
{
	if (skip_without_gpu(ctx) || skip_alone(ctx))
		return;
	for_each(d, &ctx->node->pci.devices) {
		const struct pci_rebar *rebar = gpu_rebar(d);

		if (!pci_is_gpu(d) || skip_without_pcie_peers(ctx, d))
			continue;
		if (is_unknown(d->rebar) || is_unknown(d->bars))
			UNKNOWN(ctx, .subject = d->bdf.value,
				.evidence = {
					FACT(ctx, d, is_unknown(d->rebar) ? "rebar" : "bars") });
		else if (!rebar || !is_known(rebar->size_max_bytes) || !is_known(rebar->size_bytes))
			NOT_APPLICABLE(ctx, .subject = d->bdf.value,
				       .observed = "no Resizable BAR capability for BAR1",
				       .evidence = { FACT(ctx, d, "rebar") });
		else if (rebar->size_bytes.value < rebar->size_max_bytes.value &&
			 !has_room_for_memory(d, rebar->size_bytes.value))
			fail_small(
				ctx,
				&(struct answer){
					.verdict = VERDICT_FAIL,
					.subject = d->bdf.value,
					.observed = text_printf(
						ctx, "BAR1 is %s, the GPU offers %s",
						format_bytes(ctx->arena, rebar->size_bytes.value),
						format_bytes(ctx->arena,
							     rebar->size_max_bytes.value)),
					.expected = "BAR1 resized to the largest size",
					.evidence = { FACT(ctx, d, "rebar") },
				},
				NULL);
		else
			PASS(ctx, .subject = d->bdf.value, .evidence = { FACT(ctx, d, "rebar") });
	}
}

/* The smallest prefetchable window above the GPU: no BAR can be larger than that. */
static const struct pci_device *tightest(const struct node *node, const struct pci_device *gpu,
					 uint64_t *size, bool *unknown)
{
	const struct pci_device *above[PATH_PORTS_MAX], *found = NULL;
	size_t n = topology_above(node, gpu, above);

	*unknown = false;
	for (size_t i = 0; i < n; i++) {
		const struct pci_window *w = &above[i]->window;

		if (!is_known(*w) || !is_known(w->size_bytes)) {
			*unknown |= is_unknown(*w);
			continue;
		}
		if (found && w->size_bytes.value >= *size)
			continue;
		found = above[i];
		*size = w->size_bytes.value;
	}
	return found;
}

/* The driver was asked to make BAR1 larger: that it is not is then a failure. */
static bool is_resizing(const struct node *node)
{
	const struct driver_param *param = node_param(node, "EnableResizableBar");

	return param && str_is(param->value, "1");
}

/* A window of more than 4 GiB cannot be below 4 GiB. */
#define ABOVE_4G_ON                                                                                   \
	"Above 4G Decoding is on: that window is above 4 GiB. Give the bridge more address space: "   \
	"raise the size of the 64-bit MMIO window in the firmware setup, or move the GPU to another " \
	"slot. Without such a setting it is a limit of the platform."

static void check_window_of(struct rule_context *ctx, const struct pci_device *gpu, uint64_t now,
			    uint64_t wanted)
{
	const struct log_line *said = no_room(ctx->node, gpu);
	bool resizing = is_resizing(ctx->node);
	enum severity severity = resizing ? SEVERITY_WARN : SEVERITY_INFO;
	const char *asked = resizing ? " although NVreg_EnableResizableBar=1 is set" : "";
	const struct pci_device *bridge;
	bool unknown;
	uint64_t size = 0;

	bridge = tightest(ctx->node, gpu, &size, &unknown);
	if (bridge && size < wanted)
		FAIL_AS(ctx, severity, .subject = gpu->bdf.value,
			.observed = text_printf(
				ctx,
				"BAR1 is %s%s; the window of the bridge %s above is %s, the GPU offers %s",
				format_bytes(ctx->arena, now), asked, bridge->bdf.value,
				format_bytes(ctx->arena, size), format_bytes(ctx->arena, wanted)),
			.expected = "a window as large as the BAR",
			.remedy = size > UINT32_MAX ? ABOVE_4G_ON : NULL,
			.evidence = { fact_path(ctx->arena, "pci.devices", bridge->bdf.value,
						"window.size_bytes"),
				      bar1_fact(ctx, gpu), no_room_fact(ctx, said) });
	else if (said)
		FAIL_AS(ctx, severity, .subject = gpu->bdf.value,
			.observed = text_printf(
				ctx,
				"BAR1 is %s%s, the GPU offers %s, and the kernel found no room for it: %s",
				format_bytes(ctx->arena, now), asked,
				format_bytes(ctx->arena, wanted), said->last.value),
			.expected = "address space for the largest size",
			.evidence = { no_room_fact(ctx, said), bar1_fact(ctx, gpu) });
	else if (bridge && !unknown)
		FAIL_AS(ctx, severity, .subject = gpu->bdf.value,
			.observed = text_printf(
				ctx,
				"BAR1 is %s%s, the GPU offers %s, and the windows of the bridges above "
				"have %s: neither firmware nor driver resized it",
				format_bytes(ctx->arena, now), asked,
				format_bytes(ctx->arena, wanted), format_bytes(ctx->arena, size)),
			.expected = "BAR1 resized to the largest size",
			.evidence = { fact_path(ctx->arena, "pci.devices", bridge->bdf.value,
						"window.size_bytes"),
				      bar1_fact(ctx, gpu) });
	else
		UNKNOWN(ctx, .subject = gpu->bdf.value,
			.observed = bridge || unknown ? NULL : "no bridge above the GPU is visible",
			.evidence = { FACT(ctx, gpu, "window") });
}

/* Without a profile that needs a large BAR1 it matters where it was asked for. */
static bool skip_without_wish(struct rule_context *ctx)
{
	if (is_asked_for(ctx, PROFILE_P2P | PROFILE_GPUDIRECT) || is_resizing(ctx->node))
		return false;
	NOT_APPLICABLE(
		ctx,
		.observed =
			"no profile here needs a large BAR1, and NVreg_EnableResizableBar is not 1",
		.evidence = { "driver.params[EnableResizableBar].value" });
	return true;
}

static void check_window(struct rule_context *ctx)
{
	if (skip_without_gpu(ctx) || skip_without_wish(ctx) ||
	    (!is_resizing(ctx->node) && skip_alone(ctx)))
		return;
	for_each(d, &ctx->node->pci.devices) {
		const struct pci_rebar *rebar = gpu_rebar(d);
		const struct pci_bar *bar = gpu_bar1(d);
		const struct gpu_model *model = gpu_model(d);
		uint64_t now, wanted;

		if (!pci_is_gpu(d) || skip_integrated(ctx, d))
			continue;
		if (!bar || !is_known(bar->size_bytes)) {
			UNKNOWN(ctx, .subject = d->bdf.value, .evidence = { bar1_fact(ctx, d) });
			continue;
		}
		now = bar->size_bytes.value;
		wanted = model ? (uint64_t)model->memory_gib << 30 : 0;
		if (rebar && is_known(rebar->size_max_bytes))
			wanted = rebar->size_max_bytes.value;
		if (now >= wanted && now)
			PASS(ctx, .subject = d->bdf.value, .evidence = { bar1_fact(ctx, d) });
		else if (now && (!model || model->bar1 != GPU_BAR1_LARGE) &&
			 known_is(is_largest(d, now), true))
			NOT_APPLICABLE(ctx, .subject = d->bdf.value,
				       .observed = text_printf(
					       ctx, "BAR1 is %s, and the GPU offers no larger one",
					       format_bytes(ctx->arena, now)),
				       .evidence = { bar1_fact(ctx, d), FACT(ctx, d, "rebar") });
		else
			check_window_of(ctx, d, now, wanted);
	}
}

/* ---- distance ---- */

/* With one NIC for all GPUs some of them have to be far from it. */
static bool has_several_nics(struct rule_context *ctx)
{
	const struct pci_device *first = NULL;

	for_each(gpu, &ctx->endpoints->gpus) {
		if (first && gpu->nic && !is_same_slot(first->bdf.value, gpu->nic->bdf.value))
			return true;
		first = first ? first : gpu->nic;
	}
	return false;
}

static void check_affinity(struct rule_context *ctx)
{
	bool several;

	if (skip_without_gpu(ctx) ||
	    skip_in_vm(ctx, "how far GPUs and NICs are apart is not visible here"))
		return;
	several = has_several_nics(ctx);
	for_each(gpu, &ctx->endpoints->gpus) {
		const struct pci_device *d = gpu->chain.device, *nic = gpu->nic;

		if (!nic)
			NOT_APPLICABLE(ctx, .subject = d->bdf.value, .observed = "no RDMA NIC");
		else if (gpu->path.class == PATH_UNKNOWN)
			UNKNOWN(ctx, .subject = d->bdf.value,
				.evidence = { FACT(ctx, d, "numa_node"),
					      FACT(ctx, nic, "numa_node") });
		else if (gpu->path.class == PATH_SYS)
			FAIL_AS(ctx, several ? SEVERITY_WARN : SEVERITY_INFO,
				.subject = d->bdf.value,
				.observed = text_printf(
					ctx, "the nearest NIC, %s, is on another NUMA node (SYS)",
					subject_name(ctx->node, nic->bdf.value, ctx->arena)),
				.expected = several ? "a NIC below the same switch or host bridge"
						    : NULL,
				.evidence = { FACT(ctx, d, "parent"), FACT(ctx, nic, "parent"),
					      FACT(ctx, d, "numa_node"),
					      FACT(ctx, nic, "numa_node") });
		else
			PASS(ctx, .subject = d->bdf.value,
			     .observed = text_printf(ctx, "%s: %s", nic->bdf.value,
						     path_class_words[gpu->path.class]),
			     .evidence = { FACT(ctx, d, "parent"), FACT(ctx, nic, "parent") });
	}
}

static const struct rule pci_rules[] = {
	{
		.id = "pci/bar1-too-small",
		.title = "Peer copies and large RDMA registrations fail: BAR1 is smaller than the "
			 "GPU's memory",
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT,
		.severity = SEVERITY_ERR,
		.evaluate = check_bar1_size,
		.impact =
			"Peer-to-peer copies over BAR1 do not work. NICs can register only as much GPU memory as fits into "
			"BAR1.",
		.then = THEN_REBOOT,
		.remedy = "Set NVreg_EnableResizableBar=1.",
		.fix = { "set-resizable-bar" },
		.activation = ACTIVATION_REBOOT,
		.repaired_by = BY_FIRMWARE,
		.follows = { "driver/geforce-no-gpudirect", "pci/bar1-unassigned" },
		.reads =
			"The size of NVIDIA's BAR1 (the second memory BAR), the GPU's Resizable BAR capability, and the memory "
			"size by its PCI id.",
		.why = "Patched drivers, and the driver's own BAR1 peer-to-peer, map the whole memory through BAR1. GPUDirect "
		       "RDMA pins memory through it. The driver resizes BAR1 only within the Resizable BAR capability. A card "
		       "that was built without a larger BAR1 is a note, and so is a GeForce without the profile p2p. A board "
		       "with another memory size than the model's is compared with the model's. The stock driver copies "
		       "between workstation cards before Blackwell through a mailbox: a BAR1 between 256 MiB and the memory's size is "
		       "then a note.",
		.check =
			"lspci -vv -d 10de: | grep -E 'Region|3D|VGA|Resizable'; nvidia-smi -q -d MEMORY",
		.cost = "If the kernel finds no address space, BAR1 keeps its size and the log says so.",
		.sources =
			"open-gpu-kernel-modules 525.147.05, 530.30.02, 595.45.04: kernel-open/nvidia/nv-reg.h, nv-pci.c "
			"(nv_resize_pcie_bars); src/nvidia/interface/nvrm_registry.h (NV_REG_STR_RM_PCIEP2P_TYPE)\n"
			"docs.nvidia.com/cuda/gpudirect-rdma 13.0: 3.5, PCI BAR sizes\n"
			"github.com/tinygrad/open-gpu-kernel-modules issues 13, 36",
	},
	{
		.id = "pci/bar1-unassigned",
		.title = "The driver cannot use the GPU: BAR1 has no address on the bus",
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT | PROFILE_BASE,
		.severity = SEVERITY_CRIT,
		.evaluate = check_bar1_unassigned,
		.impact = "The driver refuses the GPU.",
		.remedy =
			"Switch on Above 4G Decoding and raise the size of the 64-bit MMIO window. "
			"Booting with pci=realloc can help: the kernel then sizes the windows of bridges itself. If "
			"BAR1 still has no address, update the firmware.",
		.activation = ACTIVATION_REBOOT,
		.repaired_by = BY_FIRMWARE,
		.reads =
			"The GPU's BARs as the kernel assigned them, and \"This PCI I/O region assigned to your NVIDIA device is "
			"invalid\" in the kernel log.",
		.why = "The window of a bridge above has less address space than the GPU needs.",
		.check = "lspci -vv -s BDF; dmesg | grep -E \"BAR|can't assign\"",
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-pci.c (\"I/O region assigned\")\n"
			"Linux 6.1.192: Documentation/admin-guide/kernel-parameters.txt, pci=realloc\n"
			"github.com/NVIDIA/open-gpu-kernel-modules issue 510",
	},
	{
		.id = "pci/rebar-supported-not-used",
		.title = "Peer copies over BAR1 fail: Resizable BAR is supported and not used",
		.profiles = PROFILE_P2P,
		.severity = SEVERITY_WARN,
		.evaluate = check_rebar,
		.impact =
			"Peer-to-peer copies over BAR1 do not work, although the hardware supports them.",
		.then = THEN_REBOOT,
		.remedy = "Set NVreg_EnableResizableBar=1.",
		.fix = { "set-resizable-bar" },
		.activation = ACTIVATION_REBOOT,
		.repaired_by = BY_FIRMWARE,
		.follows = { "pci/bar1-too-small", "pci/bar1-unassigned" },
		.reads = "The Resizable BAR capability (0x15) of the GPU.",
		.why = "The capability lists the sizes that the device supports and the one in use. A BAR1 that is larger than "
		       "the GPU's memory is enough. Drivers from 530.30.02 on resize BAR1 themselves if "
		       "NVreg_EnableResizableBar is 1. The default is 0.",
		.check = "lspci -vv -s BDF | grep -A2 'Resizable BAR'",
		.cost = "If the kernel finds no address space, BAR1 keeps its size and the log says so.",
		.sources =
			"PCI Express Base Specification 6.0: 7.8.6, Resizable BAR Extended Capability\n"
			"open-gpu-kernel-modules 525.147.05, 530.30.02, 595.45.04: kernel-open/nvidia/nv-reg.h, nv-pci.c",
	},
	{
		.id = "pci/bar1-window",
		.title = "BAR1 cannot grow: the address window above the GPU limits it",
		.is_short_effect = true,
		.profiles = PROFILE_P2P | PROFILE_GPUDIRECT | PROFILE_BASE,
		.severity = SEVERITY_INFO,
		.max_severity = SEVERITY_WARN,
		.evaluate = check_window,
		.impact = "BAR1 cannot become larger than this window.",
		.remedy =
			"Switch on Above 4G Decoding and raise the size of the 64-bit MMIO window.",
		.activation = ACTIVATION_REBOOT,
		.repaired_by = BY_FIRMWARE,
		.follows = { "pci/bar1-too-small" },
		.reads =
			"The prefetchable windows of the bridges above the GPU, the largest size that the GPU offers, and lines of "
			"the kernel log about missing address space; EnableResizableBar of the running driver.",
		.why = "It distinguishes a limit of the board from a setting of the firmware. With NVreg_EnableResizableBar=1 "
		       "the driver was asked for a larger BAR1, and a small one is a warning in every profile.",
		.check = "lspci -vv | grep -A3 'Prefetchable memory behind bridge'",
		.sources =
			"PCI-to-PCI Bridge Architecture Specification 1.2: 3.2.5.9, prefetchable memory base and limit\n"
			"Linux 6.1.192: drivers/pci/setup-res.c\n"
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-pci.c (nv_resize_pcie_bars)",
	},
	{
		.id = "pci/gpu-nic-affinity",
		.title =
			"GPUDirect RDMA is slow or not used: a GPU's nearest NIC is on another NUMA node",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_affinity,
		.impact =
			"Transfers between this GPU and the NIC cross the link between NUMA nodes. Some platforms do not support "
			"that.",
		.remedy =
			"Move the NIC to a slot of the GPU's NUMA node, or run RDMA jobs on the GPUs near the NICs.",
		.activation = ACTIVATION_POWER_CYCLE,
		.repaired_by = BY_HARDWARE,
		.reads = "The PCI tree and the NUMA nodes of GPUs and NICs.",
		.why = "GPU and NIC should be below one switch (PIX, PXB). NCCL chooses by the platform how "
		       "far it uses GPUDirect RDMA (NCCL_NET_GDR_LEVEL).",
		.check = "lspci -tv; nvidia-smi topo -m",
		.sources = "docs.nvidia.com/cuda/gpudirect-rdma 13.0: 3.4, Supported Systems\n"
			   "NCCL user guide (2026-06-11): env.rst, NCCL_NET_GDR_LEVEL",
	},
};

RULE_TABLE(pci);
