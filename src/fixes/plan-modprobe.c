/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan-modprobe.c - the modprobe.d configuration with a plan's files in place: the files of the
 * facts and the drafts over them go through the same parser as those of the host, so that whether
 * an assignment wins is seen and not assumed.
 */
#include <string.h>

#include "fixes/fix.h"
#include "parse/modprobe.h"

/* Commands that have a bearing on options; the others do not change which assignment wins. */
struct line {
	const struct fact_str *file;
	uint64_t number;
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
		     struct fact_u64 number, const char *text)
{
	struct line *line = LIST_ADD(f->scratch, &lines->list);

	line->file = file;
	line->number = is_known(number) ? number.value : 0;
	line->text = text;
}

static void collect(struct fixing *f, struct lines *lines)
{
	const struct modprobe_facts *m = &f->node->modprobe;

	for_each(o, &m->options)
		add_line(f, lines, &o->file, o->line,
			 arena_printf(f->scratch, "options %s %s\n", o->module.value,
				      escaped(f->scratch, o->text.value)));
	for_each(c, &m->blacklist)
		if (!is_known(c->text))
			add_line(f, lines, &c->file, c->line,
				 arena_printf(f->scratch, "blacklist %s\n", c->module.value));
	for_each(c, &m->install)
		add_line(f, lines, &c->file, c->line,
			 arena_printf(f->scratch, "install %s %s\n", c->module.value,
				      escaped(f->scratch, c->text.value)));
}

/* The facts keep the order of each kind, and that of kinds among themselves does not matter. */
static struct span text_from_facts(struct fixing *f, const struct lines *lines, const char *path)
{
	size_t n = 0, room = 0;
	char *text;

	for_each(line, &lines->list)
		if (str_is(*line->file, path))
			room += strlen(line->text);
	text = arena_alloc(f->scratch, room + 1);
	for_each(line, &lines->list)
		if (str_is(*line->file, path)) {
			memcpy(text + n, line->text, strlen(line->text));
			n += strlen(line->text);
		}
	return (struct span){ text, n };
}

static size_t folder_rank(const char *path)
{
	size_t i = 0;

	while (modprobe_folders[i] &&
	       (strncmp(path, modprobe_folders[i], strlen(modprobe_folders[i])) != 0 ||
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

const struct modprobe_facts *fix_modprobe(struct fixing *f)
{
	struct modprobe_facts *facts;
	struct inputs inputs = { 0 };
	struct lines lines = { 0 };

	if (f->modprobe)
		return f->modprobe;
	facts = arena_alloc(f->scratch, sizeof(*facts));
	collect(f, &lines);
	/* The kernel's own modules.softdep is in none of the folders, and has no options. */
	for (size_t rank = 0; modprobe_folders[rank]; rank++)
		add_files(f, &inputs, &lines, rank);
	modprobe_select(inputs.list.items, inputs.list.count);
	modprobe_parse(facts, f->scratch, inputs.list.items, inputs.list.count, span_of(f->staged));
	f->modprobe = facts;
	return facts;
}
