/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grub.h - what GRUB's configuration amounts to: its menu, which entry it starts, and the command
 * line that a kernel gets from it. The script is not run: its commands are read in order, functions
 * are passed over (grub-mkconfig writes nothing in them that matters here), and of a condition that
 * depends on the machine both branches are read. Sources: GRUB manual, "Writing full configuration
 * files directly"; grub-core/normal/menu.c, grub-core/lib/cmdline.c, grub-core/lib/envblk.c.
 */
#ifndef PARSE_GRUB_H
#define PARSE_GRUB_H

#include "base/arena.h"
#include "base/span.h"
#include "facts/fact.h"

#define GRUB_ENTRIES_MAX 256
#define GRUB_VARIABLES_MAX 256
#define GRUB_VALUE_MAX 4096	   /* of a variable or a word; what is longer is cut off */
#define GRUB_STORED_MAX (4u << 20) /* of all entries together */

struct grub_variable {
	const char *name;
	char *value;
	size_t room;
};

struct grub_env {
	struct arena *arena;
	LIST(struct grub_variable) variables;
};

/* "" when it is not set, as GRUB itself has it. */
const char *grub_get(struct grub_env *env, const char *name);
void grub_set(struct grub_env *env, struct span name, struct span value);
/* A grubenv file: name=value lines in a block of 1024 bytes. */
void grub_read_env(struct grub_env *env, struct span text);

struct grub_entry {
	const char *title;
	const char *id; /* NULL: GRUB takes the title */
	uint64_t line;	/* of the command that names the kernel, else of the entry */
	bool submenu;
	bool blscfg;			 /* no entry: the place of those in /boot/loader/entries */
	const char *kernel;		 /* path as written; NULL: starts no Linux kernel */
	const char *initrd;		 /* the last one; NULL: none */
	const char *cmdline;		 /* without BOOT_IMAGE */
	const char *file;		 /* for the caller */
	const char *release;		 /* likewise */
	LIST(struct grub_entry) entries; /* of a submenu */
};

struct grub_menu {
	struct grub_env *env; /* from grubenv; variables that the script sets are added */
	LIST(struct grub_entry) entries;
	bool blscfg;
	bool overflow; /* over a limit: not all is here */
	size_t count;  /* of entries, submenus included */
	size_t stored; /* bytes */
};

/* Which entry is started is in the variable "default" then: a number, an id or a title. */
void grub_read_menu(struct grub_menu *menu, struct span text);

/* The kernel's command line from the words after its path, as GRUB puts it together: unquoted by
 * its script language, then quoted again where there are blanks. In the arena of ENV. */
const char *grub_command_line(struct grub_env *env, struct span words);

/* The entry that CHOSEN ("2", "1>0", "gnulinux-advanced>...", a title) leads to; the first one when
 * there is no such. ID gets its ids joined with '>', in ARENA. NULL in an empty menu. */
const struct grub_entry *grub_choose(const struct grub_menu *menu, const char *chosen,
				     struct arena *arena, const char **id);

#endif
