/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pe.h - the sections of a PE file: a unified kernel image is one (UAPI.5). Source: Microsoft PE
 * Format, "COFF File Header" and "Section Table". */
#ifndef PARSE_PE_H
#define PARSE_PE_H

#include "base/span.h"

/* Bytes from the beginning of a file that contain all headers. */
#define PE_HEAD_SIZE 8192

struct pe_section {
	uint64_t offset; /* in the file */
	uint64_t size;	 /* without the padding */
};

/* NAME is ".cmdline", at most eight bytes. False: HEAD is not a PE file or lacks the section. */
bool pe_find(struct span head, const char *name, struct pe_section *section);

#endif
