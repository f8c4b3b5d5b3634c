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
/* Returns the path of the fact MEMBER of such lines: that of the last line, or their number. */
const char *log_device_fact(struct arena *arena, const struct log_line *line, const char *bdf,
			    const char *member);
/* The same of the last line of a module. */
const char *log_module_fact(struct arena *arena, const struct log_line *line, const char *name);
const struct service *node_service(const struct node *node, const char *unit);
/* Returns true if it runs, or will after the next boot and has not failed now. */
bool node_service_will_run(const struct node *node, const char *unit);
/* Returns the item of that name; if there are several, the one with the highest version. */
const struct software_item *node_software(const struct node *node, const char *name);
/* Returns the path of the fact: the version of ITEM. */
const char *software_version_fact(struct arena *arena, const struct software_item *item);
/* The RDMA device of that name, or NULL. */
const struct rdma_device *node_rdma(const struct node *node, const char *name);
/* The one that a function has. */
const struct rdma_device *node_rdma_of(const struct node *node, const struct pci_device *function);
/* The value of a variable of the process that was asked about, or NULL. */
const char *node_env(const struct node *node, const char *name);

#endif
