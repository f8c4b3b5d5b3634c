/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fix.h - the interface between the fixes and the engine that makes a plan of them. A fix is one kind of repair, a
 * struct fix; a file of src/fixes defines those that change one thing, such as modprobe-option.c. Rules name it in
 * their row. Its function is called once for each finding, and adds changes of files and steps, or refuses with a
 * reason. It writes nothing and reads only facts: the bytes of a file that it edits come through draft_open().
 *
 * The engine is in plan-*.c, fix*.c and draft.c. If a fix refuses, all that it added in the same call is removed.
 */
#ifndef FIX_H
#define FIX_H

#include "evaluate/report.h"
#include "facts/own-files.h"
#include "host/host.h"
#include "txn/plan.h"

/* A file as it is and as it will be. */
struct draft {
	const char *path;
	struct span before; /* p NULL: it is not there */
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
	const struct report *report; /* with every rule's answer, asked for or not */
	struct plan *plan;
	LIST(struct draft *) drafts;
	/* The kernel command line of the next boot, as it will be. */
	const char *staged;
	struct arena *scratch; /* for fix_modprobe() alone ... */
	const struct modprobe_facts
		*modprobe; /* ... and its last answer; NULL: not right any more */
	/* Modules whose options or blacklist change: an image that has one must be built again. */
	LIST(const char *) touched;
	LIST(const char *) rebuild; /* images that must be, whatever changes */

	const struct finding *finding; /* the one that is asked about; NULL in fix_images() */
	const char *rule;	       /* its rule, for the comment above a new line */
	bool named;		       /* the user named its rule */
	bool reload;		       /* the user wants the driver loaded again */
	struct plan_repair *repair;
	bool waits; /* nothing is left to do for it but to wait */
};

struct fix {
	const char *name;  /* as rules and answers name it: struct fix_call */
	const char *title; /* what it changes, for explain */
	/* The repair's arguments are fix_arg(f, 0) and so on; the comment above each definition explains them. */
	bool reloads_driver; /* what it changes can take effect by loading the driver again */
	void (*plan)(struct fixing *f);
};

/* All fixes by name; the last item is NULL. */
extern const struct fix *const fix_list[];
const struct fix *fix_find(const char *name);

#define FIX_TEXT(n) __attribute__((format(printf, n, n + 1)))

/* ---- the answer ---- */

/* Adds one line about the repair. Lines of several calls are joined, and the latest ACTIVATION counts. */
FIX_TEXT(3) void fix_does(struct fixing *f, enum activation activation, const char *format, ...);
FIX_TEXT(2) void fix_costs(struct fixing *f, const char *format, ...);
/* The cost is a risk, or hits others. */
void fix_risks(struct fixing *f);
/* What the user has to run after it. */
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
/* Argument I of the call that the finding or its rule makes; NULL: not given. */
const char *fix_arg(const struct fixing *f, size_t i);
/* The finding that causes this one, which has to be repaired first; or NULL. */
const struct finding *fix_cause(const struct fixing *f);
/* The first failure of a rule, or NULL. */
const struct finding *fix_failing(const struct fixing *f, const char *rule);

/* ---- files (draft.c) ---- */

/* NULL after refusing: a link, or a file that cannot be read here. */
struct draft *draft_open(struct fixing *f, const char *path, const char *why);
bool draft_differs(const struct draft *draft);
void draft_remove(struct fixing *f, struct draft *draft);
void draft_set(struct fixing *f, struct draft *draft, struct span text);
/* Writes OPENING into an empty file of our own, after a line that says whose it is. */
void draft_begin(struct fixing *f, struct draft *draft, const char *opening);
/* Writes LINE in a file of our own. It replaces the line that begins with PREFIX, or is added at the end, below a
 * comment with the finding's rule. */
void draft_line(struct fixing *f, struct draft *draft, const char *prefix, const char *line);
/* The N bytes at AT of the text that will be, replaced. */
void draft_splice(struct fixing *f, struct draft *draft, size_t at, size_t n, const char *with);
/* Line NUMBER, from 1, without its newline; an empty span without p when there is none. */
struct span draft_get_line(const struct draft *draft, uint64_t number);
const struct draft *draft_find(const struct fixing *f, const char *path);
/* Refuses when a file that is read after OWN (sysctl.d and its like: by name, whatever the folder)
 * has a line that begins with NAME. */
bool fix_is_last(struct fixing *f, const char *own, const char *folder, const char *name);

/* ---- steps ---- */

/* Adds a step unless the plan has it. ARGV (may be NULL) must stay. */
struct plan_step *fix_step(struct fixing *f, enum plan_step_kind kind, const char *subject,
			   const char *const *argv);
const char *const *fix_argv(struct fixing *f, const char *program, const char *a, const char *b,
			    const char *c);

/* ---- module options (fix-option.c, fix-modprobe.c) ---- */

/* Returns what modprobe.d and the next boot's command line will contain with the drafts in place. The plan must copy
 * what it keeps of it. */
const struct modprobe_facts *fix_modprobe(struct fixing *f);
/* Returns true if there is memory for one more change. A file of ten thousand lines does not have as many changes. */
bool fix_has_room(struct fixing *f);
/* MODULE's PARAM=VALUE in our drop-in, under the name that counts here, shown to win. */
bool fix_option(struct fixing *f, const char *module, const char *param, const char *value);
/* Removes it from every file. If a file is not for editing, STANDARD (what the driver has without
 * it) is set instead; NULL: refused. */
bool fix_option_remove(struct fixing *f, const char *module, const char *param,
		       const char *standard);
/* Like fix_option_remove(), in FILE only. */
bool fix_option_cut(struct fixing *f, const char *module, const char *param, const char *file);
/* KEY=VALUE in RegistryDwords beside all keys that stand anywhere; VALUE NULL: without KEY. KEY
 * NULL: all of them in one assignment. */
bool fix_registry(struct fixing *f, const char *key, const char *value);
/* Adds a blacklist line, and an install line that also stops a load by name. */
bool fix_block_module(struct fixing *f, const char *module);
/* Notes that options of MODULE change, so that the images that hold the module are built again. */
void fix_touch(struct fixing *f, const char *module);

/* ---- kernel arguments (fix-argument.c) ---- */

/* KEY=VALUE, or one of the values of "pci=" beside those that are there. */
bool fix_argument(struct fixing *f, const char *key, const char *value);
/* The plan changes the command line of the next boot, so a repair that needs only what is in it is
 * not there already. */
void fix_shares_arguments(struct fixing *f);
/* Removes KEY=VALUE. VALUE can be one of several that are separated by commas; NULL: KEY is a bare word. */
bool fix_argument_remove(struct fixing *f, const char *key, const char *value);

/* ---- modules (fix-module.c) ---- */

/* Returns the file of MODULE for the running kernel, whatever name it has; NULL: there is none. */
const struct module_file *fix_module_file(const struct fixing *f, const char *module);
bool fix_load_now(struct fixing *f, const char *module);
bool fix_load_at_boot(struct fixing *f, const char *module);
/* Returns true if dracut makes this host's images. */
bool fix_has_dracut(const struct fixing *f);

/* ---- the driver loaded again (fix-reload.c) ---- */

/* If the user wants it (--reload), loads the driver again, so that the finding's change takes effect at once. */
void fix_reload(struct fixing *f);
/* Refuses the whole plan when its driver cannot be loaded again now. */
void fix_check_reload(struct fixing *f);

/* ---- images (fix-images.c) ---- */

/* False after refusing: an image that may have MODULE cannot be built again here. */
bool fix_image_allows(struct fixing *f, const char *module);
/* Steps for the images that need it, at the end. */
void fix_images(struct fixing *f);

#endif
