/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references-registers.c - what udev rules, services and scripts write to PCI functions: registers by setpci, and files
 * of sysfs by udev's ATTR. Of a command only what setpci reads as functions and as writes of registers is kept
 * (parse/setpci.h).
 */
#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "parse/setpci.h"
#include "parse/udev.h"
#include "probes/references/references.h"

#define TEXT_MAX 64  /* of what selects functions, and of what is written */
#define WORDS_MAX 64 /* of one command; a line can have the word thousands of times */

static bool is_of(struct span word, bool (*is_one)(unsigned char))
{
	for (size_t i = 0; i < word.n; i++)
		if (!is_one((unsigned char)word.p[i]))
			return false;
	return word.n > 0;
}

static bool is_plain_character(unsigned char c)
{
	return isalnum(c) || (c && strchr("_+.:=*,-%$@", c));
}

static bool is_plain(struct span word)
{
	return is_of(word, is_plain_character);
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

/* What a command selects, and what it writes. */
struct command {
	char selected[TEXT_MAX], written[TEXT_MAX];
};

/* Of what setpci does not read itself, nothing stays: a message or a variable of the line can be a secret. */
static void take_word(struct command *c, struct span word, struct span *rest)
{
	struct span argument;

	switch (setpci_word(word)) {
	case SETPCI_FLAGS:
	case SETPCI_VARIABLE:
		add_word(c->selected, word);
		break;
	case SETPCI_FILTER:
		if (!next_word(rest, &argument) || !setpci_is_selection(argument))
			break;
		add_word(c->selected, word);
		add_word(c->selected, argument);
		break;
	case SETPCI_METHOD:
		next_word(rest, &argument);
		break;
	case SETPCI_WRITE:
		add_word(c->written, word);
		break;
	case SETPCI_OTHER:
		break;
	}
}

static void take_setpci(struct references *refs, struct span rest, size_t line)
{
	struct command c = { 0 };
	struct reference *r;
	struct span word;

	for (int i = 0; i < WORDS_MAX && next_word(&rest, &word); i++) {
		if (word.p[0] == '#')
			break;
		if (!is_plain(word))
			return;
		take_word(&c, word, &rest);
	}
	/* It only reads. */
	if (!c.written[0])
		return;
	r = reference_add(refs, REFERENCE_REGISTER, REGISTERS_SETPCI, span_of(c.written),
			  c.selected[0] ? arena_strdup(refs->arena, c.selected) : NULL, line);
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
