/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grub-commands.c - the commands of grub.cfg that can change a menu or a kernel's arguments. All other commands change
 * neither; whether they succeed is not known. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "parse/grub-private.h"

typedef enum grub_truth grub_action(struct grub_run *run, const struct grub_args *args);

static enum grub_truth do_true(struct grub_run *run, const struct grub_args *args)
{
	(void)run, (void)args;
	return GRUB_YES;
}

static enum grub_truth do_false(struct grub_run *run, const struct grub_args *args)
{
	(void)run, (void)args;
	return GRUB_NO;
}

static enum grub_truth do_test(struct grub_run *run, const struct grub_args *args)
{
	return grub_test(run, args->items + 1, args->count - 1);
}

/* ---- variables ---- */

static enum grub_truth do_set(struct grub_run *run, const struct grub_args *args)
{
	const char *word = args->count > 1 ? args->items[1] : "", *equals = strchr(word, '=');

	if (args->count == 1)
		return GRUB_YES;
	if (!equals)
		return GRUB_NO;
	if (!grub_is_sure(arena_strndup(run->work, word, (size_t)(equals - word))))
		grub_lose(run, "the name of a variable in it is not known");
	grub_set(run, (struct span){ word, (size_t)(equals - word) }, equals + 1);
	return GRUB_YES;
}

static enum grub_truth do_unset(struct grub_run *run, const struct grub_args *args)
{
	if (args->count < 2)
		return GRUB_NO;
	grub_unset(run, args->items[1]);
	return GRUB_YES;
}

static enum grub_truth do_export(struct grub_run *run, const struct grub_args *args)
{
	for (size_t i = 1; i < args->count; i++)
		grub_export(run, args->items[i]);
	return args->count > 1 ? GRUB_YES : GRUB_NO;
}

/* increment NAME, decrement NAME: of RHEL and Fedora. */
static enum grub_truth do_count(struct grub_run *run, const struct grub_args *args)
{
	const char *name = args->count == 2 ? args->items[1] : "", *old, *end;
	int64_t number;
	bool none;

	old = grub_get(run, span_of(name));
	if (!*old)
		return GRUB_NO;
	if (!grub_is_sure(old))
		return GRUB_MAYBE;
	number = grub_number(old, &none, &end);
	if (none)
		return GRUB_NO;
	grub_set(run, span_of(name),
		 arena_printf(run->work, "%" PRId64, number + (args->items[0][0] == 'i' ? 1 : -1)));
	return GRUB_YES;
}

/* Commands that store their result in a variable: --set=NAME, --set NAME, --set 1:NAME. */
static void forget(struct grub_run *run, const char *name)
{
	const char *colon = strchr(name, ':');

	if (!grub_is_sure(name))
		grub_lose(run, "the name of a variable in it is not known");
	else
		grub_set(run, span_of(colon ? colon + 1 : name), GRUB_UNKNOWN_TEXT);
}

static enum grub_truth do_find(struct grub_run *run, const struct grub_args *args)
{
	for (size_t i = 1; i < args->count; i++) {
		const char *word = args->items[i];

		if (starts_with(word, "--set="))
			forget(run, word + 6);
		else if (strcmp(word, "--set") == 0)
			forget(run, i + 1 < args->count && args->items[i + 1][0] != '-'
					    ? args->items[i + 1]
					    : "root");
		else if (strcmp(word, "-s") == 0 && i + 1 < args->count)
			forget(run, args->items[i + 1]);
	}
	return GRUB_MAYBE;
}

/* search.file NAME VARIABLE HINTS..., and the same of label and fs_uuid. */
static enum grub_truth do_search(struct grub_run *run, const struct grub_args *args)
{
	if (args->count > 2)
		forget(run, args->items[2]);
	return GRUB_MAYBE;
}

static enum grub_truth do_read(struct grub_run *run, const struct grub_args *args)
{
	for (size_t i = 1; i < args->count; i++)
		if (args->items[i][0] != '-')
			forget(run, args->items[i]);
	return GRUB_MAYBE;
}

/* hwmatch FILE CLASS, of Ubuntu */
static enum grub_truth do_hwmatch(struct grub_run *run, const struct grub_args *args)
{
	(void)args;
	forget(run, "match");
	return GRUB_MAYBE;
}

/* ---- files ---- */

static enum grub_truth do_source(struct grub_run *run, const struct grub_args *args)
{
	if (args->count < 2)
		return GRUB_NO;
	return grub_run_file(run, args->items[1]);
}

/* Another menu in place of this one, to which nothing leads back. */
static enum grub_truth do_configfile(struct grub_run *run, const struct grub_args *args)
{
	if (args->count < 2)
		return GRUB_NO;
	run->stopped = run->entry != NULL;
	if (run->unsure && !run->entry)
		grub_lose(run, "whether it goes on to another file is not known");
	if (run->stopped)
		return GRUB_YES;
	grub_only_exported(run);
	run->level->drafts.count = 0;
	if (grub_run_file(run, args->items[1]) == GRUB_NO && !run->level->drafts.count)
		grub_lose(run, "the file that it goes on to could not be read");
	run->stopped = true;
	return GRUB_YES;
}

static bool is_wanted(const struct grub_args *args, size_t first, struct span name)
{
	if (first >= args->count)
		return true;
	for (size_t i = first; i < args->count; i++)
		if (span_is(name, args->items[i]))
			return true;
	return false;
}

/* Cuts up to the newline that ends a line. A backslash quotes the next byte. False: no newline. */
static bool cut_escaped(struct span *rest, struct span *line)
{
	size_t n = 0;

	while (n < rest->n && rest->p[n] != '\n')
		n += rest->p[n] == '\\' ? 2 : 1;
	if (n >= rest->n)
		return false;
	*line = (struct span){ rest->p, n };
	*rest = (struct span){ rest->p + n + 1, rest->n - n - 1 };
	return true;
}

static void load_variable(struct grub_run *run, struct span name, struct span text)
{
	char *value = arena_alloc(run->work, text.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++) {
		i += text.p[i] == '\\';
		value[n++] = text.p[i];
	}
	grub_set(run, name, value);
}

/* An environment block: lines NAME=VALUE after its first. A line without a newline at its end is broken. */
static bool load_variables(struct grub_run *run, struct span text, const struct grub_args *args,
			   size_t first)
{
	static const char signature[] = "# GRUB Environment Block\n";
	struct span line;

	if (text.n < sizeof(signature) || !span_starts(text, signature))
		return false;
	text = (struct span){ text.p + sizeof(signature) - 1, text.n - sizeof(signature) + 1 };
	while (text.n) {
		struct span name = { text.p, span_find(text, '=') };

		if (text.p[0] == '#') {
			if (!cut_escaped(&text, &line))
				break;
			continue;
		}
		if (name.n == text.n)
			break;
		text = (struct span){ text.p + name.n + 1, text.n - name.n - 1 };
		if (!cut_escaped(&text, &line))
			break;
		if (is_wanted(args, first, name))
			load_variable(run, name, line);
	}
	return true;
}

/* load_env [--file FILE] [--skip-sig] [NAME...] */
static enum grub_truth do_load_env(struct grub_run *run, const struct grub_args *args)
{
	const struct grub_files *files = run->menu->files;
	const char *path = NULL;
	struct span text;
	size_t i;
	int rc;

	for (i = 1; i < args->count && args->items[i][0] == '-'; i++) {
		const char *word = args->items[i];

		if (starts_with(word, "--file="))
			path = word + 7;
		else if ((strcmp(word, "--file") == 0 || strcmp(word, "-f") == 0) &&
			 i + 1 < args->count)
			path = args->items[++i];
	}
	if (!path)
		path = arena_printf(run->work, "%s/grubenv", grub_get(run, SPAN("prefix")));
	rc = files->read(files->user, path, run->work, &text);
	if (rc && rc != -ENOENT)
		grub_lose(run, "the environment block that it loads could not be read");
	return rc == 0 && load_variables(run, text, args, i) ? GRUB_YES : GRUB_NO;
}

/* eval WORD... */
static enum grub_truth do_eval(struct grub_run *run, const struct grub_args *args)
{
	struct arena_text text = { .arena = run->work };

	for (size_t i = 1; i < args->count; i++) {
		if (!grub_is_sure(args->items[i]))
			grub_lose(run, "a command in it is not known");
		arena_add(&text, "%s%s", i > 1 ? " " : "", args->items[i]);
	}
	return grub_run_text(run, span_of(arena_added(&text)));
}

/* ---- functions and loops ---- */

static enum grub_truth do_return(struct grub_run *run, const struct grub_args *args)
{
	if (!run->in_scope)
		return GRUB_NO;
	run->returning = true;
	if (args->count < 2)
		return grub_is_sure(grub_get(run, SPAN("?"))) ? GRUB_YES : GRUB_MAYBE;
	return strspn(args->items[1], "0") == strlen(args->items[1]) ? GRUB_YES : GRUB_NO;
}

static enum grub_truth do_break(struct grub_run *run, const struct grub_args *args)
{
	uint64_t count = 1;

	if (args->count > 2 || (args->count == 2 && span_u64(span_of(args->items[1]), 10, &count)))
		return GRUB_NO;
	if (!count)
		return GRUB_NO;
	run->go_on = args->items[0][0] == 'c';
	run->breaks = count > run->loops ? run->loops : (unsigned int)count;
	return GRUB_YES;
}

static enum grub_truth do_setparams(struct grub_run *run, const struct grub_args *args)
{
	const char **copy = arena_alloc(run->work, args->count * sizeof(*copy));

	if (!run->in_scope)
		return GRUB_NO;
	memcpy(copy, args->items + 1, (args->count - 1) * sizeof(*copy));
	run->scope = (struct grub_scope){ args->count - 1, copy };
	return GRUB_YES;
}

static enum grub_truth do_shift(struct grub_run *run, const struct grub_args *args)
{
	uint64_t count = 1;

	if (!run->in_scope)
		return GRUB_YES;
	if (args->count > 2 ||
	    (args->count == 2 && span_u64(span_of(args->items[1]), 10, &count)) ||
	    count > run->scope.count)
		return GRUB_NO;
	run->scope.args += count;
	run->scope.count -= count;
	return GRUB_YES;
}

/* ---- menus ---- */

static enum grub_truth do_entry(struct grub_run *run, const struct grub_args *args)
{
	if (args->count < 2 || !args->has_block)
		return GRUB_NO;
	grub_add_entry(run, args, args->items[0][0] == 's');
	return GRUB_YES;
}

static enum grub_truth do_bls(struct grub_run *run, const struct grub_args *args)
{
	const struct grub_files *files = run->menu->files;
	const char *folder = grub_get(run, SPAN("blsdir"));

	if (args->count > 1 || !grub_is_sure(folder)) {
		grub_lose(run, "which entries blscfg takes is not known");
		return GRUB_MAYBE;
	}
	run->menu->blscfg = true;
	if (!files->bls(files->user, run, folder))
		grub_lose(run, "the entries that blscfg takes could not all be read");
	return GRUB_YES;
}

static enum grub_truth do_initrd(struct grub_run *run, const struct grub_args *args)
{
	if (run->entry && args->count > 1)
		grub_boot_initrd(run, args);
	return GRUB_MAYBE;
}

/* Ends the script. In an entry GRUB then boots the loaded kernel; in a menu there will be no further entry. */
static enum grub_truth do_leave(struct grub_run *run, const struct grub_args *args)
{
	(void)args;
	if (!run->entry)
		grub_lose(run, "it leaves GRUB before there is a menu");
	else if (run->unsure)
		run->entry->doubt = true;
	run->stopped = true;
	return GRUB_YES;
}

/* A menu that is written in another way. */
static enum grub_truth do_foreign(struct grub_run *run, const struct grub_args *args)
{
	(void)args;
	if (!run->entry)
		grub_lose(run, "it takes over a menu in a form that is not read");
	return GRUB_MAYBE;
}

static const struct {
	const char *name;
	grub_action *action;
} commands[] = {
	{ "true", do_true },
	{ "false", do_false },
	{ "[", do_test },
	{ "test", do_test },
	{ "set", do_set },
	{ "unset", do_unset },
	{ "export", do_export },
	{ "increment", do_count },
	{ "decrement", do_count },
	{ "search", do_find },
	{ "regexp", do_find },
	{ "probe", do_find },
	{ "smbios", do_find },
	{ "setpci", do_find },
	{ "read_byte", do_find },
	{ "read_word", do_find },
	{ "read_dword", do_find },
	{ "inb", do_find },
	{ "inw", do_find },
	{ "inl", do_find },
	{ "tr", do_find },
	{ "file", do_find },
	{ "search.file", do_search },
	{ "search.fs_label", do_search },
	{ "search.fs_uuid", do_search },
	{ "search_fs_file", do_search },
	{ "search_label", do_search },
	{ "search_fs_uuid", do_search },
	{ "read", do_read },
	{ "hwmatch", do_hwmatch },
	{ "source", do_source },
	{ ".", do_source },
	{ "configfile", do_configfile },
	{ "load_env", do_load_env },
	{ "eval", do_eval },
	{ "return", do_return },
	{ "break", do_break },
	{ "continue", do_break },
	{ "setparams", do_setparams },
	{ "shift", do_shift },
	{ "menuentry", do_entry },
	{ "submenu", do_entry },
	{ "hiddenentry", do_entry },
	{ "blscfg", do_bls },
	{ "bls_import", do_bls },
	{ "initrd", do_initrd },
	{ "initrd16", do_initrd },
	{ "initrdefi", do_initrd },
	{ "boot", do_leave },
	{ "exit", do_leave },
	{ "halt", do_leave },
	{ "reboot", do_leave },
	{ "normal_exit", do_leave },
	{ "blsuki", do_foreign },
	{ "uki", do_foreign },
	{ "legacy_configfile", do_foreign },
	{ "legacy_source", do_foreign },
	{ "syslinux_configfile", do_foreign },
	{ "syslinux_source", do_foreign },
	{ "extract_entries_configfile", do_foreign },
	{ "extract_entries_source", do_foreign },
	{ "extract_legacy_entries_configfile", do_foreign },
	{ "extract_legacy_entries_source", do_foreign },
	{ "extract_syslinux_entries_configfile", do_foreign },
	{ "extract_syslinux_entries_source", do_foreign },
	{ "normal", do_foreign },
};

bool grub_command(struct grub_run *run, const struct grub_args *args, enum grub_truth *truth)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(args->items[0], commands[i].name) != 0)
			continue;
		*truth = commands[i].action(run, args);
		return true;
	}
	return false;
}
