/* SPDX-License-Identifier: GPL-2.0-or-later */
/* keep-boot.c - boot loaders: the menu's entries with their command lines, and the settings that select one of them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "redact/keep-private.h"

/* ---- names of entries ---- */

static const char *const title_words[] = {
	"Advanced",   "AlmaLinux",  "Amazon",	"Arch",	     "CentOS",	  "DGX",
	"Debian",     "Enterprise", "Fedora",	"Firmware",  "GNU/Linux", "Hat",
	"Interface",  "Kylin",	    "LTS",	"Leap",	     "Linux",	  "Memory",
	"NVIDIA",     "OS",	    "Oracle",	"Pop!_OS",   "Proxmox",	  "Red",
	"Rocky",      "SLES",	    "SUSE",	"Server",    "Settings",  "Stream",
	"Tumbleweed", "UEFI",	    "Ubuntu",	"VE",	     "Windows",	  "boot",
	"entry",      "for",	    "fallback", "initramfs", "kernel",	  "loader",
	"mode",	      "openSUSE",   "options",	"recovery",  "rescue",	  "test",
	"with",	      "Coughlan",   "Maipo",	"Ootpa",     "Plow",	  "systemd-boot",
	"on",	      "in",	    "the",	NULL,
};

bool keep_is_version(struct span s)
{
	size_t n = 0;

	while (n < s.n && isdigit((unsigned char)s.p[n]))
		n++;
	if (!n || n > 8 ||
	    (n < s.n && (s.p[n] != '.' || n + 1 == s.n || !isdigit((unsigned char)s.p[n + 1]))))
		return false;
	while (n < s.n && (isalnum((unsigned char)s.p[n]) || strchr("._+~-", s.p[n])))
		n++;
	return n == s.n;
}

/* Decides for a word of a title; commas and brackets around it are not part of it. */
static bool is_title_word(struct span word)
{
	while (word.n && strchr("(", word.p[0]))
		word = (struct span){ word.p + 1, word.n - 1 };
	while (word.n && strchr("),", word.p[word.n - 1]))
		word.n--;
	return keep_is_version(word) || keep_has(title_words, word);
}

/* An id may be the name of the file that has the entry. */
static bool is_file_name(struct span s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isalnum((unsigned char)s.p[i]) && !strchr("._+~@-", s.p[i]) &&
		    !KEEP_IS_MARK(s.p[i]))
			return false;
	return true;
}

/* ---- variables ---- */

bool keep_is_variable(struct span word)
{
	size_t n = 1, marks = 0;

	while (marks < word.n && KEEP_IS_MARK(word.p[marks]))
		marks++;
	if (word.n && marks == word.n)
		return true;
	if (word.n < 2 || word.p[0] != '$')
		return false;
	while (n < word.n && (isalnum((unsigned char)word.p[n]) || strchr("_?{}", word.p[n])))
		n++;
	return n == word.n;
}

/* The commands and variables of GRUB, of its scripts, and of the settings that they are made from. */
static const char *const identifiers[] = {
	".",
	"GRUB_*", /* a number is kept if the name is no secret's */
	"TUNED_*",
	"[?#*@0-9]*",
	"\\[",
	"[a-z]",
	"bls_import",
	"blscfg",
	"blsdir",
	"blsuki",
	"boot",
	"boot_*",
	"break",
	"chosen",
	"cmdpath",
	"color_*",
	"config_directory",
	"configfile",
	"continue",
	"decrement",
	"default",
	"default_kernelopts",
	"early_initrd",
	"echo",
	"env_block",
	"eval",
	"exit",
	"export",
	"extract_*",
	"fallback",
	"false",
	"feature_*",
	"file",
	"font",
	"for",
	"function",
	"gfxmode",
	"gfxpayload",
	"grub_cpu",
	"grub_platform",
	"halt",
	"have_grubenv",
	"hiddenentry",
	"hwmatch",
	"in[blw]",
	"in",
	"increment",
	"initrd",
	"initrd16",
	"initrdefi",
	"initrdfail",
	"insmod",
	"kernelopts",
	"lang",
	"legacy_*",
	"linux",
	"linux16",
	"linux_gfx_mode",
	"linuxefi",
	"load_env",
	"load_video",
	"locale_dir",
	"match",
	"menu_*",
	"menuentry",
	"menuentry_id_option",
	"next_entry",
	"normal",
	"normal_exit",
	"password",
	"password_pbkdf2",
	"prefix",
	"prev_saved_entry",
	"probe",
	"quick_boot",
	"read",
	"read_byte",
	"read_dword",
	"read_word",
	"reboot",
	"recordfail",
	"regexp",
	"return",
	"root",
	"save_env",
	"saved_entry",
	"savedefault",
	"search",
	"search.*",
	"search_*",
	"serial",
	"set",
	"setparams",
	"setpci",
	"shift",
	"smbios",
	"source",
	"submenu",
	"superusers",
	"syslinux_*",
	"terminal_input",
	"terminal_output",
	"test",
	"theme",
	"timeout",
	"timeout_style",
	"tr",
	"true",
	"tuned_initrd",
	"tuned_params",
	"uki",
	"unset",
	"vt_handoff",
	NULL,
};

/* Keeps the name of a command, function or variable, or writes a stand-in for it. */
void keep_identifier(struct keeping *k, struct span name)
{
	_cleanup_free_ char *kept = NULL;

	if (!name.n || KEEP_IS_MARK(name.p[0]) || keep_has(identifiers, name)) {
		keep_free_text(k, name);
		return;
	}
	kept = keep_string(k, keep_instead, name);
	for (const char *p = kept ? kept : ""; *p; p++)
		putc(*p == '-' ? '_' : *p, k->out);
}

static bool names_entry(struct span variable)
{
	static const char *const names[] = { "default",		 "fallback",
					     "saved_entry",	 "next_entry",
					     "prev_saved_entry", "chosen",
					     "GRUB_DEFAULT",	 NULL };

	return keep_has(names, variable);
}

/* --set=NAME, --hint-bios=hd0,gpt2: options keep their names. */
static bool put_option(struct keeping *k, struct span word)
{
	static const char *const options[] = {
		"-[a-z]",  "--no-floppy", "--fs-uuid",	    "--file",	  "--label", "--set",
		"--id",	   "--class",	  "--users",	    "--hotkey",	  "--help",  "--hint*",
		"--quiet", "--source",	  "--unrestricted", "--skip-sig", "--",	     NULL
	};
	size_t equals = span_find(word, '=');
	struct span name = { word.p, equals };

	if (!keep_has(options, name))
		return false;
	keep_free_text(k, name);
	if (equals == word.n)
		return true;
	putc('=', k->out);
	word = (struct span){ word.p + equals + 1, word.n - equals - 1 };
	if (span_is(name, "--set"))
		keep_identifier(k, word);
	else if (span_is(name, "--users"))
		keep_instead(k, word);
	else if (span_is(name, "--id"))
		keep_entry_name(k, word);
	else
		keep_boot_word(k, word);
	return true;
}

/* A path, an option, a word of a boot loader's or of a title, else an argument of the kernel. */
void keep_boot_word(struct keeping *k, struct span word)
{
	static const char *const words[] = {
		"efi",	 "pc",	      "emu",	 "xen",	    "i386",    "arm",		"x86_64",
		"arm64", "text",      "keep",	 "menu",    "hidden",  "linux",		"serial",
		"fail",	 "countdown", "gfxterm", "console", "success", "indeterminate", NULL
	};

	if (word.n < 2 || keep_is_variable(word) || keep_is_plain(word) || keep_has(words, word) ||
	    is_title_word(word))
		keep_free_text(k, word);
	else if (strchr("(/", word.p[0]))
		keep_boot_path(k, word);
	else if (!put_option(k, word))
		keep_argument(k, word, word);
}

void keep_boot_words(struct keeping *k, struct span value)
{
	struct keep_words w = { .rest = value, .blanks = " \t\n", .quotes = "\"" };

	while (keep_next_word(&w)) {
		keep_as_it_is(k, w.gap);
		keep_boot_word(k, w.raw);
	}
	keep_as_it_is(k, w.gap);
}

/* A title or an id; of "outer>inner" each. */
void keep_entry_name(struct keeping *k, struct span name)
{
	struct span part;

	while (span_cut(&name, '>', &part)) {
		if (is_file_name(part))
			redact_put(k->redact, k->out, part, REDACT_NAMES_IN_ORDER);
		else
			keep_boot_words(k, part);
		if (part.p + part.n < name.p)
			putc('>', k->out);
	}
}

/* A value as it means: the name of an entry, or numbers, words, variables and arguments. */
static void (*keeper_of(struct span variable, struct span value))(struct keeping *k,
								  struct span text)
{
	struct span number = span_trim(value);

	if (names_entry(variable))
		return keep_entry_name;
	if (value.n && (keep_names_secret(variable) ||
			(keep_is_plain(number) && !keep_is_short_number(number) &&
			 !keep_has(identifiers, variable))))
		return keep_instead;
	return keep_boot_words;
}

void keep_value(struct keeping *k, struct span variable, struct span value)
{
	keeper_of(variable, value)(k, value);
}

static size_t name_length(struct span s)
{
	size_t n = 0;

	while (n < s.n && (isalnum((unsigned char)s.p[n]) || s.p[n] == '_') &&
	       (n || !isdigit((unsigned char)s.p[0])))
		n++;
	return n;
}

static size_t newlines(struct span text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == '\n';
	return n;
}

/* VALUE within double quotes of a shell: the number of its lines that end. */
static size_t put_quoted(struct keeping *k, struct span variable, struct span value)
{
	_cleanup_free_ char *text = keep_string(k, keeper_of(variable, value), value);

	putc('"', k->out);
	for (const char *p = text ? text : ""; *p; p++) {
		if (strchr("\\\"`", *p))
			putc('\\', k->out);
		putc(*p, k->out);
	}
	putc('"', k->out);
	return newlines(span_of(text ? text : ""));
}

/* ---- a shell's assignments ---- */

/* Skips `...` and $(...), which begins at AT. Returns its last byte. */
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

/* Up to the end of a command outside of quotes: one of ENDS. */
static size_t command_length(struct span text, const char *ends)
{
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
		else if (!quote && c == '#' && begins)
			while (n + 1 < text.n && text.p[n + 1] != '\n')
				n++;
	}
	return n < text.n ? n : text.n;
}

/* Only NAME=VALUE, after words such as export. Other commands are not needed. */
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

static void put_shell_command(struct keeping *k, struct span command)
{
	_cleanup_free_ char *buffer = malloc(command.n + 1);
	struct keep_words w;
	struct span word, name;
	size_t lines, kept;
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
	/* The value is replaced by blanks of the same length, so that the number of lines before it stays the same. */
	keep_nothing(k, (struct span){ command.p, (size_t)(w.raw.p - command.p) });
	keep_identifier(k, name);
	fputs(append ? "+=" : "=", k->out);
	lines = newlines((struct span){ w.raw.p, (size_t)(command.p + command.n - w.raw.p) });
	kept = put_quoted(
		k, name,
		(struct span){ word.p + name.n + append + 1, word.n - name.n - append - 1 });
	for (; kept < lines; kept++)
		putc('\n', k->out);
}

void keep_shell(struct keeping *k, struct span text)
{
	while (text.n) {
		size_t n = command_length(text, "\n;&|()<>");

		put_shell_command(k, (struct span){ text.p, n });
		if (n < text.n)
			putc(text.p[n], k->out);
		n += n < text.n;
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
			keep_identifier(k, name);
			putc('=', k->out);
			keep_value(k, name,
				   (struct span){ line.p + equals + 1, line.n - equals - 1 });
		}
		if (line.p + line.n < text.p)
			putc('\n', k->out);
	}
}
