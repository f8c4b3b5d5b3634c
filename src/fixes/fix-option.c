/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fix-option.c - module options: added to our drop-in, or removed from every file. The name of the drop-in sorts after
 * nearly every other, and is not nvidia.conf: that one masks the vendor's file on RHEL and is a link of the
 * alternatives system on Debian.
 */
#include <fnmatch.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "fixes/fix.h"
#include "parse/kparam.h"
#include "parse/modprobe.h"
#include "parse/nvidia.h"
#include "query/modprobe-dry-run.h"
#include "query/node-find.h"
#include "query/setting.h"

#define WHY "options of kernel modules"
#define REGISTRY "NVreg_RegistryDwords"
/* kernel/params.c, param_set_charp(): the module does not load with a longer one. */
#define PARAM_STRING_MAX 1024

/* ---- names ---- */

/* Returns true if an assignment to A's module is one to MODULE, under one of its names. */
static bool same_module(const struct fixing *f, const struct modprobe_assignment *a,
			const char *module)
{
	const struct module_file *file;

	if (strcmp(module, "nvidia") == 0)
		return setting_is_nvidia(f->node, a->module.value);
	file = fix_module_file(f, module);
	return str_is(a->module, module) ||
	       (file && is_known(file->file_name) && str_is(a->module, file->file_name.value));
}

/* Debian's files have dashes in their names, and so have the lines that people write for them. */
static const char *with_dashes(struct fixing *f, const char *name)
{
	char *copy = arena_strdup(f->arena, name);

	for (char *c = copy; *c; c++)
		if (*c == '_')
			*c = '-';
	return copy;
}

static const struct modprobe_assignment *winner(const struct fixing *f,
						const struct modprobe_facts *m, const char *module,
						const char *param)
{
	const struct modprobe_assignment *last = NULL;

	if (strcmp(module, "nvidia") == 0)
		return setting_nvidia_assignment(f->node, m, param);
	for_each(a, &m->assignments)
		if (str_is(a->param, param) && same_module(f, a, module))
			last = a;
	return last;
}

/* ---- valid names and values ---- */

static bool has_parameter(const struct fixing *f, const char *module, const char *param, bool *told)
{
	const struct module_file *file = fix_module_file(f, module);
	const char *name = setting_param_name(param);

	*told = true;
	if (file && is_known(file->parameters) && file->parameters.count) {
		for (uint32_t i = 0; i < file->parameters.count; i++)
			if (strcmp(file->parameters.items[i], param) == 0)
				return true;
		return false;
	}
	if (strcmp(module, "nvidia") == 0 && is_known(f->node->driver.params))
		return name && node_param(f->node, name);
	/* nouveau's parameters are the kernel's, and old. */
	*told = strcmp(module, "nouveau") == 0;
	return *told;
}

static bool check_modprobe(struct fixing *f)
{
	const struct gap *gap = NULL;

	if (known_is(f->node->modprobe.complete, true))
		return true;
	for_each(g, &f->node->gaps)
		if (!gap && str_is(g->probe, "modprobe"))
			gap = g;
	return fix_refuse(
		f,
		"modprobe.d could not be read completely, and the rest could override this "
		"repair%s%s%s%s",
		gap ? " (" : "", gap ? gap->path.value : "", gap ? ": " : "",
		gap ? arena_printf(f->arena, "%s)", gap->why.value) : "");
}

static bool check_option(struct fixing *f, const char *module, const char *param, const char *value)
{
	bool told;

	if (!check_modprobe(f))
		return false;
	if (!has_parameter(f, module, param, &told))
		return fix_refuse(
			f,
			told ? "the installed %s has no parameter %s"
			     : "the parameters of %s could not be read, so %s was not checked",
			module, param);
	if (strlen(value) > PARAM_STRING_MAX)
		return fix_refuse(
			f,
			"%s would be longer than 1024 bytes, and the kernel would not load the "
			"module",
			param);
	if (strpbrk(value, "\"\n\\"))
		return fix_refuse(f, "the value of %s has a quote, backslash or line break in it",
				  param);
	return fix_initramfs_allows(f, module);
}

/* Arguments in an install line come after all options. */
static bool check_install_lines(struct fixing *f, const struct modprobe_facts *m,
				const char *module, const char *param)
{
	for_each(c, &m->install)
		if ((str_is(c->module, module) || setting_is_nvidia(f->node, c->module.value)) &&
		    strstr(c->text.value, param))
			return fix_refuse(
				f,
				"%s:%llu sets %s in an install line, which overrides all options; "
				"change that line by hand",
				c->file.value, (unsigned long long)c->line.value, param);
	return true;
}

/* ---- writing ---- */

static bool write_line(struct fixing *f, const char *name, const char *param, const char *value)
{
	struct draft *draft = draft_open(f, OWN_MODPROBE, WHY);
	const char *prefix = arena_printf(f->arena, "options %s %s=", name, param);

	if (!draft)
		return false;
	draft_line(f, draft, prefix, arena_printf(f->arena, "%s\"%s\"", prefix, value));
	return true;
}

/* Writes an option of the driver. On Debian nvidia is an install line that loads nvidia-current. Options under the
 * file's own name reach every load, also as a dependency; those under "nvidia" follow as arguments and win, so they
 * are written too if the node uses that name. */
static bool write_nvidia(struct fixing *f, const char *param, const char *value)
{
	const char *names[NVIDIA_NAMES_MAX + 1];
	const struct modprobe_facts *m = fix_modprobe(f);
	bool only_one, used;

	setting_nvidia_names(f->node, names);
	only_one = !names[1];
	for (size_t i = 0; names[i]; i++) {
		used = names[i + 1] || only_one || setting_assignment(m, names[i], param);
		if (used && !write_line(f, with_dashes(f, names[i]), param, value))
			return false;
	}
	return true;
}

static bool write_option(struct fixing *f, const char *module, const char *param, const char *value)
{
	const struct module_file *file = fix_module_file(f, module);
	const char *name = file && is_known(file->file_name) ? file->file_name.value : module;

	if (strcmp(module, "nvidia") == 0)
		return write_nvidia(f, param, value);
	return write_line(f, strcmp(name, module) == 0 ? name : with_dashes(f, name), param, value);
}

/* The kernel command line comes after all files. */
static bool clear_command_line(struct fixing *f, const char *module, const char *param)
{
	const struct modprobe_facts *m = fix_modprobe(f);

	for_each(a, &m->assignments)
		if (str_is(a->file, "/proc/cmdline") && str_is(a->param, param) &&
		    same_module(f, a, module) &&
		    !fix_argument_remove(f, arena_printf(f->arena, "%s.%s", a->module.value, param),
					 is_known(a->value) ? a->value.value : NULL))
			return false;
	return true;
}

static bool prove(struct fixing *f, const char *module, const char *param, const char *value)
{
	const struct modprobe_facts *m = fix_modprobe(f);
	const struct modprobe_assignment *a = winner(f, m, module, param);

	if (!check_install_lines(f, m, module, param))
		return false;
	if (a && str_is(a->value, value) && str_is(a->file, OWN_MODPROBE))
		return true;
	if (!a)
		return fix_refuse(f,
				  "a line of modprobe.d continues on the next line by mistake; see "
				  "boot/modprobe-conf-syntax");
	return fix_refuse(f,
			  "%s:%llu is read after " OWN_MODPROBE
			  " and sets %s to \"%s\", which would "
			  "override this repair; change that line first",
			  a->file.value, (unsigned long long)a->line.value, param,
			  is_known(a->value) ? a->value.value : "");
}

/* The plan itself keeps the module from loading: fix_block_module(). */
static bool is_blocked_by_plan(struct fixing *f, const char *module)
{
	for_each(line, &fix_modprobe(f)->install)
		if (str_is(line->file, OWN_MODPROBE) && str_is(line->module, module))
			return true;
	return false;
}

/* The option is right, and has no effect until the module loads again. */
static void warn_of_load(struct fixing *f, const char *module)
{
	struct load_verdict verdict = modprobe_dry_run(f->arena, f->node, module);

	if (verdict.answer != LOAD_NO || is_blocked_by_plan(f, module) ||
	    same_text(f->fails_to_load, module))
		return;
	f->fails_to_load = module;
	if (!f->repair->cost && f->finding->rule->cost)
		fix_costs(f, "%s", f->finding->rule->cost);
	fix_costs(f,
		  "modprobe %s will fail (%s). The option has no effect until this is corrected.",
		  module, verdict.why);
	fix_risks(f);
}

bool fix_option(struct fixing *f, const char *module, const char *param, const char *value)
{
	if (!check_option(f, module, param, value) || !clear_command_line(f, module, param) ||
	    !write_option(f, module, param, value) || !prove(f, module, param, value))
		return false;
	fix_touch(f, module);
	warn_of_load(f, module);
	return true;
}

void fix_touch(struct fixing *f, const char *module)
{
	for_each(t, &f->touched)
		if (strcmp(*t, module) == 0)
			return;
	*LIST_ADD(f->arena, &f->touched) = module;
}

/* ---- taking out ---- */

static size_t count_quotes(struct span s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += s.p[i] == '"';
	return n;
}

/* Returns true if no option is left: modprobe complains about "options nvidia" without options. The command can continue below
 * a backslash. */
static bool is_empty_command(struct span line)
{
	struct span word;

	if (!span_word(&line, &word) || !span_is(word, "options") || !span_word(&line, &word))
		return false;
	while (line.n && strchr("\\ \t\r\n", line.p[0]))
		line = (struct span){ line.p + 1, line.n - 1 };
	return !line.n;
}

/* Returns true if the line that ends at AT continues below. */
static bool continues(struct span text, size_t at)
{
	return at && at < text.n && text.p[at] == '\n' && text.p[at - 1] == '\\';
}

/* The whole command of which LINE is a line, without its line break. */
static struct span get_command(struct span text, struct span line)
{
	size_t begin = (size_t)(line.p - text.p), end = begin + line.n;

	while (begin && continues(text, begin - 1))
		for (begin--; begin && text.p[begin - 1] != '\n';)
			begin--;
	while (continues(text, end))
		for (end++; end < text.n && text.p[end] != '\n';)
			end++;
	return (struct span){ text.p + begin, end - begin };
}

static bool cut_line(struct fixing *f, struct draft *draft, uint64_t number, const char *param)
{
	struct span line = draft_get_line(draft, number), left;
	struct kparam_iter iter = { .text = line };
	struct kparam word;
	size_t at, end;

	if (count_quotes(line) % 2)
		return fix_refuse(f,
				  "%s:%llu: a quote is not closed on the line; correct it by hand",
				  draft->path, (unsigned long long)number);
	while (kparam_next(&iter, &word))
		if (kparam_name_is(word.name, param))
			break;
	if (!line.p || !kparam_name_is(word.name, param))
		return fix_refuse(f, "%s:%llu: %s could not be found on the line", draft->path,
				  (unsigned long long)number, param);
	at = (size_t)(line.p - draft->after.p);
	end = iter.at;
	while (word.offset && line.p[word.offset - 1] == ' ')
		word.offset--;
	draft_splice(f, draft, at + word.offset, end - word.offset, "");
	left = get_command(draft->after,
			   (struct span){ draft->after.p + at, line.n - (end - word.offset) });
	if (is_empty_command(left))
		draft_splice(f, draft, (size_t)(left.p - draft->after.p),
			     left.n + (left.p + left.n < draft->after.p + draft->after.n), "");
	return true;
}

/* Line numbers are those of the draft, if there is one. */
static const struct modprobe_assignment *next_in_file(struct fixing *f, const char *module,
						      const char *param, const char *path)
{
	const struct modprobe_facts *m = fix_modprobe(f);

	for_each(a, &m->assignments)
		if (str_is(a->file, path) && str_is(a->param, param) && same_module(f, a, module))
			return a;
	return NULL;
}

bool fix_option_cut(struct fixing *f, const char *module, const char *param, const char *file)
{
	struct draft *draft = draft_open(f, file, WHY);
	const struct modprobe_assignment *a;

	if (!draft)
		return false;
	while ((a = next_in_file(f, module, param, file)))
		if (!fix_has_room(f))
			return fix_refuse(f, "%s has too many lines with %s; correct it by hand",
					  file, param);
		else if (!cut_line(f, draft, a->line.value, param))
			return false;
	fix_touch(f, module);
	return true;
}

/* Files of packages and those that a generator writes come back with the next update. */
static bool is_for_editing(struct fixing *f, const char *path)
{
	_cleanup_text_ struct text text = { 0 };
	char target[PATH_MAX];

	if (!starts_with(path, "/etc/"))
		return false;
	if (!f->host)
		return true;
	if (host_link(f->host, target, "%s", path) == 0)
		return false;
	return host_read_head(f->host, &text, 512, "%s", path) != 0 ||
	       !span_search(text_span(&text), "file was generated by");
}

static bool remove_one(struct fixing *f, const struct modprobe_assignment *a, const char *module,
		       const char *standard)
{
	if (str_is(a->file, "/proc/cmdline"))
		return fix_argument_remove(
			f, arena_printf(f->arena, "%s.%s", a->module.value, a->param.value),
			is_known(a->value) ? a->value.value : NULL);
	if (is_for_editing(f, a->file.value))
		return fix_option_cut(f, module, a->param.value, a->file.value);
	if (standard)
		return fix_option(f, module, a->param.value, standard);
	return fix_refuse(f, "%s:%llu belongs to a package, which would restore it", a->file.value,
			  (unsigned long long)a->line.value);
}

bool fix_option_remove(struct fixing *f, const char *module, const char *param,
		       const char *standard)
{
	const struct modprobe_facts *m = fix_modprobe(f);

	if (!check_modprobe(f) || !fix_initramfs_allows(f, module))
		return false;
	for_each(a, &m->assignments)
		if (str_is(a->param, param) && same_module(f, a, module) &&
		    !(standard && str_is(a->value, standard)) &&
		    !remove_one(f, a, module, standard))
			return false;
	fix_touch(f, module);
	return true;
}

/* ---- RegistryDwords ---- */

struct key {
	struct span name;
	struct span value;
};

struct keys {
	LIST(struct key) list;
};

static struct span without_quotes(struct span s)
{
	while (s.n && (s.p[0] == '\'' || s.p[0] == '"'))
		s = (struct span){ s.p + 1, s.n - 1 };
	while (s.n && (s.p[s.n - 1] == '\'' || s.p[s.n - 1] == '"'))
		s.n--;
	return s;
}

static void put_key(struct fixing *f, struct keys *keys, struct span name, struct span value)
{
	struct key *key;

	for_each_mut(k, &keys->list)
		if (k->name.n == name.n && strncasecmp(k->name.p, name.p, name.n) == 0) {
			k->value = value;
			return;
		}
	key = LIST_ADD(f->arena, &keys->list);
	key->name = name;
	key->value = value;
}

/* Keys that the driver ignores are left out, because they have no effect to keep. */
static void add_keys(struct fixing *f, struct keys *keys, const char *text)
{
	struct span rest = span_of(text);
	struct registry_entry entry;
	uint64_t number;

	/* More keys than a value can have: it is too long then, and refused. */
	while (keys->list.count < PARAM_STRING_MAX && registry_next(&rest, &entry)) {
		struct span value = without_quotes(entry.value);

		if (!entry.skipped && span_u64(value, 0, &number) == 0)
			put_key(f, keys, without_quotes(entry.key), value);
	}
}

static const char *keys_text(struct fixing *f, const struct keys *keys, const char *without)
{
	struct arena_text text = { .arena = f->arena };

	for_each(k, &keys->list)
		if (!without || k->name.n != strlen(without) ||
		    strncasecmp(k->name.p, without, k->name.n) != 0)
			arena_add(&text, "%.*s=%.*s;", SPAN_FMT(k->name), SPAN_FMT(k->value));
	return arena_added(&text);
}

static bool is_faulty(const char *text)
{
	struct span rest = span_of(text);
	struct registry_entry entry;

	while (registry_next(&rest, &entry))
		if (entry.problem)
			return true;
	return false;
}

/* Other files keep their lines, which ours overrides, unless they are the fault. */
static bool cut_faulty(struct fixing *f, const struct modprobe_facts *m, const char *key)
{
	struct registry_entry entry;

	for_each(a, &m->assignments) {
		bool bad = str_is(a->param, REGISTRY) && is_known(a->value) &&
			   (is_faulty(a->value.value) ||
			    (key && registry_find(span_of(a->value.value), key, &entry)));

		if (bad && !str_is(a->file, "/proc/cmdline") && is_for_editing(f, a->file.value) &&
		    !fix_option_cut(f, "nvidia", REGISTRY, a->file.value))
			return false;
	}
	return true;
}

bool fix_registry(struct fixing *f, const char *key, const char *value)
{
	const struct modprobe_facts *m = fix_modprobe(f);
	struct keys keys = { 0 };
	const char *text;

	if (!check_modprobe(f))
		return false;
	for_each(a, &m->assignments)
		if (str_is(a->param, REGISTRY) && is_known(a->value) &&
		    setting_is_nvidia(f->node, a->module.value))
			add_keys(f, &keys, a->value.value);
	if (key && value)
		put_key(f, &keys, span_of(key), span_of(value));
	if (!cut_faulty(f, m, value ? NULL : key))
		return false;
	text = keys_text(f, &keys, value ? NULL : key);
	if (*text || winner(f, fix_modprobe(f), "nvidia", REGISTRY))
		return fix_option(f, "nvidia", REGISTRY, text);
	fix_touch(f, "nvidia");
	return fix_initramfs_allows(f, "nvidia");
}

/* ---- modules that must not be loaded ---- */

static bool does_nothing(const struct modprobe_command *install)
{
	static const char *const commands[] = { "/bin/false", "/usr/bin/false", "/bin/true",
						"/usr/bin/true" };

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (str_is(install->text, commands[i]))
			return true;
	return false;
}

/* If several install lines match a name, the first one is run; a line's name may be a pattern: libkmod,
 * kmod_module_get_install_commands(). */
static bool check_first_install(struct fixing *f, const char *module)
{
	for_each(c, &fix_modprobe(f)->install) {
		if (fnmatch(c->module.value, module, 0) != 0)
			continue;
		if (str_is(c->file, OWN_MODPROBE) || does_nothing(c))
			return true;
		return fix_refuse(
			f,
			"%s:%llu loads %s with an install command, which takes precedence; remove "
			"that line by hand",
			c->file.value, (unsigned long long)c->line.value, module);
	}
	return true;
}

bool fix_block_module(struct fixing *f, const char *module)
{
	struct draft *draft;
	const char *prefix;

	if (!check_modprobe(f) || !fix_initramfs_allows(f, module))
		return false;
	draft = draft_open(f, OWN_MODPROBE, WHY);
	if (!draft)
		return false;
	prefix = arena_printf(f->arena, "blacklist %s", module);
	draft_line(f, draft, prefix, prefix);
	prefix = arena_printf(f->arena, "install %s ", module);
	draft_line(f, draft, prefix, arena_printf(f->arena, "%s/bin/false", prefix));
	fix_touch(f, module);
	return check_first_install(f, module);
}
