/* SPDX-License-Identifier: GPL-2.0-or-later */
/* txn-kernel.c - steps on the running kernel: modules, settings, device files. */
#include <errno.h>
#include <libkmod.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/library.h"
#include "txn/txn-private.h"
#include "txn/write-private.h"

/* ---- modules ---- */

#define FUNCTIONS(F)                        \
	F(kmod_new)                         \
	F(kmod_unref)                       \
	F(kmod_module_new_from_name)        \
	F(kmod_module_unref)                \
	F(kmod_module_get_name)             \
	F(kmod_module_get_refcnt)           \
	F(kmod_module_get_path)             \
	F(kmod_module_get_install_commands) \
	F(kmod_module_get_remove_commands)  \
	F(kmod_module_remove_module)        \
	F(kmod_module_probe_insert_module)

static struct {
	FUNCTIONS(LIBRARY_SLOT)
} lib;

/* libkmod would hand the command of an install line to a shell. */
static int no_shell(struct kmod_module *module, const char *command, void *user)
{
	struct txn *t = user;

	return txn_fail(
		t, -EPERM,
		"%s has an install line in modprobe.d (%.200s), which this program does not run; "
		"load the module by hand",
		lib.kmod_module_get_name(module), command);
}

static int with_module(struct txn *t, const char *name,
		       int (*act)(struct txn *t, struct kmod_module *module))
{
	struct kmod_module *module = NULL;
	struct kmod_ctx *ctx;
	int rc = LIBRARY_LOAD(LIBKMOD, FUNCTIONS);

	if (rc)
		return txn_fail(t, rc, "libkmod.so.2 is not installed");
	ctx = lib.kmod_new(NULL, NULL);
	rc = ctx ? lib.kmod_module_new_from_name(ctx, name, &module) : -ENOMEM;

	t->why = NULL;
	if (rc == 0) {
		TEST_POINT("loading or unloading a module");
		rc = act(t, module);
	}
	if (rc < 0 && !t->why)
		txn_fail(t, rc, "%s: %s", name, strerror(-rc));
	if (module)
		lib.kmod_module_unref(module);
	if (ctx)
		lib.kmod_unref(ctx);
	return rc < 0 ? rc : 0;
}

static int load_module(struct txn *t, struct kmod_module *module)
{
	return lib.kmod_module_probe_insert_module(module, 0, NULL, no_shell, t, NULL);
}

static int unload_module(struct txn *t, struct kmod_module *module)
{
	int refs = lib.kmod_module_get_refcnt(module);

	if (refs == -ENOENT)
		return 0;
	if (refs > 0)
		return txn_fail(t, -EBUSY, "%s is in use (%d references) and stays loaded",
				lib.kmod_module_get_name(module), refs);
	return lib.kmod_module_remove_module(module, KMOD_REMOVE_NOWAIT);
}

static int check_module(struct txn *t, struct kmod_module *module)
{
	const char *name = lib.kmod_module_get_name(module);

	if (!lib.kmod_module_get_path(module))
		return txn_fail(t, -ENOENT, "no file of the module %s is installed for this kernel",
				name);
	if (lib.kmod_module_get_install_commands(module) ||
	    lib.kmod_module_get_remove_commands(module))
		return txn_fail(
			t, -EPERM,
			"%s has an install or remove line in modprobe.d, which this program does "
			"not run",
			name);
	return 0;
}

int txn_load_module(struct txn *t, const char *name)
{
	return with_module(t, name, load_module);
}

int txn_unload_module(struct txn *t, const char *name)
{
	return with_module(t, name, unload_module);
}

int txn_check_module(struct txn *t, const char *name)
{
	return with_module(t, name, check_module);
}

static int prepare_module(struct txn *t, struct txn_step *step)
{
	char *name = arena_strdup(t->arena, step->subject);

	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	step->was = host_exists(t->host, arena_printf(t->arena, "/sys/module/%s", name)) ? "loaded"
											 : NULL;
	step->idle = (step->was != NULL) == (step->kind == PLAN_LOAD_MODULE);
	return 0;
}

static int run_load(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	(void)item;
	return step->was ? 0 : txn_load_module(t, step->subject);
}

static int run_unload(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	(void)item;
	return step->was ? txn_unload_module(t, step->subject) : 0;
}

/* A module in use stays loaded: an undo never ends jobs. */
static void undo_load(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	int rc = step->was ? 0 : txn_unload_module(t, step->subject);

	if (rc == -EBUSY || rc == -EAGAIN || rc == -EWOULDBLOCK)
		txn_set(item, TXN_STAYS, t->why);
	else
		txn_set_reverted(t, item, rc);
}

static void undo_unload(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	txn_set_reverted(t, item, step->was ? txn_load_module(t, step->subject) : 0);
}

/* ---- sysctl ---- */

static const char *read_sysctl(struct txn *t, const char *path)
{
	_cleanup_text_ struct text text = { 0 };
	struct span value;

	if (host_read(t->host, &text, HOST_FILE_MAX, "%s", path) < 0)
		return NULL;
	value = span_trim(text_span(&text));
	return arena_strndup(t->arena, value.p, value.n);
}

/* Blanks and tabs are one in settings of several numbers. */
static bool same_words(const char *a, const char *b)
{
	struct span x = span_of(a), y = span_of(b), u, v;
	bool more;

	do {
		more = span_word(&x, &u);
		if (more != span_word(&y, &v))
			return false;
		if (more && (u.n != v.n || memcmp(u.p, v.p, u.n) != 0))
			return false;
	} while (more);
	return true;
}

static int prepare_sysctl(struct txn *t, struct txn_step *step)
{
	const char *path, *value;

	if (!txn_form_split_sysctl(t->arena, step->subject, &path, &value))
		return txn_fail(t, -EINVAL, "\"%s\" is not name=value", step->subject);
	step->was = read_sysctl(t, path);
	if (!step->was)
		return txn_fail(t, -ENOENT, "this kernel has no readable %s", path);
	step->idle = same_words(step->was, value);
	return 0;
}

static int set_sysctl(struct txn *t, const char *path, const char *value)
{
	int rc = write_setting(&t->w, path, value);

	return rc ? txn_fail(t, rc, NULL) : 0;
}

static int run_sysctl(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	const char *path, *value;

	(void)item;
	if (!txn_form_split_sysctl(t->arena, step->subject, &path, &value))
		return txn_fail(t, -EINVAL, "\"%s\" is not name=value", step->subject);
	return step->idle ? 0 : set_sysctl(t, path, value);
}

static void undo_sysctl(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	const char *path, *value, *now;

	if (!txn_form_split_sysctl(t->arena, step->subject, &path, &value))
		return;
	now = read_sysctl(t, path);
	if (!now)
		txn_set(item, TXN_FAILED, arena_printf(t->arena, "%s cannot be read", path));
	else if (same_words(now, step->was))
		txn_set(item, TXN_RESTORED, NULL);
	else if (!same_words(now, value))
		txn_set(item, TXN_KEPT,
			arena_printf(t->arena, "%s is now %s and was kept", path, now));
	else
		txn_set_reverted(t, item, set_sysctl(t, path, step->was));
}

/* ---- device files ---- */

/* A node of another number is left from an earlier load of the module. A process that has it open keeps it, but it
 * opens no device any more. */
static int prepare_node(struct txn *t, struct txn_step *step)
{
	char target[PATH_MAX];
	struct host_stat st;
	struct dev_node node;

	if (!txn_form_split_node(t->arena, step->subject, &node))
		return txn_fail(t, -EINVAL, "\"%s\" is not PATH c MAJOR:MINOR MODE", step->subject);
	if (host_stat(t->host, &st, "%s", node.path) < 0)
		return 0;
	if (!S_ISCHR(st.mode) || host_link(t->host, target, "%s", node.path) == 0)
		return txn_fail(t, -EEXIST, "%s exists and is not a character device", node.path);
	step->idle = st.rdev == makedev(node.major, node.minor);
	if (step->idle)
		step->was = "there";
	else
		step->was = arena_printf(t->arena, "%s c %u:%u 0%o", node.path, major(st.rdev),
					 minor(st.rdev), (unsigned int)(st.mode & 0777));
	return 0;
}

/* The node that was in its place; false when there was none. */
static bool split_replaced(struct txn *t, const struct txn_step *step, struct dev_node *old)
{
	return step->was && txn_form_split_node(t->arena, step->was, old);
}

static int replace_node(struct txn *t, const struct dev_node *old, const struct dev_node *node)
{
	int rc = old ? write_drop_node(&t->w, old->path, makedev(old->major, old->minor)) : 0;

	if (rc == 0 && node)
		rc = write_make_node(&t->w, node->path, node->mode,
				     makedev(node->major, node->minor));
	return rc ? txn_fail(t, rc, NULL) : 0;
}

static int run_node(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	struct dev_node node, old;
	bool replaces = split_replaced(t, step, &old);

	(void)item;
	if ((step->was && !replaces) || !txn_form_split_node(t->arena, step->subject, &node))
		return 0;
	return replace_node(t, replaces ? &old : NULL, &node);
}

/* The old one exists, whatever was interrupted. */
static bool is_back(struct txn *t, const struct dev_node *old)
{
	struct host_stat st;

	return host_stat(t->host, &st, "%s", old->path) == 0 && S_ISCHR(st.mode) &&
	       st.rdev == makedev(old->major, old->minor);
}

static void undo_node(struct txn *t, struct txn_step *step, struct txn_item *item)
{
	struct dev_node node, old;
	bool replaced = split_replaced(t, step, &old);
	int rc = 0;

	if ((!step->was || (replaced && !is_back(t, &old))) &&
	    txn_form_split_node(t->arena, step->subject, &node))
		rc = replace_node(t, &node, replaced ? &old : NULL);
	if (rc == -ESTALE)
		txn_set(item, TXN_KEPT, t->why);
	else
		txn_set_reverted(t, item, rc);
}

const struct txn_step_ops txn_step_load_module = {
	.title = "module %s loaded",
	.live = true,
	.prepare = prepare_module,
	.run = run_load,
	.undo = undo_load,
};
const struct txn_step_ops txn_step_unload_module = {
	.title = "module %s unloaded",
	.live = true,
	.prepare = prepare_module,
	.run = run_unload,
	.undo = undo_unload,
};
const struct txn_step_ops txn_step_sysctl = {
	.title = "%s",
	.live = true,
	.prepare = prepare_sysctl,
	.run = run_sysctl,
	.undo = undo_sysctl,
};
const struct txn_step_ops txn_step_device_node = {
	.title = "device file %s",
	.live = true,
	.prepare = prepare_node,
	.run = run_node,
	.undo = undo_node,
};
