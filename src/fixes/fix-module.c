/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fix-module.c - loads modules, now and at boot. At boot by modules-load.d. If dracut makes the images, by a unit of
 * ours, because dracut copies modules-load.d and its modules into the image, which would then need the options too.
 * Never by softdep: the driver's own, in modules.softdep, comes first, and only the first counts.
 */
#include <string.h>

#include "base/array.h"
#include "base/shell.h"
#include "fixes/fix.h"
#include "parse/kparam.h"
#include "query/modprobe-dry-run.h"
#include "query/module-find.h"
#include "query/node-find.h"

#define MODULES_DEP_MAX (8u << 20)

const struct module_file *fix_module_file(const struct fixing *f, const char *module)
{
	const struct fact_str *kernel = &f->node->os.kernel;

	return is_known(*kernel) ? module_file_find(f->node, module, kernel->value) : NULL;
}

/* Returns the usual spelling: nvidia-peermem, but mlx5_ib. */
static const char *written(struct fixing *f, const char *module)
{
	char *name = arena_strdup(f->arena, module);

	for (char *c = name; *c && starts_with(name, "nvidia"); c++)
		if (*c == '_')
			*c = '-';
	return name;
}

/* Returns true if the facts list this module when it exists: of the kernel's own modules they have few. */
static bool is_in_facts(const char *module)
{
	static const char *const names[] = { "gdrdrv",	  "nv_peer_mem", "ib_core",
					     "ib_uverbs", "mlx5_core",	 "mlx5_ib" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], module) == 0)
			return true;
	return starts_with(module, "nvidia");
}

/* modules.dep has a line "kernel/.../NAME.ko[.xz]:" for each. */
static bool kernel_has(struct fixing *f, const char *module)
{
	_cleanup_text_ struct text text = { 0 };
	struct span rest, line;

	if (!f->host || !is_known(f->node->os.kernel) ||
	    host_read(f->host, &text, MODULES_DEP_MAX, "/lib/modules/%s/modules.dep",
		      f->node->os.kernel.value))
		return true;
	rest = text_span(&text);
	while (span_cut(&rest, '\n', &line)) {
		char *path = arena_strndup(f->scratch, line.p, span_find(line, ':'));
		char *name = strrchr(path, '/'), *dot = name ? strstr(name, ".ko") : NULL;

		if (!dot)
			continue;
		*dot = '\0';
		if (kparam_name_is(span_of(name + 1), module))
			return true;
	}
	return false;
}

static bool check_file(struct fixing *f, const char *module)
{
	const struct module_file *file = fix_module_file(f, module);

	if (file && known_is(file->indexed, false))
		return fix_refuse(f, "%s is not in modules.dep: see modules/depmod-stale",
				  file->path.value);
	if (file || (!is_in_facts(module) && kernel_has(f, module)))
		return true;
	if (!was_read(f->node->modules.files))
		return fix_refuse(f, "it could not be read whether %s is installed for this kernel",
				  module);
	return fix_refuse(f, "%s is not installed for kernel %s; install its package", module,
			  f->node->os.kernel.value);
}

/* The transaction never uses a shell, which an install line needs. Debian's install lines lead to the file's own name,
 * which has none. */
static bool check_install(struct fixing *f, const char *name)
{
	for_each(c, &f->node->modprobe.install)
		if (kparam_name_is(span_of(c->module.value), name))
			return fix_refuse(
				f,
				"%s:%llu loads %s with an install command, which this program "
				"does not run; run modprobe %s",
				c->file.value, (unsigned long long)c->line.value, name,
				shell_name(written(f, name), "NAME"));
	return true;
}

/* Returns true if the running driver is of another version than the file: the module can be loaded after a reboot. */
static bool is_for_next_boot(const struct fixing *f, const struct module_file *file)
{
	const struct fact_str *running = &f->node->driver.version;

	return file && str_starts(file->name, "nvidia") && is_known(file->version) &&
	       is_known(*running) && strcmp(file->version.value, running->value) != 0;
}

bool fix_load_now(struct fixing *f, const char *module)
{
	const struct module_file *file = fix_module_file(f, module);
	const char *name = module;
	struct load_verdict verdict;

	if (node_module(f->node, module))
		return true;
	if (!check_file(f, module))
		return false;
	if (is_for_next_boot(f, file)) {
		f->repair->activation = ACTIVATION_REBOOT;
		return true;
	}
	verdict = modprobe_dry_run(f->arena, f->node, module);
	if (verdict.answer == LOAD_NO)
		return fix_refuse(f, "%s would not load: %s", module, verdict.why);
	if (file && is_known(file->file_name))
		name = file->file_name.value;
	if (!check_install(f, name))
		return false;
	fix_step(f, PLAN_LOAD_MODULE, name, NULL);
	fix_does(f, ACTIVATION_NOW, "load %s", written(f, module));
	return true;
}

/* ---- at boot ---- */

static bool loaded_at_boot(const struct fixing *f, const char *module)
{
	for_each(m, &f->node->modules.at_boot)
		if (kparam_name_is(span_of(m->name.value), module))
			return true;
	return false;
}

static void say_at_boot(struct fixing *f, const struct draft *draft, const char *name)
{
	const char *now = arena_printf(f->arena, "load %s", name);

	if (!draft_differs(draft))
		return;
	/* It is also loaded now, and the last part says both. */
	if (f->repair->what && span_ends(span_of(f->repair->what), now))
		f->repair->what = arena_printf(f->arena, "%s, and load it again at every boot",
					       f->repair->what);
	else
		fix_does(f, ACTIVATION_NOW, "%s at every boot", now);
}

/* Another file loads it at boot. Loading it now would otherwise look like half of the repair. */
static void say_loaded_at_boot(struct fixing *f, const char *module, const char *name)
{
	const char *now = arena_printf(f->arena, "load %s", name);

	if (!f->repair->what || !span_ends(span_of(f->repair->what), now))
		return;
	for_each(m, &f->node->modules.at_boot)
		if (kparam_name_is(span_of(m->name.value), module)) {
			f->repair->what = arena_printf(f->arena, "%s (at boot %s loads it)",
						       f->repair->what, m->file.value);
			return;
		}
}

static bool load_by_unit(struct fixing *f, const char *name)
{
	const char *unit = arena_printf(f->arena, "nvnodecheck-%s.service", name);
	const struct service *service = node_service(f->node, unit);
	struct draft *draft =
		draft_open(f, arena_printf(f->arena, "/etc/systemd/system/%s", unit),
			   "loads the module at boot, after the root file system is mounted");

	if (!draft)
		return false;
	draft_begin(f, draft,
		    arena_printf(f->arena,
				 "[Unit]\n"
				 "Description=Load %s\n"
				 "After=systemd-modules-load.service openibd.service\n"
				 "\n"
				 "[Service]\n"
				 "Type=oneshot\n"
				 "RemainAfterExit=yes\n"
				 "ExecStart=/sbin/modprobe %s\n"
				 "\n"
				 "[Install]\n"
				 "WantedBy=multi-user.target\n",
				 name, name));
	say_at_boot(f, draft, name);
	if (draft_differs(draft))
		fix_step(f, PLAN_DAEMON_RELOAD, NULL, NULL);
	if (draft_differs(draft) || (service && !str_is(service->enabled, "enabled")))
		fix_step(f, PLAN_UNIT_ENABLE, unit, NULL);
	return true;
}

bool fix_load_at_boot(struct fixing *f, const char *module)
{
	const char *name = written(f, module);
	struct draft *draft;

	if (loaded_at_boot(f, module)) {
		say_loaded_at_boot(f, module, name);
		return true;
	}
	if (!check_file(f, module))
		return false;
	if (fix_has_dracut(f))
		return load_by_unit(f, name);
	draft = draft_open(f, OWN_MODULES_LOAD, "loads modules at boot");
	if (!draft)
		return false;
	draft_line(f, draft, name, name);
	say_at_boot(f, draft, name);
	return true;
}
