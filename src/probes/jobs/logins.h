/* SPDX-License-Identifier: GPL-2.0-or-later */
/* logins.h - what PAM gives to sessions of sshd. */
#ifndef LOGINS_H
#define LOGINS_H

#include "host/host.h"

/* READS: sessions of sshd get the variables of /etc/environment. */
int logins_read_environment(struct host *host, struct arena *arena, bool *reads);

#endif
