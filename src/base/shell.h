/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shell.h - commands that people paste into a root shell. A word from a node, a file or a caller may contain anything.
 * It becomes part of a command only here.
 */
#ifndef BASE_SHELL_H
#define BASE_SHELL_H

#include <stdbool.h>

#include "base/arena.h"

/* Returns true if every shell, GRUB, modprobe.d and printf(1) read TEXT unchanged at any place. It has only letters,
 * digits and _+=:,./@-, no leading dash, which would make it an option, and no "..", which leads to another file. */
bool shell_is_plain(const char *text);

/* Returns a command. FORMAT is ours, and each %s, the only conversion, is a word from outside. NULL if a word is NULL
 * or not plain: no command is better than a wrong one. */
const char *shell_printf(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Two commands, one after the other. NULL without FIRST; THEN may be NULL. */
const char *shell_join(struct arena *arena, const char *first, const char *then);

/* Returns a command for use within a sentence: TEXT, or PLACEHOLDER where TEXT is NULL or contains anything that
 * a shell would interpret. */
const char *shell_name(const char *text, const char *placeholder);

/* Returns true if TEXT can stand between single quotes of a shell, and there between double quotes of a file that a
 * shell or modprobe reads. */
bool shell_can_quote(const char *text);

/* Returns TEXT as one word of a shell, in single quotes where needed. It is for arguments of this program, which
 * takes the word after an option as its value. */
const char *shell_quote(struct arena *arena, const char *text);

#endif
