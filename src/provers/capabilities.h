/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capabilities.h - the rights of this process, capabilities(7). */
#ifndef CAPABILITIES_H
#define CAPABILITIES_H

#include <stdbool.h>

/* Returns true if the effective set has CAP_SYS_ADMIN. */
bool capabilities_has_sys_admin(void);
/* Drops all sets permanently, to those of an ordinary job. False: it failed. */
bool capabilities_drop(void);

#endif
