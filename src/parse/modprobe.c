/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modprobe.c - selects the files that count, and computes the options of each module. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "parse/kparam.h"
#include "parse/modprobe-private.h"

/* libkmod.c default_config_paths[] */
const char *const modprobe_folders[] = { "/etc/modprobe.d",	      "/run/modprobe.d",
					 "/usr/local/lib/modprobe.d", "/usr/lib/modprobe.d",
					 "/lib/modprobe.d",	      NULL };

bool modprobe_is_config(struct span name)
{
	return name.n >= 6 && name.p[0] != '.' && span_ends(name, ".conf");
}

/* Suffixes of files that package managers, editors and people keep but do not want read: dpkg(1), ucf(1), rpm(8)
 * %config, pacman(8), emacs and vim. */
bool modprobe_is_set_aside(struct span name)
{
	static const char *const ends[] = {
		"~",	     ".bak",	  ".backup",	".old",	     ".orig",	     ".save",
		".saved",    ".disabled", ".disable",	".off",	     ".example",     ".sample",
		".dpkg-old", ".dpkg-new", ".dpkg-dist", ".dpkg-bak", ".dpkg-remove", ".dpkg-backup",
		".ucf-old",  ".ucf-new",  ".ucf-dist",	".rpmsave",  ".rpmnew",	     ".rpmorig",
		".pacnew",   ".pacsave",  ".swp",
	};

	if (span_starts(name, "README"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (span_ends(name, ends[i]))
			return true;
	return false;
}

/* ---- files ---- */

static int compare_inputs(const void *a, const void *b)
{
	const struct modprobe_input *x = a, *y = b;
	int order = strcmp(span_base_name(x->path), span_base_name(y->path));

	return order ? order : x->rank < y->rank ? -1 : x->rank > y->rank;
}

static bool counts(const struct modprobe_input *input)
{
	return input->kind == MODPROBE_TEXT || input->kind == MODPROBE_UNREAD;
}

void modprobe_select(struct modprobe_input *inputs, size_t count)
{
	const struct modprobe_input *first = NULL;

	for (size_t i = 0; i < count; i++)
		inputs[i].rank = i;
	if (count > 1)
		qsort(inputs, count, sizeof(*inputs), compare_inputs);
	for (size_t i = 0; i < count; i++) {
		inputs[i].masked_by = NULL;
		if (!counts(&inputs[i]))
			continue;
		if (first &&
		    strcmp(span_base_name(first->path), span_base_name(inputs[i].path)) == 0)
			inputs[i].masked_by = first;
		else
			first = &inputs[i];
	}
}

static const char *why_not_read(enum modprobe_kind kind)
{
	switch (kind) {
	case MODPROBE_DANGLING:
		return "not read: a link to a file that is not there";
	case MODPROBE_FOLDER:
		return "not read: a folder, not a file";
	case MODPROBE_MISNAMED:
		return "not read: the name does not end in .conf";
	default:
		return NULL;
	}
}

static void note_file(struct modprobe_parser *p, const struct modprobe_input *input)
{
	const char *why = why_not_read(input->kind);
	struct modprobe_bad_line *bad;
	struct modprobe_file *file;

	if (why) {
		bad = LIST_ADD(p->arena, &p->facts->bad_lines);
		bad->why = fact_str(p->arena, why);
		bad->file = fact_str(p->arena, input->path);
		bad->text.state = FACT_ABSENT;
		bad->line.state = FACT_ABSENT;
		return;
	}
	file = LIST_ADD(p->arena, &p->facts->files);
	file->path = fact_str(p->arena, input->path);
	file->masked_by.state = file->lost.state = FACT_ABSENT;
	file->mtime_s = input->mtime_s;
	if (!input->masked_by)
		return;
	file->masked_by = fact_str(p->arena, input->masked_by->path);
	file->lost.state = FACT_UNKNOWN;
	if (input->kind == MODPROBE_TEXT && input->masked_by->kind == MODPROBE_TEXT)
		modprobe_find_masked(file, p->arena, input->text, input->masked_by->text);
}

/* ---- assignments ---- */

/* The options of one module, in the order in which they are joined. */
struct group {
	struct modprobe_parser *parser;
	const struct raw_option **options;
	size_t count;
	size_t current;	  /* the option that a byte of the joined string is in ... */
	size_t begins;	  /* ... and the offset of that option there */
	size_t folded_at; /* how far into a folded text the search for lines has come ... */
	size_t logical;	  /* ... in bytes of the text ... */
	uint64_t line;	  /* ... and on which line that is */
};

static void begin_option(struct group *g)
{
	const struct raw_option *o = g->options[g->current];

	g->folded_at = g->logical = 0;
	g->line = o->folded.n ? o->folded_line : o->line;
}

/* The line of byte AT of the current option's text. AT never decreases. */
static uint64_t line_in_option(struct group *g, size_t at)
{
	struct span s = g->options[g->current]->folded;

	while (g->folded_at < s.n) {
		bool escaped = s.p[g->folded_at] == '\\' && g->folded_at + 1 < s.n;
		bool fold = escaped && s.p[g->folded_at + 1] == '\n';

		if (g->logical >= at && !fold)
			break;
		g->folded_at += escaped ? 2 : 1;
		g->line += fold;
		g->logical += !fold;
	}
	return g->line;
}

static void add_assignment(struct group *g, const struct kparam *param)
{
	struct arena *arena = g->parser->arena;
	struct modprobe_assignment *a = LIST_ADD(arena, &g->parser->facts->assignments);
	const struct raw_option *o = g->options[g->current];
	uint64_t line;
	char *name;

	while (param->offset >= g->begins + o->text.n + 1 && g->current + 1 < g->count) {
		g->begins += o->text.n + 1;
		g->current++;
		o = g->options[g->current];
		begin_option(g);
	}
	line = line_in_option(g, param->offset - g->begins);

	name = arena_strndup(arena, param->name.p, param->name.n);
	for (size_t i = 0; i < param->name.n; i++)
		if (name[i] == '-')
			name[i] = '_';
	a->module = o->module;
	a->param = fact_strn(arena, name, param->name.n);
	a->value = param->has_value ? fact_strn(arena, param->value.p, param->value.n)
				    : FACT_NONE(fact_str);
	a->effective = fact_bool(false);
	a->file = o->file;
	a->line = line ? fact_u64(line) : FACT_NONE(fact_u64);
}

static struct span join(struct group *g)
{
	size_t n = 0, at = 0;
	char *text;

	for (size_t i = 0; i < g->count; i++)
		n += g->options[i]->text.n + 1;
	text = arena_alloc(g->parser->arena, n);
	for (size_t i = 0; i < g->count; i++) {
		if (i)
			text[at++] = ' ';
		memcpy(text + at, g->options[i]->text.p, g->options[i]->text.n);
		at += g->options[i]->text.n;
	}
	return (struct span){ text, at };
}

static int compare_params(const void *a, const void *b)
{
	const struct modprobe_assignment *x = *(const struct modprobe_assignment *const *)a;
	const struct modprobe_assignment *y = *(const struct modprobe_assignment *const *)b;
	int order = strcmp(x->param.value, y->param.value);

	return order ? order : x < y ? -1 : x > y;
}

/* The kernel sets parameters from left to right: the last one stays. */
static void mark_effective(struct modprobe_parser *p, uint32_t first)
{
	size_t count = p->facts->assignments.count - first;
	struct modprobe_assignment **sorted = arena_alloc(p->arena, count * sizeof(*sorted));

	for (size_t i = 0; i < count; i++)
		sorted[i] = &p->facts->assignments.items[first + i];
	if (count > 1)
		qsort(sorted, count, sizeof(*sorted), compare_params);
	for (size_t i = 0; i < count; i++)
		if (i + 1 == count ||
		    strcmp(sorted[i]->param.value, sorted[i + 1]->param.value) != 0)
			sorted[i]->effective = fact_bool(true);
}

static void assign_group(struct modprobe_parser *p, const struct raw_option **options, size_t count)
{
	struct group g = { .parser = p, .options = options, .count = count };
	uint32_t first = p->facts->assignments.count;
	struct kparam_iter iter = { .text = join(&g) };
	struct kparam param;

	begin_option(&g);
	while (kparam_next(&iter, &param) && !kparam_is_end(&param))
		add_assignment(&g, &param);
	mark_effective(p, first);
}

static int compare_options(const void *a, const void *b)
{
	const struct raw_option *x = *(const struct raw_option *const *)a;
	const struct raw_option *y = *(const struct raw_option *const *)b;
	int order = strcmp(x->module.value, y->module.value);

	return order ? order : x < y ? -1 : x > y;
}

static void assign(struct modprobe_parser *p)
{
	size_t count = p->options.count, end;
	const struct raw_option **sorted = arena_alloc(p->arena, count * sizeof(*sorted));

	for (size_t i = 0; i < count; i++)
		sorted[i] = &p->options.items[i];
	if (count > 1)
		qsort(sorted, count, sizeof(*sorted), compare_options);
	for (size_t first = 0; first < count; first = end) {
		for (end = first + 1; end < count; end++)
			if (strcmp(sorted[first]->module.value, sorted[end]->module.value) != 0)
				break;
		assign_group(p, sorted + first, end - first);
	}
}

static bool is_of_etc(const struct modprobe_input *input)
{
	return span_starts(span_of(input->path), "/etc/");
}

void modprobe_parse(struct modprobe_facts *facts, struct arena *arena,
		    const struct modprobe_input *inputs, size_t count, struct span cmdline)
{
	struct modprobe_parser p = { .facts = facts, .arena = arena, .room = MODPROBE_BYTES_MAX };
	bool unread = false, etc_unread = false;
	size_t total = 0;

	facts->files.state = FACT_KNOWN;
	for (size_t i = 0; i < count; i++) {
		note_file(&p, &inputs[i]);
		if (inputs[i].masked_by)
			continue;
		total += inputs[i].text.n;
		if (inputs[i].kind != MODPROBE_UNREAD)
			continue;
		unread = true;
		etc_unread |= is_of_etc(&inputs[i]);
	}
	p.ours = total > MODPROBE_BYTES_MAX;
	facts->options.state = facts->assignments.state = facts->blacklist.state =
		facts->install.state = facts->remove.state = facts->alias.state =
			facts->softdep.state = facts->bad_lines.state = FACT_KNOWN;
	for (size_t i = 0; i < count; i++) {
		if (inputs[i].kind != MODPROBE_TEXT || inputs[i].masked_by)
			continue;
		p.file = fact_str(arena, inputs[i].path);
		if (modprobe_read_file(&p, inputs[i].text))
			continue;
		unread = true;
		etc_unread |= is_of_etc(&inputs[i]);
	}
	facts->complete = fact_bool(!unread);
	facts->etc_complete = fact_bool(!etc_unread);
	p.file = fact_str(arena, "/proc/cmdline");
	modprobe_read_cmdline(&p, cmdline);
	assign(&p);
}
