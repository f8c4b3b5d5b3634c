/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modprobe.h - the options that modprobe.d and the kernel command line give the next load of a module, as kmod reads
 * them. libkmod itself is not used: it gives neither file nor line, does not report masked files, and always reads the
 * command line of its own host.
 *
 * No I/O here: the caller passes named buffers, from a host or from an initramfs. Sources: kmod libkmod-config.c
 * (files, commands, command line), shared/util.c (lines, names), libkmod-module.c kmod_module_get_options() (the joined
 * string).
 */
#ifndef PARSE_MODPROBE_H
#define PARSE_MODPROBE_H

#include "base/span.h"
#include "facts/facts.h"

/* The limit for all files together, some ten times what distributions ship. Beyond it, lines that name none of our
 * modules (modname.h) are left out, and at most as much is kept of the lines that do. */
#define MODPROBE_BYTES_MAX (96u << 10)
/* Most bytes that are read, of all files together. */
#define MODPROBE_READ_MAX (4u << 20)

/* Highest first; NULL ends the list. kmod before 32 does not list /usr/lib, which is the same folder as /lib on the
 * systems that use it. */
extern const char *const modprobe_folders[];

/* *.conf, six characters or more, not hidden. (kmod before 33 also read *.alias.) */
bool modprobe_is_config(struct span name);
/* Returns true for a copy that is kept beside the others, such as nvidia.conf.bak. */
bool modprobe_is_set_aside(struct span name);

enum modprobe_kind {
	MODPROBE_TEXT,
	MODPROBE_UNREAD,   /* it counts, but its text is not known */
	MODPROBE_DANGLING, /* a dangling link: neither read nor masking */
	MODPROBE_FOLDER,
	MODPROBE_MISNAMED, /* another name than modprobe_is_config() wants */
};

struct modprobe_input {
	const char *path;
	enum modprobe_kind kind;
	struct span text;
	struct fact_u64 mtime_s;
	const struct modprobe_input *masked_by;
	size_t rank;
};

/* Sorts INPUTS, which are in the above order of folders, as modprobe reads them. Sets masked_by if a file of the same
 * name in a higher folder counts instead. */
void modprobe_select(struct modprobe_input *inputs, size_t count);

/* Fills FACTS from the selected INPUTS and from CMDLINE (empty: none), whose file is /proc/cmdline. If a file that
 * counts is MODPROBE_UNREAD, or has more about our modules than is kept, the facts are not complete. */
void modprobe_parse(struct modprobe_facts *facts, struct arena *arena,
		    const struct modprobe_input *inputs, size_t count, struct span cmdline);

#endif
