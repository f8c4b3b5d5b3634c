/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpuinfo.h - the first processor of /proc/cpuinfo (Linux: arch/x86/kernel/cpu/proc.c, arch/arm64/kernel/cpuinfo.c,
 * arch/loongarch/kernel/proc.c, arch/riscv/kernel/cpu.c; of POWER and s390 the dumps in util-linux 2.38,
 * tests/ts/lscpu). On the machines of interest all processors are of one kind. */
#ifndef PARSE_CPUINFO_H
#define PARSE_CPUINFO_H

#include "base/span.h"

/* Enough for one processor: its entry is under 3 KiB. */
#define CPUINFO_HEAD 8192

struct cpuinfo {
	struct span vendor;  /* GenuineIntel, AuthenticAMD, ARM, NVIDIA, ... */
	struct span model;   /* empty: not said */
	struct span family;  /* x86: decimal; empty elsewhere */
	struct span number;  /* x86: decimal; empty elsewhere */
	const char *machine; /* as uname(2) has it, or NULL */
	bool power;	     /* POWER: the byte order is not said */
	bool has_flags;	     /* x86: it has its flags, complete */
	bool hypervisor;     /* and the flag of hypervisors is among them (CPUID 1, ECX 31) */
	bool ibt;	     /* and so is indirect branch tracking (CPUID 7, EDX 20) */
};

/* False: it has no processor. */
bool cpuinfo_parse(struct span text, struct cpuinfo *info);

#endif
