/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grub-script.c - parses grub.cfg into words and commands: script/yylex.l, script/parser.y. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "parse/grub-private.h"

/* ---- words ---- */

static int peek(const struct grub_reader *r, size_t ahead)
{
	return r->at + ahead < r->text.n ? (unsigned char)r->text.p[r->at + ahead] : -1;
}

static int take(struct grub_reader *r)
{
	int c = peek(r, 0);

	r->line += c == '\n';
	r->at += c != -1;
	return c;
}

static bool ends_word(int c)
{
	return c == -1 || (c && strchr("{}|&;<> \t\n", c));
}

static struct grub_piece **add_piece(struct grub_reader *r, struct grub_piece **tail,
				     enum grub_piece_kind kind, size_t start)
{
	struct grub_piece *piece = arena_alloc(r->arena, sizeof(*piece));

	piece->kind = kind;
	piece->text = (struct span){ r->text.p + start, r->at - start };
	*tail = piece;
	return &piece->next;
}

/* The length of a variable's name: letters, a number, or one of a few signs. */
static size_t name_length(struct span s)
{
	size_t n = 0;

	if (s.n && strchr("?#*@", s.p[0]) && s.p[0])
		return 1;
	if (s.n && isdigit((unsigned char)s.p[0])) {
		while (n < s.n && isdigit((unsigned char)s.p[n]))
			n++;
		return n;
	}
	while (n < s.n && (isalnum((unsigned char)s.p[n]) || s.p[n] == '_'))
		n++;
	return n;
}

/* $NAME, ${NAME}. NULL: neither. */
static struct grub_piece **take_name(struct grub_reader *r, struct grub_piece **tail, bool quoted)
{
	bool braces = peek(r, 1) == '{';
	size_t start = r->at + 1 + braces, n;

	if (start > r->text.n)
		return NULL;
	n = name_length((struct span){ r->text.p + start, r->text.n - start });
	if (!n || (braces && (start + n >= r->text.n || r->text.p[start + n] != '}')))
		return NULL;
	r->at = start + n;
	tail = add_piece(r, tail, quoted ? GRUB_DOUBLE_NAME : GRUB_NAME, start);
	r->at += braces;
	return tail;
}

static struct grub_piece **take_single(struct grub_reader *r, struct grub_piece **tail)
{
	size_t start = r->at;

	while (peek(r, 0) != -1 && peek(r, 0) != '\'')
		take(r);
	tail = add_piece(r, tail, GRUB_SINGLE, start);
	return take(r) == '\'' ? tail : NULL;
}

static struct grub_piece **take_double(struct grub_reader *r, struct grub_piece **tail)
{
	size_t start = r->at;

	while (tail && peek(r, 0) != -1 && peek(r, 0) != '"') {
		if (peek(r, 0) == '$') {
			tail = add_piece(r, tail, GRUB_DOUBLE, start);
			tail = take_name(r, tail, true);
			start = r->at;
		} else if (take(r) == '\\') {
			take(r);
		}
	}
	if (tail)
		tail = add_piece(r, tail, GRUB_DOUBLE, start);
	return tail && take(r) == '"' ? tail : NULL;
}

static struct grub_piece **take_plain(struct grub_reader *r, struct grub_piece **tail)
{
	size_t start = r->at;

	while (!ends_word(peek(r, 0)) && !strchr("'\"$", peek(r, 0)))
		if (take(r) == '\\')
			take(r);
	return add_piece(r, tail, GRUB_PLAIN, start);
}

static enum grub_token take_word(struct grub_reader *r)
{
	struct grub_piece **tail;
	size_t start = r->at;

	r->word = arena_alloc(r->arena, sizeof(*r->word));
	tail = &r->word->pieces;
	while (tail && !ends_word(peek(r, 0))) {
		int c = peek(r, 0);

		if (c == '\0')
			return GRUB_BAD;
		if (c == '$' && peek(r, 1) == '"') { /* to be translated */
			r->at += 2;
			tail = take_double(r, tail);
		} else if (c == '$') {
			tail = take_name(r, tail, false);
		} else if (c == '\'' || c == '"') {
			take(r);
			tail = c == '"' ? take_double(r, tail) : take_single(r, tail);
		} else {
			tail = take_plain(r, tail);
		}
	}
	r->raw = (struct span){ r->text.p + start, r->at - start };
	if (!tail || span_is(r->raw, "[[") || span_is(r->raw, "]]"))
		return GRUB_BAD;
	return GRUB_WORD;
}

enum grub_token grub_next_token(struct grub_reader *r)
{
	for (;;) {
		int c = peek(r, 0);

		r->token_line = r->line;
		if (c == '#') {
			while (peek(r, 0) != -1 && peek(r, 0) != '\n')
				take(r);
		} else if (c == ' ' || c == '\t') {
			take(r);
		} else if (c == -1) {
			return GRUB_END;
		} else if (!ends_word(c)) {
			return take_word(r);
		} else {
			take(r);
			return c == '\n'  ? GRUB_NEWLINE
			       : c == ';' ? GRUB_SEMICOLON
			       : c == '{' ? GRUB_OPEN
			       : c == '}' ? GRUB_CLOSE
					  : GRUB_BAD;
		}
	}
}

static void advance(struct grub_reader *r)
{
	r->token = grub_next_token(r);
	/* A file that ends without a newline is read as if it had one. */
	if (r->token == GRUB_WORD && r->budget)
		r->budget--;
	else if (r->token == GRUB_WORD)
		r->token = GRUB_BAD;
}

/* ---- commands ---- */

static const char *const keywords[] = { "case",	  "do",	  "done",  "elif",  "else",
					"esac",	  "fi",	  "for",   "if",    "in",
					"select", "then", "until", "while", "function" };

static bool at_keyword(const struct grub_reader *r, const char *word)
{
	return r->token == GRUB_WORD && span_is(r->raw, word);
}

static bool at_any_keyword(const struct grub_reader *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
		if (at_keyword(r, keywords[i]))
			return true;
	return false;
}

static bool take_keyword(struct grub_reader *r, const char *word)
{
	if (!at_keyword(r, word))
		return false;
	advance(r);
	return true;
}

static bool at_delimiter(const struct grub_reader *r)
{
	return r->token == GRUB_NEWLINE || r->token == GRUB_SEMICOLON;
}

static void pass_newlines(struct grub_reader *r)
{
	while (r->token == GRUB_NEWLINE)
		advance(r);
}

/* Skips one ";" or newline, and further newlines. */
static bool take_delimiters(struct grub_reader *r)
{
	if (!at_delimiter(r))
		return false;
	advance(r);
	pass_newlines(r);
	return true;
}

static bool is_name(struct span s)
{
	return s.n && !isdigit((unsigned char)s.p[0]) && name_length(s) == s.n &&
	       !strchr("?#*@", s.p[0]);
}

static bool take_plain_name(struct grub_reader *r, struct span *name)
{
	if (r->token != GRUB_WORD || !is_name(r->raw) || at_any_keyword(r))
		return false;
	*name = r->raw;
	advance(r);
	return true;
}

static struct grub_node *read_command(struct grub_reader *r);

/* Commands up to a token that cannot begin one. DELIMITED: the last one ends with a delimiter. */
static struct grub_node *read_commands(struct grub_reader *r, bool *delimited)
{
	struct grub_node *first = NULL, **tail = &first;

	pass_newlines(r);
	do {
		*tail = read_command(r);
		if (!*tail)
			return NULL;
		tail = &(*tail)->next;
		*delimited = take_delimiters(r);
	} while (*delimited && r->token == GRUB_WORD &&
		 (!at_any_keyword(r) || at_keyword(r, "if") || at_keyword(r, "for") ||
		  at_keyword(r, "while") || at_keyword(r, "until")));
	return first;
}

static struct grub_node *read_delimited(struct grub_reader *r)
{
	bool delimited;
	struct grub_node *list = read_commands(r, &delimited);

	return list && delimited ? list : NULL;
}

static bool read_if(struct grub_reader *r, struct grub_node *node)
{
	node->kind = GRUB_IF;
	node->condition = read_delimited(r);
	if (!node->condition || !take_keyword(r, "then"))
		return false;
	node->body = read_delimited(r);
	if (!node->body)
		return false;
	if (take_keyword(r, "elif")) {
		node->other = arena_alloc(r->arena, sizeof(*node));
		node->other->line = r->token_line;
		return read_if(r, node->other); /* one "fi" ends all */
	}
	if (take_keyword(r, "else")) {
		node->other = read_delimited(r);
		if (!node->other)
			return false;
	}
	return take_keyword(r, "fi");
}

static bool read_words(struct grub_reader *r, struct grub_word **tail)
{
	for (; r->token == GRUB_WORD; advance(r)) {
		*tail = r->word;
		tail = &r->word->next;
	}
	return r->token != GRUB_BAD;
}

static bool read_for(struct grub_reader *r, struct grub_node *node)
{
	node->kind = GRUB_FOR;
	if (!take_plain_name(r, &node->name) || !take_keyword(r, "in") ||
	    !read_words(r, &node->words) || !take_delimiters(r) || !take_keyword(r, "do"))
		return false;
	node->body = read_delimited(r);
	return node->body && take_keyword(r, "done");
}

static bool read_while(struct grub_reader *r, struct grub_node *node, bool until)
{
	node->kind = until ? GRUB_UNTIL : GRUB_WHILE;
	node->condition = read_delimited(r);
	if (!node->condition || !take_keyword(r, "do"))
		return false;
	node->body = read_delimited(r);
	return node->body && take_keyword(r, "done");
}

static bool read_block(struct grub_reader *r, struct grub_word *word)
{
	bool delimited;

	advance(r);
	word->block = true;
	word->body = read_commands(r, &delimited);
	if (!word->body || r->token != GRUB_CLOSE)
		return false;
	advance(r);
	return true;
}

static bool read_simple(struct grub_reader *r, struct grub_node *node)
{
	struct grub_word **tail = &node->words;

	node->kind = GRUB_COMMAND;
	if (r->token != GRUB_WORD || at_any_keyword(r))
		return false;
	if (!read_words(r, tail))
		return false;
	while (*tail)
		tail = &(*tail)->next;
	if (r->token != GRUB_OPEN)
		return true;
	*tail = arena_alloc(r->arena, sizeof(**tail));
	return read_block(r, *tail);
}

static bool read_any(struct grub_reader *r, struct grub_node *node)
{
	if (take_keyword(r, "if"))
		return read_if(r, node);
	if (take_keyword(r, "for"))
		return read_for(r, node);
	if (take_keyword(r, "while"))
		return read_while(r, node, false);
	if (take_keyword(r, "until"))
		return read_while(r, node, true);
	return read_simple(r, node);
}

static struct grub_node *read_command(struct grub_reader *r)
{
	struct grub_node *node = arena_alloc(r->arena, sizeof(*node));
	bool whole = false;

	node->line = r->token_line;
	if (r->depth < GRUB_DEPTH_MAX) {
		r->depth++;
		whole = read_any(r, node);
		r->depth--;
	}
	return whole ? node : NULL;
}

static bool read_function(struct grub_reader *r)
{
	struct span name;
	struct grub_node *body;

	if (!take_plain_name(r, &name))
		return false;
	pass_newlines(r);
	if (r->token != GRUB_OPEN)
		return false;
	advance(r);
	body = read_delimited(r);
	if (!body || r->token != GRUB_CLOSE)
		return false;
	advance(r);
	r->define(r->user, name, body);
	return true;
}

void grub_reader_begin(struct grub_reader *r)
{
	r->at = 0;
	r->depth = 0;
	advance(r);
}

int grub_reader_next(struct grub_reader *r, struct grub_node **node)
{
	bool whole;

	*node = NULL;
	for (;;) {
		pass_newlines(r);
		if (r->token == GRUB_END)
			return 0;
		if (take_keyword(r, "function")) {
			whole = read_function(r);
		} else {
			*node = read_command(r);
			whole = *node != NULL;
		}
		if (!whole || (!at_delimiter(r) && r->token != GRUB_END))
			return r->budget ? -EINVAL : -E2BIG;
		if (r->token != GRUB_END)
			advance(r);
		if (*node)
			return 1;
	}
}
