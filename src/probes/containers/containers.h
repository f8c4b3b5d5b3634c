/* SPDX-License-Identifier: GPL-2.0-or-later */
/* containers.h - adds the configuration file of a container engine to the facts. */
#ifndef CONTAINERS_H
#define CONTAINERS_H

#include "probes/probe.h"

/* Reads PATH. If that fails, the list of configurations is not known any more. */
void containers_add_config(struct probe_context *ctx, char *path);

#endif
