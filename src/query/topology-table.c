/* SPDX-License-Identifier: GPL-2.0-or-later */
/* topology-table.c - the paths between GPUs and NICs, and what each NIC is for: see topology.h. */
#include <string.h>

#include "query/pairing.h"
#include "query/pci-device.h"
#include "query/ports.h"
#include "query/topology.h"

static bool may_be_end(const struct pci_device *device)
{
	return is_known(device->bdf) && !is_known(device->physical_function);
}

bool topology_is_gpu(const struct pci_device *device)
{
	return may_be_end(device) && pci_is_gpu(device);
}

enum topology_end topology_end(const struct node *node, const struct pci_device *device)
{
	if (topology_is_gpu(device))
		return END_GPU;
	return may_be_end(device) && topology_is_nic(node, device) ? END_NIC : END_NONE;
}

/* The facts about a NIC that decide its use. */
struct nic {
	struct pci_chain chain;
	bool up;	    /* a port is ACTIVE */
	uint64_t rate_mbps; /* of the fastest port that is */
	bool default_route;
};

struct work {
	const struct node *node;
	struct arena *arena;
	struct topology_facts *table;
	struct pci_chain *gpus;
	struct nic *nics;
	size_t gpus_count, nics_count;
};

/* ---- NICs ---- */

/* The rate of a port that is down says nothing: mlx5 then reports the slowest. */
static void look_at_ports(const struct node *node, struct nic *nic)
{
	for_each(d, &node->rdma.devices) {
		if (!is_known(d->bdf) || !str_is(nic->chain.device->bdf, d->bdf.value))
			continue;
		for_each(p, &d->ports) {
			if (!known_is(p->state, RDMA_PORT_ACTIVE))
				continue;
			nic->up = true;
			if (is_known(p->rate_mbps) && p->rate_mbps.value > nic->rate_mbps)
				nic->rate_mbps = p->rate_mbps.value;
		}
	}
}

static void add_nic(struct work *w, const struct pci_device *device)
{
	struct nic *nic = &w->nics[w->nics_count++];

	topology_chain(w->node, device, &nic->chain);
	nic->default_route = is_known(device->bdf) &&
			     node_has_default_route(w->node, device->bdf.value);
	look_at_ports(w->node, nic);
}

static void find_ends(struct work *w)
{
	size_t gpus = 0, nics = 0;

	for_each(d, &w->node->pci.devices) {
		enum topology_end end = topology_end(w->node, d);

		gpus += end == END_GPU;
		nics += end == END_NIC;
	}
	w->gpus = arena_alloc(w->arena, (gpus + 1) * sizeof(*w->gpus));
	w->nics = arena_alloc(w->arena, (nics + 1) * sizeof(*w->nics));
	for_each(d, &w->node->pci.devices) {
		enum topology_end end = topology_end(w->node, d);

		if (end == END_GPU)
			topology_chain(w->node, d, &w->gpus[w->gpus_count++]);
		else if (end == END_NIC)
			add_nic(w, d);
	}
}

/* ---- what a NIC is for ---- */

static bool another_model(const struct pci_device *a, const struct pci_device *b)
{
	return is_known(a->device_id) && is_known(b->device_id) &&
	       a->device_id.value != b->device_id.value;
}

/* Returns true if GPU has a NIC that it prefers to NIC. */
static bool has_better(const struct work *w, const struct pci_chain *gpu, const struct nic *nic)
{
	struct pci_path path, other;

	topology_path_between(gpu, &nic->chain, &path);
	for (size_t i = 0; i < w->nics_count; i++) {
		const struct nic *n = &w->nics[i];

		if (n == nic)
			continue;
		topology_path_between(gpu, &n->chain, &other);
		if (other.class < path.class && other.class <= PATH_PXB)
			return true;
		if (other.class == path.class && nic->up && n->rate_mbps > nic->rate_mbps &&
		    another_model(n->chain.device, nic->chain.device))
			return true;
	}
	return false;
}

static struct fact_enum role_of(const struct work *w, const struct nic *nic)
{
	if (!w->gpus_count)
		return (struct fact_enum){ 0 };
	for (size_t i = 0; i < w->gpus_count; i++)
		if (!has_better(w, &w->gpus[i], nic))
			return fact_enum(NIC_COMPUTE);
	if (nic->default_route)
		return fact_enum(NIC_MANAGEMENT);
	return nic->up ? fact_enum(NIC_STORAGE) : (struct fact_enum){ 0 };
}

static void fill_roles(struct work *w)
{
	w->table->nics.state = FACT_KNOWN;
	for (size_t i = 0; i < w->nics_count; i++) {
		struct topology_nic *nic = LIST_ADD(w->arena, &w->table->nics);

		nic->bdf = w->nics[i].chain.device->bdf;
		nic->role = role_of(w, &w->nics[i]);
	}
}

/* ---- paths ---- */

static struct fact_bool redirected(const struct pci_path *path)
{
	struct fact_bool answer = fact_bool(false);

	for (size_t i = 0; i < path->count; i++) {
		const struct pci_acs *acs = &path->ports[i]->acs;

		if (is_known(*acs) && is_known(acs->control)) {
			if (acs->control.value & ACS_REDIRECT)
				return fact_bool(true);
		} else if (!is_absent(*acs)) {
			answer.state = FACT_UNKNOWN;
		}
	}
	return answer;
}

static void fill_path(struct topology_path *out, const struct pci_chain *from,
		      const struct pci_chain *to)
{
	struct pci_path path;

	topology_path_between(from, to, &path);
	out->bdf = to->device->bdf;
	if (path.class == PATH_UNKNOWN)
		return;
	out->class = fact_enum(path.class);
	out->ports = fact_u64(path.count);
	out->redirected = redirected(&path);
}

/* Returns true if A is the better NIC: the nearer one; of equals the one that is for computing, then one with a port
 * up. */
static bool is_better(const struct work *w, const struct topology_gpu *gpu, size_t a, size_t b)
{
	const struct topology_path *x = &gpu->nics.items[a], *y = &gpu->nics.items[b];
	bool x_computes = known_is(w->table->nics.items[a].role, NIC_COMPUTE);
	bool y_computes = known_is(w->table->nics.items[b].role, NIC_COMPUTE);

	if (!is_known(x->class) || !is_known(y->class))
		return is_known(x->class);
	if (x->class.value != y->class.value)
		return x->class.value < y->class.value;
	if (x->ports.value != y->ports.value)
		return x->ports.value < y->ports.value;
	if (x_computes != y_computes)
		return x_computes;
	return w->nics[a].up && !w->nics[b].up;
}

static void fill_gpu(struct work *w, const struct pci_chain *chain)
{
	struct topology_gpu *gpu = LIST_ADD(w->arena, &w->table->gpus);

	gpu->bdf = chain->device->bdf;
	gpu->gpus.state = gpu->nics.state = FACT_KNOWN;
	for (size_t i = 0; i < w->gpus_count; i++)
		if (&w->gpus[i] != chain)
			fill_path(LIST_ADD(w->arena, &gpu->gpus), chain, &w->gpus[i]);
	for (size_t i = 0; i < w->nics_count; i++)
		fill_path(LIST_ADD(w->arena, &gpu->nics), chain, &w->nics[i].chain);
}

/* ---- each GPU's own NIC ---- */

static bool is_nearest(const struct work *w, const struct topology_gpu *gpu, size_t nic)
{
	if (!is_known(gpu->nics.items[nic].class))
		return false;
	for (size_t i = 0; i < w->nics_count; i++)
		if (is_better(w, gpu, i, nic))
			return false;
	return true;
}

static void name_nics(struct work *w, struct topology_gpu *gpu, const struct pairing *pairing,
		      size_t number)
{
	gpu->nearest_nics.state = FACT_KNOWN;
	for (size_t i = 0; i < w->nics_count; i++)
		if (pairing->nearest[number * w->nics_count + i])
			*LIST_ADD(w->arena, &gpu->nearest_nics) = gpu->nics.items[i].bdf.value;
	if (!w->nics_count)
		gpu->nearest_nic.state = FACT_ABSENT;
	else if (pairing->nic[number] != PAIRING_NONE)
		gpu->nearest_nic = gpu->nics.items[pairing->nic[number]].bdf;
}

static void pair(struct work *w)
{
	struct pairing *pairing = pairing_new(w->gpus_count, w->nics_count, w->arena);
	size_t number = 0;

	for_each(gpu, &w->table->gpus) {
		for (size_t i = 0; i < w->nics_count; i++)
			pairing->nearest[number * w->nics_count + i] = is_nearest(w, gpu, i);
		number++;
	}
	pairing_assign(pairing, w->arena);
	number = 0;
	for_each_mut(gpu, &w->table->gpus)
		name_nics(w, gpu, pairing, number++);
}

void topology_table(const struct node *node, struct topology_facts *table, struct arena *arena)
{
	struct work w = { .node = node, .arena = arena, .table = table };

	*table = (struct topology_facts){ 0 };
	if (!was_read(node->pci.devices))
		return;
	find_ends(&w);
	if (w.gpus_count > TOPOLOGY_ENDS_MAX || w.nics_count > TOPOLOGY_ENDS_MAX)
		return;
	fill_roles(&w);
	table->gpus.state = FACT_KNOWN;
	for (size_t i = 0; i < w.gpus_count; i++)
		fill_gpu(&w, &w.gpus[i]);
	pair(&w);
}
