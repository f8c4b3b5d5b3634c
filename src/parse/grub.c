/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grub.c - the menu of grub.cfg, the kernels of its entries, and the entry that is started. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "parse/bls.h"
#include "parse/grub-private.h"

#define LEVELS_MAX 8 /* of submenus */

/* A copy that outlives the reader. */
static const char *store(struct grub_run *run, const char *s)
{
	size_t n = strlen(s) + 1;

	if (n > GRUB_STORED_MAX - run->menu->stored) {
		grub_lose(run, "its entries are too long");
		return "";
	}
	run->menu->stored += n;
	return arena_strndup(run->menu->arena, s, n - 1);
}

/* ---- the kernel's command line: lib/cmdline.c grub_create_loader_cmdline() ---- */

static bool is_hex_escape(const char *s)
{
	return s[0] == '\\' && s[1] == 'x' && isxdigit((unsigned char)s[2]) &&
	       isxdigit((unsigned char)s[3]);
}

static size_t quote_word(char *out, const char *word)
{
	bool blanks = strchr(word, ' ') != NULL;
	size_t n = 0;

	if (blanks)
		out[n++] = '"';
	for (; *word; word++) {
		if (is_hex_escape(word)) {
			memcpy(out + n, word, 4);
			n += 4;
			word += 3;
			continue;
		}
		if (*word == '\\' || *word == '\'' || *word == '"')
			out[n++] = '\\';
		out[n++] = *word;
	}
	if (blanks)
		out[n++] = '"';
	return n;
}

static const char *join_words(struct grub_run *run, const char *const *words, size_t count)
{
	size_t size = 1, n = 0;
	char *line;

	for (size_t i = 0; i < count; i++)
		size += 2 * strlen(words[i]) + 3; /* quoting can double every byte */
	line = arena_alloc(run->work, size);
	for (size_t i = 0; i < count; i++) {
		if (i)
			line[n++] = ' ';
		n += quote_word(line + n, words[i]);
	}
	return line;
}

/* ---- the kernel of an entry ---- */

/* Returns true if the path after its device is known. */
static const char *known_path(const char *path)
{
	const char *close = *path == '(' ? strchr(path, ')') : NULL;

	path = close ? close + 1 : path;
	return grub_is_sure(path) ? path : NULL;
}

void grub_boot_linux(struct grub_run *run, const struct grub_args *args, uint64_t line)
{
	static const char *const names[] = { "linux", "linux16", "linuxefi" };
	struct grub_entry *e = run->entry;
	const char *path = known_path(args->items[1]), *text;
	bool known = false;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		known |= strcmp(args->items[0], names[i]) == 0;
	if (!known)
		return;
	text = join_words(run, args->items + 2, args->count - 2);
	e->line = e->bls ? 0 : line;
	e->kernel = path ? store(run, path) : NULL;
	e->cmdline = grub_is_sure(text) ? store(run, text) : NULL;
	e->initrd = NULL;
	e->doubt |= run->unsure || !path || !e->cmdline;
}

/* "6.1.0-9-amd64" of "/boot/vmlinuz-6.1.0-9-amd64". */
static const char *suffix_of(const char *kernel)
{
	const char *slash = strrchr(kernel, '/'), *dash = strchr(slash ? slash : kernel, '-');

	return dash ? dash + 1 : NULL;
}

void grub_boot_initrd(struct grub_run *run, const struct grub_args *args)
{
	struct grub_entry *e = run->entry;
	const char *suffix = e->kernel ? suffix_of(e->kernel) : NULL;
	const char *chosen = known_path(args->items[args->count - 1]);

	for (size_t i = 1; i < args->count && suffix; i++) {
		const char *path = known_path(args->items[i]), *name;

		name = path && strrchr(path, '/') ? strrchr(path, '/') : path;
		if (name && strstr(name, suffix)) {
			chosen = path;
			break;
		}
	}
	e->initrd = chosen ? store(run, chosen) : NULL;
	e->doubt |= run->unsure || !chosen;
}

/* ---- entries ---- */

/* menuentry TITLE [--class C]... [--id ID] [WORD]...: 1 and more are the words of the block. */
static bool read_heading(struct grub_run *run, const struct grub_args *args, struct grub_draft *d)
{
	const char **words = arena_alloc(run->work, args->count * sizeof(*words));
	size_t count = 0;
	bool options = true;

	for (size_t i = 1; i < args->count; i++) {
		const char *word = args->items[i];

		if (!options || word[0] != '-' || !word[1]) {
			words[count++] = word;
		} else if (strcmp(word, "--") == 0) {
			options = false;
		} else if (starts_with(word, "--id=")) {
			d->entry.id = word + 5;
		} else if (strcmp(word, "--id") == 0 && i + 1 < args->count) {
			d->entry.id = args->items[++i];
		} else if (strcmp(word, "--unrestricted") != 0 && !strchr(word, '=')) {
			i++; /* --class, --users, --hotkey, --source */
		}
	}
	if (!count)
		return false;
	d->entry.title = store(run, words[0]);
	d->entry.id = d->entry.id ? store(run, d->entry.id) : NULL;
	d->scope = (struct grub_scope){ count, words };
	return true;
}

static struct grub_draft *add_draft(struct grub_run *run)
{
	struct grub_draft *d;

	if (run->menu->count == GRUB_ENTRIES_MAX) {
		grub_lose(run, "it has too many entries");
		return NULL;
	}
	run->menu->count++;
	d = LIST_ADD(run->work, &run->level->drafts);
	d->entry.maybe = run->unsure;
	d->entry.file = store(run, run->file);
	return d;
}

void grub_add_entry(struct grub_run *run, const struct grub_args *args, bool submenu)
{
	struct grub_draft draft = { 0 }, *d;

	if (run->entry || !read_heading(run, args, &draft))
		return;
	d = add_draft(run);
	if (!d)
		return;
	draft.entry.maybe = d->entry.maybe;
	draft.entry.file = d->entry.file;
	draft.entry.submenu = submenu;
	draft.body = args->block;
	*d = draft;
}

/* ---- entries in files of their own: blscfg.c create_entry(), expand_val() ---- */

/* Variables are filled in here, and each with a blank after it; the blank that follows is passed over. */
static const char *fill_in(struct grub_run *run, const char *text)
{
	struct arena_text done = { .arena = run->work };

	while (*text) {
		size_t n = strcspn(text, "$");

		if (n && text[n] && text[n - 1] == '\\')
			n++;
		if (n) {
			arena_add(&done, "%.*s", (int)n, text);
			text += n;
			continue;
		}
		for (n = 1; isalnum((unsigned char)text[n]) || text[n] == '_';)
			n++;
		if (n > 1)
			arena_add(&done, "%s ", grub_get(run, (struct span){ text + 1, n - 1 }));
		text += n;
		text += *text == ' ';
	}
	return arena_added(&done);
}

/* Adds an entry of a BLS file as a script. An error in it appears only when the entry is started. */
void grub_add_bls(struct grub_run *run, const struct bls_entry *bls)
{
	const char *options = bls->options ? bls->options
					   : grub_get(run, SPAN("default_kernelopts"));
	const char *text = arena_printf(run->work, "linux %s %s\n%s%s\n", bls->kernel,
					fill_in(run, options), bls->initrd ? "initrd " : "",
					bls->initrd ? bls->initrd : "");
	struct grub_draft *d = add_draft(run);

	if (!d)
		return;
	d->text = span_of(text);
	d->entry.file = store(run, bls->file);
	d->entry.title = store(run, bls->title ? bls->title : bls->kernel);
	d->entry.id = store(run, bls->id);
	d->entry.release = bls->version;
	d->entry.bls = true;
}

/* ---- choosing: normal/menu.c get_entry_number(), menuentry_eq() ---- */

/* Returns true if SPEC, up to a single '>', names TEXT. ">>" in it means '>'. */
static bool names(const char *spec, const char *text)
{
	for (; text && *text; text++, spec++) {
		if (*spec == '>' && *++spec != '>')
			return false;
		if (*spec != *text)
			return false;
	}
	return text && (*spec == '\0' || (*spec == '>' && spec[1] != '>'));
}

/* Returns the text after the first single '>', or the end. */
static const char *after_level(const char *spec)
{
	for (; *spec; spec++) {
		if (*spec != '>')
			continue;
		if (spec[1] != '>')
			return spec + 1;
		spec++;
	}
	return spec;
}

static const char *id_of(const struct grub_entry *e)
{
	return e->id ? e->id : e->title;
}

/* RHEL's looks for ids first, then for titles, then for a number that is all; others for a number
 * first, whatever follows it. */
static bool find_by_name(const struct grub_level *level, const char *spec, bool bls,
			 uint32_t *index)
{
	for (uint32_t i = 0; i < level->drafts.count; i++) {
		const struct grub_entry *e = &level->drafts.items[i].entry;

		*index = i;
		if (names(spec, id_of(e)) || (!bls && names(spec, e->title)))
			return true;
	}
	for (uint32_t i = 0; bls && i < level->drafts.count; i++) {
		*index = i;
		if (names(spec, level->drafts.items[i].entry.title))
			return true;
	}
	return false;
}

static uint32_t choose_index(const struct grub_level *level, const char *spec, bool bls)
{
	const char *end;
	uint32_t index;
	bool none;
	int64_t number = grub_number(spec, &none, &end);

	none |= spec[strspn(spec, " \t\r\n")] == '-';
	if ((bls || none) && find_by_name(level, spec, bls, &index))
		return index;
	if (none || (bls && *end))
		return 0;
	return number < level->drafts.count ? (uint32_t)number : 0;
}

/* The one of a level that "default" leads to; NULL with the menu's problem set. */
static struct grub_draft *choose(struct grub_run *run, struct grub_level *level)
{
	struct grub_menu *menu = run->menu;
	const char *spec = grub_get(run, SPAN("default"));
	uint32_t index;

	if (level->lost)
		menu->problem = level->why;
	else if (!level->drafts.count)
		menu->problem = "the menu that boots next is empty";
	else if (!grub_is_sure(spec))
		menu->problem = "which entry boots next depends on what only GRUB knows";
	if (menu->problem)
		return NULL;
	index = choose_index(level, spec, menu->blscfg);
	for (uint32_t i = 0; i <= index; i++)
		if (level->drafts.items[i].entry.maybe)
			menu->problem =
				"whether the menu has an entry depends on what only GRUB knows";
	return menu->problem ? NULL : &level->drafts.items[index];
}

/* ---- carrying it out ---- */

static void finish_level(struct grub_run *run, struct grub_level *level, void *entries,
			 const char *path, bool started);

/* The ids that lead to an entry, with '>' between them; one in an id is doubled. */
static const char *add_id(struct grub_run *run, const char *path, const char *id)
{
	char *text = arena_alloc(run->menu->arena, strlen(path) + 2 * strlen(id) + 2), *to = text;

	to = stpcpy(to, path);
	if (*path)
		*to++ = '>';
	for (; *id; *to++ = *id++)
		if (*id == '>')
			*to++ = '>';
	return text;
}

/* Sets the variables that GRUB sets before it runs an entry: grub_menu_execute_entry(). */
static void set_chosen(struct grub_run *run, const char *path)
{
	const char *spec = grub_get(run, SPAN("default")), *rest = after_level(spec);

	grub_set(run, SPAN("chosen"), path);
	grub_export(run, "chosen");
	if (*rest)
		grub_set(run, SPAN("default"), rest);
	else if (grub_is_sure(spec) && !run->menu->blscfg)
		grub_unset(run, "default");
}

static void run_submenu(struct grub_run *run, struct grub_draft *d, const char *path, bool chosen)
{
	struct grub_level level = { 0 }, *outer = run->level;

	run->level = &level;
	if (run->depth < LEVELS_MAX)
		grub_run_list(run, d->body);
	else
		grub_lose(run, "its submenus go too deep");
	run->depth++;
	finish_level(run, &level, &d->entry.entries, path, chosen);
	run->depth--;
	run->level = outer;
}

static void run_start(struct grub_run *run, struct grub_draft *d)
{
	struct grub_level own = { 0 }, *outer = run->level;

	run->level = &own;
	run->entry = &d->entry;
	if (d->entry.bls)
		grub_run_text(run, d->text);
	else
		grub_run_list(run, d->body);
	d->entry.doubt |= own.lost;
	run->entry = NULL;
	run->level = outer;
}

/* Runs an entry with the variables of its menu; a submenu gets only the exported ones. */
static void run_entry(struct grub_run *run, struct grub_draft *d, const char *path, bool chosen)
{
	struct grub_variables before = run->vars;
	const char *spec = grub_get(run, SPAN("default"));

	run->stopped = run->returning = false;
	run->breaks = run->loops = run->unsure = 0;
	run->file = d->entry.file;
	run->scope = d->scope;
	run->in_scope = true;
	if (d->entry.submenu) {
		grub_only_exported(run);
		grub_set(run, SPAN("default"), spec);
	}
	set_chosen(run, path);
	grub_set(run, SPAN("?"), "0"); /* its arguments are set by a command, setparams */
	if (d->entry.submenu)
		run_submenu(run, d, path, chosen);
	else
		run_start(run, d);
	run->vars = before;
}

/* ENTRIES, of the menu or of a submenu, get the result of LEVEL's drafts. STARTED: GRUB comes by
 * this menu. */
static void finish_level(struct grub_run *run, struct grub_level *level, void *entries,
			 const char *path, bool started)
{
	struct grub_menu *menu = run->menu;
	typeof(&menu->entries) list = entries;
	struct grub_draft *next = started ? choose(run, level) : NULL;
	uint32_t index = 0;

	for_each_mut(d, &level->drafts) {
		const char *id = add_id(run, path, id_of(&d->entry));

		run_entry(run, d, id, d == next);
		*LIST_ADD(menu->arena, list) = d->entry;
		if (d != next || d->entry.submenu)
			continue;
		index = list->count;
		menu->next_id = id;
	}
	if (index)
		menu->next = &list->items[index - 1];
}

static void preset(struct grub_run *run, const char *name, const char *value)
{
	grub_set(run, span_of(name), value);
	grub_export(run, name);
}

/* Sets the variables that normal/main.c, kern/main.c and the core image set. */
static void begin(struct grub_run *run, const char *path)
{
	static const char *const features[] = {
		"menuentry_id", "default_font_path",	"chainloader_bpb",
		"ntldr",	"platform_search_hint", "all_video_module",
		"200_final",	"timeout_style",	"nativedisk_cmd"
	};
	const struct grub_menu *menu = run->menu;

	for (size_t i = 0; i < ARRAY_SIZE(features); i++)
		preset(run, arena_printf(run->work, "feature_%s", features[i]), "y");
	preset(run, "prefix", arena_strndup(run->work, path, (size_t)(strrchr(path, '/') - path)));
	if (menu->platform)
		preset(run, "grub_platform", menu->platform);
	if (menu->cpu)
		preset(run, "grub_cpu", menu->cpu);
}

void grub_read_menu(struct grub_menu *menu, const char *file, struct span text)
{
	struct arena *work = arena_new_shared(GRUB_WORK_BYTES, "grub.cfg");
	struct grub_run *run = work ? arena_alloc(work, sizeof(*run)) : NULL;
	struct grub_level level = { 0 };
	const char *path;

	if (!run) {
		menu->lost = true;
		menu->problem = "there is no memory for it";
		return;
	}
	*run = (struct grub_run){ .menu = menu, .work = work, .level = &level, .words = 200000 };
	path = arena_printf(work, GRUB_HOST "%s", file);
	begin(run, path);
	run->file = file;
	grub_run_in_place(run, path, text);
	menu->lost = level.lost;
	finish_level(run, &level, &menu->entries, "", true);
	menu->entries.state = FACT_KNOWN;
	arena_free(work);
}
