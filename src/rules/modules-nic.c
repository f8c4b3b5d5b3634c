/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules-nic.c - NICs of other makers than NVIDIA: the module that makes their RDMA devices (rule
 * modules/nic-rdma-not-loaded). */
#include <string.h>

#include "base/shell.h"
#include "evaluate/references.h"
#include "evaluate/skip.h"
#include "query/endpoints.h"
#include "query/module-find.h"
#include "query/module-load.h"
#include "query/rdma-drivers.h"

/* The functions of one module's NICs that have no RDMA device. */
struct lacking {
	const struct rdma_driver *driver;
	const struct pci_device *first;
	size_t count, all;
	const char *wish; /* what shows that jobs need RDMA of them; or NULL */
	const char *wish_fact;
	bool offered; /* a function has an auxiliary device for it */
};

/* mlx5 has rules of its own; a driver that makes the RDMA device itself has no other half. */
static bool has_other_half(const struct pci_device *d)
{
	const struct rdma_driver *driver = rdma_driver_of(d);

	return driver && strcmp(driver->module, driver->driver) != 0 &&
	       strcmp(driver->driver, "mlx5_core") != 0 && !is_known(d->physical_function);
}

static bool is_same_model(const struct pci_device *a, const struct pci_device *b)
{
	return is_known(a->device_id) && is_known(a->vendor_id) &&
	       known_is(b->device_id, a->device_id.value) &&
	       known_is(b->vendor_id, a->vendor_id.value);
}

static bool is_beside_gpu(struct rule_context *ctx, const struct pci_device *nic)
{
	struct pci_path path;

	for_each(gpu, &ctx->endpoints->gpus) {
		topology_path(ctx->node, gpu->chain.device, nic, &path);
		if (path.class <= PATH_PXB)
			return true;
	}
	return false;
}

static const struct reference *named_for_boot(const struct node *node, const char *module)
{
	const struct reference *r = NULL;

	while ((r = reference_next(node, REFERENCE_MODULES_LOAD, NULL, r)))
		if (known_is(r->kind, REFERENCE_MODULE) && str_is(r->name, module))
			return r;
	return NULL;
}

/* Finds the fact that shows that jobs need RDMA of this NIC. */
static void find_wish(struct rule_context *ctx, struct lacking *l, const struct pci_device *nic)
{
	const struct node *node = ctx->node;
	const struct reference *r = named_for_boot(node, l->driver->module);

	if (l->wish)
		return;
	if (r) {
		l->wish = text_printf(ctx, "%s names %s", r->file.value, l->driver->module);
		l->wish_fact = reference_fact(ctx->arena, node, r, "name");
		return;
	}
	for_each(other, &node->pci.devices)
		if (is_same_model(nic, other) && node_rdma_of(node, other)) {
			l->wish = text_printf(ctx, "%s, of the same model, has one",
					      other->bdf.value);
			l->wish_fact = "rdma.devices";
			return;
		}
	if (is_beside_gpu(ctx, nic)) {
		l->wish = "the NIC is below one PCIe switch with a GPU";
		l->wish_fact = "pci.devices";
	}
}

static void collect(struct rule_context *ctx, struct lacking *l)
{
	for_each(d, &ctx->node->pci.devices) {
		if (rdma_driver_of(d) != l->driver || is_known(d->physical_function))
			continue;
		l->all++;
		/* X710 and others of a driver have no RDMA, and a function can have it switched off. */
		if (node_rdma_of(ctx->node, d) || rdma_is_not_offered(ctx->node, d))
			continue;
		l->first = l->first ? l->first : d;
		l->count++;
		l->offered |= rdma_auxiliary_of(ctx->node, d) != NULL;
		find_wish(ctx, l, d);
	}
}

/* A module on disk was built all the same, outside the kernel's tree: its option says nothing. */
static bool has_file(const struct node *node, const char *module)
{
	for_each(m, &node->loads.modules)
		if (str_is(m->name, module) && known_is(m->there, true))
			return true;
	return module_file_running(node, module) != NULL;
}

static bool option_is_unset(const struct node *node, const struct rdma_driver *driver)
{
	const struct kernel_option *option =
		driver->option ? LIST_FIND(&node->os.kernel_config, driver->option) : NULL;

	return option && is_absent(option->value) && !has_file(node, driver->module);
}

static const char *remedy_of(struct rule_context *ctx, const struct lacking *l,
			     const struct module_load *load)
{
	if (option_is_unset(ctx->node, l->driver))
		return text_printf(
			ctx, "Boot a kernel with %s, or install the driver of the NIC's maker.",
			l->driver->option);
	return load->remedy;
}

static void fail_module(struct rule_context *ctx, const struct lacking *l)
{
	const struct node *node = ctx->node;
	const char *module = l->driver->module;
	struct module_load load = module_load_of(node, module, ctx->arena);
	bool unset = option_is_unset(node, l->driver);
	const char *observed = text_printf(
		ctx, "%s (driver %s)%s no RDMA device; %s is not loaded%s%s%s", l->first->bdf.value,
		l->driver->driver,
		l->count > 1 ? text_printf(ctx, " and %zu more have", l->count - 1) : " has",
		module, unset ? text_printf(ctx, ": this kernel has no %s", l->driver->option) : "",
		l->wish ? ", although " : "", l->wish ? l->wish : "");

	if (!l->wish && !is_asked_for(ctx, PROFILE_RDMA_ANY))
		NOTE(ctx, .subject = module, .observed = observed,
		     .evidence = { "modules.loaded", "rdma.devices" });
	else
		FAIL_AS(ctx,
			node->rdma.devices.count || !is_asked_for(ctx, PROFILE_RDMA_ANY)
				? (l->wish ? SEVERITY_WARN : SEVERITY_INFO)
				: SEVERITY_ERR,
			.subject = module, .needs_module = module, .observed = observed,
			.expected = "loaded", .remedy = remedy_of(ctx, l, &load),
			.command = unset ? NULL : load.command, .has_fix = unset || load.no_file,
			.evidence = { "modules.loaded", "rdma.devices",
				      unset ? "os.kernel_config" : l->wish_fact });
}

/* The module is loaded, and a function that offers RDMA has no device. */
static void fail_unbound(struct rule_context *ctx, const struct lacking *l)
{
	const char *module = l->driver->module;
	const char *observed = text_printf(ctx, "%s is loaded; %s (driver %s) has no RDMA device",
					   module, l->first->bdf.value, l->driver->driver);

	if (!l->wish && !l->offered && !is_asked_for(ctx, PROFILE_RDMA_ANY))
		NOTE(ctx, .subject = module, .observed = observed, .evidence = { "rdma.devices" });
	else
		FAIL_AS(ctx,
			ctx->node->rdma.devices.count || !is_asked_for(ctx, PROFILE_RDMA_ANY)
				? (l->wish || l->offered ? SEVERITY_WARN : SEVERITY_INFO)
				: SEVERITY_ERR,
			.subject = module,
			.title = "A NIC has no RDMA device: its driver made none",
			.observed = observed, .has_fix = true,
			.expected = "an RDMA device for each NIC that offers RDMA",
			.remedy = text_printf(
				ctx,
				"Read why %s made no device. If it says nothing, RDMA is switched off in the "
				"NIC: devlink dev param show pci/%s, and the maker's tool.",
				module, shell_name(l->first->bdf.value, "ADDRESS")),
			.command = shell_printf(ctx->arena, "sudo dmesg | grep %s", module),
			.evidence = { "rdma.devices", "rdma.auxiliary" });
}

static void check_driver(struct rule_context *ctx, const struct rdma_driver *driver, size_t *good)
{
	struct lacking l = { .driver = driver };

	collect(ctx, &l);
	if (!l.count)
		*good += l.all;
	else if (node_module(ctx->node, driver->module))
		fail_unbound(ctx, &l);
	else
		fail_module(ctx, &l);
}

/* An RDMA device whose function was not read can be that of any NIC. */
static bool is_unplaced(const struct node *node)
{
	for_each(d, &node->rdma.devices)
		if (is_unknown(d->bdf))
			return true;
	return false;
}

static void check_nics(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	size_t nics = 0, unread = 0, good = 0, before = ctx->findings->count;

	for_each(d, &node->pci.devices) {
		nics += has_other_half(d);
		unread += is_unknown(d->driver);
	}
	if (!was_read(node->pci.devices) || (!nics && unread))
		UNKNOWN(ctx, .evidence = { "pci.devices" });
	else if (!nics)
		NOT_APPLICABLE(
			ctx,
			.observed = "no NIC whose RDMA device another module makes, but NVIDIA's",
			.evidence = { "pci.devices" });
	else if (!was_read(node->rdma.devices) || is_unplaced(node))
		UNKNOWN(ctx, .evidence = { "rdma.devices" });
	else if (!skip_without_modules(ctx)) {
		for (const struct rdma_driver *d = rdma_drivers; d->module; d++)
			if (d->driver && strcmp(d->driver, d->module) != 0 &&
			    strcmp(d->driver, "mlx5_core") != 0)
				check_driver(ctx, d, &good);
		if (ctx->findings->count > before)
			return;
		if (good)
			PASS(ctx, .evidence = { "rdma.devices", "modules.loaded" });
		else
			NOT_APPLICABLE(ctx, .observed = "no function offers RDMA",
				       .evidence = { "rdma.auxiliary" });
	}
}

static const struct rule modules_nic_rules[] = {
	{
		.id = "modules/nic-rdma-not-loaded",
		.title = "A NIC has no RDMA device: the module that makes it is missing",
		.is_short_effect = true,
		.profiles = PROFILE_BASE,
		.severity = SEVERITY_WARN,
		.max_severity = SEVERITY_ERR,
		.needs_module = "",
		.evaluate = check_nics,
		.impact =
			"RDMA over this NIC does not work: ibv_devices does not list it. NCCL uses TCP sockets if no other "
			"NIC has an RDMA device.",
		.remedy = "Load the module, and make it load at every boot.",
		.fix = { "load-module", { "", "boot" } },
		.activation = ACTIVATION_NOW,
		.reads =
			"The drivers of the NICs, the RDMA devices, the loaded modules, the auxiliary devices in "
			"/sys/bus/auxiliary/devices, modules-load.d and the kernel's configuration.",
		.why = "A NIC's driver makes a network interface. The RDMA device comes from a second module, which "
		       "rdma-core's udev rules load, or the kernel does. data/rdma-drivers.tsv has both names. Without a "
		       "profile that uses RDMA this is a note. It is a warning if a file names the module, if another NIC "
		       "of the model has its device, or if the NIC shares a switch with a GPU. A function without an auxiliary device, where "
		       "others have one, offers no RDMA.",
		.check =
			"lspci -nnk | grep -A3 Ethernet; ls /sys/class/infiniband /sys/bus/auxiliary/devices",
		.sources =
			"Linux 6.12.117: drivers/infiniband/hw (Kconfig, auxiliary device tables)\n"
			"rdma-core 64: kernel-boot/rdma-description.rules, providers\n"
			"github.com/siderolabs/pkgs issue 1557 (bnxt_re)",
	},
};

RULE_TABLE(modules_nic);
