/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep-log.c - lines of the log. A quotation is kept as its source is kept: arguments of the kernel, values of modules'
 * parameters. Serial numbers and names of programs are not kept. */
#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "parse/service-words.h"
#include "query/bootargs.h"
#include "redact/keep-private.h"

static struct span from(struct span s, size_t n)
{
	return (struct span){ s.p + n, s.n - n };
}

/* Where NEEDLE begins, or the length of S. */
static size_t find(struct span s, const char *needle)
{
	const char *at = span_search(s, needle);

	return at ? (size_t)(at - s.p) : s.n;
}

/* ---- words ---- */

/* NAME=VALUE of the kernel's own words, of systemd's, or of an argument. */
static void put_assigned(struct keeping *k, struct span word)
{
	static const char *const names[] = { "severity", "type",   "code",  "status", "id", "agent",
					     "error",	 "result", "state", "reason", NULL };
	struct span name = { word.p, span_find(word, '=') }, value = from(word, name.n + 1);

	if (keep_has(names, name) || span_is(value, "'<unknown>'")) {
		keep_free_text(k, word);
	} else if (bootargs_begins_as_ours(word)) {
		keep_argument(k, word, word);
	} else {
		keep_free_text(k, name);
		putc('=', k->out);
		keep_assigned(k, name, value);
	}
}

static bool is_serial_number(struct span word)
{
	size_t digits = 0;

	for (size_t i = 0; i < word.n; i++)
		digits += isdigit((unsigned char)word.p[i]) != 0;
	return digits >= 10 && digits == word.n;
}

/* "https://USER:PASSWORD@HOST/..." */
static bool is_url_of_somebody(struct span word)
{
	const char *at = span_search(word, "://");

	return at &&
	       span_find(from(word, (size_t)(at - word.p)), '@') < word.n - (size_t)(at - word.p);
}

/* "password hunter2 is wrong": names whose value follows a blank. */
static bool announces_secret(struct span word)
{
	static const char *const names[] = { "password", "Password", "passwd", "passphrase",
					     "token",	 "secret",   NULL };

	while (word.n && strchr(":\"'`", word.p[word.n - 1]))
		word.n--;
	return keep_has(names, word);
}

/* SECRET: the previous words announce a secret or a serial number. Returns true if they still do. */
static bool put_word(struct keeping *k, struct span word, bool secret)
{
	if (secret || is_serial_number(word) || is_url_of_somebody(word))
		keep_instead(k, word);
	else if (span_find(word, '=') < word.n)
		put_assigned(k, word);
	else
		keep_free_text(k, word);
	return span_starts(word, "serial") || span_starts(word, "Serial") ||
	       span_starts(word, "S/N") || announces_secret(word) ||
	       (secret && (span_is(word, "number") || span_is(word, "Number:") ||
			   span_is(word, "number:") || span_is(word, "is")));
}

static void put_words(struct keeping *k, struct span rest)
{
	struct span message = rest;
	bool secret = false;

	while (rest.n) {
		size_t n = keep_program(k, message, rest);

		for (rest = from(rest, n), n = 0; n < rest.n && !strchr(" \t,;()[]", rest.p[n]);)
			n++;
		if (n)
			secret = put_word(k, (struct span){ rest.p, n }, secret);
		rest = from(rest, n);
		if (rest.n) {
			putc(*rest.p, k->out);
			rest = from(rest, 1);
		}
	}
}

/* ---- quotations in a line ---- */

static void put_argument(struct keeping *k, struct span word)
{
	keep_argument(k, word, word);
}

static void put_parameter(struct keeping *k, struct span name)
{
	(keep_is_parameter(name) ? keep_free_text : keep_instead)(k, name);
}

static void put_option(struct keeping *k, struct span option)
{
	(keep_is_option_word(option) ? keep_free_text : keep_instead)(k, option);
}

/* After BEFORE, up to the last AFTER or to the end of the line, which may be cut. */
static const struct quote {
	const char *before, *after;
	void (*keep)(struct keeping *k, struct span text);
} quotes[] = {
	/* The kernel's init/main.c; messages of dracut and others in its log. */
	{ "ommand line parameters \"", "\", will be passed", keep_arguments },
	{ "ommand line parameters:", NULL, keep_arguments },
	{ "ommand line:", NULL, keep_arguments },
	{ "Malformed early option '", "'", put_argument },
	{ "HugeTLB: unsupported ", NULL, keep_arguments },
	/* kernel/module/main.c; drivers/pci/pci.c; drivers/iommu/amd/init.c */
	{ "unknown parameter '", "' ignored", put_parameter },
	{ "nknown option `", "'", put_option },
	{ "nknown option '", "'", put_option },
	{ "nknown option - '", "'", put_option },
};

/* "`VALUE' invalid for parameter `NAME'": kernel/params.c. */
static bool put_refused_value(struct keeping *k, struct span line)
{
	static const char *const texts[] = { "' invalid for parameter `",
					     "' too large for parameter `" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		size_t open = span_find(line, '`') + 1, close = find(line, texts[i]);
		struct span name;

		if (open >= line.n || close == line.n || close < open)
			continue;
		name = from(line, close + strlen(texts[i]));
		name.n = span_find(name, '\'');
		put_words(k, (struct span){ line.p, open });
		keep_assigned(k, name, (struct span){ line.p + open, close - open });
		put_words(k, from(line, close));
		return true;
	}
	return false;
}

void keep_log(struct keeping *k, struct span line)
{
	if (keep_is_refusal(line)) {
		keep_refusal(k, line);
		return;
	}
	if (put_refused_value(k, line))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(quotes); i++) {
		size_t n = find(line, quotes[i].before), end;
		struct span text;

		if (n == line.n)
			continue;
		text = from(line, n + strlen(quotes[i].before));
		end = quotes[i].after ? find(text, quotes[i].after) : text.n;
		put_words(k, (struct span){ line.p, line.n - text.n });
		quotes[i].keep(k, (struct span){ text.p, end });
		put_words(k, from(text, end));
		return;
	}
	put_words(k, line);
}

/* ---- lines of services ---- */

/* A service's quotation of its configuration: paths and numbers stay. */
static void put_quoted(struct keeping *k, struct span text)
{
	if (text.n && text.p[0] == '/')
		keep_path_value(k, text);
	else if (!text.n || keep_is_short_number(text))
		keep_as_it_is(k, text);
	else
		keep_instead(k, text);
}

/* Finds the first quote of TEXT that opens a quotation, or the one that closes MARK. A quote inside a word does not
 * count: "can't". */
static size_t find_quote(struct span text, char mark)
{
	size_t n = 0;

	for (; n < text.n; n++) {
		bool in_word = n && n + 1 < text.n && isalnum((unsigned char)text.p[n - 1]) &&
			       isalnum((unsigned char)text.p[n + 1]);

		if (mark ? text.p[n] == mark && !in_word
			 : strchr("'\"`", text.p[n]) && text.p[n] &&
				    (!n || strchr(" \t:=([{,\\", text.p[n - 1])))
			break;
	}
	return n;
}

/* MARK: TEXT begins within such quotes. */
static void put_with_quotes(struct keeping *k, struct span text, char mark)
{
	while (text.n) {
		size_t n = find_quote(text, mark);
		struct span part = { text.p, n };

		/* The backslash of \" is not part of the quotation. */
		while (mark && part.n && part.p[part.n - 1] == '\\')
			part.n--;
		(mark ? put_quoted : put_words)(k, part);
		keep_as_it_is(k, (struct span){ text.p + part.n, n - part.n + (n < text.n) });
		mark = mark || n == text.n ? '\0' : text.p[n];
		text = from(text, n + (n < text.n));
	}
}

void keep_service_line(struct keeping *k, struct span line)
{
	struct span known = service_word_in(line), after;

	if (!known.n) {
		keep_instead(k, line);
		return;
	}
	if (known.n == line.n) {
		keep_log(k, line);
		return;
	}
	put_words(k, (struct span){ line.p, (size_t)(known.p - line.p) });
	keep_as_it_is(k, known);
	after = from(line, (size_t)(known.p + known.n - line.p));
	put_with_quotes(k, after, known.p[known.n - 1] == '\'' ? '\'' : '\0');
}
