/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * denial.h - records of accesses that SELinux or AppArmor refused, as auditd writes them to its file and the kernel to
 * its log. Values that are not plain are hexadecimal there and without quotation marks, so no value ends another.
 *
 * Sources: Linux 6.1.192: security/lsm_audit.c (dump_common_audit_data), security/selinux/avc.c (avc_audit_pre_callback,
 * avc_audit_post_callback), security/apparmor/audit.c (audit_pre), kernel/audit.c (audit_log_untrustedstring).
 */
#ifndef PARSE_DENIAL_H
#define PARSE_DENIAL_H

#include <stdbool.h>

#include "base/span.h"

/* Spans lie within the record; empty: the record has none. */
struct denial {
	bool apparmor;
	struct span action, program, target, domain, label, class;
	uint64_t time_s; /* Unix time; 0: none */
};

/* Returns true if RECORD is about a refused access, not one that was only reported. */
bool denial_parse(struct span record, struct denial *out);
/* Returns true if it is about GPUs, RDMA devices, their modules or services. */
bool denial_concerns_gpus(const struct denial *denial);

#endif
