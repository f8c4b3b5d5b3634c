/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep-private.h - rules for each kind of text; for the files of keep.h only. A keep_ function writes its text without
 * private parts. */
#ifndef KEEP_PRIVATE_H
#define KEEP_PRIVATE_H

#include "redact/keep.h"

struct keep_words {
	struct span rest;
	const char *blanks; /* separators of words outside of quotes */
	const char *quotes;
	bool backslash;	 /* quotes the next byte; before a newline it is a blank */
	struct span gap; /* the text before the word */
	struct span raw; /* the word, quotes and all */
};

/* ---- keep-words.c: texts of words ---- */

/* Cuts the next word; false at the end, where gap is the rest. */
bool keep_next_word(struct keep_words *w);
/* The word without its quotes; TO has room for raw.n + 1 bytes. */
struct span keep_unquoted(const struct keep_words *w, char *to);
bool keep_is_uuid(struct span s);
void keep_argument(struct keeping *k, struct span word, struct span raw);
void keep_argument_lines(struct keeping *k, struct span text);
void keep_arguments(struct keeping *k, struct span text); /* of the kernel */
void keep_modprobe(struct keeping *k, struct span text);
void keep_command(struct keeping *k, struct span text); /* that modprobe starts */
void keep_options(struct keeping *k, struct span text); /* of a module */
void keep_assigned(struct keeping *k, struct span name, struct span value);
void keep_live_value(struct keeping *k, struct span name, struct span text);
bool keep_is_parameter(struct span name);
/* A word of an option of the kernel: only letters, or a number. */
bool keep_is_option_word(struct span word);
/* A number, a word such as yes or auto, or a list of them. */
bool keep_is_plain(struct span value);

/* ---- keep-lines.c: texts of lines ---- */

void keep_fields(struct keeping *k, struct span text, const char *const *names);
/* Cuts the next LINE off REST, and ends the one before: lines keep their numbers. */
bool keep_next_line(struct keeping *k, struct span *rest, struct span *line);
#define keep_each_line(k, text, line) \
	for (struct span line = { 0 }; keep_next_line((k), &(text), &line);)
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
void keep_path_lines(struct keeping *k, struct span text);
void keep_bls(struct keeping *k, struct span text);
void keep_loader(struct keeping *k, struct span text);
void keep_efi_variable(struct keeping *k, struct span text);
void keep_settings(struct keeping *k, struct span text);
void keep_inet6(struct keeping *k, struct span text);
/* Leaves TEXT out, except its newlines. */
void keep_nothing(struct keeping *k, struct span text);

/* ---- keep-boot.c: boot loaders and shell files ---- */

/* Placeholders for variables in the text of a word. */
#define KEEP_MARKS 3
#define KEEP_IS_MARK(c) ((c) > 0 && (c) <= KEEP_MARKS)
/* $NAME or ${NAME}, or only placeholders */
bool keep_is_variable(struct span word);
void keep_value(struct keeping *k, struct span variable, struct span value);
void keep_boot_word(struct keeping *k, struct span word);
void keep_boot_words(struct keeping *k, struct span value);
void keep_identifier(struct keeping *k, struct span name);
/* Keeps the name of a menu's entry. */
void keep_entry_name(struct keeping *k, struct span name);
/* 12, 5.14.0-427.el9_4.x86_64 */
bool keep_is_version(struct span s);
void keep_shell(struct keeping *k, struct span text); /* /etc/default/grub and its like */
void keep_grubenv(struct keeping *k, struct span text);

/* ---- keep-grub.c: GRUB's menu ---- */

void keep_grub(struct keeping *k, struct span text);

/* ---- keep-path.c: paths ---- */

/* "(hd0,gpt2)/vmlinuz-6.1.0" */
void keep_boot_path(struct keeping *k, struct span path);
/* A value that is a path, in the forms that people write. */
void keep_path_value(struct keeping *k, struct span value);
/* Paths with colons between them. */
void keep_paths(struct keeping *k, struct span paths);
/* Returns true if WORD is in the list, which ends with NULL and may have shell patterns. */
bool keep_has(const char *const *list, struct span word);

/* ---- keep-secret.c: what can be a secret ---- */

/* Returns true if the value of NAME is a secret, even a number. */
bool keep_names_secret(struct span name);
/* A number, or a word, that is too short for a secret: it can stay even if its meaning is not known. */
bool keep_is_short_number(struct span word);

/* ---- keep-users.c: users and their sessions ---- */

/* Writes a part of a cgroup's path that systemd-logind named. False: the part is another, and nothing was written. */
bool keep_login_unit(struct keeping *k, struct span part);
void keep_login(struct keeping *k, struct span text);
void keep_status(struct keeping *k, struct span text);
void keep_user_map(struct keeping *k, struct span text);

/* ---- keep-version.c: of files that only tell a version, the version ---- */

void keep_ofed_version(struct keeping *k, struct span text);
void keep_cuda_version(struct keeping *k, struct span text);
void keep_nvshmem_version(struct keeping *k, struct span text);
void keep_version(struct keeping *k, struct span text);

/* ---- keep-log.c: the kernel log, and logs of services ---- */

void keep_log(struct keeping *k, struct span line);
/* One of the last lines of a service. */
void keep_service_line(struct keeping *k, struct span line);

/* ---- keep-program.c: names of programs ---- */

/* If REST, a part of MESSAGE, begins with words of the kernel and the name of a program, writes the
 * words and a stand-in. Returns the bytes that were read. */
size_t keep_program(struct keeping *k, struct span message, struct span rest);
/* The name of a program: only those of the node's own programs stay. */
void keep_program_name(struct keeping *k, struct span name);

/* ---- keep-audit.c: records of SELinux and AppArmor ---- */

bool keep_is_refusal(struct span message);
void keep_refusal(struct keeping *k, struct span message);
void keep_kernel_words(struct keeping *k, struct span words);
void keep_type(struct keeping *k, struct span type);
void keep_refused_file(struct keeping *k, struct span path);

/* ---- keep-build.c: the log of a build ---- */

void keep_build_line(struct keeping *k, struct span line);

/* ---- keep-values.c: values of facts ---- */

void keep_mount_source(struct keeping *k, struct span source);
void keep_mount_options(struct keeping *k, struct span options);
void keep_variable(struct keeping *k, struct span name, struct span value);

/* ---- keep.c: for all of them ---- */

void keep_os_release(struct keeping *k, struct span text);
/* Returns the text that PUT writes for TEXT; the caller frees it. NULL without memory. */
char *keep_string(struct keeping *k, void (*put)(struct keeping *k, struct span text),
		  struct span text);

static inline void keep_free_text(struct keeping *k, struct span text)
{
	redact_put(k->redact, k->out, text, REDACT_NAMES);
}

static inline void keep_instead(struct keeping *k, struct span text)
{
	redact_put_instead(k->redact, k->out, text);
}

#endif
