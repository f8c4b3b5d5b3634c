/* SPDX-License-Identifier: GPL-2.0-or-later */
/* complete.c - completes a command line from the tables of cli.h: the one source of the three files in completions/. */
#include "cli/complete.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/output.h"
#include "base/span.h"
#include "cli/cli.h"
#include "evaluate/rule.h"

/* The command line up to the cursor. */
struct line {
	const struct command *command;	  /* NULL: none yet, which means doctor */
	const struct option_row *pending; /* an option that waits for its value */
	bool equals;			  /* "=" was the word before */
	size_t args;			  /* words after the command that are no options */
	bool only_args;			  /* after "--" */
};

/* The word to complete. OFFERs are whole words that begin with the text before PART. */
struct word {
	struct span before; /* "--only=pci/acs-redirect," */
	struct span part;
};

static void offer(const struct word *word, struct span text, const char *help)
{
	if (text.n < word->part.n || strncmp(text.p, word->part.p, word->part.n) != 0)
		return;
	printf("%.*s%.*s", SPAN_FMT(word->before), SPAN_FMT(text));
	if (help)
		printf("\t%s", help);
	putchar('\n');
}

/* ---- values, by their names in the tables ---- */

static void offer_rules(const struct word *word)
{
	size_t count;
	const struct rule *const *rules = rule_all(&count);

	for (size_t i = 0; i < count; i++)
		offer(word, span_of(rules[i]->id), rules[i]->title);
}

/* Sections of facts and their members. Deeper names depend on the node. */
static void offer_facts(const struct word *word)
{
	char path[64];

	for (size_t i = 0; i < node_desc.count; i++) {
		const struct field *section = &node_desc.fields[i];

		offer(word, span_of(section->name), NULL);
		for (size_t j = 0; section->type == FIELD_STRUCT && j < section->sub->count; j++) {
			snprintf(path, sizeof(path), "%s.%s", section->name,
				 section->sub->fields[j].name);
			offer(word, span_of(path), NULL);
		}
	}
}

static void offer_files(const struct word *word)
{
	(void)word;
	puts(":files");
}

static void offer_folders(const struct word *word)
{
	(void)word;
	puts(":folders");
}

static const struct value_kind {
	const char *name;
	void (*offer)(const struct word *word);
} value_kinds[] = {
	{ "DIR", offer_folders }, { "FILE", offer_files }, { "PATH", offer_facts },
	{ "WORD", offer_rules },  { "RULE", offer_rules }, { "RULES", offer_rules },
};

/* NAME as in a usage line: "[RULE...]". */
static void offer_kind(const struct word *word, const char *name)
{
	size_t n;

	name += strspn(name, "[");
	n = strcspn(name, ".]");
	for (size_t i = 0; i < ARRAY_SIZE(value_kinds); i++)
		if (span_is((struct span){ name, n }, value_kinds[i].name))
			value_kinds[i].offer(word);
}

/* Moves to the part after the last comma of a list. */
static void skip_commas(struct word *word)
{
	const char *comma = memrchr(word->part.p, ',', word->part.n);
	size_t n = comma ? (size_t)(comma + 1 - word->part.p) : 0;

	word->before.n += n;
	word->part.p += n;
	word->part.n -= n;
}

static void offer_value(const struct option_row *row, const struct command *command,
			struct word word)
{
	const char *words = cli_words(row, command);
	struct span rest, one;

	if (row->kind == OPTION_LIST || row->kind == OPTION_PROFILES)
		skip_commas(&word);
	if (!words) {
		offer_kind(&word, row->value);
		return;
	}
	rest = span_of(words);
	while (span_cut(&rest, ',', &one))
		offer(&word, span_trim(one), NULL);
}

/* ---- the line ---- */

/* TEXT begins with a dash. */
static const struct option_row *find_option(struct span text)
{
	for (const struct option_row *row = option_rows; row->name; row++) {
		if (span_starts(text, "--") &&
		    span_is((struct span){ text.p + 2, text.n - 2 }, row->name))
			return row;
		if (text.n == 2 && row->letter && text.p[1] == row->letter)
			return row;
	}
	return NULL;
}

static bool is_option(const char *text)
{
	return text[0] == '-' && text[1];
}

/* An option with an optional value has one only after "=", which bash splits off as a word. */
static void leave_out_value(struct line *line, const char *text)
{
	if (line->pending && line->pending->kind == OPTION_NVML && strcmp(text, "=") != 0 &&
	    !line->equals)
		line->pending = NULL;
	line->equals = line->pending && strcmp(text, "=") == 0;
}

static void take_word(struct line *line, const char *text)
{
	leave_out_value(line, text);
	if (line->pending) {
		/* bash: --format = json */
		if (strcmp(text, "=") != 0)
			line->pending = NULL;
	} else if (!line->only_args && strcmp(text, "--") == 0) {
		line->only_args = true;
	} else if (!line->only_args && is_option(text)) {
		line->pending = find_option(span_of(text));
		if (line->pending && !line->pending->value)
			line->pending = NULL;
	} else if (!line->command) {
		for (const struct command *v = commands; v->name; v++)
			if (strcmp(v->name, text) == 0)
				line->command = v;
	} else {
		line->args++;
	}
}

static void offer_options(const struct command *command, const struct word *word)
{
	char text[64];

	for (const struct option_row *row = option_rows; row->name; row++) {
		if (!(row->commands & command->bit))
			continue;
		snprintf(text, sizeof(text), "--%s", row->name);
		offer(word, span_of(text), row->help);
	}
}

static void offer_word(const struct line *line, const struct word *word)
{
	if (line->command) {
		if (line->args < line->command->args_max)
			offer_kind(word, line->command->args);
		return;
	}
	for (const struct command *v = commands; v->name; v++)
		offer(word, span_of(v->name), v->summary);
}

enum exit_status complete(int count, char **words)
{
	struct line line = { 0 };
	const char *last = count ? words[count - 1] : "", *equals;
	struct word word = { { last, 0 }, span_of(last) };
	const struct option_row *row;
	const struct command *command;

	for (int i = 0; i + 1 < count; i++)
		take_word(&line, words[i]);
	leave_out_value(&line, last);
	command = line.command ? line.command : &commands[0];
	equals = strchr(last, '=');
	if (line.pending) {
		if (strcmp(last, "=") == 0)
			word.part = SPAN("");
		offer_value(line.pending, command, word);
	} else if (!line.only_args && is_option(last) && equals) {
		word.before.n = (size_t)(equals + 1 - last);
		word.part = span_of(equals + 1);
		row = find_option((struct span){ last, (size_t)(equals - last) });
		if (row && row->value)
			offer_value(row, command, word);
	} else if (!line.only_args && *last == '-') {
		offer_options(command, &word);
	} else {
		offer_word(&line, &word);
	}
	return finish_output(EXIT_WELL);
}
