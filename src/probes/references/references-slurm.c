/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references-slurm.c - the names in gres.conf for this node: device files and cores, and the library that finds the
 * GPUs with AutoDetect=nvml (Slurm 25.11: src/interfaces/gres.c, gpu.c; gres.conf(5)).
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "parse/gres.h"
#include "parse/unit.h"
#include "probes/references/references.h"

#define FILES_MAX 256
#define NODES_MAX 65536

/* ---- is a line for this node? ---- */

struct names_search {
	const char *hostname;
	bool found;
};

/* NodeName= has short names. */
static bool is_host(void *user, const char *name)
{
	struct names_search *s = user;

	s->found = strcmp(name, s->hostname) == 0;
	return !s->found;
}

/* 1, 0, or negative where the list or the host's name is not understood. */
static int is_for_us(struct references *refs, struct span nodes)
{
	const struct fact_str hostname = refs->node->os.hostname;
	struct names_search s = { 0 };
	int rc;

	if (!nodes.n || span_is(nodes, "ALL"))
		return 1;
	if (!is_known(hostname))
		return -1;
	s.hostname = arena_strndup(refs->arena, hostname.value, strcspn(hostname.value, "."));
	rc = hostlist_expand(nodes, NODES_MAX, is_host, &s);
	return s.found ? 1 : rc;
}

/* ---- what it names ---- */

struct files {
	struct references *refs;
	size_t line;
	size_t count;
	const char *seen[FILES_MAX]; /* by the file, in File= of GPUs alone */
	size_t seen_count;
	const char *repeated; /* one that was seen before; NULL: none */
	bool counts;	      /* its devices are GPUs, each of which may be named once */
};

static bool was_seen(const struct files *f, const char *name)
{
	for (size_t i = 0; i < f->seen_count; i++)
		if (strcmp(f->seen[i], name) == 0)
			return true;
	return false;
}

static bool add_file(void *user, const char *name)
{
	struct files *f = user;

	reference_add(f->refs, REFERENCE_DEVICE, "File", span_of(name), NULL, f->line);
	f->count++;
	if (!f->counts)
		return true;
	name = arena_strndup(f->refs->arena, name, strlen(name));
	if (was_seen(f, name))
		f->repeated = name;
	else if (f->seen_count < FILES_MAX)
		f->seen[f->seen_count++] = name;
	return true;
}

static bool value_is(struct span value, const char *word)
{
	return value.n == strlen(word) && strncasecmp(value.p, word, value.n) == 0;
}

/* A word of a line for this node stands over one for all. */
struct autodetect {
	struct span word;
	size_t line;
	bool own;
};

#define RECORDS_MAX 256

/* Slurm compares names of GRES without regard to case. */
static void add_record(struct references *refs, const struct gres_line *line,
		       const struct files *files, bool understood)
{
	struct gres_record *record;
	uint64_t count = 0;

	if (!value_is(line->name, "gpu"))
		return;
	record = LIST_ADD(refs->arena, &refs->facts->gres);
	*record = (struct gres_record){
		.type = FACT_NONE(fact_str),
		.count = FACT_NONE(fact_u64),
		.devices = FACT_NONE(fact_u64),
		.repeated = FACT_NONE(fact_str),
		.file = fact_str(refs->arena, refs->file),
		.line = fact_u64(line->line),
	};
	if (line->type.n)
		record->type = fact_strn(refs->arena, line->type.p, line->type.n);
	if (line->count.n && span_u64(line->count, 10, &count))
		record->count.state = FACT_UNKNOWN;
	else if (line->count.n)
		record->count = fact_u64(count);
	if (!understood)
		record->devices.state = record->repeated.state = FACT_UNKNOWN;
	else if (line->file.n)
		record->devices = fact_u64(line->multiple ? 1 : files->count);
	if (understood && files->repeated)
		record->repeated = fact_str(refs->arena, files->repeated);
}

static void take_line(struct references *refs, const struct gres_line *line, struct autodetect *how,
		      struct files *files)
{
	bool understood = true;

	if (refs->facts->gres.count == RECORDS_MAX) {
		refs->complete = false;
		return;
	}
	files->line = line->line;
	files->count = 0;
	files->repeated = NULL;
	/* Shares of a GPU (mps, shard) name its device again. */
	files->counts = value_is(line->name, "gpu") && !line->multiple;
	if (line->autodetect.n && (!how->own || line->nodes.n))
		*how = (struct autodetect){ line->autodetect, line->line, line->nodes.n > 0 };
	if (line->file.n && hostlist_expand(line->file, FILES_MAX, add_file, files))
		refs->complete = understood = false;
	if (line->cores.n)
		reference_add(refs, REFERENCE_PROCESSOR, "Cores", line->cores, NULL, line->line);
	add_record(refs, line, files, understood);
}

/* ---- settings of slurm.conf and cgroup.conf ---- */

/* "gpu Nodes=ALL OverSubscribe=EXCLUSIVE": the older word is Shared (slurm.conf(5)). */
static void take_partition(struct references *refs, struct span rest, size_t line)
{
	struct span word;
	struct reference *item;

	while (span_word(&rest, &word)) {
		if (!value_is(word, SLURM_EXCLUSIVE "=EXCLUSIVE") &&
		    !value_is(word, "Shared=EXCLUSIVE"))
			continue;
		item = reference_add(refs, REFERENCE_VALUE, SLURM_EXCLUSIVE, SPAN("EXCLUSIVE"),
				     NULL, line);
		if (item)
			item->found = item->name;
	}
}

/* A pattern can match any number of files, and NHC's program can have arguments: what is not one path is left out. */
static void take_program(struct references *refs, const struct unit_assignment *a,
			 struct span value)
{
	static const char *const keys[] = { SLURM_PROLOG, SLURM_EPILOG, SLURM_HEALTH };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (value_is(a->key, keys[i]) && span_starts(value, "/") &&
		    !memchr(value.p, '*', value.n) && !memchr(value.p, '?', value.n) &&
		    !memchr(value.p, '[', value.n) && !memchr(value.p, ' ', value.n) &&
		    !memchr(value.p, '%', value.n))
			reference_add(refs, REFERENCE_PROGRAM, keys[i], value, NULL, a->line);
}

static void take_setting(struct references *refs, const struct unit_assignment *a)
{
	static const char *const keys[] = {
		SLURM_GRES_TYPES, SLURM_TASK_PLUGIN,   SLURM_DEVICES,	SLURM_SELECT,
		SLURM_LIMITS,	  SLURM_LIMITS_EXCEPT, "ProctrackType", "JobAcctGatherType",
		"AuthType",	  "CredType",	       "SwitchType",	"MpiDefault"
	};
	struct span value = a->value, folder;

	value.n = span_find(value, '#');
	value = span_trim(value);
	if (value_is(a->key, "PartitionName"))
		take_partition(refs, value, a->line);
	take_program(refs, a, value);
	while (value_is(a->key, SLURM_PLUGIN_DIR) && span_cut(&value, ':', &folder))
		if (folder.n)
			reference_add(refs, REFERENCE_FILE, SLURM_PLUGIN_DIR, folder, NULL,
				      a->line);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		struct reference *item;

		if (!value_is(a->key, keys[i]) || !value.n)
			continue;
		item = reference_add(refs, REFERENCE_VALUE, keys[i], value, NULL, a->line);
		if (item)
			item->found = item->name;
	}
}

static void read_settings(struct references *refs, struct span text)
{
	struct unit_reader reader = { .rest = text };
	struct unit_assignment a;

	while (unit_next(&reader, &a))
		take_setting(refs, &a);
}

/* ConstrainDevices: slurmd of 17.11 does not start without a list of devices, which 22.05 no longer reads (Slurm
 * 17.11.9: src/common/xcgroup_read_config.c; its default is beside cgroup.conf). */
void reference_read_slurm_cgroup(struct references *refs, struct span text)
{
	struct unit_reader reader = { .rest = text };
	struct unit_assignment a;
	const char *path = NULL;
	size_t line = 0, constrains = 0;

	read_settings(refs, text);
	while (unit_next(&reader, &a)) {
		if (value_is(a.key, SLURM_DEVICES))
			constrains = value_is(a.value, "yes") ? a.line : 0;
		if (value_is(a.key, SLURM_DEVICES_FILE) && a.value.n) {
			path = arena_strndup(refs->arena, a.value.p, a.value.n);
			line = a.line;
		}
	}
	if (!constrains)
		return;
	if (!path)
		path = arena_printf(refs->arena, "%.*scgroup_allowed_devices_file.conf",
				    (int)(strrchr(refs->file, '/') + 1 - refs->file), refs->file);
	reference_add(refs, REFERENCE_FILE, SLURM_DEVICES_FILE, span_of(path), NULL,
		      line ? line : constrains);
}

/* ---- plugstack.conf: "required /usr/lib/slurm/spank_pyxis.so KEY=VALUE" (Slurm 26.05: src/common/spank.c) ---- */

void reference_read_spank(struct references *refs, struct span text)
{
	struct span line, type, path;

	for (size_t number = 1; span_cut(&text, '\n', &line); number++) {
		line.n = span_find(line, '#');
		if (!span_word(&line, &type) || !span_word(&line, &path))
			continue;
		/* Without a slash it is looked for in PluginDir. */
		if ((span_is(type, SPANK_REQUIRED) || span_is(type, "optional")) &&
		    path.p[0] == '/')
			reference_add(refs, REFERENCE_FILE,
				      arena_strndup(refs->arena, type.p, type.n), path, NULL,
				      number);
	}
}

/* The lines of slurm.conf that are about this node: what it is said to have at least. */
void reference_read_slurm(struct references *refs, struct span text)
{
	struct gres_reader reader = { .rest = text };
	struct gres_line line;
	uint64_t count;

	read_settings(refs, text);
	while (gres_next(&reader, &line)) {
		int ours = line.nodes.n && !span_is(line.nodes, "DEFAULT")
				   ? is_for_us(refs, line.nodes)
				   : 0;

		if (line.include.n || ours < 0)
			refs->complete = false;
		if (ours <= 0)
			continue;
		if (gres_count_gpus(line.gres, &count))
			reference_add(refs, REFERENCE_AMOUNT, "Gres", line.gres,
				      arena_printf(refs->arena, "%" PRIu64, count), line.line);
		if (line.memory.n && span_u64(line.memory, 10, &count) == 0)
			reference_add(refs, REFERENCE_AMOUNT, "RealMemory", line.memory,
				      arena_printf(refs->arena, "%" PRIu64, count), line.line);
	}
}

static void add_nvml(struct references *refs, size_t line)
{
	reference_add(refs, REFERENCE_LIBRARY, SLURM_AUTODETECT, SPAN("libnvidia-ml.so"), NULL,
		      line);
	reference_add(refs, REFERENCE_LIBRARY, SLURM_AUTODETECT, SPAN("libnvidia-ml.so.1"), NULL,
		      line);
}

void reference_read_gres(struct references *refs, struct span text)
{
	struct gres_reader reader = { .rest = text };
	struct files *files = arena_alloc(refs->arena, sizeof(*files));
	struct autodetect how = { 0 };
	struct gres_line line;
	struct reference *item;

	files->refs = refs;
	while (gres_next(&reader, &line)) {
		int ours = is_for_us(refs, line.nodes);

		if (line.include.n || ours < 0)
			refs->complete = false;
		if (ours > 0)
			take_line(refs, &line, &how, files);
	}
	if (value_is(how.word, "nvml"))
		add_nvml(refs, how.line);
	if (!how.word.n)
		return;
	item = reference_add(refs, REFERENCE_VALUE, SLURM_AUTODETECT, how.word, NULL, how.line);
	if (item)
		item->found = item->name;
}

/* ---- the plugin of AutoDetect=nvml ---- */

/* Folders of Slurm's plugins, of packages and of builds by hand (slurm.spec; Debian's slurm-wlm). */
static const char *const plugin_folders[] = {
	"/usr/lib64/slurm",
	"/usr/lib/x86_64-linux-gnu/slurm-wlm",
	"/usr/lib/aarch64-linux-gnu/slurm-wlm",
	"/usr/lib/x86_64-linux-gnu/slurm",
	"/usr/lib/aarch64-linux-gnu/slurm",
	"/usr/lib/slurm",
	"/usr/local/lib/slurm",
	"/usr/local/lib64/slurm",
	"/opt/slurm/lib/slurm",
	"/opt/slurm/lib64/slurm",
};

struct plugin_search {
	const char *kind;   /* what names of such plugins begin with */
	const char *folder; /* the first with the other plugins; NULL: none */
	const char *path;   /* NULL: not found */
	size_t folders;
	bool unread;
};

/* Slurm has several plugins of each kind: a folder without any of it is a part of what was installed. */
static bool has_kind(struct probe_context *ctx, const char *folder, const char *kind)
{
	_cleanup_names_ struct names names = { 0 };

	if (host_list(ctx->host, &names, "%s", folder))
		return false;
	for (size_t i = 0; i < names.count; i++)
		if (span_starts(span_of(names.items[i]), kind) &&
		    names.items[i][strlen(kind)] == '_')
			return true;
	return false;
}

/* gpu_generic.so is a part of every Slurm with GPUs: its folder is where the other plugins would be. */
static void look_in(struct probe_context *ctx, struct plugin_search *search, const char *folder,
		    const char *plugin)
{
	struct host_stat stat;
	int generic = host_stat(ctx->host, &stat, "%s/gpu_generic.so", folder), rc;

	if (generic) {
		search->unread |= generic != -ENOENT && generic != -ENODATA;
		return;
	}
	search->folders++;
	if (!search->folder)
		search->folder = folder;
	rc = host_stat(ctx->host, &stat, "%s/%s", folder, plugin);
	if (rc == 0 && !search->path)
		search->path = arena_printf(ctx->arena, "%s/%s", folder, plugin);
	search->unread |= rc && (rc != -ENOENT || !has_kind(ctx, folder, search->kind));
}

static struct plugin_search find_plugin(struct probe_context *ctx, const char *file,
					const char *plugin, const char *kind)
{
	struct plugin_search search = { .kind = kind };
	bool named = false;

	for_each(r, &ctx->node->references.items)
		if (known_is(r->format, REFERENCE_GRES) && str_is(r->role, SLURM_PLUGIN_DIR) &&
		    path_is_beside(r->file.value, file)) {
			named = true;
			look_in(ctx, &search, r->name.value, plugin);
		}
	for (size_t i = 0; !named && i < ARRAY_SIZE(plugin_folders); i++)
		look_in(ctx, &search, plugin_folders[i], plugin);
	/* Of several folders, none of them named, it is not known which one slurmd was built for. */
	search.unread |= !named && search.folders > 1 && !search.path;
	return search;
}

/* SETTING selects the plugin KIND_NAME.so in the folder of Slurm's plugins. */
static void add_plugin(struct probe_context *ctx, const struct reference *setting, const char *kind,
		       struct span name, const char *role)
{
	const char *plugin = arena_printf(ctx->arena, "%s_%.*s.so", kind, SPAN_FMT(name));
	struct plugin_search search = find_plugin(ctx, setting->file.value, plugin, kind);
	struct references_facts *all = &ctx->node->references;
	const char *path = search.path ? search.path
			   : search.folder
				   ? arena_printf(ctx->arena, "%s/%s", search.folder, plugin)
				   : plugin;
	struct reference *r;

	if ((!search.folder && !search.unread) || all->items.count == REFERENCES_MAX)
		return;
	r = LIST_ADD(ctx->arena, &all->items);
	*r = (struct reference){
		.name = fact_str(ctx->arena, path),
		.kind = fact_enum(REFERENCE_FILE),
		.format = fact_enum(REFERENCE_GRES),
		.role = fact_str(ctx->arena, role),
		.claim = FACT_NONE(fact_str),
		.file = setting->file,
		.line = setting->line,
	};
	if (search.path)
		r->found = fact_str(ctx->arena, "file");
	else
		r->found.state = search.unread ? FACT_UNKNOWN : FACT_ABSENT;
}

/* The kind of plugin that a key selects: its files are KIND_NAME.so (Slurm 26.05: src/common/plugin.c). */
static const char *plugin_kind(const struct reference *setting)
{
	static const struct {
		const char *key, *kind;
	} kinds[] = {
		{ SLURM_TASK_PLUGIN, "task" },	  { SLURM_SELECT, "select" },
		{ "ProctrackType", "proctrack" }, { "JobAcctGatherType", "jobacct_gather" },
		{ "AuthType", "auth" },		  { "CredType", "cred" },
		{ "SwitchType", "switch" },	  { "MpiDefault", "mpi" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (str_is(setting->role, kinds[i].key))
			return kinds[i].kind;
	return NULL;
}

/* "task/cgroup,affinity": without its kind a name has that of the key. "none" is no file in newer releases. */
static void add_plugins(struct probe_context *ctx, const struct reference *setting,
			const char *kind)
{
	struct span rest = span_of(setting->name.value), one, before;
	const char *role = arena_printf(ctx->arena, SLURM_PLUGIN "%s", setting->role.value);

	while (span_cut(&rest, ',', &one)) {
		one = span_trim(one);
		before = (struct span){ one.p, span_find(one, '/') };
		if (before.n < one.n && span_is(before, kind))
			one = (struct span){ one.p + before.n + 1, one.n - before.n - 1 };
		else if (before.n < one.n)
			continue;
		if (one.n && !span_is(one, "none"))
			add_plugin(ctx, setting, kind, one, role);
	}
}

void references_from_slurm(struct probe_context *ctx)
{
	const struct references_facts *all = &ctx->node->references;
	uint32_t count = all->items.count;

	for (uint32_t i = 0; i < count; i++) {
		const struct reference r = all->items.items[i];

		if (!known_is(r.kind, REFERENCE_VALUE) || !known_is(r.format, REFERENCE_GRES))
			continue;
		if (str_is(r.role, SLURM_AUTODETECT) && strcasecmp(r.name.value, "nvml") == 0)
			add_plugin(ctx, &r, "gpu", SPAN("nvml"), SLURM_GPU_PLUGIN);
		else if (plugin_kind(&r))
			add_plugins(ctx, &r, plugin_kind(&r));
	}
}
