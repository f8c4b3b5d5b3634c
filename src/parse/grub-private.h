/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grub-private.h - between the files of the GRUB parser. */
#ifndef PARSE_GRUB_PRIVATE_H
#define PARSE_GRUB_PRIVATE_H

#include "parse/grub.h"

#define GRUB_WORDS_MAX 256
#define GRUB_COMMAND_MAX (16u << 10) /* bytes of a command's words */

struct grub_script {
	struct grub_env *env;
	struct span text;
	size_t at;
	uint64_t line;
	/* The command that was read last: its words, each with a NUL, are there until the next one.
	 */
	uint64_t begin_line;
	struct span words[GRUB_WORDS_MAX];
	size_t count;
	char command[GRUB_COMMAND_MAX];
	size_t used;
	bool unknown; /* a word named a variable that only GRUB itself sets */
	/* The word that is being read. */
	char word[GRUB_VALUE_MAX];
	size_t n;
	bool any;
};

enum grub_token {
	GRUB_COMMAND,
	GRUB_OPEN, /* a command that ends in "{" */
	GRUB_CLOSE,
	GRUB_END,
};

enum grub_token grub_next_command(struct grub_script *s);
/* Quoting can double every byte. */
#define GRUB_LINE_MAX (2 * GRUB_COMMAND_MAX + 3 * GRUB_WORDS_MAX)
void grub_join_words(char line[GRUB_LINE_MAX], const struct span *words, size_t count);

#endif
