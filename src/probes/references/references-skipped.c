/* SPDX-License-Identifier: GPL-2.0-or-later */
/* references-skipped.c - files that no program reads because of their names: in folders whose reader takes only names
 * that end in .conf, .rules or another way, and in a folder of drop-ins without .d. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "probes/references/references.h"
#include "probes/services/units.h"

#define UNIT_FOLDER "/etc/systemd/system/"

/* systemd: conf_files_list() with this suffix; udev(7); pam_limits(8); ld.so.conf of glibc's packages includes *.conf;
 * CDI: pkg/cdi/spec-dirs.go, scanSpecDirs(). modprobe.d has a rule of its own. */
static const struct folder {
	const char *path, *reader, *ending, *other; /* OTHER: it takes this too, or NULL */
} folders[] = {
	{ "/etc/modules-load.d", "systemd-modules-load", ".conf", NULL },
	{ "/etc/sysctl.d", "systemd-sysctl", ".conf", NULL },
	{ "/etc/udev/rules.d", "udev", ".rules", NULL },
	{ "/etc/security/limits.d", "pam_limits", ".conf", NULL },
	{ "/etc/ld.so.conf.d", "ldconfig", ".conf", NULL },
	{ "/etc/cdi", "CDI", ".yaml", ".json" },
};

/* Copies, and files that are switched off on purpose. */
static bool is_set_aside(struct span name)
{
	static const char *const words[] = { "bak",  "old",    "orig",	   "save",   "disable",
					     "dpkg", "rpm",    "README",   "readme", "example",
					     "swp",  "sample", "template", "backup", "off" };

	if (!name.n || name.p[0] == '.' || name.p[0] == '#' || name.p[name.n - 1] == '~')
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (span_search(name, words[i]))
			return true;
	return false;
}

/* Returns true if a line that is no comment has one of our words. */
static bool is_about_ours(struct span text)
{
	static const char *const words[] = { "nvidia", "nouveau",	 "gdr",	      "mlx",
					     "rdma",   "infiniband",	 "memlock",   "nofile",
					     "Limit",  "numa_balancing", "hugepages", "peermem",
					     "cuda",   "arp_",		 "rp_filter", "ib_uverbs",
					     "MEMLOCK" };
	struct span line;

	while (span_cut(&text, '\n', &line)) {
		line = span_trim(line);
		if (!line.n || strchr("#;/", line.p[0]))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(words); i++)
			if (span_search(line, words[i]))
				return true;
	}
	return false;
}

static void look_at(struct host *host, struct references_facts *answer, struct arena *arena,
		    const struct folder *folder, const char *name)
{
	_cleanup_text_ struct text text = { 0 };
	const char *path = arena_printf(arena, "%s/%s", folder->path, name);
	struct skipped_file *file;
	int rc = host_read(host, &text, HOST_FILE_MAX, "%s", path);

	/* A folder, for one. What cannot be read says nothing of itself. */
	if (rc == -EISDIR || rc == -ENOENT)
		return;
	if (rc) {
		answer->complete = fact_bool(false);
		return;
	}
	if (!is_about_ours(text_span(&text)))
		return;
	file = LIST_ADD(arena, &answer->skipped);
	file->path = fact_str(arena, path);
	file->reader = fact_str(arena, folder->reader);
	file->ending = fact_str(arena, folder->ending);
}

/* ALL: none of the names is read. */
static void look_into(struct host *host, struct references_facts *answer, struct arena *arena,
		      const struct folder *folder, bool all)
{
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(host, &names, "%s", folder->path);

	if (rc && rc != -ENOENT && rc != -ENODATA && rc != -ENOTDIR)
		answer->complete = fact_bool(false);
	for (size_t i = 0; i < names.count; i++) {
		struct span name = span_of(names.items[i]);
		bool read = span_ends(name, folder->ending) ||
			    (folder->other && span_ends(name, folder->other));

		if (all ? read : !read && !is_set_aside(name))
			look_at(host, answer, arena, folder, names.items[i]);
	}
}

/* slurmd.service.d, and slurmd.service, which is no folder of drop-ins. */
static void look_at_unit(struct host *host, struct references_facts *answer, struct arena *arena,
			 const char *unit)
{
	struct folder folder = { arena_printf(arena, UNIT_FOLDER "%s.d", unit), "systemd", ".conf",
				 NULL };
	struct host_stat stat;

	look_into(host, answer, arena, &folder, false);
	folder.path = arena_printf(arena, UNIT_FOLDER "%s", unit);
	if (host_stat(host, &stat, "%s", folder.path) == 0 && S_ISDIR(stat.mode))
		look_into(host, answer, arena, &folder, true);
}

static int references_skipped_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct references_facts *answer = facts;

	(void)user;
	answer->skipped.state = FACT_KNOWN;
	answer->complete = fact_bool(true);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		look_into(host, answer, arena, &folders[i], false);
	for (const struct unit_of_interest *u = units_of_interest; u->unit; u++)
		look_at_unit(host, answer, arena, u->unit);
	return 0;
}

/* If a folder or file could not be read, the list is not known. */
void references_find_skipped(struct probe_context *ctx)
{
	struct references_facts *all = &ctx->node->references, answer = { 0 };

	if (host_query(ctx->host, "files that no program reads", &references_facts_desc, &answer,
		       ctx->arena, references_skipped_ask, NULL))
		return;
	if (answer.skipped.count || known_is(answer.complete, true))
		all->skipped.state = answer.skipped.state;
	for_each(f, &answer.skipped)
		*LIST_ADD(ctx->arena, &all->skipped) = *f;
}
