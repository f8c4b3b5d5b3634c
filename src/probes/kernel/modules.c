/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * modules.c - the modules that are loaded, from /proc/modules and sysfs, and those that something
 * loads at boot. On a running host libkmod.c asks libkmod as well. What lies on disk is module-files.c's.
 *
 * /sys/module also has built-in modules, as far as they have a parameter or a version: those have
 * no initstate (Documentation/ABI/testing/sysfs-module).
 */
#include <string.h>

#include "parse/module.h"
#include "probes/conf-d.h"
#include "probes/probe.h"
#include "query/node-find.h"

#define LOADED_FILE "/proc/modules"
#define SYS_MODULE "/sys/module"
#define MODULE_PARAMS_MAX 256

/* ---- /proc/modules ---- */

static int state_of(struct span word)
{
	return span_is(word, "Loading")	    ? MODULE_LOADING
	       : span_is(word, "Unloading") ? MODULE_UNLOADING
					    : MODULE_LIVE;
}

static void add_loaded(struct probe_context *ctx, const struct module_line *line)
{
	struct module *module = LIST_ADD(ctx->arena, &ctx->node->modules.loaded);
	struct span holders = line->holders, holder;

	module->name = probe_span(ctx, line->name);
	module->state = fact_enum(state_of(line->state));
	if (!line->counted) {
		module->refcnt.state = module->holders.state = FACT_ABSENT;
		return;
	}
	module->refcnt = fact_u64(line->refcnt);
	module->holders.state = FACT_KNOWN;
	while (module_holder_next(&holders, &holder))
		*LIST_ADD(ctx->arena, &module->holders) = probe_span(ctx, holder).value;
}

static int read_loaded(struct probe_context *ctx)
{
	_cleanup_text_ struct text text = { 0 };
	struct span rest, line;
	struct module_line parsed;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, LOADED_FILE);

	if (rc)
		return rc;
	ctx->node->modules.loaded.state = FACT_KNOWN;
	rest = text_span(&text);
	while (span_cut(&rest, '\n', &line)) {
		if (module_line_parse(line, &parsed))
			add_loaded(ctx, &parsed);
		else if (span_trim(line).n)
			host_gap_note(ctx->host, LOADED_FILE, -EBADMSG,
				      "a line that is not a module's");
	}
	return 0;
}

/* ---- /sys/module ---- */

static int compare_modules(const void *a, const void *b)
{
	const struct module *x = a, *y = b;

	return strcmp(x->name.value, y->name.value);
}

/* Adds a module that /proc/modules does not list: it is built in, or loaded where that file is hidden. */
static void add_from_sysfs(struct probe_context *ctx, const char *name)
{
	struct fact_str state = { 0 };
	struct module *module;

	probe_str(ctx, &state, SYS_MODULE "/%s/initstate", name);
	if (is_unknown(state))
		return;
	module = LIST_ADD(ctx->arena, &ctx->node->modules.loaded);
	module->name = fact_str(ctx->arena, name);
	if (is_absent(state)) {
		module->state = fact_enum(MODULE_BUILTIN);
		module->refcnt.state = module->holders.state = FACT_ABSENT;
	} else {
		module->state = fact_enum(str_is(state, "coming")  ? MODULE_LOADING
					  : str_is(state, "going") ? MODULE_UNLOADING
								   : MODULE_LIVE);
		probe_u64(ctx, &module->refcnt, SYS_MODULE "/%s/refcnt", name);
	}
}

static void read_params(struct probe_context *ctx, struct module *module)
{
	_cleanup_names_ struct names names = { 0 };
	const char *name = module->name.value;
	int rc = host_list(ctx->host, &names, SYS_MODULE "/%s/parameters", name);

	module->params.state = probe_state(rc);
	for (size_t i = 0; i < names.count; i++) {
		struct module_param *param;

		if (i == MODULE_PARAMS_MAX) {
			host_gap_note(ctx->host,
				      arena_printf(ctx->arena, SYS_MODULE "/%s/parameters", name),
				      -EOVERFLOW, "only 256 parameters were read");
			break;
		}
		param = LIST_ADD(ctx->arena, &module->params);
		param->name = fact_str(ctx->arena, names.items[i]);
		probe_str(ctx, &param->value, SYS_MODULE "/%s/parameters/%s", name, names.items[i]);
		/* The kernel prints this for a string that was never set. */
		if (str_is(param->value, "(null)"))
			param->value = FACT_NONE(fact_str);
	}
}

static void read_details(struct probe_context *ctx, struct module *module)
{
	const char *name = module->name.value;

	/* For other modules the driver's own files have the version. */
	if (!ctx->preflight || strstr(name, "peer"))
		probe_str(ctx, &module->version, SYS_MODULE "/%s/version", name);
	if (ctx->preflight)
		return;
	probe_str(ctx, &module->srcversion, SYS_MODULE "/%s/srcversion", name);
	probe_str(ctx, &module->taint, SYS_MODULE "/%s/taint", name);
	read_params(ctx, module);
}

void probe_read_params(struct probe_context *ctx, const char *name)
{
	for_each_mut(module, &ctx->node->modules.loaded)
		if (str_is(module->name, name))
			read_params(ctx, module);
}

static bool has_loadable(struct probe_context *ctx, const struct names *names)
{
	for (const char *const *name = modules_of_interest; *name; name++)
		if (names_have(names, *name) &&
		    host_exists(ctx->host,
				arena_printf(ctx->arena, SYS_MODULE "/%s/initstate", *name)))
			return true;
	return false;
}

static void read_modules(struct probe_context *ctx)
{
	_cleanup_names_ struct names names = { 0 };
	struct modules_facts *modules = &ctx->node->modules;
	int rc = read_loaded(ctx);
	int sys = host_list(ctx->host, &names, SYS_MODULE);

	/* A kernel without loadable modules has no such file, and no module with a state. In a tree the file may be
	 * missing from the copy, and so may a module in /sys/module. */
	if (rc == -ENOENT && sys == 0 && (probe_has_libkmod(ctx) || !has_loadable(ctx, &names)))
		modules->loaded.state = FACT_KNOWN;
	else if (rc == -ENOENT)
		host_gap_note(ctx->host, LOADED_FILE, -ENODATA,
			      sys ? "neither it nor /sys/module is there"
				  : "not there, though modules were loaded");
	if (!is_known(modules->loaded))
		return;
	for (const char *const *name = modules_of_interest; *name; name++)
		if (names_have(&names, *name) && !node_module(ctx->node, *name))
			add_from_sysfs(ctx, *name);
	for_each_mut(module, &modules->loaded)
		if (module_is_of_interest(module->name.value))
			read_details(ctx, module);
	fact_list_sort(&modules->loaded, sizeof(modules->loaded.items[0]), compare_modules);
}

/* ---- at boot ---- */

static void add_at_boot(struct probe_context *ctx, struct span name, const char *file, size_t line)
{
	struct module_at_boot *module = LIST_ADD(ctx->arena, &ctx->node->modules.at_boot);
	char clean[MODULE_NAME_MAX];

	module_name_copy(name, clean);
	module->name = fact_str(ctx->arena, clean);
	module->file = fact_str(ctx->arena, file);
	module->line = fact_u64(line);
}

static int read_load_file(struct probe_context *ctx, const char *path)
{
	_cleanup_text_ struct text text = { 0 };
	struct span rest, line, name;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, "%s", path);

	if (rc)
		return rc;
	rest = text_span(&text);
	for (size_t number = 1; span_cut(&rest, '\n', &line); number++)
		if (module_load_line(line, &name))
			add_at_boot(ctx, name, path, number);
	return 0;
}

/* systemd-modules-load.service(8): modules_load=a,b */
static void read_load_argument(struct probe_context *ctx)
{
	_cleanup_text_ struct text text = { 0 };
	struct span rest, word, name;

	if (probe_read_cmdline(ctx, &text))
		return;
	rest = text_span(&text);
	while (span_word(&rest, &word)) {
		if (!span_starts(word, "modules_load=") && !span_starts(word, "modules-load="))
			continue;
		word.p += strlen("modules_load=");
		word.n -= strlen("modules_load=");
		while (span_cut(&word, ',', &name))
			if (name.n)
				add_at_boot(ctx, name, "/proc/cmdline", 1);
	}
}

/* Debian's /etc/modules counts through a link in modules-load.d, or by an init script that is not
 * systemd's. */
static bool links_to_etc_modules(struct probe_context *ctx, const struct conf_d *files)
{
	char target[PATH_MAX];

	for (size_t i = 0; i < files->count; i++)
		if (host_link(ctx->host, target, "%s", conf_d_path(ctx->arena, &files->items[i])) ==
			    0 &&
		    span_ends(span_of(target), "/modules"))
			return true;
	return false;
}

static void read_at_boot(struct probe_context *ctx)
{
	struct modules_facts *modules = &ctx->node->modules;
	struct conf_d *files = arena_alloc(ctx->arena, sizeof(*files));
	int error;

	if (probe_hides_host(ctx, "/etc/modules-load.d"))
		return;
	conf_d_list(ctx->host, ctx->arena,
		    conf_d_folders(ctx->host, ctx->arena, "", "modules-load.d"), ".conf", files);
	error = files->error;
	for (size_t i = 0; i < files->count; i++) {
		int rc = read_load_file(ctx, conf_d_path(ctx->arena, &files->items[i]));

		error = error ? error : rc == -ENOENT ? 0 : rc;
	}
	if (!links_to_etc_modules(ctx, files))
		read_load_file(ctx, "/etc/modules");
	read_load_argument(ctx);
	modules->at_boot.state = probe_state(error);
}

static void modules_run(struct probe_context *ctx)
{
	read_modules(ctx);
	read_at_boot(ctx);
}

/* Options and what the next boot loads say nothing about the running kernel. */
static void modules_run_preflight(struct probe_context *ctx)
{
	read_modules(ctx);
}

const struct probe probe_modules = {
	.name = "modules",
	.phase = PHASE_ALONE,
	PROBE_SECTION(modules),
	.run = modules_run,
	.preflight = { .run = modules_run_preflight },
};
