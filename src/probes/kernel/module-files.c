/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module-files.c - the kernels that are installed, and the .ko files for them of the modules that
 * this program is about: those that depmod knows, and those that lie in the usual folders without
 * its knowing, which modprobe does not find.
 */
#include <string.h>

#include "parse/module.h"
#include "probes/kernel/module-info.h"
#include "probes/log/log-lines.h"
#include "probes/probe.h"

#define KERNELS_MAX 64
#define FILES_MAX 1024
#define FOLDERS_MAX 1024 /* looked into, for all kernels */
#define DEPTH_MAX 8
#define OTHER_COMPRESSED_MAX (256u << 10) /* of kernels that neither run nor boot next */

struct search {
	struct probe_context *ctx;
	const char *root; /* /lib/modules */
	const char *release;
	size_t folders;
	bool incomplete; /* something could not be read: there may be more files */
};

static const char *const searched[] = {
	"updates", "extra", "weak-updates", "misc", NULL,
};
/* Folders that are not searched further: they hold thousands of modules that no rule needs. */
static const char *const looked_into[] = {
	"kernel/drivers/video",
	"kernel/drivers/gpu/drm/nouveau",
	"kernel/drivers/infiniband/core",
	"kernel/drivers/infiniband/hw/mlx5",
	"kernel/drivers/net/ethernet/mellanox/mlx5/core",
	NULL,
};

/* ---- the list ---- */

static void add_file(struct search *s, const char *path, bool indexed)
{
	struct modules_facts *modules = &s->ctx->node->modules;
	struct module_file *file;
	struct host_stat stat;
	char name[MODULE_NAME_MAX];

	if (!module_file_name(span_of(path), name) || !module_file_is_of_interest(name))
		return;
	/* A link of weak-updates can lead to a kernel that is gone. */
	if (!indexed && host_stat(s->ctx->host, &stat, "%s", path) == -ENOENT)
		return;
	for_each(f, &modules->files)
		if (str_is(f->path, path))
			return;
	if (modules->files.count == FILES_MAX) {
		host_gap_note(s->ctx->host, s->root, -EOVERFLOW,
			      "only 1024 module files were looked at");
		return;
	}
	file = LIST_ADD(s->ctx->arena, &modules->files);
	file->path = fact_str(s->ctx->arena, path);
	file->file_name = fact_str(s->ctx->arena, name);
	file->kernel = fact_str(s->ctx->arena, s->release);
	file->indexed = fact_bool(indexed);
}

/* ---- modules.dep ---- */

struct index {
	struct arena *arena;
	struct modules_facts *answer;
};

static bool index_line(void *user, struct span line)
{
	struct index *index = user;
	struct span path;
	char name[MODULE_NAME_MAX];

	if (module_dep_line(line, &path) && module_file_name(path, name) &&
	    module_file_is_of_interest(name))
		LIST_ADD(index->arena, &index->answer->files)->path = fact_strn(index->arena,
										path.p, path.n);
	return true;
}

/* Reads the index as a query, so that a capture keeps only the few lines that matter of thousands. */
static int ask_index(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct index index = { .arena = arena, .answer = facts };
	_cleanup_close_ int fd = host_open(host, user);

	index.answer->files.state = FACT_KNOWN;
	return fd < 0 ? fd : lines_read(fd, index_line, &index);
}

static struct fact_bool read_index(struct search *s)
{
	struct probe_context *ctx = s->ctx;
	struct modules_facts answer = { 0 };
	char *path = arena_printf(ctx->arena, "%s/%s/modules.dep", s->root, s->release);
	int rc = host_query(ctx->host, path, &modules_facts_desc, &answer, ctx->arena, ask_index,
			    path);

	for_each(f, &answer.files)
		add_file(s,
			 f->path.value[0] == '/' ? f->path.value
						 : arena_printf(ctx->arena, "%s/%s/%s", s->root,
								s->release, f->path.value),
			 true);
	return rc == 0	       ? fact_bool(true)
	       : rc == -ENOENT ? fact_bool(false)
			       : (struct fact_bool){ 0 };
}

/* ---- folders ---- */

/* Names of folders have no dot where modules lie; for a name that is not one, the answer is that it does not exist. */
static bool may_be_folder(const char *name)
{
	return !strchr(name, '.');
}

static bool module_files_list(struct search *s, struct names *names, const char *folder)
{
	int rc = host_list(s->ctx->host, names, "%s/%s", s->root, folder);

	s->incomplete |= rc && rc != -ENOENT;
	return rc == 0;
}

static void search_folder(struct search *s, const char *folder, unsigned int depth)
{
	_cleanup_names_ struct names names = { 0 };

	if (s->folders++ >= FOLDERS_MAX) {
		host_gap_note(s->ctx->host, s->root, -EOVERFLOW, "only 1024 folders were searched");
		return;
	}
	if (!module_files_list(s, &names, arena_printf(s->ctx->arena, "%s/%s", s->release, folder)))
		return;
	for (size_t i = 0; i < names.count; i++) {
		char *path = arena_printf(s->ctx->arena, "%s/%s", folder, names.items[i]);

		if (!may_be_folder(names.items[i]))
			add_file(s,
				 arena_printf(s->ctx->arena, "%s/%s/%s", s->root, s->release, path),
				 false);
		else if (depth)
			search_folder(s, path, depth - 1);
	}
}

/* SUSE and some images keep the driver in a folder of its own: nvidia-580/, kernel/nvidia-580/. */
static void search_nvidia_folders(struct search *s, const struct names *top, const char *below)
{
	for (size_t i = 0; i < top->count; i++)
		if (starts_with(top->items[i], "nvidia"))
			search_folder(s, arena_printf(s->ctx->arena, "%s%s", below, top->items[i]),
				      3);
}

static void search_kernel(struct search *s, const struct names *top)
{
	_cleanup_names_ struct names kernel = { 0 };

	for (const char *const *name = searched; *name; name++)
		if (names_have(top, *name))
			search_folder(s, *name, DEPTH_MAX);
	search_nvidia_folders(s, top, "");
	if (!names_have(top, "kernel"))
		return;
	if (module_files_list(s, &kernel, arena_printf(s->ctx->arena, "%s/kernel", s->release)))
		search_nvidia_folders(s, &kernel, "kernel/");
	for (const char *const *name = looked_into; *name; name++)
		search_folder(s, *name, 0);
}

/* ---- kernels ---- */

static bool is_kernel(const struct names *top)
{
	static const char *const signs[] = { "modules.dep",	"modules.order",
					     "modules.builtin", "kernel",
					     "updates",		"extra",
					     "weak-updates",	NULL };

	for (const char *const *sign = signs; *sign; sign++)
		if (names_have(top, *sign))
			return true;
	return false;
}

static void read_kernel(struct search *s)
{
	struct modules_facts *modules = &s->ctx->node->modules;
	_cleanup_names_ struct names top = { 0 };
	struct kernel_tree *kernel;

	if (!module_files_list(s, &top, s->release) || !is_kernel(&top))
		return;
	if (modules->kernels.count == KERNELS_MAX) {
		host_gap_note(s->ctx->host, s->root, -EOVERFLOW, "only 64 kernels were looked at");
		return;
	}
	kernel = LIST_ADD(s->ctx->arena, &modules->kernels);
	kernel->release = fact_str(s->ctx->arena, s->release);
	kernel->indexed = read_index(s);
	search_kernel(s, &top);
}

static int read_root(struct probe_context *ctx, const char *root)
{
	_cleanup_names_ struct names releases = { 0 };
	struct search s = { .ctx = ctx, .root = root };
	int rc = host_list(ctx->host, &releases, "%s", root);

	for (size_t i = 0; i < releases.count; i++) {
		s.release = releases.items[i];
		read_kernel(&s);
	}
	return s.incomplete ? -EIO : rc;
}

static void set_states(struct probe_context *ctx, int rc)
{
	struct modules_facts *modules = &ctx->node->modules;

	if (probe_hides_host(ctx, "/lib/modules"))
		return;
	modules->kernels.state = modules->files.state = rc == 0 || rc == -ENOENT ? FACT_KNOWN
										 : FACT_UNKNOWN;
}

/* ---- details ---- */

/* Returns true if the file is for the running kernel. In an image that is not booted no kernel runs, so any may be
 * next. */
static bool is_running(const struct probe_context *ctx, const struct module_file *file)
{
	return !is_known(ctx->node->os.kernel) || str_is(file->kernel, ctx->node->os.kernel.value);
}

/* Decompressing the driver of every old kernel that is still installed would take longer than all
 * else together, and no boot will use it. */
static bool is_worth_reading(struct probe_context *ctx, const struct module_file *file)
{
	const struct fact_str *next = &ctx->node->boot.next_kernel;
	struct host_stat stat;

	if (is_running(ctx, file) || (is_known(*next) && str_is(file->kernel, next->value)) ||
	    !module_file_is_compressed(span_of(file->path.value)))
		return true;
	return host_stat(ctx->host, &stat, "%s", file->path.value) == 0 &&
	       stat.size <= OTHER_COMPRESSED_MAX;
}

static void read_details(struct probe_context *ctx, struct module_info *info,
			 struct module_file *file)
{
	struct module_file answer = { 0 };
	int rc = -ENODATA;

	info->path = file->path.value;
	info->brief = !is_running(ctx, file);
	if (is_worth_reading(ctx, file))
		rc = host_query(ctx->host, file->path.value, &module_file_desc, &answer, ctx->arena,
				module_info_ask, info);
	if (rc == -ETIMEDOUT)
		host_gap_note(ctx->host, "/lib/modules", rc,
			      "decompressing modules took more than a second: not all were read");
	if (rc == 0) {
		answer.path = file->path;
		answer.file_name = file->file_name;
		answer.kernel = file->kernel;
		answer.indexed = file->indexed;
		*file = answer;
	}
	/* Modules without a name of their own are from before 4.13, and called like their files. */
	if (!is_known(file->name) && (rc == 0 || module_is_of_interest(file->file_name.value)))
		file->name = file->file_name;
}

/* Orders files by importance, because time may run out: the running kernel's, then small ones and the driver itself,
 * then the rest. */
static int rank(const struct probe_context *ctx, const struct module_file *file)
{
	const char *name = file->file_name.value;

	if (!is_running(ctx, file))
		return 2;
	return strstr(name, "peer") || strcmp(name, "nvidia") == 0 || strcmp(name, "gdrdrv") == 0 ||
			       starts_with(name, "ib_")
		       ? 0
		       : 1;
}

static int compare_files(const void *a, const void *b)
{
	const struct module_file *x = a, *y = b;

	return strcmp(x->path.value, y->path.value);
}

static void module_files_run(struct probe_context *ctx)
{
	struct modules_facts *modules = &ctx->node->modules;
	struct module_info info = { 0 };
	char target[PATH_MAX];
	int rc = read_root(ctx, "/lib/modules");
	int link = host_link(ctx->host, target, "/lib");

	/* If /lib is no link into /usr, the distribution may be moving from the one to the other. */
	if (link == -EINVAL || link == -ENOENT || link == -ENODATA) {
		int usr = read_root(ctx, "/usr/lib/modules");

		if (rc == -ENOENT || rc == -ENODATA)
			rc = usr == -ENODATA || usr == -ENOENT ? rc : usr;
		else if (usr && usr != -ENOENT && usr != -ENODATA)
			rc = usr;
	} else if (link) {
		rc = link;
	}
	set_states(ctx, rc);
	fact_list_sort(&modules->files, sizeof(modules->files.items[0]), compare_files);
	for (int r = 0; r < 3; r++)
		for_each_mut(file, &modules->files)
			if (rank(ctx, file) == r && !str_is(file->file_name, "nouveau"))
				read_details(ctx, &info, file);
	module_info_close(&info);
	for_each_mut(file, &modules->files)
		if (str_is(file->file_name, "nouveau"))
			file->name = file->file_name;
}

/* The list of loaded modules belongs to another probe, so a time-out here must not clear it. */
_Static_assert(offsetof(struct modules_facts, files) ==
		       offsetof(struct modules_facts, kernels) +
			       sizeof(((struct modules_facts *)0)->kernels),
	       "kernels and files are one section");

const struct probe probe_module_files = {
	.name = "module-files",
	.phase = PHASE_THIRD,
	.section = offsetof(struct node, modules.kernels),
	.section_size = sizeof(((struct node *)0)->modules.kernels) +
			sizeof(((struct node *)0)->modules.files),
	.run = module_files_run,
};
