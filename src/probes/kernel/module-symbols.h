/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module-symbols.h - the symbols that modules need, the modules that offer them, and how the kernel would resolve each
 * (kernel/module/main.c: simplify_symbols(), resolve_symbol(); version.c: check_version()).
 *
 * The kernel's own symbols come from Module.symvers. Without it, the symbols that its own modules need are used: they
 * were built together with the kernel, so it has those symbols in those versions.
 */
#ifndef MODULE_SYMBOLS_H
#define MODULE_SYMBOLS_H

#include "facts/facts.h"
#include "host/host.h"
#include "probes/kernel/module-info.h"

#define LOAD_SYMBOLS_MAX (1u << 17) /* of all modules together; more are not checked */
#define LOAD_OBSTACLES_MAX 16

struct load_symbol;

struct load_import {
	struct load_symbol *symbol;
	uint64_t crc; /* 0: none */
	bool weak;
};

/* A module file. The lists point into the modules that were made before. */
struct load_file {
	const char *name, *path;
	const char *own_name;			 /* as the file itself has it; NULL: it does not */
	bool there;				 /* it could be read */
	bool own;				 /* built with the kernel: intree=Y */
	bool versioned;				 /* it has versions of symbols that it needs */
	bool gpl;				 /* its licence is compatible with the GPL */
	const char *license, *vermagic, *signer; /* NULL: none */
	bool signer_unknown;
	LIST(const char *) depends;
	LIST(const char *) spaces; /* namespaces that it imports */
	LIST(struct load_import) imports;
	LIST(struct load_file *) needs; /* those that modprobe loads before it */
};

struct module_symbols {
	struct arena *arena; /* scratch */
	struct load_symbol **table;
	size_t count;
	bool full;
	/* Modules of the kernel's own that were held against the source. */
	size_t agree, contradict;
	/* the file with the kernel's symbols; NULL: none, or it is another kernel's */
	const char *source;
	bool checks_taint; /* Linux 5.9 on: GPL-only symbols and a proprietary module's exclude each other */
	bool needs_spaces; /* a namespace that is not imported is an error */
};

void module_symbols_begin(struct module_symbols *symbols, struct arena *scratch);
/* Reads what FILE needs and offers. 0 or negative errno. */
int module_symbols_read(struct module_symbols *symbols, struct host *host, struct module_info *info,
			struct load_file *file);
/* Reads the symbols of kernel RELEASE, when all modules have been read. */
void module_symbols_kernel(struct module_symbols *symbols, struct host *host, const char *release);
/* After that, for each of the kernel's own modules: counts whether FILE agrees with the source, and takes FILE's word
 * for what it needs of the kernel. */
void module_symbols_hold(struct module_symbols *symbols, const struct load_file *file);
/* Call this after the last module_symbols_hold(): it drops the source if a module contradicts it, as headers of
 * another build of the same release do. */
void module_symbols_weigh(struct module_symbols *symbols);
/* Writes into FACT how the kernel would resolve the symbols that FILE needs. */
void module_symbols_check(const struct module_symbols *symbols, const struct load_file *file,
			  struct arena *arena, struct load_module *fact);

#endif
