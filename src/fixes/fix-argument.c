/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fix-argument.c - edits kernel arguments in the files that this host's boot loader reads:
 *
 *   Debian and Ubuntu   a grub.d file of our own adds to GRUB_CMDLINE_LINUX; to change or remove an
 *                       argument, the file that has it is edited. Then grub-mkconfig
 *   other GRUB          /etc/default/grub, then grub2-mkconfig
 *   GRUB with BLS       the entries themselves, as grubby does: mkconfig does not touch them. Also
 *                       the files that new entries are made from
 *   systemd-boot        the entries, and /etc/kernel/cmdline
 *
 * Entries are edited as files and not through grubby: it replaces "pci=noaer" by "pci=..." and its
 * --remove-args does not restore the old value.
 */
#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "base/shell.h"
#include "base/span.h"
#include "fixes/cmdline-edit.h"
#include "fixes/fix.h"
#include "parse/kparam.h"
#include "query/distribution.h"

#define WHY "kernel arguments"
#define KERNEL_CMDLINE "/etc/kernel/cmdline"
#define X86_CMDLINE_MAX 2048 /* COMMAND_LINE_SIZE, arch/x86/include/asm/setup.h */

/* ---- the present arguments ---- */

bool cmdline_has(struct span text, const char *key, const char *value)
{
	struct kparam_iter iter = { .text = text };
	struct kparam arg;
	struct span word;

	while (kparam_next(&iter, &arg) && !kparam_is_end(&arg)) {
		if (!kparam_name_is(arg.name, key))
			continue;
		if (!value || span_is(arg.value, value))
			return true;
		while (span_cut(&arg.value, ',', &word))
			if (span_is(word, value))
				return true;
	}
	return false;
}

/* The value of KEY's last word, in ARENA; NULL without one. */
static const char *value_of(struct fixing *f, const char *key)
{
	struct kparam_iter iter = { .text = span_of(f->staged) };
	const char *found = NULL;
	struct kparam arg;

	while (kparam_next(&iter, &arg) && !kparam_is_end(&arg))
		if (kparam_name_is(arg.name, key) && arg.has_value)
			found = arena_strndup(f->arena, arg.value.p, arg.value.n);
	return found;
}

static bool is_debian(const struct fixing *f)
{
	if (distribution_of(f->node) == DISTRIBUTION_DEBIAN)
		return true;
	for_each(s, &f->node->cmdline.sources)
		if (str_starts(s->file, "/etc/default/grub.d/"))
			return true;
	return false;
}

static bool check_loader(struct fixing *f)
{
	const struct boot_facts *boot = &f->node->boot;

	if (is_unknown(boot->loader))
		return fix_refuse(
			f, "the boot loader's configuration could not be read; run it as root");
	if (!is_known(boot->loader))
		return fix_refuse(
			f, "the boot loader of this node is not known; add the arguments by hand");
	if (boot->loader.value == BOOT_UKI)
		return fix_refuse(
			f,
			"the kernel arguments are part of a signed unified kernel image; rebuild "
			"and sign the image, or add a signed add-on");
	if (!is_known(f->node->cmdline.staged.text))
		return fix_refuse(f, "the command line of the next boot could not be read");
	if (!was_read(f->node->cmdline.sources))
		return fix_refuse(
			f, "the configuration of the boot loader's entries could not be read");
	return true;
}

/* ---- the edit of one text ---- */

/* OLD NULL: NEW is added. NEW NULL: OLD goes. */
struct edit {
	const char *old;
	const char *new;
};

static bool edit_line(struct fixing *f, struct draft *draft, uint64_t number, struct edit e,
		      enum cmdline_form form, bool *done)
{
	struct span line = draft_get_line(draft, number);
	const char *text = line.p ? cmdline_edit(f->arena, line, form, e.old, e.new) : NULL;

	if (text) {
		*done = true;
		draft_splice(f, draft, (size_t)(line.p - draft->after.p), line.n, text);
	}
	return text != NULL;
}

/* ---- files of shell variables ---- */

/* Edits the variable that has OLD among its sources; to add an argument, its last assignment. */
static bool edit_shell(struct fixing *f, struct edit e, const char *variable, bool *done)
{
	const struct cmdline_text *last = NULL;
	struct draft *draft;

	for_each(s, &f->node->cmdline.sources) {
		if (!is_known(s->variable) || !is_known(s->line))
			continue;
		if (!e.old) {
			last = str_is(s->variable, variable) ? s : last;
			continue;
		}
		draft = draft_open(f, s->file.value, WHY);
		if (!draft)
			return false;
		edit_line(f, draft, s->line.value, e, CMDLINE_SHELL, done);
	}
	if (!last)
		return true;
	draft = draft_open(f, last->file.value, WHY);
	return draft && (edit_line(f, draft, last->line.value, e, CMDLINE_SHELL, done) ||
			 fix_refuse(f, "%s:%llu has a form that this program cannot edit",
				    last->file.value, (unsigned long long)last->line.value));
}

/* A later assignment may drop the addition of ours. */
static bool check_later(struct fixing *f)
{
	for_each(s, &f->node->cmdline.sources) {
		const char *name = span_base_name(s->file.value);

		if (str_is(s->variable, "GRUB_CMDLINE_LINUX") &&
		    str_starts(s->file, "/etc/default/grub.d/") &&
		    strcmp(name, span_base_name(OWN_GRUB)) > 0)
			return fix_refuse(f,
					  "%s:%llu is read after " OWN_GRUB " and sets "
					  "GRUB_CMDLINE_LINUX, which would override this "
					  "repair; change that line first",
					  s->file.value, (unsigned long long)s->line.value);
	}
	return true;
}

/* Adds WORD to a file of our own. A ";" is quoted, because it would end the command in grub.cfg, and the quotes
 * written here reach that file. */
static bool add_own(struct fixing *f, const char *word)
{
	struct draft *draft = draft_open(f, OWN_GRUB, WHY);
	const char *quote = strchr(word, ';') ? "\\\"" : "";
	const char *prefix;

	if (!draft || !check_later(f))
		return false;
	prefix = arena_printf(f->arena, "GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX %s%.*s", quote,
			      (int)strcspn(word, "=") + 1, word);
	draft_line(f, draft, prefix,
		   arena_printf(f->arena, "GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX %s%s%s\"",
				quote, word, quote));
	return true;
}

static void menu_step(struct fixing *f, const char *word)
{
	const char *menu = NULL, *program;
	struct plan_step *step;
	const char **hold;

	for_each(entry, &f->node->boot.entries)
		if (!menu && is_known(entry->file))
			menu = entry->file.value;
	menu = menu ? menu : "/boot/grub/grub.cfg";
	program = strstr(menu, "grub2") ? "/usr/sbin/grub2-mkconfig" : "/usr/sbin/grub-mkconfig";
	step = fix_step(f, PLAN_BOOT_LOADER, NULL, fix_argv(f, program, "-o", menu));
	step->tool = strrchr(program, '/') + 1;
	step->path = menu;
	if (!word)
		return;
	hold = arena_alloc(f->arena, 64 * sizeof(*hold));
	for (size_t n = 0; step->must_hold && step->must_hold[n] && n < 62; n++) {
		hold[n] = step->must_hold[n];
		hold[n + 1] = word;
	}
	if (!step->must_hold)
		hold[0] = word;
	step->must_hold = hold;
}

static bool edit_grub(struct fixing *f, struct edit e)
{
	bool done = false;

	if (e.old || !is_debian(f)) {
		if (!edit_shell(f, e, "GRUB_CMDLINE_LINUX", &done))
			return false;
	} else {
		done = add_own(f, e.new);
	}
	if (!done && !fix_refused(f) && e.old && !e.new)
		return true; /* the source no longer has it: only the menu is outdated */
	if (!done && !fix_refused(f))
		return fix_refuse(f, "%s was not found in /etc/default/grub", e.old);
	return done;
}

/* ---- entries of the Boot Loader Specification ---- */

static uint64_t options_line(const struct draft *draft)
{
	struct span line, word;

	for (uint64_t n = 1; (line = draft_get_line(draft, n)).p; n++)
		if (span_word(&line, &word) && span_is(word, "options"))
			return n;
	return 0;
}

static bool edit_entry(struct fixing *f, const struct boot_entry *entry, struct edit e, bool *done)
{
	struct draft *draft = draft_open(f, entry->file.value, WHY);
	uint64_t number;

	if (!draft)
		return false;
	number = options_line(draft);
	if (!number)
		return fix_refuse(f, "%s has no options line", draft->path);
	if (span_search(draft_get_line(draft, number), "$kernelopts"))
		return fix_refuse(
			f,
			"the arguments of %s are in GRUB's environment block; add them with: "
			"grubby --update-kernel=ALL %s=%s",
			draft->path, e.new ? "--args" : "--remove-args",
			shell_name(e.new ? e.new : e.old, "ARGUMENT"));
	edit_line(f, draft, number, e, CMDLINE_ENTRY, done);
	return true;
}

static bool edit_entries(struct fixing *f, struct edit e, bool *done)
{
	const struct node *node = f->node;

	for_each(entry, &node->boot.entries) {
		bool next = is_known(node->boot.next_entry) &&
			    str_is(entry->id, node->boot.next_entry.value);
		bool running = is_known(node->os.kernel) &&
			       str_is(entry->kernel, node->os.kernel.value);

		if ((next || running) && is_known(entry->file) && !edit_entry(f, entry, e, done))
			return false;
	}
	return true;
}

/* New entries are made from it; without it from the command line of the kernel that runs then,
 * which is right after the reboot. systemd-boot's kernel-install may be run before. */
static bool edit_kernel_cmdline(struct fixing *f, struct edit e)
{
	bool there = false, done = false;
	struct draft *draft;

	for_each(s, &f->node->cmdline.sources)
		there |= str_is(s->file, KERNEL_CMDLINE);
	if (!there && f->node->boot.loader.value != BOOT_SYSTEMD_BOOT)
		return true;
	draft = draft_open(f, KERNEL_CMDLINE, "arguments of new boot entries");
	if (!draft)
		return false;
	if (!draft->after.p)
		draft_set(f, draft,
			  span_of(arena_printf(f->arena, "%s\n",
					       f->node->cmdline.staged.text.value)));
	for (uint64_t n = 1; draft_get_line(draft, n).p; n++)
		if (!span_starts(draft_get_line(draft, n), "#") &&
		    (edit_line(f, draft, n, e, CMDLINE_PLAIN, &done) && !e.old))
			break;
	return true;
}

static bool edit_bls(struct fixing *f, struct edit e)
{
	bool done = false, shell = false;

	if (!edit_entries(f, e, &done) || !edit_kernel_cmdline(f, e))
		return false;
	if (f->node->boot.loader.value == BOOT_GRUB_BLS &&
	    !edit_shell(f, e, "GRUB_CMDLINE_LINUX", &shell))
		return false;
	return done || fix_refuse(f, "no boot entry could be edited");
}

/* ---- both ---- */

static bool in_sources(const struct fixing *f, const char *key, const char *value)
{
	for_each(s, &f->node->cmdline.sources)
		if (is_known(s->variable) && cmdline_has(span_of(s->text.value), key, value))
			return true;
	return false;
}

static bool edit_all(struct fixing *f, struct edit e)
{
	const char *staged = cmdline_edit(f->arena, span_of(f->staged), CMDLINE_PLAIN, e.old,
					  e.new);
	bool bls = f->node->boot.loader.value != BOOT_GRUB;

	if (bls ? !edit_bls(f, e) : !edit_grub(f, e))
		return false;
	if (!bls)
		menu_step(f, e.new);
	f->staged = staged ? staged : f->staged;
	f->modprobe = NULL;
	return true;
}

/* iommu=pt contradicts each of these, and the existing one was set for a reason. */
static bool check_contradiction(struct fixing *f, const char *key, const char *value)
{
	static const struct {
		const char *key, *value;
	} against[] = { { "iommu", "force" },
			{ "iommu", "nopt" },
			{ "iommu", "off" },
			{ "iommu.passthrough", "0" },
			{ "iommu.strict", "1" },
			{ "intel_iommu", "strict" },
			{ "amd_iommu", "force_isolation" } };

	if (strcmp(key, "iommu") != 0 || strcmp(value, "pt") != 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(against); i++)
		if (cmdline_has(span_of(f->staged), against[i].key, against[i].value))
			return fix_refuse(
				f,
				"the command line has %s=%s, which does the opposite; decide by "
				"hand which one is right",
				against[i].key, against[i].value);
	return true;
}

static bool check_length(struct fixing *f, const char *word)
{
	if (strlen(f->staged) + strlen(word) + 1 < X86_CMDLINE_MAX)
		return true;
	return fix_refuse(f, "the command line would be longer than %d bytes", X86_CMDLINE_MAX);
}

/* A value can come from a file of facts. Files of boot loaders are read by shells, and a blank begins another argument,
 * so only letters, digits and these marks are written; a list of pci= has semicolons. */
static bool check_characters(struct fixing *f, const char *word)
{
	static const char marks[] = "_+=:,./@-;";

	for (const char *c = word; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr(marks, *c))
			return fix_refuse(
				f, "the argument has characters that no kernel argument needs");
	return true;
}

void fix_shares_arguments(struct fixing *f)
{
	f->repair->changes |= strcmp(f->staged, f->node->cmdline.staged.text.value) != 0;
}

bool fix_argument(struct fixing *f, const char *key, const char *value)
{
	const char *word = arena_printf(f->arena, "%s=%s", key, value);
	const char *now = strcmp(key, "pci") == 0 ? value_of(f, key) : NULL;
	struct edit e = { .new = word };

	if (!check_characters(f, word) || !check_loader(f) || !check_contradiction(f, key, value))
		return false;
	if (cmdline_has(span_of(f->staged), key, value)) {
		fix_shares_arguments(f);
		return true;
	}
	if (now) {
		e.old = arena_printf(f->arena, "%s=%s", key, now);
		e.new = arena_printf(f->arena, "%s=%s,%s", key, now, value);
	}
	if (!check_length(f, e.new))
		return false;
	if (f->node->boot.loader.value == BOOT_GRUB && in_sources(f, key, value)) {
		menu_step(f, word); /* it was edited and the menu was not rebuilt */
		return true;
	}
	return edit_all(f, e);
}

bool fix_argument_remove(struct fixing *f, const char *key, const char *value)
{
	const char *now = value_of(f, key), *left = "";
	struct edit e = { .old = key };
	struct span rest, word;

	if (!check_loader(f))
		return false;
	if (!cmdline_has(span_of(f->staged), key, value)) {
		fix_shares_arguments(f);
		return true;
	}
	if (now) {
		rest = span_of(now);
		e.old = arena_printf(f->arena, "%s=%s", key, now);
		while (strcmp(now, value ? value : "") != 0 && span_cut(&rest, ',', &word))
			if (value && !span_is(word, value))
				left = arena_printf(f->arena, "%s%s%.*s", left, *left ? "," : "",
						    SPAN_FMT(word));
		if (*left)
			e.new = arena_printf(f->arena, "%s=%s", key, left);
	}
	return edit_all(f, e);
}
