/* SPDX-License-Identifier: GPL-2.0-or-later */
/* env-login.h - the variables of /etc/environment, which login sessions get. */
#ifndef ENV_LOGIN_H
#define ENV_LOGIN_H

#include "probes/probe.h"

/* Adds the variables to env.variables, after env.login_uid. */
void login_variables_read(struct probe_context *ctx);

#endif
