/* SPDX-License-Identifier: GPL-2.0-or-later */
/* help.c - the text of --help, for the program or one command. */
#include <stdio.h>

#include "base/text.h"
#include "cli/cli.h"
#include "evaluate/preflight.h"

#define HELP_WIDTH 80
#define HELP_COLUMN 22

static void print_row(const char *left, const char *right)
{
	int n = printf("  %s", left);

	if (n > HELP_COLUMN - 2) {
		putchar('\n');
		n = 0;
	}
	text_wrap(stdout, right, HELP_COLUMN, n, HELP_WIDTH);
}

static void print_option(const struct option_row *row, const struct command *command)
{
	const char *words = cli_words(row, command);
	const char *before = row->kind == OPTION_NVML ? "[=" : row->value ? " " : "";
	char left[64], right[256];

	snprintf(left, sizeof(left), "%c%c%s--%s%s%s%s", row->letter ? '-' : ' ',
		 row->letter ? row->letter : ' ', row->letter ? ", " : "  ", row->name, before,
		 row->value ? row->value : "", row->kind == OPTION_NVML ? "]" : "");
	snprintf(right, sizeof(right), "%s%s%s", row->help, words ? ": " : "", words ? words : "");
	print_row(left, right);
}

static void print_omissions(void)
{
	printf("\nNot checked, because reading it takes longer than a prolog has (doctor does):\n");
	for (const struct preflight_omission *o = preflight_omissions; o->what; o++) {
		char rules[512] = "";
		size_t n = 0;

		for (size_t i = 0; o->rules[i] && n < sizeof(rules); i++)
			n += (size_t)snprintf(rules + n, sizeof(rules) - n, "%s%s", i ? ", " : "",
					      o->rules[i]);
		printf("  ");
		text_wrap(stdout, o->what, 2, 2, HELP_WIDTH);
		printf("    ");
		text_wrap(stdout, rules, 4, 4, HELP_WIDTH);
	}
}

void cli_help(const struct command *command)
{
	if (command) {
		printf("Usage: nvnodecheck %s%s%s [OPTIONS]\n\n", command->name,
		       *command->args ? " " : "", command->args);
		text_wrap(stdout, command->summary, 0, 0, HELP_WIDTH);
	} else {
		printf("Usage: nvnodecheck [COMMAND] [OPTIONS]\n\n"
		       "Says what is wrong with a GPU/RDMA node, how it knows, and what to do.\n\n"
		       "Commands:\n");
		for (const struct command *c = commands; c->name; c++)
			print_row(c->name, c->summary);
	}
	printf("\nOptions:\n");
	for (const struct option_row *row = option_rows; row->name; row++)
		if (!command || row->commands & command->bit)
			print_option(row, command);
	printf("\nExit status: 0 nothing at or above --fail-on, 1 findings, 2 wrong usage or\n"
	       "configuration, 3 incomplete, 4 could not do what was asked, 5 changed and not\n"
	       "confirmed. nvnodecheck(8)\n");
	if (command && command->bit == COMMAND_PREFLIGHT)
		print_omissions();
}
