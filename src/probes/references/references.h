/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references.h - readers of files that name things of the node. A reader says what its file names.
 * references-find.c looks all names up in the same way, and query/reference.h decides what the result means.
 */
#ifndef REFERENCES_H
#define REFERENCES_H

#include "parse/unit.h"
#include "probes/probe.h"

#define REFERENCES_OF_FILE_MAX 512
#define REFERENCES_MAX 4096
#define REFERENCE_TEXT_MAX (2u << 20) /* a specification of a large node has 100 KiB */

/* The names of one file, while it is read. */
struct references {
	struct arena *arena;
	struct host *host; /* for files that the file names; NULL: it may name none */
	const struct node *node;
	struct references_facts *facts;
	const char *file;
	enum reference_format format;
	bool complete; /* the file was understood to its end */
	int error;     /* what kept it from being read at all */
};

/* Adds NAME at LINE (0: no line), once for each that differs. CLAIM: NULL for none. The answer may be filled
 * further until the next one. NULL where there are too many. */
struct reference *reference_add(struct references *refs, enum reference_kind kind, const char *role,
				struct span name, const char *claim, size_t line);

/* Removes the references of ROLE that the file has made so far. */
void reference_forget(struct references *refs, const char *role);

/* Reads TEXT. What it does not understand it leaves out, and says so in COMPLETE. */
typedef void reference_read(struct references *refs, struct span text);

/* A reader of one kind of file. */
struct reference_source {
	enum reference_format format;
	/* A file, or a folder where SUFFIX is set: its files that end so. Ends with NULL. */
	const char *const *paths;
	const char *suffix;
	reference_read *read;
	/* Below a folder whose first part systemd looks for in several places (conf-d.h); or NULL. */
	const char *first, *last;
};
extern const struct reference_source
	reference_sources[]; /* references-read.c; ends with NULL read */

/* references-cdi.c, references-containers.c, references-slurm.c, references-udev.c,
 * references-topology.c, references-lxc.c */
reference_read reference_read_cdi, reference_read_toolkit, reference_read_docker,
	reference_read_containerd, reference_read_hook, reference_read_gres, reference_read_slurm,
	reference_read_slurm_cgroup, reference_read_spank, reference_read_udev,
	reference_read_topology, reference_read_lxc, reference_read_registers;
/* Adds references that are in no file of their own: from facts that were read before, and from units. */
void references_from_facts(struct probe_context *ctx);
void references_from_units(struct probe_context *ctx);
void references_from_numbers(struct probe_context *ctx);
/* The plugin that AutoDetect=nvml needs (references-slurm.c). */
void references_from_slurm(struct probe_context *ctx);

/* Compares the file with the keys that its reader knows: adds what is wrong. Absent: there is no table for the file. */
struct fact_bool references_compare(struct references *refs, struct span text);

/* Compares one line of a unit of the site; FILE is its path. */
void references_compare_unit(struct references *refs, const struct unit_assignment *assignment);
/* Lists files that no program reads because of their names (references-skipped.c). */
void references_find_skipped(struct probe_context *ctx);

/* Looks up every item: fills in what is found. */
void references_find(struct probe_context *ctx);

#endif
