/* SPDX-License-Identifier: GPL-2.0-or-later */
/* boot-find.h - the menus of boot loaders, between probes/boot/boot.c and the readers of each loader. */
#ifndef BOOT_FIND_H
#define BOOT_FIND_H

#include "probes/probe.h"

#define BOOT_ENTRIES_MAX 256

/* One entry of a boot loader, with the paths as the loader writes them. NULL: the entry has no such line. */
struct boot_line {
	const char *id;
	const char *title;
	const char *release; /* where the entry says it */
	const char *kernel;
	const char *initrd;
	const char *cmdline;
	const char *file;
	uint64_t line; /* 0: the whole file */
	bool doubt;    /* NULL of kernel, initrd and cmdline: not known */
	/* the folder of the host that paths are relative to; NULL: they are paths of GRUB */
	const char *base;
};

/* Adds the entry to boot.entries and returns its index there. */
uint32_t boot_add(struct probe_context *ctx, const struct boot_line *line);

/* Makes that entry the one that boots next: fills the facts next_* and the staged command line. */
void boot_set_next(struct probe_context *ctx, uint32_t index);

/* Returns the path on the host of a file that a boot loader names. */
const char *boot_path(struct probe_context *ctx, const char *base, const char *written);

/* In boot-grub.c. Returns true if there is a grub.cfg: ctx then has what it says, or a gap says why it does not. */
bool boot_read_grub(struct probe_context *ctx);

/* In boot-systemd.c: reads the entries of systemd-boot and unified kernel images. Returns true if there are any. */
bool boot_read_systemd(struct probe_context *ctx);
/* A variable of the loader interface (systemd.io/BOOT_LOADER_INTERFACE), in ctx->arena; NULL when
 * it is not there. */
const char *boot_loader_variable(struct probe_context *ctx, const char *name);

#endif
