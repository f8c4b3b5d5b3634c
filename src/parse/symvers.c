/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symvers.c - Module.symvers and symvers-RELEASE.gz: the symbols that a kernel and its modules export
 * (Documentation/kbuild/modules.rst, 6.3 Symbols and Module.symvers).
 */
#include "parse/symvers.h"

bool symvers_line_parse(struct span line, struct symvers_line *out)
{
	struct span crc, type;

	*out = (struct symvers_line){ 0 };
	if (!span_cut(&line, '\t', &crc) || !span_cut(&line, '\t', &out->symbol) ||
	    !span_cut(&line, '\t', &out->owner) || !span_cut(&line, '\t', &type) ||
	    span_u64(crc, 16, &out->crc) || !out->symbol.n || !out->owner.n)
		return false;
	/* Another order of fields is another format. */
	if (!span_starts(type, "EXPORT_"))
		return false;
	out->gpl = span_search(type, "_GPL") != NULL;
	out->space = span_trim(line);
	return true;
}
