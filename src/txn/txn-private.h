/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn-private.h - shared by the parts of a transaction only.
 *
 * Everything that undo needs is determined and written before the first change. So struct txn is the same, whether it
 * was made from a plan or read from the state folder of a process that ended.
 */
#ifndef TXN_PRIVATE_H
#define TXN_PRIVATE_H

#include "host/host.h"
#include "host/root.h"
#include "parse/journal.h"
#include "txn/run.h"
#include "txn/txn.h"
#include "txn/write.h"

struct json_object;

/* A file or a link as it was. A file's bytes are in the state folder, in before.NUMBER. */
struct kept {
	const char *path;
	unsigned int number;
	bool is_link;
	struct file_seen before;
	/* AFTER is the result of the transaction. It is known from the record; for a file that a program makes, from
	 * the journal before the file is renamed. */
	bool after_known;
	/* Of these two only THERE, LINK, SHA256 and sometimes SIZE are set. REMADE is what an undo wrote in place of a file that had
	 * changed since the transaction. */
	struct file_seen after, remade;
	LIST(const char *) folders; /* new folders above it, outermost first */
};

struct txn_file {
	struct kept kept;
	struct span bytes; /* new content; only while applying */
	uint32_t mode;	   /* of a new file */
	bool begun;	   /* according to the journal */
};

struct txn_step {
	enum plan_step_kind kind;
	const char *subject;
	const char *path;
	const char *tool;
	const char *const *must_hold; /* only while applying */
	/* The boot that it belongs to; NULL: it belongs to the files, or is not done. */
	const char *boot;
	const char *was;	/* a unit's or module's state, a sysctl's value before; or NULL */
	LIST(struct kept) kept; /* the files that it writes */
	const char *left;	/* why it is not done, or NULL */
	bool idle;		/* nothing to do: the state is as required already */
	bool begun, ended;	/* according to the journal */
};

struct txn {
	struct arena *arena;
	const struct txn_options *options;
	struct txn_outcome *outcome;
	struct host *host;
	struct writer w;
	int lock;
	int records;		    /* the folder of all records, locked; -1 */
	int folder;		    /* the state folder; -1 */
	int journal;		    /* -1 */
	size_t journal_size;	    /* of its good lines */
	char check[JOURNAL_ID_MAX]; /* of the last of them */
	bool taking_back;	    /* signals wait until that is done */
	bool again;		    /* a file could not be restored: the next run must try again */
	bool commit_tried;	    /* its line may be on the disk */
	unsigned int found;	    /* files of other programs that were kept, and replaced */

	const char *id;
	const char *plan_id;
	const char *boot_id; /* or NULL */
	const char *who;
	uint64_t time_s;
	unsigned int kept_count;
	LIST(struct txn_file) files;
	LIST(struct txn_step) steps;
	LIST(struct txn_repair) repairs;

	/* The state according to the journal. */
	bool committed, undoing, ended;
	bool journal_damaged; /* none of these is reliable */
	char record_sha[SHA256_HEX];
	enum txn_record_state status; /* when ended */

	const char *why;    /* of the last failure */
	const char *output; /* of the program that failed; or NULL */
};

/* txn-handle.c */
int txn_open(struct txn *t, const struct txn_options *options, struct arena *arena,
	     struct txn_outcome *outcome);
void txn_close(struct txn *t);
/* Between the first change and the last line of the journal, a message at any end of the process says that the next run
 * must revert it. */
void txn_under_way(bool under_way);
/* Sets t->why and returns RC. FORMAT NULL: the reason is the writer's. */
int txn_fail(struct txn *t, int rc, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Returns 0, or a failure if a signal is pending. */
int txn_stop_if_asked(struct txn *t);
struct txn_item *txn_item_of_file(struct txn *t, const struct txn_file *file);
struct txn_item *txn_item_of_step(struct txn *t, const struct txn_step *step);
void txn_set(struct txn_item *item, enum txn_item_state state, const char *text);
/* Sets the state of a step, or of a part of it, after it was reverted; RC is the result of that. */
void txn_set_reverted(struct txn *t, struct txn_item *item, int rc);
void txn_note(struct txn *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void txn_print_progress(struct txn *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Returns the id of this boot; NULL in another root. */
const char *txn_boot_id(struct txn *t);

/* In txn-place.c: checks that the root is the plan's, and that no other user can exchange it. 0 or a refusal. */
int txn_check_place(struct txn *t);
int txn_check_identity(struct txn *t, const struct plan *plan);
/* Checks a program that root will run: it and every folder and link on its path must belong to root. */
int txn_check_program(struct txn *t, const char *path);

/* txn-lock.c: 0 or a refusal in t->why. The second locks the records, once they have a folder: another machine, a
 * container or a second mount can have the same files and another /run. */
int txn_lock(struct txn *t);
int txn_lock_records(struct txn *t);
int txn_check_packages(struct txn *t);

/* txn-state.c: the state folder. */
int txn_state_create(struct txn *t); /* an empty one, with an id of its own and another name */
/* Writes the record and the first line of the journal with fsync. Then the folder gets its name, and the transaction
 * has begun. */
int txn_state_begin(struct txn *t);
void txn_state_discard(struct txn *t); /* of a transaction that changed nothing */
/* Removes the folders of transactions that never began. */
void txn_state_sweep(struct txn *t);
/* Lists the ids of all transactions, the oldest first. */
int txn_state_list_ids(struct txn *t, struct names *names);
/* Reads record and journal. -EBADMSG: one of them differs from what was written, and t->why explains it. The journal is
 * replayed up to its last valid line. */
int txn_state_load(struct txn *t, const char *id);
/* Copies the present state of PATH: the next before.NUMBER. */
int txn_state_keep(struct txn *t, struct kept *kept, const char *path);
/* Removes copies that are no longer needed because all is restored. The record and the journal stay. */
void txn_state_forget(struct txn *t);
int txn_state_kept_open(struct txn *t, const struct kept *kept);
/* Copies the file that is now in its place, before it is replaced. Returns 0 or a failure. */
int txn_state_keep_found(struct txn *t, const struct kept *kept);
/* Returns the instruction for a record that cannot be used: "look at ..., then mv ...". */
const char *txn_state_advice(struct txn *t);

/* txn-journal.c */
int txn_journal_open(struct txn *t); /* for more events */
void txn_journal_replay(struct txn *t, struct journal *journal);
/* Write one line to the journal and sync it: an event without arguments, and one with them. 0 or negative errno. */
int txn_journal_note(struct txn *t, enum journal_event event);
int txn_journal_write(struct txn *t, enum journal_event event, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* txn-record.c: struct txn as JSON. */
#define RECORD_FORMAT OWN_RECORD_FORMAT
struct json_object *txn_record_to_json(const struct txn *t);
/* Returns -EBADMSG if this program could not have written such a record. */
int txn_record_from_json(struct txn *t, struct json_object *json);

/* txn-form.c: checks word by word that a step is one that could have been prepared. Returns NULL, or the fault. */
const char *txn_path_problem(const char *path);
/* UTF-8 without control characters. */
bool txn_form_is_text(const char *s);
bool txn_form_is_unit(const char *name);
const char *txn_step_problem(struct arena *arena, const struct txn_step *step);
/* Like txn_step_problem(), for a step of a record, with the state that was determined and kept for it. */
const char *txn_record_problem(struct arena *arena, const struct txn_step *step);
/* PATH c MAJOR:MINOR MODE */
struct dev_node {
	const char *path;
	unsigned int major, minor, mode;
};
bool txn_form_split_node(struct arena *arena, const char *subject, struct dev_node *node);
/* NAME=VALUE */
bool txn_form_split_sysctl(struct arena *arena, const char *subject, const char **path,
			   const char **value);

/* txn-steps.c */
const char *txn_step_title(struct arena *arena, const struct txn_step *step);
/* Determines the changes of the step without making them. Sets step->left. */
int txn_step_prepare(struct txn *t, struct txn_step *step);
bool txn_step_is_live(const struct txn_step *step);
/* Copies the files that it will write. */
int txn_step_keep(struct txn *t, struct txn_step *step);
int txn_step_run(struct txn *t, struct txn_step *step, struct txn_item *item);
void txn_step_undo(struct txn *t, struct txn_step *step, struct txn_item *item);
/* Once the files are as before. */
void txn_step_redo(struct txn *t, struct txn_step *step, struct txn_item *item);

/* The functions of a kind of step of a plan (enum plan_step_kind). NULL: nothing to do in that phase. */
struct txn_step_ops {
	const char *title; /* %s is the subject */
	bool live;	   /* only on a running host, and only until its next boot */
	bool program;	   /* it runs a program */
	int (*prepare)(struct txn *t, struct txn_step *step);
	int (*run)(struct txn *t, struct txn_step *step, struct txn_item *item);
	void (*undo)(struct txn *t, struct txn_step *step, struct txn_item *item);
	void (*redo)(struct txn *t, struct txn_step *step, struct txn_item *item);
};
extern const struct txn_step_ops txn_step_initramfs, txn_step_boot_loader; /* one file each */
extern const struct txn_step_ops txn_step_daemon_reload, txn_step_unit_enable,
	txn_step_unit_disable, txn_step_unit_start, txn_step_unit_stop; /* txn-units.c */
extern const struct txn_step_ops txn_step_load_module, txn_step_unload_module, txn_step_sysctl,
	txn_step_device_node;				 /* txn-kernel.c */
extern const struct txn_step_ops txn_step_reload_driver; /* txn-reload.c */

/* txn-kernel.c: 0, or a failure in t->why. */
int txn_load_module(struct txn *t, const char *name);
int txn_unload_module(struct txn *t, const char *name);
/* Returns true if the module can be unloaded and loaded again: it has a file, and no install command. */
int txn_check_module(struct txn *t, const char *name);

/* All programs are run by this function. Runs ARGV in the transaction's root. Fails as txn_fail(). -ECANCELED: the user
 * wants no program run. OUTPUT may be NULL. */
int txn_step_program(struct txn *t, const char *const *argv, unsigned int timeout_s,
		     const char **output);
/* Marks PATH as a file that the step writes. */
struct kept *txn_step_writes(struct txn *t, struct txn_step *step, const char *path);

/* txn-links.c: finds the links that enable or disable the unit, and makes or removes them. */
int txn_links_enable(struct txn *t, struct txn_step *step);
int txn_links_disable(struct txn *t, struct txn_step *step);
int txn_links_change(struct txn *t, const struct txn_step *step);

/* txn-generate.c: a file that a program makes under another name, which is checked and then exchanged. */
typedef int txn_generate_check(struct txn *t, struct txn_step *step, int side);
int txn_generate(struct txn *t, struct txn_step *step, struct kept *kept, const char *const *argv,
		 txn_generate_check *check);
/* Returns true if the step's program writes this file in place, so that an interruption leaves it in any state. */
bool txn_generate_in_place(const struct txn_step *step, const struct kept *kept);
/* Returns true if the file system of PATH is mounted. */
int txn_generate_check_place(struct txn *t, const char *path);
/* Finds the program, or the way to continue without it: NULL, with a reason. */
const char *txn_generate_program(struct txn *t, const char *name);
/* Checks of this kind of step on the present file. NULL: none. */
typedef int txn_generate_own_check(struct txn *t, const struct txn_step *step,
				   const struct file_seen *seen);
/* Makes sure that PROGRAM can write the step's file. 0, or a failure in t->why. */
int txn_generate_prepare(struct txn *t, struct txn_step *step, const char *program,
			 txn_generate_own_check *check);
/* Rebuilds the file, if that was its outcome. */
void txn_generate_redo(struct txn *t, struct txn_step *step, struct txn_item *item,
		       const char *const *argv, txn_generate_check *check);

/* txn-recover.c */
/* Reverts everything that was begun: TXN_ROLLED_BACK, TXN_UNDONE or TXN_PARTLY. */
enum txn_result txn_revert(struct txn *t);
/* Recovers every unfinished transaction in the state folder. */
int txn_recover_all(struct txn *t);

/* Restores all files of a step. The worst result becomes the item's state. */
void txn_restore_kept(struct txn *t, struct txn_step *step, struct txn_item *item);

/* txn-audit.c */
void txn_audit(struct txn *t, const char *event, const char *result);
const char *txn_who(struct arena *arena);

#endif
