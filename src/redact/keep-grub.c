/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep-grub.c - grub.cfg: the structure of the script stays, with its commands and variables. Of its words, those stay
 * that can lead to an entry or to the kernel's arguments. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "parse/grub-script.h"
#include "redact/keep-private.h"

typedef void put_word(struct keeping *k, struct span word);

struct script {
	struct keeping *k;
	struct grub_reader reader;
	put_word *first, *others; /* of the command: its next word, and those after it */
	bool begins;		  /* the next word is a command's name */
	bool inner;		  /* the words are a script */
	bool users;		  /* the next word has their names */
	char *text;		  /* room for one word as it means */
	char mark;		  /* for a variable in it */
};

/* ---- words as they mean ---- */

/* Removes the quoting. A backslash makes the next byte literal; between double quotes only for some bytes. */
static size_t decode(const struct grub_piece *piece, char *to)
{
	const char *escaped = piece->kind == GRUB_DOUBLE ? "$\"\\\n" : NULL;
	struct span s = piece->text;
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (piece->kind != GRUB_SINGLE && s.p[i] == '\\' && i + 1 < s.n &&
		    (!escaped || strchr(escaped, s.p[i + 1]))) {
			if (s.p[++i] == '\n')
				continue;
		}
		to[n++] = s.p[i];
	}
	return n;
}

static bool is_variable(const struct grub_piece *piece)
{
	return piece->kind == GRUB_NAME || piece->kind == GRUB_DOUBLE_NAME;
}

static bool is_quoted(const struct grub_word *word)
{
	for (const struct grub_piece *p = word->pieces; p; p = p->next)
		if (p->kind == GRUB_SINGLE || p->kind == GRUB_DOUBLE ||
		    p->kind == GRUB_DOUBLE_NAME || memchr(p->text.p, '\\', p->text.n))
			return true;
	return false;
}

static struct span text_of(struct script *s, const struct grub_word *word)
{
	size_t n = 0;

	for (const struct grub_piece *p = word->pieces; p; p = p->next)
		if (is_variable(p))
			s->text[n++] = s->mark;
		else
			n += decode(p, s->text + n);
	s->text[n] = '\0';
	return (struct span){ s->text, n };
}

/* ---- and as they are written ---- */

static void write_variable(struct script *s, const struct grub_piece *piece)
{
	const char *quote = piece->kind == GRUB_DOUBLE_NAME ? "\"" : "";

	fprintf(s->k->out, "%s${", quote);
	keep_identifier(s->k, piece->text);
	fprintf(s->k->out, "}%s", quote);
}

static void write_quoted(FILE *out, struct span text)
{
	putc('\'', out);
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] == '\'')
			fputs("'\\''", out);
		else
			putc(text.p[i], out);
	putc('\'', out);
}

/* KEPT, with the word's variables at their marks. */
static void write_word(struct script *s, const struct grub_word *word, struct span kept)
{
	const struct grub_piece *piece = word->pieces;
	bool quoted = is_quoted(word);

	if (!kept.n && quoted)
		fputs("''", s->k->out);
	while (kept.n) {
		size_t n = span_find(kept, s->mark);

		if (n && quoted)
			write_quoted(s->k->out, (struct span){ kept.p, n });
		else
			fwrite(kept.p, 1, n, s->k->out);
		while (piece && !is_variable(piece))
			piece = piece->next;
		if (n < kept.n && piece) {
			write_variable(s, piece);
			piece = piece->next;
		}
		n += n < kept.n;
		kept = (struct span){ kept.p + n, kept.n - n };
	}
}

static size_t count(struct span text, char c)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == c;
	return n;
}

static void put_assignment(struct keeping *k, struct span word)
{
	size_t equals = span_find(word, '=');

	keep_identifier(k, (struct span){ word.p, equals });
	if (equals == word.n)
		return;
	putc('=', k->out);
	keep_value(k, (struct span){ word.p, equals },
		   (struct span){ word.p + equals + 1, word.n - equals - 1 });
}

/* Keeps each part of the text between the word's variables on its own. */
static char *put_parts(struct script *s, struct span text, put_word *put)
{
	struct keeping *k = s->k;
	FILE *out = k->out;
	char *made = NULL;
	size_t size, equals = put == put_assignment ? span_find(text, '=') : text.n;

	k->out = memory_need(open_memstream(&made, &size));
	if (equals < text.n) {
		put_assignment(k, (struct span){ text.p, equals + 1 });
		text = (struct span){ text.p + equals + 1, text.n - equals - 1 };
		put = keep_boot_word;
	}
	while (text.n) {
		size_t n = span_find(text, s->mark);

		if (n)
			put(k, (struct span){ text.p, n });
		else
			putc(text.p[n++], k->out);
		text = (struct span){ text.p + n, text.n - n };
	}
	memory_need(fclose(k->out) == 0 ? made : NULL);
	k->out = out;
	return made;
}

static void copy_script(struct keeping *k, struct span text, char mark);

/* Keeps the argument of eval. */
static char *put_inner(struct script *s, struct span text)
{
	struct keeping *k = s->k;
	FILE *out = k->out;
	char *made = NULL;
	size_t size;

	k->out = memory_need(open_memstream(&made, &size));
	if (s->mark < KEEP_MARKS)
		copy_script(k, text, (char)(s->mark + 1));
	else
		keep_instead(k, text);
	memory_need(fclose(k->out) == 0 ? made : NULL);
	k->out = out;
	return made;
}

/* The number of its newlines. */
static size_t put_with(struct script *s, const struct grub_word *word, put_word *put)
{
	struct span text = text_of(s, word);
	_cleanup_free_ char *copy = strndup(text.p, text.n), *parts = NULL;
	_cleanup_free_ char *kept = s->inner ? put_inner(s, span_of(memory_need(copy)))
					     : keep_string(s->k, put, text);

	/* Without its variables the word would mean something else. */
	if (!kept || count(span_of(kept), s->mark) != count(text, s->mark))
		parts = put_parts(s, text, put);
	write_word(s, word, span_of(parts ? parts : kept));
	return count(span_of(parts ? parts : kept), '\n');
}

/* ---- the words of a command ---- */

static void put_nothing(struct keeping *k, struct span word)
{
	keep_instead(k, word);
}

/* Keeps an operand of a test: "x$name" is compared with "xtext". */
static void put_compared(struct keeping *k, struct span word)
{
	static const char *const operators[] = {
		"=",   "==",  "!=",  "<",    "<=",   ">",    ">=",   "-eq", "-ne", "-lt",
		"-le", "-gt", "-ge", "-pgt", "-plt", "-nt*", "-ot*", "\\]", NULL
	};
	bool marked = word.n > 1 && word.p[0] == 'x';

	if (keep_has(operators, word)) {
		keep_as_it_is(k, word);
		return;
	}
	if (marked)
		putc('x', k->out);
	keep_boot_words(k, (struct span){ word.p + marked, word.n - marked });
}

/* A name, an option, or the file of the variables. */
static void put_name(struct keeping *k, struct span word)
{
	if (strpbrk(word.p, "-/"))
		keep_boot_word(k, word);
	else
		keep_identifier(k, word);
}

static void put_heading(struct keeping *k, struct span word)
{
	if (word.p[0] == '-')
		keep_boot_word(k, word);
	else
		keep_entry_name(k, word);
}

static void put_kernel_argument(struct keeping *k, struct span word)
{
	keep_argument(k, word, word);
}

static const struct {
	const char *name;
	put_word *first, *others;
} commands[] = {
	{ "[", put_compared, put_compared },
	{ "test", put_compared, put_compared },
	{ "set", put_assignment, put_nothing },
	{ "export", put_name, put_name },
	{ "unset", put_name, put_name },
	{ "increment", put_name, put_name },
	{ "decrement", put_name, put_name },
	{ "read", put_name, put_name },
	{ "load_env", put_name, put_name },
	{ "save_env", put_name, put_name },
	{ "linux", keep_boot_path, put_kernel_argument },
	{ "linux16", keep_boot_path, put_kernel_argument },
	{ "linuxefi", keep_boot_path, put_kernel_argument },
	{ "initrd", keep_boot_path, keep_boot_path },
	{ "initrd16", keep_boot_path, keep_boot_path },
	{ "initrdefi", keep_boot_path, keep_boot_path },
	{ "menuentry", put_heading, put_heading },
	{ "submenu", put_heading, put_heading },
	{ "hiddenentry", put_heading, put_heading },
	{ "setparams", put_heading, put_heading },
	{ "source", keep_boot_path, keep_boot_path },
	{ ".", keep_boot_path, keep_boot_path },
	{ "configfile", keep_boot_path, keep_boot_path },
	{ "for", keep_identifier, keep_boot_words },
	{ "function", keep_identifier, put_nothing },
	/* Names and passwords, whatever they look like. */
	{ "password", put_nothing, put_nothing },
	{ "password_pbkdf2", put_nothing, put_nothing },
	{ "echo", put_nothing, put_nothing },
};

/* ---- the script ---- */

static void begin_command(struct script *s, struct span name)
{
	s->begins = s->users = false;
	s->first = s->others = keep_boot_words;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (span_is(name, commands[i].name)) {
			s->first = commands[i].first;
			s->others = commands[i].others;
		}
}

/* The name of a command, or a word before one. */
static size_t put_first(struct script *s, const struct grub_word *word)
{
	static const char *const before[] = { "if",   "elif", "else",  "then", "do", "while",
					      "done", "fi",   "until", "!",    NULL };
	struct span text = text_of(s, word);
	size_t n;

	if (keep_has(before, s->reader.raw)) {
		keep_as_it_is(s->k, s->reader.raw);
		return 0;
	}
	begin_command(s, text);
	s->inner = false;
	n = put_with(s, word, put_assignment);
	s->inner = strcmp(s->text, "eval") == 0;
	return n;
}

static void put_word_of(struct script *s)
{
	size_t lines = count(s->reader.raw, '\n'), kept;

	putc(' ', s->k->out);
	if (s->begins) {
		kept = put_first(s, s->reader.word);
	} else {
		kept = put_with(s, s->reader.word, s->users ? put_nothing : s->first);
		s->users = strcmp(s->text, "--users") == 0;
		s->first = s->others;
	}
	/* Lines keep their numbers. */
	for (; kept < lines; kept++)
		fputs(" \\\n", s->k->out);
}

/* Keeps a token that the language does not define; it stays invalid and ends the script. */
static void put_token(struct script *s, enum grub_token token)
{
	static const char marks[] = {
		[GRUB_NEWLINE] = '\n', [GRUB_SEMICOLON] = ';', [GRUB_OPEN] = '{',
		[GRUB_CLOSE] = '}',    [GRUB_BAD] = '|',
	};

	if (token == GRUB_WORD)
		put_word_of(s);
	if (token == GRUB_WORD || token == GRUB_END)
		return;
	if (token == GRUB_OPEN || token == GRUB_CLOSE)
		putc(' ', s->k->out);
	putc(marks[token], s->k->out);
	s->begins = true;
}

static void report_left_out(struct script *s, size_t from)
{
	struct grub_reader *r = &s->reader;
	size_t to = r->token == GRUB_WORD ? (size_t)(r->raw.p - r->text.p) : r->at;
	struct span passed = span_trim((struct span){ r->text.p + from, to - from });

	if (span_starts(passed, "#") && s->k->left_out)
		s->k->left_out(s->k->user, passed);
}

static void copy_script(struct keeping *k, struct span text, char mark)
{
	struct script s = {
		.k = k,
		.begins = true,
		.mark = mark,
		.reader = { .arena = memory_need(
				    arena_new_shared(text.n * 64 + 4096, "the words of grub.cfg")),
			    .text = text },
		.text = memory_need(malloc(text.n + 1)),
	};

	size_t from;

	do {
		from = s.reader.at;
		s.reader.token = grub_next_token(&s.reader);
		report_left_out(&s, from);
		put_token(&s, s.reader.token);
		arena_reset(s.reader.arena);
	} while (s.reader.token != GRUB_END && s.reader.token != GRUB_BAD);
	if (s.reader.token == GRUB_BAD)
		keep_nothing(k, (struct span){ text.p + from, text.n - from });
	arena_free(s.reader.arena);
	free(s.text);
}

void keep_grub(struct keeping *k, struct span text)
{
	copy_script(k, text, 1);
}
