/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gpus.h - GPUs and NICs by their PCI ids: the tables data/gpus.tsv and data/nics.tsv. An id that is not in them is
 * unknown (NULL); nothing is guessed.
 */
#ifndef GPUS_H
#define GPUS_H

#include "facts/facts.h"

enum gpu_kind { GPU_DATA_CENTRE, GPU_WORKSTATION, GPU_GEFORCE, GPU_INTEGRATED };
enum gpu_bar1 { GPU_BAR1_UNKNOWN, GPU_BAR1_LARGE, GPU_BAR1_RESIZABLE, GPU_BAR1_SMALL };

/* The texts are in the rows: a pointer is a word that each start of the program has to write. */
struct gpu_model {
	uint16_t device_id;
	char architecture[12]; /* Hopper, Blackwell, ... */
	enum gpu_kind kind;
	unsigned int memory_gib; /* as sold; 0: not known from the id */
	enum gpu_bar1 bar1;
	unsigned int nvswitch; /* generation on the model's boards; 0: none, or not known */
	char name[52];	       /* without "NVIDIA" */
};

struct nic_model {
	uint16_t device_id;
	unsigned int generation; /* of ConnectX, 4 and later; 0: earlier, or a virtual function */
	bool virtual_function;
	char name[44];
};

const struct gpu_model *gpu_model(const struct pci_device *device);
/* The highest id in the table, and the first id of Blackwell (B200, pci.ids): ids from there on that are not in the
 * table are Blackwell or later. */
uint64_t gpu_last_id(void);
#define BLACKWELL_FIRST_ID 0x2900
const struct nic_model *nic_model(const struct pci_device *device);
/* Returns the driver's name of the GPU, else the table's, else "NVIDIA GPU". */
const char *gpu_name(const struct node *node, const struct pci_device *device);
/* Returns true for a vGPU: all or part of a GPU, which NVIDIA's vGPU manager on the host gives to this virtual
 * machine. */
bool gpu_is_vgpu(const struct node *node, const struct pci_device *device);
/* Returns true if the GPU has no GPU System Processor, which the open kernel modules need. False for a model that is
 * not in the table. */
bool gpu_is_before_turing(const struct pci_device *device);
/* Returns the last branch of the driver for this GPU; 0: none is known. */
unsigned int gpu_last_branch(const struct pci_device *device);
enum gpu_fit { GPU_FIT, GPU_DRIVER_TOO_OLD, GPU_DRIVER_TOO_NEW };
/* Returns whether the branch of VERSION supports the GPU's architecture. If it does not, BRANCH is the first or the
 * last branch that does. GPU_FIT if the architecture is not known. */
enum gpu_fit gpu_driver_fit(const struct pci_device *device, const char *version,
			    unsigned int *branch);
/* Returns NVIDIA's BAR1: the second memory BAR, register 1 or (after a 64-bit BAR0) register 2. NULL when it is not
 * in the facts. */
const struct pci_bar *gpu_bar1(const struct pci_device *device);
#define BAR1_SMALL_BYTES (UINT64_C(256) << 20)

/* Returns true for a GPU that is part of a processor and uses its memory, such as GB10. */
bool gpu_is_integrated(const struct pci_device *device);
/* Looks the id up in the table. An id that is not in it counts by its class: 3D controllers are data-centre GPUs. */
bool gpu_is_data_centre(const struct pci_device *device);

/* The generation that is managed through ConnectX functions instead of PCI functions of its own. */
#define NVSWITCH_BEHIND_NICS 4
/* Returns true if a GPU is of a board with such NVSwitches. */
bool gpu_nvswitch_is_nic(const struct pci_facts *pci);

#endif
