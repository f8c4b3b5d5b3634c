/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grub-words.c - variables of grub.cfg, and the expansion of its words: script/execute.c,
 * script/argv.c. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "parse/grub-private.h"

/* ---- variables ---- */

static struct grub_variable *find(struct grub_variables *vars, struct span name)
{
	for (size_t i = 0; i < vars->count; i++)
		if (span_is(name, vars->items[i].name))
			return &vars->items[i];
	return NULL;
}

/* Returns true for variables that the core image, a command or the firmware sets. */
static bool is_set_elsewhere(struct span name)
{
	static const char *const names[] = { "root", "cmdpath", "match", "env_block" };

	if (span_starts(name, "grub_") || span_starts(name, "feature_") ||
	    span_starts(name, "net_"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (span_is(name, names[i]))
			return true;
	return false;
}

const char *grub_get(const struct grub_run *run, struct span name)
{
	const struct grub_variable *v = find((struct grub_variables *)&run->vars, name);

	if (!v)
		return is_set_elsewhere(name) ? GRUB_UNKNOWN_TEXT : "";
	return v->value ? v->value : "";
}

static struct grub_variable *find_or_add(struct grub_run *run, struct span name)
{
	struct grub_variable *v = find(&run->vars, name);

	if (v)
		return v;
	if (run->vars.count == GRUB_VARIABLES_MAX) {
		grub_lose(run, "it has too many variables");
		return NULL;
	}
	v = &run->vars.items[run->vars.count++];
	*v = (struct grub_variable){ .name = arena_strndup(run->work, name.p, name.n) };
	return v;
}

static bool is_special(struct span name)
{
	return name.n && (isdigit((unsigned char)name.p[0]) || span_is(name, "#") ||
			  span_is(name, "*") || span_is(name, "@"));
}

void grub_set(struct grub_run *run, struct span name, const char *value)
{
	struct grub_variable *v = is_special(name) ? NULL : find_or_add(run, name);

	if (v)
		v->value = arena_strdup(run->work, value);
}

/* A variable that is set again is not exported. */
void grub_unset(struct grub_run *run, const char *name)
{
	struct grub_variable *v = find_or_add(run, span_of(name));

	if (v) {
		v->value = NULL;
		v->exported = v->is_perhaps_exported = false;
	}
}

void grub_export(struct grub_run *run, const char *name)
{
	struct grub_variable *v = find_or_add(run, span_of(name));

	if (v)
		v->exported = v->is_perhaps_exported = true;
}

void grub_only_exported(struct grub_run *run)
{
	struct grub_variables *vars = &run->vars;
	size_t kept = 0;

	for (size_t i = 0; i < vars->count; i++)
		if (vars->items[i].exported || vars->items[i].is_perhaps_exported) {
			vars->items[kept] = vars->items[i];
			if (!vars->items[i].exported)
				vars->items[kept].value = GRUB_UNKNOWN_TEXT;
			kept++;
		}
	vars->count = kept;
}

void grub_merge(struct grub_run *run, const struct grub_variables *other)
{
	struct grub_variables *vars = &run->vars;

	for (size_t i = 0; i < other->count; i++)
		find_or_add(run, span_of(other->items[i].name));
	for (size_t i = 0; i < vars->count; i++) {
		struct grub_variable *v = &vars->items[i];
		const struct grub_variable *o = find((struct grub_variables *)other,
						     span_of(v->name));

		v->is_perhaps_exported |= v->exported ||
					  (o && (o->exported || o->is_perhaps_exported));
		v->exported &= o && o->exported;
		if (!same_text(v->value, o ? o->value : NULL))
			v->value = GRUB_UNKNOWN_TEXT;
	}
}

bool grub_is_sure(const char *text)
{
	return !strchr(text, GRUB_UNKNOWN);
}

/* ---- words ---- */

struct builder {
	struct grub_run *run;
	struct grub_args *args;
	char word[GRUB_VALUE_MAX];
	size_t n;
	bool any;  /* the word is one, be it empty */
	bool wild; /* it has a * or ? that is literal only if no file matches */
};

static void put(struct builder *b, char c)
{
	if (b->n < sizeof(b->word) - 1)
		b->word[b->n++] = c;
	else
		grub_lose(b->run, "a word in it is too long");
	b->any = true;
}

static void put_text(struct builder *b, const char *s)
{
	while (*s)
		put(b, *s++);
}

static void end_word(struct builder *b)
{
	struct grub_args *args = b->args;

	/* A pattern expands to files that only GRUB can list, so the word is unknown. */
	if (b->any && b->wild && (b->word[0] == '/' || b->word[0] == '(')) {
		b->word[0] = GRUB_UNKNOWN;
		b->n = 1;
	}
	if (b->any && args->count < GRUB_WORDS_MAX)
		args->items[args->count++] = arena_strndup(b->run->work, b->word, b->n);
	else if (b->any)
		grub_lose(b->run, "a command in it is too long");
	b->n = 0;
	b->any = b->wild = false;
}

/* A value outside of quotes: its blanks divide words. */
static void put_divided(struct builder *b, const char *s)
{
	s += strspn(s, " \t\r\n");
	while (*s) {
		for (; *s && !strchr(" \t\r\n", *s); s++) {
			b->wild |= *s == '*' || *s == '?';
			put(b, *s);
		}
		s += strspn(s, " \t\r\n");
		if (*s)
			end_word(b);
	}
}

static void put_value(struct builder *b, const char *value, bool quoted)
{
	if (quoted)
		put_text(b, value);
	else
		put_divided(b, value);
}

/* $@, $*: all arguments; between quotes the first has them as words, the second as one. */
static void put_arguments(struct builder *b, bool quoted, bool joined)
{
	const struct grub_scope *scope = &b->run->scope;

	for (size_t i = 0; i < scope->count; i++) {
		if (i && joined && quoted)
			put(b, ' ');
		else if (i)
			end_word(b);
		b->any |= quoted;
		put_value(b, scope->args[i], quoted);
	}
}

static void put_special(struct builder *b, struct span name, bool quoted)
{
	const struct grub_scope *scope = &b->run->scope;
	char digits[24];
	uint64_t number;

	if (!b->run->in_scope)
		return;
	if (span_is(name, "#")) {
		snprintf(digits, sizeof(digits), "%zu", scope->count);
		put_text(b, digits);
	} else if (span_is(name, "*") || span_is(name, "@")) {
		put_arguments(b, quoted, span_is(name, "*"));
	} else if (span_u64(name, 10, &number) == 0 && number && number <= scope->count) {
		put_value(b, scope->args[number - 1], quoted);
	}
}

static void put_plain(struct builder *b, struct span text)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (c == '\\' && i + 1 < text.n) {
			if (text.p[++i] != '\n')
				put(b, text.p[i]);
		} else if (c != '\\') {
			b->wild |= c == '*' || c == '?';
			put(b, c);
		}
	}
}

/* Before other characters the backslash stays. */
static void put_double(struct builder *b, struct span text)
{
	for (size_t i = 0; i < text.n; i++) {
		char next = i + 1 < text.n ? text.p[i + 1] : '\0';

		if (text.p[i] == '\\' && next && strchr("$\"\\\n", next)) {
			i++;
			if (next == '\n')
				continue;
		}
		put(b, text.p[i]);
	}
	b->any = true;
}

static void put_piece(struct builder *b, const struct grub_piece *piece)
{
	bool quoted = piece->kind == GRUB_DOUBLE_NAME;

	switch (piece->kind) {
	case GRUB_PLAIN:
		put_plain(b, piece->text);
		break;
	case GRUB_SINGLE:
		b->any = true;
		for (size_t i = 0; i < piece->text.n; i++)
			put(b, piece->text.p[i]);
		break;
	case GRUB_DOUBLE:
		put_double(b, piece->text);
		break;
	case GRUB_NAME:
	case GRUB_DOUBLE_NAME:
		if (is_special(piece->text))
			put_special(b, piece->text, quoted);
		else
			put_value(b, grub_get(b->run, piece->text), quoted);
		break;
	}
}

bool grub_expand(struct grub_run *run, const struct grub_word *words, struct grub_args *args)
{
	struct builder b = { .run = run, .args = args };

	args->count = 0;
	args->has_block = false;
	for (; words; words = words->next) {
		if (words->block) {
			args->block = words->body;
			args->has_block = true;
			continue;
		}
		for (const struct grub_piece *p = words->pieces; p; p = p->next)
			put_piece(&b, p);
		end_word(&b);
	}
	return args->count > 0;
}
