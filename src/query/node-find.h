/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node-find.h - finding one thing in a node's facts by its name. */
#ifndef NODE_FIND_H
#define NODE_FIND_H

#include "facts/facts.h"

const struct pci_device *node_pci(const struct node *node, const char *bdf);
const struct module *node_module(const struct node *node, const char *name);
const struct driver_param *node_param(const struct node *node, const char *name);
const struct log_line *node_log(const struct node *node, const char *pattern);
/* The lines of that pattern about the device BDF, or of the module NAME: NULL where there are none. LINE may
 * be NULL. */
const struct log_subject *log_of_device(const struct log_line *line, const char *bdf);
const struct log_subject *log_of_module(const struct log_line *line, const char *name);
/* Returns true if any user can write lines of the kernel to that file. Into the files of rsyslog he can: "<3>kernel: ..." to its socket
 * reaches kern.log too (8.2302, imuxsock), and of a message with a line break in it the second half is a line of its own
 * (imklog). A journal knows the kernel's own messages (_TRANSPORT=kernel, systemd.journal-fields(7)). */
bool log_is_of_users(const char *path);
/* The paths of what is the last of them, and of how many they are. */
const char *log_device_fact(struct arena *arena, const struct log_line *line, const char *bdf,
			    const char *member);
const char *log_module_fact(struct arena *arena, const struct log_line *line, const char *name,
			    const char *member);
const struct service *node_service(const struct node *node, const char *unit);
/* Returns the item of that name; if there are several, the one with the highest version. */
const struct software_item *node_software(const struct node *node, const char *name);
/* The RDMA device of that name, or NULL. */
const struct rdma_device *node_rdma(const struct node *node, const char *name);
/* The value of a variable of the process that was asked about, or NULL. */
const char *node_env(const struct node *node, const char *name);
/* A 10de display controller (VGA, 3D); an NVSwitch (10de bridge, class 0680). */
bool pci_is_gpu(const struct pci_device *device);
bool pci_is_nvswitch(const struct pci_device *device);
/* A NIC of NVIDIA (Mellanox, 15b3): network or InfiniBand controller. */
bool pci_is_mlx(const struct pci_device *device);
/* The second PCI function of a ConnectX-8, on the GPU's side (rdma-core: kernel-boot/rdma_topo). */
bool pci_is_data_direct(const struct pci_device *device);
/* Held by vfio-pci or pci-stub: what a guest has is not the host's to use. */
bool pci_is_for_guest(const struct pci_device *device);
const struct pci_bar *pci_bar(const struct pci_device *device, unsigned int index);

#endif
