/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * software.c - the user space that has to fit the kernel's side, and which version of it: by the
 * names of libraries and Python projects, and a few small files. Nothing is run, and no library's
 * body read.
 */
#include "probes/software/software.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "parse/process.h"
#include "parse/version.h"
#include "probes/dynamic-loader.h"
#include "probes/probe.h"
#include "probes/processes.h"
#include "query/node-find.h"

#define FOLDERS_MAX 256
#define LINKS_MAX 8

/* Folders that were looked at, each once whatever it is called. */
struct places {
	struct probe_context *ctx;
	const char *seen[FOLDERS_MAX];
	size_t count;
	bool lib_is_link;
	bool unread;	     /* one of them could not be looked into */
	bool hidden_program; /* a folder of PATH cannot be looked into */
};

/* Returns true if it exists, so that it can be searched. */
static bool is_done(struct places *p, int rc)
{
	if (rc && rc != -ENOENT && rc != -ENOTDIR)
		p->unread = true;
	return rc == 0;
}

/* ---- folders ---- */

/* PATH itself, as long as it is a link. */
static const char *follow(struct places *p, const char *path)
{
	struct arena *arena = p->ctx->arena;
	char target[PATH_MAX];

	for (int i = 0; i < LINKS_MAX && host_link(p->ctx->host, target, "%s", path) == 0; i++) {
		int parent = (int)(strrchr(path, '/') - path);

		path = target[0] == '/' ? arena_strdup(arena, target)
					: arena_printf(arena, "%.*s/%s", parent, path, target);
	}
	return path;
}

/* Resolves the usual links: /lib into /usr, /usr/local/cuda to a version (alternatives), lib64 to lib. Otherwise one
 * folder with two names would be two installations. */
static const char *resolve_folder(struct places *p, const char *folder)
{
	static const char cuda[] = "/usr/local/cuda";
	const char *rest = folder + sizeof(cuda) - 1;

	if (p->lib_is_link && starts_with(folder, "/lib"))
		folder = arena_printf(p->ctx->arena, "/usr%s", folder);
	else if (starts_with(folder, cuda) && *rest == '/')
		folder = arena_printf(p->ctx->arena, "%s%s", follow(p, cuda), rest);
	return follow(p, folder);
}

static bool is_new(struct places *p, const char *folder)
{
	for (size_t i = 0; i < p->count; i++)
		if (strcmp(p->seen[i], folder) == 0)
			return false;
	if (p->count == FOLDERS_MAX) {
		host_gap_note(p->ctx->host, folder, -EOVERFLOW,
			      "only 256 folders were looked into");
		p->unread = true;
		return false;
	}
	p->seen[p->count++] = folder;
	return true;
}

static void read_folder_once(struct places *p, const char *folder, host_ask *ask)
{
	struct software_facts answer = { 0 };

	folder = resolve_folder(p, folder);
	if (!is_new(p, folder) ||
	    !is_done(p, host_query(p->ctx->host, folder, &software_facts_desc, &answer,
				   p->ctx->arena, ask, (void *)folder)))
		return;
	for_each(item, &answer.items)
		software_add(p->ctx->arena, &p->ctx->node->software, item);
}

/* A folder that NVSHMEM or NCCL was installed into. */
static void read_home(struct places *p, const char *home)
{
	struct arena *arena = p->ctx->arena;

	read_folder_once(p, arena_printf(arena, "%s/lib", home), software_ask_libraries);
	read_folder_once(p, arena_printf(arena, "%s/lib64", home), software_ask_libraries);
	software_read_nvshmem(p->ctx->host, arena, &p->ctx->node->software, home);
}

/* If a folder cannot be searched, no program counts as missing. */
static void find_program(struct places *p, struct span folder, const char *name)
{
	struct probe_context *ctx = p->ctx;
	struct software_facts *software = &ctx->node->software;
	char *path = arena_printf(ctx->arena, "%.*s/%s", SPAN_FMT(folder), name);
	struct host_stat stat;
	int rc = host_stat(ctx->host, &stat, "%s", path);

	if (rc && rc != -ENOENT)
		p->hidden_program = true;
	for_each(known, &software->programs)
		if (strcmp(*known, path) == 0)
			return;
	if (rc == 0)
		*LIST_ADD(ctx->arena, &software->programs) = path;
}

static void read_toolkit(struct places *p, const char *home)
{
	struct probe_context *ctx = p->ctx;

	read_folder_once(p, arena_printf(ctx->arena, "%s/lib64", home), software_ask_libraries);
	/* Newer libcuda for an older kernel module, on purpose. */
	read_folder_once(p, arena_printf(ctx->arena, "%s/compat", home), software_ask_libraries);
	software_read_cuda(ctx->host, ctx->arena, &ctx->node->software, home);
	find_program(p, span_of(arena_printf(ctx->arena, "%s/bin", home)), "nvcc");
}

/* ---- Python ---- */

/* LIB holds python3, python3.12, ...; each has one or the other of the two. */
static void read_python(struct places *p, const char *lib)
{
	_cleanup_names_ struct names names = { 0 };
	struct arena *arena = p->ctx->arena;

	if (!is_done(p, host_list(p->ctx->host, &names, "%s", lib)))
		return;
	for (size_t i = 0; i < names.count; i++) {
		if (!starts_with(names.items[i], "python3"))
			continue;
		read_folder_once(p, arena_printf(arena, "%s/%s/site-packages", lib, names.items[i]),
				 software_ask_python);
		read_folder_once(p, arena_printf(arena, "%s/%s/dist-packages", lib, names.items[i]),
				 software_ask_python);
	}
}

/* Adds the folder of pip install --user (site.getuserbase() of Python), if it exists. */
static void add_user_base(struct host *host, struct env_facts *answer, struct arena *arena,
			  struct span home)
{
	const char *base = arena_printf(arena, "%.*s/.local", SPAN_FMT(home));
	struct env_variable *variable;

	if (!host_exists(host, arena_printf(arena, "%s/lib", base)))
		return;
	variable = LIST_ADD(arena, &answer->variables);
	variable->name = fact_str(arena, "PYTHONUSERBASE");
	variable->value = fact_str(arena, base);
}

/* The answer is a few words of the environment, kept for a capture as the folders that they are. */
static int ask_virtual_env(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct env_facts *answer = facts;
	_cleanup_text_ struct text text = { 0 };
	struct span rest, name, value;
	int rc = process_read_environ(host, &text, user);

	if (rc)
		return rc == -ENOENT || rc == -ENODATA ? 0 : rc;
	rest = text_span(&text);
	while (process_environ_next(&rest, &name, &value)) {
		struct env_variable *variable;

		if (span_is(name, "HOME") && value.n && value.p[0] == '/')
			add_user_base(host, answer, arena, value);
		if (!span_is(name, "VIRTUAL_ENV") && !span_is(name, "CONDA_PREFIX") &&
		    !span_is(name, "PATH"))
			continue;
		variable = LIST_ADD(arena, &answer->variables);
		variable->name = fact_strn(arena, name.p, name.n);
		variable->value = fact_strn(arena, value.p, value.n);
	}
	return 0;
}

static void find_programs(struct places *p, const char *path)
{
	struct span rest = span_of(path), folder;

	while (span_cut(&rest, ':', &folder))
		if (folder.n > 1 && folder.p[0] == '/') {
			find_program(p, folder, "ibstat");
			find_program(p, folder, "nvcc");
		}
}

static void read_environment_folders(struct places *p)
{
	struct probe_context *ctx = p->ctx;
	struct env_facts answer = { 0 };
	char *folder = ctx->pid ? arena_printf(ctx->arena, "/proc/%d", ctx->pid)
				: arena_strdup(ctx->arena, "/proc/self");

	if (host_query(ctx->host, "virtual environment", &env_facts_desc, &answer, ctx->arena,
		       ask_virtual_env, folder))
		return;
	for_each(v, &answer.variables)
		if (str_is(v->name, "PATH"))
			find_programs(p, v->value.value);
		else if (v->value.value[0] == '/')
			read_python(p, arena_printf(ctx->arena, "%s/lib", v->value.value));
}

/* ---- all places ---- */

static const char *const usual_folders[] = {
	"/usr/lib/x86_64-linux-gnu",
	"/usr/lib/aarch64-linux-gnu",
	"/usr/lib64",
	"/usr/lib",
	"/usr/local/lib",
	"/usr/local/lib64",
	"/usr/local/nvidia/lib64",
	"/usr/local/nvidia/lib",
	NULL,
};

static void read_usual(struct places *p)
{
	static const char *const pythons[] = { "/usr/lib", "/usr/lib64", "/usr/local/lib",
					       "/usr/local/lib64" };

	for (size_t i = 0; usual_folders[i]; i++)
		read_folder_once(p, usual_folders[i], software_ask_libraries);
	for (size_t i = 0; i < ARRAY_SIZE(pythons); i++)
		read_python(p, pythons[i]);
}

/* Toolkits and hand-made installations: /usr/local/cuda-12.8, /usr/local/nvshmem. */
static void read_local(struct places *p)
{
	_cleanup_names_ struct names names = { 0 };
	struct arena *arena = p->ctx->arena;

	if (!is_done(p, host_list(p->ctx->host, &names, "/usr/local")))
		return;
	for (size_t i = 0; i < names.count; i++) {
		const char *home = arena_printf(arena, "/usr/local/%s", names.items[i]);

		if (strcmp(names.items[i], "cuda") == 0)
			home = resolve_folder(p, home);
		if (starts_with(names.items[i], "cuda"))
			read_toolkit(p, home);
		else if (starts_with(names.items[i], "nvshmem") ||
			 starts_with(names.items[i], "nccl") ||
			 starts_with(names.items[i], "gdrcopy"))
			read_home(p, home);
	}
}

static void read_opt(struct places *p)
{
	_cleanup_names_ struct names names = { 0 }, nvidia = { 0 };
	struct arena *arena = p->ctx->arena;

	if (!is_done(p, host_list(p->ctx->host, &names, "/opt")))
		return;
	for (size_t i = 0; i < names.count; i++) {
		if (strcmp(names.items[i], "nvidia") == 0 ||
		    strcmp(names.items[i], "mellanox") == 0)
			continue;
		if (starts_with(names.items[i], "nvshmem") || starts_with(names.items[i], "nccl"))
			read_home(p, arena_printf(arena, "/opt/%s", names.items[i]));
		read_python(p, arena_printf(arena, "/opt/%s/lib", names.items[i]));
		read_python(p, arena_printf(arena, "/opt/%s/.venv/lib", names.items[i]));
	}
	if (!is_done(p, host_list(p->ctx->host, &nvidia, "/opt/nvidia")))
		return;
	for (size_t i = 0; i < nvidia.count; i++)
		read_home(p, arena_printf(arena, "/opt/nvidia/%s", nvidia.items[i]));
}

/* Further folders of the dynamic loader: lines of ld.so.conf.d that are paths. */
static void read_loader(struct places *p)
{
	_cleanup_names_ struct names names = { 0 };

	if (!is_done(p, host_list(p->ctx->host, &names, "/etc/ld.so.conf.d")))
		return;
	for (size_t i = 0; i < names.count; i++) {
		_cleanup_text_ struct text text = { 0 };
		struct span rest, line;

		if (!span_ends(span_of(names.items[i]), ".conf") ||
		    !is_done(p, host_read(p->ctx->host, &text, HOST_FILE_MAX,
					  "/etc/ld.so.conf.d/%s", names.items[i])))
			continue;
		rest = text_span(&text);
		while (span_cut(&rest, '\n', &line)) {
			line = span_trim(line);
			if (line.n > 1 && line.p[0] == '/')
				read_folder_once(p, arena_strndup(p->ctx->arena, line.p, line.n),
						 software_ask_libraries);
		}
	}
}

/* The version is in the name that the links lead to. */
static int ask_libcuda(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct software_facts *answer = facts;
	_cleanup_dynamic_loader_ struct dynamic_loader loader;
	const char *path = NULL, *ml = NULL;
	char target[PATH_MAX];
	struct span version;
	int rc, other;

	dynamic_loader_open(&loader, host, arena, user);
	rc = dynamic_loader_find(&loader, "libcuda.so.1", &path);
	if (rc && rc != -ENOENT)
		return rc;
	answer->libcuda = rc ? FACT_NONE(fact_str) : fact_str(arena, path);
	other = dynamic_loader_find(&loader, "libnvidia-ml.so.1", &ml);
	if (other == 0)
		answer->libnvidia_ml = fact_str(arena, ml);
	else if (other == -ENOENT)
		answer->libnvidia_ml.state = FACT_ABSENT;
	answer->libcuda_version.state = FACT_ABSENT;
	for (int i = 0; rc == 0 && i < LINKS_MAX; i++) {
		const char *slash = strrchr(path, '/');

		if (version_of_library(span_of(slash + 1), "libcuda.so", &version) &&
		    version_is_driver(version)) {
			answer->libcuda_version = fact_strn(arena, version.p, version.n);
			break;
		}
		if (host_link(host, target, "%s", path))
			break;
		path = target[0] == '/'
			       ? arena_strdup(arena, target)
			       : arena_printf(arena, "%.*s/%s", (int)(slash - path), path, target);
	}
	return 0;
}

/* Finds the libcuda that programs get. A process in another root has its own cache of the dynamic loader. */
static void read_libcuda(struct probe_context *ctx)
{
	struct software_facts *software = &ctx->node->software, answer = { 0 };

	if (ctx->pid && process_is_elsewhere(ctx->host, ctx->pid))
		return;
	if (host_query(ctx->host, "libcuda.so.1", &software_facts_desc, &answer, ctx->arena,
		       ask_libcuda, (void *)node_env(ctx->node, "LD_LIBRARY_PATH")))
		return;
	software->libcuda = answer.libcuda;
	software->libcuda_version = answer.libcuda_version;
	software->libnvidia_ml = answer.libnvidia_ml;
}

/* Reads software that the environment of the checked process selects. */
static void read_environment(struct places *p)
{
	static const char *const homes[] = { "NVSHMEM_HOME",   "NVSHMEM_DIR",
					     "NVSHMEM_PREFIX", "EP_NVSHMEM_ROOT_DIR",
					     "NCCL_HOME",      "EP_NCCL_ROOT_DIR" };
	const char *path = node_env(p->ctx->node, "LD_LIBRARY_PATH");
	const char *cuda = node_env(p->ctx->node, "CUDA_HOME");
	struct span rest = span_of(path ? path : ""), folder;

	if (cuda && cuda[0] == '/')
		read_toolkit(p, resolve_folder(p, cuda));
	for (size_t i = 0; i < ARRAY_SIZE(homes); i++) {
		const char *home = node_env(p->ctx->node, homes[i]);

		if (home && home[0] == '/')
			read_home(p, home);
	}
	while (span_cut(&rest, ':', &folder))
		if (folder.n > 1 && folder.p[0] == '/')
			read_folder_once(p, arena_strndup(p->ctx->arena, folder.p, folder.n),
					 software_ask_libraries);
}

/* Reads software and programs of a process in another root. */
static void read_process(struct places *p)
{
	struct probe_context *ctx = p->ctx;

	if (ctx->pid && process_is_elsewhere(ctx->host, ctx->pid)) {
		host_gap_note(ctx->host, arena_printf(ctx->arena, "/proc/%d/root", (int)ctx->pid),
			      -EXDEV, PROCESS_IS_ELSEWHERE);
		p->unread = true;
		p->hidden_program = true;
		return;
	}
	host_distrust_names(ctx->host, true);
	read_environment(p);
	host_distrust_names(ctx->host, false);
	read_environment_folders(p);
}

static int compare_programs(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_items(const void *a, const void *b)
{
	const struct software_item *x = a, *y = b;

	return strcmp(x->path.value, y->path.value);
}

static void software_run(struct probe_context *ctx)
{
	static const char *const makers[] = { "/opt/mellanox/doca/lib/x86_64-linux-gnu",
					      "/opt/mellanox/doca/lib/aarch64-linux-gnu",
					      "/opt/mellanox/doca/lib64",
					      "/opt/amazon/ofi-nccl/lib/x86_64-linux-gnu",
					      "/opt/amazon/ofi-nccl/lib64" };
	struct software_facts *software = &ctx->node->software;
	struct places places = { .ctx = ctx };
	struct host_stat stat;
	char target[PATH_MAX];

	places.lib_is_link = host_link(ctx->host, target, "/lib") == 0;
	read_process(&places);
	read_usual(&places);
	read_local(&places);
	read_opt(&places);
	read_loader(&places);
	find_programs(&places, "/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin");
	for (size_t i = 0; i < ARRAY_SIZE(makers); i++)
		read_folder_once(&places, makers[i], software_ask_libraries);
	software_read_rdma(ctx->host, ctx->arena, software);
	software_read_packages(ctx->host, ctx->arena, software);
	software_read_programs(ctx->host, ctx->arena, software);
	software_read_dcgm(ctx->host, ctx->arena, software);
	software_read_plugins(ctx->host, ctx->arena, software);
	/* Without /usr there is nothing that could have been found. */
	if (software->items.count || host_stat(ctx->host, &stat, "/usr/lib") == 0) {
		software->items.state = FACT_KNOWN;
		software->complete = fact_bool(!places.unread);
	}
	if (!places.hidden_program)
		software->programs.state = FACT_KNOWN;
	if (!ctx->preflight)
		read_libcuda(ctx);
	fact_list_sort(&software->programs, sizeof(software->programs.items[0]), compare_programs);
	fact_list_sort(&software->items, sizeof(software->items.items[0]), compare_items);
}

/* ---- in preflight ---- */

/* Returns true if a folder that programs search has a library of the driver's version, by its name. */
static bool has_library(struct probe_context *ctx, const char *name)
{
	const char *version = ctx->node->driver.version.value;

	for (size_t i = 0; usual_folders[i]; i++)
		if (host_exists(ctx->host, arena_printf(ctx->arena, "%s/%s.%s", usual_folders[i],
							name, version)))
			return true;
	return false;
}

/* While the driver's libraries are where they mostly are, nothing else is looked for. */
static void software_run_preflight(struct probe_context *ctx)
{
	if (is_known(ctx->node->driver.version) &&
	    !(has_library(ctx, "libcuda.so") && has_library(ctx, "libnvidia-ml.so")))
		software_run(ctx);
}

const struct probe probe_software = {
	.name = "software",
	.phase = PHASE_SECOND,
	.needs = NEEDS_PROCESSES,
	PROBE_SECTION(software),
	.run = software_run,
	.preflight = { .run = software_run_preflight },
};
