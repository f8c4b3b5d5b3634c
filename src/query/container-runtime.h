/* SPDX-License-Identifier: GPL-2.0-or-later */
/* container-runtime.h - whether jobs of the node can run in containers. */
#ifndef CONTAINER_RUNTIME_H
#define CONTAINER_RUNTIME_H

#include "facts/facts.h"

/* Returns FACT_KNOWN if a service that starts containers runs: NAME is its process. FACT_UNKNOWN if the processes are
 * not known. */
enum fact_state container_runtime(const struct node *node, const char **name);
/* Returns true for a host, itself no container, on which RUNTIME starts containers. Their images have libraries of
 * their own. */
bool node_runs_containers(const struct node *node, const char **runtime);

/* The version of the NVIDIA Container Toolkit, or of its library, which has the same from 1.6 on: of the program, or of
 * the package. NULL: not known. FACT is where it is. */
const char *container_toolkit_version(const struct node *node, const char **fact);

#endif
