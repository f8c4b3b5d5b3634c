/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdma.c - RDMA devices: there, active, and of the kind that GPU-initiated networking drives. */
#include <inttypes.h>
#include <string.h>

#include "evaluate/skip.h"
#include "parse/nvidia.h"
#include "query/endpoints.h"
#include "query/gpus.h"
#include "query/job-env.h"
#include "query/ports.h"

/* NVSHMEM reads NVSHMEM_HCA_PREFIX from this version on; before, the name must have "mlx5" in it. */
#define NVSHMEM_HCA_PREFIX_SINCE "3.4.5"

static size_t count_nics(const struct node *node, const char *driver)
{
	size_t n = 0;

	for_each(d, &node->pci.devices)
		n += pci_is_mlx(d) && !is_known(d->physical_function) &&
		     (!driver || str_is(d->driver, driver));
	return n;
}

/* The module that makes RDMA devices of other makers' network functions, by the driver of these (Linux:
 * drivers/infiniband/hw). Of mlx5 the vendor's id alone tells, since its driver may be missing too. */
static const char *rdma_half(const struct pci_device *function)
{
	static const struct {
		const char *driver, *module;
	} halves[] = {
		{ "bnxt_en", "bnxt_re" }, { "ice", "irdma" },		{ "qede", "qedr" },
		{ "cxgb4", "iw_cxgb4" },  { "hns3", "hns_roce_hw_v2" },
	};

	for (size_t i = 0; i < sizeof(halves) / sizeof(halves[0]); i++)
		if (str_is(function->driver, halves[i].driver))
			return halves[i].module;
	return NULL;
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
		NOT_APPLICABLE(ctx, .observed = "no NIC on the PCI bus that RDMA is known of",
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
			     text_printf(ctx, "no RDMA device of the NIC %s, which %s drives%s",
					 nic->bdf.value, nic->driver.value,
					 node_module(ctx->node, module)
						 ? ""
						 : text_printf(ctx, "; %s is not loaded", module)),
		     .expected = "an RDMA device for each NIC",
		     .remedy = text_printf(
			     ctx,
			     "modprobe %s, and look in the kernel log where it is loaded already.",
			     module),
		     .evidence = { "rdma.devices",
				   fact_path(ctx->arena, "pci.devices", nic->bdf.value, "driver"),
				   "modules.loaded" });
}

static void check_no_devices(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	size_t nics;

	if (!was_read(node->pci.devices)) {
		UNKNOWN(ctx, .evidence = { "pci.devices" });
		return;
	}
	nics = count_nics(node, NULL);
	if (nics == 0)
		check_other_nic(ctx, first_other_nic(node));
	else if (!was_read(node->rdma.devices))
		UNKNOWN(ctx, .evidence = { "rdma.devices" });
	else if (node->rdma.devices.count)
		PASS(ctx, .observed = text_printf(ctx, "%u RDMA devices", node->rdma.devices.count),
		     .evidence = { "rdma.devices" });
	else
		FAIL(ctx,
		     .observed = text_printf(
			     ctx, "%zu NVIDIA NIC%s, no RDMA device%s", nics, nics == 1 ? "" : "s",
			     node_module(node, "mlx5_ib") ? "" : "; mlx5_ib is not loaded"),
		     .needs_module = node_module(node, "mlx5_ib") ? NULL : "mlx5_ib",
		     .expected = "an RDMA device for each NIC",
		     .evidence = { "rdma.devices", "modules.loaded" });
}

/* ---- ports ---- */

/* NICs that jobs use are of the kind that stands next to the GPUs. */
static bool is_compute(struct rule_context *ctx, const struct rdma_device *device)
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

/* Is a port active, as far as is known? With COMPUTE, one of the NICs next to the GPUs: a storage NIC that
 * is up is of no use to a job whose own NICs are all down. */
static bool any_active(struct rule_context *ctx, bool compute)
{
	for_each_port(d, p, ctx->node)
		if ((!is_known(p->state) || port_is_active(p)) && (!compute || is_compute(ctx, d)))
			return true;
	return false;
}

/* On some boards NVSwitches look like NICs, and only their vital product data tells. */
static bool may_be_nvswitch(const struct node *node, const struct pci_device *d)
{
	return d && pci_is_mlx(d) && is_unknown(d->sub_model) && gpu_nvswitch_is_nic(&node->pci);
}

static void check_down(struct rule_context *ctx, const struct rdma_device *d,
		       const struct rdma_port *p, const char *subject)
{
	const char *fact = port_fact(ctx->arena, d, p, "state");
	const char *physical = port_fact(ctx->arena, d, p, "physical_state");
	enum severity severity = SEVERITY_WARN;

	if (is_virtual_function(ctx->endpoints, d))
		severity = SEVERITY_INFO; /* an idle virtual function is down by right */
	else if (!any_active(ctx, is_compute(ctx, d)))
		severity = SEVERITY_ERR;
	else if (!is_compute(ctx, d))
		severity = SEVERITY_INFO; /* a second port or a spare NIC without a cable */
	FAIL_AS(ctx, severity, .subject = subject,
		.observed = text_printf(ctx, "%s%s%s", rdma_port_state_words[p->state.value],
					is_known(p->physical_state) ? ", physical state " : "",
					is_known(p->physical_state) ? p->physical_state.value : ""),
		.expected = "ACTIVE",
		.remedy =
			p->state.value == RDMA_PORT_INIT
				? "INIT means that the link is up and no subnet manager has configured it: "
				  "start opensm or look at the fabric's."
				: NULL,
		.evidence = { fact, physical });
}

/* A bond of both ports of a NIC is active while one of them is. */
static void check_active(struct rule_context *ctx, const struct rdma_device *d,
			 const struct rdma_port *p, const char *subject, const char *fact)
{
	const struct net_interface *leg = port_leg_down(ctx->node, d, p);

	if (leg)
		FAIL_AS(ctx, is_compute(ctx, d) ? SEVERITY_WARN : SEVERITY_INFO, .subject = subject,
			.observed = text_printf(ctx, "%s of the bond that it runs over is %s",
						leg->name.value, leg->state.value),
			.expected = "both ports of the bond up",
			.impact =
				"Half of the bond's bandwidth, or its reserve, is gone: the rest goes with the "
				"other port.",
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

/* ---- IBGDA ---- */

static void check_unsupported(struct rule_context *ctx)
{
	size_t good = 0, before;

	if (skip_without_rdma(ctx))
		return;
	before = ctx->findings->count;
	for_each(d, &ctx->node->rdma.devices) {
		const struct pci_device *pci = is_known(d->bdf) ? node_pci(ctx->node, d->bdf.value)
								: NULL;
		const struct nic_model *model = pci ? nic_model(pci) : NULL;
		const char *fact = fact_path(ctx->arena, "rdma.devices", d->name.value, "driver");

		if (!is_known(d->driver))
			UNKNOWN(ctx, .subject = d->name.value, .evidence = { fact });
		else if (!str_is(d->driver, "mlx5_core"))
			FAIL(ctx, .subject = d->name.value,
			     .observed = text_printf(ctx, "driven by %s", d->driver.value),
			     .expected = "a ConnectX-4 or later, driven by mlx5_core",
			     .evidence = { fact });
		else if (model && !model->generation && !model->virtual_function)
			FAIL(ctx, .subject = d->name.value, .observed = model->name,
			     .expected = "a ConnectX-4 or later",
			     .evidence = { fact_path(ctx->arena, "pci.devices", d->bdf.value,
						     "device_id") });
		else
			good++;
	}
	/* One NIC that works is enough; others are left out of the job's list. */
	if (good)
		for (size_t i = before; i < ctx->findings->count; i++) {
			struct finding *f = &((struct finding *)ctx->findings->items)[i];

			finding_set_severity(f, SEVERITY_INFO);
		}
	if (good && ctx->findings->count == before)
		PASS(ctx, .evidence = { "rdma.devices" });
}

static bool prefix_is_set(struct rule_context *ctx, const char **prefix)
{
	const struct software_item *nvshmem = node_software(ctx->node, "nvshmem");

	*prefix = node_env(ctx->node, "NVSHMEM_HCA_PREFIX");
	if (!*prefix || !**prefix)
		return false;
	return !nvshmem || version_compare(nvshmem->version.value, NVSHMEM_HCA_PREFIX_SINCE) >= 0;
}

static void check_renamed(struct rule_context *ctx)
{
	const char *prefix;
	size_t right = 0, unread = 0, maybe = 0, before;

	if (skip_without_rdma(ctx))
		return;
	before = ctx->findings->count;
	if (!prefix_is_set(ctx, &prefix))
		prefix = "mlx5";
	for_each(d, &ctx->node->rdma.devices) {
		maybe += is_unknown(d->driver);
		unread += is_unknown(d->driver) && !strstr(d->name.value, prefix);
		if (!str_is(d->driver, "mlx5_core"))
			continue;
		if (strstr(d->name.value, prefix))
			right++;
		else
			FAIL(ctx, .subject = d->name.value,
			     .observed = text_printf(ctx, "the name has no \"%s\" in it", prefix),
			     .expected = "a name that NVSHMEM takes for an mlx5 device",
			     .evidence = { fact_path(ctx->arena, "rdma.devices", d->name.value,
						     "driver") });
	}
	if (right && ctx->findings->count > before)
		for (size_t i = before; i < ctx->findings->count; i++)
			((struct finding *)ctx->findings->items)[i].severity = SEVERITY_WARN;
	if (ctx->findings->count > before)
		return;
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
		NOTE(ctx, .observed = "DMA-BUF works; there is no peer memory",
		     .expected = "nothing; one of the two is enough",
		     .evidence = {
			     fact_path(ctx->arena, "rdma.devices", yes->name.value, "dmabuf") });
	else if (peermem)
		NOTE(ctx, .observed = "peer memory works; the kernel registers no DMA-BUF",
		     .expected = "nothing; one of the two is enough",
		     .evidence = {
			     fact_path(ctx->arena, "rdma.devices", no->name.value, "dmabuf") });
	else
		FAIL(ctx,
		     .observed = "the kernel registers no DMA-BUF, and there is no peer memory",
		     .expected = "one of the two",
		     .evidence = { fact_path(ctx->arena, "rdma.devices", no->name.value, "dmabuf"),
				   "modules.loaded" });
}

/* Without an answer of verbs: what the versions say. */
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
			     "by its version the kernel registers DMA-BUFs; verbs were not asked",
		     .evidence = { "os.kernel", "driver.flavour" });
	else if (peermem)
		NOTE(ctx, .observed = "peer memory; no DMA-BUF by the versions",
		     .expected = "nothing; one of the two is enough",
		     .evidence = { "modules.loaded", "os.kernel", "driver.flavour" });
	else
		FAIL(ctx,
		     .observed = text_printf(ctx,
					     "%s kernel modules on kernel %s, and no peer memory",
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
	     .observed = text_printf(ctx,
				     "%s: %s does without DMA-BUF, and there is no peer memory",
				     job_value_text(ctx->arena, ctx->node, v), whose),
	     .expected = text_printf(ctx, "%s not set, or nvidia_peermem loaded", v->name),
	     .evidence = { v->fact, "modules.loaded" });
}

/* What a job is told not to use is not there for it. NCCL: src/init.cc, NCCL_PARAM(DmaBufEnable);
 * NVSHMEM: src/modules/transport/common/env_defs.h. */
static void check_dmabuf_variables(struct rule_context *ctx)
{
	struct job_value nccl = job_nccl(ctx->arena, ctx->node, "NCCL_DMABUF_ENABLE");
	struct job_value nvshmem = job_env(ctx->arena, ctx->node, "NVSHMEM_IB_DISABLE_DMABUF");
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
					 ? text_printf(ctx, "EFA's driver reaches GPU memory: %s",
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

static void check_dmabuf(struct rule_context *ctx)
{
	const struct node *node = ctx->node;
	bool peermem = node_module(node, "nvidia_peermem") || node_module(node, "nv_peer_mem");
	const struct rdma_device *yes = dmabuf_answer(node, true), *device = NULL;
	struct fact_bool efa = node_efa_reaches_gpus(node, &device);

	if (skip_without_rdma(ctx))
		return;
	if (is_known(efa)) {
		check_efa(ctx, device, efa.value);
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
		.title = "There are NICs for RDMA but no RDMA device",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_CRIT,
		.evaluate = check_no_devices,
		.impact = "No RDMA at all: NCCL uses sockets, IBGDA does not start.",
		.remedy =
			"modprobe mlx5_ib, or start openibd where MLNX_OFED is installed; have it done at "
			"boot.",
		.fix = { "load-module", { "mlx5_ib" } },
		.activation = ACTIVATION_NOW,
		.reads =
			"NVIDIA (15b3) network functions on the PCI bus, others by their driver (bnxt_en, ice, "
			"qede, cxgb4, hns3), and /sys/class/infiniband.",
		.why = "mlx5_core alone makes a network interface; mlx5_ib adds the RDMA device, as bnxt_re does "
		       "for Broadcom's and irdma for Intel's NICs.",
		.check = "ls /sys/class/infiniband; lsmod | grep mlx5_ib",
		.sources = "Linux: drivers/infiniband/hw",
	},
	{
		.id = "rdma/port-not-active",
		.title = "An RDMA port is not active",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_ports,
		.impact =
			"Jobs that use this port fail or hang; with none active there is no RDMA.",
		.remedy =
			"Check the cable, the switch port and, for InfiniBand, the subnet manager.",
		.reads =
			"state and phys_state of every port in /sys/class/infiniband; the interfaces of a NIC "
			"whose ports are a bond.",
		.why = "Only ACTIVE carries traffic. It is an error when no port is active, or none of the NICs "
		       "of the kind next to the GPUs, a warning for one of these, and information for spare "
		       "ports, NICs of another kind and idle virtual functions. That an IPoIB interface is down "
		       "says nothing. A bond of a NIC's two ports is one RDMA device, which stays ACTIVE with "
		       "one of them.",
		.check = "ibv_devinfo | grep -E 'hca_id|state'",
		.sources = "InfiniBand Architecture Specification, PortState\n"
			   "Linux: Documentation/ABI/stable/sysfs-class-infiniband",
	},
	{
		.id = "rdma/nic-unsupported-for-ibgda",
		.title = "GPU-initiated networking does not drive this NIC",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_ERR,
		.evaluate = check_unsupported,
		.impact = "NVSHMEM IBGDA passes over the device; with no other it does not start.",
		.remedy = "Use a ConnectX-4 or later, or another transport.",
		.reads = "Driver and PCI id of every RDMA device.",
		.why = "IBGDA writes an mlx5 device's queues and doorbells itself. Other NICs (eRDMA, EFA, "
		       "bnxt_re, irdma) have other ones. With at least one that fits, the others are "
		       "information.",
		.check = "ls -l /sys/class/infiniband/*/device/driver",
		.sources = "NVSHMEM: src/modules/transport/ibgda/ibgda.cpp\n"
			   "github.com/deepseek-ai/DeepEP issue 202",
	},
	{
		.id = "rdma/device-renamed-not-mlx5",
		.title = "An RDMA device has a name that NVSHMEM does not take",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_ERR,
		.evaluate = check_renamed,
		.impact = "IBGDA passes over it: \"device is not supported\".",
		.remedy =
			"Name the devices mlx5_N again (a udev rule with NAME_FALLBACK or rdma dev set ... "
			"name), or set NVSHMEM_HCA_PREFIX with NVSHMEM 3.4.5 or later.",
		.activation = ACTIVATION_REBOOT,
		.reads =
			"The names of RDMA devices that mlx5_core drives, NVSHMEM_HCA_PREFIX of the process "
			"asked for, the NVSHMEM found on disk.",
		.why = "NVSHMEM looks for \"mlx5\" in the name; rdma-core's udev rules can name devices "
		       "ibp..., rocep... or as the site likes.",
		.check = "ls /sys/class/infiniband",
		.sources =
			"NVSHMEM: ibgda.cpp; release notes 3.4.5\nrdma-core: kernel-boot/rdma-persistent-"
			"naming.rules",
	},
	{
		.id = "rdma/dmabuf-unsupported",
		.title = "The NIC has no way to GPU memory, or only one",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.evaluate = check_dmabuf,
		.impact = "Without either, every transfer is copied through host memory.",
		.remedy = "Use the open kernel modules with a kernel from " KERNEL_DMABUF
			  " on (or OFED), or load nvidia-peermem.",
		.fix = { "load-module", { "nvidia_peermem", "boot" } },
		.activation = ACTIVATION_NOW,
		.follows = { "modules/peermem-stub", "modules/peermem-unloadable",
			     "modules/peermem-symbol-mismatch",
			     "modules/peermem-not-built-for-kernel" },
		.trial = TRIAL_REGISTRATION_WITH_NIC,
		.reads =
			"What ibv_reg_dmabuf_mr answers for a file descriptor of -1 (EBADF: supported; "
			"EOPNOTSUPP, EPROTONOSUPPORT: not), as NCCL asks; else kernel, flavour and OFED; and "
			"the loaded modules; what EFA's driver says in p2p or gdr; NCCL_DMABUF_ENABLE (also of nccl.conf) and "
			"NVSHMEM_IB_DISABLE_DMABUF of the process asked about.",
		.why = "The command behind it came with Linux " KERNEL_DMABUF
		       "; OFED brings it to older kernels, so the probe outranks the number.",
		.check = "uname -r; head -1 /proc/driver/nvidia/version; lsmod | grep peermem",
		.sources = "NCCL: src/transport/net_ib/gdr.cc\nLinux commit bfe0cc6eb249\n"
			   "amzn-drivers: kernel/linux/efa/src/efa_sysfs.c, efa_p2p.c\n"
			   "github.com/aws/aws-ofi-nccl pull 618",
	},
};

RULE_TABLE(rdma);
