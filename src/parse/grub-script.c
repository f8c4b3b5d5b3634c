/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grub-script.c - the words and commands of grub.cfg. */
#include "parse/grub-private.h"

#include <ctype.h>
#include <string.h>

/* ---- variables ---- */

static struct grub_variable *find_variable(struct grub_env *env, struct span name)
{
	for_each_mut(v, &env->variables)
		if (span_is(name, v->name))
			return v;
	return NULL;
}

const char *grub_get(struct grub_env *env, const char *name)
{
	const struct grub_variable *v = find_variable(env, span_of(name));

	return v ? v->value : "";
}

void grub_set(struct grub_env *env, struct span name, struct span value)
{
	struct grub_variable *v = find_variable(env, name);

	if (!v && env->variables.count == GRUB_VARIABLES_MAX)
		return;
	if (!v) {
		v = LIST_ADD(env->arena, &env->variables);
		v->name = arena_strndup(env->arena, name.p, name.n);
	}
	if (value.n >= v->room) {
		for (v->room = 64; v->room <= value.n;)
			v->room *= 2;
		v->value = arena_alloc(env->arena, v->room);
	}
	memmove(v->value, value.p, value.n);
	v->value[value.n] = '\0';
}

void grub_read_env(struct grub_env *env, struct span text)
{
	char value[GRUB_VALUE_MAX];
	struct span line;

	while (span_cut(&text, '\n', &line)) {
		size_t equals = span_find(line, '='), n = 0;

		if (equals == line.n || line.p[0] == '#')
			continue;
		/* A backslash takes the next byte as it is. */
		for (size_t i = equals + 1; i < line.n && n < sizeof(value); i++) {
			if (line.p[i] == '\\' && i + 1 < line.n)
				i++;
			value[n++] = line.p[i];
		}
		grub_set(env, (struct span){ line.p, equals }, (struct span){ value, n });
	}
}

/* ---- words ---- */

static int peek(const struct grub_script *s)
{
	return s->at < s->text.n ? (unsigned char)s->text.p[s->at] : -1;
}

static int take(struct grub_script *s)
{
	int c = peek(s);

	s->line += c == '\n';
	s->at += c != -1;
	return c;
}

static void put(struct grub_script *s, int c)
{
	if (s->n < sizeof(s->word))
		s->word[s->n++] = (char)c;
	s->any = true;
}

static void end_word(struct grub_script *s)
{
	char *copy = s->command + s->used;

	if (s->any && s->count < GRUB_WORDS_MAX && s->n < sizeof(s->command) - s->used) {
		memcpy(copy, s->word, s->n);
		copy[s->n] = '\0';
		s->words[s->count++] = (struct span){ copy, s->n };
		s->used += s->n + 1;
	}
	s->n = 0;
	s->any = false;
}

/* Variables that the core image, a command or the firmware sets. */
static bool is_set_elsewhere(struct span name)
{
	static const char *const names[] = { "root",	    "prefix", "config_directory", "cmdpath",
					     "config_file", "match",  "env_block",	  "?" };

	if (span_starts(name, "grub_") || span_starts(name, "feature_") ||
	    span_starts(name, "net_"))
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (span_is(name, names[i]))
			return true;
	return false;
}

/* $NAME and ${NAME}; outside of quotes, blanks in the value divide words. */
static void expand(struct grub_script *s, bool quoted)
{
	bool braces;
	size_t start;
	const struct grub_variable *v;
	struct span name;

	take(s);
	braces = peek(s) == '{';
	if (braces)
		take(s);
	start = s->at;
	while (isalnum(peek(s)) || peek(s) == '_' || (peek(s) == '?' && s->at == start))
		take(s);
	name = (struct span){ s->text.p + start, s->at - start };
	if (braces && peek(s) == '}')
		take(s);
	if (!name.n) {
		put(s, '$');
		return;
	}
	v = find_variable(s->env, name);
	if (!v && is_set_elsewhere(name))
		s->unknown = true;
	for (const char *p = v ? v->value : ""; *p; p++) {
		if (!quoted && (*p == ' ' || *p == '\t' || *p == '\n'))
			end_word(s);
		else
			put(s, *p);
	}
}

static void take_quotes(struct grub_script *s, int quote)
{
	s->any = true; /* '' is a word */
	while (peek(s) != -1 && peek(s) != quote) {
		if (quote == '"' && peek(s) == '$') {
			expand(s, true);
			continue;
		}
		if (quote == '"' && peek(s) == '\\') {
			take(s);
			/* Before other characters the backslash stays. */
			if (peek(s) > 0 && !strchr("$\"\\\n", peek(s)))
				put(s, '\\');
			else if (peek(s) == '\n')
				take(s);
			if (peek(s) == -1 || peek(s) == quote)
				continue;
		}
		put(s, take(s));
	}
	take(s);
}

static bool ends_word(int c)
{
	return c == -1 || (c && strchr(" \t\r\n;", c));
}

static void take_word(struct grub_script *s)
{
	while (!ends_word(peek(s))) {
		int c = peek(s);

		if (c == '$') {
			expand(s, false);
			continue;
		}
		take(s);
		if (c == '\'' || c == '"') {
			take_quotes(s, c);
		} else if (c == '\\') {
			c = take(s);
			if (c != '\n' && c != -1)
				put(s, c);
		} else {
			put(s, c);
		}
	}
	end_word(s);
}

/* ---- commands ---- */

static void pass_blanks(struct grub_script *s, bool lines)
{
	for (;;) {
		int c = peek(s);

		if (c == '#')
			while (peek(s) != -1 && peek(s) != '\n')
				take(s);
		else if (c == ' ' || c == '\t' || c == '\r' || (lines && (c == '\n' || c == ';')))
			take(s);
		else
			break;
	}
}

/* A brace stands alone. */
static bool at_brace(const struct grub_script *s, char brace)
{
	return peek(s) == brace &&
	       (s->at + 1 >= s->text.n || ends_word((unsigned char)s->text.p[s->at + 1]));
}

enum grub_token grub_next_command(struct grub_script *s)
{
	s->count = s->n = s->used = 0;
	s->any = s->unknown = false;
	pass_blanks(s, true);
	s->begin_line = s->line;
	if (peek(s) == -1)
		return GRUB_END;
	if (at_brace(s, '}')) {
		take(s);
		return GRUB_CLOSE;
	}
	for (;;) {
		pass_blanks(s, false);
		if (peek(s) == '\n' || peek(s) == ';' || peek(s) == -1)
			return GRUB_COMMAND;
		if (at_brace(s, '{')) {
			take(s);
			return GRUB_OPEN;
		}
		take_word(s);
	}
}

/* ---- the kernel's command line: lib/cmdline.c grub_create_loader_cmdline() ---- */

static bool is_hex_escape(struct span s)
{
	return s.n >= 4 && s.p[0] == '\\' && s.p[1] == 'x' && isxdigit((unsigned char)s.p[2]) &&
	       isxdigit((unsigned char)s.p[3]);
}

static size_t quote_word(char *out, struct span word)
{
	bool blanks = span_find(word, ' ') < word.n;
	size_t n = 0;

	if (blanks)
		out[n++] = '"';
	for (size_t i = 0; i < word.n; i++) {
		char c = word.p[i];

		if ((c == '\\' || c == '\'' || c == '"') &&
		    !is_hex_escape((struct span){ word.p + i, word.n - i }))
			out[n++] = '\\';
		out[n++] = c;
	}
	if (blanks)
		out[n++] = '"';
	return n;
}

void grub_join_words(char line[GRUB_LINE_MAX], const struct span *words, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (i)
			line[n++] = ' ';
		n += quote_word(line + n, words[i]);
	}
	line[n] = '\0';
}

const char *grub_command_line(struct grub_env *env, struct span text)
{
	struct grub_script s = { .env = env, .text = text };
	char line[GRUB_LINE_MAX];

	grub_next_command(&s);
	grub_join_words(line, s.words, s.count);
	return arena_strdup(env->arena, line);
}
