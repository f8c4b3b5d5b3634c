/* SPDX-License-Identifier: GPL-2.0-or-later */
/* login-session.h - whether a process belongs to a login session, from which a user can start or submit jobs. */
#ifndef LOGIN_SESSION_H
#define LOGIN_SESSION_H

#include "facts/facts.h"

/* By its unit, which systemd-logind names. */
bool is_login_session(const struct process_limits *process);

#endif
