/* SPDX-License-Identifier: GPL-2.0-or-later */
/* driver-p2p-keys.c - keys of NVreg_RegistryDwords that force a path for copies between GPUs (rule
 * driver/force-p2p-keys). */
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "parse/nvidia.h"
#include "parse/version.h"
#include "query/gpus.h"
#include "query/pci-device.h"

static const struct driver_param *find_key(const struct node *node, const char *key,
					   struct registry_entry *entry)
{
	const struct driver_param *param = node_param(node, "RegistryDwords");

	return param && registry_find(span_of(param->value.value), key, entry) ? param : NULL;
}

/* A static BAR1 maps all of a GPU's memory at once: the first GPU whose BAR1 cannot hold it. */
static const struct pci_device *too_small_for_static(const struct node *node)
{
	for_each(d, &node->pci.devices) {
		const struct gpu_model *model = pci_is_gpu(d) ? gpu_model(d) : NULL;
		const struct pci_bar *bar = model ? gpu_bar1(d) : NULL;

		if (bar && model->memory_gib && is_known(bar->size_bytes) &&
		    bar->size_bytes.value < (uint64_t)model->memory_gib << 30)
			return d;
	}
	return NULL;
}

static bool check_static_bar1(struct rule_context *ctx, const struct registry_entry *entry)
{
	const struct pci_device *small = too_small_for_static(ctx->node);
	uint64_t value;

	if (!small || span_u64(entry->value, 0, &value) || value != 1)
		return false;
	FAIL_AS(ctx, SEVERITY_ERR, .subject = "RMForceStaticBar1",
		.observed = text_printf(ctx,
					"%.*s is set, and BAR1 of %s is smaller than its memory",
					SPAN_FMT(entry->text), small->bdf.value),
		.expected = "no RMForceStaticBar1, or a BAR1 as large as the memory",
		.evidence = { "driver.params[RegistryDwords].value",
			      text_printf(ctx, "pci.devices[%s].bars[%llu].size_bytes",
					  small->bdf.value,
					  (unsigned long long)gpu_bar1(small)->index.value) });
	return true;
}

#define RENUMBERED "575"

static bool has_number(const struct node *node, const char *key, uint64_t wanted)
{
	struct registry_entry entry;
	uint64_t value;

	return find_key(node, key, &entry) && span_u64(entry.value, 0, &value) == 0 &&
	       value == wanted;
}

/* The key that forces copies over BAR1; NULL: none does, or the release that numbers them is not known. */
static const char *bar1_key(const struct node *node)
{
	if (!is_known(node->driver.version))
		return NULL;
	if (version_compare(node->driver.version.value, RENUMBERED) < 0)
		return has_number(node, "RMForceP2PType", 2) ? "RMForceP2PType" : NULL;
	return has_number(node, "RMPcieP2PType", 1) ? "RMPcieP2PType" : NULL;
}

/* Peers map what they copy through BAR1. One key is one finding: RMForceStaticBar1 has its own. */
static bool check_forced_bar1(struct rule_context *ctx, const char *key,
			      const struct registry_entry *entry)
{
	const struct pci_device *small = too_small_for_static(ctx->node);
	const char *forces = bar1_key(ctx->node);

	if (!small || !forces || strcmp(forces, key) != 0)
		return false;
	FAIL_AS(ctx, SEVERITY_WARN, .subject = key,
		.observed = text_printf(
			ctx,
			"%.*s forces copies over BAR1, and BAR1 of %s is %s, smaller than its memory",
			SPAN_FMT(entry->text), small->bdf.value,
			format_bytes(ctx->arena, gpu_bar1(small)->size_bytes.value)),
		.expected = "a BAR1 as large as the memory, or no such key",
		.impact = "Peers cannot map all of the GPU's memory: peer-to-peer copies fail.",
		.remedy =
			"Remove the key, or give the GPU a BAR1 as large as its memory: Resizable BAR and Above 4G "
			"Decoding in the firmware setup.",
		.evidence = { "driver.params[RegistryDwords].value",
			      text_printf(ctx, "pci.devices[%s].bars[%llu].size_bytes",
					  small->bdf.value,
					  (unsigned long long)gpu_bar1(small)->index.value) });
	return true;
}

/* The path over PCIe was 2 (BAR1) before driver 575, and is 1 since; 1 was the mailbox, 2 is NVLink. */
static void check_p2p_type(struct rule_context *ctx, const struct registry_entry *entry)
{
	const struct fact_str *version = &ctx->node->driver.version;
	const char *text = text_printf(ctx, "%.*s is set", SPAN_FMT(entry->text));
	bool since = is_known(*version) && version_compare(version->value, RENUMBERED) >= 0;
	uint64_t value;

	if (!is_known(*version))
		UNKNOWN(ctx, .subject = "RMForceP2PType", .observed = text,
			.evidence = { "driver.version" });
	else if (span_u64(entry->value, 0, &value) == 0 && value == (since ? 1 : 2))
		NOTE(ctx, .subject = "RMForceP2PType",
		     .observed = text_printf(ctx, "%s: the path over PCIe in driver %s", text,
					     version->value),
		     .evidence = { "driver.params[RegistryDwords].value", "driver.version" });
	else
		FAIL_AS(ctx, SEVERITY_WARN, .subject = "RMForceP2PType",
			.observed = text_printf(
				ctx,
				"%s; in driver %s the path over PCIe is %d (575 changed the numbers)",
				text, version->value, since ? 1 : 2),
			.expected = "no RMForceP2PType, or the number for this driver",
			.evidence = { "driver.params[RegistryDwords].value", "driver.version" });
}

static void check_p2p_keys(struct rule_context *ctx)
{
	static const char *const keys[] = { "ForceP2P", "RMForceP2PType", "RMPcieP2PType",
					    "RMForceStaticBar1" };
	struct registry_entry entry;
	size_t before = ctx->findings->count;

	if (skip_without_params(ctx))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!find_key(ctx->node, keys[i], &entry) ||
		    (strcmp(keys[i], "RMForceStaticBar1") == 0 && check_static_bar1(ctx, &entry)))
			continue;
		if (check_forced_bar1(ctx, keys[i], &entry))
			continue;
		if (strcmp(keys[i], "RMForceP2PType") == 0)
			check_p2p_type(ctx, &entry);
		else
			NOTE(ctx, .subject = keys[i],
			     .observed = text_printf(ctx, "%.*s is set", SPAN_FMT(entry.text)),
			     .evidence = { "driver.params[RegistryDwords].value",
					   "driver.version" });
	}
	if (ctx->findings->count == before)
		PASS(ctx, .evidence = { "driver.params[RegistryDwords].value" });
}

static const struct rule driver_p2p_keys_rules[] = {
	{
		.id = "driver/force-p2p-keys",
		.title = "A registry key forces a path for peer-to-peer copies",
		.profiles = PROFILE_P2P | PROFILE_BASE,
		.severity = SEVERITY_INFO,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_p2p_keys,
		.impact =
			"A type that the GPU does not support makes peer-to-peer fail. ForceP2P allows or forbids it whatever the "
			"driver knows of the chipset.",
		.remedy = "Remove the key unless this driver branch needs it.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"ForceP2P, RMForceP2PType, RMPcieP2PType and RMForceStaticBar1 in the running RegistryDwords; the sizes "
			"of BAR1.",
		.why = "Driver 575 renumbered RMForceP2PType. Before, 1 was mailbox and 2 was BAR1. Since then 1 is PCIe "
		       "(RMPcieP2PType selects how) and 2 is NVLink. With RMForceStaticBar1=1 a GPU does not start if its "
		       "BAR1 is smaller than its memory. RMPcieP2PType=1, or RMForceP2PType=2 before 575, forces BAR1.",
		.check = "grep RegistryDwords /proc/driver/nvidia/params",
		.sources =
			"open-gpu-kernel-modules 570.86.15, 575.51.02 and 595.45.04: src/nvidia/interface/nvrm_registry.h\n"
			"open-gpu-kernel-modules 595.45.04: src/nvidia/src/kernel/gpu/bus/arch/turing/kern_bus_tu102.c "
			"(kbusIsStaticBar1Supported), src/nvidia/src/kernel/gpu/bus/arch/maxwell/kern_bus_gm107.c "
			"(kbusInitBar1_GM107)",
	},
};

RULE_TABLE(driver_p2p_keys);
