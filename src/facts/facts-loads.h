/* SPDX-License-Identifier: GPL-2.0-or-later */
/* facts-loads.h - whether modules can be loaded, according to their files. Part of facts.h, which includes it. */
#ifndef FACTS_LOADS_H
#define FACTS_LOADS_H

#include "facts/fact.h"

/* ---- loads: modules as modprobe and the kernel would take them, without loading them ----
 *
 * Of the modules that this program is about, as far as their devices are there, and of all that modprobe loads
 * before them; for the kernel that runs, or in an image the one that boots. */

/* A symbol that the kernel would not give to the module. */
struct load_obstacle {
	struct fact_str symbol; /* its name */
	/* enum failure_kind: unknown-symbol, symbol-version, namespace, license. */
	struct fact_enum kind;
	/* the module that exports it, vmlinux for the kernel; absent: none. */
	struct fact_str from;
};

struct load_module {
	struct fact_str name;	    /* of the file, with underscores: nvidia_current */
	struct fact_str path;	    /* of the file; absent: built into the kernel */
	struct fact_bool there;	    /* modules.dep names it, and the file exists */
	LIST(const char *) needs;   /* that modprobe loads before it, as in modules.dep */
	LIST(const char *) missing; /* that it depends on, and this kernel does not have */
	struct fact_str vermagic;   /* absent: the file has none */
	struct fact_bool versioned; /* it has versions of the symbols that it needs */
	struct fact_str license;    /* absent: the file has none */
	struct fact_str signer;	    /* absent: not signed */
	/* Symbols that the kernel would refuse: the first 16. ORDERED */
	LIST(struct load_obstacle) obstacles;
	/* symbols of which it is not known whether the kernel has them. */
	struct fact_u64 unchecked;
};

struct loads_facts {
	struct fact_str kernel;	  /* the release of the kernel */
	struct fact_str vermagic; /* version magic of this kernel, from one of its own modules */
	struct fact_str signer;	  /* of the kernel's own modules; absent: they are not signed */
	/* the file with the kernel's symbols that was used; absent: there is none. */
	struct fact_str symbols;
	LIST(struct load_module) modules; /* by their names */
};

#endif
