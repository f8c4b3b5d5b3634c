/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A whole node made of the input: "@PATH" begins a file, whose lines follow; "@PATH -> TARGET" is a
 * link. All probes run on it, but for what a library would read.
 */
#include "node.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "host/host-private.h"
#include "probes/probe.h"

#define FILES_MAX 256

static struct file {
	struct span path, text, target;
} files[FILES_MAX];
static size_t files_count;

/* "@PATH" or "@PATH -> TARGET" */
static void add_file(struct span line)
{
	struct file *file = &files[files_count++];
	const char *arrow = span_search(line, " -> ");

	*file = (struct file){ .path = { line.p + 1, line.n - 1 } };
	if (!arrow)
		return;
	file->path.n = (size_t)(arrow - file->path.p);
	file->target = (struct span){ arrow + 4, (size_t)(line.p + line.n - arrow - 4) };
}

static void take_files(struct span rest)
{
	struct span line;

	files_count = 0;
	while (span_cut(&rest, '\n', &line)) {
		struct file *last = files_count ? &files[files_count - 1] : NULL;

		if (span_starts(line, "@/") && files_count < FILES_MAX)
			add_file(line);
		else if (last)
			last->text = (struct span){
				last->text.p ? last->text.p : line.p,
				last->text.p ? (size_t)(line.p + line.n - last->text.p) : line.n
			};
	}
}

static const struct file *find(const char *path)
{
	for (size_t i = 0; i < files_count; i++)
		if (span_is(files[i].path, path))
			return &files[i];
	return NULL;
}

/* What is below PATH in FILE's path, and so makes a folder of PATH. */
static struct span below(const struct file *file, const char *path)
{
	size_t n = strlen(path);

	if (file->path.n <= n + 1 || !span_starts(file->path, path) || file->path.p[n] != '/')
		return (struct span){ 0 };
	return (struct span){ file->path.p + n + 1, file->path.n - n - 1 };
}

static bool is_folder(const char *path)
{
	for (size_t i = 0; i < files_count; i++)
		if (below(&files[i], path).n)
			return true;
	return false;
}

static int read_file(struct host *host, const char *path, size_t limit, struct text *text)
{
	const struct file *file = find(path);

	(void)host;
	if (!file)
		return is_folder(path) ? -EISDIR : -ENOENT;
	if (file->text.n > limit)
		return -EFBIG;
	text->data = calloc(1, file->text.n + 1);
	text->size = file->text.n;
	if (text->size)
		memcpy(text->data, file->text.p, text->size);
	return 0;
}

static int read_head(struct host *host, const char *path, size_t n, struct text *text)
{
	int rc = read_file(host, path, SIZE_MAX, text);

	if (rc == 0 && text->size > n)
		text->data[text->size = n] = '\0';
	return rc;
}

static bool has_name(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i], name) == 0)
			return true;
	return false;
}

static int list_folder(struct host *host, const char *path, struct names *names)
{
	(void)host;
	for (size_t i = 0; i < files_count; i++) {
		struct span rest = below(&files[i], path), part;
		char name[NAME_MAX + 1];

		if (!span_cut(&rest, '/', &part) || !part.n || part.n > NAME_MAX)
			continue;
		snprintf(name, sizeof(name), "%.*s", SPAN_FMT(part));
		if (!has_name(names, name))
			assert(names_add(names, name) == 0);
	}
	return names->count ? 0 : find(path) ? -ENOTDIR : -ENOENT;
}

static int stat_file(struct host *host, const char *path, struct host_stat *st)
{
	const struct file *file = find(path);

	(void)host;
	if (!file && !is_folder(path))
		return -ENOENT;
	*st = (struct host_stat){ .mode = file ? S_IFREG | 0644 : S_IFDIR | 0755,
				  .size = file ? file->text.n : 0,
				  .mtime_s = 1735689600 };
	return 0;
}

static int read_link(struct host *host, const char *path, char target[PATH_MAX])
{
	const struct file *file = find(path);

	(void)host;
	if (!file)
		return is_folder(path) ? -EINVAL : -ENOENT;
	if (!file->target.n || file->target.n >= PATH_MAX)
		return -EINVAL;
	snprintf(target, PATH_MAX, "%.*s", SPAN_FMT(file->target));
	return 0;
}

static int ask(struct host *host, const char *key, const struct desc *desc, void *facts,
	       struct arena *arena, host_ask *query, void *user)
{
	(void)host, (void)key, (void)desc, (void)facts, (void)arena, (void)query, (void)user;
	return -ENODATA;
}

static const struct host_ops ops = { .read = read_file,
				     .head = read_head,
				     .list = list_folder,
				     .stat = stat_file,
				     .link = read_link,
				     .query = ask };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = fuzz_arena();
	struct node *node = arena_alloc(arena, sizeof(*node));
	struct host host = { .kind = HOST_CAPTURE, .ops = &ops, .root = -1 };

	take_files(fuzz_span(data, size));
	assert(node_observe(&host, arena, node, &(struct observation){ 0 }) == 0);
	for_each(probe, &node->probes)
		assert(probe->state.value == PROBE_OK || probe->state.value == PROBE_PARTIAL);
	fact_close_holes(&node_desc, node);
	node_check_json(arena, node);
	node_evaluate(arena, node, (uint8_t)size);
	return 0;
}
