/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modprobe-dry-run.c - decides whether modprobe would load a module, from the files (facts.loads, modprobe.d). */
#include "query/modprobe-dry-run.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/shell.h"
#include "parse/module.h"
#include "query/module-find.h"
#include "query/node-find.h"
#include "query/signature.h"

#define DEPTH_MAX 8 /* of install lines that lead to modules with install lines */

struct search {
	struct arena *arena;
	const struct node *node;
	unsigned int depth;
	const char *active[DEPTH_MAX]; /* modules whose install lines are being followed */
	size_t active_count;
};

static struct load_verdict yes(const char *module)
{
	return (struct load_verdict){ .answer = LOAD_YES, .module = module };
}

static struct load_verdict unsure(const char *module, const char *why, const char *fact)
{
	return (struct load_verdict){
		.answer = LOAD_UNKNOWN, .module = module, .why = why, .fact = fact
	};
}

static const char *module_fact(const struct search *s, const struct load_module *m,
			       const char *member)
{
	return fact_path(s->arena, "loads.modules", m->name.value, member);
}

static struct load_verdict no(const struct search *s, const struct load_module *m,
			      const char *member, const char *why, const char *cure)
{
	return (struct load_verdict){ .answer = LOAD_NO,
				      .module = m->name.value,
				      .why = why,
				      .cure = { cure },
				      .fact = module_fact(s, m, member) };
}

/* ---- signatures ---- */

/* The kernel's keys are unknown, but it has those of its own modules. */
static struct load_verdict check_signature(const struct search *s, const struct load_module *m)
{
	const struct loads_facts *loads = &s->node->loads;
	const char *fact, *why = signature_enforced_by(s->node, &fact);
	struct load_verdict verdict;

	if (!why)
		return yes(m->name.value);
	/* A kernel that refuses unsigned modules has signed ones of its own. */
	if (is_absent(m->signer) && is_known(loads->signer)) {
		verdict = no(s, m, "signer",
			     arena_printf(s->arena, "%s is not signed, and %s is in force",
					  m->path.value, why),
			     NULL);
		verdict.cure = signature_cure(s->arena, s->node, false);
		verdict.signature = true;
		return verdict;
	}
	if (is_known(m->signer) && is_known(loads->signer) &&
	    str_is(m->signer, loads->signer.value))
		return yes(m->name.value);
	return unsure(m->name.value,
		      arena_printf(s->arena,
				   "%s is in force, and the keys of the kernel were not read", why),
		      module_fact(s, m, "signer"));
}

/* ---- built for this kernel ---- */

/* same_magic(): with symbol versions the release does not count. */
static bool same_magic(const char *a, const char *b, bool versioned)
{
	if (versioned) {
		a += strcspn(a, " ");
		b += strcspn(b, " ");
	}
	return strcmp(a, b) == 0;
}

static const char *rebuild(const struct search *s, const struct load_module *m)
{
	return arena_printf(
		s->arena,
		"Rebuild %s for kernel %s and the modules that it uses (dkms autoinstall), or install "
		"the package built for them.",
		m->name.value, s->node->loads.kernel.value);
}

static struct load_verdict check_magic(const struct search *s, const struct load_module *m)
{
	const struct fact_str *own = &s->node->loads.vermagic;

	if (!is_known(*own) || is_unknown(m->vermagic))
		return unsure(m->name.value, "no module of the kernel's own could be read",
			      "loads.vermagic");
	if (is_absent(m->vermagic))
		return unsure(m->name.value,
			      arena_printf(s->arena,
					   "%s does not say for which kernel it was built",
					   m->path.value),
			      module_fact(s, m, "vermagic"));
	if (same_magic(m->vermagic.value, own->value, known_is(m->versioned, true)))
		return yes(m->name.value);
	return no(s, m, "vermagic",
		  arena_printf(s->arena, "%s was built for \"%s\", and the kernel is \"%s\"",
			       m->path.value, m->vermagic.value, own->value),
		  rebuild(s, m));
}

/* ---- symbols ---- */

static const char *why_refused(const struct search *s, const struct load_module *m,
			       const struct load_obstacle *o)
{
	const char *from = is_known(o->from) ? o->from.value : "";
	const char *who = strcmp(from, "vmlinux") == 0 ? "the kernel" : from;

	switch ((enum failure_kind)o->kind.value) {
	case FAILURE_SYMBOL_VERSION:
		return arena_printf(s->arena, "%s needs another version of %s than %s has",
				    m->path.value, o->symbol.value, who);
	case FAILURE_NAMESPACE:
		return arena_printf(s->arena,
				    "%s does not import the namespace of %s, which %s has",
				    m->path.value, o->symbol.value, who);
	case FAILURE_LICENSE:
		return arena_printf(
			s->arena,
			"%s (license %s) may not use %s of %s: the one is GPL-only, the other not",
			m->path.value, is_known(m->license) ? m->license.value : "not given",
			o->symbol.value, who);
	default:
		return arena_printf(s->arena, "%s needs %s, which nothing offers", m->path.value,
				    o->symbol.value);
	}
}

static struct load_verdict check_symbols(const struct search *s, const struct load_module *m)
{
	const struct load_obstacle *o = m->obstacles.items;

	/* modprobe does not read what a module says of its dependencies: their symbols decide. */
	if (m->missing.count && (m->obstacles.count || known_not(m->unchecked, 0)))
		return no(s, m, "missing",
			  arena_printf(
				  s->arena, "%s depends on %s, and kernel %s has no such module",
				  m->path.value, m->missing.items[0], s->node->loads.kernel.value),
			  arena_printf(s->arena, "Install %s for kernel %s, then run depmod -a.",
				       m->missing.items[0], s->node->loads.kernel.value));
	if (m->obstacles.count)
		return no(
			s, m, "obstacles", why_refused(s, m, o),
			known_is(o->kind, FAILURE_LICENSE)
				? "Install the open kernel modules of the driver, or a release of the module that "
				  "works with the proprietary ones."
				: rebuild(s, m));
	if (is_unknown(m->unchecked) || !was_read(m->obstacles))
		return unsure(m->name.value,
			      arena_printf(s->arena, "%s could not be read", m->path.value),
			      module_fact(s, m, "there"));
	if (m->unchecked.value == 0)
		return yes(m->name.value);
	return unsure(m->name.value,
		      arena_printf(s->arena,
				   "%" PRIu64
				   " symbol%s of %s not checked: there is no Module.symvers of "
				   "kernel %s (install its headers)",
				   m->unchecked.value, m->unchecked.value == 1 ? "" : "s",
				   m->name.value, s->node->loads.kernel.value),
		      module_fact(s, m, "unchecked"));
}

/* ---- one file ---- */

/* modprobe.blacklist= and blacklist lines do not keep a module from being loaded by name. */
static struct load_verdict check_blacklist(const struct search *s, const struct load_module *m)
{
	for_each(line, &s->node->modprobe.blacklist)
		if (str_is(line->text, "module_blacklist") && str_is(line->module, m->name.value))
			return (struct load_verdict){
				.answer = LOAD_NO,
				.module = m->name.value,
				.why = arena_printf(
					s->arena, "module_blacklist=%s on the kernel command line",
					m->name.value),
				.cure = { arena_printf(
						  s->arena,
						  "Remove %s from module_blacklist= on the kernel "
						  "command line.",
						  m->name.value),
					  THEN_REBOOT },
				.fact = "cmdline.running",
				.configured = true,
			};
	return yes(m->name.value);
}

/* Modules that register a character device under a fixed number (Linux 6.12.117: drivers/infiniband/core/user_mad.c,
 * uverbs_main.c; open-gpu-kernel-modules 595.45.04: kernel-open/common/inc/nv-chardev-numbers.h), and how the names
 * under that number begin. */
static const struct {
	const char *module;
	uint64_t major;
	const char *names;
} fixed_majors[] = {
	{ "ib_umad", 231, "infiniband" },
	{ "ib_uverbs", 231, "infiniband" },
	{ "nvidia", 195, "nvidia" },
};

static const struct device_major *foreign_owner(const struct node *node, const char *module)
{
	for (size_t i = 0; i < ARRAY_SIZE(fixed_majors); i++)
		for_each(owner, &node->dev.majors)
			if (strcmp(fixed_majors[i].module, module) == 0 &&
			    known_is(owner->major, fixed_majors[i].major) &&
			    is_known(owner->name) &&
			    !str_starts(owner->name, fixed_majors[i].names))
				return owner;
	return NULL;
}

static struct load_verdict check_major(const struct search *s, const struct load_module *m)
{
	const struct device_major *owner = foreign_owner(s->node, m->name.value);

	if (!owner || node_module(s->node, m->name.value))
		return yes(m->name.value);
	return (struct load_verdict){
		.answer = LOAD_NO,
		.module = m->name.value,
		.why = arena_printf(s->arena,
				    "its character device number, major %" PRIu64 ", belongs to %s",
				    owner->major.value, owner->name.value),
		.cure.text = arena_printf(
			s->arena,
			"Unload the module that registered %s, or give that one another major number. "
			"Then run modprobe %s.",
			owner->name.value, shell_name(m->name.value, "MODULE")),
		.fact = "dev.majors",
	};
}

static struct load_verdict check_file(const struct search *s, const struct load_module *m)
{
	static struct load_verdict (*const checks[])(const struct search *,
						     const struct load_module *) = {
		check_signature, check_blacklist, check_magic, check_symbols, check_major
	};
	struct load_verdict worst = yes(m->name.value);

	if (is_absent(m->path))
		return worst;
	if (known_is(m->there, false))
		return no(s, m, "there",
			  arena_printf(s->arena, "modules.dep names %s, and there is no such file",
				       m->path.value),
			  arena_printf(s->arena, "Run depmod -a %s.",
				       shell_name(s->node->loads.kernel.value, "RELEASE")));
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		struct load_verdict verdict = checks[i](s, m);

		if (verdict.answer == LOAD_NO)
			return verdict;
		if (verdict.answer == LOAD_UNKNOWN && worst.answer == LOAD_YES)
			worst = verdict;
	}
	return worst;
}

/* ---- install commands ---- */

static struct load_verdict check_name(struct search *s, const char *name, bool ignore_command);

static const struct modprobe_command *install_line(const struct node *node, const char *name)
{
	for_each(line, &node->modprobe.install)
		if (is_known(line->text) && fnmatch(line->module.value, name, 0) == 0)
			return line;
	return NULL;
}

static const char *line_place(const struct search *s, const struct modprobe_command *line)
{
	if (!is_known(line->line))
		return line->file.value;
	return arena_printf(s->arena, "%s:%" PRIu64, line->file.value, line->line.value);
}

static const char *line_fact(const struct search *s, const struct modprobe_command *line)
{
	return ITEM_FACT(s->arena, s->node, modprobe.install, line, text);
}

static bool is_program(struct span word, const char *name)
{
	const char *slash = word.n ? memrchr(word.p, '/', word.n) : NULL;

	if (slash)
		word = (struct span){ slash + 1, word.n - (size_t)(slash + 1 - word.p) };
	return span_is(word, name);
}

/* "modprobe -i nvidia-current $CMDLINE_OPTS" */
static struct load_verdict run_modprobe(struct search *s, struct span words)
{
	bool ignore = false;
	struct span word;

	while (span_word(&words, &word)) {
		if (span_is(word, "-i") || span_is(word, "--ignore-install"))
			ignore = true;
		else if (span_is(word, "-q") || span_is(word, "--quiet") || span_is(word, "-v") ||
			 span_is(word, "--verbose") || span_is(word, "-s") || span_is(word, "-qi"))
			ignore |= span_is(word, "-qi");
		else if (word.p[0] == '-' || word.p[0] == '$')
			break;
		else
			return check_name(s, arena_strndup(s->arena, word.p, word.n), ignore);
	}
	return unsure(NULL, "a command of modprobe that is not understood", NULL);
}

/* Up to the next ; && || or line break. */
static struct span cut_command(struct span *text)
{
	struct span command = { text->p, 0 };

	while (command.n < text->n && !strchr(";&|\n", text->p[command.n]))
		command.n++;
	text->p += command.n;
	text->n -= command.n;
	while (text->n && strchr(";&|\n", text->p[0])) {
		text->p++;
		text->n--;
	}
	return command;
}

/* The lines for the module of LINE: modprobe takes one, and without it another. */
static const char *lines_of(const struct search *s, const struct modprobe_command *line)
{
	struct arena_list places = { 0 };

	for_each(other, &s->node->modprobe.install)
		if (str_is(other->module, line->module.value))
			arena_list(&places, s->arena, line_place(s, other));
	return arena_printf(s->arena, "line%s %s", places.count > 1 ? "s" : "",
			    places.count ? arena_listed(&places) : line_place(s, line));
}

/* The last command that loads something, or refuses to, decides the result of the line. */
static struct load_verdict run_commands(struct search *s, const struct modprobe_command *line,
					const char *name)
{
	struct span text = span_of(line->text.value), word;
	struct load_verdict verdict =
		unsure(name, arena_printf(s->arena, "%s runs a command", line_place(s, line)),
		       line_fact(s, line));

	while (text.n) {
		struct span command = cut_command(&text);

		if (!span_word(&command, &word))
			continue;
		if (is_program(word, "modprobe"))
			verdict = run_modprobe(s, command);
		else if (is_program(word, "false") || is_program(word, "true") ||
			 span_is(word, ":"))
			verdict = (struct load_verdict){
				.answer = LOAD_NO,
				.module = name,
				.why = arena_printf(
					s->arena, "%s (\"install %s %.60s\") loads nothing",
					line_place(s, line), line->module.value, line->text.value),
				.cure.text = arena_printf(
					s->arena,
					"Remove the %s. If the initramfs has it too, rebuild the "
					"initramfs. Then run modprobe %s.",
					lines_of(s, line), shell_name(name, "MODULE")),
			};
	}
	return verdict;
}

/* A module that an active line loads is in the kernel when another command of the line needs it. */
static bool is_active(const struct search *s, const char *name)
{
	for (size_t i = 0; i < s->active_count; i++)
		if (strcmp(s->active[i], name) == 0)
			return true;
	return false;
}

static struct load_verdict run_line(struct search *s, const struct modprobe_command *line,
				    const char *name)
{
	struct load_verdict verdict;

	if (is_active(s, name))
		return yes(name);
	if (s->active_count == DEPTH_MAX)
		return unsure(name, "install lines of modprobe.d lead to one another",
			      line_fact(s, line));
	s->active[s->active_count++] = name;
	verdict = run_commands(s, line, name);
	s->active_count--;
	verdict.configured = true;
	if (verdict.answer == LOAD_NO && verdict.absent) {
		verdict.file = line->file.value;
		verdict.why = arena_printf(
			s->arena, "%s (\"install %s %.60s\") leads to %s, which has no file",
			line_place(s, line), line->module.value, line->text.value, verdict.module);
	}
	if (!verdict.fact || verdict.absent)
		verdict.fact = line_fact(s, line);
	return verdict;
}

/* ---- by name ---- */

static const struct load_module *find_module(const struct node *node, const char *name)
{
	return LIST_FIND(&node->loads.modules, name);
}

static struct load_verdict check_need(struct search *s, const struct load_module *by,
				      const char *name)
{
	const struct modprobe_command *line = install_line(s->node, name);
	const struct load_module *need = find_module(s->node, name);

	if (line)
		return run_line(s, line, name);
	if (need)
		return check_file(s, need);
	return unsure(name, arena_printf(s->arena, "%s was not looked at", name),
		      module_fact(s, by, "needs"));
}

#define NEEDS_MAX 64

/* The modules that are needed, directly or by one another. */
struct needs {
	const struct load_module *list[NEEDS_MAX];
	size_t count;
};

static void add_need(struct needs *needs, const struct load_module *m)
{
	for (size_t i = 0; i < needs->count; i++)
		if (needs->list[i] == m)
			return;
	if (m && needs->count < NEEDS_MAX)
		needs->list[needs->count++] = m;
}

/* A line of modules.dep has the needs of needs too, if depmod wrote it. */
static struct load_verdict check_needs(struct search *s, const struct load_module *m)
{
	struct load_verdict worst = yes(m->name.value);
	struct needs needs = { .list = { m }, .count = 1 };

	if (!was_read(m->needs))
		return unsure(m->name.value, "what it needs was not read",
			      module_fact(s, m, "needs"));
	for (size_t k = 0; k < needs.count; k++)
		for_each(name, &needs.list[k]->needs) {
			struct load_verdict verdict = check_need(s, needs.list[k], *name);

			if (verdict.answer == LOAD_NO)
				return verdict;
			if (verdict.answer == LOAD_UNKNOWN && worst.answer == LOAD_YES)
				worst = verdict;
			add_need(&needs, find_module(s->node, *name));
		}
	return worst;
}

/* The file may exist without depmod knowing it. */
static const char *cure_of_absence(const struct search *s, const char *name)
{
	const char *release = s->node->loads.kernel.value;
	const struct module_file *file = module_file_find(s->node, name, release);

	if (file && known_is(file->indexed, false))
		return arena_printf(s->arena, "Run depmod -a %s: modules.dep does not list %s.",
				    shell_name(release, "RELEASE"), file->path.value);
	if (starts_with(name, "nvidia"))
		return arena_printf(
			s->arena,
			"Install the driver's kernel modules for kernel %s (dkms autoinstall, or the "
			"package that has them).",
			release);
	return arena_printf(s->arena, "Install the module %s for kernel %s.", name, release);
}

static struct load_verdict no_such_module(const struct search *s, const char *name)
{
	struct load_verdict verdict = {
		.answer = LOAD_UNKNOWN, .module = name, .fact = "loads.modules", .absent = true
	};

	if (module_is_of_interest(name) || module_file_is_of_interest(name)) {
		verdict.answer = LOAD_NO;
		verdict.why = arena_printf(s->arena, "modules.dep of kernel %s has no module %s",
					   s->node->loads.kernel.value, name);
		verdict.cure.text = cure_of_absence(s, name);
	}
	return verdict;
}

static struct load_verdict check_module(struct search *s, const char *name, bool ignore_command)
{
	const struct modprobe_command *line = ignore_command ? NULL : install_line(s->node, name);
	const struct load_module *m = find_module(s->node, name);
	struct load_verdict verdict;

	if (!m && !line)
		return no_such_module(s, name);
	if (m && is_known(m->path)) {
		verdict = check_needs(s, m);
		if (verdict.answer == LOAD_NO)
			return verdict;
	} else {
		verdict = yes(name);
	}
	if (verdict.answer == LOAD_YES)
		verdict = line ? run_line(s, line, name) : check_file(s, m);
	else if (line && run_line(s, line, name).answer == LOAD_NO)
		verdict = run_line(s, line, name);
	else if (!line && check_file(s, m).answer == LOAD_NO)
		verdict = check_file(s, m);
	return verdict;
}

/* An alias of modprobe.d stands over the module of that name. */
static struct load_verdict check_name(struct search *s, const char *given, bool ignore_command)
{
	char name[MODULE_NAME_MAX];
	const struct modprobe_command *alias = NULL;
	struct load_verdict verdict;

	module_name_copy(span_of(given), name);
	if (s->depth++ == DEPTH_MAX)
		return unsure(given, "install lines of modprobe.d lead to one another", NULL);
	for_each(line, &s->node->modprobe.alias)
		if (is_known(line->text) && fnmatch(line->text.value, name, 0) == 0)
			alias = line;
	verdict = check_module(s, alias ? alias->module.value : arena_strdup(s->arena, name),
			       ignore_command);
	s->depth--;
	if (!alias)
		return verdict;
	verdict.configured = true;
	if (verdict.absent) {
		verdict.answer = LOAD_NO;
		verdict.file = alias->file.value;
		verdict.why = arena_printf(s->arena,
					   "%s (\"alias %s %s\") leads to %s, which has no file",
					   line_place(s, alias), alias->text.value,
					   alias->module.value, alias->module.value);
		verdict.cure.text = module_alias_cure(s->arena, s->node, name, alias->module.value,
						      line_place(s, alias));
	}
	return verdict;
}

struct load_verdict modprobe_dry_run(struct arena *arena, const struct node *node, const char *name)
{
	struct search s = { .arena = arena, .node = node };

	if (!was_read(node->loads.modules) || !known_is(node->modprobe.complete, true))
		return unsure(name, "the modules on disk or modprobe.d could not be read",
			      was_read(node->loads.modules) ? "modprobe.complete"
							    : "loads.modules");
	return check_name(&s, name, false);
}
