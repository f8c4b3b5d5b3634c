/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan.h - a plan: the changes of a node, and their reasons. Fixes (src/fixes) make it from findings, it is shown as a
 * unified diff or JSON, and a transaction (src/txn/txn.h) carries it out. Data only: making a plan changes nothing.
 *
 * Order of a transaction: files, then steps, each in the order of its list.
 */
#ifndef PLAN_H
#define PLAN_H

#include "base/span.h"
#include "evaluate/rule.h"
#include "facts/fact.h"

/* The change of one whole file. BEFORE was read when the plan was made: if the file differs when the plan is
 * applied, the plan is void. */
struct plan_file {
	const char *path;   /* on the node */
	struct span before; /* p NULL: it did not exist */
	struct span after;  /* p NULL: it goes */
	uint32_t mode; /* of a new file, owned by root; an existing one keeps owner, mode, xattrs */
	const char *why; /* one line */
};

enum plan_step_kind {
	PLAN_INITRAMFS, /* rebuild the image of one kernel: beside the old one, read back, renamed */
	PLAN_BOOT_LOADER,   /* rebuild the menu */
	PLAN_DAEMON_RELOAD, /* systemd reads unit files again */
	PLAN_LOAD_MODULE,
	PLAN_UNLOAD_MODULE, /* only if nothing holds them */
	PLAN_UNIT_ENABLE,
	PLAN_UNIT_DISABLE,
	PLAN_UNIT_START,
	PLAN_UNIT_STOP,
	PLAN_SYSCTL,
	PLAN_DEVICE_NODE,
	PLAN_DEPMOD,
	PLAN_RELOAD_DRIVER, /* unload the NVIDIA modules, if nothing holds them, and load them again */
};
extern const char *const plan_step_words[];

struct plan_step {
	enum plan_step_kind kind;
	const char *subject; /* kernel release, module, unit, sysctl=value, device node; or NULL */
	const char *path;    /* PLAN_INITRAMFS: the image; PLAN_BOOT_LOADER: the menu; else NULL */
	const char *tool;    /* initramfs-tools, dracut, mkinitcpio, grub-mkconfig, grubby, ... */
	/* The command, for readers of the plan; the transaction makes the command itself, of kind, tool, subject and
	 * path. NULL: a system call, or links in a folder. */
	const char *const *argv;
	/* Texts that the result must have when it is read back, NULL-terminated; or NULL. PLAN_INITRAMFS: "nvidia
	 * NVreg_X=1", "blacklist nouveau". PLAN_BOOT_LOADER: kernel arguments. */
	const char *const *must_hold;
};

/* The answer for a finding: a repair, or the reason why there is none. */
struct plan_repair {
	const struct finding *finding;
	const char *what;    /* one line; NULL: refused */
	const char *refused; /* why software does not repair it, and who can */
	bool only_by_hand;   /* refused is the remedy of the finding, and who carries it out */
	bool changes;	     /* it needs a change, even if another repair makes the same change */
	bool lasts;	     /* a part of the change is on disk; if not, the next boot reverts it */
	/* If refused because it is configured already: when it takes effect; else NONE. */
	enum activation activation;
	const char *cost;     /* or NULL */
	bool is_risk;	      /* of the cost: rule.h */
	const char *then_run; /* a command to run after it, for a shell; or NULL */
};

struct plan {
	struct arena *arena;
	char id[17]; /* first 64 bits of a SHA-256 over files and steps, hexadecimal */
	uint64_t root_device, root_inode; /* of the folder of --root; 0: this host */
	/* Why the whole node is refused (a container, an image-based host, ...); or NULL. */
	const char *refused;
	LIST(struct plan_repair) repairs;
	LIST(struct plan_file) files;
	LIST(struct plan_step) steps;
};

#endif
