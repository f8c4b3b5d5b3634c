/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modprobe.h - the options that modprobe.d and the kernel command line give the next load of a module, as kmod reads
 * them. libkmod itself is not asked: it gives neither file nor line, does not report masked files, and always reads
 * the command line of the host that it runs on.
 *
 * No I/O here: the caller hands over named buffers, be they from a host or from inside an
 * initramfs. Sources: kmod libkmod-config.c (files, commands, command line), shared/util.c (lines,
 * names), libkmod-module.c kmod_module_get_options() (the joined string).
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

/* Highest first; NULL ends the list. kmod before 32 has no entry for /usr/lib, which on the systems
 * that use it is the same folder as /lib. */
extern const char *const modprobe_folders[];

/* *.conf, six characters or more, not hidden. (kmod before 33 also read *.alias.) */
bool modprobe_is_config(struct span name);
/* Kept beside the others on purpose, as nvidia.conf.bak is. */
bool modprobe_is_set_aside(struct span name);

enum modprobe_kind {
	MODPROBE_TEXT,
	MODPROBE_UNREAD,   /* it counts, but its text is not known */
	MODPROBE_DANGLING, /* a link to nothing: neither read nor masking */
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

/* Sorts INPUTS, which come folder by folder in the order above, as modprobe reads them. Sets
 * masked_by where a file of the same name in a higher folder counts instead.
 */
void modprobe_select(struct modprobe_input *inputs, size_t count);

/* Fills FACTS from the selected INPUTS and from CMDLINE (empty: none), whose file is /proc/cmdline.
 * When a file that counts is MODPROBE_UNREAD, or has more about our modules than is kept, the facts are not
 * complete. */
void modprobe_parse(struct modprobe_facts *facts, struct arena *arena,
		    const struct modprobe_input *inputs, size_t count, struct span cmdline);

#endif
