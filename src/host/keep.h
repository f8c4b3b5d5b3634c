/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keep.h - decides what a redacted capture keeps. An allow list, by path, of what probes need: of a boot menu the
 * entries' command lines, of a unit its limits, of an environment the variables of the tables. All else is left out or
 * replaced by a stand-in (base/redact.h), and what is kept is looked through for what identifies the machine. A file
 * that the list does not have is left out whole.
 *
 * Lines keep their numbers, names of files their order where it counts, and paths lead to the same file wherever
 * they stand: in the key of a record, in a folder's list, in a link, in a text.
 */
#ifndef KEEP_H
#define KEEP_H

#include "base/redact.h"
#include "host/host.h"

struct json_object;

/* The state of one record. */
struct keeping {
	struct redact *redact;
	FILE *out;
	/* Called for what is left out; may be NULL. */
	void (*left_out)(void *user, struct span text);
	void *user;
};

/* keep.c. Writes what is kept of PATH's TEXT. False when the list does not have it: nothing was written. */
bool keep_text(struct keeping *k, const char *path, struct span text);

/* Is NAME a word of the files and paths that are read, in any case? Who calls a host so gives nothing away. */
bool keep_is_word(struct span name);

/* keep-path.c. A path, or a command that names one; NAME is an entry of the folder PATH. */
void keep_path(struct keeping *k, struct span path);
void keep_entry(struct keeping *k, const char *path, const char *name);
void keep_target(struct keeping *k, const char *link, const char *target);
/* A value that is a path, as people write it. */
void keep_path_value(struct keeping *k, struct span value);
/* Paths with colons between them. */
void keep_paths(struct keeping *k, struct span paths);

/* keep-words.c: texts of words. */
void keep_arguments(struct keeping *k, struct span text); /* of the kernel */
void keep_modprobe(struct keeping *k, struct span text);
void keep_shell(struct keeping *k, struct span text); /* /etc/default/grub and its like */
void keep_grub(struct keeping *k, struct span text);
void keep_grubenv(struct keeping *k, struct span text);
void keep_command(struct keeping *k, struct span text); /* that modprobe starts */
void keep_options(struct keeping *k, struct span text); /* of a module */
void keep_assigned(struct keeping *k, struct span name, struct span value);
void keep_live_value(struct keeping *k, struct span name, struct span text);
bool keep_is_parameter(struct span name);
/* A word of an option of the kernel's: letters alone, or a number. */
bool keep_is_option_word(struct span word);

/* keep-lines.c: texts of lines. */
void keep_fields(struct keeping *k, struct span text, const char *const *names);
/* NAME=VALUE of files that people write: of a value numbers and words such as yes. */
void keep_plain_fields(struct keeping *k, struct span text, const char *const *names);
void keep_uvm_names(struct keeping *k, struct span text);
void keep_driver(struct keeping *k, struct span text);
void keep_driver_params(struct keeping *k, struct span text);
void keep_iomem(struct keeping *k, struct span text);
void keep_modules(struct keeping *k, struct span text);
void keep_driver_version(struct keeping *k, struct span text);
void keep_mounts(struct keeping *k, struct span text);
void keep_cgroup(struct keeping *k, struct span text);
void keep_command_name(struct keeping *k, struct span text);
void keep_hostname(struct keeping *k, struct span text);
void keep_hosts(struct keeping *k, struct span text);
void keep_nsswitch(struct keeping *k, struct span text);
void keep_module_names(struct keeping *k, struct span text);
void keep_unit(struct keeping *k, struct span text);
void keep_unit_name(struct keeping *k, struct span name);
void keep_limits(struct keeping *k, struct span text);
void keep_who(struct keeping *k, struct span who);
void keep_path_lines(struct keeping *k, struct span text);
void keep_bls(struct keeping *k, struct span text);
void keep_loader(struct keeping *k, struct span text);
void keep_efi_variable(struct keeping *k, struct span text);
void keep_settings(struct keeping *k, struct span text);
void keep_version(struct keeping *k, struct span text);
void keep_inet6(struct keeping *k, struct span text);

/* keep-log.c */
void keep_log(struct keeping *k, struct span line);
/* A line that a service wrote last. */
void keep_service_line(struct keeping *k, struct span line);

/* keep-build.c: of the log of a build */
void keep_build_line(struct keeping *k, struct span line);

/* keep-values.c: values of facts. */
void keep_mount_source(struct keeping *k, struct span source);
void keep_mount_options(struct keeping *k, struct span options);
void keep_variable(struct keeping *k, struct span name, struct span value);

/* keep-facts.c. A copy of ANSWER, as DESC describes it, of which that is kept. */
struct json_object *keep_facts(struct keeping *k, const struct desc *desc,
			       struct json_object *answer);

/* ---- between them ---- */

static inline void keep_as_it_is(struct keeping *k, struct span text)
{
	redact_put(k->redact, k->out, text, REDACT_NO_NAMES);
}

static inline void keep_free_text(struct keeping *k, struct span text)
{
	redact_put(k->redact, k->out, text, REDACT_NAMES);
}

static inline void keep_instead(struct keeping *k, struct span text)
{
	redact_put_instead(k->redact, k->out, text);
}

/* Returns the text that PUT writes for TEXT; the caller frees it. NULL without memory. */
char *keep_string(struct keeping *k, void (*put)(struct keeping *k, struct span text),
		  struct span text);
/* Leaves TEXT out, but for its newlines. */
void keep_nothing(struct keeping *k, struct span text);
/* Is WORD in the list, which ends with NULL and may have shell patterns? */
bool keep_has(const char *const *list, struct span word);
/* A number, a word such as yes or auto, or a list of them. */
bool keep_is_plain(struct span value);

#endif
