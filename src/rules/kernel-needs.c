/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel-needs.c - whether the running kernel was built for the devices and programs of the node (rule
 * kernel/lacks-config). */
#include <string.h>

#include "evaluate/skip.h"
#include "query/gpus.h"
#include "query/kernel-needs.h"
#include "query/kind.h"
#include "query/module-find.h"

static struct fact_bool has_mlx5(const struct node *node)
{
	for_each(d, &node->pci.devices) {
		const struct nic_model *model = nic_model(d);

		if (model && model->generation)
			return fact_bool(true);
	}
	return was_read(node->pci.devices) ? fact_bool(false) : (struct fact_bool){ 0 };
}

static struct fact_bool has_enroot(const struct node *node)
{
	for_each(item, &node->software.items)
		if (str_is(item->name, "enroot"))
			return fact_bool(true);
	return known_is(node->software.complete, true) ? fact_bool(false) : (struct fact_bool){ 0 };
}

static struct fact_bool applies(const struct node *node, const struct kernel_need *need)
{
	if (strcmp(need->subject, "mlx5") == 0)
		return has_mlx5(node);
	if (strcmp(need->subject, "enroot") == 0)
		return has_enroot(node);
	return kind_find(node,
			 strcmp(need->subject, "gb10") == 0    ? KIND_GB10
			 : strcmp(need->subject, "grace") == 0 ? KIND_GRACE
							       : KIND_EFA,
			 NULL)
		.is;
}

/* An RDMA device with the driver of that module, which can be built in, is proof enough. */
static bool has_module(const struct node *node, const char *name)
{
	const char *driver = name && strcmp(name, "mlx5_ib") == 0 ? "mlx5_core" : name;

	for_each(d, &node->rdma.devices)
		if (name && str_is(d->driver, driver))
			return true;
	return name && (node_module(node, name) || module_file_running(node, name));
}

/* The options of the need that are known not to be set, or NULL. OPEN: one was not looked for. */
static const char *unset_options(struct rule_context *ctx, const struct kernel_need *need,
				 bool *open)
{
	struct span rest = span_of(need->options), word;
	const char *unset = NULL;

	while (span_cut(&rest, ',', &word)) {
		const char *name = text_printf(ctx, "%.*s", SPAN_FMT(word));
		const struct kernel_option *option = LIST_FIND(&ctx->node->os.kernel_config, name);

		*open |= !option;
		if (option && is_absent(option->value))
			unset = unset ? text_printf(ctx, "%s, %s", unset, name) : name;
	}
	return unset;
}

struct tally {
	const char *text, *source; /* of the needs that are not met */
	bool efa, other;	   /* which are not met: its driver is also a module of its own */
	bool is_error, open;
	size_t needs;
};

static void check_need(struct rule_context *ctx, const struct kernel_need *need, struct tally *t)
{
	struct fact_bool here = applies(ctx->node, need);
	const char *unset;

	if (known_is(here, false))
		return;
	t->needs++;
	if (has_module(ctx->node, need->module))
		return;
	t->open |= !is_known(here) || (need->module && !was_read(ctx->node->modules.files));
	if (!is_known(here))
		return;
	unset = unset_options(ctx, need, &t->open);
	if (!unset)
		return;
	t->text = text_printf(ctx, "%s%s%s not set: %s", t->text ? t->text : "",
			      t->text ? "; " : "", unset, need->effect);
	t->source = t->source ? text_printf(ctx, "%s\n%s", t->source, need->source) : need->source;
	t->is_error |= need->is_error;
	if (strcmp(need->subject, "efa") == 0)
		t->efa = true;
	else
		t->other = true;
}

/* Kernels of distributions are mostly built without EFA, whose driver AWS hands out as a module. */
static const char *efa_remedy(struct rule_context *ctx)
{
	const char *kernel = is_known(ctx->node->os.kernel) ? ctx->node->os.kernel.value
							    : "that runs";

	return text_printf(
		ctx,
		"Install the driver efa for kernel %s: run AWS's EFA installer (efa_installer.sh -y), or build "
		"kernel/linux/efa of amzn-drivers. Then run modprobe efa.",
		kernel);
}

static void check_config(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	struct tally t = { 0 };

	if (!is_known(node->os.kernel_config)) {
		UNKNOWN(ctx,
			.observed = is_absent(node->os.kernel_config)
					    ? "no configuration file of this kernel was found"
					    : NULL,
			.evidence = { "os.kernel_config" });
		return;
	}
	for (const struct kernel_need *need = kernel_needs; need->subject; need++)
		check_need(ctx, need, &t);
	if (t.text)
		FAIL_AS(ctx, t.is_error ? SEVERITY_ERR : SEVERITY_WARN, .observed = t.text,
			.expected = t.efa && !t.other ? "the module efa"
						      : "a kernel with these options",
			.remedy = t.efa && !t.other ? efa_remedy(ctx) : NULL,
			.activation = t.efa && !t.other ? ACTIVATION_NOW : ACTIVATION_NONE,
			.source = t.source, .evidence = { "os.kernel_config", "os.kernel" });
	else if (t.open)
		UNKNOWN(ctx, .observed = "whether this node needs a certain kernel is not known",
			.evidence = { "pci.devices", "software.items" });
	else if (t.needs)
		PASS(ctx, .evidence = { "os.kernel_config" });
	else
		NOT_APPLICABLE(ctx, .observed = "nothing here needs a certain kernel",
			       .evidence = { "pci.devices", "software.items" });
}

static const struct rule kernel_needs_rules[] = {
	{
		.id = "kernel/lacks-config",
		.title = "A device or program here cannot work: the kernel was built without "
			 "options that it needs",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_ERR,
		.evaluate = check_config,
		.impact = "The device or the program does not work on this kernel.",
		.remedy =
			"Boot a kernel that was built with the options, for example the distribution's generic kernel.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"/boot/config-RELEASE, /lib/modules/RELEASE/config or /proc/config.gz; PCI devices; enroot on disk; "
			"modules that are loaded or on disk.",
		.why = "Kernels for appliances, clouds and small containers leave options out. GB10 and Grace share the "
		       "processor's page tables through the SMMU. A module from OFED or DKMS can replace the kernel's own. "
		       "data/kernel-needs.tsv has the options.",
		.check =
			"grep -E 'SMMU_V3_SVA|MLX5|INFINIBAND_EFA|USER_NS' /boot/config-$(uname -r)",
		.sources = "data/kernel-needs.tsv of this release: the source of each row",
	},
};

RULE_TABLE(kernel_needs);
