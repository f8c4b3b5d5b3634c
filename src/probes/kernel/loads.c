/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loads.c - reads what a load of a module would need: the files that modprobe takes by modules.dep, and their
 * symbols. Nothing is loaded.
 */
#include "probes/kernel/loads.h"

#include <string.h>

#include "base/array.h"
#include "parse/module.h"
#include "parse/version.h"
#include "probes/kernel/module-symbols.h"
#include "probes/log/log-lines.h"
#include "probes/probe.h"
#include "query/node-find.h"

#define FILES_MAX 256	 /* modules that are looked at */
#define WITNESSES 5	 /* of the kernel's own modules that are asked for ... */
#define WITNESSES_MAX 12 /* ... and of which so many are read beside those that are looked at */
#define SCRATCH_BYTES (96u << 20)

/* A line of modules.dep. */
struct entry {
	char name[MODULE_NAME_MAX];
	const char *path; /* as modules.dep has it */
	struct span needs;
	struct load_file *file; /* NULL: not looked at */
};

struct loads {
	struct host *host;
	const struct node *node;
	const char *release;
	struct arena *scratch, *arena;
	loads_wanted *wanted;
	struct module_symbols symbols;
	struct module_info info;
	LIST(struct entry) entries;
	LIST(const char *) builtin;
	LIST(struct entry *) chosen;
	LIST(const struct load_file *) witnesses;
	const struct load_file *witness;
};

/* ---- modules.dep and modules.builtin ---- */

static bool dep_line(void *user, struct span line)
{
	struct loads *l = user;
	struct span path;
	char name[MODULE_NAME_MAX];
	struct entry *entry;

	if (!module_dep_line(line, &path) || !module_file_name(path, name))
		return true;
	entry = LIST_ADD(l->scratch, &l->entries);
	memcpy(entry->name, name, sizeof(name));
	entry->path = arena_strndup(l->scratch, path.p, path.n);
	entry->needs = (struct span){ line.p + span_find(line, ':') + 1,
				      line.n - span_find(line, ':') - 1 };
	entry->needs.p = arena_strndup(l->scratch, entry->needs.p, entry->needs.n);
	return true;
}

static bool builtin_line(void *user, struct span line)
{
	struct loads *l = user;
	char name[MODULE_NAME_MAX];

	if (module_file_name(span_trim(line), name))
		*LIST_ADD(l->scratch, &l->builtin) = arena_strdup(l->scratch, name);
	return true;
}

static int read_lines(struct loads *l, const char *file, lines_found *line)
{
	char *path = arena_printf(l->scratch, "/lib/modules/%s/%s", l->release, file);
	_cleanup_close_ int fd = host_open(l->host, path);

	return fd < 0 ? fd : lines_read(fd, line, l);
}

static struct entry *find_entry(struct loads *l, const char *name)
{
	for_each_mut(entry, &l->entries)
		if (strcmp(entry->name, name) == 0)
			return entry;
	return NULL;
}

static bool is_builtin(const struct loads *l, const char *name)
{
	for_each(other, &l->builtin)
		if (strcmp(*other, name) == 0)
			return true;
	return false;
}

/* ---- which ones ---- */

/* Modules of NICs, and the maker of those. */
static const struct {
	const char *module;
	uint64_t vendor;
} drivers[] = {
	{ "mlx5_core", 0x15b3 },
	{ "mlx5_ib", 0x15b3 },
	{ "mlx4_core", 0x15b3 },
	{ "mlx4_ib", 0x15b3 },
	{ "irdma", 0x8086 },
	{ "bnxt_re", 0x14e4 },
	{ "efa", 0x1d0f },
	{ "erdma", 0x1ded },
	{ "qedr", 0x1077 },
	{ "iw_cxgb4", 0x1425 },
	{ "mana_ib", 0x1414 },
	{ "ionic_rdma", 0x1dd8 },
	{ "hns_roce_hw_v2", 0x19e5 },
};

static bool has_vendor(const struct node *node, uint64_t vendor)
{
	if (!was_read(node->pci.devices))
		return true;
	for_each(d, &node->pci.devices)
		if (!is_known(d->vendor_id) || d->vendor_id.value == vendor)
			return true;
	return false;
}

static bool is_wanted(const struct node *node, const char *name)
{
	static const char *const core[] = { "ib_core", "ib_uverbs", "ib_umad",
					    "ib_cm",   "rdma_cm",   "rdma_ucm" };

	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (strcmp(drivers[i].module, name) == 0)
			return has_vendor(node, drivers[i].vendor);
	for (size_t i = 0; i < ARRAY_SIZE(core); i++)
		if (strcmp(core[i], name) == 0)
			return true;
	if (starts_with(name, "nvidia") || strcmp(name, "gdrdrv") == 0 ||
	    strcmp(name, "nv_peer_mem") == 0)
		return module_file_is_of_interest(name) && has_vendor(node, 0x10de);
	return false;
}

static void loads_choose(struct loads *l, struct entry *entry)
{
	if (!entry || entry->file || l->chosen.count == FILES_MAX)
		return;
	entry->file = arena_alloc(l->scratch, sizeof(*entry->file));
	entry->file->name = entry->name;
	entry->file->path = entry->path[0] == '/' ? entry->path
						  : arena_printf(l->scratch, "/lib/modules/%s/%s",
								 l->release, entry->path);
	*LIST_ADD(l->scratch, &l->chosen) = entry;
}

/* modules.dep has all that a module needs, also what those need. Chosen ones come after those that chose
 * them, and are examined in their turn. */
static void choose_needs(struct loads *l, struct entry *entry)
{
	struct span rest = entry->needs, path;
	char name[MODULE_NAME_MAX];

	while (span_word(&rest, &path)) {
		struct entry *need = module_file_name(path, name) ? find_entry(l, name) : NULL;

		loads_choose(l, need);
		if (need && need->file)
			*LIST_ADD(l->scratch, &entry->file->needs) = need->file;
	}
}

static void choose_all(struct loads *l)
{
	for_each_mut(entry, &l->entries)
		if (l->wanted(l->node, entry->name))
			loads_choose(l, entry);
	for (uint32_t i = 0; i < l->chosen.count; i++)
		choose_needs(l, l->chosen.items[i]);
}

/* ---- reading them ---- */

/* The small ones first: what is compressed is read as long as there is time. */
static void read_files(struct loads *l)
{
	for (int large = 0; large < 2; large++)
		for_each(entry, &l->chosen) {
			bool is_large = starts_with((*entry)->name, "nvidia");

			if (is_large == (large == 1))
				module_symbols_read(&l->symbols, l->host, &l->info, (*entry)->file);
		}
}

static bool is_kernels_own(const struct entry *entry, const struct load_file *file)
{
	return file->there && file->own && file->vermagic && starts_with(entry->path, "kernel/");
}

/* A file of the kernel's own can be damaged or left over: several have to say the same. */
static void add_witnesses(struct loads *l)
{
	size_t tried = 0;

	for_each(entry, &l->chosen)
		if (is_kernels_own(*entry, (*entry)->file))
			*LIST_ADD(l->scratch, &l->witnesses) = (*entry)->file;
	for_each_mut(entry, &l->entries) {
		struct load_file *file;

		if (l->witnesses.count >= WITNESSES || tried == WITNESSES_MAX)
			return;
		if (entry->file || !starts_with(entry->path, "kernel/"))
			continue;
		tried++;
		file = arena_alloc(l->scratch, sizeof(*file));
		file->name = entry->name;
		file->path = arena_printf(l->scratch, "/lib/modules/%s/%s", l->release,
					  entry->path);
		module_symbols_read(&l->symbols, l->host, &l->info, file);
		if (is_kernels_own(entry, file))
			*LIST_ADD(l->scratch, &l->witnesses) = file;
	}
}

static size_t count_alike(const struct loads *l, const struct load_file *file)
{
	size_t n = 0;

	for_each(other, &l->witnesses)
		n += strcmp((*other)->vermagic, file->vermagic) == 0;
	return n;
}

/* The one whose version magic most have. */
static void pick_witness(struct loads *l)
{
	for_each(file, &l->witnesses)
		if (!l->witness || count_alike(l, *file) > count_alike(l, l->witness))
			l->witness = *file;
}

static void hold_symbols(struct loads *l)
{
	for_each(file, &l->witnesses)
		if (strcmp((*file)->vermagic, l->witness->vermagic) == 0)
			module_symbols_hold(&l->symbols, *file);
	module_symbols_weigh(&l->symbols);
}

static const char *option_of(const struct node *node, const char *name)
{
	for_each(option, &node->os.kernel_config)
		if (str_is(option->name, name))
			return is_known(option->value) ? option->value.value : "n";
	return NULL;
}

static void read_symbols(struct loads *l)
{
	static const char spaces[] = "CONFIG_MODULE_ALLOW_MISSING_NAMESPACE_IMPORTS";
	const char *option = option_of(l->node, spaces);

	module_symbols_begin(&l->symbols, l->scratch);
	l->symbols.checks_taint = version_compare(l->release, "5.9") >= 0;
	l->symbols.needs_spaces = option && strcmp(option, "n") == 0;
	read_files(l);
	add_witnesses(l);
	pick_witness(l);
	module_symbols_kernel(&l->symbols, l->host, l->release);
	hold_symbols(l);
}

/* ---- facts ---- */

static struct fact_str text_fact(struct arena *arena, const char *text)
{
	return text ? fact_str(arena, text) : FACT_NONE(fact_str);
}

/* Debian's nvidia-current.ko is the module nvidia. */
static bool is_among_needs(const struct load_file *file, const char *name)
{
	for_each(need, &file->needs)
		if ((*need)->own_name && strcmp((*need)->own_name, name) == 0)
			return true;
	return false;
}

static void add_missing(struct loads *l, const struct load_file *file, struct load_module *fact)
{
	char name[MODULE_NAME_MAX];

	fact->missing.state = FACT_KNOWN;
	for_each(depend, &file->depends) {
		module_name_copy(span_of(*depend), name);
		if (!find_entry(l, name) && !is_builtin(l, name) && !is_among_needs(file, name))
			*LIST_ADD(l->arena, &fact->missing) = fact_str(l->arena, name).value;
	}
}

static void add_module(struct loads *l, struct loads_facts *facts, const struct load_file *file)
{
	struct load_module *fact = LIST_ADD(l->arena, &facts->modules);

	fact->name = fact_str(l->arena, file->name);
	fact->path = fact_str(l->arena, file->path);
	fact->needs.state = FACT_KNOWN;
	for_each(need, &file->needs)
		*LIST_ADD(l->arena, &fact->needs) = fact_str(l->arena, (*need)->name).value;
	if (!file->there) {
		if (!host_exists(l->host, file->path))
			fact->there = fact_bool(false);
		return;
	}
	fact->there = fact_bool(true);
	fact->vermagic = text_fact(l->arena, file->vermagic);
	fact->versioned = fact_bool(file->versioned);
	fact->license = text_fact(l->arena, file->license);
	if (file->signer || !file->signer_unknown)
		fact->signer = text_fact(l->arena, file->signer);
	add_missing(l, file, fact);
	module_symbols_check(&l->symbols, file, l->arena, fact);
}

static void add_builtin(struct loads *l, struct loads_facts *facts)
{
	for_each(name, &l->builtin) {
		struct load_module *fact;

		if (!l->wanted(l->node, *name) || find_entry(l, *name))
			continue;
		fact = LIST_ADD(l->arena, &facts->modules);
		fact->name = fact_str(l->arena, *name);
		fact->path = FACT_NONE(fact_str);
	}
}

static int compare_modules(const void *a, const void *b)
{
	const struct load_module *x = a, *y = b;

	return strcmp(x->name.value, y->name.value);
}

static void loads_fill(struct loads *l, struct loads_facts *facts)
{
	facts->kernel = fact_str(l->arena, l->release);
	facts->symbols = text_fact(l->arena, l->symbols.source);
	if (l->witness) {
		facts->vermagic = fact_str(l->arena, l->witness->vermagic);
		if (l->witness->signer || !l->witness->signer_unknown)
			facts->signer = text_fact(l->arena, l->witness->signer);
	}
	facts->modules.state = FACT_KNOWN;
	for_each(entry, &l->chosen)
		add_module(l, facts, (*entry)->file);
	add_builtin(l, facts);
	fact_list_sort(&facts->modules, sizeof(facts->modules.items[0]), compare_modules);
}

int loads_read(struct host *host, const struct node *node, loads_wanted *wanted,
	       struct arena *arena, struct loads_facts *facts)
{
	struct loads l = { .host = host,
			   .node = node,
			   .wanted = wanted,
			   .arena = arena,
			   .release = node->os.kernel.value,
			   .scratch = arena_new_shared(SCRATCH_BYTES, "modules") };
	int rc = l.scratch ? read_lines(&l, "modules.dep", dep_line) : -ENOMEM;

	if (rc == 0) {
		read_lines(&l, "modules.builtin", builtin_line);
		choose_all(&l);
		read_symbols(&l);
		loads_fill(&l, facts);
		module_info_close(&l.info);
	}
	if (l.scratch)
		arena_free(l.scratch);
	return rc;
}

static int ask_loads(struct host *host, void *facts, struct arena *arena, void *user)
{
	return loads_read(host, user, is_wanted, arena, facts);
}

static void loads_run(struct probe_context *ctx)
{
	struct node *node = ctx->node;

	if (!is_known(node->os.kernel) || probe_hides_host(ctx, "/lib/modules"))
		return;
	host_query(ctx->host, arena_printf(ctx->arena, "/lib/modules/%s", node->os.kernel.value),
		   &loads_facts_desc, &node->loads, ctx->arena, ask_loads, node);
}

const struct probe probe_loads = {
	.name = "loads",
	.phase = PHASE_ALL,
	PROBE_SECTION(loads),
	.run = loads_run,
};
