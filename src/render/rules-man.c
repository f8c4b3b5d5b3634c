/* SPDX-License-Identifier: GPL-2.0-or-later */
/* rules-man.c - nvnodecheck-rules(7): all rules as a manual page, in the macros of man(7). */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/output.h"
#include "base/span.h"
#include "base/version.h"
#include "evaluate/preflight.h"
#include "evaluate/used.h"
#include "render/render.h"

/* A word longer than this may be broken after one of these: paths, lists of parameters, names. */
#define WORD_LONG 24

static void put_word(struct span word)
{
	struct span rest = word;
	char to[ESCAPE_MAX];

	while (escape_next(SINK_ROFF, &rest, to)) {
		fputs(to, stdout);
		if (word.n > WORD_LONG && rest.n + 1 < word.n && rest.n &&
		    strchr("/,;=_", rest.p[-1]))
			fputs("\\:", stdout);
	}
}

/* A line that begins with "." would be a request; "'" is escaped anyhow. */
static void put_text(struct span line)
{
	struct span word;

	if (line.n && line.p[0] == '.')
		fputs("\\&", stdout);
	for (bool first = true; span_cut(&line, ' ', &word); first = false) {
		if (!first)
			putchar(' ');
		put_word(word);
	}
}

static void paragraph(const char *text)
{
	struct span rest = span_of(text), line;

	for (bool first = true; span_cut(&rest, '\n', &line); first = false) {
		if (!first)
			puts(".br");
		put_text(span_trim(line));
		putchar('\n');
	}
}

static void field(const char *name, const char *text)
{
	if (!text || !*text)
		return;
	printf(".TP 10\n.B %s\n", name);
	paragraph(text);
}

static void repair(const struct rule *rule)
{
	const char *when = activation_text(rule->activation);

	puts(".TP 10\n.B Fix");
	put_text(span_of(rule->fix.kind ? rule->fix.kind
					: "none: software on the node cannot repair it"));
	if (when)
		printf("; what is done takes effect %s", when);
	putchar('\n');
}

static void one_rule(const struct rule *rule)
{
	char buffer[64], used[USED_TEXT_MAX], remedy[REMEDY_MAX];

	printf(".SS ");
	put_text(span_of(rule->id));
	putchar('\n');
	paragraph(rule->title);
	field("Severity", severity_words[rule->severity]);
	field("Profiles", render_profiles(rule->profiles, buffer));
	field("In all profiles with", rule_used_text(rule, used));
	if (rule_max_severity(rule) >= SEVERITY_ERR && preflight_omission_of(rule->id))
		field("Preflight",
		      "Does not ask this, or not all of it, because that takes longer than a prolog has.");
	field("Read", rule->reads);
	field("Why", rule->why);
	field("Impact", rule->impact);
	field("Check", rule->check);
	field("Remedy", rule_remedy(rule, remedy));
	repair(rule);
	field("Cost", rule->cost);
	field("Sources", rule->sources);
}

/* The rules are sorted, so that those of an area follow each other. */
static void area(const struct rule *rule, const struct rule *before)
{
	size_t n = strcspn(rule->id, "/");

	if (before && strncmp(before->id, rule->id, n + 1) == 0)
		return;
	printf(".SH \"");
	for (size_t i = 0; i < n; i++)
		escape_printf(stdout, SINK_ROFF, "%c", toupper((unsigned char)rule->id[i]));
	puts("\"");
}

static const char head[] =
	".SH NAME\n"
	"nvnodecheck\\-rules \\- the problems of GPU/RDMA nodes that nvnodecheck finds\n"
	".SH DESCRIPTION\n"
	".BR nvnodecheck (8)\n"
	"checks a node with the rules below.\n"
	"Each rule has a permanent name and runs in the profiles that it lists.\n"
	"A rule of\n"
	".I base\n"
	"runs in all profiles.\n"
	"So does a rule whose software is in use on the node: a module of its list is loaded or is loaded at boot, or a\n"
	"variable of its list is set for jobs.\n"
	"The severity is that of a failure.\n"
	"A finding can be less or more severe, and\n"
	".BR nvnodecheck.conf (5)\n"
	"can set a different severity.\n"
	"What could not be read never passes and never fails.\n"
	".PP\n"
	"This page is written by\n"
	".BR \"nvnodecheck rules \\-\\-format man\" ,\n"
	"from the table that\n"
	".B nvnodecheck explain\n"
	"reads too.\n";

enum exit_status render_rules_man(const struct rule *const *rules, size_t count)
{
	puts(".\\\" SPDX-License-Identifier: GPL-2.0-or-later");
	puts(".TH NVNODECHECK\\-RULES 7 \"\" \"nvnodecheck " NVNODECHECK_VERSION "\"");
	/* Names and commands are not for breaking, and a ragged right margin needs no blanks. */
	puts(".nh\n.ad l");
	fputs(head, stdout);
	for (size_t i = 0; i < count; i++) {
		area(rules[i], i ? rules[i - 1] : NULL);
		one_rule(rules[i]);
	}
	puts(".SH SEE ALSO\n.BR nvnodecheck (8),\n.BR nvnodecheck.conf (5)");
	return finish_output(EXIT_WELL);
}
