/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grub.c - the menu that grub.cfg makes, and which entry is started. */
#include "parse/grub-private.h"

#include <string.h>

#define DEPTH_MAX 8 /* of submenus */
#define BRANCHES_MAX 32

/* One "if" that is open. */
struct branch {
	bool outer;  /* what stands round it is read */
	bool active; /* this branch is */
	bool taken;  /* it or one before it is the one that GRUB takes, for certain */
};

struct builder {
	struct grub_menu *menu;
	struct grub_script script;
	struct branch branches[BRANCHES_MAX];
	size_t branches_count;
	unsigned int depth;
};

static const char *word(struct builder *b, size_t i)
{
	return b->script.words[i].p;
}

/* A copy that outlives the command. */
static const char *store(struct builder *b, const char *s)
{
	size_t n = strlen(s) + 1;

	if (n > GRUB_STORED_MAX - b->menu->stored) {
		b->menu->overflow = true;
		return "";
	}
	b->menu->stored += n;
	return arena_strndup(b->menu->env->arena, s, n - 1);
}

/* ---- conditions ---- */

enum truth { NO, YES, MAYBE };

/* The words between the brackets of "[ ... ]": of what grub-mkconfig writes, the tests that only
 * depend on variables. */
static enum truth test(struct builder *b, size_t first, size_t count)
{
	const char *a = count > 0 ? word(b, first) : "", *o = count > 1 ? word(b, first + 1) : "";
	const char *c = count > 2 ? word(b, first + 2) : "";

	if (b->script.unknown)
		return MAYBE;
	if (count == 1)
		return *a ? YES : NO;
	if (count == 2 && strcmp(a, "-z") == 0)
		return *o ? NO : YES;
	if (count == 2 && strcmp(a, "-n") == 0)
		return *o ? YES : NO;
	if (count == 3 && (strcmp(o, "=") == 0 || strcmp(o, "==") == 0))
		return strcmp(a, c) == 0 ? YES : NO;
	if (count == 3 && strcmp(o, "!=") == 0)
		return strcmp(a, c) == 0 ? NO : YES;
	return MAYBE;
}

/* The condition that begins with word FIRST. */
static enum truth weigh(struct builder *b, size_t first)
{
	size_t count = b->script.count;
	bool negate = first < count && strcmp(word(b, first), "!") == 0;
	enum truth truth = MAYBE;

	first += negate;
	if (first + 1 < count && strcmp(word(b, first), "[") == 0 &&
	    strcmp(word(b, count - 1), "]") == 0)
		truth = test(b, first + 1, count - first - 2);
	if (negate && truth != MAYBE)
		truth = truth == YES ? NO : YES;
	return truth;
}

static bool is_active(const struct builder *b)
{
	return !b->branches_count || b->branches[b->branches_count - 1].active;
}

/* Deals with if, elif, else and fi. False when there is no command to be read, else FIRST is its
 * first word. */
static bool find_command(struct builder *b, size_t *first)
{
	struct branch *top = b->branches_count ? &b->branches[b->branches_count - 1] : NULL;
	const char *name = b->script.count ? word(b, 0) : "";
	enum truth truth;

	*first = 0;
	if (strcmp(name, "if") == 0 && b->branches_count < BRANCHES_MAX) {
		truth = weigh(b, 1);
		b->branches[b->branches_count] =
			(struct branch){ is_active(b), is_active(b) && truth != NO, truth == YES };
		b->branches_count++;
		return false;
	}
	if (top && strcmp(name, "elif") == 0) {
		truth = top->taken ? NO : weigh(b, 1);
		top->active = top->outer && truth != NO;
		top->taken |= truth == YES;
		return false;
	}
	if (top && strcmp(name, "fi") == 0) {
		b->branches_count--;
		return false;
	}
	if (top && strcmp(name, "else") == 0) {
		top->active = top->outer && !top->taken;
		*first = 1;
	} else if (strcmp(name, "then") == 0 || strcmp(name, "do") == 0) {
		*first = 1;
	}
	return is_active(b) && *first < b->script.count;
}

/* ---- set ---- */

static void read_assignment(struct builder *b, struct span text)
{
	size_t equals = span_find(text, '=');
	struct span name = { text.p, equals };

	if (equals == text.n || !equals)
		return;
	text = (struct span){ text.p + equals + 1, text.n - equals - 1 };
	if (!span_is(name, "menuentry_id_option")) /* emptied only for GRUB before 2.00 */
		grub_set(b->menu->env, name, text);
}

/* ---- entries ---- */

static void pass_block(struct builder *b)
{
	unsigned int depth = 1;

	while (depth) {
		enum grub_token token = grub_next_command(&b->script);

		depth += token == GRUB_OPEN;
		depth -= token == GRUB_CLOSE;
		if (token == GRUB_END)
			return;
	}
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

/* linux PATH ARGUMENT..., initrd PATH...: the last image is the initramfs, microcode comes first.
 */
static void read_boot_command(struct builder *b, struct grub_entry *entry, size_t first)
{
	static const char *const linux_names[] = { "linux", "linux16", "linuxefi", NULL };
	static const char *const initrd_names[] = { "initrd", "initrd16", "initrdefi", NULL };
	struct grub_script *s = &b->script;

	if (s->count < first + 2)
		return;
	if (is_one_of(word(b, first), linux_names)) {
		char line[GRUB_LINE_MAX];

		grub_join_words(line, s->words + first + 2, s->count - first - 2);
		entry->line = s->begin_line;
		entry->kernel = store(b, word(b, first + 1));
		entry->cmdline = store(b, line);
	} else if (is_one_of(word(b, first), initrd_names)) {
		entry->initrd = store(b, word(b, s->count - 1));
	}
}

static void read_entry_body(struct builder *b, struct grub_entry *entry)
{
	size_t branches = b->branches_count, first;
	unsigned int depth = 1;

	while (depth) {
		enum grub_token token = grub_next_command(&b->script);

		depth += token == GRUB_OPEN;
		depth -= token == GRUB_CLOSE;
		if (token == GRUB_END)
			break;
		if (token == GRUB_COMMAND && find_command(b, &first))
			read_boot_command(b, entry, first);
	}
	b->branches_count = branches;
}

static void read_commands(struct builder *b, void *list);

/* menuentry TITLE [--class C]... [$menuentry_id_option ID] { ... } */
static void read_entry(struct builder *b, void *list, size_t first, bool submenu)
{
	typeof(&b->menu->entries) entries = list;
	struct arena *arena = b->menu->env->arena;
	struct grub_script *s = &b->script;
	size_t branches = b->branches_count;
	struct grub_entry *entry, built = { .submenu = submenu, .line = s->begin_line };

	for (size_t i = first + 1; i < s->count; i++) {
		if (strncmp(word(b, i), "--id=", 5) == 0)
			built.id = store(b, word(b, i) + 5);
		else if (strcmp(word(b, i), "--id") == 0 && i + 1 < s->count)
			built.id = store(b, word(b, ++i));
		else if (strncmp(word(b, i), "--", 2) == 0 && !strchr(word(b, i), '=') &&
			 strcmp(word(b, i), "--unrestricted") != 0)
			i++; /* --class, --users, --hotkey, --source */
		else if (word(b, i)[0] != '-' && !built.title)
			built.title = store(b, word(b, i));
	}
	if (!built.title || b->menu->count == GRUB_ENTRIES_MAX || b->depth == DEPTH_MAX) {
		b->menu->overflow |= built.title != NULL;
		pass_block(b);
		return;
	}
	b->menu->count++;
	b->depth++;
	if (submenu) {
		read_commands(b, &built.entries);
		b->branches_count = branches;
	} else {
		read_entry_body(b, &built);
	}
	b->depth--;
	entry = LIST_ADD(arena, entries);
	*entry = built;
}

static void add_bls_place(struct builder *b, void *list)
{
	typeof(&b->menu->entries) entries = list;

	if (!b->menu->blscfg)
		LIST_ADD(b->menu->env->arena, entries)->blscfg = true;
	b->menu->blscfg = true;
}

static void read_simple_command(struct builder *b, void *list, size_t first)
{
	struct grub_script *s = &b->script;

	if (strcmp(word(b, first), "set") == 0 && first + 1 < s->count)
		read_assignment(b, s->words[first + 1]);
	else if (strcmp(word(b, first), "blscfg") == 0 || strcmp(word(b, first), "bls_import") == 0)
		add_bls_place(b, list);
	else if (s->count == first + 1)
		read_assignment(b, s->words[first]);
}

/* Up to the "}" that closes a submenu, or the end. */
static void read_commands(struct builder *b, void *list)
{
	size_t first;

	for (;;) {
		enum grub_token token = grub_next_command(&b->script);
		bool read = token != GRUB_END && token != GRUB_CLOSE && find_command(b, &first);

		if (token == GRUB_END || token == GRUB_CLOSE)
			return;
		if (token == GRUB_OPEN && read && strcmp(word(b, first), "menuentry") == 0)
			read_entry(b, list, first, false);
		else if (token == GRUB_OPEN && read && strcmp(word(b, first), "submenu") == 0)
			read_entry(b, list, first, true);
		else if (token == GRUB_OPEN)
			pass_block(b); /* a function, or what is not read */
		else if (read)
			read_simple_command(b, list, first);
	}
}

void grub_read_menu(struct grub_menu *menu, struct span text)
{
	struct builder b = { .menu = menu,
			     .script = { .env = menu->env, .text = text, .line = 1 } };

	/* Set by the core image, and used in every generated entry. */
	grub_set(menu->env, SPAN("menuentry_id_option"), SPAN("--id"));
	while (b.script.at < text.n)
		read_commands(&b, &menu->entries);
}

/* ---- choosing: normal/menu.c get_entry_number(), menuentry_eq() ---- */

/* Does SPEC, up to a single '>', name TEXT? ">>" in it stands for '>'. */
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

/* What stands after the first single '>', or the end. */
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

struct level {
	const struct grub_entry *items;
	uint32_t count;
};

static const struct grub_entry *choose_in(struct level level, const char *spec)
{
	size_t digits = strspn(spec, "0123456789");
	uint64_t number;

	if (!level.count)
		return NULL;
	if (digits && (spec[digits] == '\0' || spec[digits] == '>') &&
	    span_u64((struct span){ spec, digits }, 10, &number) == 0)
		return &level.items[number < level.count ? number : 0];
	for (uint32_t i = 0; i < level.count; i++)
		if (names(spec, level.items[i].id))
			return &level.items[i];
	for (uint32_t i = 0; i < level.count; i++)
		if (names(spec, level.items[i].title))
			return &level.items[i];
	return &level.items[0];
}

const struct grub_entry *grub_choose(const struct grub_menu *menu, const char *chosen,
				     struct arena *arena, const char **id)
{
	struct level level = { menu->entries.items, menu->entries.count };
	const struct grub_entry *entry;

	*id = NULL;
	for (;;) {
		const char *name;

		entry = choose_in(level, chosen);
		if (!entry)
			return NULL;
		name = entry->id ? entry->id : entry->title ? entry->title : "";
		*id = *id ? arena_printf(arena, "%s>%s", *id, name) : name;
		if (!entry->submenu)
			return entry;
		level = (struct level){ entry->entries.items, entry->entries.count };
		chosen = after_level(chosen);
	}
}
