/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references-registers.c - what udev rules, services and scripts write to PCI functions: registers by setpci, and files
 * of sysfs by udev's ATTR. Of a command only its words are kept, and only if they have no other characters than setpci's.
 */
#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "parse/udev.h"
#include "probes/references.h"

#define TEXT_MAX 64  /* of what selects functions, and of what is written */
#define WORDS_MAX 64 /* of one command; a line can have the word thousands of times */

/* setpci(8): CAP_EXP+30.w=20:20, -d 10de:, -s 0000:19:00.0 */
static bool is_plain(struct span word)
{
	for (size_t i = 0; i < word.n; i++)
		if (!isalnum((unsigned char)word.p[i]) && !strchr("_+.:=*,-%$", word.p[i]))
			return false;
	return word.n > 0;
}

static void add_word(char *text, struct span word)
{
	size_t n = strlen(text);

	if (n + word.n + 2 > TEXT_MAX)
		return;
	if (n)
		text[n++] = ' ';
	memcpy(text + n, word.p, word.n);
	text[n + word.n] = '\0';
}

/* The next word of a command, without quotes. False at the end of the command. */
static bool next_word(struct span *rest, struct span *word)
{
	size_t n = 0;

	while (rest->n && strchr(" \t\"'", rest->p[0]) && rest->p[0])
		*rest = (struct span){ rest->p + 1, rest->n - 1 };
	while (n < rest->n && rest->p[n] && !strchr(" \t\r\n;&|<>()\"'`\\", rest->p[n]))
		n++;
	*word = (struct span){ rest->p, n };
	*rest = (struct span){ rest->p + n, rest->n - n };
	return n > 0;
}

static void take_setpci(struct references *refs, struct span rest, size_t line)
{
	char selected[TEXT_MAX] = "", written[TEXT_MAX] = "";
	struct reference *r;
	struct span word;

	for (int i = 0; i < WORDS_MAX && next_word(&rest, &word); i++) {
		bool is_option = word.p[0] == '-';

		if (!is_plain(word))
			return;
		if (!is_option && memchr(word.p, '=', word.n))
			add_word(written, word);
		else
			add_word(selected, word);
	}
	/* It only reads. */
	if (!written[0])
		return;
	r = reference_add(refs, REFERENCE_REGISTER, REGISTERS_SETPCI, span_of(written),
			  selected[0] ? arena_strdup(refs->arena, selected) : NULL, line);
	if (r)
		r->found = r->name;
}

static bool is_comment(struct span line)
{
	line = span_trim(line);
	return line.n && (line.p[0] == '#' || line.p[0] == ';');
}

static void read_commands(struct references *refs, struct span text)
{
	struct span line;

	for (size_t number = 1; span_cut(&text, '\n', &line); number++) {
		const char *at;

		if (is_comment(line))
			continue;
		while ((at = span_search(line, "setpci"))) {
			size_t n = (size_t)(at - line.p) + strlen("setpci");

			line = (struct span){ line.p + n, line.n - n };
			if (line.n && (line.p[0] == ' ' || line.p[0] == '\t'))
				take_setpci(refs, line, number);
		}
	}
}

/* ---- udev ---- */

/* NVIDIA and Mellanox. */
static bool is_our_vendor(struct span value)
{
	return span_is(value, "0x10de") || span_is(value, "0x15b3");
}

static void read_rule(struct references *refs, struct span rule, size_t line)
{
	struct span rest = rule, vendor = { 0 };
	struct udev_token t;

	while (udev_token_next(&rest, &t))
		if (udev_is_match(&t) && (span_is(t.key, "ATTR") || span_is(t.key, "ATTRS")) &&
		    span_is(t.attribute, "vendor") && is_our_vendor(t.value))
			vendor = t.value;
	for (rest = rule; vendor.n && udev_token_next(&rest, &t);) {
		struct reference *r;

		if (!span_is(t.key, "ATTR") || !span_is(t.op, "=") || !is_plain(t.attribute) ||
		    !is_plain(t.value) || t.attribute.n > TEXT_MAX || t.value.n > TEXT_MAX)
			continue;
		r = reference_add(refs, REFERENCE_REGISTER, REGISTERS_UDEV,
				  span_of(arena_printf(refs->arena, "%.*s=%.*s",
						       SPAN_FMT(t.attribute), SPAN_FMT(t.value))),
				  arena_strndup(refs->arena, vendor.p, vendor.n), line);
		if (r)
			r->found = r->name;
	}
}

void reference_read_registers(struct references *refs, struct span text)
{
	struct udev_reader reader = { .rest = text };
	struct span rule;

	read_commands(refs, text);
	if (!span_ends(span_of(refs->file), ".rules"))
		return;
	while (udev_rule_next(&reader, &rule))
		read_rule(refs, rule, reader.line);
}
