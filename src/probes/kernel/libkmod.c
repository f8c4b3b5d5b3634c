/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libkmod.c - the modules that are loaded, as libkmod tells them. It lists /proc/modules, and takes state and
 * reference count from /sys/module (kmod 30, libkmod/libkmod-module.c). A process that sees a part of one of them
 * alone, as in some containers, gets two answers: programs that use libkmod and those that read the file then
 * disagree.
 */
#include <libkmod.h>
#include <string.h>

#include "base/library.h"
#include "parse/module.h"
#include "probes/probe.h"
#include "query/node-find.h"

#define SOURCE "libkmod"
#define KEY "modules in libkmod"

#define FUNCTIONS(F)                   \
	F(kmod_list_next)              \
	F(kmod_module_get_initstate)   \
	F(kmod_module_get_module)      \
	F(kmod_module_get_name)        \
	F(kmod_module_get_refcnt)      \
	F(kmod_module_new_from_loaded) \
	F(kmod_module_new_from_name)   \
	F(kmod_module_unref)           \
	F(kmod_module_unref_list)      \
	F(kmod_new)                    \
	F(kmod_set_log_priority)       \
	F(kmod_unref)

static struct {
	FUNCTIONS(LIBRARY_SLOT)
} lib;

/* ---- what libkmod tells ---- */

static struct module *find_loaded(struct modules_facts *modules, const char *name)
{
	for_each_mut(module, &modules->loaded)
		if (str_is(module->name, name))
			return module;
	return NULL;
}

static void tell_state(struct kmod_module *of, struct module *module)
{
	int state = lib.kmod_module_get_initstate(of), refcnt;

	if (state == KMOD_MODULE_LIVE)
		module->state = fact_enum(MODULE_LIVE);
	else if (state == KMOD_MODULE_COMING)
		module->state = fact_enum(MODULE_LOADING);
	else if (state == KMOD_MODULE_GOING)
		module->state = fact_enum(MODULE_UNLOADING);
	else if (state == -ENOENT)
		module->state.state = FACT_ABSENT;
	refcnt = is_known(module->state) ? lib.kmod_module_get_refcnt(of) : -1;
	if (refcnt >= 0)
		module->refcnt = fact_u64((uint64_t)refcnt);
}

/* State and count alone of the modules that this program is about: each is a file. */
static int tell_listed(struct kmod_ctx *kmod, struct modules_facts *answer, struct arena *arena)
{
	struct kmod_list *list = NULL, *entry;
	int rc = lib.kmod_module_new_from_loaded(kmod, &list);

	/* A kernel without loadable modules, or a process without its own /proc. */
	if (rc < 0)
		return rc == -ENOENT ? 0 : rc;
	for (entry = list; entry; entry = lib.kmod_list_next(list, entry)) {
		struct kmod_module *of = lib.kmod_module_get_module(entry);
		struct module *module = LIST_ADD(arena, &answer->loaded);

		module->name = fact_str(arena, lib.kmod_module_get_name(of));
		if (module_is_of_interest(module->name.value))
			tell_state(of, module);
		lib.kmod_module_unref(of);
	}
	lib.kmod_module_unref_list(list);
	return 0;
}

/* Answers for a module that is not listed but is in /sys/module. A built-in module has no initstate, and libkmod
 * reports it as being loaded. */
static void tell_unlisted(struct kmod_ctx *kmod, struct modules_facts *answer, struct arena *arena,
			  const char *name)
{
	struct kmod_module *of = NULL;
	int state;

	if (find_loaded(answer, name) || lib.kmod_module_new_from_name(kmod, name, &of))
		return;
	state = lib.kmod_module_get_initstate(of);
	if (state == KMOD_MODULE_LIVE || state == KMOD_MODULE_GOING) {
		struct module *module = LIST_ADD(arena, &answer->loaded);

		module->name = fact_str(arena, name);
		tell_state(of, module);
	}
	lib.kmod_module_unref(of);
}

static int libkmod_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	static const char *const no_configuration[] = { NULL };
	struct modules_facts *answer = facts;
	struct kmod_ctx *kmod;
	int rc = LIBRARY_LOAD(LIBKMOD, FUNCTIONS);

	(void)host;
	(void)user;
	if (rc)
		return rc;
	/* A context without a module folder: no file of modules is needed. */
	kmod = lib.kmod_new("/dev/null", no_configuration);
	if (!kmod)
		return -ENOMEM;
	lib.kmod_set_log_priority(kmod, 0);
	rc = tell_listed(kmod, answer, arena);
	for (const char *const *name = modules_of_interest; rc == 0 && *name; name++)
		tell_unlisted(kmod, answer, arena, *name);
	lib.kmod_unref(kmod);
	if (rc == 0)
		answer->loaded.state = FACT_KNOWN;
	return rc;
}

/* ---- held against the files ---- */

static struct fact_enum state_of(const struct module *module)
{
	return module ? module->state : FACT_NONE(fact_enum);
}

static bool differs(struct fact_enum kmod, struct fact_enum file)
{
	if (is_unknown(kmod) || is_unknown(file))
		return false;
	return kmod.state != file.state || (is_known(kmod) && kmod.value != file.value);
}

/* A built-in module is no entry of either list. */
static void compare_one(struct probe_context *ctx, struct modules_facts *answer, const char *name)
{
	struct modules_facts *modules = &ctx->node->modules;
	struct module *told = find_loaded(answer, name), *read = find_loaded(modules, name);
	struct fact_enum file = state_of(read);
	struct module_view *view;

	if (read && known_is(read->state, MODULE_BUILTIN))
		return;
	/* The state comes from /sys/module, because /proc/modules does not list the module. */
	if (read && is_unknown(read->holders))
		file = FACT_NONE(fact_enum);
	if (differs(state_of(told), file)) {
		view = LIST_ADD(ctx->arena, &modules->views);
		view->name = fact_str(ctx->arena, name);
		view->libkmod = state_of(told);
		view->file = file;
	}
	if (told && read && is_known(told->state)) {
		read->state = told->state;
		read->refcnt = is_known(told->refcnt) ? told->refcnt : read->refcnt;
	}
}

bool probe_has_libkmod(struct probe_context *ctx)
{
	return host_kind(ctx->host) == HOST_LIVE || host_has_recorded(ctx->host, KEY);
}

static void libkmod_run(struct probe_context *ctx)
{
	struct modules_facts answer = { 0 };
	int rc = -ENODATA;

	/* A tree says what a capture of it would. */
	if (host_kind(ctx->host) == HOST_TREE)
		host_gap_note(ctx->host, KEY, rc, NULL);
	else
		rc = host_query(ctx->host, KEY, &modules_facts_desc, &answer, ctx->arena,
				libkmod_ask, NULL);
	if (rc)
		host_gap_note(ctx->host, SOURCE, rc,
			      rc == -ENODATA ? "only a running host can be asked through libkmod"
					     : NULL);
	/* Without an answer of libkmod there is nothing to compare. */
	if (rc == -ENODATA)
		ctx->node->modules.views.state = FACT_ABSENT;
	if (rc || !is_known(ctx->node->modules.loaded))
		return;
	ctx->node->modules.views.state = FACT_KNOWN;
	for (const char *const *name = modules_of_interest; *name; name++)
		compare_one(ctx, &answer, *name);
}

/* After modules, whose list it corrects. */
const struct probe probe_libkmod = {
	.name = "libkmod",
	.phase = PHASE_SECOND,
	.is_running = true,
	PROBE_SECTION(modules.views),
	.run = libkmod_run,
};
