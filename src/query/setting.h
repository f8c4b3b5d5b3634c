/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * setting.h - every setting has three states: the running value, what is configured on the root
 * file system, and what the initramfs gives if it is the one that loads the module at boot. One
 * comparison says whether they agree and which step is missing.
 *
 * Pure: facts in, answer out.
 */
#ifndef SETTING_H
#define SETTING_H

#include "facts/facts.h"

struct setting_value {
	enum fact_state state; /* absent: nothing sets it, the default counts */
	const char *value;
	const char *fact; /* path of the fact that says so; NULL: none */
};

struct setting {
	const char *name; /* NVreg_EnableStreamMemOPs */
	struct setting_value running;
	struct setting_value configured; /* modprobe.d and the running command line */
	struct setting_value next; /* modprobe.d and the command line that the loader will pass */
	/* The image's modprobe.d and that command line; unknown also where it could not be read. */
	struct setting_value early;
	bool early_counts;  /* the next boot loads the module from its initramfs */
	bool early_unknown; /* whether it does could not be read */
	/* The file or the image that counts is newer than the boot, or the next command line differs. */
	bool changed_since_boot;
};

enum setting_step {
	NEXT_NONE,	/* right now and at the next boot */
	NEXT_CONFIGURE, /* neither modprobe.d nor the next command line gives it */
	NEXT_REBUILD,	/* the files are right, the initramfs is not */
	NEXT_RESTART,	/* configured on disk: reload the module or reboot */
};

/* Returns true if VALUE (NULL: the default) is a good one. */
typedef bool setting_is_good(const char *value, const void *user);

struct setting_outcome {
	enum fact_state running_state; /* of the running value; unknown: it could not be read */
	bool running_right;
	bool configured_unknown;
	bool boot_right; /* the next boot gives it */
	bool boot_unknown;
	bool pending; /* not live yet, only because the node has not rebooted since */
	enum setting_step step;
};

/* A parameter of the NVIDIA driver by its name in params: "RegistryDwords". */
struct setting setting_nvreg(const struct node *node, const char *name, struct arena *arena);
/* Returns the value in quotes, or "no value" for an empty one. */
const char *setting_quoted(struct arena *arena, const char *value);
struct setting_outcome setting_compare(const struct setting *setting, setting_is_good *wanted,
				       const void *user);

/* Module names under which options reach the NVIDIA driver: nvidia, and on Debian the name of the
 * renamed file (nvidia_current). Most important last. NULL-terminated. */
#define NVIDIA_NAMES_MAX 6
void setting_nvidia_names(const struct node *node, const char *names[NVIDIA_NAMES_MAX + 1]);
bool setting_is_nvidia(const struct node *node, const char *module);

/* The effective assignment of MODULE's PARAM in a set of modprobe.d files, or NULL. */
const struct modprobe_assignment *setting_assignment(const struct modprobe_facts *modprobe,
						     const char *module, const char *param);
/* Like setting_assignment(), for the NVIDIA driver under all its names. */
const struct modprobe_assignment *setting_nvidia_assignment(const struct node *node,
							    const struct modprobe_facts *modprobe,
							    const char *param);
/* The image that boots next, or that of the running kernel when that is all that is known. */
const struct initramfs_image *setting_next_image(const struct node *node);
bool image_has_module(const struct initramfs_image *image, const char *name);

/* "NVreg_RestrictProfilingToAdminUsers" for "RmProfilingAdminOnly", else "NVreg_" before NAME. */
const char *setting_option_name(const char *name, struct arena *arena);
/* The inverse: returns the name of an option in the driver's params, or NULL if it is not an NVreg_ option. */
const char *setting_param_name(const char *option);

/* "/etc/modprobe.d/nvidia.conf:1" */
const char *assignment_place(struct arena *arena, const struct modprobe_assignment *a);
/* The places of all assignments of a parameter of the NVIDIA driver, where there are several; else NULL. */
const char *setting_nvidia_places(const struct node *node, const char *param, struct arena *arena);
/* The value of NVreg_RegistryDwords that sets KEY=VALUE and keeps every other configured key. */
const char *setting_registry_keys(struct arena *arena, const struct node *node, const char *key,
				  const char *value);

#endif
