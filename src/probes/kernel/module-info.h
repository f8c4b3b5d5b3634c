/* SPDX-License-Identifier: GPL-2.0-or-later */
/* module-info.h - the fields of a module file, through libkmod. Nothing is loaded. */
#ifndef MODULE_INFO_H
#define MODULE_INFO_H

#include "facts/facts.h"
#include "host/host.h"

/*
 * Reading a plain .ko costs a tenth of a millisecond whatever its size, because libkmod maps it. A
 * compressed one is decompressed whole, into memory: one of 40 MB takes 60 ms with zstd and 320 ms
 * with xz. So there is a budget for all of them together.
 */
#define MODULE_INFO_BUDGET_MS 1000
#define MODULE_COMPRESSED_MAX (64u << 20)

struct kmod_ctx;

struct module_info {
	struct kmod_ctx *ctx;
	uint64_t deadline_us; /* after which compressed files are left alone; 0: not begun */
	/* The caller sets: */
	const char *path;
	bool brief; /* name and version alone */
};

/* A host_ask for a struct module_file; USER is a struct module_info. Imports and exports are those
 * that peer memory is about: ib_register_peer_memory_client and its like, nvidia_p2p_... */
int module_info_ask(struct host *host, void *facts, struct arena *arena, void *user);
void module_info_close(struct module_info *info);

/* All fields of a module file, as libkmod returns them, for callers that need more than the facts. */
struct module_walk {
	void (*info)(void *user, const char *key, const char *value);
	/* CRC 0: the module has no version of it. WEAK: it loads without the symbol. */
	void (*import)(void *user, const char *symbol, uint64_t crc, bool weak);
	void (*export)(void *user, const char *symbol, uint64_t crc);
	void *user;
};

/* Reads the file info->path. Returns 0, -EBADMSG when it is no module, or the error of reading it. */
int module_info_walk(struct host *host, struct module_info *info, const struct module_walk *walk);

#endif
