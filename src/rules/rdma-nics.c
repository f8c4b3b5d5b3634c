/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rdma-nics.c - the NICs as devices (rules rdma/...): all present, alike, and with what they need of kernel and
 * firmware. */
#include <string.h>

#include "base/shell.h"
#include "base/text-map.h"
#include "evaluate/skip.h"
#include "parse/version.h"
#include "query/container-runtime.h"
#include "query/kind.h"
#include "query/pci-device.h"
#include "query/ports.h"
#include "query/rdma-drivers.h"
#include "query/topology.h"

/* ---- rdma/device-missing ---- */

/* A function's interface lies below that one, by sysfs; where that is not known the name tells. */
static bool is_leg_of(const struct node *node, const struct pci_device *nic, const char *bond)
{
	if (starts_with(bond, "bond"))
		return true;
	for_each(leg, &node->net.interfaces)
		if (str_is(leg->bdf, nic->bdf.value) && interface_is_leg(node, leg, bond))
			return true;
	return false;
}

/* Both ports of a NIC in one bond make a single RDMA device, on the first function
 * (drivers/net/ethernet/mellanox/mlx5/core/lag). */
static bool is_in_bond(const struct node *node, const struct pci_device *nic)
{
	for_each(d, &node->rdma.devices) {
		if (!is_known(d->bdf) || !is_same_slot(nic->bdf.value, d->bdf.value))
			continue;
		if (strstr(d->name.value, "bond"))
			return true;
		for_each(p, &d->ports)
			for_each(g, &p->gids)
				if (is_known(g->netdev) && is_leg_of(node, nic, g->netdev.value))
					return true;
	}
	return false;
}

/* The other port of the NIC has an RDMA device, and what that lies over was not read. */
static bool bond_is_unknown(const struct node *node, const struct pci_device *nic)
{
	for_each(d, &node->rdma.devices) {
		if (!is_known(d->bdf) || !is_same_slot(nic->bdf.value, d->bdf.value))
			continue;
		if (!was_read(node->net.interfaces) || !was_read(d->ports))
			return true;
		for_each(p, &d->ports)
			if (is_unknown(p->gids))
				return true;
	}
	return false;
}

/* Returns true if another NIC of the model has an RDMA device. */
static bool has_working_peer(const struct node *node, const struct pci_device *nic)
{
	for_each(peer, &node->pci.devices)
		if (is_known(nic->device_id) && known_is(peer->device_id, nic->device_id.value) &&
		    pci_is_mlx(peer) && node_rdma_of(node, peer))
			return true;
	return false;
}

/* A device of which it is not known what function it is on; NULL: there is none. */
static const struct rdma_device *unplaced(const struct node *node)
{
	for_each(d, &node->rdma.devices)
		if (is_unknown(d->bdf))
			return d;
	return NULL;
}

#define RELOADS                                                                         \
	"The reload takes the NIC's interface down for some seconds and ends its RDMA " \
	"connections: do not do it while you are logged in through it."

static bool share_bridge(const struct node *node, const struct pci_device *a,
			 const struct pci_device *b)
{
	const struct pci_device *of_a[PATH_PORTS_MAX], *of_b[PATH_PORTS_MAX];
	size_t n = topology_above(node, a, of_a), m = topology_above(node, b, of_b);

	/* In a virtual machine the bridges are not the board's. */
	if (!n || !m || is_known(node->os.hypervisor))
		return true;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < m; k++)
			if (of_a[i] == of_b[k])
				return true;
	return false;
}

/* A NIC that shares no bridge with any GPU, as the one of the node's own network: jobs take the others. */
static enum severity severity_of(const struct node *node, const struct pci_device *nic)
{
	bool near = !topology_gpus(node), other = false;

	for_each(d, &node->pci.devices)
		if (pci_is_gpu(d))
			near |= share_bridge(node, nic, d);
	for_each(d, &node->pci.devices)
		other |= d != nic && topology_is_nic(node, d) && node_rdma_of(node, d);
	return near || !other ? SEVERITY_ERR : SEVERITY_WARN;
}

static void fail_bound(struct rule_context *ctx, const struct pci_device *nic, const char *fact)
{
	const char *bdf = nic->bdf.value;
	bool off = rdma_is_not_offered(ctx->node, nic);

	FAIL_AS(ctx, severity_of(ctx->node, nic), .subject = bdf,
		.observed =
			off ? "it has the driver mlx5_core and no RDMA device; mlx5_core offers none for it, so "
			      "RDMA is switched off there"
			    : "it has the driver mlx5_core and no RDMA device",
		.expected = "an entry in /sys/class/infiniband", .ends_jobs = true,
		.remedy =
			off ? "Switch RDMA on (of a sub-function the parameter is enable_rdma). " RELOADS
			    : "Read what mlx5_core logged about the NIC. If enable_rdma is false, switch it on. Then "
			      "reload the device. " RELOADS,
		.command =
			off ? shell_printf(
				      ctx->arena,
				      "sudo devlink dev param set pci/%s name enable_roce value true "
				      "cmode driverinit\n"
				      "sudo devlink dev reload pci/%s",
				      bdf, bdf)
			    : shell_printf(ctx->arena,
					   "sudo dmesg | grep %s\n"
					   "sudo devlink dev param show pci/%s name enable_rdma\n"
					   "sudo devlink dev reload pci/%s",
					   bdf, bdf, bdf),
		.evidence = { fact, off ? "rdma.auxiliary" : NULL });
}

static void check_nic(struct rule_context *ctx, const struct pci_device *nic, size_t *good)
{
	const char *fact = fact_path(ctx->arena, "pci.devices", nic->bdf.value, "driver");
	bool bound = str_is(nic->driver, "mlx5_core");

	if (node_rdma_of(ctx->node, nic) || is_in_bond(ctx->node, nic)) {
		(*good)++;
		return;
	}
	if (is_unknown(nic->driver))
		UNKNOWN(ctx, .subject = nic->bdf.value, .evidence = { fact });
	else if (unplaced(ctx->node))
		UNKNOWN(ctx, .subject = nic->bdf.value,
			.evidence = { fact_path(ctx->arena, "rdma.devices",
						unplaced(ctx->node)->name.value, "bdf") });
	else if (bound && bond_is_unknown(ctx->node, nic))
		UNKNOWN(ctx, .subject = nic->bdf.value,
			.observed =
				"it has no RDMA device; whether it is in a bond with the NIC's other port is "
				"not known",
			.evidence = { "net.interfaces", fact });
	else if (bound)
		fail_bound(ctx, nic, fact);
	else if (is_absent(nic->driver) && has_working_peer(ctx->node, nic))
		FAIL(ctx, .subject = nic->bdf.value,
		     .observed = "it has no driver; NICs of the same model have RDMA devices",
		     .expected = "mlx5_core",
		     .remedy =
			     "Read what the kernel logged about the NIC. Then bind it to mlx5_core.",
		     .command =
			     shell_printf(ctx->arena,
					  "sudo dmesg | grep %s\n"
					  "echo %s | sudo tee /sys/bus/pci/drivers/mlx5_core/bind",
					  nic->bdf.value, nic->bdf.value),
		     .evidence = { fact });
	/* A NIC without such a module belongs to another driver: vfio-pci, or an old mlx4. */
}

static void check_missing(struct rule_context *ctx)
{
	size_t good = 0, before;

	if (!was_read(ctx->node->pci.devices)) {
		UNKNOWN(ctx, .evidence = { "pci.devices" });
		return;
	}
	if (!was_read(ctx->node->rdma.devices)) {
		UNKNOWN(ctx, .evidence = { "rdma.devices" });
		return;
	}
	if (!ctx->node->rdma.devices.count) {
		NOT_APPLICABLE(ctx, .observed = "no RDMA device: see rdma/no-devices",
			       .evidence = { "rdma.devices" });
		return;
	}
	before = ctx->findings->count;
	for_each(nic, &ctx->node->pci.devices)
		if (pci_is_mlx(nic) && topology_is_nic(ctx->node, nic))
			check_nic(ctx, nic, &good);
	if (ctx->findings->count > before)
		return;
	if (good)
		PASS(ctx, .evidence = { "rdma.devices", "pci.devices" });
	else
		NOT_APPLICABLE(ctx, .observed = "no NVIDIA NIC with the driver mlx5_core",
			       .evidence = { "pci.devices" });
}

/* ---- rdma/firmware-mixed ---- */

/* A virtual function has its parent's firmware. */
static bool has_firmware(const struct rule_context *ctx, const struct rdma_device *d)
{
	return !is_virtual_function(ctx->endpoints, d) && !is_management(ctx->endpoints, d) &&
	       is_known(d->firmware);
}

/* NICs of one kind with one firmware. */
struct firmware {
	const struct rdma_device *first;
	size_t count;
};

/* The firmware that most NICs have, by their kind. */
struct usual {
	struct text_map *models;
	struct text_map *boards; /* of one model and board */
};

/* NULL: the model, or with BOARD the board, is not known. */
static const char *kind_of(struct rule_context *ctx, const struct rdma_device *d, bool board)
{
	if (!is_known(d->hca_type) || (board && !is_known(d->board_id)))
		return NULL;
	return text_printf(ctx, "%s\n%s", d->hca_type.value, board ? d->board_id.value : "");
}

static struct firmware *firmware_of(struct rule_context *ctx, struct text_map *all,
				    const struct rdma_device *d, const char *kind)
{
	void **at = text_map_at(all, span_of(text_printf(ctx, "%s\n%s", kind, d->firmware.value)));

	if (!*at)
		*at = arena_alloc(ctx->arena, sizeof(struct firmware));
	return *at;
}

static struct text_map *find_usual(struct rule_context *ctx, bool board)
{
	uint32_t count = ctx->node->rdma.devices.count;
	struct text_map *all = text_map_new(ctx->arena, count);
	struct text_map *most = text_map_new(ctx->arena, count);

	for_each(d, &ctx->node->rdma.devices) {
		const char *kind = has_firmware(ctx, d) ? kind_of(ctx, d, board) : NULL;
		struct firmware *firmware = kind ? firmware_of(ctx, all, d, kind) : NULL;

		if (firmware && !firmware->count++)
			firmware->first = d;
	}
	for_each(d, &ctx->node->rdma.devices) {
		const char *kind = has_firmware(ctx, d) ? kind_of(ctx, d, board) : NULL;
		struct firmware *firmware = kind ? firmware_of(ctx, all, d, kind) : NULL;
		void **at = kind ? text_map_at(most, span_of(kind)) : NULL;

		if (at && (!*at || ((struct firmware *)*at)->count < firmware->count))
			*at = firmware;
	}
	return most;
}

/* The first NIC with the firmware that most NICs of D's model, or board, have. */
static const struct rdma_device *usual_of(struct rule_context *ctx, const struct usual *usual,
					  const struct rdma_device *d, bool board)
{
	const char *kind = kind_of(ctx, d, board);
	const struct firmware *most =
		kind ? text_map_get(board ? usual->boards : usual->models, span_of(kind)) : NULL;

	return most ? most->first : NULL;
}

static void check_firmware_of(struct rule_context *ctx, const struct usual *usual,
			      const struct rdma_device *d)
{
	const struct rdma_device *board = usual_of(ctx, usual, d, true);
	const struct rdma_device *model = usual_of(ctx, usual, d, false);
	const struct rdma_device *other = board ? board : model;

	if (board && strcmp(board->firmware.value, d->firmware.value) == 0)
		other = model;
	if (!other || strcmp(other->firmware.value, d->firmware.value) == 0)
		return;
	/* Boards of another maker are released at another time. */
	FAIL_AS(ctx, other == board || !is_known(d->board_id) ? SEVERITY_WARN : SEVERITY_INFO,
		.subject = d->name.value,
		.observed = text_printf(ctx, "%s %s has firmware %s, %s has %s", d->hca_type.value,
					d->name.value, d->firmware.value, other->name.value,
					other->firmware.value),
		.expected = "one firmware version for NICs of one model",
		.evidence = {
			fact_path(ctx->arena, "rdma.devices", d->name.value, "firmware"),
			fact_path(ctx->arena, "rdma.devices", other->name.value, "firmware") });
}

static void check_firmware(struct rule_context *ctx)
{
	size_t known = 0, unknown = 0, before;
	struct usual usual;

	if (skip_without_rdma_device(ctx))
		return;
	before = ctx->findings->count;
	usual.models = find_usual(ctx, false);
	usual.boards = find_usual(ctx, true);
	for_each(d, &ctx->node->rdma.devices) {
		unknown += is_unknown(d->firmware) || is_unknown(d->hca_type);
		if (!has_firmware(ctx, d))
			continue;
		known++;
		check_firmware_of(ctx, &usual, d);
	}
	if (ctx->findings->count > before)
		return;
	if (unknown)
		UNKNOWN(ctx, .observed = "the firmware or the model of a NIC is not known",
			.evidence = { "rdma.devices" });
	else if (known > 1)
		PASS(ctx, .evidence = { "rdma.devices" });
	else
		NOT_APPLICABLE(ctx, .observed = "fewer than two NICs to compare",
			       .evidence = { "rdma.devices" });
}

/* ---- rdma/vf-present ---- */

/* Returns true if the virtual function was given no GUID: "ip link set PF vf N node_guid", or a plug-in of the
 * container engine. */
static bool has_no_guid(const struct rdma_device *d)
{
	return is_known(d->node_guid) &&
	       strspn(d->node_guid.value, "0:") == strlen(d->node_guid.value);
}

/* Idle virtual functions have none as intended. */
static bool is_used_without_guid(const struct rdma_device *d)
{
	for_each(p, &d->ports)
		if (port_is_active(p))
			return has_no_guid(d);
	return false;
}

static void check_vf(struct rule_context *ctx)
{
	size_t n = 0;

	if (skip_without_rdma_device(ctx))
		return;
	if (!was_read(ctx->node->pci.devices)) {
		UNKNOWN(ctx, .evidence = { "pci.devices" });
		return;
	}
	for_each(d, &ctx->node->rdma.devices) {
		if (!is_virtual_function(ctx->endpoints, d))
			continue;
		n++;
		FAIL_AS(ctx, is_used_without_guid(d) ? SEVERITY_WARN : SEVERITY_INFO,
			.subject = d->name.value,
			.observed = text_printf(
				ctx, "a virtual function of %s%s",
				node_pci(ctx->node, d->bdf.value)->physical_function.value,
				is_used_without_guid(d) ? ", active and without a node GUID" : ""),
			.expected = is_used_without_guid(d) ? "a node GUID" : NULL,
			.evidence = { fact_path(ctx->arena, "pci.devices", d->bdf.value,
						"physical_function"),
				      fact_path(ctx->arena, "rdma.devices", d->name.value,
						"node_guid") });
	}
	if (!n)
		PASS(ctx,
		     .observed = node_is(ctx->node, KIND_VIRTUAL_MACHINE)
					 ? "none that this virtual machine can recognize"
					 : "none",
		     .evidence = { "rdma.devices", "pci.devices" });
}

/* ---- rdma/gdaki-kernel-floor ---- */

#define KERNEL_GDAKI "6.1"

/* GDAKI drives mlx5 devices; EFA has a path of its own (rdma/efa-gda). */
static bool skip_without_mlx5(struct rule_context *ctx)
{
	for_each(d, &ctx->node->rdma.devices)
		if (str_is(d->driver, "mlx5_core") || is_unknown(d->driver))
			return false;
	NOT_APPLICABLE(ctx, .observed = "no RDMA device of mlx5_core",
		       .evidence = { "rdma.devices" });
	return true;
}

/* The kernel is older than NCCL asks for, and nvidia_peermem is not loaded. */
static void check_old_kernel(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	if (node_software(node, "ofed") || node_software(node, "doca"))
		NOTE(ctx,
		     .observed = text_printf(
			     ctx,
			     "Linux %s with OFED, without nvidia_peermem: not verified by NCCL",
			     node->os.kernel.value),
		     .evidence = { "os.kernel", "modules.loaded" });
	else if (!was_read(node->software.items))
		UNKNOWN(ctx, .observed = "whether OFED is installed was not read",
			.evidence = { "software.items" });
	else
		FAIL(ctx,
		     .observed = text_printf(ctx, "Linux %s and no nvidia_peermem",
					     node->os.kernel.value),
		     .expected = "Linux " KERNEL_GDAKI " or nvidia_peermem",
		     .evidence = { "os.kernel", "modules.loaded" });
}

static void check_gdaki(struct rule_context *ctx)
{
	const struct node *node = ctx->node;

	if (skip_without_rdma(ctx) || skip_without_mlx5(ctx))
		return;
	if (!is_known(node->os.kernel))
		UNKNOWN(ctx, .evidence = { "os.kernel" });
	else if (node_module(node, "nvidia_peermem"))
		PASS(ctx, .observed = "nvidia_peermem is loaded",
		     .evidence = { "modules.loaded[nvidia_peermem].state" });
	else if (!was_read(node->modules.loaded))
		UNKNOWN(ctx, .evidence = { "modules.loaded" });
	else if (!is_known(node->driver.loaded))
		UNKNOWN(ctx, .evidence = { "driver.loaded" });
	else if (known_is(node->driver.flavour, FLAVOUR_PROPRIETARY))
		FAIL(ctx,
		     .observed = "proprietary kernel modules, which export no DMA-BUF, and no "
				 "nvidia_peermem",
		     .expected = "nvidia_peermem, or the open modules with Linux " KERNEL_GDAKI,
		     .evidence = { "driver.flavour", "modules.loaded" });
	else if (version_compare(node->os.kernel.value, KERNEL_GDAKI) >= 0)
		PASS(ctx, .observed = text_printf(ctx, "Linux %s", node->os.kernel.value),
		     .evidence = { "os.kernel" });
	else
		check_old_kernel(ctx);
}

/* ---- rdma/pci-atomic-mode ---- */

/* DeepEP registers its window for strict ordering from this release on (commit 099d5f2, 2026-07-03); before, PCIe
 * atomics can overtake the data that they announce (DeepEP issue 661, NCCL issue 2210). */
#define DEEPEP_ATOMIC_SAFE "2.1.0"
#define DEEPEP_ON_NCCL "2.0.0"

static void check_atomic(struct rule_context *ctx)
{
	const struct software_item *deepep = node_software(ctx->node, "deepep");

	if (skip_without_rdma_device(ctx) || skip_without_mlx5(ctx))
		return;
	if (deepep && version_compare(deepep->version.value, DEEPEP_ON_NCCL) >= 0 &&
	    version_compare(deepep->version.value, DEEPEP_ATOMIC_SAFE) < 0)
		NOTE(ctx,
		     .observed = text_printf(ctx,
					     "DeepEP %s can deliver wrong data with "
					     "PCI_ATOMIC_MODE=4, which its guide recommends",
					     deepep->version.value),
		     .evidence = { software_version_fact(ctx->arena, deepep), "rdma.devices" });
	else
		/* It never is known: that says nothing about this node. */
		UNKNOWN(ctx, .graded = true, .severity = SEVERITY_INFO,
			.observed = "a firmware setting that only mlxconfig shows",
			.remedy = "query PCI_ATOMIC_MODE of each NIC with mlxconfig",
			.evidence = { "rdma.devices" });
}

/* ---- rdma/netns-exclusive ---- */

static void check_netns(struct rule_context *ctx)
{
	const char *runtime = NULL;
	enum fact_state containers;

	if (skip_without_rdma_device(ctx))
		return;
	containers = container_runtime(ctx->node, &runtime);
	if (!is_known(ctx->node->rdma.netns_mode) && was_read(ctx->node->rdma.netns_mode))
		NOT_APPLICABLE(ctx, .observed = "ib_core has no such mode",
			       .evidence = { "rdma.netns_mode" });
	else if (!is_known(ctx->node->rdma.netns_mode))
		UNKNOWN(ctx, .evidence = { "rdma.netns_mode" });
	else if (!str_is(ctx->node->rdma.netns_mode, "exclusive"))
		PASS(ctx, .evidence = { "rdma.netns_mode" });
	else if (containers == FACT_KNOWN || is_known(ctx->node->os.container))
		FAIL(ctx,
		     .observed = runtime ? text_printf(ctx, "exclusive, and %s runs", runtime)
					 : "exclusive, inside a container",
		     .expected = "shared, if containers share RDMA devices",
		     .evidence = {
			     "rdma.netns_mode",
			     runtime ? fact_path(ctx->arena, "limits.launchers", runtime, "pid")
				     : "os.container" });
	else
		NOTE(ctx,
		     .observed =
			     containers == FACT_ABSENT
				     ? "the RDMA subsystem is in exclusive mode for network namespaces; no container runtime runs"
				     : "the RDMA subsystem is in exclusive mode for network namespaces; whether containers run is not known",
		     .evidence = { "rdma.netns_mode" });
}

static const struct rule rdma_nics_rules[] = {
	{
		.id = "rdma/device-missing",
		.title = "A NIC has no RDMA device",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_ERR,
		.needs_driver = true,
		.lacks_rdma_device = true,
		.evaluate = check_missing,
		.needs_running = true,
		.impact = "GPUs next to it use another NIC. Jobs that name it do not start.",
		.remedy =
			"Read what mlx5_core logged about the NIC. If its parameter enable_rdma is false, switch it on "
			"with devlink. Then reload the device. " RELOADS,
		.activation = ACTIVATION_NOW,
		.follows = { "modules/mlx5-not-loaded" },
		.reads =
			"NVIDIA network functions on the PCI bus, their drivers, their devices of the auxiliary bus, and "
			"/sys/class/infiniband.",
		.why = "mlx5_ib makes one RDMA device for every function with the driver mlx5_core. If one is missing, "
		       "it failed to start or failed later. The second function of a bond, idle virtual functions and "
		       "functions with another driver are no fault. A function that has left the PCI bus is not "
		       "visible here: set nic-count in the section [expect].",
		.check = "ls -l /sys/class/infiniband; lspci -d 15b3: -k",
		.sources = "Linux 6.1.192: drivers/infiniband/hw/mlx5/main.c; "
			   "Documentation/networking/devlink/devlink-params.rst (enable_rdma)\n"
			   "github.com/leptonai/gpud pull 752",
	},
	{
		.id = "rdma/firmware-mixed",
		.title = "NICs can behave differently: one model has several firmware versions",
		.profiles = PROFILE_RDMA_ANY,
		.severity = SEVERITY_WARN,
		.evaluate = check_firmware,
		.impact = "The NICs have different defaults and different bugs.",
		.remedy =
			"Update all NICs of the model to one version (mlxup, mlxfwmanager, flint).",
		.activation = ACTIVATION_REBOOT,
		.action = ACTION_UPDATE_FIRMWARE,
		.reads = "fw_ver, hca_type and board_id of every RDMA device.",
		.why = "NICs of the same board are compared. A difference between boards of several makers is a note: "
		       "their firmware is released at other times. A virtual function has its parent's firmware. No "
		       "source says that a mix must fail. It is the first difference to remove.",
		.check = "grep . /sys/class/infiniband/*/{hca_type,board_id,fw_ver}",
		.cost = "The NIC is reset: its connections end, also those of administrators.",
		.is_risk = true,
		.sources =
			"Linux 6.1.192: Documentation/ABI/stable/sysfs-class-infiniband (fw_ver, board_id)\n"
			"NVIDIA Firmware Tools (MFT) documentation: mlxup, flint",
	},
	{
		.id = "rdma/vf-present",
		.title = "An RDMA device is a virtual function",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_INFO,
		.max_severity = SEVERITY_WARN,
		.evaluate = check_vf,
		.impact = "DeepEP was reported to hang over virtual functions.",
		.remedy =
			"On the host give the virtual function a node GUID (ip link set, with the name of the physical function, vf, "
			"the function's number, and node_guid). Or give the job physical functions.",
		.reads = "physfn of the PCI functions of RDMA devices, and their node GUIDs.",
		.why = "Neither NVSHMEM nor DeepEP documents virtual functions. One report has a hang, so this is a "
		       "note. A virtual function that is active without a node GUID is a warning: memory "
		       "registration failed on such a one, and libraries distinguish NICs by the GUID. In a virtual "
		       "machine a virtual function looks like a physical one.",
		.check = "ls -d /sys/class/infiniband/*/device/physfn",
		.sources = "github.com/deepseek-ai/DeepEP: issue 658 (2026-06-03)\n"
			   "github.com/NVIDIA/nvshmem: issue 89 (2026-06-03)\n"
			   "github.com/k8snetworkplumbingwg/sriov-network-device-plugin issue 590",
	},
	{
		.id = "rdma/gdaki-kernel-floor",
		.title = "NCCL GIN cannot start: the kernel cannot register what it needs",
		.is_short_effect = true,
		.profiles = PROFILE_GIN_ANY,
		.used_variables = USED_BY_GIN_JOBS,
		.severity = SEVERITY_ERR,
		.evaluate = check_gdaki,
		.impact = "NCCL GIN does not start with its GDAKI back end, which DeepEP 2 uses.",
		.remedy =
			"Load nvidia_peermem, and have it loaded at boot. Or use Linux " KERNEL_GDAKI
			" or later with the open kernel modules.",
		.fix = { "load-module", { "nvidia_peermem", "boot" } },
		.activation = ACTIVATION_NOW,
		.follows = { "modules/peermem-stub", "modules/peermem-unloadable",
			     "modules/peermem-symbol-mismatch",
			     "modules/peermem-not-built-for-kernel", "modules/peermem-not-loaded" },
		.reads = "The kernel's release, the driver's flavour, the loaded modules, OFED on "
			 "disk, the drivers of RDMA devices.",
		.why = "GDAKI puts the NIC's control structures into GPU memory. NCCL needs DMA-BUF with Linux " KERNEL_GDAKI
		       ", or nvidia-peermem. OFED brings parts of newer kernels to older ones, and NCCL gives no "
		       "number for it: a note. GDAKI works on mlx5 devices only. EFA has its own rule, rdma/efa-gda.",
		.check = "uname -r; lsmod | grep nvidia_peermem",
		.sources = "NCCL 2.30.7: docs/userguide/source/usage/deviceapi.rst, Requirements; "
			   "src/transport/net_ib/gin.cc, ncclGinIbGdakiInitOnce()",
	},
	{
		.id = "rdma/pci-atomic-mode",
		.title = "The NIC's firmware may not offer the atomic operations that IBGDA needs",
		.profiles = PROFILE_DEEPEP,
		.severity = SEVERITY_WARN,
		.evaluate = check_atomic,
		.impact =
			"NVSHMEM skips the NIC: \"does not support all necessary atomic operations\".",
		.remedy =
			"Set PCI_ATOMIC_MODE=4 with mlxconfig, as DeepEP's guide recommends. Not with DeepEP 2.0: upgrade to "
			"DeepEP " DEEPEP_ATOMIC_SAFE " first.",
		.then = THEN_REBOOT,
		.activation = ACTIVATION_REBOOT,
		.reads =
			"DeepEP on disk. The setting itself is in the NIC's firmware, which nothing here reads.",
		.why = "IBGDA asks the firmware for masked compare-and-swap and fetch-and-add of 4 and 8 bytes, which "
		       "depend on PCI_ATOMIC_MODE. The kernel shows the mode nowhere. With mode 4 the NIC uses PCIe "
		       "atomics. In a window with relaxed ordering these can overtake the data that they announce, "
		       "and DeepEP before " DEEPEP_ATOMIC_SAFE
		       " registers its window so. Later ones ask for strict ordering.",
		.check = "mlxconfig -d BDF query PCI_ATOMIC_MODE",
		.cost = "The NIC is reset: its connections end, also those of administrators.",
		.is_risk = true,
		.sources =
			"NVSHMEM 3.5.1: src/modules/transport/common/transport_mlx5_common.cpp, "
			"nvshmemt_ib_common_check_nic_ext_atomic_support()\n"
			"DeepEP 2.1.0: README.md, PCI atomic mode; csrc/kernels/backend/nccl.cu\n"
			"github.com/deepseek-ai/DeepEP issue 661; github.com/NVIDIA/nccl issue 2210",
	},
	{
		.id = "rdma/netns-exclusive",
		.title = "Containers see no RDMA device: devices belong to one network namespace",
		.profiles = PROFILE_RDMA_ANY,
		.used_variables = USED_BY_RDMA_JOBS,
		.severity = SEVERITY_WARN,
		.evaluate = check_netns,
		.impact =
			"Containers with their own network see no RDMA device. The shared device plugin of "
			"Kubernetes does not start.",
		.remedy =
			"Share the devices at each boot by modprobe.d, or at once before any container runs. Leave it if a plugin "
			"moves whole devices into pods.",
		.command =
			"sudo rdma system set netns shared\n"
			"echo 'options ib_core netns_mode=1' | sudo tee /etc/modprobe.d/ib-core-netns.conf",
		.activation = ACTIVATION_REBOOT,
		.reads = "netns_mode of ib_core; container runtimes that run.",
		.why = "Exclusive is right for device plugins that give a pod its own (virtual) function, and wrong "
		       "for shared devices. The intention is not visible here. Without a container runtime it is a "
		       "note.",
		.check = "rdma system show; cat /sys/module/ib_core/parameters/netns_mode",
		.sources =
			"rdma-system(8)\n"
			"Linux 6.1.192: drivers/infiniband/core/device.c, ib_devices_shared_netns\n"
			"github.com/Mellanox/k8s-rdma-shared-dev-plugin issue 87",
	},
};

RULE_TABLE(rdma_nics);
