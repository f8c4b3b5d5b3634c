/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modprobe-option.c - options of the NVIDIA driver and of other modules: set, merged, removed. */
#include <string.h>
#include <strings.h>

#include "fixes/fix.h"
#include "parse/nvidia.h"
#include "query/gpus.h"
#include "query/module-find.h"
#include "query/node-find.h"
#include "query/nvreg.h"
#include "query/option-value.h"
#include "query/registry-keys.h"
#include "query/setting.h"

#define REGISTRY "NVreg_RegistryDwords"

/* ---- set ---- */

/* Arguments: module, parameter, value. */
static void set_option(struct fixing *f)
{
	const char *module = fix_arg(f, 0), *param = fix_arg(f, 1), *value = fix_arg(f, 2);

	if (fix_option(f, module, param, value))
		fix_does(f, strcmp(module, "nvidia") == 0 ? ACTIVATION_REBOOT : ACTIVATION_RELOAD,
			 "set %s=%s for %s", param, value, module);
}

static bool has_registry(const struct node *node)
{
	const struct driver_param *live = node_param(node, "RegistryDwords");

	for_each(a, &node->modprobe.assignments)
		if (str_is(a->param, REGISTRY))
			return true;
	return live && is_known(live->value) && *live->value.value;
}

/* Arguments: key, value. */
static void set_registry_key(struct fixing *f)
{
	const char *key = fix_arg(f, 0), *value = fix_arg(f, 1);

	if (fix_registry(f, key, value))
		fix_does(f, ACTIVATION_REBOOT, "set %s=%s in RegistryDwords%s", key, value,
			 has_registry(f->node) ? " and keep its other keys" : "");
}

/* Sets the option only if the GPU offers a larger BAR1; whether it fits depends on the board's windows. */
static void set_resizable_bar(struct fixing *f)
{
	const struct pci_device *d = node_pci(f->node, fix_subject(f));
	const struct pci_bar *bar = d ? gpu_bar1(d) : NULL;
	const struct driver_param *param = node_param(f->node, "EnableResizableBar");
	bool offered = false;

	if (!d || !bar)
		return;
	for_each(r, &d->rebar)
		offered |= r->index.value == bar->index.value && is_known(r->size_max_bytes) &&
			   is_known(bar->size_bytes) &&
			   r->size_max_bytes.value > bar->size_bytes.value;
	if (!offered) {
		fix_refuse(f,
			   "%s offers no larger BAR1; only a firmware update or another board can",
			   d->bdf.value);
		return;
	}
	if (param && !str_is(param->value, "0")) {
		fix_refuse(
			f,
			"NVreg_EnableResizableBar is %s already, and the driver found no address "
			"space for a larger BAR1; enable Above 4G Decoding and Resizable BAR in "
			"the firmware setup",
			param->value.value);
		return;
	}
	if (!fix_option(f, "nvidia", "NVreg_EnableResizableBar", "1"))
		return;
	fix_does(f, ACTIVATION_REBOOT, "set NVreg_EnableResizableBar=1 for nvidia");
	fix_costs(
		f,
		"The driver then requests the larger BAR1. If the bridges above have no address "
		"space for it, enable Above 4G Decoding and Resizable BAR in the firmware setup.");
}

/* ---- taken out ---- */

static void take_out(struct fixing *f, const char *param, const char *standard)
{
	if (fix_option_remove(f, "nvidia", param, standard))
		fix_does(f, ACTIVATION_REBOOT, "remove the option \"%s\"", param);
}

/* An entry of RegistryDwords with an ordinary parameter's name wins over it. */
static bool is_registry_key(struct fixing *f, const char *name)
{
	const struct modprobe_assignment *a = setting_nvidia_assignment(f->node, &f->node->modprobe,
									REGISTRY);
	struct registry_entry entry;

	return a && is_known(a->value) && registry_find(span_of(a->value.value), name, &entry);
}

/* Other keys of the same assignment stay. */
static void take_out_nvlink_keys(struct fixing *f)
{
	for (const char *const *key = registry_nvlink_keys; *key; key++)
		if (is_registry_key(f, *key) && !fix_registry(f, *key, NULL))
			return;
	fix_does(f, ACTIVATION_REBOOT,
		 "remove the keys that switch NVLink off from RegistryDwords");
}

/* The subject is the option, NVreg_X, or a key of RegistryDwords. */
static void take_out_subject(struct fixing *f)
{
	const char *subject = fix_subject(f);
	const char *name = setting_param_name(subject);

	name = name ? name : subject;
	if (strcmp(name, "RegistryDwords") == 0) {
		take_out_nvlink_keys(f);
		return;
	}
	if (strcmp(name, "RegistryDwordsPerDevice") == 0) {
		fix_refuse(
			f,
			"entries for single devices (RegistryDwordsPerDevice) are set on purpose; "
			"change them by hand");
		return;
	}
	if (is_registry_key(f, name)) {
		if (fix_registry(f, name, NULL))
			fix_does(f, ACTIVATION_REBOOT, "remove %s from RegistryDwords", name);
		return;
	}
	take_out(f, setting_option_name(name, f->arena), nvreg_default(name));
}

static void take_out_unknown(struct fixing *f)
{
	take_out(f, fix_subject(f), NULL);
}

/* The last value of the parameter that the kernel takes, or NULL. */
static const char *good_value(const struct fixing *f, const struct module_file *file,
			      const char *param)
{
	const char *value = NULL;

	for_each(a, &f->node->modprobe.assignments)
		if (option_file(f->node, a->module.value) == file && str_is(a->param, param) &&
		    is_known(a->value) && !option_refused(f->node, a, NULL))
			value = a->value.value;
	return value;
}

/* The subject is MODULE.PARAM. All lines for the parameter are removed from a file, so a valid
 * value is written again. */
static void take_out_refused(struct fixing *f)
{
	const char *subject = fix_subject(f), *dot = strchr(subject, '.');
	const char *module, *param, *value;

	if (!dot) {
		fix_refuse(f, "%s names no module and parameter", subject);
		return;
	}
	param = dot + 1;
	module = arena_strndup(f->arena, subject, (size_t)(dot - subject));
	value = good_value(f, option_file(f->node, module), param);
	if (!fix_option_remove(f, module, param, NULL) ||
	    (value && !fix_option(f, module, param, value)))
		return;
	fix_does(f, ACTIVATION_REBOOT, "remove the option %s%s%s", param,
		 value ? " and keep the value " : "", value ? value : "");
}

/* ---- made right ---- */

static bool takes_out(const struct finding *finding)
{
	const struct fix_call *call = finding_fix(finding);

	return call && strcmp(call->kind, "remove-option") == 0;
}

static bool is_nvlink_key(const char *name)
{
	for (const char *const *key = registry_nvlink_keys; *key; key++)
		if (strcasecmp(*key, name) == 0)
			return true;
	return false;
}

/* Returns true if another finding removes this key, or waits for its removal: this repair must not keep it. */
static bool is_unwanted(const struct fixing *f, const char *name)
{
	for_each(other, &f->report->findings) {
		const char *subject = other->answer.subject, *param;

		if (!finding_is_problem(other) || !subject || !takes_out(other))
			continue;
		param = setting_param_name(subject);
		param = param ? param : subject;
		if (strcmp(param, "RegistryDwords") == 0 ? is_nvlink_key(name)
							 : strcasecmp(param, name) == 0)
			return true;
	}
	return false;
}

/* A key that the driver does not have now is not switched on without a word. */
static bool refuse_nvlink_off(struct fixing *f, const char *key)
{
	const struct driver_param *live = node_param(f->node, "RegistryDwords");
	struct registry_entry entry;

	if (!live || registry_nvlink_off(live->value.value, &entry))
		return false;
	fix_refuse(
		f,
		"%s would switch NVLink off, and the running driver does not have it: decide that "
		"first",
		key);
	return true;
}

/* Keys that switch NVLink off are removed if another finding asks for that, so that both repairs agree. */
static void merge_registry(struct fixing *f)
{
	const char *off = registry_merge(f->node, f->arena).nvlink_off;
	bool unwanted = off && is_unwanted(f, arena_strndup(f->arena, off, strcspn(off, "=")));

	if (off && !unwanted && refuse_nvlink_off(f, off))
		return;
	for (const char *const *key = registry_nvlink_keys; unwanted && *key; key++)
		if (!fix_registry(f, *key, NULL))
			return;
	if (fix_registry(f, NULL, NULL))
		fix_does(f, ACTIVATION_REBOOT,
			 "write all valid keys of RegistryDwords in one assignment%s",
			 unwanted ? ", without those that switch NVLink off" : "");
}

/* Keeps the keys that are in effect now and that no file sets: the next load would lose them. */
static void keep_registry(struct fixing *f, const char *live)
{
	struct span rest = span_of(live);
	struct registry_entry entry;

	while (registry_next(&rest, &entry)) {
		const char *key = arena_strndup(f->arena, entry.key.p, entry.key.n);

		if (!entry.problem && !is_unwanted(f, key) && !is_registry_key(f, key) &&
		    !fix_registry(f, key, arena_strndup(f->arena, entry.value.p, entry.value.n)))
			return;
	}
	if (!f->repair->changes)
		fix_waits(f, ACTIVATION_REBOOT,
			  "the active keys that are not configured are wrong ones; they are gone "
			  "after the next boot");
	fix_does(f, ACTIVATION_NOW, "add the active keys of RegistryDwords to the configuration");
}

static void keep_live(struct fixing *f)
{
	const char *option = fix_subject(f);
	const char *name = setting_param_name(option);
	const struct driver_param *param = name ? node_param(f->node, name) : NULL;

	if (!param)
		return;
	if (is_unwanted(f, name))
		fix_refuse(f, "the active value is wrong; the repair of another finding removes %s",
			   option);
	else if (strcmp(option, REGISTRY) == 0)
		keep_registry(f, param->value.value);
	else if (fix_option(f, "nvidia", option, param->value.value))
		fix_does(f, ACTIVATION_NOW, "add %s=%s, the active value, to the configuration",
			 option, param->value.value);
}

/* ---- files and names ---- */

/* The file that masks a vendor's gets a name of its own, right after the vendor's. Then both count, and the
 * administrator's wins where they differ. */
static void unmask(struct fixing *f)
{
	const struct modprobe_file *masked = NULL;
	struct draft *old, *new;
	const char *path;

	for_each(file, &f->node->modprobe.files)
		if (str_is(file->path, fix_subject(f)))
			masked = file;
	if (!masked || !is_known(masked->masked_by))
		return;
	path = masked->masked_by.value;
	old = draft_open(f, path, "renamed, so that it hides no vendor file");
	if (!old)
		return;
	if (!starts_with(path, "/etc/") || !old->after.n) {
		fix_refuse(
			f,
			"%s is empty or lies outside /etc, and hides %s; decide by hand which one "
			"is right",
			path, masked->path.value);
		return;
	}
	path = arena_printf(f->arena, "%.*s_local.conf", (int)(strlen(path) - strlen(".conf")),
			    path);
	new = draft_open(f, path, "the content of the file that hid the vendor's");
	if (!new || new->after.p) {
		fix_refuse(f, "%s exists already", path);
		return;
	}
	draft_set(f, new, old->after);
	draft_remove(f, old);
	fix_touch(f, "nvidia");
	fix_touch(f, "nouveau");
	fix_does(f, ACTIVATION_REBOOT, "rename %s to %s, so that %s is read too",
		 masked->masked_by.value, path, masked->path.value);
}

/* NVreg_ options belong to the driver, under any name of its module. */
static void right_name(struct fixing *f)
{
	const struct modprobe_facts *m = fix_modprobe(f);
	bool exists = is_known(f->node->os.kernel) &&
		      module_file_find(f->node, fix_subject(f), f->node->os.kernel.value);

	for_each(a, &m->assignments) {
		const char *param = a->param.value;

		if (!str_is(a->module, fix_subject(f)))
			continue;
		if (!starts_with(param, "NVreg_")) {
			if (exists) /* its own option */
				continue;
			fix_refuse(f, "%s: it is not known which module %s is for",
				   assignment_place(f->arena, a), param);
			return;
		}
		if (starts_with(a->file.value, "/etc/") &&
		    !fix_option_cut(f, fix_subject(f), param, a->file.value))
			return;
		if (strcmp(param, REGISTRY) == 0 && is_known(a->value)) {
			keep_registry(f, a->value.value);
			f->repair->what = NULL;
		} else if (!fix_option(f, "nvidia", param,
				       is_known(a->value) ? a->value.value : "")) {
			return;
		}
	}
	fix_does(f, ACTIVATION_REBOOT, "move the options of %s to the driver's own name",
		 fix_subject(f));
}

/* ---- registered ---- */

const struct fix fix_set_option = {
	.name = "set-option",
	.title = "An option of a kernel module set in " OWN_MODPROBE
		 ", checked against the installed module and shown to win",
	.reloads_driver = true,
	.plan = set_option,
};

const struct fix fix_set_registry_key = {
	.name = "set-registry-key",
	.title = "A key of RegistryDwords set in " OWN_MODPROBE
		 ", merged with the keys of every file",
	.reloads_driver = true,
	.plan = set_registry_key,
};

const struct fix fix_set_resizable_bar = {
	.name = "set-resizable-bar",
	.title = "NVreg_EnableResizableBar=1 set in " OWN_MODPROBE
		 ", where the GPU offers a larger BAR1",
	.reloads_driver = true,
	.plan = set_resizable_bar,
};

const struct fix fix_remove_option = {
	.name = "remove-option",
	.title = "A driver option, or a key of RegistryDwords, removed from its file",
	.reloads_driver = true,
	.plan = take_out_subject,
};

const struct fix fix_remove_unknown_option = {
	.name = "remove-unknown-option",
	.title = "An option that the driver does not have, removed from its file",
	.reloads_driver = true,
	.plan = take_out_unknown,
};

const struct fix fix_remove_refused_value = {
	.name = "remove-refused-value",
	.title = "A value that the kernel refuses, removed from its file",
	.reloads_driver = true,
	.plan = take_out_refused,
};

const struct fix fix_merge_registry = {
	.name = "merge-registry",
	.title = "RegistryDwords written as one assignment in " OWN_MODPROBE
		 " with the keys of every file",
	.reloads_driver = true,
	.plan = merge_registry,
};

const struct fix fix_keep_live_option = {
	.name = "keep-live-option",
	.title = "The value of the running driver, written to " OWN_MODPROBE,
	.reloads_driver = true,
	.plan = keep_live,
};

const struct fix fix_unmask_file = {
	.name = "unmask-file",
	.title = "A modprobe.d file that hides a vendor's file, renamed so that both are read",
	.reloads_driver = true,
	.plan = unmask,
};

const struct fix fix_rename_option_module = {
	.name = "rename-option-module",
	.title = "Driver options written for another module name, moved to " OWN_MODPROBE,
	.reloads_driver = true,
	.plan = right_name,
};
