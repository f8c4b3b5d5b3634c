/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * settings.h - the configuration: nvnodecheck.conf and conf.d, then the command line. Every key is a row of
 * settings_keys[], those of [expect] of expect_keys[]; the example configuration and nvnodecheck.conf(5) have the
 * same rows because a test says so.
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "evaluate/expect.h"
#include "evaluate/rule.h"

#define SETTINGS_FILE "/etc/nvnodecheck.conf"
#define SETTINGS_FOLDER "/etc/nvnodecheck.conf.d"

/* [rule ID]: a rule switched off or graded otherwise, with the reason that stays visible. */
struct rule_setting {
	const char *id; /* shell pattern */
	bool off;
	bool graded;
	enum severity severity;
	const char *reason;
	const char *file;
};

/* [expect] KEY = VALUE */
struct expectation {
	const char *key;
	const char *value;
	const char *file;
	const struct expect_key *row;
	const char *argument; /* of a key such as sysctl.NAME; else NULL */
};

struct settings {
	unsigned int profiles;	   /* 0: the node's hardware picks */
	const char *profiles_from; /* the file that says so; NULL: the command line */
	enum severity fail_on;
	bool strict;
	bool nvml; /* NVIDIA's driver is asked */
	/* report_make() keeps only findings that stop a job. */
	bool preflight;
	/* report_make() leaves out findings that pass or do not apply. */
	bool only_wrong;
	const char **only; /* shell patterns, NULL-terminated; NULL: all */
	const char **skip;
	uint64_t link_errors_max; /* [limits] link-errors-max */
	LIST(struct rule_setting) rules;
	LIST(struct expectation) expect;
};

struct settings_key {
	const char *section;
	const char *key;
	const char *value;    /* the permitted values, for people */
	const char *standard; /* the value that counts without the line; NULL: none */
	const char *help;
};
extern const struct settings_key settings_keys[]; /* ends with a NULL section */

void settings_init(struct settings *settings);

/* Copies FROM, which another process wrote in the window, into SETTINGS and ARENA. Invalid parts are left out. */
void settings_copy(struct settings *settings, struct arena *arena, const struct settings *from,
		   const struct window *window);

/* Parses the TEXT of one file. Returns 0, or -EINVAL with "file:line: ..." in ERROR, -ENOMEM, or -ELIBACC without the
 * library that parses. */
int settings_parse(struct settings *settings, const char *file, const char *text, size_t n,
		   struct arena *arena, char error[512]);

/* Returns the last [rule] section that matches ID, or NULL. */
const struct rule_setting *settings_rule(const struct settings *settings, const char *id);
const struct expectation *settings_expect(const struct settings *settings, const char *key);

#endif
