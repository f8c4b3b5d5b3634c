/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * setting.c - every setting has three states: the running value, what is configured on the root file system, and what
 * the initramfs gives if it is the one that loads the module at boot.
 */
#include "query/setting.h"

#include <string.h>
#include <strings.h>

#include "parse/kparam.h"
#include "parse/nvidia.h"
#include "query/node-find.h"

/* The one parameter whose two names differ (nv-reg.h, nv-procfs.c). */
#define PROFILING_PARAM "RmProfilingAdminOnly"
#define PROFILING_OPTION "NVreg_RestrictProfilingToAdminUsers"

const char *setting_option_name(const char *name, struct arena *arena)
{
	char *option;

	if (strcmp(name, PROFILING_PARAM) == 0)
		return PROFILING_OPTION;
	option = arena_alloc(arena, strlen("NVreg_") + strlen(name) + 1);
	stpcpy(stpcpy(option, "NVreg_"), name);
	return option;
}

const char *setting_param_name(const char *option)
{
	if (strcmp(option, PROFILING_OPTION) == 0)
		return PROFILING_PARAM;
	return starts_with(option, "NVreg_") ? option + 6 : NULL;
}

/* ---- names ---- */

static void add_name(const char *names[NVIDIA_NAMES_MAX + 1], const char *name)
{
	size_t n = 0;

	while (names[n]) {
		if (strcmp(names[n], name) == 0)
			return;
		n++;
	}
	if (n < NVIDIA_NAMES_MAX)
		names[n] = name;
}

/* With Debian's "install nvidia modprobe -i nvidia-current $CMDLINE_OPTS" the options of nvidia become arguments
 * after those of nvidia-current, and win in any order of the files. */
void setting_nvidia_names(const struct node *node, const char *names[NVIDIA_NAMES_MAX + 1])
{
	memset(names, 0, (NVIDIA_NAMES_MAX + 1) * sizeof(names[0]));
	for_each(f, &node->modules.files)
		if (str_is(f->name, "nvidia") && is_known(f->file_name) &&
		    strcmp(f->file_name.value, "nvidia") != 0)
			add_name(names, f->file_name.value);
	add_name(names, "nvidia");
}

bool setting_is_nvidia(const struct node *node, const char *module)
{
	const char *names[NVIDIA_NAMES_MAX + 1];

	setting_nvidia_names(node, names);
	for (size_t i = 0; names[i]; i++)
		if (strcmp(names[i], module) == 0)
			return true;
	return false;
}

const struct modprobe_assignment *setting_assignment(const struct modprobe_facts *modprobe,
						     const char *module, const char *param)
{
	const struct modprobe_assignment *last = NULL;

	for_each(a, &modprobe->assignments)
		if (str_is(a->module, module) && str_is(a->param, param))
			last = a;
	return last;
}

/* Returns true if any module has the parameter set. Usually none has, and the names of the driver's modules are not
 * needed. */
static bool is_assigned(const struct modprobe_facts *modprobe, const char *param)
{
	for_each(a, &modprobe->assignments)
		if (str_is(a->param, param))
			return true;
	return false;
}

const struct modprobe_assignment *setting_nvidia_assignment(const struct node *node,
							    const struct modprobe_facts *modprobe,
							    const char *param)
{
	const char *names[NVIDIA_NAMES_MAX + 1];
	const struct modprobe_assignment *found = NULL;

	if (!is_assigned(modprobe, param))
		return NULL;
	setting_nvidia_names(node, names);
	for (size_t i = 0; names[i]; i++) {
		const struct modprobe_assignment *a = setting_assignment(modprobe, names[i], param);

		found = a ? a : found;
	}
	return found;
}

/* ---- images ---- */

const struct initramfs_image *setting_next_initramfs(const struct node *node)
{
	const struct initramfs_image *running = NULL;

	for_each(image, &node->initramfs.images) {
		if (known_is(image->next, true))
			return image;
		if (known_is(image->running, true))
			running = image;
	}
	return running;
}

bool initramfs_has_module(const struct initramfs_image *image, const char *name)
{
	for_each(m, &image->modules)
		if (str_is(m->name, name))
			return true;
	return false;
}

/* Returns true if the NVIDIA driver is in it, under any name. */
static bool initramfs_has_nvidia(const struct node *node, const struct initramfs_image *image)
{
	const char *names[NVIDIA_NAMES_MAX + 1];

	setting_nvidia_names(node, names);
	for (size_t i = 0; names[i]; i++)
		if (initramfs_has_module(image, names[i]))
			return true;
	return false;
}

/* ---- the three views ---- */

/* IMAGE: that it is read in; NULL: on disk. */
static struct setting_value assigned(const struct modprobe_assignment *a, struct arena *arena,
				     const struct node *node, const struct initramfs_image *image)
{
	const struct modprobe_facts *modprobe = image ? &image->modprobe : &node->modprobe;
	struct setting_value v = { .state = FACT_ABSENT };
	const char *list;

	if (!a)
		return v;
	list = image ? fact_path(arena, "initramfs.images", image->path.value,
				 "modprobe.assignments")
		     : "modprobe.assignments";
	v.state = FACT_KNOWN;
	v.value = is_known(a->value) ? a->value.value : "";
	v.fact = fact_item_path(arena, list, (size_t)(a - modprobe->assignments.items), "value");
	return v;
}

static const struct modprobe_assignment *not_from_cmdline(const struct node *node,
							  const char *option)
{
	const struct modprobe_assignment *found = NULL;
	const char *names[NVIDIA_NAMES_MAX + 1];

	if (!is_assigned(&node->modprobe, option))
		return NULL;
	setting_nvidia_names(node, names);
	for (size_t i = 0; names[i]; i++)
		for_each(a, &node->modprobe.assignments)
			if (str_is(a->module, names[i]) && str_is(a->param, option) &&
			    !str_is(a->file, "/proc/cmdline"))
				found = a;
	return found;
}

/* nvidia.NVreg_X=value on the command line of the next boot; kmod reads it after all files, inside
 * an initramfs too. */
static struct setting_value next_argument(const struct node *node, const char *option,
					  struct arena *arena)
{
	struct setting_value v = { .state = FACT_ABSENT };
	struct kparam_iter iter;
	struct kparam param;
	const char *wanted;

	if (!is_known(node->cmdline.staged.text))
		return (struct setting_value){ 0 };
	iter = (struct kparam_iter){ .text = span_of(node->cmdline.staged.text.value) };
	if (!strstr(node->cmdline.staged.text.value, "nvidia."))
		return v;
	wanted = arena_printf(arena, "nvidia.%s", option);
	while (kparam_next(&iter, &param) && !kparam_is_end(&param)) {
		if (!kparam_name_is(param.name, wanted))
			continue;
		v = (struct setting_value){ FACT_KNOWN,
					    arena_strndup(arena, param.value.p, param.value.n),
					    "cmdline.staged.text" };
	}
	return v;
}

/* An unread file may be the one that wins. Those of packages do not revert an administrator's line, but set
 * what that file does not set. */
static bool is_decided(const struct node *node, const struct modprobe_assignment *a)
{
	bool own = a && (str_starts(a->file, "/etc/") || str_is(a->file, "/proc/cmdline"));

	return known_is(node->modprobe.complete, true) ||
	       (own && known_is(node->modprobe.etc_complete, true));
}

static void see_next(struct setting *s, const struct node *node, struct setting_value given,
		     struct arena *arena)
{
	const struct modprobe_assignment *in_files;

	s->next = s->configured;
	if (given.state == FACT_UNKNOWN || s->configured.state == FACT_UNKNOWN)
		return;
	in_files = not_from_cmdline(node, s->name);
	s->next = assigned(in_files, arena, node, NULL);
	if (!is_decided(node, in_files))
		s->next.state = FACT_UNKNOWN;
	if (given.state != FACT_KNOWN)
		return;
	s->changed_since_boot |= !s->configured.value ||
				 strcmp(s->configured.value, given.value) != 0;
	s->next = given;
}

static bool is_newer_than_boot(const struct node *node, struct fact_u64 mtime_s)
{
	return is_known(mtime_s) && is_known(node->os.boot_time_s) &&
	       mtime_s.value > node->os.boot_time_s.value;
}

static bool file_is_newer(const struct node *node, const struct modprobe_assignment *a)
{
	if (!a || !is_known(a->file))
		return false;
	for_each(f, &node->modprobe.files)
		if (str_is(f->path, a->file.value))
			return is_newer_than_boot(node, f->mtime_s);
	return false;
}

static void see_running(struct setting *s, const struct node *node, const char *name,
			struct arena *arena)
{
	const struct driver_param *param = node_param(node, name);

	s->running.state = node->driver.params.state;
	if (param) {
		s->running = (struct setting_value){
			.state = FACT_KNOWN,
			.value = param->value.value,
			.fact = fact_path(arena, "driver.params", name, "value"),
		};
	} else if (is_known(node->driver.params)) {
		s->running.state = FACT_ABSENT;
	}
}

static void see_early(struct setting *s, const struct node *node, struct setting_value given,
		      struct arena *arena)
{
	const struct initramfs_image *image = setting_next_initramfs(node);

	if (!image) {
		s->early_unknown = is_unknown(node->initramfs.images);
		return;
	}
	s->early_counts = initramfs_has_nvidia(node, image);
	s->early_unknown = !s->early_counts && !known_is(image->complete, true);
	if (!s->early_counts)
		return;
	/* Options that were in their file for a long time may have reached the image only now. */
	s->changed_since_boot |= is_newer_than_boot(node, image->mtime_s);
	s->early = assigned(setting_nvidia_assignment(node, &image->modprobe, s->name), arena, node,
			    image);
	/* An option that was not found in an incompletely read image may be in its rest. */
	if (s->early.state == FACT_ABSENT && !known_is(image->complete, true))
		s->early.state = FACT_UNKNOWN;
	if (given.state == FACT_KNOWN)
		s->early = given;
}

struct setting setting_nvreg(const struct node *node, const char *name, struct arena *arena)
{
	struct setting s = { .name = setting_option_name(name, arena) };
	const struct modprobe_assignment *a = setting_nvidia_assignment(node, &node->modprobe,
									s.name);
	struct setting_value given = next_argument(node, s.name, arena);

	see_running(&s, node, name, arena);
	s.configured = assigned(a, arena, node, NULL);
	if (!is_decided(node, a))
		s.configured.state = FACT_UNKNOWN;
	s.changed_since_boot = file_is_newer(node, a);
	see_next(&s, node, given, arena);
	see_early(&s, node, given, arena);
	return s;
}

const char *setting_quoted(struct arena *arena, const char *value)
{
	return value && *value ? arena_printf(arena, "\"%s\"", value) : "no value";
}

struct setting_outcome setting_compare(const struct setting *s, setting_is_good *wanted,
				       const void *user)
{
	const struct setting_value *boot = s->early_counts ? &s->early : &s->next;
	struct setting_outcome o = { .running_state = s->running.state };
	bool configured = s->next.state != FACT_UNKNOWN && wanted(s->next.value, user);

	o.configured_unknown = s->next.state == FACT_UNKNOWN;
	o.running_right = s->running.state != FACT_UNKNOWN && wanted(s->running.value, user);
	o.boot_unknown = boot->state == FACT_UNKNOWN || s->early_unknown;
	o.boot_right = boot->state != FACT_UNKNOWN && wanted(boot->value, user);
	if (!configured)
		o.missing = MISSING_CONFIGURATION;
	else if (!o.boot_right)
		o.missing = MISSING_REBUILD;
	else if (!o.running_right)
		o.missing = MISSING_RESTART;
	/* A value that only a stale initramfs has is lost when the image is rebuilt. */
	o.pending = !o.running_right && (configured || o.configured_unknown) && o.boot_right &&
		    !o.boot_unknown && s->changed_since_boot;
	return o;
}

/* ---- for people ---- */

const char *assignment_place(struct arena *arena, const struct modprobe_assignment *a)
{
	if (!is_known(a->line))
		return a->file.value;
	return arena_printf(arena, "%s:%llu", a->file.value, (unsigned long long)a->line.value);
}

static bool is_key(const struct registry_entry *entry, const char *key)
{
	return entry->key.n == strlen(key) && strncasecmp(entry->key.p, key, entry->key.n) == 0;
}

const char *setting_registry_keys(struct arena *arena, const struct node *node, const char *key,
				  const char *value)
{
	const struct modprobe_assignment *a = setting_nvidia_assignment(node, &node->modprobe,
									"NVreg_RegistryDwords");
	struct span rest = span_of(a && is_known(a->value) ? a->value.value : "");
	struct registry_entry entry;
	struct arena_text keys = { .arena = arena };

	while (registry_next(&rest, &entry))
		if (!entry.problem && !entry.skipped && !is_key(&entry, key))
			arena_add(&keys, "%.*s=%.*s;", SPAN_FMT(entry.key), SPAN_FMT(entry.value));
	arena_add(&keys, "%s=%s;", key, value);
	return arena_added(&keys);
}

const char *setting_nvidia_places(const struct node *node, const char *param, struct arena *arena)
{
	struct arena_list places = { 0 };

	for_each(a, &node->modprobe.assignments)
		if (is_known(a->module) && setting_is_nvidia(node, a->module.value) &&
		    str_is(a->param, param))
			arena_list(&places, arena, assignment_place(arena, a));
	return places.count > 1 ? arena_listed(&places) : NULL;
}
