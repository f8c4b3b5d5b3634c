/* SPDX-License-Identifier: GPL-2.0-or-later */
/* module-info.c - the fields of a module file, through libkmod. */
#include "probes/kernel/module-info.h"

#include <ctype.h>
#include <errno.h>
#include <libkmod.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/library.h"
#include "parse/module.h"

#define FUNCTIONS(F)                                \
	F(kmod_list_next)                           \
	F(kmod_module_dependency_symbol_get_bind)   \
	F(kmod_module_dependency_symbol_get_crc)    \
	F(kmod_module_dependency_symbol_get_symbol) \
	F(kmod_module_dependency_symbols_free_list) \
	F(kmod_module_get_dependency_symbols)       \
	F(kmod_module_get_info)                     \
	F(kmod_module_get_symbols)                  \
	F(kmod_module_info_free_list)               \
	F(kmod_module_info_get_key)                 \
	F(kmod_module_info_get_value)               \
	F(kmod_module_new_from_path)                \
	F(kmod_module_symbol_get_crc)               \
	F(kmod_module_symbol_get_symbol)            \
	F(kmod_module_symbols_free_list)            \
	F(kmod_module_unref)                        \
	F(kmod_new)                                 \
	F(kmod_set_log_fn)                          \
	F(kmod_unref)

static struct {
	FUNCTIONS(LIBRARY_SLOT)
} lib;

/* kmod_list_foreach() calls the library by name. */
#define for_each_entry(entry, list) \
	for ((entry) = (list); (entry); (entry) = lib.kmod_list_next((list), (entry)))

/* Suppresses libkmod's messages: the error that it returns is enough. */
static void say_nothing(void *data, int priority, const char *file, int line, const char *fn,
			const char *format, va_list args)
{
	(void)data;
	(void)priority;
	(void)file;
	(void)line;
	(void)fn;
	(void)format;
	(void)args;
}

static int module_info_begin(struct module_info *info)
{
	static const char *const no_configuration[] = { NULL };

	int rc;

	if (info->ctx)
		return 0;
	/* Not before: it brings libcrypto and three decompressors, whose loading takes longer than all of preflight. */
	rc = LIBRARY_LOAD(LIBKMOD, FUNCTIONS);
	if (rc)
		return rc;
	/* A context without a module folder: only files named by their descriptor are read, and not this machine's
	 * configuration. */
	info->ctx = lib.kmod_new("/dev/null", no_configuration);
	if (!info->ctx)
		return -ENOMEM;
	lib.kmod_set_log_fn(info->ctx, say_nothing, NULL);
	info->deadline_us = clock_us() + MODULE_INFO_BUDGET_MS * 1000;
	return 0;
}

void module_info_close(struct module_info *info)
{
	if (info->ctx)
		lib.kmod_unref(info->ctx);
	info->ctx = NULL;
}

/* ---- what libkmod lists ---- */

/* -ENOENT and -ENODATA: the file has no such section. */
static bool has_none(int rc)
{
	return rc == 0 || rc == -ENOENT || rc == -ENODATA;
}

static int walk_info(struct kmod_module *module, const struct module_walk *walk)
{
	struct kmod_list *list = NULL, *entry;
	int rc = lib.kmod_module_get_info(module, &list);

	if (rc < 0)
		return rc;
	for_each_entry(entry, list) walk->info(walk->user, lib.kmod_module_info_get_key(entry),
					       lib.kmod_module_info_get_value(entry));
	lib.kmod_module_info_free_list(list);
	return 0;
}

static int walk_imports(struct kmod_module *module, const struct module_walk *walk)
{
	struct kmod_list *list = NULL, *entry;
	int rc = lib.kmod_module_get_dependency_symbols(module, &list);

	if (rc <= 0)
		return has_none(rc) ? 0 : rc;
	for_each_entry(entry, list)
		walk->import(walk->user, lib.kmod_module_dependency_symbol_get_symbol(entry),
			     lib.kmod_module_dependency_symbol_get_crc(entry),
			     lib.kmod_module_dependency_symbol_get_bind(entry) == KMOD_SYMBOL_WEAK);
	lib.kmod_module_dependency_symbols_free_list(list);
	return 0;
}

static int walk_exports(struct kmod_module *module, const struct module_walk *walk)
{
	struct kmod_list *list = NULL, *entry;
	int rc = lib.kmod_module_get_symbols(module, &list);

	if (rc <= 0)
		return has_none(rc) ? 0 : rc;
	for_each_entry(entry, list)
		walk->export(walk->user, lib.kmod_module_symbol_get_symbol(entry),
			     lib.kmod_module_symbol_get_crc(entry));
	lib.kmod_module_symbols_free_list(list);
	return 0;
}

/* ---- .modinfo ---- */

struct text_field {
	const char *key;
	size_t offset;
	bool brief;
};

static const struct text_field text_fields[] = {
	{ "name", offsetof(struct module_file, name), true },
	{ "version", offsetof(struct module_file, version), true },
	{ "srcversion", offsetof(struct module_file, srcversion), false },
	{ "vermagic", offsetof(struct module_file, vermagic), false },
	{ "license", offsetof(struct module_file, license), false },
	{ "description", offsetof(struct module_file, description), false },
	/* libkmod takes it from the signature at the end of the file. */
	{ "signer", offsetof(struct module_file, signer), false },
};

static void add_depends(struct module_file *file, struct arena *arena, const char *value)
{
	struct span rest = span_of(value), name;
	char clean[MODULE_NAME_MAX];

	while (span_cut(&rest, ',', &name)) {
		if (!name.n)
			continue;
		module_name_copy(name, clean);
		*LIST_ADD(arena, &file->depends) = arena_strdup(arena, clean);
	}
}

/* "NVreg_EnableMSI:int" of parmtype; parm, the description, is not written for all of them. */
static void add_parameter(struct module_file *file, struct arena *arena, const char *value)
{
	struct span name = { value, span_find(span_of(value), ':') };
	struct fact_str clean = fact_strn(arena, name.p, name.n);

	for (uint32_t i = 0; i < file->parameters.count; i++)
		if (strcmp(file->parameters.items[i], clean.value) == 0)
			return;
	*LIST_ADD(arena, &file->parameters) = clean.value;
}

static void add_type(struct module_file *file, struct arena *arena, const char *value)
{
	if (!span_ends(span_of(value), ":int"))
		*LIST_ADD(arena, &file->parameter_types) = fact_str(arena, value).value;
}

static void add_info(struct module_file *file, struct arena *arena, const char *key,
		     const char *value, bool brief)
{
	for (size_t i = 0; i < ARRAY_SIZE(text_fields); i++) {
		const struct text_field *f = &text_fields[i];
		struct fact_str *fact = (struct fact_str *)((char *)file + f->offset);

		/* The first of several, as modinfo -F. */
		if (strcmp(key, f->key) == 0 && (f->brief || !brief) && !is_known(*fact))
			*fact = fact_str(arena, value);
	}
	if (brief)
		return;
	if (strcmp(key, "depends") == 0)
		add_depends(file, arena, value);
	if (strcmp(key, "parm") == 0 || strcmp(key, "parmtype") == 0)
		add_parameter(file, arena, value);
	if (strcmp(key, "parmtype") == 0)
		add_type(file, arena, value);
	/* Signed, but this libkmod cannot read the signer. */
	if (strcmp(key, "sig_id") == 0 && is_absent(file->signer))
		file->signer.state = FACT_UNKNOWN;
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What is read of a file. */
struct reading {
	struct module_file *file;
	struct arena *arena;
	bool brief;
};

static void see_info(void *user, const char *key, const char *value)
{
	const struct reading *r = user;

	add_info(r->file, r->arena, key, value, r->brief);
}

static void set_states(const struct reading *r, enum fact_state texts, enum fact_state lists)
{
	struct module_file *file = r->file;

	for (size_t i = 0; i < ARRAY_SIZE(text_fields); i++)
		if (text_fields[i].brief || !r->brief)
			*(enum fact_state *)((char *)file + text_fields[i].offset) = texts;
	if (!r->brief)
		file->depends.state = file->parameters.state = file->parameter_types.state = lists;
}

static int read_info(struct kmod_module *module, struct reading *r)
{
	const struct module_walk walk = { .user = r, .info = see_info };
	int rc;

	set_states(r, FACT_ABSENT, FACT_KNOWN);
	rc = walk_info(module, &walk);
	if (rc)
		set_states(r, FACT_UNKNOWN, FACT_UNKNOWN);
	fact_list_sort(&r->file->parameters, sizeof(char *), compare_strings);
	fact_list_sort(&r->file->parameter_types, sizeof(char *), compare_strings);
	return rc;
}

/* ---- symbols ---- */

#define NVFS_REGISTER "_register_nvfs_dma_ops"

static bool is_of_interest(const char *symbol)
{
	return strstr(symbol, "ib_register_peer_memory") || strstr(symbol, NVFS_REGISTER) ||
	       strstr(symbol, "ib_unregister_peer_memory") || strstr(symbol, "nvidia_p2p_");
}

static int compare_symbols(const void *a, const void *b)
{
	const struct module_symbol *x = a, *y = b;

	return strcmp(x->name.value, y->name.value);
}

static void set_symbol(struct module_symbol *symbol, struct arena *arena, const char *name,
		       uint64_t crc)
{
	symbol->name = fact_str(arena, name);
	symbol->crc = crc ? fact_u64(crc) : FACT_NONE(fact_u64);
}

static void see_import(void *user, const char *name, uint64_t crc, bool weak)
{
	const struct reading *r = user;

	(void)weak;
	if (is_of_interest(name))
		set_symbol(LIST_ADD(r->arena, &r->file->imports), r->arena, name, crc);
}

static void see_export(void *user, const char *name, uint64_t crc)
{
	const struct reading *r = user;

	if (is_of_interest(name))
		set_symbol(LIST_ADD(r->arena, &r->file->exports), r->arena, name, crc);
}

static void read_symbols(struct kmod_module *module, struct reading *r)
{
	const struct module_walk walk = { .user = r, .import = see_import, .export = see_export };
	struct module_file *file = r->file;

	file->imports.state = walk_imports(module, &walk) ? FACT_UNKNOWN : FACT_KNOWN;
	file->exports.state = walk_exports(module, &walk) ? FACT_UNKNOWN : FACT_KNOWN;
	fact_list_sort(&file->imports, sizeof(file->imports.items[0]), compare_symbols);
	fact_list_sort(&file->exports, sizeof(file->exports.items[0]), compare_symbols);
}

/* ---- symbols that are looked up at run time ---- */

#define NVFS_FILE_MAX (32u << 20)
#define LOOKED_UP_MAX 64

static bool is_symbol_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The strings of the file that end like the name of a function for registration (nvfs-dma.c, modules_list[]). */
static void find_looked_up(struct span text, struct module_file *file, struct arena *arena)
{
	static const char tail[] = NVFS_REGISTER;
	const char *end = text.p + text.n, *at = text.p;

	file->looked_up.state = FACT_KNOWN;
	while (file->looked_up.count < LOOKED_UP_MAX &&
	       (at = memmem(at, (size_t)(end - at), tail, sizeof(tail)))) {
		const char *begin = at;

		while (begin > text.p && at - begin < 64 && is_symbol_byte(begin[-1]))
			begin--;
		at += sizeof(tail);
		if (begin > text.p && !begin[-1])
			*LIST_ADD(arena, &file->looked_up) = arena_strdup(arena, begin);
	}
	fact_list_sort(&file->looked_up, sizeof(char *), compare_strings);
}

static void read_looked_up(struct host *host, const struct module_info *info,
			   struct module_file *file, struct arena *arena)
{
	_cleanup_text_ struct text text = { 0 };

	if (!str_is(file->name, "nvidia_fs"))
		file->looked_up.state = FACT_ABSENT;
	else if (!module_file_is_compressed(span_of(info->path)) &&
		 host_read(host, &text, NVFS_FILE_MAX, "%s", info->path) == 0)
		find_looked_up(text_span(&text), file, arena);
}

/* ---- one file ---- */

/* libkmod uses these, and not the name of the file: libkmod/libkmod-file.c. */
static bool begins_compressed(int fd)
{
	static const struct {
		const char *bytes;
		size_t n;
	} magics[] = { { "\x1f\x8b", 2 }, { "\xfd\x37zXZ", 5 }, { "\x28\xb5\x2f\xfd", 4 } };
	char head[8];
	ssize_t n = pread(fd, head, sizeof(head), 0);

	for (size_t i = 0; i < ARRAY_SIZE(magics); i++)
		if (n >= (ssize_t)magics[i].n && memcmp(head, magics[i].bytes, magics[i].n) == 0)
			return true;
	return false;
}

static int check_cost(const struct module_info *info, int fd)
{
	struct stat st;

	if (!module_file_is_compressed(span_of(info->path)) && !begins_compressed(fd))
		return 0;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size > MODULE_COMPRESSED_MAX)
		return -EFBIG;
	return clock_us() < info->deadline_us ? 0 : -ETIMEDOUT;
}

/* 0 with MODULE, which is the caller's to unref, and FD, which must stay open until then. */
static int open_module(struct host *host, struct module_info *info, int *fd,
		       struct kmod_module **module)
{
	char native[32];
	int rc;

	*fd = host_open(host, info->path);
	rc = *fd < 0 ? *fd : module_info_begin(info);
	if (rc == 0)
		rc = check_cost(info, *fd);
	if (rc)
		return rc;
	snprintf(native, sizeof(native), "/proc/self/fd/%d", *fd);
	return lib.kmod_module_new_from_path(info->ctx, native, module);
}

/* -ENOEXEC is libkmod's word for a file that is no module; also for a compression that it was built without, which
 * it takes for a plain file. */
static int error_of(const struct module_info *info, int rc)
{
	if (rc == -ENOEXEC && module_file_is_compressed(span_of(info->path)))
		return -EOPNOTSUPP;
	/* More than a process that looks may have (base/confine.h): no driver is so large. */
	if (rc == -ENOMEM && module_file_is_compressed(span_of(info->path)))
		return -EFBIG;
	return rc == -ENOENT || rc == -ENOEXEC || rc == -EINVAL ? -EBADMSG : rc;
}

int module_info_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct module_info *info = user;
	struct module_file *file = facts;
	struct reading reading = { file, arena, info->brief };
	struct kmod_module *module = NULL;
	_cleanup_close_ int fd = -1;
	int rc = open_module(host, info, &fd, &module);

	if (rc)
		return rc;
	file->path = fact_str(arena, info->path);
	rc = read_info(module, &reading);
	if (rc == 0 && !info->brief) {
		read_symbols(module, &reading);
		read_looked_up(host, info, file, arena);
	}
	lib.kmod_module_unref(module);
	return error_of(info, rc);
}

int module_info_walk(struct host *host, struct module_info *info, const struct module_walk *walk)
{
	struct kmod_module *module = NULL;
	_cleanup_close_ int fd = -1;
	int rc = open_module(host, info, &fd, &module);

	if (rc)
		return rc;
	rc = walk_info(module, walk);
	if (rc == 0)
		rc = walk_imports(module, walk);
	if (rc == 0)
		rc = walk_exports(module, walk);
	lib.kmod_module_unref(module);
	return error_of(info, rc);
}
