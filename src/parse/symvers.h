/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symvers.h - Module.symvers and symvers-RELEASE.gz: the symbols that a kernel and its modules export
 * (Documentation/kbuild/modules.rst, 6.3 Symbols and Module.symvers).
 */
#ifndef PARSE_SYMVERS_H
#define PARSE_SYMVERS_H

#include "base/span.h"

struct symvers_line {
	uint64_t crc; /* 0: the kernel has no symbol versions */
	struct span symbol;
	struct span owner; /* vmlinux, or the path of a module without .ko */
	bool gpl;	   /* only for modules whose licence is compatible with the GPL */
	struct span space; /* the namespace; empty: none */
};

/* A line: version, symbol, owner, EXPORT_SYMBOL or EXPORT_SYMBOL_GPL, and in newer kernels the namespace, with a
 * tab between them. False: another format. */
bool symvers_line_parse(struct span line, struct symvers_line *out);

#endif
