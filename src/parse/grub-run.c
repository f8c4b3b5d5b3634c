/* SPDX-License-Identifier: GPL-2.0-or-later */
/* grub-run.c - runs grub.cfg: conditions, loops, functions: script/execute.c. */
#include <errno.h>
#include <string.h>

#include "parse/grub-private.h"

void grub_lose(struct grub_run *run, const char *why)
{
	if (!run->level->why)
		run->level->why = why;
	run->level->lost = true;
	run->stopped = true;
}

/* ---- limits ---- */

static bool may_go_on(struct grub_run *run)
{
	if (++run->steps > GRUB_STEPS_MAX || arena_used(run->work) > GRUB_WORK_MAX)
		grub_lose(run, "it does too much to be followed");
	return !run->stopped;
}

/* ---- commands ---- */

static enum grub_truth call(struct grub_run *run, const struct grub_function *f,
			    const struct grub_args *args)
{
	struct grub_scope outer = run->scope;
	bool in_scope = run->in_scope;
	unsigned int loops = run->loops;
	const char **copy = arena_alloc(run->work, (args->count + 1) * sizeof(*copy));
	enum grub_truth truth;

	memcpy(copy, args->items, args->count * sizeof(*copy));
	run->scope = (struct grub_scope){ args->count - 1, copy + 1 };
	run->in_scope = true;
	run->loops = 0;
	truth = grub_run_list(run, f->body);
	run->returning = false;
	run->loops = loops;
	run->scope = outer;
	run->in_scope = in_scope;
	return truth;
}

static const struct grub_function *find_function(const struct grub_run *run, const char *name)
{
	/* The last one of a name counts. */
	for (size_t i = run->functions.count; i > 0; i--)
		if (span_is(run->functions.items[i - 1].name, name))
			return &run->functions.items[i - 1];
	return NULL;
}

/* A command, a function, an assignment, or something that this GRUB may know. */
static enum grub_truth run_words(struct grub_run *run, const struct grub_args *args, uint64_t line)
{
	const struct grub_function *function;
	const char *name = args->items[0], *equals = strchr(name, '=');
	enum grub_truth truth = GRUB_MAYBE;

	if (!grub_is_sure(name) && !equals) {
		grub_lose(run, "the name of a command in it is not known");
		return GRUB_MAYBE;
	}
	if (run->entry && args->count > 1 && starts_with(name, "linux"))
		grub_boot_linux(run, args, line);
	if (grub_command(run, args, &truth))
		return truth;
	function = find_function(run, name);
	if (function)
		return call(run, function, args);
	if (equals) {
		grub_set(run, (struct span){ name, (size_t)(equals - name) }, equals + 1);
		return GRUB_YES;
	}
	return GRUB_MAYBE;
}

static enum grub_truth run_command(struct grub_run *run, const struct grub_node *node)
{
	struct grub_args args;
	enum grub_truth truth;
	bool negate;

	/* A command without words changes nothing. */
	if (!grub_expand(run, node->words, &args) || run->stopped)
		return GRUB_YES;
	negate = strcmp(args.items[0], "!") == 0;
	if (negate && args.count == 1)
		return GRUB_NO;
	if (negate)
		memmove(args.items, args.items + 1, --args.count * sizeof(args.items[0]));
	truth = run_words(run, &args, node->line);
	if (negate && truth != GRUB_MAYBE)
		truth = truth == GRUB_YES ? GRUB_NO : GRUB_YES;
	return truth;
}

/* ---- conditions and loops ---- */

static enum grub_truth run_both(struct grub_run *run, const struct grub_node *node)
{
	struct grub_variables before = run->vars, after;
	enum grub_truth a, b = GRUB_YES;
	bool left;

	run->unsure++;
	a = grub_run_list(run, node->body);
	left = run->returning || run->breaks || run->stopped;
	after = run->vars;
	run->vars = before;
	if (!left && node->other)
		b = grub_run_list(run, node->other);
	run->unsure--;
	if (left || run->returning || run->breaks || run->stopped)
		grub_lose(run, "how far it is carried out depends on what only GRUB knows");
	grub_merge(run, &after);
	return a == b ? a : GRUB_MAYBE;
}

static enum grub_truth run_if(struct grub_run *run, const struct grub_node *node)
{
	enum grub_truth truth = grub_run_list(run, node->condition);

	if (run->returning || run->stopped)
		return truth;
	if (truth == GRUB_MAYBE)
		return run_both(run, node);
	if (truth == GRUB_YES)
		return grub_run_list(run, node->body);
	return node->other ? grub_run_list(run, node->other) : GRUB_YES;
}

/* Returns true if a loop continues after this iteration. */
static bool next_turn(struct grub_run *run)
{
	if (run->breaks == 1 && run->go_on)
		run->breaks = 0;
	return !run->breaks && !run->returning && may_go_on(run);
}

static enum grub_truth run_for(struct grub_run *run, const struct grub_node *node)
{
	enum grub_truth truth = GRUB_YES;
	struct grub_args args = { 0 };

	if (node->words)
		grub_expand(run, node->words, &args);
	run->loops++;
	for (size_t i = 0; i < args.count; i++) {
		if (!grub_is_sure(args.items[i]))
			grub_lose(run, "what a loop in it goes over is not known");
		if (run->stopped)
			break;
		grub_set(run, node->name, args.items[i]);
		truth = grub_run_list(run, node->body);
		if (!next_turn(run))
			break;
	}
	run->breaks -= run->breaks > 0;
	run->loops--;
	return truth;
}

static enum grub_truth run_while(struct grub_run *run, const struct grub_node *node)
{
	enum grub_truth truth;

	run->loops++;
	do {
		truth = grub_run_list(run, node->condition);
		if (truth == GRUB_MAYBE)
			grub_lose(run, "how long a loop in it goes on is not known");
		if (run->returning || run->stopped ||
		    truth == (node->kind == GRUB_UNTIL ? GRUB_YES : GRUB_NO))
			break;
		truth = grub_run_list(run, node->body);
	} while (next_turn(run));
	run->breaks -= run->breaks > 0;
	run->loops--;
	return truth;
}

static enum grub_truth run_kind(struct grub_run *run, const struct grub_node *node)
{
	switch (node->kind) {
	case GRUB_COMMAND:
		return run_command(run, node);
	case GRUB_IF:
		return run_if(run, node);
	case GRUB_FOR:
		return run_for(run, node);
	default:
		return run_while(run, node);
	}
}

static enum grub_truth run_node(struct grub_run *run, const struct grub_node *node)
{
	enum grub_truth truth = run_kind(run, node);

	/* $? is the error number after a failure, which is not known here. */
	grub_set(run, SPAN("?"), truth == GRUB_YES ? "0" : GRUB_UNKNOWN_TEXT);
	return truth;
}

enum grub_truth grub_run_list(struct grub_run *run, const struct grub_node *node)
{
	enum grub_truth truth = GRUB_YES;

	if (++run->depth > GRUB_DEPTH_MAX)
		grub_lose(run, "it goes too deep to be followed");
	for (; node && !run->breaks && !run->returning && may_go_on(run); node = node->next)
		truth = run_node(run, node);
	run->depth--;
	return truth;
}

/* ---- texts and files ---- */

static void define(void *user, struct span name, struct grub_node *body)
{
	struct grub_run *run = user;
	struct grub_function *f = LIST_ADD(run->work, &run->functions);

	*f = (struct grub_function){ name, body };
}

/* GRUB reads no carriage return. */
static struct span without_returns(struct grub_run *run, struct span text)
{
	char *copy, *to;

	if (span_find(text, '\r') == text.n)
		return text;
	to = copy = arena_alloc(run->work, text.n);
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] != '\r')
			*to++ = text.p[i];
	return (struct span){ copy, (size_t)(to - copy) };
}

enum grub_truth grub_run_text(struct grub_run *run, struct span text)
{
	struct grub_reader reader = { .arena = run->work,
				      .text = without_returns(run, text),
				      .line = 1,
				      .define = define,
				      .user = run,
				      .budget = run->words };
	enum grub_truth truth = GRUB_YES;
	struct grub_node *node;
	int rc = 0;

	grub_reader_begin(&reader);
	while (!run->stopped && !run->returning && !run->breaks &&
	       (rc = grub_reader_next(&reader, &node)) > 0) {
		node->next = NULL;
		truth = grub_run_list(run, node);
	}
	run->words = reader.budget;
	/* GRUB prints a message and continues after the line. */
	if (rc < 0)
		grub_lose(run, rc == -E2BIG ? "it is too long to be followed"
					    : "a command in it is not right");
	return truth;
}

static void set_place(struct grub_run *run, const char *path)
{
	const char *slash = strrchr(path, '/');

	grub_set(run, SPAN("config_file"), path);
	grub_set(run, SPAN("config_directory"),
		 arena_strndup(run->work, path, slash ? (size_t)(slash - path) : strlen(path)));
	grub_export(run, "config_file");
	grub_export(run, "config_directory");
}

enum grub_truth grub_run_in_place(struct grub_run *run, const char *path, struct span text)
{
	const char *outer = run->file, *close = strchr(path, ')');
	const char *was = grub_get(run, SPAN("config_file"));
	enum grub_truth truth;

	if (++run->depth > GRUB_DEPTH_MAX)
		grub_lose(run, "it goes too deep to be followed");
	run->file = close && *path == '(' ? close + 1 : path;
	set_place(run, path);
	truth = grub_run_text(run, text);
	if (*was)
		set_place(run, was);
	run->file = outer;
	run->depth--;
	return truth;
}

enum grub_truth grub_run_file(struct grub_run *run, const char *path)
{
	const struct grub_files *files = run->menu->files;
	struct span text;
	int rc = files->read(files->user, path, run->work, &text);

	if (rc == 0)
		return grub_run_in_place(run, path, text);
	if (rc != -ENOENT)
		grub_lose(run, "a file that it reads could not be read");
	return GRUB_NO;
}
