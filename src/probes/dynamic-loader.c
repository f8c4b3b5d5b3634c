/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dynamic-loader.c - where the dynamic loader of the node would find a shared library (ld.so(8)): DT_RPATH and
 * DT_RUNPATH, LD_LIBRARY_PATH, ld.so.cache, its own folders.
 */
#include "probes/dynamic-loader.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "base/array.h"
#include "parse/elf.h"
#include "parse/ldso.h"

#define CACHE_MAX (8u << 20)
#define CONF_DEPTH_MAX 8
#define OBJECTS_MAX 256 /* programs have some ten */

/* ---- folders ---- */

/* Default folders of glibc, which differ between distributions. */
static const char *const own_folders[] = {
	"/lib64",
	"/usr/lib64",
	"/lib/x86_64-linux-gnu",
	"/usr/lib/x86_64-linux-gnu",
	"/lib/aarch64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu",
	"/lib",
	"/usr/lib",
};

static void note_error(struct dynamic_loader *l, int rc)
{
	if (rc && rc != -ENOENT && rc != -ENOTDIR && !l->error)
		l->error = rc;
}

static void add_folder(struct dynamic_loader *l, const char *folder)
{
	for (size_t i = 0; i < l->count; i++)
		if (strcmp(l->folders[i], folder) == 0)
			return;
	if (l->count < LOADER_FOLDERS_MAX)
		l->folders[l->count++] = folder;
	else
		note_error(l, -EOVERFLOW);
}

static void read_conf(struct dynamic_loader *l, const char *path, unsigned int depth);

/* "include ld.so.conf.d" followed by a pattern of names, beside the file that says so. */
static void include(struct dynamic_loader *l, struct span pattern, unsigned int depth)
{
	_cleanup_names_ struct names names = { 0 };
	char *path = pattern.p[0] == '/' ? arena_printf(l->arena, "%.*s", SPAN_FMT(pattern))
					 : arena_printf(l->arena, "/etc/%.*s", SPAN_FMT(pattern));
	char *slash = strrchr(path, '/');
	int rc;

	*slash = '\0';
	rc = host_list(l->host, &names, "%s", path[0] ? path : "/");
	note_error(l, rc);
	for (size_t i = 0; rc == 0 && i < names.count; i++)
		if (fnmatch(slash + 1, names.items[i], FNM_PERIOD) == 0)
			read_conf(l, arena_printf(l->arena, "%s/%s", path, names.items[i]),
				  depth + 1);
}

static void read_conf(struct dynamic_loader *l, const char *path, unsigned int depth)
{
	_cleanup_text_ struct text text = { 0 };
	struct span rest, line, value;
	bool is_include;
	int rc = depth < CONF_DEPTH_MAX ? host_read(l->host, &text, HOST_FILE_MAX, "%s", path)
					: -ELOOP;

	note_error(l, rc);
	if (rc)
		return;
	rest = text_span(&text);
	while (span_cut(&rest, '\n', &line)) {
		if (!ldso_conf_line(line, &value, &is_include))
			continue;
		if (is_include)
			include(l, value, depth);
		else
			add_folder(l, arena_strndup(l->arena, value.p, value.n));
	}
}

void dynamic_loader_open(struct dynamic_loader *l, struct host *host, struct arena *arena,
			 const char *variable)
{
	struct ldso_cache cache;

	*l = (struct dynamic_loader){ .host = host, .arena = arena, .variable = variable };
	if (host_read(host, &l->cache, CACHE_MAX, "/etc/ld.so.cache") == 0)
		l->cached = ldso_cache_begin(&cache, text_span(&l->cache));
	if (!l->cached)
		read_conf(l, "/etc/ld.so.conf", 0);
	for (size_t i = 0; i < ARRAY_SIZE(own_folders); i++)
		add_folder(l, own_folders[i]);
}

void dynamic_loader_close(struct dynamic_loader *l)
{
	text_free(&l->cache);
}

/* ---- one library ---- */

static ssize_t elf_bytes(void *user, uint64_t offset, void *to, size_t n)
{
	ssize_t got = pread(*(int *)user, to, n, (off_t)offset);

	return got < 0 ? -errno : got;
}

static int read_file(struct dynamic_loader *l, const char *path, struct elf_dynamic *out)
{
	_cleanup_close_ int fd = host_open(l->host, path);

	return fd < 0 ? fd : elf_dynamic(elf_bytes, &fd, l->arena, out);
}

int dynamic_loader_read(struct dynamic_loader *l, const char *path, const struct elf_dynamic **out)
{
	struct dynamic_loader_file *file = NULL;

	for (size_t i = 0; !file && i < l->file_count; i++)
		if (strcmp(l->files[i]->path, path) == 0)
			file = l->files[i];
	if (!file) {
		file = arena_alloc(l->arena, sizeof(*file));
		file->path = path;
		file->error = read_file(l, path, &file->elf);
		if (l->file_count < LOADER_FILES_MAX)
			l->files[l->file_count++] = file;
	}
	*out = &file->elf;
	return file->error;
}

/* The file for which libraries are searched, and the file that needed it: the loader also uses the DT_RPATH of those
 * that needed it. */
struct object {
	const char *name; /* by which it was looked for */
	const char *path;
	const struct elf_dynamic *elf;
	const struct object *needed_by;
};

/* Returns true if PATH exists and is built for MACHINE. A file that is not ELF, as in a copy without contents,
 * counts. */
static int try_path(struct dynamic_loader *l, const char *path, unsigned int machine,
		    const char **found)
{
	const struct elf_dynamic *elf;
	struct host_stat stat;
	int rc = host_stat(l->host, &stat, "%s", path);

	if (rc)
		return rc == -ENOTDIR ? -ENOENT : rc;
	if (machine && dynamic_loader_read(l, path, &elf) == 0 && elf->machine != machine)
		return -ENOENT;
	*found = path;
	return 0;
}

static int try_folder(struct dynamic_loader *l, struct span folder, const char *name,
		      unsigned int machine, const char **found)
{
	return try_path(l, arena_printf(l->arena, "%.*s/%s", SPAN_FMT(folder), name), machine,
			found);
}

/* FOLDER with what ld.so(8) puts in for $ORIGIN and its like, or NULL where that is not known here. */
static const char *expand(struct dynamic_loader *l, struct span folder, const char *object)
{
	static const char *const origins[] = { "$ORIGIN", "${ORIGIN}" };
	const char *slash = strrchr(object, '/');

	for (size_t i = 0; i < 2; i++)
		if (span_starts(folder, origins[i])) {
			size_t n = strlen(origins[i]);

			return arena_printf(l->arena, "%.*s%.*s", (int)(slash - object), object,
					    (int)(folder.n - n), folder.p + n);
		}
	return memchr(folder.p, '$', folder.n) ? NULL : arena_strndup(l->arena, folder.p, folder.n);
}

/* A list of folders, with colons between. */
static int try_list(struct dynamic_loader *l, const char *list, const char *object,
		    const char *name, unsigned int machine, const char **found)
{
	struct span rest = span_of(list ? list : ""), folder;
	int rc = -ENOENT, one;

	while (span_cut(&rest, ':', &folder)) {
		const char *path = folder.n ? expand(l, folder, object) : NULL;

		if (!path)
			continue;
		one = try_folder(l, span_of(path), name, machine, found);
		if (one == 0)
			return 0;
		if (one != -ENOENT)
			rc = one;
	}
	return rc;
}

static int try_cache(struct dynamic_loader *l, const char *name, unsigned int machine,
		     const char **found)
{
	struct ldso_cache cache;
	struct ldso_entry entry;

	if (!l->cached || !ldso_cache_begin(&cache, text_span(&l->cache)))
		return -ENOENT;
	while (ldso_cache_next(&cache, &entry))
		if (span_is(entry.name, name) &&
		    try_path(l, arena_strndup(l->arena, entry.path.p, entry.path.n), machine,
			     found) == 0)
			return 0;
	return -ENOENT;
}

/* A tree without one of the folders says nothing of that one; without all of them it says nothing at all. */
static int try_folders(struct dynamic_loader *l, const char *name, unsigned int machine,
		       const char **found)
{
	int rc = -ENODATA;

	for (size_t i = 0; i < l->count; i++) {
		int one = try_folder(l, span_of(l->folders[i]), name, machine, found);

		if (one == 0)
			return 0;
		if (one != -ENODATA && (rc == -ENODATA || rc == -ENOENT))
			rc = one;
	}
	return rc;
}

static int try_usual(struct dynamic_loader *l, const char *name, unsigned int machine,
		     const char **found)
{
	int rc = try_cache(l, name, machine, found);

	if (rc)
		rc = try_folders(l, name, machine, found);
	return rc == -ENOENT && l->error ? l->error : rc;
}

/* Searches in the dynamic loader's order. */
static int find_for(struct dynamic_loader *l, const struct object *object, const char *name,
		    const char **found)
{
	unsigned int machine = object->elf->machine;
	int rc = -ENOENT;

	if (strchr(name, '/'))
		return try_path(l, name, machine, found);
	for (const struct object *o = object; rc && !object->elf->runpath && o; o = o->needed_by)
		if (!o->elf->runpath)
			rc = try_list(l, o->elf->rpath, o->path, name, machine, found);
	if (rc)
		rc = try_list(l, l->variable, object->path, name, machine, found);
	if (rc)
		rc = try_list(l, object->elf->runpath, object->path, name, machine, found);
	return rc ? try_usual(l, name, machine, found) : 0;
}

int dynamic_loader_find(struct dynamic_loader *l, const char *name, const char **path)
{
	int rc = try_list(l, l->variable, "/", name, 0, path);

	return rc ? try_usual(l, name, 0, path) : 0;
}

static size_t add_path(const char **paths, size_t count, size_t n, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(paths[i], path) == 0)
			return count;
	if (count < n)
		paths[count++] = path;
	return count;
}

static size_t find_in_variable(struct dynamic_loader *l, const char *name, const char **paths,
			       size_t n)
{
	struct span rest = span_of(l->variable ? l->variable : ""), folder;
	const char *found;
	size_t count = 0;

	while (span_cut(&rest, ':', &folder))
		if (folder.n && !memchr(folder.p, '$', folder.n) &&
		    try_folder(l, folder, name, 0, &found) == 0)
			count = add_path(paths, count, n, found);
	return count;
}

/* The loader's own folders are in the cache. Without a cache they are asked last. */
size_t dynamic_loader_find_all(struct dynamic_loader *l, const char *name, const char **paths,
			       size_t n)
{
	size_t count = find_in_variable(l, name, paths, n);
	struct ldso_cache cache;
	struct ldso_entry entry;
	const char *found;

	if (l->cached && ldso_cache_begin(&cache, text_span(&l->cache))) {
		while (ldso_cache_next(&cache, &entry))
			if (span_is(entry.name, name) &&
			    try_path(l, arena_strndup(l->arena, entry.path.p, entry.path.n), 0,
				     &found) == 0)
				count = add_path(paths, count, n, found);
		return count;
	}
	for (size_t i = 0; i < l->count; i++)
		if (try_folder(l, span_of(l->folders[i]), name, 0, &found) == 0)
			count = add_path(paths, count, n, found);
	return count;
}

/* ---- all that a program needs ---- */

struct queue {
	struct object objects[OBJECTS_MAX];
	size_t count, done;
	const char *seen[OBJECTS_MAX]; /* names that were looked for */
	size_t seen_count;
};

static bool is_seen(const struct queue *q, const char *name)
{
	for (size_t i = 0; i < q->seen_count; i++)
		if (strcmp(q->seen[i], name) == 0)
			return true;
	return false;
}

static int find_library(struct dynamic_loader *l, struct queue *q, const struct object *object,
			const char *name, struct dynamic_loader_missing *missing)
{
	struct object *next = &q->objects[q->count];
	int rc;

	/* The loader itself is not looked for: the kernel has started it. */
	if (is_seen(q, name) || starts_with(name, "ld-linux"))
		return 0;
	if (q->seen_count == OBJECTS_MAX) {
		missing->unread = true;
		return 0;
	}
	q->seen[q->seen_count++] = name;
	rc = find_for(l, object, name, &next->path);
	if (rc == -ENOENT) {
		if (missing->count < DYNAMIC_LOADER_MISSING_MAX)
			missing->names[missing->count++] = name;
		return 0;
	}
	if (rc)
		return rc;
	next->name = name;
	next->needed_by = object;
	if (q->count + 1 < OBJECTS_MAX && dynamic_loader_read(l, next->path, &next->elf) == 0)
		q->count++;
	else
		missing->unread = true;
	return 0;
}

/* ---- symbol versions ---- */

/* A library without versions is not asked for any (glibc: elf/dl-version.c, match_symbol()). */
static bool defines(const struct elf_dynamic *elf, const char *version)
{
	for (size_t i = 0; i < elf->defined_count; i++)
		if (strcmp(elf->defined[i], version) == 0)
			return true;
	return !elf->defined;
}

static void check_versions(const struct queue *q, const struct object *object,
			   struct dynamic_loader_missing *missing)
{
	for (size_t i = 0; i < object->elf->version_count; i++) {
		const struct elf_version *v = &object->elf->versions[i];

		for (size_t k = 1; k < q->count && !v->weak; k++)
			if (strcmp(q->objects[k].name, v->file) == 0 &&
			    !defines(q->objects[k].elf, v->name) &&
			    missing->version_count < DYNAMIC_LOADER_MISSING_MAX)
				missing->versions[missing->version_count++] =
					(struct dynamic_loader_version){ v->name,
									 q->objects[k].path,
									 object->path };
	}
}

int dynamic_loader_missing(struct dynamic_loader *l, const char *program,
			   struct dynamic_loader_missing *missing)
{
	struct queue *q = arena_alloc(l->arena, sizeof(*q));
	int rc;

	*missing = (struct dynamic_loader_missing){ 0 };
	q->objects[0].path = program;
	rc = dynamic_loader_read(l, program, &q->objects[0].elf);
	if (rc)
		return rc;
	for (q->count = 1; q->done < q->count; q->done++) {
		const struct object *object = &q->objects[q->done];

		for (size_t i = 0; rc == 0 && i < object->elf->needed_count; i++)
			rc = find_library(l, q, object, object->elf->needed[i], missing);
	}
	for (size_t i = 0; i < q->count; i++)
		check_versions(q, &q->objects[i], missing);
	return rc;
}
