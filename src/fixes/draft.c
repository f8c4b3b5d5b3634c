/* SPDX-License-Identifier: GPL-2.0-or-later */
/* draft.c - the files of a plan while the plan is made. */
#include <errno.h>
#include <string.h>

#include "fixes/fix.h"

#define OWN_HEADER "# Written by 'nvnodecheck fix'; 'nvnodecheck undo' reverts it.\n"

const struct draft *draft_find(const struct fixing *f, const char *path)
{
	for_each(d, &f->drafts)
		if (strcmp((*d)->path, path) == 0)
			return *d;
	return NULL;
}

static bool is_ours(const char *path)
{
	return strstr(path, "nvnodecheck") != NULL;
}

/* Even facts alone show whether modprobe.d has the file. */
static bool known_to_be_there(const struct fixing *f, const char *path)
{
	for_each(file, &f->node->modprobe.files)
		if (str_is(file->path, path))
			return true;
	return false;
}

/* A file that is not ours is only opened if the facts have it. */
static bool read_before(struct fixing *f, struct draft *draft)
{
	struct text text = { 0 };
	char target[PATH_MAX];
	int rc = -ENODATA;

	if (f->host && host_link(f->host, target, "%s", draft->path) == 0)
		return fix_refuse(
			f,
			"%s is a link to %s, and the program that made the link would undo the "
			"edit",
			draft->path, target);
	if (f->host)
		rc = host_read(f->host, &text, HOST_FILE_MAX, "%s", draft->path);
	if (rc == -ENODATA && is_ours(draft->path) && !known_to_be_there(f, draft->path))
		rc = -ENOENT;
	if (rc && rc != -ENOENT)
		return fix_refuse(f, "cannot read the file it would change: %s%s%s", draft->path,
				  f->host ? ": " : "; the input has facts and no files",
				  f->host ? host_error_word(rc) : "");
	if (rc == 0)
		draft->before = (struct span){ arena_strndup(f->arena, text.data, text.size),
					       text.size };
	draft->after = draft->before;
	text_free(&text);
	return true;
}

struct draft *draft_open(struct fixing *f, const char *path, const char *why)
{
	struct draft *draft = (struct draft *)draft_find(f, path);

	if (draft)
		return draft;
	draft = arena_alloc(f->arena, sizeof(*draft));
	draft->path = arena_strdup(f->arena, path);
	draft->why = why;
	draft->mode = 0644;
	if (!read_before(f, draft))
		return NULL;
	*LIST_ADD(f->arena, &f->drafts) = draft;
	f->modprobe = NULL;
	return draft;
}

bool draft_differs(const struct draft *draft)
{
	return !draft->before.p != !draft->after.p || draft->before.n != draft->after.n ||
	       (draft->after.n && memcmp(draft->before.p, draft->after.p, draft->after.n) != 0);
}

void draft_set(struct fixing *f, struct draft *draft, struct span text)
{
	f->repair->changes = f->repair->lasts = true;
	f->modprobe = NULL;
	draft->after = (struct span){ arena_strndup(f->arena, text.p, text.n), text.n };
}

void draft_remove(struct fixing *f, struct draft *draft)
{
	f->repair->changes = f->repair->lasts = true;
	f->modprobe = NULL;
	draft->after = (struct span){ NULL, 0 };
}

/* Each change of a file keeps the file that it makes, and modprobe's are read again. */
bool fix_has_room(struct fixing *f)
{
	return arena_used(f->arena) < ARENA_BYTES / 2 && arena_used(f->scratch) < SCRATCH_BYTES / 2;
}

void draft_splice(struct fixing *f, struct draft *draft, size_t at, size_t n, const char *with)
{
	size_t more = strlen(with), rest = draft->after.n - at - n;
	char *text = arena_alloc(f->arena, at + more + rest + 1);

	f->repair->changes = f->repair->lasts = true;
	f->modprobe = NULL;
	memcpy(text, draft->after.p, at);
	memcpy(text + at, with, more);
	memcpy(text + at + more, draft->after.p + at + n, rest);
	draft->after = (struct span){ text, at + more + rest };
}

static void draft_append(struct fixing *f, struct draft *draft, const char *text)
{
	struct span *after = &draft->after;
	bool open = after->n && after->p[after->n - 1] != '\n';

	if (!after->p)
		*after = SPAN("");
	draft_splice(f, draft, after->n, 0, arena_printf(f->arena, "%s%s", open ? "\n" : "", text));
}

void draft_begin(struct fixing *f, struct draft *draft, const char *opening)
{
	if (draft->after.n == 0)
		draft_append(f, draft, arena_printf(f->arena, OWN_HEADER "%s", opening));
}

/* Returns true if the last comment is COMMENT, so that the next line of the same rule needs none. */
static bool is_last_comment(const struct draft *draft, const char *comment)
{
	struct span rest = draft->after, line, last = { 0 };

	while (span_cut(&rest, '\n', &line))
		if (span_starts(line, "# "))
			last = line;
	return last.p && span_is(last, comment);
}

void draft_line(struct fixing *f, struct draft *draft, const char *prefix, const char *line)
{
	const char *comment = arena_printf(f->arena, "# %s", f->rule);
	struct span rest, one;

	draft_begin(f, draft, "");
	rest = draft->after;
	while (span_cut(&rest, '\n', &one)) {
		if (strcmp(prefix, line) == 0 ? !span_is(one, line) : !span_starts(one, prefix))
			continue;
		if (!span_is(one, line))
			draft_splice(f, draft, (size_t)(one.p - draft->after.p), one.n, line);
		f->repair->changes |= draft_differs(draft);
		return;
	}
	if (!is_last_comment(draft, comment))
		draft_append(f, draft, arena_printf(f->arena, "%s\n", comment));
	draft_append(f, draft, arena_printf(f->arena, "%s\n", line));
}

struct span draft_get_line(const struct draft *draft, uint64_t number)
{
	struct span rest = draft->after, line;

	for (uint64_t n = 1; span_cut(&rest, '\n', &line); n++)
		if (n == number)
			return line;
	return (struct span){ NULL, 0 };
}
