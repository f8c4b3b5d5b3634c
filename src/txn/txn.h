/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn.h - carries out a plan as one transaction, and reverts it.
 *
 * The previous state is first copied to a folder of its own, STATE_FOLDER/<utc>-<plan id>, with a journal that is fsynced
 * line by line. After any failure (an error, a full disk, SIGKILL, power loss), the node has either the state of the plan
 * or the previous one: the next call of txn_apply(), txn_undo() or txn_recover() rolls an interrupted transaction back.
 * Decisions are made by content: a file with neither the previous content nor that of the transaction belongs to another
 * program, is left alone and reported. If a record or a journal differs from what was written, nothing is decided: all
 * copies stay, and the outcome names the folder to look at.
 *
 * A step belongs to the files of a root, or to one boot of one machine: the latter is never reverted in another boot, or
 * through --root. No program and no argument is ever read from a record.
 *
 * Subjects of steps (plan.h), and how they are reverted:
 *
 *   PLAN_INITRAMFS      kernel release   the old image is restored, byte by byte; if the image has
 *                                        changed since then, a new one is built from the files after
 *                                        the undo
 *   PLAN_BOOT_LOADER    NULL             the files that the tool wrote are restored
 *   PLAN_DAEMON_RELOAD  NULL             repeated after the files are restored
 *   PLAN_LOAD_MODULE    module           unloaded if nothing holds it
 *   PLAN_UNLOAD_MODULE  module           loaded again
 *   PLAN_UNIT_ENABLE    unit             the links that it made are removed
 *   PLAN_UNIT_DISABLE   unit             the links that it removed are restored one by one
 *   PLAN_UNIT_START     unit             stays started: jobs may use it
 *   PLAN_UNIT_STOP      unit             started, if it was
 *   PLAN_SYSCTL         name=value       the old value, if the present one is still ours
 *   PLAN_DEVICE_NODE    PATH c MAJOR:MINOR MODE, as "/dev/gdrdrv c 240:0 0666"; removed
 *   PLAN_DEPMOD         kernel release   repeated after the files are restored
 *   PLAN_RELOAD_DRIVER  NULL             reloaded after the files are restored; if it is held, it
 *                                        stays loaded until the next boot
 *
 * Steps that only a running host has (reload, modules, start and stop, sysctl, device nodes) are
 * left out for another root, and named in TXN_LEFT items.
 */
#ifndef TXN_H
#define TXN_H

#include "facts/own-files.h"
#include "txn/plan.h"

#define TXN_STATE_FOLDER OWN_TRANSACTIONS
#define TXN_LOCK_FILE "/run/nvnodecheck/fix.lock"

enum txn_result {
	TXN_APPLIED,	 /* all done, and the check afterwards confirmed it */
	TXN_REFUSED,	 /* nothing was changed: TEXT says why */
	TXN_ROLLED_BACK, /* a failure; the node is in its previous state */
	TXN_UNDONE,	 /* txn_undo(): the node is in its state before the transaction */
	/* Rolled back or undone except for files that changed since then, or failures: see items in state TXN_KEPT and
	 * TXN_FAILED. */
	TXN_PARTLY,
	/* A plan that changes nothing, which leaves no record; nothing to undo, nothing that was interrupted. */
	TXN_NOTHING,
};
extern const char *const txn_result_words[];

enum txn_item_state {
	TXN_NOT_REACHED,
	TXN_DONE,     /* changed, run, or in the required state already */
	TXN_RESTORED, /* as it was before */
	TXN_REBUILT,  /* undo: rebuilt, because it had changed since then */
	TXN_KEPT,     /* a conflict: it has changed since then, so it was left alone */
	TXN_LEFT,     /* not done on purpose: remains for the user (TEXT has the command) */
	TXN_FAILED,
	TXN_STAYS, /* cannot be undone; TEXT says why */
};
extern const char *const txn_item_words[];

struct txn_item {
	bool step;	     /* else a file */
	const char *subject; /* the file, or the step: "initramfs of 6.1.0-9-amd64" */
	enum txn_item_state state;
	const char *text;   /* one line about the result, or NULL */
	const char *output; /* of a program that failed: its last lines; or NULL */
};

struct txn_outcome {
	enum txn_result result;
	const char *id;		     /* of the transaction; NULL if none was begun */
	const char *text;	     /* one line: why it was refused, rolled back, ...; or NULL */
	LIST(struct txn_item) items; /* files, then steps, as in the plan */
	LIST(const char *) notes;
	/* The state in which an interrupted transaction was found, and its final state: one line each. */
	LIST(const char *) recovered;
};

/* Checks the node once everything is done. False, with WHY in ARENA, rolls everything back. */
typedef bool txn_verify(void *user, struct arena *arena, const char **why);
/* Called before a step that takes time: "Building the initramfs of 6.1.0-9-amd64". */
typedef void txn_progress(void *user, const char *text);

struct root;

struct txn_options {
	const struct root *root; /* --root, opened; NULL: this host */
	bool writable_parents;	 /* even if others can put another folder in ROOT's place */
	bool no_regenerate;	 /* no program is run: the rest is in TXN_LEFT items */
	unsigned int wait_s;	 /* time to wait for another transaction; 0: refuse at once */
	txn_verify *verify;	 /* or NULL */
	txn_progress *progress;	 /* or NULL */
	void *user;		 /* of both */
};

/* All three first roll back an interrupted transaction. Strings of the outcome are in ARENA. Signals that would end
 * the process are blocked, and roll the transaction back. */
void txn_apply(const struct plan *plan, const struct txn_options *options, struct arena *arena,
	       struct txn_outcome *outcome);
/* ID is that of txn_list(), a plan id, or NULL for the last one that was applied. */
void txn_undo(const char *id, const struct txn_options *options, struct arena *arena,
	      struct txn_outcome *outcome);
void txn_recover(const struct txn_options *options, struct arena *arena,
		 struct txn_outcome *outcome);

/*
 * The command that builds the image of KERNEL, which is at IMAGE, to the side file that the
 * transaction then reads back and renames: for plan_step.argv, so that the plan shows what will
 * run. NULL: no such tool. The transaction itself uses the step's tool, subject and path.
 */
const char *const *txn_initramfs_command(struct arena *arena, const char *tool, const char *kernel,
					 const char *image);

/* ---- the list of transactions ---- */

/* The state of a record in the list; enum txn_result is the result of one call. */
enum txn_record_state {
	TXN_IS_APPLIED,
	TXN_IS_UNDONE,
	TXN_IS_ROLLED_BACK,
	TXN_IS_PARTLY,	    /* undone or rolled back with conflicts */
	TXN_IS_INTERRUPTED, /* the next transaction will roll it back */
	TXN_IS_DAMAGED,	    /* its record or its journal differs from what was written */
};
extern const char *const txn_record_state_words[];

struct txn_repair { /* of struct plan_repair: those that were not refused */
	const char *rule;
	const char *subject; /* or NULL */
	const char *what;
	enum activation activation;
};

struct txn_entry {
	const char *id;
	const char *plan_id;
	enum txn_record_state status;
	const char *text;	  /* damaged: the fault, and what to do; or NULL */
	uint64_t time_s;	  /* Unix time of its beginning */
	const char *boot_id;	  /* a pending repair is done when this value changes; or NULL */
	const char *who;	  /* "root through sudo by uid 1000 (login uid 1000)" */
	LIST(const char *) files; /* that were written or removed */
	LIST(struct txn_repair) repairs;
};

struct txn_entries {
	LIST(struct txn_entry) entries; /* the newest first */
};

/* Changes nothing and takes no lock. Returns 0, also if there was never a transaction; negative errno, -EACCES for
 * other users than root. */
int txn_list(const struct root *root, struct arena *arena, struct txn_entries *entries);

/* For tests: called before every change, with a few words about it. It ends the process at one of them. NULL
 * otherwise. */
extern void (*txn_test_point)(const char *what);

#endif
