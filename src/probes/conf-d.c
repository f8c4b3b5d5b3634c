/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf-d.c - reads folders of small files of several owners (*.d) as systemd does. */
#include "probes/conf-d.h"

#include <errno.h>
#include <string.h>

#include "base/span.h"

#define FOLDERS 5

const char *const *conf_d_folders(struct host *host, struct arena *arena, const char *first,
				  const char *last)
{
	static const char *const roots[FOLDERS] = { "/etc", "/run", "/usr/local/lib", "/usr/lib",
						    "/lib" };
	const char **folders = arena_alloc(arena, (FOLDERS + 1) * sizeof(*folders));
	char target[PATH_MAX];
	/* If /lib is no link into /usr, it is a separate folder. */
	bool split = host_link(host, target, "/lib") == -EINVAL;

	for (size_t i = 0; i < FOLDERS - (split ? 0 : 1); i++)
		folders[i] = arena_printf(arena, "%s/%s%s", roots[i], first, last);
	return folders;
}

const char *conf_d_path(struct arena *arena, const struct conf_d_file *file)
{
	return arena_printf(arena, "%s/%s", file->folder, file->name);
}

static bool is_masked(struct host *host, const char *folder, const char *name)
{
	char target[PATH_MAX];

	return host_link(host, target, "%s/%s", folder, name) == 0 &&
	       strcmp(target, "/dev/null") == 0;
}

static bool has_name(const struct conf_d *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->items[i].name, name) == 0)
			return true;
	return false;
}

static void add_folder(struct host *host, struct arena *arena, const char *folder,
		       const char *suffix, struct conf_d *out)
{
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(host, &names, "%s", folder);

	if (rc && rc != -ENOENT && !(rc == -ENODATA && starts_with(folder, "/run/")) && !out->error)
		out->error = rc;
	for (size_t i = 0; i < names.count; i++) {
		if (!span_ends(span_of(names.items[i]), suffix) || names.items[i][0] == '.' ||
		    has_name(out, names.items[i]))
			continue;
		if (out->count == CONF_D_MAX) {
			host_gap_note(host, folder, -EOVERFLOW, "more than 512 files of this kind");
			out->error = -EOVERFLOW;
			return;
		}
		out->items[out->count].folder = folder;
		out->items[out->count++].name = arena_strdup(arena, names.items[i]);
	}
}

static int compare_files(const void *a, const void *b)
{
	const struct conf_d_file *x = a, *y = b;

	return strcmp(x->name, y->name);
}

void conf_d_list(struct host *host, struct arena *arena, const char *const *folders,
		 const char *suffix, struct conf_d *out)
{
	size_t kept = 0;

	out->count = 0;
	out->error = 0;
	for (; *folders; folders++)
		add_folder(host, arena, *folders, suffix, out);
	for (size_t i = 0; i < out->count; i++)
		if (!is_masked(host, out->items[i].folder, out->items[i].name))
			out->items[kept++] = out->items[i];
	out->count = kept;
	qsort(out->items, out->count, sizeof(out->items[0]), compare_files);
}
