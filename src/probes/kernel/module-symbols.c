/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module-symbols.c - the symbols that modules need, the modules that offer them, and how the kernel would resolve each
 * (kernel/module/main.c: simplify_symbols(), resolve_symbol(); version.c: check_version()).
 */
#include "probes/kernel/module-symbols.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/siphash.h"
#include "parse/symvers.h"
#include "probes/boot/initramfs-decompress.h"

#define TABLE_SIZE (2 * LOAD_SYMBOLS_MAX)
#define SYMVERS_MAX (16u << 20)

struct offer {
	struct offer *next;
	const struct load_file *file;
	uint64_t crc;
};

struct load_symbol {
	const char *name;
	const char *owner; /* as Module.symvers has it; NULL: it does not */
	const char *space;
	uint64_t crc;
	bool gpl;
	bool seen; /* one of the kernel's own modules takes it from the kernel itself */
	uint64_t seen_crc;
	struct offer *offers;
};

/* ---- the table ---- */

void module_symbols_begin(struct module_symbols *symbols, struct arena *scratch)
{
	*symbols = (struct module_symbols){
		.arena = scratch,
		.table = arena_alloc(scratch, TABLE_SIZE * sizeof(*symbols->table)),
	};
}

/* Names come from files that anybody may have made: the place in the table must not be theirs to choose. */
static size_t place_of(const struct module_symbols *symbols, const char *name, size_t n)
{
	static uint64_t key[2];

	if (!key[0]) {
		key[0] = clock_us() | 1;
		key[1] = (uint64_t)(uintptr_t)symbols;
	}
	return siphash(key, name, n) % TABLE_SIZE;
}

/* NULL: not there, and with ADD no room. */
static struct load_symbol *find_symbol(struct module_symbols *symbols, struct span name, bool add)
{
	size_t i = place_of(symbols, name.p, name.n);
	struct load_symbol *symbol;

	for (; (symbol = symbols->table[i]); i = (i + 1) % TABLE_SIZE)
		if (strncmp(symbol->name, name.p, name.n) == 0 && !symbol->name[name.n])
			return symbol;
	if (!add)
		return NULL;
	if (symbols->count == LOAD_SYMBOLS_MAX) {
		symbols->full = true;
		return NULL;
	}
	symbols->count++;
	symbol = arena_alloc(symbols->arena, sizeof(*symbol));
	symbol->name = arena_strndup(symbols->arena, name.p, name.n);
	symbols->table[i] = symbol;
	return symbol;
}

/* ---- modules ---- */

struct reading {
	struct module_symbols *symbols;
	struct load_file *file;
};

/* include/linux/license.h */
static bool is_gpl_compatible(const char *license)
{
	static const char *const words[] = {
		"GPL",		"GPL v2",	"GPL and additional rights",
		"Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL"
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(license, words[i]) == 0)
			return true;
	return false;
}

static void take_depends(struct reading *r, const char *value)
{
	struct span rest = span_of(value), name;

	while (span_cut(&rest, ',', &name))
		if (name.n)
			*LIST_ADD(r->symbols->arena, &r->file->depends) =
				arena_strndup(r->symbols->arena, name.p, name.n);
}

static void take_info(void *user, const char *key, const char *value)
{
	struct reading *r = user;
	struct load_file *file = r->file;
	struct arena *arena = r->symbols->arena;

	if (strcmp(key, "intree") == 0)
		file->own = strcmp(value, "Y") == 0;
	else if (strcmp(key, "name") == 0 && !file->own_name)
		file->own_name = arena_strdup(arena, value);
	else if (strcmp(key, "vermagic") == 0 && !file->vermagic)
		file->vermagic = arena_strdup(arena, value);
	else if (strcmp(key, "signer") == 0 && !file->signer)
		file->signer = arena_strdup(arena, value);
	else if (strcmp(key, "sig_id") == 0)
		file->signer_unknown = true;
	else if (strcmp(key, "depends") == 0)
		take_depends(r, value);
	else if (strcmp(key, "import_ns") == 0)
		*LIST_ADD(arena, &file->spaces) = arena_strdup(arena, value);
	else if (strcmp(key, "license") == 0 && !file->license) {
		file->license = arena_strdup(arena, value);
		file->gpl = is_gpl_compatible(value);
	}
}

static void take_import(void *user, const char *name, uint64_t crc, bool weak)
{
	struct reading *r = user;
	struct load_symbol *symbol;

	/* The kernel ignores it (ignore_undef_symbol()). */
	if (strcmp(name, "_GLOBAL_OFFSET_TABLE_") == 0)
		return;
	symbol = find_symbol(r->symbols, span_of(name), true);
	if (!symbol)
		return;
	r->file->versioned |= crc != 0;
	*LIST_ADD(r->symbols->arena, &r->file->imports) =
		(struct load_import){ .symbol = symbol, .crc = crc, .weak = weak };
}

static void take_export(void *user, const char *name, uint64_t crc)
{
	struct reading *r = user;
	struct load_symbol *symbol = find_symbol(r->symbols, span_of(name), true);
	struct offer *offer;

	if (!symbol)
		return;
	offer = arena_alloc(r->symbols->arena, sizeof(*offer));
	*offer = (struct offer){ .next = symbol->offers, .file = r->file, .crc = crc };
	symbol->offers = offer;
}

int module_symbols_read(struct module_symbols *symbols, struct host *host, struct module_info *info,
			struct load_file *file)
{
	struct reading r = { .symbols = symbols, .file = file };
	const struct module_walk walk = {
		.info = take_info, .import = take_import, .export = take_export, .user = &r
	};
	int rc;

	info->path = file->path;
	rc = module_info_walk(host, info, &walk);
	file->there = rc == 0;
	return rc;
}

static bool is_needed(const struct load_file *file, const struct load_file *other)
{
	for_each(need, &file->needs)
		if (*need == other)
			return true;
	return false;
}

/* The module that FILE would get it from. */
static const struct offer *offer_for(const struct load_file *file, const struct load_symbol *symbol)
{
	for (const struct offer *offer = symbol->offers; offer; offer = offer->next)
		if (is_needed(file, offer->file))
			return offer;
	return NULL;
}

/* ---- the kernel ---- */

struct stream {
	int fd;
	char block[64 << 10];
};

static int next_block(void *user, struct span *block)
{
	struct stream *stream = user;
	ssize_t n;

	do
		n = read(stream->fd, stream->block, sizeof(stream->block));
	while (n < 0 && errno == EINTR);
	*block = (struct span){ stream->block, n > 0 ? (size_t)n : 0 };
	return n > 0 ? 1 : n < 0 ? -errno : 0;
}

static int decompress_all(struct decompress *d, struct text *text)
{
	struct span block;
	int rc;

	while ((rc = decompress_next(d, &block)) > 0) {
		char *more;

		if (block.n > SYMVERS_MAX - text->size)
			return -EFBIG;
		more = realloc(text->data, text->size + block.n + 1);
		if (!more)
			return -ENOMEM;
		text->data = more;
		memcpy(text->data + text->size, block.p, block.n);
		text->size += block.n;
	}
	return rc;
}

static int read_compressed(struct host *host, const char *path, const char *compressor,
			   struct text *text)
{
	_cleanup_close_ int fd = host_open(host, path);
	_cleanup_free_ struct stream *stream = fd < 0 ? NULL : malloc(sizeof(*stream));
	struct decompress *d;
	int rc;

	if (!stream)
		return fd < 0 ? fd : -ENOMEM;
	stream->fd = fd;
	rc = decompress_open(&d, compressor, next_block, stream);
	if (rc)
		return rc;
	rc = decompress_all(d, text);
	decompress_close(d);
	return rc;
}

/* Paths of the kernel's symbols on Debian, Ubuntu, RHEL, Fedora and SUSE; %s is the release. */
static const struct {
	const char *format, *compressor;
} places[] = {
	{ "/usr/src/linux-headers-%s/Module.symvers", NULL },
	{ "/usr/src/kernels/%s/Module.symvers", NULL },
	{ "/lib/modules/%s/build/Module.symvers", NULL },
	{ "/lib/modules/%s/symvers.gz", "gzip" },
	{ "/lib/modules/%s/symvers.xz", "xz" },
	{ "/lib/modules/%s/symvers.zst", "zstd" },
	{ "/boot/symvers-%s.gz", "gzip" },
	{ "/boot/symvers-%s.xz", "xz" },
	{ "/boot/symvers-%s.zst", "zstd" },
};

static char *path_at(struct arena *arena, const char *format, const char *release)
{
	size_t at = (size_t)(strstr(format, "%s") - format);

	return arena_printf(arena, "%.*s%s%s", (int)at, format, release, format + at + 2);
}

/* Keeps only symbols that a module needs or offers. */
static size_t take_symvers(struct module_symbols *symbols, struct span text)
{
	struct symvers_line parsed;
	struct load_symbol *symbol;
	struct span line;
	size_t count = 0;

	while (span_cut(&text, '\n', &line)) {
		if (!symvers_line_parse(line, &parsed))
			continue;
		count++;
		symbol = find_symbol(symbols, parsed.symbol, false);
		if (!symbol || symbol->owner)
			continue;
		symbol->crc = parsed.crc;
		symbol->gpl = parsed.gpl;
		symbol->owner = arena_strndup(symbols->arena, parsed.owner.p, parsed.owner.n);
		symbol->space = arena_strndup(symbols->arena, parsed.space.p, parsed.space.n);
	}
	return count;
}

/* A whole kernel has thousands; a file of a few is that of modules built outside it. */
#define SYMBOLS_OF_A_KERNEL 1000

void module_symbols_kernel(struct module_symbols *symbols, struct host *host, const char *release)
{
	for (size_t i = 0; i < ARRAY_SIZE(places) && !symbols->source; i++) {
		_cleanup_text_ struct text text = { 0 };
		char *path = path_at(symbols->arena, places[i].format, release);
		int rc = places[i].compressor
				 ? read_compressed(host, path, places[i].compressor, &text)
				 : host_read(host, &text, SYMVERS_MAX, "%s", path);

		if (rc == 0 && take_symvers(symbols, text_span(&text)) >= SYMBOLS_OF_A_KERNEL)
			symbols->source = path;
	}
}

static bool differ(uint64_t a, uint64_t b)
{
	return a && b && a != b;
}

void module_symbols_hold(struct module_symbols *symbols, const struct load_file *file)
{
	bool contradicts = false;

	for_each(import, &file->imports) {
		struct load_symbol *symbol = import->symbol;

		if (import->weak || offer_for(file, symbol))
			continue;
		contradicts |= symbol->owner && differ(symbol->crc, import->crc);
		symbol->seen = true;
		symbol->seen_crc = import->crc;
	}
	if (contradicts)
		symbols->contradict++;
	else
		symbols->agree++;
}

void module_symbols_weigh(struct module_symbols *symbols)
{
	/* A single contradiction among several modules is a damaged module. */
	if (symbols->contradict > 1 || (symbols->contradict && symbols->agree < 3))
		symbols->source = NULL;
}

/* ---- what the kernel would say ---- */

static void add_obstacle(struct load_module *fact, struct arena *arena,
			 const struct load_symbol *symbol, enum failure_kind kind, const char *from)
{
	struct load_obstacle *obstacle;

	if (fact->obstacles.count == LOAD_OBSTACLES_MAX)
		return;
	obstacle = LIST_ADD(arena, &fact->obstacles);
	obstacle->symbol = fact_str(arena, symbol->name);
	obstacle->kind = fact_enum((int)kind);
	obstacle->from = from ? fact_str(arena, from) : FACT_NONE(fact_str);
}

static bool has_space(const struct load_file *file, const char *space)
{
	for_each(own, &file->spaces)
		if (strcmp(*own, space) == 0)
			return true;
	return false;
}

/* Checks the licence and the namespace of a symbol that Module.symvers lists. */
static bool check_rights(const struct module_symbols *symbols, const struct load_file *file,
			 const struct load_symbol *symbol, enum failure_kind *kind)
{
	if (!symbols->source || !symbol->owner)
		return true;
	*kind = FAILURE_LICENSE;
	if (symbol->gpl && !file->gpl)
		return false;
	*kind = FAILURE_NAMESPACE;
	/* "module:kvm" names the modules that may use it, which is not looked at. */
	return !symbols->needs_spaces || !*symbol->space || starts_with(symbol->space, "module:") ||
	       has_space(file, symbol->space);
}

static void check_offered(const struct module_symbols *symbols, const struct load_file *file,
			  const struct load_import *import, const struct offer *offer,
			  struct arena *arena, struct load_module *fact)
{
	enum failure_kind kind;

	if (differ(import->crc, offer->crc))
		add_obstacle(fact, arena, import->symbol, FAILURE_SYMBOL_VERSION,
			     offer->file->name);
	else if (offer->file->own && !check_rights(symbols, file, import->symbol, &kind))
		add_obstacle(fact, arena, import->symbol, kind, offer->file->name);
}

/* A module that could not be read may offer the symbol. */
static bool all_needs_read(const struct load_file *file)
{
	for_each(need, &file->needs)
		if (!(*need)->there)
			return false;
	return true;
}

static bool is_kernels(const struct load_symbol *symbol)
{
	return symbol->owner && strcmp(symbol->owner, "vmlinux") == 0;
}

static void check_import(const struct module_symbols *symbols, const struct load_file *file,
			 const struct load_import *import, struct arena *arena,
			 struct load_module *fact)
{
	const struct load_symbol *symbol = import->symbol;
	const struct offer *offer = offer_for(file, symbol);
	bool known = symbols->source ? is_kernels(symbol) : symbol->seen;
	uint64_t crc = symbols->source ? symbol->crc : symbol->seen_crc;
	enum failure_kind kind;

	if (offer) {
		check_offered(symbols, file, import, offer, arena, fact);
	} else if (!known) {
		if (import->weak)
			return;
		/* A module that modprobe would not load has it. Another program may load that one. */
		if (!symbols->source || symbol->owner || !all_needs_read(file))
			fact->unchecked.value++;
		else
			add_obstacle(fact, arena, symbol, FAILURE_UNKNOWN_SYMBOL, NULL);
	} else if (differ(import->crc, crc)) {
		add_obstacle(fact, arena, symbol, FAILURE_SYMBOL_VERSION, "vmlinux");
	} else if (!check_rights(symbols, file, symbol, &kind) &&
		   !(import->weak && kind == FAILURE_LICENSE)) {
		add_obstacle(fact, arena, symbol, kind, "vmlinux");
	}
}

/* A module takes on the taint of a proprietary one that it uses, and then gets no GPL-only symbol; the other way round
 * it is refused at once (inherit_taint()). */
static void check_taint(const struct module_symbols *symbols, const struct load_file *file,
			struct arena *arena, struct load_module *fact)
{
	const struct load_symbol *gpl = NULL, *proprietary = NULL;
	const struct load_file *from = NULL;

	for_each(import, &file->imports) {
		const struct offer *offer = offer_for(file, import->symbol);

		if (offer && !offer->file->own && !offer->file->gpl) {
			proprietary = import->symbol;
			from = offer->file;
		} else if (import->symbol->owner && import->symbol->gpl && !import->weak) {
			gpl = import->symbol;
		}
	}
	if (symbols->source && symbols->checks_taint && file->gpl && gpl && proprietary)
		add_obstacle(fact, arena, proprietary, FAILURE_LICENSE, from->name);
}

void module_symbols_check(const struct module_symbols *symbols, const struct load_file *file,
			  struct arena *arena, struct load_module *fact)
{
	fact->obstacles.state = FACT_KNOWN;
	fact->unchecked = fact_u64(symbols->full);
	for_each(import, &file->imports)
		check_import(symbols, file, import, arena, fact);
	check_taint(symbols, file, arena, fact);
}
