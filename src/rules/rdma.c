/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdma.c - RDMA devices: there, active, and of the kind that GPU-initiated networking drives. */
#include <inttypes.h>
#include <string.h>

#include "base/shell.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/endpoints.h"
#include "query/gpus.h"
#include "query/job-env.h"
#include "query/pci-device.h"
#include "query/peermem.h"
#include "query/ports.h"
#include "query/rdma-drivers.h"
#include "query/selection.h"

static size_t count_nics(const struct node *node)
{
	size_t n = 0;

	for_each(d, &node->pci.devices)
		n += pci_is_mlx(d) && !is_known(d->physical_function);
	return n;
}

/* The module that makes RDMA devices of NVIDIA's NICs: of mlx5, unless all are older. */
static const char *module_of_nics(const struct node *node)
{
	const char *module = NULL;

	for_each(d, &node->pci.devices)
		if (pci_is_mlx(d) && !is_known(d->physical_function) &&
		    !(module && strcmp(module, "mlx5_ib") == 0))
			module = str_is(d->driver, "mlx4_core") ? "mlx4_ib" : "mlx5_ib";
	return module;
}

/* The module that makes RDMA devices of other makers' network functions, by the driver of these. Of NVIDIA's the
 * vendor's id tells too, since the driver may be missing. */
static const char *rdma_half(const struct pci_device *function)
{
	const struct rdma_driver *driver = rdma_driver_of(function);

	return driver ? driver->module : NULL;
}

static const struct pci_device *first_other_nic(const struct node *node)
{
	for_each(d, &node->pci.devices)
		if (rdma_half(d) && !is_known(d->physical_function))
			return d;
	return NULL;
}

static void check_other_nic(struct rule_context *ctx, const struct pci_device *nic)
{
	const char *module = nic ? rdma_half(nic) : NULL;

	if (!nic)
		NOT_APPLICABLE(ctx, .observed = "no NIC with RDMA on the PCI bus",
			       .evidence = { "pci.devices" });
	else if (!was_read(ctx->node->rdma.devices))
		UNKNOWN(ctx, .evidence = { "rdma.devices" });
	else if (ctx->node->rdma.devices.count)
		PASS(ctx,
		     .observed = text_printf(ctx, "%u RDMA devices", ctx->node->rdma.devices.count),
		     .evidence = { "rdma.devices" });
	else
		FAIL(ctx, .subject = module, .needs_module = module,
		     .observed =
			     text_printf(ctx, "NIC %s (driver %s) has no RDMA device%s",
					 nic->bdf.value, nic->driver.value,
					 node_module(ctx->node, module)
						 ? ""
						 : text_printf(ctx, "; %s is not loaded", module)),
		     .expected = "an RDMA device for each NIC",
		     .remedy =
			     node_module(ctx->node, module)
				     ? text_printf(
					       ctx,
					       "Look in the kernel log why %s made no RDMA device.",
					       module)
				     : text_printf(ctx, "Load %s, and have it loaded at boot.",
						   module),
		     .command = node_module(ctx->node, module)
					? shell_printf(ctx->arena, "dmesg | grep %s", module)
					: shell_printf(ctx->arena, "modprobe %s", module),
		     .evidence = { "rdma.devices",
				   fact_path(ctx->arena, "pci.devices", nic->bdf.value, "driver"),
				   "modules.loaded" });
}

static void check_no_devices(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	const char *module = module_of_nics(node);
	size_t nics;

	if (!was_read(node->pci.devices)) {
		UNKNOWN(ctx, .evidence = { "pci.devices" });
		return;
	}
	nics = count_nics(node);
	if (nics == 0)
		check_other_nic(ctx, first_other_nic(node));
	else if (!was_read(node->rdma.devices))
		UNKNOWN(ctx, .evidence = { "rdma.devices" });
	else if (node->rdma.devices.count)
		PASS(ctx, .observed = text_printf(ctx, "%u RDMA devices", node->rdma.devices.count),
		     .evidence = { "rdma.devices" });
	else
		FAIL(ctx,
		     .observed = text_printf(ctx, "%zu NVIDIA NIC%s, no RDMA device%s%s%s", nics,
					     nics == 1 ? "" : "s",
					     node_module(node, module) ? "" : "; ",
					     node_module(node, module) ? "" : module,
					     node_module(node, module) ? "" : " is not loaded"),
		     .needs_module = node_module(node, module) ? NULL : module,
		     .remedy = text_printf(
			     ctx,
			     "Load %s (with MLNX_OFED: start openibd), and have it loaded at boot.",
			     module),
		     .command = shell_printf(ctx->arena, "modprobe %s", module),
		     .expected = "an RDMA device for each NIC",
		     .evidence = { "rdma.devices", "modules.loaded" });
}

/* ---- ports ---- */

/* A NIC of the kind that is next to the GPUs. Where no NIC is next to one, as in a virtual machine or on a GB10, a
 * port that is down can be a spare one. */
static bool is_beside_gpu(struct rule_context *ctx, const struct rdma_device *device)
{
	const struct pci_device *own = is_known(device->bdf)
					       ? node_pci(ctx->node, device->bdf.value)
					       : NULL;

	for_each(gpu, &ctx->endpoints->gpus)
		if (own && gpu->nic && gpu->path.class <= PATH_PXB &&
		    gpu->nic->device_id.value == own->device_id.value)
			return true;
	return false;
}

/* Returns true if a port is active, as far as is known. With COMPUTE, one of the NICs next to the GPUs: a storage NIC
 * that is up is of no use to a job whose own NICs are all down. */
static bool any_active(struct rule_context *ctx, bool compute)
{
	for_each_port(d, p, ctx->node)
		if ((!is_known(p->state) || port_is_active(p)) &&
		    (!compute || is_beside_gpu(ctx, d)))
			return true;
	return false;
}

/* On some boards NVSwitches look like NICs, and only their vital product data tells. */
static bool may_be_nvswitch(const struct node *node, const struct pci_device *d)
{
	return d && pci_is_mlx(d) && is_unknown(d->sub_model) && gpu_nvswitch_is_nic(&node->pci);
}

static enum severity severity_down(struct rule_context *ctx, const struct rdma_device *d)
{
	if (is_virtual_function(ctx->endpoints, d))
		return SEVERITY_INFO; /* an idle virtual function is down as intended */
	if (!any_active(ctx, is_beside_gpu(ctx, d)))
		return SEVERITY_ERR;
	/* else a second port, or a spare NIC without a cable */
	return is_beside_gpu(ctx, d) ? SEVERITY_WARN : SEVERITY_INFO;
}

/* Such a port asks for nothing. */
static const char *reason_down(struct rule_context *ctx, const struct rdma_device *d)
{
	if (severity_down(ctx, d) > SEVERITY_INFO)
		return "";
	return is_virtual_function(ctx->endpoints, d)
		       ? ", which is normal for a virtual function that no job uses"
		       : ". No GPU is near this NIC: a port without a cable is normal here";
}

static bool is_disabled(const struct rdma_port *p)
{
	return p->state.value != RDMA_PORT_INIT && str_is(p->physical_state, "Disabled");
}

/* Returns the command that enables an Ethernet port, or NULL. */
static const char *shell_enable(struct rule_context *ctx, const struct rdma_port *p)
{
	if (!is_disabled(p) || !port_is_ethernet(p))
		return NULL;
	for_each(g, &p->gids)
		if (is_known(g->netdev))
			return shell_printf(ctx->arena, "sudo ip link set %s up", g->netdev.value);
	return NULL;
}

static const char *remedy_down(const struct rdma_port *p)
{
	if (p->state.value == RDMA_PORT_INIT)
		return "Start a subnet manager on the fabric, or find out why it does not configure this port.";
	if (is_disabled(p))
		return port_is_ethernet(p)
			       ? "Enable the port's interface, also for the next boot. Then check cable and "
				 "transceiver."
			       : "Enable the port (with ibportstate on InfiniBand). Then check cable and "
				 "transceiver.";
	if (str_is(p->physical_state, "Polling"))
		return "The port finds no link partner. Check the cable at both ends, and whether the switch port is "
		       "enabled.";
	return NULL;
}

static void check_down(struct rule_context *ctx, const struct rdma_device *d,
		       const struct rdma_port *p, const char *subject)
{
	const char *fact = port_fact(ctx->arena, d, p, "state"), *list = NULL;
	const char *physical = port_fact(ctx->arena, d, p, "physical_state");
	const char *state = text_printf(ctx, "%s%s%s", rdma_port_state_words[p->state.value],
					is_known(p->physical_state) ? ", physical state " : "",
					is_known(p->physical_state) ? p->physical_state.value : "");
	const char *left_out = port_left_out(ctx->arena, ctx->endpoints, d, p, &list);

	if (left_out)
		NOTE(ctx, .subject = subject,
		     .observed = text_printf(ctx, "%s; %s", state, left_out),
		     .evidence = { fact, list });
	else
		FAIL_AS(ctx, severity_down(ctx, d), .subject = subject,
			.observed = text_printf(ctx, "%s%s", state, reason_down(ctx, d)),
			.expected = "ACTIVE", .remedy = remedy_down(p),
			.command = shell_enable(ctx, p), .evidence = { fact, physical });
}

/* A bond of both ports of a NIC is active while one of them is. */
static void check_active(struct rule_context *ctx, const struct rdma_device *d,
			 const struct rdma_port *p, const char *subject, const char *fact)
{
	const struct net_interface *leg = port_leg_down(ctx->node, d, p);

	if (leg)
		FAIL_AS(ctx, is_beside_gpu(ctx, d) ? SEVERITY_WARN : SEVERITY_INFO,
			.subject = subject,
			.observed = text_printf(ctx, "%s, one port of the bond, is %s",
						leg->name.value, leg->state.value),
			.expected = "both ports of the bond up",
			.impact =
				"The bond has half of its bandwidth and no reserve. If the other port fails, the "
				"link is gone.",
			.evidence = { fact, fact_path(ctx->arena, "net.interfaces", leg->name.value,
						      "state") });
	else
		PASS(ctx, .subject = subject, .evidence = { fact });
}

static void check_port(struct rule_context *ctx, const struct rdma_device *d,
		       const struct rdma_port *p)
{
	const char *subject = port_name(ctx->arena, d, p),
		   *fact = port_fact(ctx->arena, d, p, "state");
	const struct pci_device *pci = is_known(d->bdf) ? node_pci(ctx->node, d->bdf.value) : NULL;

	if (pci && str_is(pci->sub_model, "SW_MNG"))
		return;
	if (!is_known(p->state))
		UNKNOWN(ctx, .subject = subject, .evidence = { fact });
	else if (p->state.value == RDMA_PORT_ACTIVE)
		check_active(ctx, d, p, subject, fact);
	else if (!was_read(ctx->node->pci.devices)) /* a spare NIC or a job's? */
		UNKNOWN(ctx, .subject = subject, .evidence = { "pci.devices", fact });
	else if (may_be_nvswitch(ctx->node, pci))
		UNKNOWN(ctx, .subject = subject,
			.evidence = {
				fact_path(ctx->arena, "pci.devices", pci->bdf.value, "sub_model"),
				fact });
	else
		check_down(ctx, d, p, subject);
}

static void check_ports(struct rule_context *ctx)
{
	size_t before = ctx->findings->count;

	if (!was_read(ctx->node->rdma.devices)) {
		UNKNOWN(ctx, .evidence = { "rdma.devices" });
		return;
	}
	for_each_port(d, p, ctx->node)
		check_port(ctx, d, p);
	if (ctx->findings->count == before)
		NOT_APPLICABLE(ctx, .observed = "no RDMA port", .evidence = { "rdma.devices" });
}

/* ---- names ---- */

/* NVSHMEM reads NVSHMEM_HCA_PREFIX from this release on. */
#define NVSHMEM_HCA_PREFIX_SINCE "3.4.5"
/* NVSHMEM takes all names but those with "smi" from this release on; before, those with "mlx5" only. */
#define NVSHMEM_TAKES_ALL "3.5.19"

/* A device's name has this part, or must not have it. */
struct name_filter {
	const char *part;
	bool excludes;
	bool assumed; /* no NVSHMEM was found: what the older releases need */
};

static struct name_filter find_filter(const struct rule_context *ctx)
{
	const struct software_item *nvshmem = node_software(ctx->node, "nvshmem");
	const char *prefix = job_nvshmem(ctx->arena, ctx->node, "NVSHMEM_HCA_PREFIX").value;
	const char *version = nvshmem ? nvshmem->version.value : NULL;
	bool takes_all = version && version_compare(version, NVSHMEM_TAKES_ALL) >= 0;

	if (prefix && *prefix &&
	    (!version || version_compare(version, NVSHMEM_HCA_PREFIX_SINCE) >= 0)) {
		bool excludes = *prefix == '^' && (takes_all || !version);

		return (struct name_filter){ prefix + excludes, excludes, false };
	}
	if (takes_all)
		return (struct name_filter){ "smi", true, false };
	return (struct name_filter){ "mlx5", false, !version };
}

static bool takes_name(const struct name_filter *filter, const char *name)
{
	return !strstr(name, filter->part) == filter->excludes;
}

static void fail_name(struct rule_context *ctx, const struct rdma_device *d,
		      const struct name_filter *filter)
{
	FAIL_AS(ctx, filter->assumed ? SEVERITY_WARN : SEVERITY_ERR, .subject = d->name.value,
		.observed = text_printf(ctx, "the name has %s \"%s\" in it%s",
					filter->excludes ? "a" : "no", filter->part,
					filter->assumed
						? ", which NVSHMEM before " NVSHMEM_TAKES_ALL
						  " needs; no NVSHMEM was found here"
						: ""),
		.expected = "a name that NVSHMEM accepts",
		.evidence = { fact_path(ctx->arena, "rdma.devices", d->name.value, "driver") });
}

static void check_renamed(struct rule_context *ctx)
{
	struct name_filter filter = find_filter(ctx);
	size_t right = 0, unread = 0, maybe = 0, before;

	if (skip_without_rdma(ctx))
		return;
	before = ctx->findings->count;
	for_each(d, &ctx->node->rdma.devices) {
		maybe += is_unknown(d->driver);
		unread += is_unknown(d->driver) && !takes_name(&filter, d->name.value);
		if (!str_is(d->driver, "mlx5_core"))
			continue;
		if (takes_name(&filter, d->name.value))
			right++;
		else
			fail_name(ctx, d, &filter);
	}
	if (ctx->findings->count > before) {
		if (right)
			rule_regrade(ctx, before, SEVERITY_WARN);
		return;
	}
	if (unread)
		UNKNOWN(ctx, .observed = "the driver of a device with another name was not read",
			.evidence = { "rdma.devices" });
	else if (right)
		PASS(ctx, .evidence = { "rdma.devices" });
	else if (maybe)
		UNKNOWN(ctx, .evidence = { "rdma.devices" });
	else
		NOT_APPLICABLE(ctx, .observed = "no RDMA device of mlx5_core",
			       .evidence = { "rdma.devices" });
}

/* ---- GPU memory for the NIC ---- */

#define KERNEL_DMABUF "5.12"

static bool has_ofed(const struct node *node)
{
	return node_software(node, "ofed") || node_software(node, "doca");
}

/* Known only where verbs were asked. */
static const struct rdma_device *dmabuf_answer(const struct node *node, bool wanted)
{
	for_each(d, &node->rdma.devices)
		if (known_is(d->dmabuf, wanted))
			return d;
	return NULL;
}

static void check_dmabuf_fact(struct rule_context *ctx, const struct rdma_device *yes, bool peermem)
{
	const struct rdma_device *no = dmabuf_answer(ctx->node, false);

	if (yes && peermem)
		PASS(ctx, .observed = "DMA-BUF and peer memory",
		     .evidence = {
			     fact_path(ctx->arena, "rdma.devices", yes->name.value, "dmabuf") });
	else if (yes)
		NOTE(ctx, .observed = "DMA-BUF works; no peer memory module is loaded",
		     .evidence = {
			     fact_path(ctx->arena, "rdma.devices", yes->name.value, "dmabuf") });
	else if (peermem)
		NOTE(ctx,
		     .observed = "a peer memory module is loaded; the kernel registers no DMA-BUF",
		     .evidence = {
			     fact_path(ctx->arena, "rdma.devices", no->name.value, "dmabuf") });
	else
		FAIL(ctx,
		     .observed =
			     "the kernel registers no DMA-BUF, and no peer memory module is loaded",
		     .expected = "DMA-BUF, or nvidia_peermem loaded",
		     .evidence = { fact_path(ctx->arena, "rdma.devices", no->name.value, "dmabuf"),
				   "modules.loaded" });
}

/* The device was not asked through verbs: the versions decide. */
static void check_dmabuf_versions(struct rule_context *ctx, bool peermem)
{
	const struct node *node = ctx->node;
	bool open = known_is(node->driver.flavour, FLAVOUR_OPEN);

	if (!is_known(node->driver.flavour) || !is_known(node->os.kernel) ||
	    !was_read(node->modules.loaded))
		UNKNOWN(ctx, .evidence = { !is_known(node->os.kernel) ? "os.kernel"
								      : "driver.flavour" });
	else if (open &&
		 (version_compare(node->os.kernel.value, KERNEL_DMABUF) >= 0 || has_ofed(node)))
		PASS(ctx,
		     .observed =
			     "kernel and driver are new enough for DMA-BUF; the RDMA device was not asked",
		     .evidence = { "os.kernel", "driver.flavour" });
	else if (peermem)
		NOTE(ctx,
		     .observed =
			     "a peer memory module is loaded; kernel and driver are too old for DMA-BUF",
		     .evidence = { "modules.loaded", "os.kernel", "driver.flavour" });
	else if (known_is(driver_has_peermem(node), false))
		FAIL(ctx,
		     .observed = text_printf(
			     ctx, "driver %s exports no DMA-BUF, and nv_peer_mem is not loaded",
			     node->driver.version.value),
		     .expected = "nv_peer_mem loaded, or driver 470 or later",
		     .remedy = peermem_remedy(ctx->arena, node), .has_fix = true,
		     .evidence = { "driver.version", "driver.flavour", "modules.loaded" });
	else
		FAIL(ctx,
		     .observed = text_printf(
			     ctx, "%s kernel modules on kernel %s, and no peer memory module",
			     driver_flavour_words[node->driver.flavour.value],
			     node->os.kernel.value),
		     .expected = "DMA-BUF (open modules, kernel " KERNEL_DMABUF
				 " or OFED) or nvidia_peermem",
		     .evidence = { "os.kernel", "driver.flavour", "modules.loaded" });
}

static void fail_without_dmabuf(struct rule_context *ctx, const struct job_value *v,
				const char *whose)
{
	FAIL(ctx, .subject = v->name,
	     .observed = text_printf(
		     ctx, "%s: %s does not use DMA-BUF, and no peer memory module is loaded",
		     job_value_text(ctx->arena, ctx->node, v), whose),
	     .expected = text_printf(ctx, "%s not set, or nvidia_peermem loaded", v->name),
	     .remedy = text_printf(
		     ctx, "Unset %s in the job's environment, or load nvidia_peermem.", v->name),
	     .evidence = { v->fact, "modules.loaded" });
}

/* A job cannot use what its environment switches off. NCCL: src/init.cc, NCCL_PARAM(DmaBufEnable);
 * NVSHMEM: src/modules/transport/common/env_defs.h. */
static void check_dmabuf_variables(struct rule_context *ctx)
{
	struct job_value nccl = job_nccl(ctx->arena, ctx->node, "NCCL_DMABUF_ENABLE");
	struct job_value nvshmem = job_nvshmem(ctx->arena, ctx->node, "NVSHMEM_IB_DISABLE_DMABUF");
	long number;

	if (job_number(&nccl, &number) && number == 0)
		fail_without_dmabuf(ctx, &nccl, "NCCL");
	if (job_is_on(&nvshmem))
		fail_without_dmabuf(ctx, &nvshmem, "NVSHMEM");
}

/* DMA-BUF is a second way for EFA, from efa 1.16.0 on (RELEASENOTES.md). */
static void check_efa(struct rule_context *ctx, const struct rdma_device *d, bool reaches)
{
	const char *fact = fact_path(ctx->arena, "rdma.devices", d->name.value,
				     is_known(d->p2p) ? "p2p" : "gdr");

	if (reaches)
		PASS(ctx,
		     .observed = is_known(d->p2p)
					 ? text_printf(ctx,
						       "EFA's driver reaches GPU memory through %s",
						       d->p2p.value)
					 : "EFA's driver reaches GPU memory",
		     .evidence = { fact });
	else if (known_is(ctx->node->driver.flavour, FLAVOUR_OPEN))
		NOTE(ctx, .subject = d->name.value,
		     .observed = "EFA's driver reaches GPU memory through DMA-BUF alone",
		     .evidence = { fact, "driver.flavour" });
	else if (!is_known(ctx->node->driver.flavour))
		UNKNOWN(ctx, .evidence = { "driver.flavour", fact });
	else
		FAIL(ctx, .subject = d->name.value,
		     .observed =
			     "EFA's driver does not reach GPU memory, and the proprietary kernel "
			     "modules export no DMA-BUF",
		     .expected = "p2p of the EFA device names NVIDIA",
		     .remedy = "Build efa_nv_peermem for this driver and load it (Amazon's EFA "
			       "installer brings it), or install the open kernel modules.",
		     .fix = { NULL }, .has_fix = true, .evidence = { fact, "driver.flavour" });
}

/* Linux's own efa has no file p2p and takes GPU memory by DMA-BUF alone (efa_verbs.c). */
static void check_silent_efa(struct rule_context *ctx, const struct rdma_device *d)
{
	const char *fact = fact_path(ctx->arena, "rdma.devices", d->name.value, "p2p");

	if (is_unknown(d->p2p))
		UNKNOWN(ctx, .observed = "whether the EFA driver reaches GPU memory was not read",
			.evidence = { fact });
	else
		FAIL(ctx, .subject = d->name.value,
		     .observed =
			     "Linux's own EFA driver reaches GPU memory through DMA-BUF alone, which "
			     "the proprietary kernel modules do not export",
		     .expected = "the open kernel modules, or Amazon's EFA driver",
		     .remedy =
			     "Install the open kernel modules, or the EFA driver of Amazon's installer.",
		     .fix = { NULL }, .has_fix = true, .evidence = { fact, "driver.flavour" });
}

static void check_dmabuf(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	bool peermem = node_module(node, "nvidia_peermem") || node_module(node, "nv_peer_mem");
	const struct rdma_device *yes = dmabuf_answer(node, true), *device = NULL;
	struct fact_bool efa = node_efa_reaches_gpus(node, &device);

	if (skip_without_rdma(ctx))
		return;
	if (node_is_efa_without_gpudirect(node) && !known_is(efa, true)) {
		NOTE(ctx,
		     .observed = text_printf(
			     ctx, "%s has no GPUDirect RDMA: NCCL copies through host memory",
			     node->os.product.value),
		     .evidence = { "os.product", "rdma.devices" });
		return;
	}
	if (is_known(efa)) {
		check_efa(ctx, device, efa.value);
		return;
	}
	if (node_efa_alone(node) && known_is(node->driver.flavour, FLAVOUR_PROPRIETARY)) {
		check_silent_efa(ctx, node_efa_alone(node));
		return;
	}
	if (was_read(node->modules.loaded) && !peermem)
		check_dmabuf_variables(ctx);
	/* The proprietary modules export none, whatever the RDMA side can do. */
	if (known_is(node->driver.flavour, FLAVOUR_PROPRIETARY))
		check_dmabuf_versions(ctx, peermem);
	else if (yes || dmabuf_answer(node, false))
		check_dmabuf_fact(ctx, yes, peermem);
	else
		check_dmabuf_versions(ctx, peermem);
}

static const struct rule rdma_rules[] = {
	{
		.id = "rdma/no-devices",
		.title = "There is no RDMA: the NICs have no RDMA device",
		.profiles = PROFILE_RDMA_ANY,
		.used_variables = USED_BY_RDMA_JOBS,
		.severity = SEVERITY_CRIT,
		.evaluate = check_no_devices,
		.impact = "NCCL uses TCP sockets, and NVSHMEM IBGDA does not start.",
		.remedy =
			"Load mlx5_ib (with MLNX_OFED: start openibd), and have it loaded at boot.",
		.command = "modprobe mlx5_ib",
		.fix = { "load-module", { "mlx5_ib" } },
		.activation = ACTIVATION_NOW,
		.follows = { "modules/mlx5-not-loaded", "modules/nic-rdma-not-loaded" },
		.reads =
			"NVIDIA (15b3) network functions on the PCI bus; NICs of other makers by their driver "
			"(bnxt_en, ice, qede, cxgb4, hns3, mana, ionic, efa, erdma); /sys/class/infiniband.",
		.why = "mlx5_core alone makes a network interface. mlx5_ib adds the RDMA device. Broadcom's NICs need "
		       "bnxt_re for it, and Intel's need irdma.",
		.check = "ls /sys/class/infiniband; lsmod | grep mlx5_ib",
		.sources =
			"Linux 6.1.192: drivers/infiniband/hw (mlx5, bnxt_re, irdma, qedr, cxgb4, hns), Kconfig\n"
			"github.com/NVIDIA/nccl issue 958",
	},
	{
		.id = "rdma/port-not-active",
		.title = "Jobs cannot use a NIC: its RDMA port is not active",
		.is_short_effect = true,
		.profiles = PROFILE_RDMA_ANY,
		.used_variables = USED_BY_RDMA_JOBS,
		.severity = SEVERITY_ERR,
		.evaluate = check_ports,
		.on_site = true,
		.impact =
			"Jobs that use this port fail or hang. If no port is active, there is no RDMA.",
		.remedy =
			"Check the cable, the switch port and, for InfiniBand, the subnet manager.",
		.follows = { "rdma/port-init-no-sm" },
		.reads =
			"state and phys_state of every port in /sys/class/infiniband; the interfaces of a bond; "
			"NCCL_IB_HCA and NVSHMEM_HCA_LIST.",
		.why = "Only ACTIVE carries traffic. The finding is an error when no port is active, or no port of the "
		       "NICs next to the GPUs. It is a warning for one of those. It is a note for a spare port, for a NIC "
		       "of another kind, for an idle virtual function, and for a port that the job's list leaves out. "
		       "An IPoIB interface may be down. A bond of a NIC's two ports is one RDMA device, which stays "
		       "ACTIVE with one of them.",
		.check = "ibv_devinfo | grep -E 'hca_id|state'",
		.sources =
			"NCCL 2.30.7: src/transport/net_ib/init.cc, ncclIbInitDevices() (leaves out ports that are not active)\n"
			"Linux 6.1.192: Documentation/ABI/stable/sysfs-class-infiniband\n"
			"github.com/NVIDIA/nccl issue 1935; github.com/openucx/ucx pull 5401",
	},
	{
		.id = "rdma/device-renamed-not-mlx5",
		.title = "NVSHMEM does not use a NIC: its RDMA device has another name than mlx5_N",
		.is_short_effect = true,
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_ERR,
		.evaluate = check_renamed,
		.impact = "IBGDA skips the device: \"device ... is not supported\".",
		.remedy =
			"Give the device a name that begins with mlx5_ again: with a udev rule that has NAME_KERNEL, or until the next "
			"boot with rdma dev set. Or set NVSHMEM_HCA_PREFIX to the beginning of its name, or use NVSHMEM " NVSHMEM_TAKES_ALL
			" or later.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"The names of RDMA devices with the driver mlx5_core; NVSHMEM_HCA_PREFIX; NVSHMEM on disk.",
		.why = "NVSHMEM before " NVSHMEM_TAKES_ALL
		       " accepts a device only if its name contains NVSHMEM_HCA_PREFIX, by default \"mlx5\". From "
		       "then on the variable accepts ^, and the default is \"^smi\": every name that does not contain \"smi\". "
		       "rdma-core's udev rules can name devices ibp... or rocep...",
		.check = "ls /sys/class/infiniband",
		.sources =
			"NVSHMEM 3.5.1: src/modules/transport/ibgda/ibgda.cpp, env_defs.h\n"
			"NVSHMEM 1bae7ad (3.7.0): changelog, 3.5.19 (NVSHMEM_HCA_PREFIX)\n"
			"NVSHMEM 3.6.8: src/modules/transport/common/env_defs.h and transport_ib_common.cpp, "
			"nvshmemt_check_hca_prefix()\n"
			"rdma-core 64: kernel-boot/rdma-persistent-naming.rules (NAME_KERNEL)",
	},
	{
		.id = "rdma/dmabuf-unsupported",
		.title = "NICs cannot reach GPU memory: neither DMA-BUF nor nvidia_peermem works",
		.profiles = PROFILE_GPUDIRECT_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_dmabuf,
		.impact =
			"NCCL and UCX copy through host memory. NVSHMEM does not start between nodes.",
		.remedy =
			"Load nvidia_peermem. Or install the open kernel modules on Linux " KERNEL_DMABUF
			" or later, or with OFED.",
		.fix = { "load-module", { "nvidia_peermem", "boot" } },
		.activation = ACTIVATION_NOW,
		.follows = { "modules/peermem-stub", "modules/peermem-unloadable",
			     "modules/peermem-symbol-mismatch",
			     "modules/peermem-not-built-for-kernel", "modules/peermem-not-loaded" },
		.trial = TRIAL_REGISTRATION_WITH_NIC,
		.reads =
			"On a live host whether ibv_reg_dmabuf_mr works (EBADF for a descriptor of -1), as NCCL asks "
			"it. Else the kernel's version, the driver's flavour and OFED. The loaded modules. p2p or gdr "
			"of EFA devices. NCCL_DMABUF_ENABLE and NVSHMEM_IB_DISABLE_DMABUF.",
		.why = "DMA-BUF or a peer memory module is enough; with one of them this is a pass or a note. The "
		       "command that registers a DMA-BUF came with Linux " KERNEL_DMABUF
		       ", and OFED brings it to older kernels. So the device's own answer counts more than the "
		       "version. EFA's driver says itself whether it reaches GPU memory.",
		.check = "uname -r; head -1 /proc/driver/nvidia/version; lsmod | grep peermem",
		.sources =
			"NCCL 2.30.7: src/transport/net_ib/gdr.cc; src/init.cc, NCCL_PARAM(DmaBufEnable)\n"
			"Linux commit bfe0cc6eb249 (5.12)\n"
			"NVSHMEM 3.6.8: src/modules/transport/common/env_defs.h; 3.5.1: src/modules/transport/ibrc/ibrc.cpp, "
			"ibgda/ibgda.cpp (Skipping transport)\n"
			"amzn-drivers: kernel/linux/efa/src/efa_sysfs.c, efa_p2p.c, RELEASENOTES.md (1.16.0)\n"
			"github.com/aws/aws-ofi-nccl pull 618",
	},
};

RULE_TABLE(rdma);
