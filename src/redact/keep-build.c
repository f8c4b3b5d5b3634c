/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep-build.c - lines of the log of a build: messages of compilers and make, and names of the sources. A path of a
 * home, a wrapper of a compiler, and the person who built a compiler get stand-ins. */
#include <ctype.h>
#include <string.h>

#include "redact/keep-private.h"

/* GCC 12: the texts of gcc/c; make 4.3; Linux 6.1: scripts/mod/modpost.c; data/build-errors.tsv. */
static const char *const words[] = {
	"\\*\\*\\*",
	"-E-",
	"/bin/sh:",
	"CC",
	"Cannot",
	"Check",
	"Compiler",
	"Configuration",
	"ERROR:",
	"Error",
	"Failed",
	"GCC",
	"GNU",
	"GPL-only",
	"Hat",
	"Kernel",
	"Linux",
	"Module.symvers",
	"NVIDIA",
	"No",
	"PREEMPT_RT",
	"Red",
	"SUSE",
	"Debian",
	"Ubuntu",
	"Unable",
	"a",
	"able",
	"accept",
	"after",
	"and",
	"appear",
	"argument",
	"arguments",
	"array",
	"as",
	"assignment",
	"at",
	"be",
	"been",
	"before",
	"but",
	"by",
	"called",
	"cast",
	"cc:",
	"char",
	"check",
	"check.",
	"clang",
	"command",
	"command-line",
	"compilation",
	"compile",
	"configuration",
	"conflicting",
	"conftest",
	"const",
	"declaration",
	"declared",
	"defined",
	"dereferencing",
	"did",
	"directory",
	"discards",
	"does",
	"end",
	"enum",
	"error",
	"error:",
	"errors",
	"expected",
	"expression",
	"failed!",
	"failed",
	"fatal",
	"few",
	"file",
	"find",
	"first",
	"for",
	"format",
	"from",
	"found",
	"function",
	"gcc",
	"gcc:",
	"generated",
	"has",
	"have",
	"implicit",
	"in",
	"incompatible",
	"incomplete",
	"initialization",
	"initializer",
	"input",
	"int",
	"integer",
	"invalid",
	"is",
	"it",
	"kernel",
	"kernel!",
	"known",
	"ld",
	"ld:",
	"left",
	"line",
	"locate",
	"long",
	"lvalue",
	"make",
	"makes",
	"many",
	"match",
	"mean",
	"member",
	"missing",
	"modpost:",
	"module",
	"modules",
	"must",
	"named",
	"no",
	"not",
	"note:",
	"nvidia",
	"object",
	"of",
	"on",
	"only",
	"operand",
	"option",
	"or",
	"out",
	"parameter",
	"passing",
	"plugin",
	"pointer",
	"previous",
	"proprietary",
	"qualifier",
	"recipe",
	"redefinition",
	"required",
	"return",
	"returning",
	"same",
	"sanity",
	"should",
	"size",
	"source",
	"space",
	"statement",
	"static",
	"storage",
	"struct",
	"such",
	"suggest",
	"symbol",
	"symbols",
	"target",
	"terminated.",
	"terminated",
	"than",
	"that",
	"the",
	"this",
	"to",
	"token",
	"too",
	"tree",
	"type",
	"types",
	"undeclared",
	"undefined!",
	"unknown",
	"unrecognized",
	"unsigned",
	"use",
	"used",
	"uses",
	"value",
	"version",
	"versions",
	"void",
	"was",
	"what",
	"with",
	"without",
	"writing",
	"you",
	"device",
	"/",
	"-",
	NULL,
};

static const char *const compilers[] = { "gcc-[0-9]*",	      "clang-[0-9]*",
					 "x86_64-*-gcc",      "x86_64-*-gcc-[0-9]*",
					 "aarch64-*-gcc",     "aarch64-*-gcc-[0-9]*",
					 "make\\[[0-9]*\\]:", "-std=*",
					 "-f[a-z]*",	      "-W[a-z]*",
					 "-m[a-z]*",	      NULL };

/* Of C: with an underscore no person is called so. */
static bool is_identifier(struct span s)
{
	bool underscore = false;

	for (size_t i = 0; i < s.n; i++) {
		if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '_')
			return false;
		underscore |= s.p[i] == '_';
	}
	return s.n < 3 || underscore;
}

/* nvidia/nv-mmap.c:123:5: a source of the package, and its lines. Other paths are kept as paths are. */
static void put_place(struct keeping *k, struct span word)
{
	static const char *const homes[] = { "/*", "~*", NULL };
	size_t n = span_find(word, ':');
	struct span rest = { word.p + n, word.n - n };

	word.n = n;
	if (keep_has(homes, word))
		keep_path(k, word);
	else
		keep_free_text(k, word);
	for (n = 0; n < rest.n && strchr("0123456789:", rest.p[n]); n++)
		putc(rest.p[n], k->out);
	if (n < rest.n)
		keep_instead(k, (struct span){ rest.p + n, rest.n - n });
}

static bool is_source(struct span word)
{
	static const char *const ends[] = {
		"*.c", "*.h", "*.o", "*.ko", "*.S", "*/Makefile", NULL
	};

	word.n = span_find(word, ':');
	for (size_t i = 0; i < word.n; i++)
		if (!isalnum((unsigned char)word.p[i]) && !strchr("._/+~-", word.p[i]))
			return false;
	return word.n && (word.p[0] == '/' || keep_has(ends, word));
}

static void put_word(struct keeping *k, struct span word)
{
	if (keep_has(words, word) || keep_has(compilers, word) || is_identifier(word) ||
	    keep_is_plain(word) || keep_is_version(word))
		keep_free_text(k, word);
	else if (is_source(word))
		put_place(k, word);
	else
		keep_instead(k, word);
}

/* Separators of words: blanks, brackets, and the quotes of GCC, which are three bytes in UTF-8. */
static size_t divider(struct span s)
{
	if (strchr(" \t()[]{}'`\",;*&", s.p[0]))
		return 1;
	return s.n >= 3 && s.p[0] == '\xe2' && s.p[1] == '\x80' ? 3 : 0;
}

void keep_build_line(struct keeping *k, struct span line)
{
	while (line.n) {
		size_t n = 0, past;

		while (n < line.n && !divider((struct span){ line.p + n, line.n - n }))
			n++;
		if (n)
			put_word(k, (struct span){ line.p, n });
		past = n < line.n ? divider((struct span){ line.p + n, line.n - n }) : 0;
		fwrite(line.p + n, 1, past, k->out);
		line = (struct span){ line.p + n + past, line.n - n - past };
	}
}
