/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf-keys.h - the table data/conf-keys.tsv: the keys that a program accepts in its configuration file. */
#ifndef PARSE_CONF_KEYS_H
#define PARSE_CONF_KEYS_H

#include <stdbool.h>

#include "base/span.h"
#include "facts/facts-references.h"
#include "parse/unit.h"

/* A key of the table. */
struct conf_key {
	const char *section; /* "-": none. A part "*" matches any name */
	const char *name;    /* "*": the section takes any key */
	const char *type;
	const char *since; /* the first release that accepts it; NULL: all known ones do */
	const char *gone;  /* the first release that no longer accepts it; NULL: all do */
};

/* A fault of a line: as struct conf_fault, with spans of the text. */
struct conf_wrong {
	enum conf_fault_kind kind;
	struct span section, key, value;
	const char *wanted; /* valid during the call; NULL: the kind is enough */
	const char *since, *gone;
	size_t line;
};

/* Gets the faults, in the order of the lines. */
typedef void conf_report(void *user, const struct conf_wrong *wrong);

/* Finds the key in SECTION. NULL: it does not belong there. */
const struct conf_key *conf_key_find(enum conf_format format, struct span section, struct span key,
				     struct conf_key *buffer);
/* Finds the first section that has KEY. NULL: none has. */
const struct conf_key *conf_key_elsewhere(enum conf_format format, struct span key,
					  struct conf_key *buffer);
/* Returns the section as the table has it. NULL: the table has no keys of it. */
const char *conf_section(enum conf_format format, struct span section);
/* Returns the values of TYPE, for people: "a number from 0 to 65535". */
const char *conf_type_text(const char *type);

#define CONF_OPTIONS_MAX 32

/* Settings of a daemon's command line, by their keys in its file. */
struct conf_options {
	const char *keys[CONF_OPTIONS_MAX];
	size_t count;
};

/* Adds the options of dockerd in COMMAND: "-H fd:// --label=a". False: there are more, or it has variables. */
bool conf_docker_options(struct span command, struct conf_options *options);

/* Compare TEXT with the table. False: a part of it was not compared. */
bool conf_check_slurm(enum conf_format format, struct span text, conf_report *report, void *user);
bool conf_check_docker(struct span text, const struct conf_options *options, conf_report *report,
		       void *user);
bool conf_check_limits(struct span text, conf_report *report, void *user);
void conf_check_unit(const struct unit_assignment *assignment, conf_report *report, void *user);
bool conf_check_toml(enum conf_format format, struct span text, conf_report *report, void *user);

#endif
