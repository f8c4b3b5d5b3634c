/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shell.c - commands that people paste into a root shell. */
#include "base/shell.h"

#include <string.h>

/* "/dev/nvidia9/../../etc/fstab" looks like a device. */
static bool leads_up(const char *text)
{
	for (const char *dots = strstr(text, ".."); dots; dots = strstr(dots + 1, "..")) {
		bool begins = dots == text || dots[-1] == '/' || dots[-1] == '=';

		if (begins && (dots[2] == '\0' || dots[2] == '/'))
			return true;
	}
	return false;
}

bool shell_is_plain(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_+=:,./@-";

	return *text && *text != '-' && strspn(text, plain) == strlen(text) && !leads_up(text);
}

/* The words are looked at one by one, so that each conversion must be %s. */
static bool all_plain(const char *format, va_list ap)
{
	for (const char *p = strchr(format, '%'); p; p = strchr(p + 2, '%')) {
		const char *word;

		if (p[1] == '%')
			continue;
		if (p[1] != 's')
			return false;
		word = va_arg(ap, const char *);
		if (!word || !shell_is_plain(word))
			return false;
	}
	return true;
}

const char *shell_printf(struct arena *arena, const char *format, ...)
{
	const char *command = NULL;
	va_list ap, words;
	bool plain;

	va_start(ap, format);
	va_copy(words, ap);
	plain = all_plain(format, words);
	va_end(words);
	if (plain)
		command = arena_vprintf(arena, format, ap);
	va_end(ap);
	return command;
}

const char *shell_join(struct arena *arena, const char *first, const char *then)
{
	return first && then ? arena_printf(arena, "%s\n%s", first, then) : first;
}

const char *shell_name(const char *text, const char *placeholder)
{
	return text && shell_is_plain(text) ? text : placeholder;
}

bool shell_can_quote(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text >= 0x7f || strchr("'\"`$\\", *text))
			return false;
	return true;
}

const char *shell_quote(struct arena *arena, const char *text)
{
	char *quoted, *p;

	if (shell_is_plain(text))
		return text;
	p = quoted = arena_alloc(arena, 4 * strlen(text) + 3);
	*p++ = '\'';
	for (; *text; text++)
		if (*text == '\'')
			p = stpcpy(p, "'\\''");
		else
			*p++ = *text;
	*p++ = '\'';
	return quoted;
}
