/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references-registers.c - what udev rules, services and scripts write to PCI functions: registers by setpci, and files
 * of sysfs by udev's ATTR. Of a command only what setpci reads as functions and as writes of registers is kept.
 */
#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "parse/udev.h"
#include "probes/references.h"

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
	return isalnum(c) || (c && strchr("_+.:=*,-%$", c));
}

static bool is_plain(struct span word)
{
	return is_of(word, is_plain_character);
}

/* "$VALUE" of a shell, "%k" of udev. */
static bool is_variable(struct span word)
{
	return word.n && (word.p[0] == '$' || word.p[0] == '%');
}

static bool is_selector_character(unsigned char c)
{
	return isxdigit(c) || (c && strchr(":.*,", c));
}

/* 10de:2330, 0000:19:00.0 */
static bool is_selector(struct span word)
{
	return word.p[0] == '-' || is_variable(word) || is_of(word, is_selector_character);
}

static bool is_register_character(unsigned char c)
{
	return isupper(c) || isxdigit(c) || (c && strchr("_+.@x", c));
}

static bool is_number_character(unsigned char c)
{
	return isxdigit(c) || c == 'x';
}

/* "20:20,0x0". A number has up to eight digits. */
static bool is_register_value(struct span value)
{
	struct span word, number;

	if (is_variable(value))
		return true;
	while (span_cut(&value, ',', &word))
		while (span_cut(&word, ':', &number))
			if (number.n > strlen("0x00000000") || !is_of(number, is_number_character))
				return false;
	return true;
}

/* setpci(8): CAP_EXP+30.w=20:20. Other words with a "=" are what a message or a variable says, perhaps a secret. */
static bool is_write(struct span word)
{
	const char *equals = memchr(word.p, '=', word.n);
	struct span name, value;

	if (!equals || word.p[0] == '-')
		return false;
	name = (struct span){ word.p, (size_t)(equals - word.p) };
	value = (struct span){ equals + 1, word.n - name.n - 1 };
	if (name.n > 2 && name.p[name.n - 2] == '.' && strchr("bwl", name.p[name.n - 1]))
		name.n -= 2;
	return (is_variable(name) || is_of(name, is_register_character)) &&
	       is_register_value(value);
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
		if (word.p[0] == '#')
			break;
		if (!is_plain(word))
			return;
		if (is_write(word))
			add_word(written, word);
		else if (is_selector(word))
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
