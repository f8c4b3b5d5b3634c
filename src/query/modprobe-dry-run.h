/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modprobe-dry-run.h - decides whether modprobe would load a module, from the files (facts.loads, modprobe.d). Pure.
 *
 * modprobe's part: kmod libkmod-module.c, kmod_module_new_from_lookup() and kmod_module_probe_insert_module(). The
 * kernel's: kernel/module/main.c, version.c, signing.c. Soft dependencies do not count: modprobe continues without
 * them.
 */
#ifndef MODPROBE_DRY_RUN_H
#define MODPROBE_DRY_RUN_H

#include "facts/facts.h"
#include "query/cure.h"

enum load_answer {
	LOAD_UNKNOWN, /* nothing was found against it, and not all could be checked */
	LOAD_YES,
	LOAD_NO,
};

struct load_verdict {
	enum load_answer answer;
	const char *module; /* at which it ends: the module itself, or one that it needs */
	const char *why;    /* "nvidia-current has no file"; of unknown: what was not checked */
	struct cure cure;
	const char *fact; /* the path of what says so */
	const char *file; /* of modprobe.d, whose line names an absent module; NULL: none does */
	bool signature;	  /* the reason is the signature */
	bool configured;  /* the reason is in modprobe.d */
	bool absent;	  /* there is no module of that name */
};

/* NAME with dashes or underscores, as it would be given to modprobe. */
struct load_verdict modprobe_dry_run(struct arena *arena, const struct node *node,
				     const char *name);

#endif
