/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * units-files.c - units as the files on disk have them: what would be loaded, and whether something
 * starts it at boot (systemd.unit(5), systemctl(1) is-enabled).
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "parse/unit.h"
#include "probes/conf-d.h"
#include "probes/services/units.h"

#define FOLDERS_MAX 8 /* conf_d_folders() gives five */
#define LINKS_MAX 256 /* that enable one of these units */

/* A link that makes LINK.wants start UNIT, or that gives UNIT another name. */
struct enabling {
	const char *unit;
	const char *alias; /* that other name, or NULL */
	bool persistent;   /* in /etc, not in /run */
};

struct search {
	struct host *host;
	struct arena *arena;
	const char *const *folders;
	struct names names[FOLDERS_MAX];
	struct enabling links[LINKS_MAX];
	size_t count;
	int error;
};

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void note_error(struct search *s, int rc, const char *folder)
{
	/* /run is empty before the boot, so a tree without it lacks nothing. */
	if (rc && rc != -ENOENT && !(rc == -ENODATA && starts_with(folder, "/run")) && !s->error)
		s->error = rc;
}

/* ---- what enables ---- */

static void add_link(struct search *s, const char *unit, const char *alias, bool persistent)
{
	if (s->count == LINKS_MAX)
		return;
	s->links[s->count++] = (struct enabling){
		.unit = arena_strdup(s->arena, unit),
		.alias = alias ? arena_strdup(s->arena, alias) : NULL,
		.persistent = persistent,
	};
}

static bool holds_links(struct span name)
{
	return span_ends(name, ".wants") || span_ends(name, ".requires") ||
	       span_ends(name, ".upholds");
}

static bool matters(struct span unit)
{
	if (unit_is_peermem(unit))
		return true;
	for (const struct unit_of_interest *u = units_of_interest; u->unit; u++)
		if (span_is(unit, u->unit))
			return true;
	return false;
}

static void read_links(struct search *s, const char *folder, const char *name, bool persistent)
{
	_cleanup_names_ struct names names = { 0 };

	note_error(s, host_list(s->host, &names, "%s/%s", folder, name), folder);
	for (size_t i = 0; i < names.count; i++)
		if (matters(span_of(names.items[i])))
			add_link(s, names.items[i], NULL, persistent);
}

/* An alias: dcgm.service -> /usr/lib/systemd/system/nvidia-dcgm.service */
static void read_alias(struct search *s, const char *folder, const char *name, bool persistent)
{
	char target[PATH_MAX];

	if (host_link(s->host, target, "%s/%s", folder, name) == 0 &&
	    strcmp(last_part(target), name) != 0 && matters(span_of(last_part(target))))
		add_link(s, last_part(target), name, persistent);
}

static void read_folder(struct search *s, size_t i)
{
	const char *folder = s->folders[i];
	bool persistent = starts_with(folder, "/etc/");

	note_error(s, host_list(s->host, &s->names[i], "%s", folder), folder);
	/* Links in the vendor's folders are part of the vendor's design: static. */
	if (!persistent && !starts_with(folder, "/run/"))
		return;
	for (size_t k = 0; k < s->names[i].count; k++) {
		const char *name = s->names[i].items[k];

		if (holds_links(span_of(name)))
			read_links(s, folder, name, persistent);
		else if (span_ends(span_of(name), ".service"))
			read_alias(s, folder, name, persistent);
	}
}

/* ---- the unit's file ---- */

/* The folder that has it, or -1. */
static int find_file(const struct search *s, const char *name)
{
	for (size_t i = 0; s->folders[i]; i++)
		if (names_have(&s->names[i], name))
			return (int)i;
	return -1;
}

/* modprobe@nvidia_peermem.service -> modprobe@.service */
static const char *template_of(struct arena *arena, const char *unit)
{
	const char *at = strchr(unit, '@');
	const char *dot = strrchr(unit, '.');

	return at && dot && dot > at + 1
		       ? arena_printf(arena, "%.*s%s", (int)(at + 1 - unit), unit, dot)
		       : NULL;
}

/* The section [Install] of a unit's file. */
struct install {
	struct span text;
	bool rules; /* systemctl enable makes links */
	bool also;
};

/* An empty value removes the values before it. */
static struct install read_install(struct span text)
{
	static const char *const keys[] = { "WantedBy", "RequiredBy", "UpheldBy", "Alias" };
	struct install install = { .text = text };
	struct unit_reader reader = { .rest = text };
	struct unit_assignment a;
	unsigned int rules = 0;

	while (unit_next(&reader, &a)) {
		if (!span_is(a.section, "Install"))
			continue;
		for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++)
			if (span_is(a.key, keys[i]))
				rules = a.value.n ? rules | 1u << i : rules & ~(1u << i);
		install.also |= span_is(a.key, "Also") && a.value.n;
	}
	install.rules = rules;
	return install;
}

static bool has_alias(const struct install *install, const char *name)
{
	struct unit_reader reader = { .rest = install->text };
	struct unit_assignment a;
	struct span word;
	bool found = false;

	while (unit_next(&reader, &a)) {
		if (!span_is(a.section, "Install") || !span_is(a.key, "Alias"))
			continue;
		found &= a.value.n != 0;
		while (span_word(&a.value, &word))
			found |= span_is(word, name);
	}
	return found;
}

/* Returns the word for the links that enable the unit; "indirect" if it is enabled only under a name that its file
 * does not have (systemd 252, src/shared/install.c, unit_file_lookup_state()); or NULL. */
static const char *word_of_links(const struct search *s, const char *unit,
				 const struct install *install)
{
	const char *word = NULL;

	for (size_t i = 0; i < s->count; i++) {
		const struct enabling *link = &s->links[i];

		if (strcmp(link->unit, unit) != 0)
			continue;
		if (link->alias && !has_alias(install, link->alias))
			word = word ? word : "indirect";
		else if (link->persistent)
			return "enabled";
		else
			word = "enabled-runtime";
	}
	return word;
}

static void set_masked(struct search *s, struct service *service, const char *path)
{
	bool runtime = starts_with(path, "/run/");

	service->load = fact_str(s->arena, "masked");
	service->enabled = fact_str(s->arena, runtime ? "masked-runtime" : "masked");
}

static void read_file(struct search *s, struct service *service, const char *path)
{
	_cleanup_text_ struct text text = { 0 };
	struct install install;
	const char *word;
	char target[PATH_MAX];
	int rc;

	if (host_link(s->host, target, "%s", path) == 0 && strcmp(target, "/dev/null") == 0) {
		set_masked(s, service, path);
		return;
	}
	rc = host_read(s->host, &text, HOST_FILE_MAX, "%s", path);
	if (rc == 0 && text.size == 0) {
		set_masked(s, service, path);
		return;
	}
	/* A link to a file that is gone. */
	service->load = rc == -ENOENT ? fact_str(s->arena, "not-found")
			: rc == 0     ? fact_str(s->arena, "loaded")
				      : (struct fact_str){ 0 };
	install = read_install(text_span(&text));
	word = word_of_links(s, service->unit.value, &install);
	if (word && strcmp(word, "indirect") != 0)
		service->enabled = fact_str(s->arena, word);
	else if (s->error)
		return; /* what enables it, or hides it, may be in a folder that is not here */
	else if (rc == 0)
		service->enabled = fact_str(s->arena, word	      ? word
						      : install.rules ? "disabled"
						      : install.also  ? "indirect"
								      : "static");
	else if (rc == -ENOENT)
		service->enabled.state = FACT_ABSENT;
}

/* ---- init scripts ---- */

static void read_script(struct search *s, struct service *service, const char *script)
{
	struct host_stat stat;
	int rc = host_stat(s->host, &stat, "/etc/init.d/%s", script);

	if (rc)
		return;
	service->load = fact_str(s->arena, "loaded");
	service->enabled = fact_str(s->arena, "disabled");
	for (int level = 2; level <= 5; level++) {
		_cleanup_names_ struct names names = { 0 };

		/* Debian's place, and that of RHEL and SUSE. */
		if (host_list(s->host, &names, "/etc/rc%d.d", level) &&
		    host_list(s->host, &names, "/etc/rc.d/rc%d.d", level))
			continue;
		for (size_t i = 0; i < names.count; i++)
			if (unit_is_start_link(span_of(names.items[i]), script))
				service->enabled = fact_str(s->arena, "enabled");
	}
}

/* ---- all of them ---- */

static void read_unit(struct search *s, struct service *service, const char *script)
{
	const char *unit = service->unit.value, *template = template_of(s->arena, unit);
	const char *name = unit;
	int i = find_file(s, unit);

	if (i < 0 && template) {
		name = template;
		i = find_file(s, template);
	}
	if (i >= 0) {
		read_file(s, service, arena_printf(s->arena, "%s/%s", s->folders[i], name));
		return;
	}
	if (script)
		read_script(s, service, script);
	if (is_known(service->load) || s->error)
		return;
	service->load = fact_str(s->arena, "not-found");
	service->enabled.state = FACT_ABSENT;
}

static void add_peermem(struct search *s, struct services_facts *services)
{
	for (size_t i = 0; s->folders[i]; i++)
		for (size_t k = 0; k < s->names[i].count; k++)
			if (unit_is_peermem(span_of(s->names[i].items[k])))
				units_add(s->arena, services, span_of(s->names[i].items[k]));
	for (size_t i = 0; i < s->count; i++)
		if (unit_is_peermem(span_of(s->links[i].unit)))
			units_add(s->arena, services, span_of(s->links[i].unit));
}

/* With systemd installed, it has units of its own and /etc enables some of them: if one is missing, the copy is
 * incomplete. */
static void check_folders(struct search *s, const struct services_facts *services)
{
	size_t own = 0, enabling = 0;

	for (size_t i = 0; s->folders[i]; i++) {
		own += !starts_with(s->folders[i], "/run/") && !starts_with(s->folders[i], "/etc/")
			       ? s->names[i].count
			       : 0;
		enabling += starts_with(s->folders[i], "/etc/") ? s->names[i].count : 0;
	}
	if (!own != !enabling || (!own && !known_is(services->manager, false)))
		note_error(s, -ENODATA, s->folders[0]);
}

int units_read_files(struct host *host, struct arena *arena, struct services_facts *services)
{
	struct search *s = arena_alloc(arena, sizeof(*s));

	s->host = host;
	s->arena = arena;
	s->folders = conf_d_folders(host, arena, "systemd/", "system");
	for (size_t i = 0; s->folders[i]; i++)
		read_folder(s, i);
	check_folders(s, services);
	add_peermem(s, services);
	for (const struct unit_of_interest *u = units_of_interest; u->unit; u++)
		read_unit(s, units_add(arena, services, span_of(u->unit)), u->script);
	for_each_mut(service, &services->units)
		if (unit_is_peermem(span_of(service->unit.value)))
			read_unit(s, service, NULL);
	for (size_t i = 0; s->folders[i]; i++)
		names_free(&s->names[i]);
	return s->error;
}
