/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-conf.h - the files that NCCL and NVSHMEM take variables from, beside the environment. */
#ifndef ENV_CONF_H
#define ENV_CONF_H

#include "probes/probe.h"

/* Fills env.nccl_conf for the process whose FOLDER in /proc is given, and who is the user USER (the real one).
 * After env.variables. */
void nccl_conf_read(struct probe_context *ctx, const char *folder, struct fact_u64 user);
/* Like nccl_conf_read(), for env.nvshmem_conf, which does not depend on the user. */
void nvshmem_conf_read(struct probe_context *ctx, const char *folder);

#endif
