/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fix-modprobe.c - evaluates the modprobe.d configuration with a plan's files in place. The files of the facts and the
 * drafts over them go through the same parser as those of the host, so it is known, not assumed, which assignment wins.
 */
#include <stdlib.h>
#include <string.h>

#include "fixes/fix.h"
#include "parse/modprobe.h"

/* Commands that have a bearing on options; the others do not change which assignment wins. */
struct line {
	const struct fact_str *file;
	size_t index;
	const char *text;
};

struct lines {
	LIST(struct line) list;
};

/* A backslash that the parser took away would be taken away again. */
static const char *escaped(struct arena *arena, const char *text)
{
	char *copy = arena_alloc(arena, 2 * strlen(text) + 1), *out = copy;

	for (; *text; text++) {
		if (*text == '\\')
			*out++ = '\\';
		*out++ = *text;
	}
	return copy;
}

static void add_line(struct fixing *f, struct lines *lines, const struct fact_str *file,
		     const char *text)
{
	size_t index = lines->list.count;
	struct line *line;

	if (!is_known(*file))
		return;
	line = LIST_ADD(f->scratch, &lines->list);
	line->file = file;
	line->index = index;
	line->text = text;
}

static void collect(struct fixing *f, struct lines *lines)
{
	const struct modprobe_facts *m = &f->node->modprobe;

	for_each(o, &m->options)
		add_line(f, lines, &o->file,
			 arena_printf(f->scratch, "options %s %s\n", o->module.value,
				      escaped(f->scratch, o->text.value)));
	for_each(c, &m->blacklist)
		if (!is_known(c->text))
			add_line(f, lines, &c->file,
				 arena_printf(f->scratch, "blacklist %s\n", c->module.value));
	for_each(c, &m->install)
		add_line(f, lines, &c->file,
			 arena_printf(f->scratch, "install %s %s\n", c->module.value,
				      escaped(f->scratch, c->text.value)));
}

/* The facts keep the order of each kind, and that of kinds among themselves does not matter. */
static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int files = strcmp(x->file->value, y->file->value);

	return files ? files : (x->index > y->index) - (x->index < y->index);
}

/* The first of LINES, which are sorted, that is PATH's or a later file's. */
static size_t first_of(const struct lines *lines, const char *path)
{
	size_t low = 0, high = lines->list.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (strcmp(lines->list.items[middle].file->value, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct span text_from_facts(struct fixing *f, const struct lines *lines, const char *path)
{
	struct arena_text text = { .arena = f->scratch };

	for (size_t i = first_of(lines, path);
	     i < lines->list.count && str_is(*lines->list.items[i].file, path); i++)
		arena_add(&text, "%s", lines->list.items[i].text);
	return span_of(arena_added(&text));
}

static size_t folder_rank(const char *path)
{
	size_t i = 0;

	while (modprobe_folders[i] && (!starts_with(path, modprobe_folders[i]) ||
				       path[strlen(modprobe_folders[i])] != '/'))
		i++;
	return i;
}

struct inputs {
	LIST(struct modprobe_input) list;
};

static void add_input(struct fixing *f, struct inputs *inputs, const char *path, struct span text)
{
	struct modprobe_input *input = LIST_ADD(f->scratch, &inputs->list);

	input->path = path;
	input->text = text;
	input->mtime_s.state = FACT_ABSENT;
}

static bool is_modprobe_file(const char *path)
{
	return modprobe_folders[folder_rank(path)] != NULL;
}

static void add_files(struct fixing *f, struct inputs *inputs, const struct lines *lines,
		      size_t rank)
{
	for_each(file, &f->node->modprobe.files) {
		const struct draft *draft = draft_find(f, file->path.value);

		if (folder_rank(file->path.value) == rank && !draft)
			add_input(f, inputs, file->path.value,
				  text_from_facts(f, lines, file->path.value));
	}
	for_each(d, &f->drafts)
		if (is_modprobe_file((*d)->path) && folder_rank((*d)->path) == rank &&
		    (*d)->after.p)
			add_input(f, inputs, (*d)->path, (*d)->after);
}

/* Each item of TO has the line of text_from_facts(), which has neither comments nor empty lines. It gets that of the item
 * of FROM: one kind has the same order in both, file by file. No plan names the line of a blacklist. */
#define TAKE_LINES(f, to, from)                                                     \
	for (size_t i = 0, at = 0; i < (to)->count; i++) {                          \
		const char *file = (to)->items[i].file.value;                       \
                                                                                    \
		if (!is_known((to)->items[i].line) || draft_find(f, file))          \
			continue;                                                   \
		while (at < (from)->count && !str_is((from)->items[at].file, file)) \
			at++;                                                       \
		if (at < (from)->count)                                             \
			(to)->items[i].line = (from)->items[at++].line;             \
	}

static void take_lines(struct fixing *f, struct modprobe_facts *facts)
{
	const struct modprobe_facts *read = &f->node->modprobe;

	TAKE_LINES(f, &facts->options, &read->options);
	TAKE_LINES(f, &facts->assignments, &read->assignments);
	TAKE_LINES(f, &facts->install, &read->install);
}

const struct modprobe_facts *fix_modprobe(struct fixing *f)
{
	struct modprobe_facts *facts;
	struct inputs inputs = { 0 };
	struct lines lines = { 0 };

	if (f->modprobe)
		return f->modprobe;
	facts = arena_alloc(f->scratch, sizeof(*facts));
	collect(f, &lines);
	if (lines.list.count)
		qsort(lines.list.items, lines.list.count, sizeof(lines.list.items[0]),
		      compare_lines);
	/* The kernel's own modules.softdep is in none of the folders, and has no options. */
	for (size_t rank = 0; modprobe_folders[rank]; rank++)
		add_files(f, &inputs, &lines, rank);
	modprobe_select(inputs.list.items, inputs.list.count);
	modprobe_parse(facts, f->scratch, inputs.list.items, inputs.list.count, span_of(f->staged));
	take_lines(f, facts);
	f->modprobe = facts;
	return facts;
}
