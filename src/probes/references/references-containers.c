/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references-containers.c - the names in the configuration of the NVIDIA Container Toolkit and of container engines:
 * the programs that make and prepare a container, and where the driver is.
 */
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "parse/toml.h"
#include "parse/unit.h"
#include "probes/references/references.h"

/* "table.key", whichever part of it is in the brackets. */
static const char *full_key(struct references *refs, const struct unit_assignment *a)
{
	return a->section.n ? arena_printf(refs->arena, "%.*s.%.*s", SPAN_FMT(a->section),
					   SPAN_FMT(a->key))
			    : arena_strndup(refs->arena, a->key.p, a->key.n);
}

static void add_path(struct references *refs, enum reference_kind kind, const char *role,
		     struct span path, size_t line)
{
	if (path.n)
		reference_add(refs, kind, role, path, NULL, line);
}

/*
 * "@/sbin/ldconfig.real": @ is the host's. Debian's ldconfig is a script, and .real the program. From 1.15 on the
 * toolkit takes .real if that exists and the other if not, whichever of them the file names (api/config/v1/cli.go,
 * CHANGELOG.md). Older releases take the path as it is.
 */
static void add_ldconfig(struct references *refs, struct span path, size_t line)
{
	if (!span_starts(path, "@"))
		return;
	path = (struct span){ path.p + 1, path.n - 1 };
	if (span_ends(path, LDCONFIG_REAL))
		path.n -= strlen(LDCONFIG_REAL);
	if (!path.n)
		return;
	add_path(refs, REFERENCE_PROGRAM, TOOLKIT_LDCONFIG,
		 span_of(arena_printf(refs->arena, "%.*s" LDCONFIG_REAL, SPAN_FMT(path))), line);
	add_path(refs, REFERENCE_PROGRAM, TOOLKIT_LDCONFIG, path, line);
}

/* The low-level runtimes are tried in turn, and one is enough. */
static void add_runtimes(struct references *refs, struct span value, size_t line)
{
	struct span name, only = { NULL, 0 };
	size_t n = 0;

	for (; toml_string_next(&value, &name); n++)
		only = name;
	if (n == 1)
		add_path(refs, REFERENCE_PROGRAM, "nvidia-container-runtime.runtimes", only, line);
}

/* A later line of a key would be an error of TOML. */
static void add_value(struct references *refs, const char *key, struct span value, size_t line)
{
	struct span string = value, word = value;
	struct reference *item;

	word.n = span_find(word, '#');
	word = span_trim(word);
	item = reference_add(refs, REFERENCE_VALUE, key,
			     toml_string_next(&value, &string) ? string : word, NULL, line);
	if (item)
		item->found = item->name;
}

static void add_root(struct references *refs, struct span path, size_t line)
{
	/* driver/... rules check the host's own driver. */
	if (!span_is(path, "/"))
		add_path(refs, REFERENCE_DRIVER, TOOLKIT_ROOT, path, line);
}

static const struct {
	const char *key;
	enum reference_kind kind;
} toolkit_keys[] = {
	{ "nvidia-container-cli.ldcache", REFERENCE_FILE },
	{ "nvidia-container-cli.path", REFERENCE_PROGRAM },
	{ "nvidia-container-runtime-hook.path", REFERENCE_PROGRAM },
	{ "nvidia-ctk.path", REFERENCE_PROGRAM },
	{ TOOLKIT_LDCONFIG, REFERENCE_VALUE },
	{ TOOLKIT_NO_CGROUPS, REFERENCE_VALUE },
	{ TOOLKIT_MODE, REFERENCE_VALUE },
	{ TOOLKIT_CAPABILITIES, REFERENCE_VALUE },
	{ TOOLKIT_ENVIRONMENT, REFERENCE_VALUE },
	{ TOOLKIT_MOUNTS, REFERENCE_VALUE },
	{ TOOLKIT_SKIP_MODE, REFERENCE_VALUE },
	{ TOOLKIT_ANY_LDCONFIG, REFERENCE_VALUE },
};

static void take_toolkit(struct references *refs, const struct unit_assignment *a)
{
	const char *key = full_key(refs, a);
	struct span value = a->value, string = { NULL, 0 };

	if (toml_is_continued(a->value)) {
		refs->complete = false;
		return;
	}
	if (strcmp(key, "nvidia-container-runtime.runtimes") == 0)
		add_runtimes(refs, value, a->line);
	toml_string_next(&value, &string);
	if (strcmp(key, TOOLKIT_ROOT) == 0)
		add_root(refs, string, a->line);
	if (strcmp(key, TOOLKIT_LDCONFIG) == 0)
		add_ldconfig(refs, string, a->line);
	for (size_t i = 0; i < ARRAY_SIZE(toolkit_keys); i++)
		if (strcmp(key, toolkit_keys[i].key) != 0)
			continue;
		else if (toolkit_keys[i].kind == REFERENCE_VALUE)
			add_value(refs, key, a->value, a->line);
		else
			add_path(refs, toolkit_keys[i].kind, key, string, a->line);
}

void reference_read_toolkit(struct references *refs, struct span text)
{
	struct unit_reader reader = { .rest = text };
	struct unit_assignment a;

	while (unit_next(&reader, &a))
		take_toolkit(refs, &a);
}

/* ---- containerd and CRI-O: both TOML ---- */

/* plugins."io.containerd.grpc.v1.cri".containerd.runtimes.NAME.options: BinaryName
 * crio.runtime.runtimes.NAME: runtime_path */
static bool runtime_of(struct span table, struct span *name)
{
	struct span before, last = toml_last(table, &before);

	if (span_is(last, "options"))
		last = toml_last(before, &before);
	*name = last;
	return span_is(toml_last(before, &before), "runtimes");
}

static bool names_nvidia(struct span s)
{
	return span_search(s, "nvidia");
}

/* The default runtime needs a table of its name, which can be in an imported file. */
struct engine {
	struct references *refs;
	struct span fallback;
	size_t line;
	struct span tables[16]; /* names of runtimes */
	size_t count;
	bool imports;
};

static bool has_table(const struct engine *e, struct span name)
{
	for (size_t i = 0; i < e->count; i++)
		if (e->tables[i].n == name.n && memcmp(e->tables[i].p, name.p, name.n) == 0)
			return true;
	return false;
}

/* io.containerd.grpc.v1.cri of plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia */
static struct span plugin_of(struct span table)
{
	struct span name = { table.p, 0 };

	return toml_string_next(&table, &name) ? name : (struct span){ table.p, 0 };
}

static void add_each(struct references *refs, const char *key, const struct unit_assignment *a)
{
	struct span value = a->value, string;

	while (toml_string_next(&value, &string))
		add_value(refs, key, (struct span){ string.p - 1, string.n + 2 }, a->line);
	if (toml_is_continued(a->value))
		refs->complete = false;
}

/* Takes the other values of a runtime's table that are compared. */
static void take_table(struct references *refs, const struct unit_assignment *a, struct span name)
{
	struct span plugin = plugin_of(a->section);

	if (names_nvidia(name) && plugin.n)
		add_value(refs, ENGINE_NVIDIA, plugin, a->line);
	if (span_is(a->key, "SystemdCgroup"))
		add_value(refs, arena_printf(refs->arena, ENGINE_SYSTEMD "%.*s", SPAN_FMT(name)),
			  a->value, a->line);
}

static void take_engine(struct engine *e, const struct unit_assignment *a)
{
	struct span value = a->value, string, name;
	bool runtime = runtime_of(a->section, &name);

	if (runtime && !has_table(e, name) && e->count < ARRAY_SIZE(e->tables))
		e->tables[e->count++] = name;
	if (runtime)
		take_table(e->refs, a, name);
	if (!a->section.n && span_is(a->key, "version"))
		add_value(e->refs, ENGINE_VERSION, a->value, a->line);
	if (!a->section.n && span_is(a->key, "disabled_plugins"))
		add_each(e->refs, ENGINE_DISABLED, a);
	if (a->section.n && span_is(a->key, "enable_cdi"))
		add_value(e->refs, ENGINE_CDI, a->value, a->line);
	if (span_is(a->key, "imports")) {
		e->imports = true;
		add_each(e->refs, ENGINE_IMPORTS, a);
		return;
	}
	if (!toml_string_next(&value, &string))
		return;
	if (span_is(a->key, "default_runtime_name") || span_is(a->key, "default_runtime")) {
		e->fallback = string;
		e->line = a->line;
	} else if (runtime && (span_is(a->key, "BinaryName") || span_is(a->key, "runtime_path")) &&
		   (names_nvidia(name) || names_nvidia(string))) {
		add_path(e->refs, REFERENCE_PROGRAM,
			 arena_printf(e->refs->arena, "runtimes.%.*s", SPAN_FMT(name)), string,
			 a->line);
	}
}

void reference_read_containerd(struct references *refs, struct span text)
{
	struct engine e = { .refs = refs };
	struct unit_reader reader = { .rest = text };
	struct unit_assignment a;
	struct reference *item;

	while (unit_next(&reader, &a))
		take_engine(&e, &a);
	if (!e.fallback.n)
		return;
	item = reference_add(refs, REFERENCE_RUNTIME, "default-runtime", e.fallback, NULL, e.line);
	/* runc is there without a table. A drop-in gives the name to a table of the main file. */
	if (item && (has_table(&e, e.fallback) || span_is(e.fallback, "runc")))
		item->found = item->name;
	else if (item && !e.imports && span_ends(span_of(refs->file), "config.toml"))
		item->found.state = FACT_ABSENT;
}

/* ---- Docker ---- */

static bool has_runtime(struct json_object *runtimes, const char *name)
{
	return strcmp(name, "runc") == 0 || starts_with(name, "io.containerd.") ||
	       json_member(runtimes, name);
}

static void add_docker_runtimes(struct references *refs, struct json_object *runtimes)
{
	if (!json_object_is_type(runtimes, json_type_object))
		return;
	json_object_object_foreach(runtimes, key, value) {
		const char *path = json_string(value, "path");

		if (path)
			add_path(refs, REFERENCE_PROGRAM,
				 arena_printf(refs->arena, "runtimes.%s", key), span_of(path), 0);
	}
}

/* "exec-opts": ["native.cgroupdriver=systemd"] */
static void add_docker_options(struct references *refs, struct json_object *options)
{
	if (!json_object_is_type(options, json_type_array))
		return;
	for (size_t i = 0; i < json_object_array_length(options); i++) {
		struct json_object *one = json_object_array_get_idx(options, i);

		if (json_object_is_type(one, json_type_string))
			add_value(refs, ENGINE_EXEC_OPTS, span_of(json_object_get_string(one)), 0);
	}
}

static void add_docker_default(struct references *refs, struct json_object *runtimes,
			       const char *name)
{
	struct reference *item = reference_add(refs, REFERENCE_RUNTIME, "default-runtime",
					       span_of(name), NULL, 0);

	if (item && has_runtime(runtimes, name))
		item->found = item->name;
	else if (item)
		item->found.state = FACT_ABSENT;
}

/* {"default-runtime": "nvidia", "runtimes": {"nvidia": {"path": "...", "runtimeArgs": []}}} (dockerd(8)) */
void reference_read_docker(struct references *refs, struct span text)
{
	struct json_error error;
	struct json_object *document = json_parse(text.p, text.n, &error), *runtimes;

	if (!document) {
		refs->complete = false;
		return;
	}
	runtimes = json_member(document, "runtimes");
	add_docker_runtimes(refs, runtimes);
	add_docker_options(refs, json_member(document, "exec-opts"));
	if (json_string(document, "default-runtime"))
		add_docker_default(refs, runtimes, json_string(document, "default-runtime"));
	json_object_put(document);
}

/* ---- hooks of OCI ---- */

/* {"version": "1.0.0", "hook": {"path": "/usr/bin/nvidia-container-runtime-hook", "args": [...]}, ...} */
void reference_read_hook(struct references *refs, struct span text)
{
	struct json_error error;
	struct json_object *document = json_parse(text.p, text.n, &error), *hook;
	const char *path;

	if (!document) {
		refs->complete = false;
		return;
	}
	hook = json_member(document, "hook");
	path = hook && json_object_is_type(hook, json_type_object) ? json_string(hook, "path")
								   : NULL;
	if (path)
		add_path(refs, REFERENCE_PROGRAM, ENGINE_HOOK, span_of(path), 0);
	json_object_put(document);
}
