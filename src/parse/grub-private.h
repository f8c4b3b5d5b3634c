/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grub-private.h - shared by the files of the GRUB parser. */
#ifndef PARSE_GRUB_PRIVATE_H
#define PARSE_GRUB_PRIVATE_H

#include "parse/grub-script.h"
#include "parse/grub.h"

/* ---- carrying it out ---- */

#define GRUB_VARIABLES_MAX 256
#define GRUB_WORDS_MAX 512
#define GRUB_STEPS_MAX 100000
#define GRUB_DEPTH_MAX 48	    /* nested calls, loops and conditions */
#define GRUB_WORK_BYTES (64u << 20) /* address space; only pages that are used cost memory */
#define GRUB_WORK_MAX (24u << 20)   /* bytes that a script may use */

/* Marks an unknown part of a value or word. */
#define GRUB_UNKNOWN '\1'
#define GRUB_UNKNOWN_TEXT "\1"

struct grub_variable {
	const char *name;
	const char *value;		    /* NULL: not set */
	bool exported, is_perhaps_exported; /* in a submenu, or after a condition that is unknown */
};

/* Copied as a whole if both branches of a condition are run. */
struct grub_variables {
	size_t count;
	struct grub_variable items[GRUB_VARIABLES_MAX];
};

struct grub_function {
	struct span name;
	struct grub_node *body;
};

/* The values of $1 and the other positional parameters. */
struct grub_scope {
	size_t count;
	const char *const *args;
};

struct grub_args {
	size_t count;
	const char *items[GRUB_WORDS_MAX];
	struct grub_node *block; /* of the word read last */
	bool has_block;
};

enum grub_truth { GRUB_NO, GRUB_YES, GRUB_MAYBE };

/* An entry before it is run. */
struct grub_draft {
	struct grub_entry entry;
	struct grub_node *body;
	struct span text; /* of a BLS entry, instead of it */
	struct grub_scope scope;
};

struct grub_level {
	LIST(struct grub_draft) drafts;
	bool lost;
	const char *why;
};

struct grub_run {
	struct grub_menu *menu;
	struct arena *work;
	struct grub_variables vars;
	LIST(struct grub_function) functions;
	struct grub_scope scope;
	bool in_scope;
	struct grub_level *level; /* that menuentry adds to */
	struct grub_entry *entry; /* the entry of linux and initrd; NULL: none */
	const char *file;
	size_t steps, words;
	unsigned int depth, unsure, loops, breaks;
	bool go_on, returning; /* "continue" and not "break"; "return" */
	bool stopped;	       /* no further command of this level is run */
};

/* grub-words.c */
const char *grub_get(const struct grub_run *run, struct span name); /* "": not set */
void grub_set(struct grub_run *run, struct span name, const char *value);
void grub_unset(struct grub_run *run, const char *name);
void grub_export(struct grub_run *run, const char *name);
/* The variables of a new context. */
void grub_only_exported(struct grub_run *run);
/* Merges the variables of two paths that GRUB may have taken. */
void grub_merge(struct grub_run *run, const struct grub_variables *other);
bool grub_is_sure(const char *text);
bool grub_expand(struct grub_run *run, const struct grub_word *words, struct grub_args *args);

/* grub-run.c */
enum grub_truth grub_run_list(struct grub_run *run, const struct grub_node *node);
enum grub_truth grub_run_text(struct grub_run *run, struct span text);
enum grub_truth grub_run_file(struct grub_run *run, const char *path);
/* Runs TEXT as the content of PATH. */
enum grub_truth grub_run_in_place(struct grub_run *run, const char *path, struct span text);
/* Marks the menu of the level as unknown. */
void grub_lose(struct grub_run *run, const char *why);

/* grub-commands.c: false if there is no command of that name. */
bool grub_command(struct grub_run *run, const struct grub_args *args, enum grub_truth *truth);

/* grub-test.c */
enum grub_truth grub_test(struct grub_run *run, const char *const *words, size_t count);
int64_t grub_number(const char *s, bool *none, const char **end);

/* grub.c */
void grub_add_entry(struct grub_run *run, const struct grub_args *args, bool submenu);
void grub_boot_linux(struct grub_run *run, const struct grub_args *args, uint64_t line);
void grub_boot_initrd(struct grub_run *run, const struct grub_args *args);

#endif
