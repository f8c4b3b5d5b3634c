/* SPDX-License-Identifier: GPL-2.0-or-later */
/* log-denials.h - accesses that SELinux or AppArmor refused, gathered by program and object. */
#ifndef LOG_DENIALS_H
#define LOG_DENIALS_H

#include "facts/facts.h"
#include "host/host.h"
#include "parse/denial.h"

#define LOG_DENIALS_MAX 64 /* later ones are left out */

struct log_denials {
	struct arena *arena;
	typeof(((struct log_facts *)0)->denials) list;
};

/* Keeps RECORD if it concerns GPUs and is not of an earlier boot than SINCE_S, the Unix time; 0: not known. */
void log_denials_add(struct log_denials *denials, struct span record, uint64_t since_s);

/* Adds those of auditd's file to what the kernel log had. BOOT, the Unix time: without it all are unknown. */
void log_denials_read(struct host *host, struct log_facts *log, struct arena *arena,
		      const struct fact_u64 *boot);

#endif
