/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grub.h - evaluates GRUB's configuration: its menu, the entry that it starts, and the command line that a kernel gets
 * from it. grub.cfg is a program, and it is run here: variables, functions, loops, tests, and the files that it reads.
 * Answers that only GRUB on that machine has (its devices, its modules, a key that is pressed) are unknown. If a
 * condition depends on one, both branches are run, and any difference between their results is unknown, too.
 *
 * Sources: GRUB 2.06 grub-core/script/{yylex.l,parser.y,execute.c,argv.c}, normal/{main.c,menu.c, context.c},
 * commands/{test.c,menuentry.c,eval.c}, lib/{cmdline.c,envblk.c}; of the GRUB of RHEL and Fedora (rhboot/grub2,
 * rhel-9-main) commands/{blscfg.c,increment.c} and normal/menu.c.
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
	/* Gets the content in ARENA. Returns 0, -ENOENT if the file does not exist, or the reason why this is not
	 * known. */
	int (*read)(void *user, const char *path, struct arena *arena, struct span *text);
	/* Returns 0, -ENOENT or the reason why this is not known. */
	int (*look)(void *user, const char *path, bool *folder, uint64_t *size);
	/* The command blscfg: calls grub_add_bls() for each entry of the folder in the variable blsdir ("": the usual
	 * one). False: not all could be read. */
	bool (*bls)(void *user, struct grub_run *run, const char *folder);
	void *user;
};

struct grub_entry {
	const char *title;
	const char *id;	  /* NULL: GRUB takes the title */
	const char *file; /* the file that has it, as it was given to the reader */
	uint64_t line;	  /* line of the command that names the kernel, else of the entry */
	bool submenu;
	bool bls;	    /* it has a file of its own */
	bool maybe;	    /* whether GRUB has this entry is unknown */
	bool doubt;	    /* its kernel depends on an unknown value: NULL then has no meaning */
	const char *kernel; /* path as GRUB has it; NULL: it starts no Linux kernel */
	/* of several, the one named like the kernel, else the last; NULL: none */
	const char *initrd;
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
	bool blscfg;		       /* it has entries of the Boot Loader Specification */
	bool lost;		       /* some entries of the first level are not known */
	const struct grub_entry *next; /* the entry that is started; NULL: none, or see problem */
	const char *next_id;	       /* the ids that lead to it, with '>' between them */
	const char *problem;	       /* why entries are missing, or why next is not known */
	/* The reader sets: */
	size_t count;  /* of entries, submenus included */
	size_t stored; /* bytes */
};

/* FILE is the path of TEXT, the grub.cfg, on the host: /boot/grub/grub.cfg. */
void grub_read_menu(struct grub_menu *menu, const char *file, struct span text);

/* For grub_files.bls: makes an entry from the strings of its file. OPTIONS and INITRD are NULL if it has none. */
struct bls_entry;
void grub_add_bls(struct grub_run *run, const struct bls_entry *bls);

#endif
