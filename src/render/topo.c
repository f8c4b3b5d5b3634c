/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topo.c - the tree that is drawn, and the words in it. */
#include "render/topo.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "evaluate/problems.h"
#include "query/gpus.h"
#include "query/kind.h"
#include "query/names.h"
#include "query/pci-device.h"
#include "query/topology.h"

const char *const topo_kind_words[] = {
	[TOPO_NODE] = "node",
	[TOPO_NUMA] = "numa-node",
	[TOPO_HOST_BRIDGE] = "host-bridge",
	[TOPO_PORT] = "port",
	[TOPO_SWITCH] = "switch",
	[TOPO_GPU] = "gpu",
	[TOPO_NIC] = "nic",
	[TOPO_NVSWITCH] = "nvswitch",
	[TOPO_DATA_DIRECT] = "data-direct",
	NULL,
};
const char *const topo_class_help[] = {
	"below one switch, or one port",
	"several switches, no host bridge",
	"through one host bridge",
	"between host bridges of one NUMA node",
	"between NUMA nodes",
};

/* ---- the tree ---- */

static struct topo_item *add(struct topo *topo, struct topo_item *parent, enum topo_kind kind,
			     const char *id)
{
	struct topo_item *item = arena_alloc(topo->arena, sizeof(*item));

	item->kind = kind;
	item->id = id;
	item->parent = parent;
	if (parent && parent->last)
		parent->last->next = item;
	else if (parent)
		parent->first = item;
	if (parent)
		parent->last = item;
	return item;
}

static struct topo_item *child(struct topo_item *parent, enum topo_kind kind, const char *id)
{
	for (struct topo_item *i = parent->first; i; i = i->next)
		if (i->kind == kind && ((!id && !i->id) || (id && i->id && strcmp(i->id, id) == 0)))
			return i;
	return NULL;
}

/* NUMA nodes and host bridges come as the first device below them comes. */
static struct topo_item *numa_item(struct topo *topo, const struct pci_device *device)
{
	struct fact_u64 id = device->numa_node;
	const char *text = is_known(id) ? arena_printf(topo->arena, "%" PRIu64, id.value) : NULL;
	struct topo_item *item = child(topo->root, TOPO_NUMA, text);

	if (item)
		return item;
	item = add(topo, topo->root, TOPO_NUMA, text);
	item->label = "NUMA node";
	for_each(n, &topo->node->numa.nodes)
		if (is_known(id) && known_is(n->id, id.value))
			item->numa = n;
	return item;
}

static struct topo_item *host_bridge_item(struct topo *topo, const struct pci_device *device)
{
	const char *root = is_known(device->root) ? device->root.value : NULL;
	struct topo_item *item, *numa = numa_item(topo, device);

	item = child(numa, TOPO_HOST_BRIDGE, root);
	if (!item) {
		item = add(topo, numa, TOPO_HOST_BRIDGE, root);
		item->label = "host bridge";
	}
	return item;
}

/* Switches by vendor (pci.ids): GPU servers have few makes. */
static const char *switch_label(const struct pci_device *device)
{
	static const struct {
		uint16_t vendor_id;
		const char *label;
	} vendors[] = {
		{ 0x1000, "Broadcom switch" }, { 0x10b5, "PLX switch" },
		{ 0x10de, "NVIDIA switch" },   { 0x11f8, "Microchip switch" },
		{ 0x15b3, "ConnectX switch" }, { 0x1b21, "ASMedia switch" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(vendors); i++)
		if (known_is(device->vendor_id, vendors[i].vendor_id))
			return vendors[i].label;
	return "switch";
}

static void describe_bridge(struct topo_item *item, const struct pci_device *device)
{
	item->kind = TOPO_PORT;
	item->label = "bridge";
	if (known_is(device->port, PCI_UPSTREAM_PORT)) {
		item->kind = TOPO_SWITCH;
		item->label = switch_label(device);
	} else if (known_is(device->port, PCI_ROOT_PORT)) {
		item->label = "root port";
	} else if (known_is(device->port, PCI_DOWNSTREAM_PORT)) {
		item->label = "downstream port";
	}
}

static const char *nic_label(struct topo *topo, const struct pci_device *device)
{
	const struct nic_model *model = nic_model(device);
	const char *label = model && model->virtual_function ? "ConnectX VF"
			    : model			     ? model->name
							     : "NIC";

	for_each(d, &topo->node->rdma.devices)
		if (!model && is_known(d->bdf) && str_is(device->bdf, d->bdf.value) &&
		    is_known(d->hca_type) && *d->hca_type.value)
			label = d->hca_type.value;
	if (is_known(device->virtual_functions) && device->virtual_functions.value)
		label = arena_printf(topo->arena, "%s + %" PRIu64 " VFs", label,
				     device->virtual_functions.value);
	return label;
}

/* The second function of a ConnectX-8, beside the GPU that it serves (drivers/infiniband/hw/mlx5/
 * data_direct.c). */
static bool is_data_direct(const struct pci_device *device)
{
	return known_is(device->vendor_id, 0x15b3) && known_is(device->device_id, 0x2100);
}

static void describe_end(struct topo *topo, struct topo_item *item, const struct pci_device *device)
{
	item->name = topo_name(topo, device->bdf.value);
	if (pci_is_gpu(device)) {
		const char *label = gpu_name(topo->node, device);

		item->kind = TOPO_GPU;
		item->label = starts_with(label, "NVIDIA ") && label[7] ? label + 7 : label;
	} else if (pci_is_nvswitch(device)) {
		item->kind = TOPO_NVSWITCH;
		item->label = "NVSwitch";
	} else if (is_data_direct(device)) {
		item->kind = TOPO_DATA_DIRECT;
		item->label = "ConnectX Data Direct";
	} else {
		item->kind = TOPO_NIC;
		item->label = nic_label(topo, device);
	}
}

static bool is_drawn(const struct node *node, const struct pci_device *device)
{
	return topology_end(node, device) != END_NONE || pci_is_nvswitch(device) ||
	       is_data_direct(device);
}

static void add_end(struct topo *topo, const struct pci_device *device)
{
	struct pci_chain chain;
	struct topo_item *at, *below;

	topology_chain(topo->node, device, &chain);
	at = host_bridge_item(topo, chain.count ? chain.above[chain.count - 1] : device);
	for (size_t i = chain.count; i-- > 0;) {
		below = child(at, TOPO_PORT, chain.above[i]->bdf.value);
		if (!below)
			below = child(at, TOPO_SWITCH, chain.above[i]->bdf.value);
		if (!below) {
			below = add(topo, at, TOPO_PORT, chain.above[i]->bdf.value);
			below->device = chain.above[i];
			describe_bridge(below, chain.above[i]);
		}
		at = below;
	}
	at = add(topo, at, TOPO_NIC, device->bdf.value);
	at->device = device;
	describe_end(topo, at, device);
}

/* Sorts by number; a node with an unknown number is last. */
static void sort_numa(struct topo_item *root)
{
	struct topo_item *sorted = NULL;

	for (struct topo_item *i = root->first, *next; i; i = next) {
		struct topo_item **at = &sorted;

		next = i->next;
		while (*at && (*at)->id &&
		       (!i->id || strlen((*at)->id) < strlen(i->id) ||
			(strlen((*at)->id) == strlen(i->id) && strcmp((*at)->id, i->id) < 0)))
			at = &(*at)->next;
		i->next = *at;
		*at = i;
	}
	root->first = sorted;
}

/* Drawn are so many devices, and whatever is above them. */
#define DRAWN_MAX (2 * TOPOLOGY_ENDS_MAX)

void topo_make(struct topo *topo, const struct node *node, struct arena *arena)
{
	struct topology_facts *table = arena_alloc(arena, sizeof(*table));
	size_t drawn = 0;

	/* The table is computed again: facts of an earlier version have none, and edited facts have that of another
	 * tree. */
	topology_table(node, table, arena);
	*topo = (struct topo){ .node = node, .arena = arena, .table = table };
	topo->root = add(topo, NULL, TOPO_NODE, NULL);
	for_each(d, &node->pci.devices)
		if (!is_known(d->bdf) || !is_drawn(node, d))
			continue;
		else if (drawn++ < DRAWN_MAX)
			add_end(topo, d);
		else
			topo->not_drawn++;
	sort_numa(topo->root);
}

bool topo_is_empty(const struct topo *topo)
{
	return !topo->root->first;
}

bool topo_has_matrix(const struct topo *topo)
{
	const struct topology_facts *table = topo->table;

	return table->gpus.count > 1 || (table->gpus.count && table->nics.count);
}

bool topo_folds(const struct topo_item *item)
{
	return item->kind == TOPO_PORT && item->first && !item->first->next;
}

bool topo_is_end(const struct topo_item *item)
{
	return item->kind >= TOPO_GPU;
}

/* ---- words ---- */

const char *topo_name(const struct topo *topo, const char *bdf)
{
	const char *gpu = gpu_label(topo->node, bdf, topo->arena);

	if (gpu)
		return gpu;
	for (uint32_t i = 0; i < topo->table->nics.count; i++)
		if (str_is(topo->table->nics.items[i].bdf, bdf))
			return arena_printf(topo->arena, "NIC%" PRIu32, i);
	return NULL;
}

static bool is_driven(const struct topo_item *item)
{
	if (!was_read(item->device->driver))
		return true;
	return item->kind == TOPO_GPU ? str_is(item->device->driver, "nvidia")
				      : is_known(item->device->driver);
}

static bool has_dead_port(const struct topo *topo, const struct pci_device *device)
{
	for_each(d, &topo->node->rdma.devices)
		if (str_is(d->bdf, device->bdf.value))
			for_each(p, &d->ports)
				if (is_known(p->state) && p->state.value != RDMA_PORT_ACTIVE)
					return true;
	return false;
}

enum topo_state topo_state(const struct topo *topo, const struct topo_item *item)
{
	if (!item->device)
		return TOPO_WELL;
	if (known_is(item->device->answers, false))
		return TOPO_DEAD;
	if ((item->kind == TOPO_GPU || item->kind == TOPO_NIC) && !is_driven(item))
		return TOPO_UNBOUND;
	if (topo_link_is_narrow(item->device) ||
	    (item->kind == TOPO_NIC && has_dead_port(topo, item->device)))
		return TOPO_DEGRADED;
	return TOPO_WELL;
}

const char *topo_state_text(const struct topo *topo, const struct topo_item *item)
{
	switch (topo_state(topo, item)) {
	case TOPO_DEAD:
		return "does not answer";
	case TOPO_UNBOUND:
		return is_known(item->device->driver)
			       ? arena_printf(topo->arena, "%s has it", item->device->driver.value)
			       : "no driver";
	case TOPO_DEGRADED:
		return topo_link_is_narrow(item->device) ? "fewer lanes than it has"
							 : "a port is not active";
	case TOPO_WELL:
		break;
	}
	return NULL;
}

/* mlx5_0; NULL: none */
static const char *topo_rdma(const struct topo *topo, const char *bdf)
{
	for_each(d, &topo->node->rdma.devices)
		if (is_known(d->name) && str_is(d->bdf, bdf))
			return d->name.value;
	return NULL;
}

/* The device itself, or a port of its RDMA device. */
static bool is_about(const struct topo *topo, const struct topo_item *item,
		     const struct finding *finding)
{
	const char *subject = finding->answer.subject, *rdma;
	size_t n;

	if (!subject || !item->id)
		return false;
	if (strcmp(subject, item->id) == 0)
		return true;
	rdma = topo_rdma(topo, item->id);
	n = rdma ? strlen(rdma) : 0;
	return n && strncmp(subject, rdma, n) == 0 && (!subject[n] || subject[n] == '/');
}

size_t topo_problem(const struct topo *topo, const struct topo_item *item, size_t *count)
{
	size_t worst = 0, number = 0;
	enum severity severity = 0;

	*count = 0;
	if (!topo->problems)
		return 0;
	for_each(p, &topo->problems->items) {
		bool about = false;

		number++;
		for_each(member, &p->members)
			about |= is_about(topo, item, *member);
		if (!about)
			continue;
		if ((*count)++ == 0 || p->severity > severity) {
			worst = number;
			severity = p->severity;
		}
	}
	return worst;
}

const char *topo_bdf(const struct topo_item *item)
{
	return starts_with(item->id, "0000:") ? item->id + 5 : item->id;
}

bool topo_redirects(const struct pci_device *device)
{
	return device && is_known(device->acs) && is_known(device->acs.control) &&
	       device->acs.control.value & ACS_REDIRECT;
}

/* The generation of a speed in MT/s (PCIe 6.0, 7.5.3.6). */
static unsigned int generation(uint64_t mts)
{
	static const uint64_t speeds[] = { 2500, 5000, 8000, 16000, 32000, 64000, 128000 };

	for (unsigned int i = 0; i < ARRAY_SIZE(speeds); i++)
		if (mts == speeds[i])
			return i + 1;
	return 0;
}

static const char *link_text(const struct topo *topo, struct fact_u64 speed, struct fact_u64 width)
{
	if (!is_known(speed) || !is_known(width))
		return NULL;
	if (!width.value)
		return "no link";
	if (!generation(speed.value))
		return arena_printf(topo->arena, "%g GT/s x%" PRIu64, (double)speed.value / 1000,
				    width.value);
	return arena_printf(topo->arena, "Gen%u x%" PRIu64, generation(speed.value), width.value);
}

bool topo_link_is_narrow(const struct pci_device *device)
{
	const struct pci_link *link = &device->link;

	return is_known(link->width) && is_known(link->width_max) &&
	       link->width.value < link->width_max.value;
}

struct topo_link topo_link_parts(const struct topo *topo, const struct pci_device *device)
{
	const struct pci_link *link = &device->link;
	const char *now = link_text(topo, link->speed_mts, link->width);
	const char *most = link_text(topo, link->speed_max_mts, link->width_max);

	if (!is_known(*link) || !now)
		return (struct topo_link){ 0 };
	return (struct topo_link){ now, most && strcmp(now, most) != 0 ? most : NULL };
}

const char *topo_link(const struct topo *topo, const struct pci_device *device)
{
	struct topo_link link = topo_link_parts(topo, device);

	if (!link.now)
		return "";
	return link.most ? arena_printf(topo->arena, "%s of %s", link.now, link.most) : link.now;
}

struct fact_str topo_iommu(const struct topo *topo, const struct pci_device *device)
{
	for_each(d, &topo->node->iommu.devices)
		if (is_known(d->bdf) && str_is(device->bdf, d->bdf.value))
			return is_known(d->type) ? d->type : (struct fact_str){ 0 };
	return was_read(topo->node->iommu.devices) ? FACT_NONE(fact_str) : (struct fact_str){ 0 };
}

const char *topo_iommu_text(const struct topo *topo, const struct pci_device *device)
{
	struct fact_str type = topo_iommu(topo, device);

	return is_known(type) ? type.value : is_absent(type) ? "no IOMMU" : "IOMMU ?";
}

const char *topo_driver(const struct pci_device *device)
{
	return is_known(device->driver)	   ? device->driver.value
	       : is_absent(device->driver) ? "no driver"
					   : "?";
}

static const char *port_text(const struct topo *topo, const struct rdma_device *d,
			     const struct rdma_port *p)
{
	bool active = known_is(p->state, RDMA_PORT_ACTIVE);
	const char *rate = "";

	if (active && is_known(p->rate_mbps))
		rate = arena_printf(topo->arena, " %g Gb/s", (double)p->rate_mbps.value / 1000);
	return arena_printf(
		topo->arena, "%s%s %s%s %s%s%s", d->name.value,
		d->ports.count > 1 ? arena_printf(topo->arena, "/%" PRIu64, p->port.value) : "",
		is_known(p->link_layer) ? p->link_layer.value : "?", rate,
		is_known(p->state) ? rdma_port_state_words[p->state.value] : "state unknown",
		!active && is_known(p->physical_state) ? ", " : "",
		!active && is_known(p->physical_state) ? p->physical_state.value : "");
}

static void add_port(const struct topo *topo, struct topo_lines *lines, const struct rdma_device *d,
		     const struct rdma_port *p)
{
	if (lines->count == TOPO_LINES_MAX)
		return;
	lines->is_warning[lines->count] = !known_is(p->state, RDMA_PORT_ACTIVE);
	lines->text[lines->count++] = port_text(topo, d, p);
}

void topo_ports(const struct topo *topo, const struct pci_device *device, struct topo_lines *lines)
{
	bool any = false;

	lines->count = 0;
	for_each(d, &topo->node->rdma.devices) {
		if (!is_known(d->bdf) || !str_is(device->bdf, d->bdf.value))
			continue;
		any = true;
		for_each(p, &d->ports)
			add_port(topo, lines, d, p);
	}
	if (any)
		return;
	lines->is_warning[lines->count] = true;
	lines->text[lines->count++] = was_read(topo->node->rdma.devices) ? "no RDMA device"
									 : "RDMA devices unknown";
}

const char *topo_role(const struct topo *topo, const char *bdf)
{
	for_each(nic, &topo->table->nics)
		if (str_is(nic->bdf, bdf) && is_known(nic->role))
			return nic_role_words[nic->role.value];
	return "";
}

const struct topology_path *topo_path(const struct topology_gpu *gpu, const char *bdf)
{
	for_each(path, &gpu->gpus)
		if (str_is(path->bdf, bdf))
			return path;
	for_each(path, &gpu->nics)
		if (str_is(path->bdf, bdf))
			return path;
	return NULL;
}

const char *topo_nearest(const struct topo *topo, const struct topology_gpu *gpu)
{
	const char *name = is_known(gpu->nearest_nic) ? topo_name(topo, gpu->nearest_nic.value)
						      : NULL;
	const char *role, *rdma;

	if (!name)
		return is_absent(gpu->nearest_nic) ? "none" : "unknown";
	rdma = topo_rdma(topo, gpu->nearest_nic.value);
	role = topo_role(topo, gpu->nearest_nic.value);
	return arena_printf(topo->arena, "%s%s%s%s%s", name, rdma ? " " : "", rdma ? rdma : "",
			    *role ? ", " : "", role);
}

const char *topo_ties(const struct topo *topo, const struct topology_gpu *gpu)
{
	struct arena_list ties = { 0 };

	for_each(bdf, &gpu->nearest_nics)
		if (!str_is(gpu->nearest_nic, *bdf))
			arena_list(&ties, topo->arena, topo_name(topo, *bdf));
	return ties.count ? arena_listed(&ties) : "";
}

static void see_path(struct topo_seen *seen, const struct topology_path *path)
{
	if (is_known(path->class))
		seen->class[path->class.value] = true;
	seen->redirected |= known_is(path->redirected, true);
}

uint64_t topo_nvlinks(const struct topo *topo, const char *from, const char *to)
{
	const struct nvml_gpu *gpu = LIST_FIND(&topo->node->nvml.gpus, from);
	const struct nvml_peer *peer = gpu ? LIST_FIND(&gpu->peers, to) : NULL;

	return peer && is_known(peer->links) ? peer->links.value : 0;
}

enum topo_way topo_way(const struct topo *topo, const char *from, const char *to)
{
	const struct nvml_gpu *gpu = LIST_FIND(&topo->node->nvml.gpus, from);
	const struct nvml_peer *peer = gpu ? LIST_FIND(&gpu->peers, to) : NULL;

	if (!peer || is_unknown(peer->read) || is_unknown(peer->write))
		return TOPO_WAY_UNKNOWN;
	if (!known_is(peer->read, NVML_P2P_IS_OK) || !known_is(peer->write, NVML_P2P_IS_OK))
		return TOPO_WAY_HOST;
	return is_known(peer->links) && peer->links.value ? TOPO_WAY_NVLINK : TOPO_WAY_PCIE;
}

void topo_survey(const struct topo *topo, struct topo_seen *seen)
{
	*seen = (struct topo_seen){ .redirected = false };
	for_each(gpu, &topo->node->nvml.gpus)
		for_each(peer, &gpu->peers) {
			enum topo_way way = topo_way(topo, gpu->bdf.value, peer->bdf.value);

			seen->nvlink |= is_known(peer->links) && peer->links.value;
			seen->refused |= way == TOPO_WAY_HOST;
		}
	for_each(gpu, &topo->table->gpus) {
		for_each(path, &gpu->gpus)
			see_path(seen, path);
		for_each(path, &gpu->nics)
			see_path(seen, path);
	}
}

const char *topo_not_drawn(const struct topo *topo)
{
	bool one = topo->not_drawn == 1;

	return topo->not_drawn
		       ? arena_printf(topo->arena,
				      "%zu more device%s not drawn, and no paths are known.",
				      topo->not_drawn, one ? " is" : "s are")
		       : NULL;
}

void topo_notes(const struct topo *topo, struct topo_lines *lines)
{
	bool data_direct = false, unnumbered = false;
	struct topo_seen seen;
	uint64_t number;

	for_each(d, &topo->node->pci.devices)
		data_direct |= is_data_direct(d);
	lines->count = 0;
	topo_survey(topo, &seen);
	if (topo->not_drawn)
		lines->text[lines->count++] = topo_not_drawn(topo);
	lines->text[lines->count++] =
		seen.nvlink
			? "NV and a number: so many NVLinks carry the copies. Other paths are those of "
			  "PCI Express."
		: was_read(topo->node->nvml.gpus)
			? "Paths are those of PCI Express; the driver reports no NVLink between GPUs."
			: "Paths are those of PCI Express; NVLink is not shown.";
	if (topo->table->gpus.count > 1 && gpu_numbering(topo->node) == GPU_NUMBERS_PCI)
		lines->text[lines->count++] =
			"GPUs are numbered in PCI order: the driver's numbers are not known.";
	for_each(gpu, &topo->table->gpus)
		unnumbered |= gpu_numbering(topo->node) == GPU_NUMBERS_DRIVER &&
			      !gpu_number(topo->node, gpu->bdf.value, &number);
	if (unnumbered)
		lines->text[lines->count++] = "A GPU with a letter has no number: the driver does "
					      "not have it.";
	if (node_is(topo->node, KIND_VIRTUAL_MACHINE))
		lines->text[lines->count++] = "In a virtual machine the hypervisor makes up the "
					      "paths; the real ones may differ.";
	if (data_direct)
		lines->text[lines->count++] =
			"A NIC with a Data Direct function reaches the GPU beside that through it.";
}
