/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grub.h - evaluates GRUB's configuration: its menu, which entry it starts, and the command line that a kernel gets
 * from it. grub.cfg is a program, and it is carried out: variables, functions, loops, tests, and the files that it
 * reads. What only GRUB on that machine could answer (its devices, its modules, a key that is pressed) is unknown: of
 * a condition that depends on it both branches are carried out, and what they leave behind differently is unknown,
 * too.
 *
 * Sources: GRUB 2.06 grub-core/script/{yylex.l,parser.y,execute.c,argv.c}, normal/{main.c,menu.c,
 * context.c}, commands/{test.c,menuentry.c,eval.c}, lib/{cmdline.c,envblk.c}; of the GRUB of RHEL and
 * Fedora (rhboot/grub2, rhel-9-main) commands/{blscfg.c,increment.c} and normal/menu.c.
 */
#ifndef PARSE_GRUB_H
#define PARSE_GRUB_H

#include "base/arena.h"
#include "base/span.h"
#include "facts/fact.h"

#define GRUB_ENTRIES_MAX 256
#define GRUB_VALUE_MAX 8192	   /* bytes of a variable or a word */
#define GRUB_STORED_MAX (4u << 20) /* of all entries together */

struct grub_run;

/* The access of the script to the file system. Paths have GRUB's form, with "(device)"; those in the folder of
 * grub.cfg begin with GRUB_HOST. */
#define GRUB_HOST "(host)"

struct grub_files {
	/* The content in ARENA. 0, -ENOENT when it is not there, or why that cannot be said. */
	int (*read)(void *user, const char *path, struct arena *arena, struct span *text);
	/* 0, -ENOENT or why it cannot be said. */
	int (*look)(void *user, const char *path, bool *folder, uint64_t *size);
	/* The command blscfg: calls grub_add_bls() for each entry of the folder that the variable
	 * blsdir names ("": the usual one). False when they could not all be read. */
	bool (*bls)(void *user, struct grub_run *run, const char *folder);
	void *user;
};

struct grub_entry {
	const char *title;
	const char *id;	  /* NULL: GRUB takes the title */
	const char *file; /* that has it, as it was given to the reader */
	uint64_t line;	  /* of the command that names the kernel, else of the entry */
	bool submenu;
	bool bls;	    /* of a file of its own */
	bool maybe;	    /* whether GRUB has this entry depends on what is unknown */
	bool doubt;	    /* what it starts depends on what is unknown: NULL says nothing then */
	const char *kernel; /* path as GRUB has it; NULL: starts no Linux kernel */
	const char
		*initrd; /* of several the one named like the kernel, else the last; NULL: none */
	const char *cmdline;		 /* without BOOT_IMAGE; NULL with a kernel: not known */
	const char *release;		 /* of a BLS entry: its version */
	LIST(struct grub_entry) entries; /* of a submenu */
};

struct grub_menu {
	/* The caller sets: */
	struct arena *arena;
	const struct grub_files *files;
	const char *platform; /* efi, pc; NULL: not known */
	const char *cpu;      /* x86_64, i386, arm64; NULL: not known */
	/* The answer: */
	LIST(struct grub_entry) entries;
	bool blscfg;		       /* entries of the Boot Loader Specification are in it */
	bool lost;		       /* some entries of the first level are not known */
	const struct grub_entry *next; /* the one that is started; NULL: none, or see problem */
	const char *next_id;	       /* the ids that lead there, with '>' between them */
	const char *problem;	       /* why lost, or why next is not known */
	/* The reader sets: */
	size_t count;  /* of entries, submenus included */
	size_t stored; /* bytes */
};

/* FILE is where TEXT, the grub.cfg, lies on the host: /boot/grub/grub.cfg. */
void grub_read_menu(struct grub_menu *menu, const char *file, struct span text);

/* For grub_files.bls: makes an entry from the strings of its file. OPTIONS and INITRD are NULL if it has none. */
struct bls_entry;
void grub_add_bls(struct grub_run *run, const struct bls_entry *bls);

#endif
