/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel.c - how the running kernel was built. */
#include <string.h>

#include "base/array.h"
#include "evaluate/skip.h"
#include "query/peermem.h"

/* Returns true if the rule has answered: no GPU, no RDMA device, no configuration to read. */
static bool skip_without_config(struct rule_context *ctx)
{
	if (skip_unless_for_gpus(ctx) || skip_unless_for_rdma(ctx))
		return true;
	if (is_known(ctx->node->os.kernel_config))
		return false;
	UNKNOWN(ctx,
		.observed = is_absent(ctx->node->os.kernel_config)
				    ? "no configuration file of this kernel was found"
				    : NULL,
		.evidence = { "os.kernel_config" });
	return true;
}

static const char *fact_of(struct rule_context *ctx, const char *name)
{
	return fact_path(ctx->arena, "os.kernel_config", name, "value");
}

/* y or m; one that the list lacks was not looked for. */
static enum fact_state is_built(const struct node *node, const char *name)
{
	const struct kernel_option *o = LIST_FIND(&node->os.kernel_config, name);

	return o ? o->value.state : FACT_UNKNOWN;
}

/* NICs reach GPU memory neither by DMA-BUF nor by a peer-memory module. */
static bool has_no_path(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *why;

	return was_read(node->modules.loaded) && !node_module(node, "nv_peer_mem") &&
	       dmabuf_path(node, ctx->arena, &why) == DMABUF_NO;
}

static void check_p2pdma(struct rule_context *ctx)
{
	static const char name[] = "CONFIG_PCI_P2PDMA";
	const struct node *node = ctx->node;
	enum fact_state built;

	if (skip_without_config(ctx))
		return;
	built = is_built(node, name);
	if (known_is(node->driver.flavour, FLAVOUR_PROPRIETARY))
		NOT_APPLICABLE(ctx, .observed = "the proprietary modules export no DMA-BUF",
			       .evidence = { "driver.flavour" });
	else if (is_unknown(node->driver.flavour) && !known_is(node->driver.loaded, false))
		UNKNOWN(ctx, .evidence = { "driver.flavour" });
	else if (built == FACT_KNOWN)
		PASS(ctx, .evidence = { fact_of(ctx, name) });
	else if (built == FACT_UNKNOWN)
		UNKNOWN(ctx, .evidence = { fact_of(ctx, name) });
	else if (node_software(node, "ofed") || node_module(node, "nvidia_peermem"))
		NOTE(ctx,
		     .observed = "not set; OFED or nvidia_peermem gives another path to GPU memory",
		     .evidence = { fact_of(ctx, name), "modules.loaded[nvidia_peermem].state" });
	else
		FAIL_AS(ctx, has_no_path(ctx) ? SEVERITY_ERR : SEVERITY_WARN,
			.observed = "CONFIG_PCI_P2PDMA is not set",
			.expected = "CONFIG_PCI_P2PDMA=y", .evidence = { fact_of(ctx, name) });
}

struct needed {
	const char *name;
	const char *module; /* loaded: it came from elsewhere */
	const char *effect;
};

static void check_rdma_options(struct rule_context *ctx)
{
	static const struct needed needed[] = {
		{ "CONFIG_DMA_SHARED_BUFFER", NULL, "GPU memory cannot be exported as DMA-BUF" },
		{ "CONFIG_INFINIBAND_USER_ACCESS", "ib_uverbs", "NCCL and UCX see no RDMA device" },
	};

	if (skip_without_config(ctx))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
		const struct needed *n = &needed[i];
		enum fact_state built = is_built(ctx->node, n->name);
		const char *fact = fact_of(ctx, n->name);

		if (built == FACT_KNOWN)
			PASS(ctx, .subject = n->name, .evidence = { fact });
		else if (n->module && node_module(ctx->node, n->module))
			PASS(ctx, .subject = n->name,
			     .observed = text_printf(ctx, "not set, but %s is loaded", n->module),
			     .evidence = {
				     fact_path(ctx->arena, "modules.loaded", n->module, "state") });
		else if (built == FACT_UNKNOWN)
			UNKNOWN(ctx, .subject = n->name, .evidence = { fact });
		else
			FAIL(ctx, .subject = n->name,
			     .observed = text_printf(ctx, "not set: %s", n->effect),
			     .expected = text_printf(ctx, "%s=y or m", n->name),
			     .evidence = { fact });
	}
}

#define CONFIG_READS "/boot/config-RELEASE, /lib/modules/RELEASE/config or /proc/config.gz."

static const struct rule kernel_rules[] = {
	{
		.id = "kernel/config-p2pdma-missing",
		.title =
			"NICs cannot use DMA-BUF: the kernel was built without PCI peer-to-peer DMA",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.evaluate = check_p2pdma,
		.impact =
			"Registering GPU memory with a NIC by DMA-BUF fails. NCCL copies through host memory.",
		.remedy = "Boot a kernel with CONFIG_PCI_P2PDMA=y.",
		.activation = ACTIVATION_REBOOT,
		.reads = CONFIG_READS " The flavour of the driver, nvidia_peermem and OFED.",
		.why = "Small kernels for containers or appliances did not always have the option. The "
		       "need is known from one report. It is an error if NICs then have no path to GPU memory at all, and a note where "
		       "peer memory gives another path.",
		.check = "grep PCI_P2PDMA /boot/config-$(uname -r)",
		.sources =
			"Linux 6.1.192: drivers/pci/Kconfig (PCI_P2PDMA)\n"
			"github.com/siderolabs/pkgs pull 1356; github.com/siderolabs/talos issue 12021",
	},
	{
		.id = "kernel/config-rdma-missing",
		.title = "GPUDirect RDMA cannot work: the kernel lacks an option that it needs",
		.is_short_effect = true,
		.profiles = PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_rdma_options,
		.impact =
			"GPU memory cannot be exported as DMA-BUF, or programs cannot open RDMA devices.",
		.remedy = "Boot a kernel with the option.",
		.activation = ACTIVATION_REBOOT,
		.reads = CONFIG_READS " The loaded modules: OFED brings its own ib_uverbs.",
		.why = "Kernels for a special purpose leave out options that this purpose does not need.",
		.check =
			"grep -E 'DMA_SHARED_BUFFER|INFINIBAND_USER_ACCESS' /boot/config-$(uname -r)",
		.sources =
			"open-gpu-kernel-modules 595.45.04: kernel-open/nvidia/nv-dmabuf.c (CONFIG_DMA_SHARED_BUFFER)\n"
			"Linux 6.1.192: drivers/infiniband/Kconfig (INFINIBAND_USER_ACCESS)",
	},
};

RULE_TABLE(kernel);
