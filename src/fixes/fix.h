/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fix.h - the interface between the fixes and the engine that makes a plan of them. A fix is one kind of repair, a
 * struct fix. A file of src/fixes defines those that change one thing, such as modprobe-option.c. Rules name it in
 * their row. Its function is called once for each finding, and adds changes of files and steps, or refuses with a
 * reason. It writes nothing and reads only facts: the bytes of a file that it edits come through draft_open().
 *
 * The engine is in plan-*.c, fix*.c and draft.c. If a fix refuses, everything that it added in the same call is
 * removed.
 */
#ifndef FIX_H
#define FIX_H

#include "evaluate/report.h"
#include "facts/own-files.h"
#include "host/host.h"
#include "txn/plan.h"

/* A file, with its present and its new content. */
struct draft {
	const char *path;
	struct span before; /* p NULL: it does not exist */
	struct span after;
	uint32_t mode;
	const char *why;
};

/* Evaluating modprobe.d takes some tens of kilobytes each time, at most a megabyte, and a few times for each finding.
 * Untouched pages cost nothing. */
#define SCRATCH_BYTES (256u << 20)

struct fixing {
	struct arena *arena;
	const struct node *node;
	struct host *host;	     /* NULL: only facts are there */
	const struct report *report; /* with the answers of all rules, requested or not */
	struct plan *plan;
	LIST(struct draft *) drafts;
	/* The new kernel command line of the next boot. */
	const char *staged;
	struct arena *scratch;		       /* only for fix_modprobe() ... */
	const struct modprobe_facts *modprobe; /* ... and its last answer; NULL: outdated */
	/* Modules whose options or blacklist change: an image that has one must be rebuilt. */
	LIST(const char *) touched;
	LIST(const char *) rebuild; /* images that must be rebuilt in any case */

	const struct finding *finding; /* the current finding; NULL in fix_each_initramfs() */
	const char *rule;	       /* its rule, for the comment above a new line */
	bool named;		       /* the user named its rule */
	bool reload;		       /* the user wants the driver reloaded */
	struct plan_repair *repair;
	const char *fails_to_load; /* the module of which the repair's cost says so; NULL: none */
	bool waits;		   /* it only has to take effect */
};

struct fix {
	const char *name;  /* its name in rules and answers: struct fix_call */
	const char *title; /* the object that it changes, for explain */
	/* The repair's arguments are fix_arg(f, 0) and so on; the comment above each definition explains them. */
	bool reloads_driver; /* its changes can take effect by reloading the driver */
	bool takes_time;     /* its effect may come after its step has returned */
	void (*plan)(struct fixing *f);
};

const struct fix *fix_find(const char *name);

#define FIX_TEXT(n) __attribute__((format(printf, n, n + 1)))

/* ---- the answer ---- */

/* Adds one line about the repair. Lines of several calls are joined, and the latest ACTIVATION counts. */
FIX_TEXT(3) void fix_does(struct fixing *f, enum activation activation, const char *format, ...);
FIX_TEXT(2) void fix_costs(struct fixing *f, const char *format, ...);
/* Marks the cost as a risk, or as a disturbance of others. */
void fix_risks(struct fixing *f);
/* Adds a command to run after it. */
FIX_TEXT(2) void fix_then_run(struct fixing *f, const char *format, ...);
/* Keeps the first reason of one finding. Returns false. */
FIX_TEXT(2) bool fix_refuse(struct fixing *f, const char *format, ...);
/* Refuses because the change is configured on disk and waits for ACTIVATION. */
FIX_TEXT(3) void fix_waits(struct fixing *f, enum activation activation, const char *format, ...);
bool fix_refused(const struct fixing *f);
/* Returns the gap of a file that the repairs of FIX change and that could not be read, or NULL. */
const struct gap *fix_unread(const struct fixing *f, const char *fix);
/* Refuses: nothing that was read needs a change, but GAP could not be read. */
bool fix_refuse_unread(struct fixing *f, const struct gap *gap);
const char *fix_subject(const struct fixing *f); /* "" without one */
/* Returns argument I of the call in the finding or its rule; NULL: not given. */
const char *fix_arg(const struct fixing *f, size_t i);
/* Returns the finding that causes this one and must be repaired first; or NULL. */
const struct finding *fix_cause(const struct fixing *f);
/* The first failure of a rule, or NULL. */
const struct finding *fix_failing(const struct fixing *f, const char *rule);

/* ---- files (draft.c) ---- */

/* NULL after refusing: a link, or a file that cannot be read here. */
struct draft *draft_open(struct fixing *f, const char *path, const char *why);
bool draft_differs(const struct draft *draft);
void draft_remove(struct fixing *f, struct draft *draft);
void draft_set(struct fixing *f, struct draft *draft, struct span text);
/* Writes OPENING into an empty file of our own, after a line with the program's name. */
void draft_begin(struct fixing *f, struct draft *draft, const char *opening);
/* Writes LINE in a file of our own. It replaces the line that begins with PREFIX, or is added at the end, below a
 * comment with the finding's rule. */
void draft_line(struct fixing *f, struct draft *draft, const char *prefix, const char *line);
/* Replaces N bytes at AT of the new text. */
void draft_splice(struct fixing *f, struct draft *draft, size_t at, size_t n, const char *with);
/* Returns line NUMBER, from 1, without its newline; a span without p: no such line. */
struct span draft_get_line(const struct draft *draft, uint64_t number);
const struct draft *draft_find(const struct fixing *f, const char *path);

/* ---- steps ---- */

/* Adds a step unless the plan has it. ARGV (may be NULL) must stay. */
struct plan_step *fix_step(struct fixing *f, enum plan_step_kind kind, const char *subject,
			   const char *const *argv);
const char *const *fix_argv(struct fixing *f, const char *program, const char *a, const char *b);

/* ---- module options (fix-option.c, fix-modprobe.c) ---- */

/* Returns what modprobe.d and the next boot's command line will contain with the drafts in place. The plan must copy
 * what it keeps of it. */
const struct modprobe_facts *fix_modprobe(struct fixing *f);
/* Returns true if there is memory for one more change. A file of ten thousand lines does not have as many changes. */
bool fix_has_room(struct fixing *f);
/* Sets MODULE's PARAM=VALUE in our drop-in, under the name that modprobe uses here, and checks that it wins. */
bool fix_option(struct fixing *f, const char *module, const char *param, const char *value);
/* Removes it from every file. If a file must not be edited, STANDARD (the driver's default) is set instead; NULL:
 * refused. */
bool fix_option_remove(struct fixing *f, const char *module, const char *param,
		       const char *standard);
/* Like fix_option_remove(), in FILE only. */
bool fix_option_cut(struct fixing *f, const char *module, const char *param, const char *file);
/* Sets KEY=VALUE in RegistryDwords beside all present keys. VALUE NULL: removes KEY. KEY NULL: joins all in one
 * assignment. */
bool fix_registry(struct fixing *f, const char *key, const char *value);
/* Adds a blacklist line, and an install line that also stops a load by name. */
bool fix_block_module(struct fixing *f, const char *module);
/* Records that options of MODULE change, so that the images that have the module are rebuilt. */
void fix_touch(struct fixing *f, const char *module);

/* ---- kernel arguments (fix-argument.c) ---- */

/* Adds KEY=VALUE, or one of the values of "pci=" beside the present ones. */
bool fix_argument(struct fixing *f, const char *key, const char *value);
/* Records that the plan changes the command line of the next boot. A repair that needs only this is then not configured
 * yet. */
void fix_shares_arguments(struct fixing *f);
/* Removes KEY=VALUE. VALUE can be one of several that are separated by commas; NULL: KEY is a bare word. */
bool fix_argument_remove(struct fixing *f, const char *key, const char *value);

/* ---- modules (fix-module.c) ---- */

/* Returns the file of MODULE for the running kernel, under any name; NULL: none. */
const struct module_file *fix_module_file(const struct fixing *f, const char *module);
bool fix_load_now(struct fixing *f, const char *module);
bool fix_load_at_boot(struct fixing *f, const char *module);
/* Returns true if dracut makes this host's images. */
bool fix_has_dracut(const struct fixing *f);

/* ---- reloading the driver (fix-reload.c) ---- */

/* With --reload, reloads the driver, so that the finding's change takes effect at once. */
void fix_reload(struct fixing *f);
/* Refuses the whole plan if its driver cannot be reloaded now. */
void fix_check_reload(struct fixing *f);

/* ---- images (fix-initramfs.c) ---- */

/* False after refusing: an image that may have MODULE cannot be rebuilt here. */
bool fix_initramfs_allows(struct fixing *f, const char *module);
/* Steps for the images that need it, at the end. */
void fix_each_initramfs(struct fixing *f);

#endif
