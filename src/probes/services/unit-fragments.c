/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unit-fragments.c - a unit's file and its drop-ins, in the order in which systemd reads them. */
#include "probes/services/unit-fragments.h"

#include <errno.h>
#include <string.h>

#include "probes/conf-d.h"

void unit_fragments_open(struct unit_fragments *f, struct host *host, struct arena *arena)
{
	*f = (struct unit_fragments){ .host = host, .arena = arena };
	f->folders = conf_d_folders(host, arena, "systemd/", "system");
	for (size_t i = 0; f->folders[i]; i++) {
		int rc = host_list(host, &f->names[i], "%s", f->folders[i]);

		/* /run is empty before the boot, so a tree without it lacks nothing. */
		if (rc && rc != -ENOENT && !(rc == -ENODATA && i) && !f->error)
			f->error = rc;
	}
}

void unit_fragments_close(struct unit_fragments *f)
{
	for (size_t i = 0; f->folders && f->folders[i]; i++)
		names_free(&f->names[i]);
}

static int read_fragment(struct unit_fragments *f, const char *path, unit_assigned *assigned,
			 void *user)
{
	_cleanup_text_ struct text text = { 0 };
	struct unit_reader reader = { 0 };
	struct unit_assignment a;
	char target[PATH_MAX];
	int rc;

	if (host_link(f->host, target, "%s", path) == 0 && strcmp(target, "/dev/null") == 0)
		return -ENOENT;
	rc = host_read(f->host, &text, HOST_FILE_MAX, "%s", path);
	reader.rest = text_span(&text);
	while (rc == 0 && unit_next(&reader, &a))
		assigned(user, path, &a);
	return rc;
}

struct drop_in {
	const char *name, *path;
};

static int compare_drop_ins(const void *a, const void *b)
{
	return strcmp(((const struct drop_in *)a)->name, ((const struct drop_in *)b)->name);
}

/* Lists the drop-ins of FOLDER whose name no earlier folder has. */
static int list_drop_ins(struct unit_fragments *f, const char *folder, struct drop_in *list,
			 size_t *count)
{
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(f->host, &names, "%s", folder);

	for (size_t i = 0; i < names.count && *count < UNIT_DROP_INS_MAX; i++) {
		bool known = !span_ends(span_of(names.items[i]), ".conf");

		for (size_t k = 0; k < *count && !known; k++)
			known = strcmp(list[k].name, names.items[i]) == 0;
		if (known)
			continue;
		list[*count].name = arena_strdup(f->arena, names.items[i]);
		list[(*count)++].path = arena_printf(f->arena, "%s/%s", folder, names.items[i]);
	}
	return rc == -ENOENT ? 0 : rc;
}

/* The first of the folders that has NAME. -ENOENT also where that masks it; FOUND: one had it. */
static int read_main(struct unit_fragments *f, const char *name, unit_assigned *assigned,
		     void *user, bool *found)
{
	for (size_t i = 0; f->folders[i]; i++) {
		if (!names_have(&f->names[i], name))
			continue;
		*found = true;
		return read_fragment(f, arena_printf(f->arena, "%s/%s", f->folders[i], name),
				     assigned, user);
	}
	return -ENOENT;
}

/* modprobe@nvidia_peermem.service -> modprobe@.service; NULL: no instance of a template. */
static const char *template_of(struct arena *arena, const char *unit)
{
	const char *at = strchr(unit, '@'), *dot = strrchr(unit, '.');

	return at && dot && dot > at
		       ? arena_printf(arena, "%.*s%s", (int)(at + 1 - unit), unit, dot)
		       : NULL;
}

bool unit_fragments_have(const struct unit_fragments *f, const char *unit)
{
	const char *template = template_of(f->arena, unit);

	for (size_t i = 0; f->folders[i]; i++)
		if (names_have(&f->names[i], unit) ||
		    (template && names_have(&f->names[i], template)))
			return true;
	return false;
}

#define DROP_IN_NAMES 8 /* of one unit: a-b-c.service has three, and that of its type */

/* a-b.service -> a-.service, a-.service -> NULL; NULL also for x@y.service, whose template comes first. */
static const char *shorter_of(struct arena *arena, const char *unit)
{
	const char *template = template_of(arena, unit), *dot = strrchr(unit, '.');
	const char *dash = dot;

	if (template && strcmp(template, unit) != 0)
		return template;
	if (!dot)
		return NULL;
	/* One at the end of the name is what this function left there. */
	while (dash > unit && (*dash != '-' || dash + 1 == dot))
		dash--;
	return dash > unit ? arena_printf(arena, "%.*s%s", (int)(dash + 1 - unit), unit, dot)
			   : NULL;
}

static size_t drop_in_names(struct arena *arena, const char *unit, const char *names[])
{
	const char *dot = strrchr(unit, '.');
	size_t n = 0;

	for (; unit && n < DROP_IN_NAMES - 1; unit = shorter_of(arena, unit))
		names[n++] = arena_printf(arena, "%s.d", unit);
	if (dot)
		names[n++] = arena_printf(arena, "%s.d", dot + 1);
	return n;
}

const char *const *unit_drop_in_folders(const struct unit_fragments *f, const char *unit)
{
	const char *names[DROP_IN_NAMES];
	size_t count = drop_in_names(f->arena, unit, names), n = 0;
	const char **folders =
		arena_alloc(f->arena, (DROP_IN_NAMES * UNIT_FOLDERS_MAX + 1) * sizeof(*folders));

	for (size_t i = 0; f->folders[i]; i++)
		for (size_t k = 0; k + 1 < count; k++)
			if (names_have(&f->names[i], names[k]))
				folders[n++] = arena_printf(f->arena, "%s/%s", f->folders[i],
							    names[k]);
	for (size_t i = 0; f->folders[i]; i++)
		if (count && names_have(&f->names[i], names[count - 1]))
			folders[n++] = arena_printf(f->arena, "%s/%s", f->folders[i],
						    names[count - 1]);
	return folders;
}

int unit_fragments_read(struct unit_fragments *f, const char *unit, unit_assigned *assigned,
			void *user)
{
	const char *const *folders = unit_drop_in_folders(f, unit);
	const char *template = template_of(f->arena, unit);
	struct drop_in drop_ins[UNIT_DROP_INS_MAX];
	bool found = false;
	size_t count = 0;
	int rc = read_main(f, unit, assigned, user, &found), error = 0;

	if (!found && template)
		rc = read_main(f, template, assigned, user, &found);
	if (rc)
		return rc == -ENOENT && f->error ? f->error : rc;
	for (size_t i = 0; folders[i]; i++) {
		rc = list_drop_ins(f, folders[i], drop_ins, &count);
		error = error ? error : rc;
	}
	qsort(drop_ins, count, sizeof(drop_ins[0]), compare_drop_ins);
	for (size_t i = 0; i < count; i++) {
		rc = read_fragment(f, drop_ins[i].path, assigned, user);
		error = error || rc == -ENOENT ? error : rc;
	}
	return error;
}

bool unit_program(struct span value, struct span *program, bool *optional)
{
	*optional = false;
	while (value.n && value.p[0] && strchr("@-:+!|", value.p[0])) {
		*optional |= value.p[0] == '-';
		value = (struct span){ value.p + 1, value.n - 1 };
	}
	if (value.n && value.p[0] == '"') {
		value = (struct span){ value.p + 1, value.n - 1 };
		*program = (struct span){ value.p, span_find(value, '"') };
	} else if (!span_word(&value, program)) {
		return false;
	}
	return program->n && !memchr(program->p, '$', program->n) &&
	       !memchr(program->p, '%', program->n);
}
