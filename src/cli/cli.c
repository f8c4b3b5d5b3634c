/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cli.c - the command line as two tables: commands and options. */
#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "base/page.h"
#include "base/spelling.h"
#include "cli/cmd.h"
#include "evaluate/report.h"
#include "probes/probe.h"

#define CHOICE_BYTES 128
#define NAME_BYTES 64 /* of an option that is compared */

#define REPORT_FORMATS "text, json, jsonl, prometheus, nagios, npd"
#define DOCTOR_FORMATS "text, html, json, jsonl, prometheus, nagios, npd"

const struct command commands[] = {
	{ "doctor", COMMAND_DOCTOR, "[FILE...]", SIZE_MAX, DOCTOR_FORMATS,
	  "what is wrong with this node, why, and what to do (the default)", cmd_doctor },
	{ "why", COMMAND_WHY, "[FILE]", 1, "text, json",
	  "what a job's log says, and what on this node explains it; FILE may be compressed, - is "
	  "standard input",
	  cmd_why },
	{ "preflight", COMMAND_PREFLIGHT, "", 0, REPORT_FORMATS,
	  "the fast check for job prologs: prints nothing when jobs can run", cmd_preflight },
	{ "fix", COMMAND_FIX, "[RULE...]", LIST_OPTION_MAX, "text, json",
	  "plan the repairs and show them as a diff; --apply does them", cmd_fix },
	{ "undo", COMMAND_UNDO, "[ID]", 1, "text, json", "undo the last repair, or the one named",
	  cmd_undo },
	{ "ack", COMMAND_ACK, "RULE[@SUBJECT]", 1, NULL,
	  "record that you have seen a problem: preflight and the exit status then ignore it",
	  cmd_ack },
	{ "prove", COMMAND_PROVE, "", 0, "text, json",
	  "run trials on the hardware: the doorbell mapping, stream memory operations, copies "
	  "between GPUs, GPU memory for the NIC",
	  cmd_prove },
	{ "explain", COMMAND_EXPLAIN, "RULE", LIST_OPTION_MAX, "text, json",
	  "show what a rule reads, why it matters, how to check by hand and what a repair costs; "
	  "RULE is a name, a part of one, or words of the text",
	  cmd_explain },
	{ "rules", COMMAND_RULES, "[WORD...]", LIST_OPTION_MAX, "text, json, man",
	  "list the rules with profiles, severity and whether software can fix them; WORD is a "
	  "name, a shell pattern, an area, a part of a name, or words of the text",
	  cmd_rules },
	{ "facts", COMMAND_FACTS, "[PATH]", 1, NULL,
	  "print what was observed, as JSON; PATH selects a part, such as pci.devices", cmd_facts },
	{ "capture", COMMAND_CAPTURE, "", 0, NULL,
	  "record the node in one file; doctor --from FILE reads it on any machine", cmd_capture },
	{ "topo", COMMAND_TOPO, "", 0, "text, json, svg",
	  "show the PCI tree of GPUs and NICs with links and ACS, and the paths between them",
	  cmd_topo },
	{ "expect", COMMAND_EXPECT, "[FILE...]", SIZE_MAX, "text, json",
	  "print an [expect] section, the site's baseline, made from this node or from what most of the "
	  "nodes of several FILEs have",
	  cmd_expect },
	{ "diff", COMMAND_DIFF, "FILE...", SIZE_MAX, "text, json, html",
	  "show what differs between the facts files of nodes, and which node is unlike the others",
	  cmd_diff },
	{ 0 },
};

#define EVALUATE (COMMAND_DOCTOR | COMMAND_PREFLIGHT)
#define NODE                                                                       \
	(EVALUATE | COMMAND_WHY | COMMAND_FACTS | COMMAND_CAPTURE | COMMAND_TOPO | \
	 COMMAND_EXPECT | COMMAND_FIX)
#define IMAGE (COMMAND_DOCTOR | COMMAND_FACTS | COMMAND_EXPECT | COMMAND_FIX)
#define TEXT                                                                                \
	(COMMAND_DOCTOR | COMMAND_RULES | COMMAND_EXPLAIN | COMMAND_TOPO | COMMAND_EXPECT | \
	 COMMAND_FIX | COMMAND_UNDO | COMMAND_PROVE | COMMAND_WHY)
#define NVML                                                                             \
	(COMMAND_DOCTOR | COMMAND_WHY | COMMAND_FACTS | COMMAND_CAPTURE | COMMAND_TOPO | \
	 COMMAND_EXPECT)
#define PAGE                                                                             \
	(COMMAND_DOCTOR | COMMAND_WHY | COMMAND_RULES | COMMAND_EXPLAIN | COMMAND_TOPO | \
	 COMMAND_FIX | COMMAND_UNDO | COMMAND_PROVE)

#define AT(kind, member) OPTION_##kind, offsetof(struct options, member)

const struct option_row option_rows[] = {
	{ "root", 0, AT(STRING, root), "DIR", NULL, NODE | COMMAND_UNDO | COMMAND_ACK,
	  "read all files below DIR: a mounted image, a host mounted into a container, a copied "
	  "tree" },
	{ "from", 0, AT(STRING, from), "FILE", NULL, NODE & ~COMMAND_CAPTURE,
	  "read a capture or facts file instead of this machine; - is standard input. doctor and expect "
	  "also take a folder of them, and several FILEs" },
	{ "kernel", 0, AT(STRING, kernel), "RELEASE", NULL, IMAGE,
	  "with the --root of an image: the kernel that it is to boot, in place of the boot loader's choice" },
	{ "hardware", 0, AT(STRING, hardware), "FILE", NULL, IMAGE,
	  "with the --root of an image: a facts file or capture of a machine that will boot it" },
	{ "since", 0, AT(STRING, since), "FILE", NULL, COMMAND_DOCTOR,
	  "also list what has changed on this node since that facts file or capture" },
	{ "with", 0, AT(STRING, with), "FILE", NULL, COMMAND_DOCTOR,
	  "also use the results in FILE, written by prove --json; they outrank what the "
	  "configuration suggests" },
	{ "text", 0, AT(STRING, text), "TEXT", NULL, COMMAND_WHY,
	  "one message, or a few lines of a log, instead of FILE" },
	{ "host", 0, AT(STRING, host), "NAME", NULL, COMMAND_WHY,
	  "the name that this node has in the log" },
	{ "profile", 0, AT(PROFILES, profiles), "LIST",
	  "base, p2p, rdma, gpudirect-rdma, deepep, nccl-gin",
	  EVALUATE | COMMAND_WHY | COMMAND_RULES | COMMAND_FIX | COMMAND_PROVE | COMMAND_ACK,
	  "the uses that the node is checked for, separated by commas" },
	{ "format", 0, AT(WORD, format), "NAME",
	  "text, json, svg, man, jsonl, prometheus, nagios, npd, html",
	  TEXT | COMMAND_PREFLIGHT | COMMAND_DIFF, "the output format" },
	{ "json", 0, AT(JSON, format), NULL, NULL, TEXT | COMMAND_PREFLIGHT | COMMAND_DIFF,
	  "the same as --format json" },
	{ "config", 0, AT(STRING, config), "FILE", NULL,
	  EVALUATE | COMMAND_WHY | COMMAND_FIX | COMMAND_PROVE | COMMAND_ACK,
	  "read this file instead of /etc/nvnodecheck.conf and /etc/nvnodecheck.conf.d/*.conf" },
	{ "only", 0, AT(LIST, only), "RULES", NULL, EVALUATE,
	  "run only these rules, separated by commas; shell patterns such as 'pci/*'" },
	{ "skip", 0, AT(LIST, skip), "RULES", NULL, EVALUATE | COMMAND_FIX,
	  "skip these rules, separated by commas; shell patterns" },
	{ "fail-on", 0, AT(WORD, fail_on), "SEV", "warn, err, crit", EVALUATE,
	  "exit with status 1 for findings of this severity or worse (err)" },
	{ "strict", 0, AT(FLAG, strict), NULL, NULL, COMMAND_DOCTOR,
	  "exit with status 3 when a check of the selected profiles could not run" },
	{ "pid", 0, AT(PID, pid), "PID", NULL, NODE & ~COMMAND_TOPO,
	  "check the environment and limits of that process" },
	{ "all", 0, AT(FLAG, all), NULL, NULL, COMMAND_FIX, "also repair warnings" },
	{ "apply", 0, AT(FLAG, apply), NULL, NULL, COMMAND_FIX, "make the changes; needs root" },
	{ "reason", 0, AT(STRING, reason), "TEXT", NULL, COMMAND_ACK,
	  "why the problem may stay; the report shows it" },
	{ "until", 0, AT(STRING, until), "END", NULL, COMMAND_ACK,
	  "event (the default): until the finding changes or the node boots; boot: until the node boots; "
	  "12h, 7d or a date in UTC: until then, or until the finding changes" },
	{ "withdraw", 0, AT(FLAG, withdraw), NULL, NULL, COMMAND_ACK,
	  "remove the acknowledgement" },
	{ "yes", 'y', AT(FLAG, yes), NULL, NULL, COMMAND_FIX | COMMAND_UNDO,
	  "do not ask for confirmation" },
	{ "plan", 0, AT(STRING, plan), "ID", NULL, COMMAND_FIX,
	  "apply only if the plan still has this ID" },
	{ "no-regenerate", 0, AT(FLAG, no_regenerate), NULL, NULL, COMMAND_FIX | COMMAND_UNDO,
	  "run no generator (initramfs, boot menu), and list what is left to run" },
	{ "allow-writable-parents", 0, AT(FLAG, writable_parents), NULL, NULL,
	  COMMAND_FIX | COMMAND_UNDO,
	  "change a --root below a folder that other users can write to" },
	{ "reload", 0, AT(FLAG, reload), NULL, NULL, COMMAND_FIX,
	  "reload the driver instead of waiting for a reboot, if nothing uses it" },
	{ "list", 0, AT(FLAG, list), NULL, NULL, COMMAND_UNDO,
	  "list the repairs made on this node" },
	{ "quick", 0, AT(FLAG, quick), NULL, NULL, COMMAND_PROVE,
	  "use small copies: a few seconds on eight GPUs" },
	{ "in-use", 0, AT(FLAG, in_use), NULL, NULL, COMMAND_PROVE,
	  "run even if other processes use the GPUs" },
	{ "nvml", 0, AT(NVML, nvml), "WHEN", "yes, force", NVML | COMMAND_DIFF,
	  "also ask the driver about its GPUs: ECC, NVLink, fabric, clocks. force also asks idle GPUs, which "
	  "starts them. WHEN is" },
	{ "serials", 0, AT(FLAG, serials), NULL, NULL, NVML,
	  "with --nvml: also ask for the serial numbers of the boards" },
	{ "timeout", 0, AT(SECONDS, timeout_ms), "SECONDS", NULL, NODE | COMMAND_PROVE,
	  "stop reading or trying after this time (preflight: 5; prove: 300, --quick 60)" },
	{ "output", 'o', AT(STRING, output), "FILE", NULL,
	  (NODE & ~COMMAND_FIX) | COMMAND_DIFF | COMMAND_PROVE | COMMAND_RULES | COMMAND_EXPLAIN,
	  "the file to write; - is standard output" },
	{ "journal", 0, AT(FLAG, journal), NULL, NULL, EVALUATE,
	  "also send the findings to the journal, with fields for journalctl" },
	{ "no-redact", 0, AT(FLAG, no_redact), NULL, NULL, COMMAND_CAPTURE,
	  "keep everything that is read, with real names, addresses and serial numbers" },
	{ "show-redactions", 0, AT(FLAG, show_redactions), NULL, NULL, COMMAND_CAPTURE,
	  "list, by file, what was left out or replaced" },
	{ "color", 0, AT(WORD, color), "WHEN", "auto, always, never", PAGE, "use colour" },
	{ "no-pager", 0, AT(FLAG, no_pager), NULL, NULL, PAGE, "do not use a pager" },
	{ "quiet", 'q', AT(FLAG, quiet), NULL, NULL, EVALUATE,
	  "print nothing: only the exit status counts" },
	{ "verbose", 'v', AT(FLAG, verbose), NULL, NULL, COMMAND_DOCTOR | COMMAND_WHY,
	  "also show full notes, the checks that could not run, passed or do not apply, and the "
	  "tree of topo" },
	{ "brief", 0, AT(FLAG, brief), NULL, NULL, COMMAND_DOCTOR,
	  "the verdict and one line for each problem" },
	{ "for", 0, AT(WORD, audience), "WHOM", "provider", COMMAND_DOCTOR,
	  "write the problems as a request to the administrator or the provider of the node; needs no root" },
	{ "help", 'h', AT(FLAG, help), NULL, NULL, COMMAND_ANY, "show this help" },
	{ "version", 0, AT(FLAG, version), NULL, NULL, COMMAND_ANY, "show the version" },
	{ 0 },
};

#define ROWS (ARRAY_SIZE(option_rows) - 1)

static struct render_options render_options(const struct options *options)
{
	return (struct render_options){
		.format = (enum format)options->format,
		.color = (enum color)options->color,
		.pager = !options->no_pager,
		.verbose = options->verbose,
		.brief = options->brief,
		.for_provider = options->audience >= 0,
		.quiet = options->quiet,
		.journal = options->journal,
		.output = options->output,
		.root = options->root,
		.from = options->from,
		.apply = options->apply,
		.all = options->all || options->args_count,
	};
}

__attribute__((format(printf, 2, 3))) static int usage_error(const struct command *command,
							     const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vcomplain(format, ap);
	va_end(ap);
	fprintf(stderr, "Try 'nvnodecheck %s%s--help'.\n", command ? command->name : "",
		command ? " " : "");
	return -EINVAL;
}

/* ---- values ---- */

static int pick_word(const char *words, const char *value)
{
	struct span rest = span_of(words), word;

	for (int i = 0; span_cut(&rest, ',', &word); i++)
		if (span_is(span_trim(word), value))
			return i;
	return -1;
}

/* "text, json or svg" */
static const char *choice(const char *words, char text[CHOICE_BYTES])
{
	const char *last = strrchr(words, ',');

	if (last)
		snprintf(text, CHOICE_BYTES, "%.*s or%s", (int)(last - words), words, last + 1);
	else
		snprintf(text, CHOICE_BYTES, "%s", words);
	return text;
}

static int set_word(const struct command *command, const struct option_row *row, int *out,
		    const char *value)
{
	char words[CHOICE_BYTES];

	*out = pick_word(row->words, value);
	if (*out >= 0)
		return 0;
	return usage_error(command, "unknown --%s '%s'; choose %s", row->name, value,
			   choice(cli_words(row, command), words));
}

static int set_profiles(const struct command *command, const struct option_row *row,
			unsigned int *out, const char *value)
{
	struct span word;
	unsigned int profiles = profiles_parse(value, &word);

	*out |= profiles;
	if (profiles)
		return 0;
	return usage_error(command, "unknown profile '%.*s'; choose from %s", SPAN_FMT(word),
			   row->words);
}

static int set_list(const struct command *command, const struct option_row *row, const char **list,
		    char *value)
{
	size_t n = 0;

	while (list[n])
		n++;
	for (char *word = strtok(value, ","); word; word = strtok(NULL, ",")) {
		if (n == LIST_OPTION_MAX)
			return usage_error(command, "--%s: more than %d patterns", row->name,
					   LIST_OPTION_MAX);
		list[n++] = word;
	}
	return 0;
}

static int set_pid(const struct command *command, pid_t *out, const char *value)
{
	uint64_t pid;

	if (span_u64(span_of(value), 10, &pid) || pid == 0 || pid > INT_MAX)
		return usage_error(command, "--pid '%s' is not a process id", value);
	*out = (pid_t)pid;
	return 0;
}

/* "2.5"; at least a millisecond and at most a day. */
static int set_seconds(const struct command *command, const struct option_row *row,
		       unsigned int *out, const char *value)
{
	char *end;
	double seconds = strtod(value, &end);

	if (end == value || *end || !(seconds >= 0.001 && seconds <= 86400))
		return usage_error(command, "--%s '%s' is not a number of seconds", row->name,
				   value);
	*out = (unsigned int)(seconds * 1000);
	return 0;
}

static int set_nvml(const struct command *command, const struct option_row *row, int *out,
		    const char *value)
{
	int rc = 0;

	*out = PROBE_NVML_YES;
	if (value)
		rc = set_word(command, row, out, value);
	if (value && rc == 0)
		*out += PROBE_NVML_YES;
	return rc;
}

static int set_option(struct options *o, const struct option_row *row, char *value)
{
	void *out = (char *)o + row->offset;

	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)out = true;
		return 0;
	case OPTION_STRING:
		*(const char **)out = value;
		return 0;
	case OPTION_WORD:
		return set_word(o->command, row, out, value);
	case OPTION_JSON:
		*(int *)out = FORMAT_JSON;
		return 0;
	case OPTION_PROFILES:
		return set_profiles(o->command, row, out, value);
	case OPTION_LIST:
		return set_list(o->command, row, out, value);
	case OPTION_PID:
		return set_pid(o->command, out, value);
	case OPTION_SECONDS:
		return set_seconds(o->command, row, out, value);
	case OPTION_NVML:
		return set_nvml(o->command, row, out, value);
	}
	return 0;
}

/* ---- parsing ---- */

/* getopt's tables from ours; a long option's value is its row's number plus 256. */
static void make_getopt(struct option longs[ROWS + 1], char shorts[2 * ROWS + 2])
{
	size_t n = 0;

	shorts[n++] = ':';
	for (size_t i = 0; i < ROWS; i++) {
		const struct option_row *row = &option_rows[i];

		longs[i] = (struct option){ row->name,
					    row->kind == OPTION_NVML ? optional_argument
					    : row->value	     ? required_argument
								     : no_argument,
					    NULL, 256 + (int)i };
		if (row->letter) {
			shorts[n++] = row->letter;
			if (row->value)
				shorts[n++] = ':';
		}
	}
	longs[ROWS] = (struct option){ 0 };
	shorts[n] = '\0';
}

static const struct option_row *find_row(int c)
{
	if (c >= 256)
		return &option_rows[c - 256];
	for (const struct option_row *row = option_rows; row->name; row++)
		if (row->letter == c)
			return row;
	return NULL;
}

static const struct command *find_command(const char *word)
{
	for (const struct command *v = commands; v->name; v++)
		if (strcmp(v->name, word) == 0)
			return v;
	return NULL;
}

/* The command is the first word that is not an option; without one it is doctor. "help COMMAND" is "COMMAND --help".
 * Returns NULL if there is no such command. */
static const struct command *take_command(struct options *o, char **words, size_t count)
{
	if (count && strcmp(words[0], "help") == 0) {
		o->help = true;
		words++;
		count--;
	}
	o->names_command = count > 0;
	o->command = count ? find_command(words[0]) : &commands[0];
	o->args = count ? words + 1 : words;
	o->args_count = count ? count - 1 : 0;
	return o->command;
}

static int refuse_command(const char *word)
{
	struct spelling spelling;

	spelling_begin(&spelling, word);
	for (const struct command *v = commands; v->name; v++)
		spelling_offer(&spelling, v->name);
	if (spelling.nearest)
		return usage_error(NULL, "unknown command '%s'; did you mean %s?", word,
				   spelling.nearest);
	return usage_error(NULL, "unknown command '%s'", word);
}

/* TYPED is the whole word, such as "--prfile=deepep". For a letter, or a known name, getopt has the name. */
static int refuse_option(const struct command *command, const char *typed)
{
	char name[NAME_BYTES];
	struct spelling spelling;

	if (optopt >= 256)
		return usage_error(command, "--%s takes no value", find_row(optopt)->name);
	if (optopt)
		return usage_error(command, "unknown option '-%c'", optopt);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(typed + 2, "="), typed + 2);
	spelling_begin(&spelling, name);
	for (const struct option_row *row = option_rows; row->name; row++)
		if (!command || row->commands & command->bit)
			spelling_offer(&spelling, row->name);
	if (spelling.nearest)
		return usage_error(command, "unknown option '%s'; did you mean --%s?", typed,
				   spelling.nearest);
	return usage_error(command, "unknown option '%s'", typed);
}

const char *cli_words(const struct option_row *row, const struct command *command)
{
	bool is_format = row->kind == OPTION_WORD &&
			 row->offset == offsetof(struct options, format);

	return is_format && command && command->formats ? command->formats : row->words;
}

static int check_format(const struct options *o)
{
	static const char *const names[] = {
		[FORMAT_TEXT] = "text",	    [FORMAT_JSON] = "json",
		[FORMAT_SVG] = "svg",	    [FORMAT_MAN] = "man",
		[FORMAT_JSONL] = "jsonl",   [FORMAT_PROMETHEUS] = "prometheus",
		[FORMAT_NAGIOS] = "nagios", [FORMAT_NPD] = "npd",
		[FORMAT_HTML] = "html",
	};

	char words[CHOICE_BYTES];

	if (!o->command->formats || pick_word(o->command->formats, names[o->format]) >= 0)
		return 0;
	return usage_error(o->command, "unknown --format '%s'; choose %s", names[o->format],
			   choice(o->command->formats, words));
}

/* "doctor FILE" is "doctor --from FILE". */
static void take_file(struct options *o)
{
	if (!(o->command->bit & (COMMAND_DOCTOR | COMMAND_EXPECT)) || !o->args_count || o->from)
		return;
	o->from = *o->args++;
	o->args_count--;
}

static int check_use(const struct options *o)
{
	if (o->help || o->version)
		return 0;
	if (check_format(o))
		return -EINVAL;
	if (o->args_count > o->command->args_max)
		return usage_error(o->command, "unexpected '%s'", o->args[o->command->args_max]);
	if (o->command->args[0] && o->command->args[0] != '[' && o->args_count == 0)
		return usage_error(o->command, "%s needs a %s", o->command->name, o->command->args);
	if (o->root && o->from)
		return usage_error(o->command, "--root and --from cannot be used together");
	if ((o->kernel || o->hardware) && !o->root)
		return usage_error(o->command, "--%s needs the --root of an image",
				   o->kernel ? "kernel" : "hardware");
	if (o->nvml && (o->root || o->from || (o->command->bit == COMMAND_DOCTOR && o->args_count)))
		return usage_error(o->command,
				   "--nvml asks the driver of this machine; it cannot be used "
				   "with --root or --from");
	if (o->serials && !o->nvml)
		return usage_error(o->command, "--serials needs --nvml");
	if (o->quiet && o->output)
		return usage_error(o->command, "--quiet and --output cannot be used together");
	if (o->audience >= 0 && (o->format || o->brief))
		return usage_error(o->command, "--for and %s cannot be used together",
				   o->brief ? "--brief" : "--format");
	if (o->show_redactions && o->no_redact)
		return usage_error(o->command,
				   "--show-redactions and --no-redact cannot be used together");
	if (o->show_redactions && o->output && strcmp(o->output, "-") == 0)
		return usage_error(
			o->command,
			"--show-redactions prints its list on standard output; write the capture "
			"with -o FILE");
	if (o->command->bit == COMMAND_WHY && !o->args_count == !o->text)
		return usage_error(o->command, o->text ? "--text and FILE cannot be used together"
						       : "why needs a FILE or --text");
	if (o->command->bit == COMMAND_WHY && o->args_count && o->from &&
	    strcmp(o->args[0], "-") == 0 && strcmp(o->from, "-") == 0)
		return usage_error(o->command, "FILE and --from cannot both be standard input");
	if (o->list && o->args_count)
		return usage_error(o->command, "--list takes no ID");
	return 0;
}

/* Refuses an option that is given twice, because one of its two values would silently be lost. Lists and flags may
 * be repeated. */
static int check_once(const struct command *command, const struct option_row *row,
		      const bool used[ROWS])
{
	if (row->kind == OPTION_LIST || row->kind == OPTION_PROFILES)
		return 0;
	if (row->value && used[row - option_rows])
		return usage_error(command, "--%s is given twice", row->name);
	for (size_t i = 0; i < ROWS; i++)
		if (used[i] && &option_rows[i] != row && option_rows[i].offset == row->offset)
			return usage_error(command, "--%s and --%s cannot be used together",
					   option_rows[i].name, row->name);
	return 0;
}

/* Reads the command and --format before the options are checked: a usage error suggests the command's options and is
 * printed in the format. It works on a copy, because getopt reorders the arguments. */
static void read_command_and_format(int argc, char **argv, const char *shorts,
				    const struct option *longs, struct options *o)
{
	_cleanup_free_ char **words = memory_need(calloc((size_t)argc + 1, sizeof(*words)));
	int c, word;

	memcpy(words, argv, (size_t)argc * sizeof(*words));
	while ((c = getopt_long(argc, words, shorts, longs, NULL)) != -1) {
		const struct option_row *row = c == '?' || c == ':' ? NULL : find_row(c);

		if (!row || row->offset != offsetof(struct options, format))
			continue;
		word = row->kind == OPTION_JSON ? FORMAT_JSON : pick_word(row->words, optarg);
		o->format = word < 0 ? o->format : word;
	}
	take_command(o, words + optind, (size_t)(argc - optind));
	o->args = NULL;
	optind = 0; /* getopt(3): starts again */
}

static int parse(int argc, char **argv, struct options *o)
{
	struct option longs[ROWS + 1];
	char shorts[2 * ROWS + 2];
	bool used[ROWS] = { false };
	int c, rc;

	*o = (struct options){ .fail_on = -1, .audience = -1 };
	make_getopt(longs, shorts);
	opterr = 0;
	read_command_and_format(argc, argv, shorts, longs, o);
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct option_row *row = find_row(c);

		if (c == ':')
			return usage_error(o->command, "%s needs a value", argv[optind - 1]);
		if (!row || c == '?')
			return refuse_option(o->command, argv[optind - 1]);
		if (o->command && !(row->commands & o->command->bit))
			return usage_error(o->command, "--%s is not an option of %s", row->name,
					   o->command->name);
		rc = check_once(o->command, row, used);
		used[row - option_rows] = true;
		if (rc == 0)
			rc = set_option(o, row, optarg);
		if (rc)
			return rc;
	}
	if (!take_command(o, argv + optind, (size_t)(argc - optind)))
		return refuse_command(o->args[-1]);
	take_file(o);
	return check_use(o);
}

int cli_parse(int argc, char **argv, struct options *options)
{
	int rc = parse(argc, argv, options);

	options->render = render_options(options);
	return rc;
}
