/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ldso.h - parses the files of the dynamic loader: ld.so.cache, ld.so.conf and lists of folders. */
#ifndef PARSE_LDSO_H
#define PARSE_LDSO_H

#include <stdbool.h>

#include "base/span.h"

/*
 * ld.so.cache as ldconfig writes it since glibc 2.32 (elf/dl-cache.h, cache_file_new): a header of 48 bytes, entries of
 * 24, then the strings. A name can have several entries. The first that fits counts.
 */
struct ldso_cache {
	struct span text;
	uint32_t count;
	uint32_t next;
};

struct ldso_entry {
	struct span name; /* libz.so.1 */
	struct span path; /* /lib/x86_64-linux-gnu/libz.so.1 */
};

/* False: TEXT is not such a file. */
bool ldso_cache_begin(struct ldso_cache *cache, struct span text);
/* False at the end, and where an entry points out of the file. */
bool ldso_cache_next(struct ldso_cache *cache, struct ldso_entry *entry);

/* A line of ld.so.conf (ldconfig(8)): a folder, or with INCLUDE a pattern of files to read. */
bool ldso_conf_line(struct span line, struct span *value, bool *include);

#endif
