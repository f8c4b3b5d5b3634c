/* SPDX-License-Identifier: GPL-2.0-or-later */
/* module.h - text about kernel modules: /proc/modules, modules.dep, modules-load.d, names of files.
 * Names of modules have underscores here, whatever the text has. */
#ifndef PARSE_MODULE_H
#define PARSE_MODULE_H

#include "base/span.h"

/* include/linux/moduleparam.h: MODULE_NAME_LEN is 64 less the size of a pointer. */
#define MODULE_NAME_MAX 64

/*
 * A line of /proc/modules (kernel/module/procfs.c, m_show):
 *   nvidia 14299136 2 nvidia_uvm,nvidia_peermem, Live 0x0000000000000000 (OE)
 * A kernel that cannot unload modules prints "-" for the count and the holders.
 */
struct module_line {
	struct span name;
	bool counted; /* refcnt and holders mean something */
	uint64_t refcnt;
	struct span holders; /* for module_holder_next() */
	struct span state;   /* Live, Loading, Unloading */
};

bool module_line_parse(struct span line, struct module_line *out);
/* The next holder; "[permanent]" is not one. */
bool module_holder_next(struct span *rest, struct span *holder);

/* The path before the colon of a line of modules.dep. */
bool module_dep_line(struct span line, struct span *path);

/* Gets the module of a file by the file's name: nvidia-uvm.ko.zst -> nvidia_uvm. False: not the name of a module
 * file. */
bool module_file_name(struct span path, char name[MODULE_NAME_MAX]);
bool module_file_is_compressed(struct span path);
void module_name_copy(struct span name, char out[MODULE_NAME_MAX]);

/* A line of modules-load.d(5): the name, or false for a comment or an empty line. */
bool module_load_line(struct span line, struct span *name);

/* The modules of interest: read in detail if they are loaded, and their files are searched. NULL-terminated, sorted. */
extern const char *const modules_of_interest[];
bool module_is_of_interest(const char *name);
/* Modules whose files are read: the driver under the names of all distributions, peer memory, GDRCopy, the RDMA core
 * and mlx5. */
bool module_file_is_of_interest(const char *name);

#endif
