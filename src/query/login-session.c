/* SPDX-License-Identifier: GPL-2.0-or-later */
/* login-session.c - whether a process belongs to a login session. */
#include "query/login-session.h"

bool is_login_session(const struct process_limits *process)
{
	return str_starts(process->unit, "session-") &&
	       span_ends(span_of(process->unit.value), ".scope");
}
