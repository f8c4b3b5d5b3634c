/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep-boot.c - boot loaders: the menu's entries with their command lines, and what picks one of them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "host/keep-words.h"

/* ---- names of entries ---- */

static const char *const title_words[] = {
	"Advanced",   "AlmaLinux", "Amazon",	 "Arch",      "CentOS",	   "DGX",	"Debian",
	"Enterprise", "Fedora",	   "Firmware",	 "GNU/Linux", "Hat",	   "Interface", "Kylin",
	"LTS",	      "Leap",	   "Linux",	 "Memory",    "NVIDIA",	   "OS",	"Oracle",
	"Pop!_OS",    "Proxmox",   "Red",	 "Rocky",     "SLES",	   "SUSE",	"Server",
	"Settings",   "Stream",	   "Tumbleweed", "UEFI",      "Ubuntu",	   "VE",	"Windows",
	"boot",	      "entry",	   "for",	 "fallback",  "initramfs", "kernel",	"loader",
	"mode",	      "openSUSE",  "options",	 "recovery",  "rescue",	   "test",	"with",
	"on",	      "in",	   "the",	 NULL,
};

/* Beginnings of ids that programs make: of a kernel's release, a UUID, a machine's id. */
static const char *const made_ids[] = { "gnulinux*", "osprober*",   "uefi-firmware*",
					"memtest*",  "[0-9a-f]*-*", "auto-*",
					"saved",     "@saved",	    "*.conf",
					"*.efi",     NULL };

static bool is_number(struct span s)
{
	size_t n = 0;

	while (n < s.n && isdigit((unsigned char)s.p[n]))
		n++;
	return n == s.n;
}

static bool is_title(struct span text)
{
	while (text.n) {
		size_t n = 0;

		while (n < text.n && !strchr(" ,()", text.p[n]))
			n++;
		if (n && !isdigit((unsigned char)*text.p) &&
		    !keep_has(title_words, (struct span){ text.p, n }))
			return false;
		text = (struct span){ text.p + n + (n < text.n), text.n - n - (n < text.n) };
	}
	return true;
}

/* A title or an id; of "outer>inner" each. */
void keep_entry_name(struct keeping *k, struct span name)
{
	struct span part;

	while (span_cut(&name, '>', &part)) {
		if (is_number(part) || is_title(part) || keep_has(made_ids, part))
			keep_free_text(k, part);
		else
			keep_instead(k, part);
		if (part.p + part.n < name.p)
			putc('>', k->out);
	}
}

/* ---- variables ---- */

bool keep_is_variable(struct span word)
{
	size_t n = 1;

	if (word.n < 2 || word.p[0] != '$')
		return false;
	while (n < word.n && (isalnum((unsigned char)word.p[n]) || strchr("_?{}", word.p[n])))
		n++;
	return n == word.n;
}

static bool names_entry(struct span variable)
{
	static const char *const names[] = { "default",		 "fallback",
					     "saved_entry",	 "next_entry",
					     "prev_saved_entry", "chosen",
					     "GRUB_DEFAULT",	 NULL };

	return keep_has(names, variable);
}

static void put_words(struct keeping *k, struct span value)
{
	struct keep_words w = { .rest = value, .blanks = " \t\n", .quotes = "\"" };

	while (keep_next_word(&w)) {
		keep_as_it_is(k, w.gap);
		if (keep_is_variable(w.raw) || keep_is_plain(w.raw))
			keep_as_it_is(k, w.raw);
		else
			keep_argument(k, w.raw, w.raw);
	}
	keep_as_it_is(k, w.gap);
}

static void put_entry_value(struct keeping *k, struct span value)
{
	if (keep_is_variable(value))
		keep_as_it_is(k, value);
	else
		keep_entry_name(k, value);
}

/* A value as it means: the name of an entry, or numbers, words, variables and arguments. */
void keep_value(struct keeping *k, struct span variable, struct span value)
{
	if (names_entry(variable))
		put_entry_value(k, value);
	else
		put_words(k, value);
}

static size_t name_length(struct span s)
{
	size_t n = 0;

	while (n < s.n && (isalnum((unsigned char)s.p[n]) || s.p[n] == '_') &&
	       (n || !isdigit((unsigned char)s.p[0])))
		n++;
	return n;
}

/* VALUE within double quotes of a shell or of GRUB. */
static void put_quoted(struct keeping *k, struct span variable, struct span value)
{
	_cleanup_free_ char *text = names_entry(variable) ? keep_string(k, put_entry_value, value)
							  : keep_string(k, put_words, value);

	putc('"', k->out);
	for (const char *p = text ? text : ""; *p; p++) {
		if (strchr("\\\"`", *p))
			putc('\\', k->out);
		putc(*p, k->out);
	}
	putc('"', k->out);
}

/* ---- a shell's assignments ---- */

/* Past `...` and $(...), whose beginning is at AT: the last byte of it. */
static size_t pass_command(struct span text, size_t at)
{
	char end = text.p[at] == '`' ? '`' : ')';
	size_t depth = 0;

	for (at += end == ')'; at + 1 < text.n; at++) {
		depth += end == ')' && text.p[at] == '(';
		if (text.p[at + 1] == end && (end == '`' || --depth == 0))
			return at + 1;
	}
	return at;
}

static bool ends_word(struct span text, size_t at)
{
	return at >= text.n || strchr(" \t\r\n;", text.p[at]);
}

/* Up to what ends a command outside of quotes: one of ENDS or, where there are blocks, a brace that stands alone.
 * It opens a block behind a command, or closes one as a command of its own. */
static size_t command_length(struct span text, const char *ends, bool blocks)
{
	bool empty = true; /* so far */
	char quote = '\0';
	size_t n = 0;

	for (; n < text.n; n++) {
		char c = text.p[n];
		bool begins = !n || strchr(" \t", text.p[n - 1]);

		if (c == '\\' && quote != '\'')
			n += n + 1 < text.n;
		else if (quote != '\'' &&
			 (c == '`' || (c == '$' && n + 1 < text.n && text.p[n + 1] == '(')))
			n = pass_command(text, n);
		else if (quote ? c == quote : c == '"' || c == '\'')
			quote = quote ? '\0' : c;
		else if (!quote && c && strchr(ends, c))
			break;
		else if (!quote && blocks && begins && c == '{' && ends_word(text, n + 1))
			return n + 1;
		else if (!quote && blocks && begins && c == '}' && ends_word(text, n + 1))
			return empty ? n + 1 : n;
		else if (!quote && c == '#' && begins)
			while (n + 1 < text.n && text.p[n + 1] != '\n')
				n++;
		empty &= strchr(" \t\r", c) && c;
	}
	return n < text.n ? n : text.n;
}

/* NAME=VALUE alone, behind words such as export; what else is a command says nothing that is asked. */
static bool find_assignment(struct span command, struct keep_words *w)
{
	static const char *const keywords[] = { "if", "then", "elif", "else",	"do",	    "while",
						"!",  "{",    "}",    "export", "readonly", NULL };
	struct keep_words more;

	*w = (struct keep_words){
		.rest = command, .blanks = " \t\n\r", .quotes = "\"'", .backslash = true
	};
	do
		if (!keep_next_word(w) || w->raw.p[0] == '#')
			return false;
	while (keep_has(keywords, w->raw));
	more = *w;
	return !keep_next_word(&more) || more.raw.p[0] == '#';
}

static size_t newlines(struct span text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == '\n';
	return n;
}

static void put_shell_command(struct keeping *k, struct span command)
{
	_cleanup_free_ char *buffer = malloc(command.n + 1);
	struct keep_words w;
	struct span word, name;
	bool append;

	if (!buffer || !find_assignment(command, &w)) {
		keep_nothing(k, command);
		return;
	}
	word = keep_unquoted(&w, buffer);
	name = (struct span){ word.p, name_length(word) };
	append = name.n + 1 < word.n && word.p[name.n] == '+';
	if (!name.n || name.n + append >= word.n || word.p[name.n + append] != '=') {
		keep_nothing(k, command);
		return;
	}
	/* Where it stood, so that lines before it stay as many. */
	keep_nothing(k, (struct span){ command.p, (size_t)(w.raw.p - command.p) });
	fprintf(k->out, "%.*s%s=", SPAN_FMT(name), append ? "+" : "");
	put_quoted(k, name,
		   (struct span){ word.p + name.n + append + 1, word.n - name.n - append - 1 });
	for (size_t i =
		     newlines((struct span){ w.raw.p, (size_t)(command.p + command.n - w.raw.p) });
	     i > 0; i--)
		putc('\n', k->out);
}

void keep_shell(struct keeping *k, struct span text)
{
	while (text.n) {
		size_t n = command_length(text, "\n;&|()<>", false);

		put_shell_command(k, (struct span){ text.p, n });
		if (n < text.n)
			putc(text.p[n], k->out);
		n += n < text.n;
		text = (struct span){ text.p + n, text.n - n };
	}
}

/* ---- grub.cfg ---- */

/* A word, quoted anew where that is needed. */
static void put_grub_word(struct keeping *k, struct span word,
			  void (*put)(struct keeping *k, struct span word))
{
	_cleanup_free_ char *text = keep_string(k, put, word);

	if (text && *text && !strpbrk(text, " \t\n;\\\"'{}$#")) {
		fputs(text, k->out);
		return;
	}
	putc('\'', k->out);
	for (const char *p = text ? text : ""; *p; p++)
		if (*p == '\'')
			fputs("'\\''", k->out);
		else
			putc(*p, k->out);
	putc('\'', k->out);
}

static void put_one_argument(struct keeping *k, struct span word)
{
	keep_argument(k, word, word);
}

/* Of a condition: brackets, operators, and values that others are compared with. */
static void put_condition(struct keeping *k, struct span word)
{
	static const char *const words[] = { "\\[", "\\]", "!", "-?", "=", "==", "!=", NULL };

	if (!word.n || keep_has(words, word) || keep_is_plain(word))
		keep_as_it_is(k, word);
	else
		keep_instead(k, word);
}

struct grub_words {
	struct keep_words w;
	char *buffer;
	struct span word; /* without quotes */
	bool variable;	  /* a word that is "$name" and nothing else, as it is written */
};

static bool next_grub_word(struct keeping *k, struct grub_words *g)
{
	struct span raw, bare;

	if (!keep_next_word(&g->w))
		return false;
	for (size_t i = 0; i < g->w.gap.n; i++)
		if (g->w.gap.p[i] == '\n')
			fputs("\\\n", k->out);
	putc(' ', k->out);
	g->word = keep_unquoted(&g->w, g->buffer);
	raw = bare = g->w.raw;
	if (raw.n > 1 && raw.p[0] == '"' && raw.p[raw.n - 1] == '"')
		bare = (struct span){ raw.p + 1, raw.n - 2 };
	g->variable = keep_is_variable(bare);
	return true;
}

static void put_grub_words(struct keeping *k, struct grub_words *g,
			   void (*put)(struct keeping *k, struct span word))
{
	while (next_grub_word(k, g))
		if (g->variable || span_is(g->w.raw, "{"))
			keep_as_it_is(k, g->w.raw);
		else
			put_grub_word(k, g->word, put);
}

/* set NAME=VALUE */
static void put_set(struct keeping *k, struct grub_words *g)
{
	size_t equals = span_find(g->word, '=');
	struct span name = { g->word.p, equals };
	struct span value = { g->word.p + equals + 1, g->word.n - equals - 1 };

	if (equals == g->word.n || name_length(name) != name.n) {
		keep_instead(k, g->word);
		return;
	}
	fprintf(k->out, "%.*s=", SPAN_FMT(name));
	put_quoted(k, name, value);
}

static void put_entry_word(struct keeping *k, struct span word)
{
	static const char *const options[] = { "--class", "--id",     "--unrestricted", "--hotkey",
					       "--users", "--source", "--id=*",		NULL };

	if (span_starts(word, "--id=")) {
		fputs("--id=", k->out);
		keep_entry_name(k, (struct span){ word.p + 5, word.n - 5 });
	} else if (keep_has(options, word)) {
		keep_as_it_is(k, word);
	} else {
		keep_entry_name(k, word);
	}
}

static void put_grub_command(struct keeping *k, struct span command)
{
	static const char *const alone[] = { "}",      "fi",	     "then", "else",
					     "blscfg", "bls_import", "done", NULL };
	static const char *const conditions[] = { "if", "elif", NULL };
	static const char *const kernels[] = { "linux", "linux16", "linuxefi", NULL };
	static const char *const images[] = { "initrd", "initrd16", "initrdefi", NULL };
	static const char *const entries[] = { "menuentry", "submenu", NULL };
	_cleanup_free_ char *buffer = malloc(command.n + 1);
	struct grub_words g = {
		.w = { .rest = command, .blanks = " \t\r\n", .quotes = "\"'", .backslash = true },
		.buffer = buffer
	};
	struct keep_words ahead = g.w;
	bool set;

	if (!buffer || !keep_next_word(&ahead) || ahead.raw.p[0] == '#') {
		keep_nothing(k, command);
		return;
	}
	next_grub_word(k, &g);
	while (keep_has(alone, g.word)) {
		keep_as_it_is(k, g.word);
		if (!next_grub_word(k, &g))
			return;
	}
	set = span_is(g.word, "set");
	if (set && !next_grub_word(k, &g))
		return;
	if (set || (name_length(g.word) < g.word.n && g.word.p[name_length(g.word)] == '=')) {
		fputs(set ? "set " : "", k->out);
		put_set(k, &g);
	} else if (keep_has(conditions, g.word)) {
		keep_as_it_is(k, g.word);
		put_grub_words(k, &g, put_condition);
	} else if (keep_has(kernels, g.word) || keep_has(images, g.word)) {
		bool kernel = keep_has(kernels, g.word);

		keep_as_it_is(k, g.word);
		if (kernel && next_grub_word(k, &g))
			put_grub_word(k, g.word, keep_boot_path);
		put_grub_words(k, &g, kernel ? put_one_argument : keep_boot_path);
	} else if (keep_has(entries, g.word)) {
		keep_as_it_is(k, g.word);
		put_grub_words(k, &g, put_entry_word);
	} else {
		/* A function, or what else has a block. */
		fputs(command.p[command.n - 1] == '{' ? "other {" : "", k->out);
		keep_nothing(k, command);
	}
}

void keep_grub(struct keeping *k, struct span text)
{
	while (text.n) {
		size_t n = command_length(text, "\n;", true);

		put_grub_command(k, (struct span){ text.p, n });
		if (n < text.n && (text.p[n] == '\n' || text.p[n] == ';'))
			putc(text.p[n++], k->out);
		text = (struct span){ text.p + n, text.n - n };
	}
}

void keep_grubenv(struct keeping *k, struct span text)
{
	struct span line;

	while (span_cut(&text, '\n', &line)) {
		size_t equals = span_find(line, '=');
		struct span name = { line.p, equals };

		if (span_is(line, "# GRUB Environment Block")) {
			keep_as_it_is(k, line);
		} else if (equals < line.n && name.n && name_length(name) == name.n) {
			fprintf(k->out, "%.*s=", SPAN_FMT(name));
			keep_value(k, name,
				   (struct span){ line.p + equals + 1, line.n - equals - 1 });
		}
		if (line.p + line.n < text.p)
			putc('\n', k->out);
	}
}
