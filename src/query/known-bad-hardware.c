/* SPDX-License-Identifier: GPL-2.0-or-later */
/* known-bad-hardware.c - conditions of rows of data/known-bad.tsv about GPUs, NICs and networks. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "parse/nvidia.h"
#include "query/gpus.h"
#include "query/known-bad.h"
#include "query/node-find.h"
#include "query/pci-device.h"
#include "query/ports.h"

/* ---- GPUs ---- */

typedef enum truth gpu_check(struct row_question *q, const struct pci_device *gpu,
			     const struct gpu_model *model);

/* Returns true if what decides was not read, so that the function can be a GPU. */
static bool can_be_gpu(const struct pci_device *d)
{
	return !is_known(d->vendor_id) || (d->vendor_id.value == 0x10de && !is_known(d->class_id));
}

/* A GPU that is not in the table is of no known model. */
static enum truth any_gpu(struct row_question *q, gpu_check *check)
{
	enum truth any = TRUTH_NO;

	q->fact = "pci.devices";
	if (!was_read(q->node->pci.devices))
		return TRUTH_UNKNOWN;
	for_each(d, &q->node->pci.devices) {
		const struct gpu_model *model = gpu_model(d);
		enum truth one;

		if (can_be_gpu(d))
			any = truth_any(any, TRUTH_UNKNOWN);
		if (!pci_is_gpu(d))
			continue;
		one = model ? check(q, d, model) : TRUTH_UNKNOWN;
		if (one == TRUTH_YES && any != TRUTH_YES)
			q->fact = fact_path(q->arena, "pci.devices", d->bdf.value, "device_id");
		any = truth_any(any, one);
	}
	return any;
}

static enum truth is_model(struct row_question *q, const struct pci_device *gpu,
			   const struct gpu_model *model)
{
	(void)gpu;
	return condition_prefix(q, model->name);
}

static enum truth check_gpu(struct row_question *q)
{
	return any_gpu(q, is_model);
}

static int age_of(const char *architecture)
{
	static const char *const ages[] = { "Kepler", "Maxwell", "Pascal", "Volta",    "Turing",
					    "Ampere", "Ada",	 "Hopper", "Blackwell" };
	int count = ARRAY_SIZE(ages);

	for (int i = 0; i < count; i++)
		if (strcmp(ages[i], architecture) == 0)
			return i;
	return -1;
}

static enum truth is_architecture(struct row_question *q, const struct pci_device *gpu,
				  const struct gpu_model *model)
{
	int age = age_of(model->architecture);

	(void)gpu;
	return age < 0 ? TRUTH_UNKNOWN : condition_order(q, age - age_of(q->condition->values));
}

static enum truth check_gpu_arch(struct row_question *q)
{
	return any_gpu(q, is_architecture);
}

static enum truth is_other_kind(struct row_question *q, const struct pci_device *gpu,
				const struct gpu_model *model)
{
	static const char *const words[] = {
		[GPU_DATA_CENTRE] = "data-centre",
		[GPU_WORKSTATION] = "workstation",
		[GPU_GEFORCE] = "geforce",
		[GPU_INTEGRATED] = "integrated",
	};

	(void)gpu;
	return truth_from_bool(condition_word(q, words[model->kind]) == TRUTH_NO);
}

static enum truth check_gpu_kind(struct row_question *q)
{
	enum truth other = any_gpu(q, is_other_kind);

	q->fact = "pci.devices";
	if (other == TRUTH_NO)
		return truth_from_bool(q->endpoints->gpus.count > 0);
	return other == TRUTH_YES ? TRUTH_NO : TRUTH_UNKNOWN;
}

static enum truth check_gpus(struct row_question *q)
{
	q->fact = "pci.devices";
	if (!was_read(q->node->pci.devices))
		return TRUTH_UNKNOWN;
	for_each(d, &q->node->pci.devices)
		if (can_be_gpu(d))
			return TRUTH_UNKNOWN;
	return condition_number(q, q->endpoints->gpus.count);
}

static enum truth check_gsp_firmware(struct row_question *q)
{
	enum truth any = TRUTH_NO;

	q->fact = "gpu.devices";
	if (!was_read(q->node->gpu.devices))
		return TRUTH_UNKNOWN;
	for_each(gpu, &q->node->gpu.devices)
		any = truth_any(any, is_unknown(gpu->firmware)
					     ? TRUTH_UNKNOWN
					     : truth_from_bool(is_known(gpu->firmware)));
	return any;
}

static enum truth check_mig(struct row_question *q)
{
	bool on = false, off = false, unknown = false;

	q->fact = "gpu.devices";
	if (!was_read(q->node->gpu.devices))
		return TRUTH_UNKNOWN;
	for_each(gpu, &q->node->gpu.devices) {
		unknown |= is_unknown(gpu->mig_instances);
		on |= known_not(gpu->mig_instances, 0);
		off |= is_absent(gpu->mig_instances) || known_is(gpu->mig_instances, 0);
	}
	return on && off ? TRUTH_YES : unknown ? TRUTH_UNKNOWN : TRUTH_NO;
}

/* Generation of PCI Express by its rate in megatransfers a second. */
static unsigned int generation_of(uint64_t mts)
{
	static const unsigned int rates[] = { 2500, 5000, 8000, 16000, 32000, 64000 };
	unsigned int generation = 0;

	while (generation < 6 && mts >= rates[generation])
		generation++;
	return generation;
}

static enum truth is_generation(struct row_question *q, const struct pci_device *gpu,
				const struct gpu_model *model)
{
	(void)model;
	if (gpu->link.state == FACT_ABSENT || is_absent(gpu->link.speed_mts))
		return TRUTH_NO;
	return is_known(gpu->link.speed_mts)
		       ? condition_number(q, generation_of(gpu->link.speed_mts.value))
		       : TRUTH_UNKNOWN;
}

static enum truth check_pcie_gen(struct row_question *q)
{
	return any_gpu(q, is_generation);
}

/* ---- NICs ---- */

static enum truth check_hca_count(struct row_question *q)
{
	q->fact = "rdma.devices";
	if (!was_read(q->node->rdma.devices))
		return TRUTH_UNKNOWN;
	return condition_number(q, q->node->rdma.devices.count);
}

typedef enum truth nic_check(struct row_question *q, const struct rdma_device *device,
			     const char **fact);

static enum truth any_nic(struct row_question *q, nic_check *check)
{
	enum truth any = TRUTH_NO;

	q->fact = "rdma.devices";
	if (!was_read(q->node->rdma.devices))
		return TRUTH_UNKNOWN;
	for_each(d, &q->node->rdma.devices) {
		const char *fact = NULL;
		enum truth one = check(q, d, &fact);

		if (one == TRUTH_YES && any != TRUTH_YES && fact)
			q->fact = fact;
		any = truth_any(any, one);
	}
	return any;
}

static enum truth is_nic_driver(struct row_question *q, const struct rdma_device *device,
				const char **fact)
{
	*fact = fact_path(q->arena, "rdma.devices", device->name.value, "driver");
	return is_unknown(device->driver)
		       ? TRUTH_UNKNOWN
		       : truth_from_bool(is_known(device->driver) &&
					 condition_word(q, device->driver.value) == TRUTH_YES);
}

static enum truth check_nic_driver(struct row_question *q)
{
	return any_nic(q, is_nic_driver);
}

static enum truth is_nic_p2p(struct row_question *q, const struct rdma_device *device,
			     const char **fact)
{
	*fact = fact_path(q->arena, "rdma.devices", device->name.value, "p2p");
	return is_unknown(device->p2p)
		       ? TRUTH_UNKNOWN
		       : truth_from_bool(is_known(device->p2p) &&
					 condition_word(q, device->p2p.value) == TRUTH_YES);
}

static enum truth check_nic_p2p(struct row_question *q)
{
	return any_nic(q, is_nic_p2p);
}

static enum truth is_nic(struct row_question *q, const struct rdma_device *device,
			 const char **fact)
{
	const struct pci_device *function = is_known(device->bdf)
						    ? node_pci(q->node, device->bdf.value)
						    : NULL;
	const struct nic_model *model = function ? nic_model(function) : NULL;

	if (is_absent(device->bdf))
		return TRUTH_NO;
	if (!function || !is_known(function->device_id))
		return TRUTH_UNKNOWN;
	*fact = fact_path(q->arena, "pci.devices", function->bdf.value, "device_id");
	return model ? condition_prefix(q, model->name) : TRUTH_NO;
}

/* Also one that has no RDMA device, as where no driver supports it. */
static enum truth check_pci_nic(struct row_question *q)
{
	q->fact = "pci.devices";
	if (!was_read(q->node->pci.devices))
		return TRUTH_UNKNOWN;
	for_each(d, &q->node->pci.devices) {
		const struct nic_model *model = nic_model(d);

		if (model && condition_prefix(q, model->name) == TRUTH_YES) {
			q->fact = fact_path(q->arena, "pci.devices", d->bdf.value, "device_id");
			return TRUTH_YES;
		}
	}
	return TRUTH_NO;
}

static enum truth check_nic(struct row_question *q)
{
	return any_nic(q, is_nic);
}

static enum truth is_vf(struct row_question *q, const struct rdma_device *device, const char **fact)
{
	*fact = fact_path(q->arena, "rdma.devices", device->name.value, "bdf");
	return is_unknown(device->bdf) ? TRUTH_UNKNOWN
				       : truth_from_bool(is_virtual_function(q->endpoints, device));
}

static enum truth check_nic_vf(struct row_question *q)
{
	return any_nic(q, is_vf);
}

static bool has_active_port(const struct rdma_device *device)
{
	for_each(p, &device->ports)
		if (port_is_active(p))
			return true;
	return false;
}

static bool is_other_port(const struct rdma_device *a, const struct rdma_device *b)
{
	return is_known(a->bdf) && is_known(b->bdf) && has_active_port(b) &&
	       is_same_slot(a->bdf.value, b->bdf.value);
}

static enum truth check_nic_functions(struct row_question *q)
{
	unsigned int most = 0;

	q->fact = "rdma.devices";
	if (!was_read(q->node->rdma.devices))
		return TRUTH_UNKNOWN;
	for_each(d, &q->node->rdma.devices) {
		unsigned int count = 0;

		if (is_unknown(d->bdf))
			return TRUTH_UNKNOWN;
		if (!is_job_nic(q->endpoints, d) || is_virtual_function(q->endpoints, d))
			continue;
		for_each(other, &q->node->rdma.devices)
			count += is_other_port(d, other);
		most = count > most ? count : most;
	}
	return condition_number(q, most);
}

static enum truth check_nics_per_gpu(struct row_question *q)
{
	unsigned int gpus = q->endpoints->gpus.count, nics = 0;

	q->fact = "rdma.devices";
	if (!was_read(q->node->rdma.devices) || !q->endpoints->complete)
		return TRUTH_UNKNOWN;
	for_each(d, &q->node->rdma.devices)
		nics += is_job_nic(q->endpoints, d);
	return gpus ? condition_number(q, nics / gpus) : TRUTH_NO;
}

/* ---- ports ---- */

typedef struct fact_str port_fact_of(const struct rdma_port *port);

static struct fact_str lane_rate_of(const struct rdma_port *port)
{
	return port->lane_rate;
}

static struct fact_str link_layer_of(const struct rdma_port *port)
{
	return port->link_layer;
}

/* Returns true if the condition holds for any active port. */
static enum truth any_port(struct row_question *q, port_fact_of *of, const char *member)
{
	enum truth any = TRUTH_NO;

	q->fact = "rdma.devices";
	if (!was_read(q->node->rdma.devices))
		return TRUTH_UNKNOWN;
	for_each_port(d, p, q->node) {
		struct fact_str word = of(p);
		enum truth one = TRUTH_NO;

		if (is_unknown(p->state) || (port_is_active(p) && is_unknown(word)))
			one = TRUTH_UNKNOWN;
		else if (port_is_active(p) && is_known(word))
			one = condition_word(q, word.value);
		if (one != TRUTH_NO && any == TRUTH_NO)
			q->fact = port_fact(q->arena, d, p, member);
		any = truth_any(any, one);
	}
	return any;
}

static enum truth check_lane_rate(struct row_question *q)
{
	return any_port(q, lane_rate_of, "lane_rate");
}

static enum truth check_link_layer(struct row_question *q)
{
	return any_port(q, link_layer_of, "link_layer");
}

static struct fact_str grh_of(const struct rdma_port *port)
{
	return (struct fact_str){ port->grh_required.state,
				  port->grh_required.value ? "yes" : "no" };
}

static enum truth check_grh_required(struct row_question *q)
{
	return any_port(q, grh_of, "grh_required");
}

/* The GIDs of another network namespace are not in this sysfs: their places are empty. The entries are in the order of
 * their indices. */
static struct fact_str gid_hole_of(const struct rdma_port *port)
{
	uint64_t next = 0;

	if (!was_read(port->gids))
		return (struct fact_str){ .state = FACT_UNKNOWN };
	for_each(g, &port->gids) {
		if (!is_known(g->index) || is_unknown(g->type))
			return (struct fact_str){ .state = FACT_UNKNOWN };
		if (g->index.value != next++ || is_absent(g->type))
			return (struct fact_str){ FACT_KNOWN, "yes" };
	}
	return (struct fact_str){ FACT_KNOWN, "no" };
}

static enum truth check_gid_hole(struct row_question *q)
{
	return any_port(q, gid_hole_of, "gids");
}

/* ---- networks ---- */

/* NCCL leaves loopback and Docker's bridges alone if there is another interface
 * (src/misc/socket.cc). */
static bool is_left_alone(const struct net_interface *interface)
{
	return str_is(interface->name, "lo") || str_starts(interface->name, "docker");
}

static enum truth check_no_carrier(struct row_question *q)
{
	enum truth any = TRUTH_NO;

	q->fact = "net.interfaces";
	if (!was_read(q->node->net.interfaces))
		return TRUTH_UNKNOWN;
	for_each(i, &q->node->net.interfaces) {
		enum truth one;

		if (is_left_alone(i) || known_is(i->carrier, true) || is_absent(i->carrier) ||
		    (was_read(i->addresses) && !i->addresses.count))
			continue;
		one = is_unknown(i->carrier) || is_unknown(i->addresses) ? TRUTH_UNKNOWN
									 : TRUTH_YES;
		if (any == TRUTH_NO)
			q->fact = fact_path(q->arena, "net.interfaces", i->name.value, "carrier");
		any = truth_any(any, one);
	}
	return any;
}

condition_check *const hardware_checks[KEYS] = {
	[KEY_GID_HOLE] = check_gid_hole,
	[KEY_GPU] = check_gpu,
	[KEY_GPU_ARCH] = check_gpu_arch,
	[KEY_GPU_KIND] = check_gpu_kind,
	[KEY_GPUS] = check_gpus,
	[KEY_GRH_REQUIRED] = check_grh_required,
	[KEY_GSP_FIRMWARE] = check_gsp_firmware,
	[KEY_HCA_COUNT] = check_hca_count,
	[KEY_LANE_RATE] = check_lane_rate,
	[KEY_LINK_LAYER] = check_link_layer,
	[KEY_MIG] = check_mig,
	[KEY_NIC] = check_nic,
	[KEY_NIC_DRIVER] = check_nic_driver,
	[KEY_NIC_FUNCTIONS] = check_nic_functions,
	[KEY_NIC_P2P] = check_nic_p2p,
	[KEY_NIC_VF] = check_nic_vf,
	[KEY_NICS_PER_GPU] = check_nics_per_gpu,
	[KEY_NO_CARRIER] = check_no_carrier,
	[KEY_PCI_NIC] = check_pci_nic,
	[KEY_PCIE_GEN] = check_pcie_gen,
};
