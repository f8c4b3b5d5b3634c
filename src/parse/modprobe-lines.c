/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modprobe-lines.c - the lines of one modprobe.d file, and the commands in them. */
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "parse/modname.h"
#include "parse/modprobe-private.h"

/* ---- lines ---- */

/* Returns the number of bytes of the logical line, without its newline. */
static size_t folded_length(struct span rest, uint64_t *newlines)
{
	size_t n = 0;

	for (; n < rest.n && rest.p[n] != '\n'; n++) {
		if (rest.p[n] != '\\' || n + 1 == rest.n)
			continue;
		n++;
		if (rest.p[n] == '\n')
			(*newlines)++;
	}
	return n;
}

static size_t unfold(char *out, struct span folded)
{
	size_t n = 0;

	for (size_t i = 0; i < folded.n; i++) {
		if (folded.p[i] == '\\') {
			i++;
			if (i == folded.n || folded.p[i] == '\n')
				continue;
		}
		out[n++] = folded.p[i];
	}
	return n;
}

bool modprobe_next_line(struct modprobe_reader *r, struct modprobe_line *line)
{
	size_t n = span_find(r->rest, '\n');
	uint64_t newlines = 0;
	char *copy;

	if (!r->rest.n)
		return false;
	line->first = ++r->number;
	line->text = (struct span){ r->rest.p, n };
	line->folded = (struct span){ 0 };
	if (span_find(line->text, '\\') < n) {
		n = folded_length(r->rest, &newlines);
		line->folded = (struct span){ r->rest.p, n };
		copy = arena_alloc(r->arena, n + 1);
		line->text = (struct span){ copy, unfold(copy, line->folded) };
		r->number += newlines;
	}
	line->last = r->number;
	if (n < r->rest.n)
		n++;
	r->rest.p += n;
	r->rest.n -= n;
	/* The rest is done with C strings. */
	line->text.n = span_find(line->text, '\0');
	return true;
}

/* ---- names and lists ---- */

struct span modprobe_name(struct arena *arena, struct span name)
{
	char *copy = arena_strndup(arena, name.p, name.n);

	for (size_t i = 0; i < name.n; i++) {
		if (copy[i] == '-') {
			copy[i] = '_';
		} else if (copy[i] == ']') {
			return (struct span){ 0 };
		} else if (copy[i] == '[') {
			const char *close = memchr(copy + i, ']', name.n - i);

			if (!close)
				return (struct span){ 0 };
			i = (size_t)(close - copy);
		}
	}
	return (struct span){ copy, name.n };
}

static struct fact_str known_or_absent(struct arena *arena, struct span s)
{
	return s.p ? fact_strn(arena, s.p, s.n) : FACT_NONE(fact_str);
}

static struct fact_u64 line_or_absent(uint64_t line)
{
	return line ? fact_u64(line) : FACT_NONE(fact_u64);
}

struct modprobe_command *modprobe_add_command(struct modprobe_parser *parser, void *list,
					      struct span module, struct span text, uint64_t line)
{
	typeof(&parser->facts->install) commands = list;
	struct modprobe_command *command = LIST_ADD(parser->arena, commands);

	command->module = fact_strn(parser->arena, module.p, module.n);
	command->text = known_or_absent(parser->arena, text);
	command->file = parser->file;
	command->line = line_or_absent(line);
	return command;
}

static struct span without_tabs(struct arena *arena, struct span text)
{
	char *copy;

	if (span_find(text, '\t') == text.n)
		return text;
	copy = arena_strndup(arena, text.p, text.n);
	for (size_t i = 0; i < text.n; i++)
		if (copy[i] == '\t')
			copy[i] = ' ';
	return (struct span){ copy, text.n };
}

void modprobe_add_option(struct modprobe_parser *parser, const struct raw_option *option)
{
	struct modprobe_options *fact = LIST_ADD(parser->arena, &parser->facts->options);
	struct raw_option *raw = LIST_ADD(parser->arena, &parser->options);

	*raw = *option;
	raw->text = without_tabs(parser->arena, option->text);
	fact->module = option->module;
	fact->text = fact_strn(parser->arena, raw->text.p, raw->text.n);
	fact->file = option->file;
	fact->line = line_or_absent(option->line);
}

/* ---- commands: libkmod-config.c kmod_config_parse() ---- */

struct span modprobe_cut_token(struct span *rest)
{
	struct span token;
	size_t n = 0;

	while (rest->n && (*rest->p == ' ' || *rest->p == '\t')) {
		rest->p++;
		rest->n--;
	}
	while (n < rest->n && rest->p[n] != ' ' && rest->p[n] != '\t')
		n++;
	token = (struct span){ n ? rest->p : NULL, n };
	if (n < rest->n)
		n++;
	rest->p += n;
	rest->n -= n;
	return token;
}

struct command {
	struct modprobe_parser *parser;
	const struct modprobe_line *line;
	struct span module; /* normalised */
	struct span rest;   /* everything after the module's name and one blank */
};

/* Finds the position in the file of the text after LOGICAL bytes of the line. */
static void find_folded(struct raw_option *option, const struct modprobe_line *line, size_t logical)
{
	struct span s = line->folded;
	size_t i = 0;

	option->folded_line = line->first;
	while (i < s.n && logical > 0) {
		bool escaped = s.p[i] == '\\';

		if (escaped && ++i < s.n && s.p[i] == '\n')
			option->folded_line++;
		else
			logical--;
		i++;
	}
	if (i < s.n)
		option->folded = (struct span){ s.p + i, s.n - i };
}

static void read_options(struct command *c)
{
	struct raw_option option = {
		.module = fact_strn(c->parser->arena, c->module.p, c->module.n),
		.file = c->parser->file,
		.text = c->rest,
		.line = c->line->first,
	};

	find_folded(&option, c->line, (size_t)(c->rest.p - c->line->text.p));
	modprobe_add_option(c->parser, &option);
}

static void read_command(struct command *c, void *list)
{
	modprobe_add_command(c->parser, list, c->module, c->rest, c->line->first);
}

static void add_bad_line(struct modprobe_parser *parser, const struct modprobe_line *line,
			 const char *why)
{
	struct modprobe_bad_line *bad = LIST_ADD(parser->arena, &parser->facts->bad_lines);

	bad->text = fact_strn(parser->arena, line->text.p, line->text.n);
	bad->why = fact_str(parser->arena, why);
	bad->file = parser->file;
	bad->line = fact_u64(line->last); /* the number that kmod itself reports */
}

static bool same_but_for_case(struct span word, const char *name)
{
	return word.n == strlen(name) && strncasecmp(word.p, name, word.n) == 0;
}

static const char *why_unknown(struct span word)
{
	static const char *const names[] = { "alias",  "blacklist", "install", "options",
					     "remove", "softdep",   "weakdep" };

	if (word.p[0] == '#')
		return "a comment must begin in the first column";
	if (span_starts(word, "\xef\xbb\xbf"))
		return "begins with a byte order mark";
	if (span_is(word, "include") || span_is(word, "config"))
		return "this command is no longer read";
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (same_but_for_case(word, names[i]))
			return "commands are in lower case";
	return "not a command of modprobe.d";
}

/* alias NAME MODULE: both are normalised, words after them are not looked at. */
static const char *read_alias(struct command *c)
{
	struct modprobe_parser *p = c->parser;
	struct span target = modprobe_cut_token(&c->rest);

	if (!target.p)
		return "no module after the alias";
	target = modprobe_name(p->arena, target);
	if (!target.p)
		return "a bracket in the module's name has no partner";
	modprobe_add_command(p, &p->facts->alias, target, c->module, c->line->first);
	return NULL;
}

/* NULL, or why kmod does not take the line. */
static const char *read_line(struct modprobe_parser *p, const struct modprobe_line *line)
{
	struct modprobe_facts *f = p->facts;
	struct command c = { .parser = p, .line = line, .rest = line->text };
	struct span word = modprobe_cut_token(&c.rest), name;
	bool takes_text = span_is(word, "options") || span_is(word, "install") ||
			  span_is(word, "remove") || span_is(word, "softdep") ||
			  span_is(word, "weakdep");

	if (!word.p)
		return NULL;
	if (!takes_text && !span_is(word, "alias") && !span_is(word, "blacklist"))
		return why_unknown(word);
	name = modprobe_cut_token(&c.rest);
	if (!name.p)
		return "no module named";
	c.module = modprobe_name(p->arena, name);
	if (!c.module.p)
		return "a bracket in the name has no partner";
	if (takes_text && !c.rest.n)
		return "nothing after the module's name";
	if (span_is(word, "alias"))
		return read_alias(&c);
	if (span_is(word, "blacklist"))
		modprobe_add_command(p, &f->blacklist, c.module, (struct span){ 0 }, line->first);
	else if (span_is(word, "options"))
		read_options(&c);
	else if (span_is(word, "install"))
		read_command(&c, &f->install);
	else if (span_is(word, "remove"))
		read_command(&c, &f->remove);
	else if (span_is(word, "softdep"))
		read_command(&c, &f->softdep);
	return NULL; /* weakdep, since kmod 33, only concerns programs that build an initramfs */
}

/* Returns true if a word of it is the name of one of our modules, or a parameter of the NVIDIA driver. */
static bool names_ours(struct span line)
{
	struct span word;

	while ((word = modprobe_cut_token(&line)).p)
		if (modname_is_ours(word) || span_starts(word, "NVreg_"))
			return true;
	return false;
}

bool modprobe_read_file(struct modprobe_parser *parser, struct span text)
{
	struct modprobe_reader reader = { .rest = text, .arena = parser->arena };
	struct modprobe_line line;
	const char *why;

	while (modprobe_next_line(&reader, &line)) {
		if (!line.text.n || line.text.p[0] == '#' ||
		    (parser->ours && !names_ours(line.text)))
			continue;
		if (line.text.n > parser->room)
			return false;
		parser->room -= line.text.n;
		why = read_line(parser, &line);
		if (why)
			add_bad_line(parser, &line, why);
	}
	return true;
}
