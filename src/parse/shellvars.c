/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shellvars.c - assignments in a file that a shell would source, such as /etc/default/grub. */
#include "parse/shellvars.h"

#include <ctype.h>
#include <string.h>

#define VARIABLE_MAX 128 /* a name of this length is not expanded */
#define PENDING_MAX 16	 /* assignments in one export */

struct word {
	struct span name; /* of NAME=VALUE and NAME+=VALUE; empty: another word */
	bool append;
	struct span raw;	    /* the word, or its VALUE, as written ... */
	char text[SHELL_VALUE_MAX]; /* ... and without quotes, with variables filled in */
	size_t n;
	bool whole; /* expanded: text is the shell's result */
};

struct pending {
	struct span name;
	char *value;
	uint64_t line;
};

struct shell {
	struct shellvars *vars;
	struct span text;
	size_t at;
	uint64_t line;
	struct word word;
	struct pending pending[PENDING_MAX];
	size_t count;
};

static int peek(const struct shell *s, size_t ahead)
{
	return s->at + ahead < s->text.n ? (unsigned char)s->text.p[s->at + ahead] : -1;
}

static int take(struct shell *s)
{
	int c = peek(s, 0);

	if (c == '\n')
		s->line++;
	s->at += c != -1;
	return c;
}

static void put(struct word *w, int c)
{
	if (w->n < sizeof(w->text) - 1)
		w->text[w->n++] = (char)c;
	else
		w->whole = false;
}

/* ---- variables ---- */

static size_t name_length(struct span s)
{
	size_t n = 0;

	while (n < s.n && (s.p[n] == '_' || isalpha((unsigned char)s.p[n]) ||
			   (n && isdigit((unsigned char)s.p[n]))))
		n++;
	return n;
}

static struct shellvar *find_variable(struct shellvars *vars, struct span name)
{
	for_each_mut(v, &vars->known)
		if (v->name.n == name.n && memcmp(v->name.p, name.p, name.n) == 0)
			return v;
	return NULL;
}

static const char *get_variable(struct shellvars *vars, struct span name)
{
	const struct shellvar *v = find_variable(vars, name);

	return v ? v->value : "";
}

void shellvars_set(struct shellvars *vars, struct span name, const char *value)
{
	struct shellvar *v = find_variable(vars, name);
	size_t n = strlen(value) + 1;

	if (!v && vars->known.count == SHELL_VARIABLES_MAX)
		return;
	if (!v) {
		v = LIST_ADD(vars->arena, &vars->known);
		v->name = name;
	}
	if (n > v->room) {
		v->value = arena_alloc(vars->arena, n);
		v->room = n;
	}
	memcpy(v->value, value, n);
}

static void put_string(struct word *w, const char *s)
{
	while (*s)
		put(w, *s++);
}

/* ---- words ---- */

/* Past $( ), $(( )) or ` `: commands, which are not run. */
static void pass_command(struct shell *s)
{
	unsigned int depth = 0;

	s->word.whole = false;
	if (peek(s, 0) == '`') {
		take(s);
		for (int c = take(s); c != '`' && c != -1; c = take(s))
			if (c == '\\')
				take(s);
		return;
	}
	do {
		int c = take(s);

		depth += c == '(';
		depth -= c == ')';
		if (c == '\\')
			take(s);
		/* Parentheses between quotes do not count. */
		for (int quote = c; (quote == '"' || quote == '\'') && c != -1;) {
			c = take(s);
			if (c == '\\' && quote == '"')
				take(s);
			else if (c == quote)
				break;
		}
		if (c == -1)
			break;
	} while (depth);
}

/* ${NAME}, ${NAME:-WORD}, ${NAME:+WORD} and the same without the colon, for which an empty variable counts as set. WORD
 * has no quotes, and no expansions except plain variables. */
static void expand_braces(struct shell *s)
{
	struct span rest = { s->text.p + s->at, s->text.n - s->at };
	size_t end = span_find(rest, '}'), n = name_length(rest);
	struct span name = { rest.p, n }, inner;
	const char *value = get_variable(s->vars, name);
	size_t operator= n<end && rest.p[n] == ':' ? n + 1 : n;
	bool has_value, chosen;

	for (size_t i = 0; i <= end && i < rest.n; i++)
		take(s);
	if (end == rest.n || n == 0) {
		s->word.whole = false;
		return;
	}
	if (n == end) {
		put_string(&s->word, value);
		return;
	}
	if (rest.p[operator] != '-' && rest.p[operator] != '+') {
		s->word.whole = false;
		return;
	}
	has_value = operator> n ? *value != '\0' : find_variable(s->vars, name) != NULL;
	chosen = has_value == (rest.p[operator] == '+');
	if (!chosen && rest.p[operator] == '-')
		put_string(&s->word, value);
	inner = (struct span){ rest.p + operator+ 1, end - operator- 1 };
	for (size_t i = 0; i < inner.n && chosen; i++) {
		struct span tail = { inner.p + i + 1, inner.n - i - 1 };
		size_t m = name_length(tail);

		if (strchr("\"'\\`{(", inner.p[i]) || (inner.p[i] == '$' && !m)) {
			s->word.whole = false;
		} else if (inner.p[i] == '$') {
			put_string(&s->word, get_variable(s->vars, (struct span){ tail.p, m }));
			i += m;
		} else {
			put(&s->word, inner.p[i]);
		}
	}
}

/* The name of a variable without braces. The shell removes a backslash before a newline first, so the name continues on
 * the next line. */
static size_t take_variable(struct shell *s, char name[VARIABLE_MAX])
{
	size_t n = 0;

	for (;;) {
		size_t skip = 0;
		int c;

		while (peek(s, skip) == '\\' && peek(s, skip + 1) == '\n')
			skip += 2;
		c = peek(s, skip);
		if (c != '_' && !isalpha(c) && !(n && isdigit(c)))
			return n;
		for (size_t i = 0; i <= skip; i++)
			take(s);
		if (n < VARIABLE_MAX)
			name[n++] = (char)c;
	}
}

static void expand(struct shell *s)
{
	char name[VARIABLE_MAX];
	size_t n;

	if (peek(s, 0) == '`' || peek(s, 1) == '(') {
		if (peek(s, 0) == '$')
			take(s);
		pass_command(s);
		return;
	}
	take(s);
	if (peek(s, 0) == '{') {
		take(s);
		expand_braces(s);
		return;
	}
	n = take_variable(s, name);
	if (n == VARIABLE_MAX)
		s->word.whole = false;
	else if (n)
		put_string(&s->word, get_variable(s->vars, (struct span){ name, n }));
	else if (peek(s, 0) == '!')
		take(s); /* no command runs in the background, so it is empty */
	else if (peek(s, 0) > 0 && strchr("0123456789@*#?$-", peek(s, 0))) {
		take(s);
		s->word.whole = false;
	} else
		put(&s->word, '$');
}

static void take_single_quotes(struct shell *s)
{
	for (int c = take(s); c != '\'' && c != -1; c = take(s))
		put(&s->word, c);
}

static void take_double_quotes(struct shell *s)
{
	while (peek(s, 0) != -1 && peek(s, 0) != '"') {
		int next = peek(s, 1);

		if (peek(s, 0) == '$' || peek(s, 0) == '`') {
			expand(s);
		} else if (peek(s, 0) == '\\' && next > 0 && strchr("$`\"\\\n", next)) {
			take(s);
			if (take(s) != '\n')
				put(&s->word, next);
		} else {
			put(&s->word, take(s));
		}
	}
	take(s);
}

static bool ends_word(int c)
{
	return c == -1 || (c && strchr(" \t\r\n;&|()<>", c));
}

/* NAME= or NAME+= at the beginning of a word. */
static void take_name(struct shell *s)
{
	struct span rest = { s->text.p + s->at, s->text.n - s->at };
	size_t n = name_length(rest);

	s->word.name = (struct span){ rest.p, 0 };
	s->word.append = n + 1 < rest.n && rest.p[n] == '+' && rest.p[n + 1] == '=';
	if (n && n < rest.n && (s->word.append || rest.p[n] == '=')) {
		s->word.name.n = n;
		s->at += n + 1 + s->word.append;
	}
}

static void take_blanks(struct shell *s)
{
	for (;;) {
		int c = peek(s, 0);

		if (c == '\\' && peek(s, 1) == '\n')
			take(s);
		else if (c != ' ' && c != '\t' && c != '\r')
			break;
		take(s);
	}
	if (peek(s, 0) == '#')
		while (peek(s, 0) != -1 && peek(s, 0) != '\n')
			take(s);
}

static void take_part(struct shell *s)
{
	int c = peek(s, 0);

	if (c == '$' || c == '`') {
		expand(s);
		return;
	}
	take(s);
	if (c == '\'') {
		take_single_quotes(s);
	} else if (c == '"') {
		take_double_quotes(s);
	} else if (c == '\\') {
		c = take(s);
		if (c != '\n' && c != -1)
			put(&s->word, c);
	} else {
		put(&s->word, c);
	}
}

/* The next word of the command; false at its end. */
static bool next_word(struct shell *s)
{
	size_t start;

	take_blanks(s);
	if (ends_word(peek(s, 0)))
		return false;
	s->word.n = 0;
	s->word.whole = true;
	take_name(s);
	start = s->at;
	while (!ends_word(peek(s, 0)))
		take_part(s);
	s->word.raw = (struct span){ s->text.p + start, s->at - start };
	s->word.text[s->word.n] = '\0';
	return true;
}

/* ---- commands ---- */

/* The value, after the previous value if the word appends to it. */
static char *full_value(struct shell *s)
{
	const char *before = s->word.append ? get_variable(s->vars, s->word.name) : "";
	struct span value = s->word.raw;

	if (s->word.whole)
		value = (struct span){ s->word.text, s->word.n };
	return arena_printf(s->vars->arena, "%s%.*s", before, SPAN_FMT(value));
}

static bool is_one_of(const struct word *w, const char *const *words)
{
	for (; *words; words++)
		if (span_is(w->raw, *words))
			return true;
	return false;
}

enum command_kind {
	COMMAND_NONE,	 /* only assignments: each sees the ones before it */
	COMMAND_EXPORT,	 /* all words are expanded first */
	COMMAND_SPECIAL, /* assignments before it stay, as POSIX 2.14 has it */
	COMMAND_OTHER,	 /* assignments before it are its environment only */
};

static enum command_kind command_kind(const struct word *w)
{
	static const char *const keywords[] = { "if",	 "then", "elif", "else", "do",
						"while", "!",	 "{",	 "}",	 NULL };
	static const char *const exports[] = { "export", "readonly", NULL };
	static const char *const specials[] = { ":",	 "eval",     "exec",  "exit", "return",
						"set",	 "shift",    "times", "trap", "unset",
						"break", "continue", NULL };

	if (w->name.n || is_one_of(w, keywords))
		return COMMAND_NONE;
	if (is_one_of(w, exports))
		return COMMAND_EXPORT;
	return is_one_of(w, specials) ? COMMAND_SPECIAL : COMMAND_OTHER;
}

/* Determines the kind of the command without running it. */
static enum command_kind look_ahead(struct shell *s)
{
	enum command_kind kind = COMMAND_NONE;
	size_t at = s->at;
	uint64_t line = s->line;

	while (kind == COMMAND_NONE && next_word(s))
		kind = command_kind(&s->word);
	s->at = at;
	s->line = line;
	return kind;
}

static void assign(struct shell *s, const struct pending *p, shellvars_assigned *assigned,
		   void *user)
{
	shellvars_set(s->vars, p->name, p->value);
	assigned(user, p->name, p->value, p->line);
}

static void read_command(struct shell *s, shellvars_assigned *assigned, void *user)
{
	enum command_kind kind = look_ahead(s);
	bool is_past = kind == COMMAND_OTHER;

	s->count = 0;
	while (next_word(s)) {
		struct pending p = { s->word.name, NULL, s->line };

		is_past |= command_kind(&s->word) == COMMAND_SPECIAL;
		if (is_past || !p.name.n)
			continue;
		p.value = full_value(s);
		if (kind != COMMAND_EXPORT)
			assign(s, &p, assigned, user);
		else if (s->count < PENDING_MAX)
			s->pending[s->count++] = p;
	}
	for (size_t i = 0; i < s->count; i++)
		assign(s, &s->pending[i], assigned, user);
}

void shellvars_read(struct shellvars *vars, struct span text, shellvars_assigned *assigned,
		    void *user)
{
	struct shell s = { .vars = vars, .text = text, .line = 1 };

	while (peek(&s, 0) != -1) {
		read_command(&s, assigned, user);
		take(&s); /* the delimiter that ended the command */
	}
}
