/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpus.c - GPUs and NICs by their PCI ids: the tables data/gpus.tsv and data/nics.tsv. */
#include "query/gpus.h"

#include <stdlib.h>

#include "base/array.h"
#include "query/pci-device.h"

/* Written from data/gpus.tsv and data/nics.tsv when the program is built. */
static const struct gpu_model gpu_models[] = {
#include "gpus.inc"
};

static const struct nic_model nic_models[] = {
#include "nics.inc"
};

/* Rows begin with their id, and are in its order. */
static int compare_id(const void *key, const void *row)
{
	uint64_t id = *(const uint64_t *)key;
	uint16_t other = *(const uint16_t *)row;

	return id < other ? -1 : id > other;
}

const struct gpu_model *gpu_model(const struct pci_device *device)
{
	if (!known_is(device->vendor_id, 0x10de) || !is_known(device->device_id))
		return NULL;
	return bsearch(&device->device_id.value, gpu_models, ARRAY_SIZE(gpu_models),
		       sizeof(gpu_models[0]), compare_id);
}

uint64_t gpu_last_id(void)
{
	return gpu_models[ARRAY_SIZE(gpu_models) - 1].device_id;
}

const struct nic_model *nic_model(const struct pci_device *device)
{
	if (!known_is(device->vendor_id, 0x15b3) || !is_known(device->device_id))
		return NULL;
	return bsearch(&device->device_id.value, nic_models, ARRAY_SIZE(nic_models),
		       sizeof(nic_models[0]), compare_id);
}

const char *gpu_name(const struct node *node, const struct pci_device *device)
{
	const struct gpu_model *model = gpu_model(device);

	for_each(g, &node->gpu.devices)
		if (is_known(g->bdf) && str_is(device->bdf, g->bdf.value) && is_known(g->model))
			return g->model.value;
	return model ? model->name : "NVIDIA GPU";
}

/* "NVIDIA A40-48Q", "GRID A100-1-5C": the frame buffer in GiB and the series follow the model's last dash. */
static bool is_vgpu_type(const char *model)
{
	const char *dash = strrchr(model, '-');
	size_t digits = dash ? strspn(dash + 1, "0123456789") : 0;
	const char *series = digits ? dash + 1 + digits : "";

	return *series && strchr("ABCQ", *series) && (!series[1] || strcmp(series + 1, "ME") == 0);
}

bool gpu_is_vgpu(const struct node *node, const struct pci_device *device)
{
	for_each(g, &node->gpu.devices)
		if (str_is(device->bdf, g->bdf.value) && is_known(g->model))
			return is_known(node->os.hypervisor) && is_vgpu_type(g->model.value);
	return false;
}

const struct pci_bar *gpu_bar1(const struct pci_device *device)
{
	const struct pci_bar *bar0 = pci_bar(device, 0);
	unsigned int index = bar0 && known_is(bar0->wide, true) ? 2 : 1;

	return pci_bar(device, index);
}

bool gpu_is_before_turing(const struct pci_device *device)
{
	static const char *const old[] = { "Kepler", "Maxwell", "Pascal", "Volta" };
	const struct gpu_model *model = gpu_model(device);

	for (size_t i = 0; model && i < ARRAY_SIZE(old); i++)
		if (strcmp(old[i], model->architecture) == 0)
			return true;
	return false;
}

/*
 * Branches of the driver by architecture. The first: the tables of GPUs in the README of
 * open-gpu-kernel-modules, of 565.57.01 and 570.86.16 for Blackwell, and on the safe side of them for those
 * before. The last: NVIDIA's list of legacy GPUs; 580 for what its own 590 turns away.
 */
static const struct {
	const char *architecture;
	unsigned int first, last; /* 0: none */
} branches[] = {
	{ "Kepler", 0, 470 }, { "Maxwell", 0, 580 }, { "Pascal", 0, 580 },    { "Volta", 0, 580 },
	{ "Hopper", 515, 0 }, { "Ada", 520, 0 },     { "Blackwell", 570, 0 },
};

unsigned int gpu_last_branch(const struct pci_device *device)
{
	const struct gpu_model *model = gpu_model(device);

	for (size_t i = 0; model && i < ARRAY_SIZE(branches); i++)
		if (strcmp(branches[i].architecture, model->architecture) == 0)
			return branches[i].last;
	return 0;
}

enum gpu_fit gpu_driver_fit(const struct pci_device *device, const char *version,
			    unsigned int *branch)
{
	const struct gpu_model *model = gpu_model(device);
	unsigned long own = strtoul(version, NULL, 10);

	for (size_t i = 0; model && own && i < ARRAY_SIZE(branches); i++) {
		if (strcmp(branches[i].architecture, model->architecture) != 0)
			continue;
		*branch = own < branches[i].first ? branches[i].first : branches[i].last;
		if (own < branches[i].first)
			return GPU_DRIVER_TOO_OLD;
		if (branches[i].last && own > branches[i].last)
			return GPU_DRIVER_TOO_NEW;
	}
	return GPU_FIT;
}

bool gpu_is_integrated(const struct pci_device *device)
{
	const struct gpu_model *model = gpu_model(device);

	return model && model->kind == GPU_INTEGRATED;
}

bool gpu_is_data_centre(const struct pci_device *device)
{
	const struct gpu_model *model = gpu_model(device);

	if (model)
		return model->kind == GPU_DATA_CENTRE;
	return pci_is_gpu(device) && device->class_id.value >> 8 == 0x0302;
}

bool gpu_nvswitch_is_nic(const struct pci_facts *pci)
{
	for_each(d, &pci->devices) {
		const struct gpu_model *model = gpu_model(d);

		if (model && model->nvswitch == NVSWITCH_BEHIND_NICS)
			return true;
	}
	return false;
}
