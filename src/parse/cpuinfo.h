/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpuinfo.h - the first processor of /proc/cpuinfo (Linux: arch/x86/kernel/cpu/proc.c,
 * arch/arm64/kernel/cpuinfo.c, arch/loongarch/kernel/proc.c, arch/riscv/kernel/cpu.c; of POWER and s390
 * the dumps in util-linux 2.38, tests/ts/lscpu). All are of one kind on the machines that this program
 * is about. */
#ifndef PARSE_CPUINFO_H
#define PARSE_CPUINFO_H

#include "base/span.h"

/* Enough for one processor: its entry is under 3 KiB. */
#define CPUINFO_HEAD 8192

struct cpuinfo {
	struct span vendor;  /* GenuineIntel, AuthenticAMD, ARM, NVIDIA, ... */
	struct span model;   /* empty: it does not say */
	struct span family;  /* x86: decimal; empty elsewhere */
	struct span number;  /* x86: decimal; empty elsewhere */
	const char *machine; /* as uname(2) has it, or NULL */
	bool power;	     /* POWER: in which byte order it runs is not said */
	bool has_flags;	     /* x86: its flags are there, and whole */
	bool hypervisor;     /* and the one that hypervisors set is among them (CPUID 1, ECX 31) */
	bool ibt;	     /* and indirect branch tracking is (CPUID 7, EDX 20) */
};

/* False when there is no processor in it. */
bool cpuinfo_parse(struct span text, struct cpuinfo *info);

#endif
