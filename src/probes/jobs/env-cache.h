/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-cache.h - the folder where DeepEP 2 keeps the kernels that it compiles. */
#ifndef ENV_CACHE_H
#define ENV_CACHE_H

#include "probes/probe.h"

/* Fills env.deepep_cache for the process whose FOLDER in /proc is given. After env.uid and env.variables. */
void env_cache_read(struct probe_context *ctx, const char *folder);

#endif
