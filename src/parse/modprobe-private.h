/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modprobe-private.h - shared by the files of the modprobe.d parser. */
#ifndef PARSE_MODPROBE_PRIVATE_H
#define PARSE_MODPROBE_PRIVATE_H

#include "parse/modprobe.h"

/* Options with their bytes as in the file: the facts hold valid UTF-8, the kernel does not check. */
struct raw_option {
	struct fact_str module;
	struct fact_str file;
	struct span text;
	uint64_t line; /* of the command; 0: on no line */
	/* The place in the file of a text that was joined from several lines, with its backslashes, and the line of its
	 * first byte. The span is empty if it is one line. */
	struct span folded;
	uint64_t folded_line;
};

struct modprobe_parser {
	struct modprobe_facts *facts;
	struct arena *arena;
	struct fact_str file; /* the one being read */
	bool ours;	      /* lines that name none of our modules are left out */
	size_t room;	      /* for lines that are not */
	LIST(struct raw_option) options;
};

/* ---- lines: kmod shared/util.c freadline_wrapped() ---- */

struct modprobe_reader {
	struct span rest;
	struct arena *arena;
	uint64_t number; /* of the last physical line that was read */
};

/* A backslash before a newline joins two lines, also of comments. Before any other character it is removed. */
struct modprobe_line {
	struct span text;
	struct span folded;   /* as in the file, if the two differ */
	uint64_t first, last; /* physical lines, from 1 */
};

bool modprobe_next_line(struct modprobe_reader *reader, struct modprobe_line *line);
/* Returns the next token, as strtok_r(NULL, "\t ") does; .p is NULL at the end of the line. */
struct span modprobe_cut_token(struct span *rest);

/* modprobe-masked.c: finds the lines of a masked file that the file in effect lacks. */
void modprobe_find_masked(struct modprobe_file *file, struct arena *arena, struct span masked,
			  struct span counts);

/* modprobe-lines.c: reads one file. False: it has more than fits. */
bool modprobe_read_file(struct modprobe_parser *parser, struct span text);
/* modprobe-cmdline.c: module.parameter=value and the three words that block modules. */
void modprobe_read_cmdline(struct modprobe_parser *parser, struct span cmdline);

/* "-" as "_", but not inside brackets, where it is a range: a copy in the arena, or one without p
 * when a bracket has no partner. kmod shared/util.c underscores(). */
struct span modprobe_name(struct arena *arena, struct span name);
void modprobe_add_option(struct modprobe_parser *parser, const struct raw_option *option);
/* Adds a command to LIST. TEXT without p: absent. */
struct modprobe_command *modprobe_add_command(struct modprobe_parser *parser, void *list,
					      struct span module, struct span text, uint64_t line);

#endif
