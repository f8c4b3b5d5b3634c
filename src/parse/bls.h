/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bls.h - entries in the form of the Boot Loader Specification (UAPI.1), as systemd-boot and the GRUB of Fedora and
 * RHEL read them. The two differ in the syntax that they accept and in their order. Sources: rhboot/grub2
 * grub-core/commands/blscfg.c; systemd src/boot/boot.c; UAPI.10 for versions.
 */
#ifndef PARSE_BLS_H
#define PARSE_BLS_H

#include "base/arena.h"
#include "base/span.h"

enum bls_reader { BLS_GRUB, BLS_SYSTEMD };

struct bls_entry {
	const char *id;	    /* GRUB: the file's name without .conf; systemd-boot: without "+3-1" */
	const char *file;   /* set by the caller: the path of the entry */
	const char *folder; /* set by the caller: paths in the entry are relative to it */
	/* NULL where the entry has no such line. */
	const char *title;
	const char *version;
	const char *machine_id;
	const char *sort_key;
	const char *kernel; /* linux */
	const char *uki;    /* efi, uki: a program that the loader starts instead */
	const char *initrd; /* the last one */
	const char *options;
	const char *release; /* set by the caller: the file that has the entry's contents */
	bool grub;	     /* has keys that only the GRUB of Fedora and RHEL knows */
	/* systemd-boot's boot counting, in the name. An entry without tries left is bad. */
	bool counted;
	uint64_t tries_left;
	uint64_t tries_done;
};

/* Returns true if NAME ends with SUFFIX. Case is ignored, as on the partition. */
bool bls_has_suffix(struct span name, const char *suffix);

/* NAME is the file's name. False: not a valid name of an entry. */
bool bls_read(struct bls_entry *entry, struct arena *arena, struct span name, struct span text,
	      enum bls_reader reader);

/* Sorts ENTRIES in the order of the menu and returns their new number. Of two entries that GRUB considers equal, the
 * first one is kept. */
size_t bls_sort(struct bls_entry *entries, size_t count, enum bls_reader reader);

/* <0, 0, >0: rpm's comparison, and that of UAPI.10. */
int bls_compare_rpm(struct span a, struct span b);
int bls_compare_uapi(const char *a, const char *b);

/* The pattern after "default" in loader.conf, in ARENA; NULL when there is none. */
const char *bls_default(struct span loader_conf, struct arena *arena);

#endif
