/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libraries.c - the libraries that jobs open by a name: which file the dynamic loader gives for each, and what that
 * one would lack. No library is loaded. A job with a library path of its own can get others.
 */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "parse/process.h"
#include "parse/rdma.h"
#include "parse/version.h"
#include "probes/dynamic-loader.h"
#include "probes/probe.h"
#include "probes/processes.h"
#include "query/job-env.h"
#include "query/node-find.h"

#define COPIES_MAX 8
#define OPENED_MAX 128
#define PRELOAD "/etc/ld.so.preload"
#define KEY "libraries that jobs open"

struct search {
	struct host *host;
	int pid; /* of the process that was asked about; 0: this one */
	struct arena *arena;
	const struct node *node;
	struct dynamic_loader loader;
	struct libraries_facts *answer;
	bool unread;  /* something could not be looked for */
	size_t tried; /* files in folders below /opt and /usr/local */
};

/* ---- what one lacks ---- */

static bool is_listed(const struct search *s, const char *path)
{
	for_each(o, &s->answer->opened)
		if (str_is(o->path, path))
			return true;
	return false;
}

static void take_missing(struct search *s, const struct dynamic_loader_missing *missing,
			 struct opened_library *opened)
{
	if (!missing->unread || missing->count)
		opened->missing_libraries.state = FACT_KNOWN;
	if (!missing->unread || missing->version_count)
		opened->missing_versions.state = FACT_KNOWN;
	for (size_t i = 0; i < missing->count; i++)
		*LIST_ADD(s->arena, &opened->missing_libraries) = missing->names[i];
	for (size_t i = 0; i < missing->version_count; i++) {
		const struct dynamic_loader_version *v = &missing->versions[i];
		struct missing_version *to = LIST_ADD(s->arena, &opened->missing_versions);

		to->version = fact_str(s->arena, v->version);
		to->library = fact_str(s->arena, v->library);
		to->needed_by = fact_str(s->arena, v->needed_by);
	}
}

/* ---- folders below /opt and /usr/local ---- */

#define TREES_MAX 64	     /* of one folder */
#define FILES_TRIED_MAX 4096 /* for all programs */
#define ELSEWHERE_MAX 16     /* of one program */

static void try_folder(struct search *s, const char *folder, struct opened_library *opened)
{
	static const char *const parts[] = { "lib", "lib64" };

	for_each(name, &opened->missing_libraries)
		for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
			char path[PATH_MAX];

			if (++s->tried > FILES_TRIED_MAX ||
			    opened->elsewhere.count == ELSEWHERE_MAX)
				return;
			if (snprintf(path, sizeof(path), "%s/%s/%s", folder, parts[i], *name) <
				    (int)sizeof(path) &&
			    !strchr(*name, '/') && host_exists(s->host, path))
				*LIST_ADD(s->arena, &opened->elsewhere) = arena_strdup(s->arena,
										       path);
		}
}

/* /opt/gdrcopy/lib64, /opt/cuda/10/lib64 */
static void find_elsewhere(struct search *s, struct opened_library *opened)
{
	static const char *const roots[] = { "/opt", "/usr/local" };
	opened->elsewhere.state = FACT_KNOWN;
	for (size_t r = 0; opened->missing_libraries.count && r < ARRAY_SIZE(roots); r++) {
		_cleanup_names_ struct names trees = { 0 };

		if (host_list(s->host, &trees, "%s", roots[r]))
			continue;
		for (size_t i = 0; i < trees.count && i < TREES_MAX; i++) {
			const char *tree = arena_printf(s->arena, "%s/%s", roots[r],
							trees.items[i]);
			_cleanup_names_ struct names inner = { 0 };

			try_folder(s, tree, opened);
			if (r > 0 || host_list(s->host, &inner, "%s", tree))
				continue;
			for (size_t k = 0; k < inner.count && k < TREES_MAX; k++)
				try_folder(s, arena_printf(s->arena, "%s/%s", tree, inner.items[k]),
					   opened);
		}
	}
}

/* VARIABLE: NULL where it is opened by default. */
static void add_opened(struct search *s, const char *path, const char *use, const char *variable)
{
	struct dynamic_loader_missing missing;
	struct opened_library *opened;

	if (is_listed(s, path))
		return;
	if (s->answer->opened.count == OPENED_MAX) {
		s->unread = true;
		return;
	}
	opened = LIST_ADD(s->arena, &s->answer->opened);
	opened->path = fact_str(s->arena, path);
	opened->use = fact_str(s->arena, use);
	opened->variable = variable ? fact_str(s->arena, variable) : FACT_NONE(fact_str);
	if (dynamic_loader_missing(&s->loader, path, &missing) == 0)
		take_missing(s, &missing, opened);
	find_elsewhere(s, opened);
}

/* NAME as dlopen() takes it. False: there is none. */
static bool open_name(struct search *s, const char *name, const char *use, const char *variable)
{
	const char *path = name;
	int rc = strchr(name, '/') ? host_exists(s->host, name) ? 0 : -ENOENT
				   : dynamic_loader_find(&s->loader, name, &path);

	if (rc == 0)
		add_opened(s, path, use, variable);
	else if (rc != -ENOENT)
		s->unread = true;
	return rc == 0;
}

/* ---- by SONAME ---- */

static const struct {
	const char *name, *use;
	/* Its file for pkg-config, where the name of the library's file has no version: all of UCX are libucp.so.0.0.0. */
	const char *pc;
} sonames[] = {
	{ "libefa.so.1", "verbs", NULL },
	{ "libfabric.so.1", "libfabric", "libfabric.pc" },
	{ "libgdrapi.so.2", "gdrcopy", NULL },
	{ "libibverbs.so.1", "verbs", NULL },
	{ "libmlx5.so.1", "verbs", NULL },
	{ "libnccl.so.2", "nccl", NULL },
	{ "libnvshmem_host.so.3", "nvshmem", NULL },
	{ "librdmacm.so.1", "verbs", NULL },
	{ "libucp.so.0", "ucx", "ucx.pc" },
};

/* "Version: 1.11.0" of PC in the folder pkgconfig beside the library. */
static struct fact_str version_of_package(struct search *s, const char *path, const char *pc)
{
	_cleanup_text_ struct text text = { 0 };
	const char *slash = strrchr(path, '/');
	struct span rest, line;

	if (host_read(s->host, &text, HOST_FILE_MAX, "%.*s/pkgconfig/%s", (int)(slash - path), path,
		      pc))
		return FACT_NONE(fact_str);
	rest = text_span(&text);
	while (span_cut(&rest, '\n', &line)) {
		static const char key[] = "Version:";

		if (!span_starts(line, key))
			continue;
		line = span_trim((struct span){ line.p + strlen(key), line.n - strlen(key) });
		if (version_is_whole(line))
			return fact_strn(s->arena, line.p, line.n);
	}
	return FACT_NONE(fact_str);
}

/* The version is in the name of the file that the links lead to. */
static struct fact_str version_of(struct search *s, const char *path, const char *soname)
{
	const char *end = strstr(soname, ".so");
	char *stem = arena_strndup(s->arena, soname, (size_t)(end - soname) + strlen(".so"));
	char target[NAME_MAX + 1];
	struct span name = span_of(strrchr(path, '/') + 1), version;

	if (host_link_end(s->host, target, "%s", path) == 0)
		name = span_of(target);
	if (version_of_library(name, stem, &version) && version_is_whole(version))
		return fact_strn(s->arena, version.p, version.n);
	return FACT_NONE(fact_str);
}

/* /lib is mostly a link into /usr. */
static bool is_under_usr(const char *path, const char *other)
{
	return starts_with(path, "/usr") && strcmp(path + 4, other) == 0;
}

static void find_copies(struct search *s, const char *soname, const char *pc)
{
	const char *paths[COPIES_MAX];
	size_t count = dynamic_loader_find_all(&s->loader, soname, paths, COPIES_MAX), n = 1;
	struct library_copies *copies;

	for (size_t i = 1; i < count; i++) {
		bool again = false;

		for (size_t k = 0; k < n; k++)
			again |= is_under_usr(paths[i], paths[k]);
		if (!again)
			paths[n++] = paths[i];
	}
	if (count < 2 || n < 2)
		return;
	copies = LIST_ADD(s->arena, &s->answer->copies);
	copies->name = fact_str(s->arena, soname);
	for (size_t i = 0; i < n; i++) {
		struct library_copy *copy = LIST_ADD(s->arena, &copies->copies);

		copy->path = fact_str(s->arena, paths[i]);
		copy->version = pc ? version_of_package(s, paths[i], pc)
				   : version_of(s, paths[i], soname);
	}
}

static void find_sonames(struct search *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(sonames); i++)
		if (open_name(s, sonames[i].name, sonames[i].use, NULL))
			find_copies(s, sonames[i].name, sonames[i].pc);
}

/* ---- NCCL's plugins ---- */

/* NCCL 2.30.7: src/plugin/plugin_open.cc, openPluginLib(): NAME itself, else PREFIX-NAME.so. */
static void find_named_plugin(struct search *s, const char *prefix, struct span name,
			      const char *variable)
{
	const char *whole = arena_strndup(s->arena, name.p, name.n);

	if (!name.n || span_is(name, "none") ||
	    open_name(s, whole, prefix + strlen("lib"), variable) || memchr(name.p, '/', name.n))
		return;
	open_name(s, arena_printf(s->arena, "%s-%s.so", prefix, whole), prefix + strlen("lib"),
		  variable);
}

static void find_plugin(struct search *s, const char *prefix, const char *variable)
{
	struct job_value v = job_nccl(s->arena, s->node, variable);
	struct span rest = span_of(v.value ? v.value : ""), name;

	if (!v.value)
		open_name(s, arena_printf(s->arena, "%s.so", prefix), prefix + strlen("lib"), NULL);
	while (span_cut(&rest, ',', &name))
		find_named_plugin(s, prefix, name, variable);
}

/* ---- files beside a library ---- */

static const char *folder_of(struct search *s, const char *path)
{
	return arena_strndup(s->arena, path, (size_t)(strrchr(path, '/') - path));
}

/* NVSHMEM 3.4.5: src/host/transport/transport.cpp, src/host/bootstrap/bootstrap.cpp. Each is opened as
 * nvshmem_transport_ibgda.so.NUMBER; the others need MPI or UCX, and are there without them. */
static void find_nvshmem_part(struct search *s, const char *folder, const struct names *names,
			      const char *stem, const char *use, const char *variable)
{
	struct span number;

	for (size_t i = 0; i < names->count; i++)
		if (version_of_library(span_of(names->items[i]), stem, &number) && number.n &&
		    !version_is_whole(number))
			add_opened(s, arena_printf(s->arena, "%s/%s", folder, names->items[i]), use,
				   variable);
}

/* The word that a variable selects a part by, in lower case: NVSHMEM compares it so. */
static const char *selected(struct search *s, const char *variable)
{
	struct job_value v = job_nvshmem(s->arena, s->node, variable);
	char *word = v.value ? arena_strdup(s->arena, v.value) : NULL;

	for (char *c = word; c && *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return word && !strchr(word, '/') ? word : NULL;
}

static void read_nvshmem(struct search *s, const char *folder)
{
	static const char transport[] = "NVSHMEM_REMOTE_TRANSPORT",
			  bootstrap[] = "NVSHMEM_BOOTSTRAP";
	_cleanup_names_ struct names names = { 0 };
	const char *word = selected(s, transport);

	if (host_list(s->host, &names, "%s", folder))
		return;
	find_nvshmem_part(s, folder, &names, "nvshmem_transport_ibgda.so", "nvshmem-ibgda", NULL);
	find_nvshmem_part(s, folder, &names,
			  arena_printf(s->arena, "nvshmem_transport_%s.so", word ? word : "ibrc"),
			  "nvshmem-transport", word ? transport : NULL);
	word = selected(s, bootstrap);
	if (word)
		find_nvshmem_part(s, folder, &names,
				  arena_printf(s->arena, "nvshmem_bootstrap_%s.so", word),
				  "nvshmem-bootstrap", bootstrap);
}

/* Beside the host library, or in a wheel of Python. */
static void find_nvshmem(struct search *s)
{
	for_each(item, &s->node->software.items) {
		const char *path = item->path.value;

		if (!str_is(item->name, "nvshmem"))
			continue;
		if (strstr(path, "/libnvshmem_host.so"))
			read_nvshmem(s, folder_of(s, path));
		else if (strstr(path, ".dist-info"))
			read_nvshmem(s, arena_printf(s->arena, "%s/nvidia/nvshmem/lib",
						     folder_of(s, path)));
	}
}

/* UCX 1.22 (9466d10): src/ucs/sys/module.c, the folder ucx beside libucs.so.0, and files with the same ending. */
static void find_ucx_modules(struct search *s)
{
	static const struct {
		const char *begins, *use;
	} modules[] = {
		{ "libuct_cuda_gdrcopy.", "ucx-gdrcopy" },
		{ "libuct_cuda.", "ucx-cuda" },
		{ "libucm_cuda.", "ucx-cuda" },
		{ "libuct_ib", "ucx-verbs" },
	};
	_cleanup_names_ struct names names = { 0 };
	const char *path, *folder;

	if (dynamic_loader_find(&s->loader, "libucs.so.0", &path))
		return;
	folder = arena_printf(s->arena, "%s/ucx", folder_of(s, path));
	if (host_list(s->host, &names, "%s", folder))
		return;
	for (size_t i = 0; i < names.count; i++)
		for (size_t k = 0; k < ARRAY_SIZE(modules); k++)
			if (span_starts(span_of(names.items[i]), modules[k].begins) &&
			    span_ends(span_of(names.items[i]), ".so.0")) {
				add_opened(s,
					   arena_printf(s->arena, "%s/%s", folder, names.items[i]),
					   modules[k].use, NULL);
				break;
			}
}

/* A static UCX has no such folder, and its transports are in the library. */
static void add_ucx(struct search *s, const char *folder)
{
	_cleanup_names_ struct names names = { 0 };
	char *path = arena_printf(s->arena, "%s/ucx", folder);
	struct ucx_copy *copy;
	int rc = host_list(s->host, &names, "%s", path);
	bool verbs = false;

	for_each(known, &s->answer->ucx)
		if (str_is(known->path, path))
			return;
	if (rc == -ENOENT || rc == -ENOTDIR)
		return;
	for (size_t i = 0; rc == 0 && i < names.count; i++)
		verbs |= starts_with(names.items[i], "libuct_ib");
	copy = LIST_ADD(s->arena, &s->answer->ucx);
	copy->path = fact_str(s->arena, path);
	copy->verbs = rc ? (struct fact_bool){ 0 } : fact_bool(verbs);
}

static void find_ucx(struct search *s)
{
	static const char *const folders[] = { "/opt/ucx/lib", "/opt/ucx/lib64", "/usr/local/lib",
					       "/usr/local/ucx/lib" };
	const char *path;
	int rc = dynamic_loader_find(&s->loader, "libucs.so.0", &path);

	if (rc == 0 || rc == -ENOENT)
		s->answer->ucx.state = FACT_KNOWN;
	if (rc == 0)
		add_ucx(s, folder_of(s, path));
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (host_exists(s->host, arena_printf(s->arena, "%s/libucs.so.0", folders[i])))
			add_ucx(s, folders[i]);
}

/* libfabric's include/rdma/providers/fi_prov.h: a provider foo that is not built in is libfoo-fi.so, in the folder
 * libfabric beside the library. That of EFA alone: the others are for hardware that a node may not have. */
static void find_fabric_providers(struct search *s)
{
	const char *path, *provider;

	if (dynamic_loader_find(&s->loader, "libfabric.so.1", &path))
		return;
	provider = arena_printf(s->arena, "%s/libfabric/libefa-fi.so", folder_of(s, path));
	if (host_exists(s->host, provider))
		add_opened(s, provider, "libfabric", NULL);
}

/* ---- libibverbs and its providers ---- */

/* rdma-core 64: libibverbs/libibverbs.map.in, IBVERBS_PRIVATE_<number>. */
static struct fact_u64 private_abi(struct search *s, const char *path)
{
	static const char prefix[] = "IBVERBS_PRIVATE_";
	const struct elf_dynamic *elf;
	uint64_t number;

	if (dynamic_loader_read(&s->loader, path, &elf))
		return (struct fact_u64){ 0 };
	for (size_t i = 0; i < elf->defined_count; i++)
		if (starts_with(elf->defined[i], prefix) &&
		    span_u64(span_of(elf->defined[i] + strlen(prefix)), 10, &number) == 0)
			return fact_u64(number);
	return FACT_NONE(fact_u64);
}

static void add_provider(struct search *s, const char *folder, const char *file)
{
	struct verbs_provider_file *provider;
	struct span name;
	uint64_t abi;

	if (!verbs_library_parse(span_of(file), &name, &abi))
		return;
	provider = LIST_ADD(s->arena, &s->answer->verbs_providers);
	provider->path = fact_str(s->arena, arena_printf(s->arena, "%s/%s", folder, file));
	provider->name = fact_strn(s->arena, name.p, name.n);
	provider->abi = fact_u64(abi);
	add_opened(s, provider->path.value, "verbs-provider", NULL);
}

/* rdma-core 64: CMakeLists.txt, VERBS_PROVIDER_DIR is the folder libibverbs beside the library. */
static void find_verbs(struct search *s)
{
	_cleanup_names_ struct names names = { 0 };
	const char *path, *folder;
	int rc = dynamic_loader_find(&s->loader, "libibverbs.so.1", &path);

	if (rc) {
		s->answer->verbs.state = probe_state(rc);
		s->answer->verbs_providers.state = probe_state(rc);
		return;
	}
	s->answer->verbs = fact_str(s->arena, path);
	s->answer->verbs_abi = private_abi(s, path);
	folder = arena_printf(s->arena, "%s/libibverbs", folder_of(s, path));
	rc = host_list(s->host, &names, "%s", folder);
	s->answer->verbs_providers.state = probe_state(rc);
	for (size_t i = 0; rc == 0 && i < names.count; i++)
		add_provider(s, folder, names.items[i]);
}

/* ---- ld.so.preload ---- */

static void add_preload(struct search *s, struct span word, uint64_t line)
{
	struct preloaded_library *p = LIST_ADD(s->arena, &s->answer->preloads);
	const char *name = arena_strndup(s->arena, word.p, word.n), *path;
	struct host_stat stat;
	int rc = 0;

	p->name = fact_str(s->arena, name);
	p->file = fact_str(s->arena, PRELOAD);
	p->line = fact_u64(line);
	if (strchr(name, '$'))
		return;
	rc = strchr(name, '/') ? host_stat(s->host, &stat, "%s", name)
			       : dynamic_loader_find(&s->loader, name, &path);
	if (rc == 0 || rc == -ENOENT || rc == -ENOTDIR)
		p->here = fact_bool(rc == 0);
}

/* ld.so(8), FILES: blanks and colons separate; glibc 2.36: elf/rtld.c, dl_main(), # begins a comment. */
static void read_preloads(struct search *s)
{
	_cleanup_text_ struct text text = { 0 };
	struct span rest, line, words, word;
	uint64_t number = 0;
	int rc = host_read(s->host, &text, HOST_FILE_MAX, PRELOAD);

	s->answer->preloads.state = probe_state(rc);
	if (rc)
		return;
	rest = text_span(&text);
	while (span_cut(&rest, '\n', &line)) {
		number++;
		line.n = span_find(line, '#');
		while (span_word(&line, &words))
			while (span_cut(&words, ':', &word))
				if (word.n && s->answer->preloads.count < OPENED_MAX)
					add_preload(s, word, number);
	}
}

/* ---- programs in PATH ---- */

#define PATH_FOLDERS_MAX 16

/* Programs of the libraries, in folders that only PATH names: who has such a folder there means to use them. */
static void find_programs(struct search *s, struct span path)
{
	static const struct {
		const char *name, *use;
	} programs[] = {
		{ "fi_info", "libfabric" },
		{ "gdrcopy_sanity", "gdrcopy" },
		{ "nvshmem-info", "nvshmem" },
		{ "ucx_info", "ucx" },
	};
	struct span folder;
	size_t n = 0;

	while (span_cut(&path, ':', &folder) && n < PATH_FOLDERS_MAX) {
		if ((!span_starts(folder, "/opt/") && !span_starts(folder, "/usr/local/")) ||
		    span_search(folder, ".."))
			continue;
		n++;
		for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
			char *file = arena_printf(s->arena, "%.*s/%s", SPAN_FMT(folder),
						  programs[i].name);

			if (host_exists(s->host, file))
				add_opened(s, file, programs[i].use, "PATH");
		}
	}
}

static void read_path(struct search *s)
{
	_cleanup_text_ struct text text = { 0 };
	struct span rest, name, value;

	if (process_read_environ(s->host, &text,
				 s->pid ? arena_printf(s->arena, "/proc/%d", s->pid)
					: "/proc/self"))
		return;
	rest = text_span(&text);
	while (process_environ_next(&rest, &name, &value))
		if (span_is(name, "PATH"))
			find_programs(s, value);
}

/* ---- all ---- */

static int libraries_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct search *s = user;

	s->host = host;
	s->arena = arena;
	s->answer = facts;
	dynamic_loader_open(&s->loader, host, arena, node_env(s->node, "LD_LIBRARY_PATH"));
	find_sonames(s);
	find_plugin(s, "libnccl-net", "NCCL_NET_PLUGIN");
	find_plugin(s, "libnccl-tuner", "NCCL_TUNER_PLUGIN");
	find_nvshmem(s);
	find_ucx_modules(s);
	find_ucx(s);
	find_fabric_providers(s);
	find_verbs(s);
	read_preloads(s);
	host_distrust_names(host, true); /* libraries_run() ends it */
	read_path(s);
	s->answer->opened.state = s->unread ? FACT_UNKNOWN : FACT_KNOWN;
	s->answer->copies.state = s->unread ? FACT_UNKNOWN : FACT_KNOWN;
	dynamic_loader_close(&s->loader);
	return 0;
}

static int compare_opened(const void *a, const void *b)
{
	const struct opened_library *x = a, *y = b;

	return strcmp(x->path.value, y->path.value);
}

static int compare_ucx(const void *a, const void *b)
{
	const struct ucx_copy *x = a, *y = b;

	return strcmp(x->path.value, y->path.value);
}

/* Another process's root has other libraries. A tree without /usr has none. */
static void libraries_run(struct probe_context *ctx)
{
	struct libraries_facts *libraries = &ctx->node->libraries;
	struct search search = { .node = ctx->node, .pid = ctx->pid };
	struct host_stat stat;
	int rc;

	if (ctx->pid && process_is_elsewhere(ctx->host, ctx->pid)) {
		host_gap_note(ctx->host, arena_printf(ctx->arena, "/proc/%d/root", (int)ctx->pid),
			      -EXDEV, PROCESS_IS_ELSEWHERE);
		return;
	}
	if (host_stat(ctx->host, &stat, "/usr/lib"))
		return;
	host_distrust_names(ctx->host, node_env(ctx->node, "LD_LIBRARY_PATH") ||
					       node_env(ctx->node, "NCCL_NET_PLUGIN") ||
					       node_env(ctx->node, "NCCL_TUNER_PLUGIN"));
	rc = host_query(ctx->host, KEY, &libraries_facts_desc, libraries, ctx->arena, libraries_ask,
			&search);
	host_distrust_names(ctx->host, false);
	if (rc)
		return;
	fact_list_sort(&libraries->opened, sizeof(libraries->opened.items[0]), compare_opened);
	fact_list_sort(&libraries->ucx, sizeof(libraries->ucx.items[0]), compare_ucx);
}

const struct probe probe_libraries = {
	.name = "libraries",
	.phase = PHASE_THIRD,
	.needs = NEEDS_PROCESSES,
	PROBE_SECTION(libraries),
	.run = libraries_run,
};
