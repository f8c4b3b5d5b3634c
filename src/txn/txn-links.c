/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn-links.c - units enabled and disabled: links in /etc/systemd/system, each of which is a file of the transaction.
 * systemctl disable removes every link to a unit, also those that an administrator made, and enable only makes the
 * links of the unit's [Install] section. So the links are made and removed here, and restored one by one
 * (systemd.unit(5), systemctl(1)).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/shell.h"
#include "parse/unit.h"
#include "probes/conf-d.h"
#include "txn/txn-private.h"

#define LINKS "/etc/systemd/system"

/* Refuses a change whose links would have to be guessed; systemctl knows all of them. */
static int by_hand(struct txn *t, const struct txn_step *step, const char *why)
{
	return txn_fail(t, -EPERM, "%s: %s; run systemctl %s %s by hand", step->subject, why,
			step->kind == PLAN_UNIT_ENABLE ? "enable" : "disable",
			shell_name(step->subject, "UNIT"));
}

/* ---- the unit's file ---- */

struct unit_file {
	const char *path;
	struct span text;
};

/* A file that the plan adds or removes counts, not the present state. */
static const struct txn_file *planned(const struct txn *t, const char *path)
{
	for_each(file, &t->files)
		if (strcmp(file->kept.path, path) == 0)
			return file;
	return NULL;
}

/* 1: found; 0: not there; negative: refused. */
static int read_unit_file(struct txn *t, const struct txn_step *step, const char *path,
			  struct unit_file *unit)
{
	const struct txn_file *file = planned(t, path);
	_cleanup_text_ struct text text = { 0 };
	char target[PATH_MAX];
	int rc;

	unit->path = path;
	if (file) {
		unit->text = file->bytes;
		return file->bytes.p != NULL;
	}
	if (host_link(t->host, target, "%s", path) == 0)
		return strcmp(target, "/dev/null") == 0
			       ? txn_fail(t, -EPERM,
					  "%s is masked; if it should run: systemctl unmask %s",
					  step->subject, shell_name(step->subject, "UNIT"))
			       : by_hand(t, step, "its unit file is a symbolic link");
	rc = host_read(t->host, &text, HOST_FILE_MAX, "%s", path);
	if (rc)
		return rc == -ENOENT || rc == -ENODATA
			       ? 0
			       : txn_fail(t, rc, "%s: %s", path, host_error_word(rc));
	unit->text = (struct span){ arena_strndup(t->arena, text.data, text.size), text.size };
	return 1;
}

static const char *const *unit_folders(struct txn *t)
{
	return conf_d_folders(t->host, t->arena, "systemd/", "system");
}

/* The first in systemd's order. */
static int find_unit(struct txn *t, const struct txn_step *step, struct unit_file *unit)
{
	const char *const *folders = unit_folders(t);
	int rc = 0;

	for (size_t i = 0; rc == 0 && folders[i]; i++)
		rc = read_unit_file(
			t, step, arena_printf(t->arena, "%s/%s", folders[i], step->subject), unit);
	return rc;
}

static bool has_install(struct span text)
{
	struct unit_reader reader = { .rest = text };
	struct unit_assignment a;

	while (unit_next(&reader, &a))
		if (span_is(a.section, "Install"))
			return true;
	return false;
}

/* systemd reads [Install] of drop-ins as well. */
static int check_drop_ins(struct txn *t, const struct txn_step *step)
{
	const char *const *folders = unit_folders(t);

	for (size_t i = 0; folders[i]; i++) {
		_cleanup_names_ struct names names = { 0 };

		if (host_list(t->host, &names, "%s/%s.d", folders[i], step->subject))
			continue;
		for (size_t n = 0; n < names.count; n++) {
			_cleanup_text_ struct text text = { 0 };

			if (host_read(t->host, &text, HOST_FILE_MAX, "%s/%s.d/%s", folders[i],
				      step->subject, names.items[n]) ||
			    has_install(text_span(&text)))
				return by_hand(t, step,
					       "it has a drop-in with an [Install] section");
		}
	}
	return 0;
}

/* ---- links to make ---- */

static bool leads_to(const struct file_seen *link, const char *unit)
{
	const char *slash = link->there ? strrchr(link->link, '/') : NULL;

	return link->there && strcmp(slash ? slash + 1 : link->link, unit) == 0;
}

static void find_new_folder(struct txn *t, struct kept *kept, const char *folder)
{
	if (!write_folder_exists(&t->w, folder))
		*LIST_ADD(t->arena, &kept->folders) = folder;
}

static int add_link(struct txn *t, struct txn_step *step, const char *folder, const char *name,
		    const char *target)
{
	const char *path = arena_printf(t->arena, "%s/%s", folder, name);
	struct file_seen now;
	struct kept *kept;
	int rc = write_see_link(&t->w, path, &now);

	if (rc)
		return txn_fail(t, rc, NULL);
	if (leads_to(&now, step->subject))
		return 0;
	if (now.there)
		return by_hand(t, step, arena_printf(t->arena, "%s leads to %s", path, now.link));
	kept = txn_step_writes(t, step, path);
	kept->is_link = kept->after_known = true;
	kept->after.there = true;
	kept->after.link = target;
	find_new_folder(t, kept, folder);
	rc = sha256_of(target, strlen(target), kept->after.sha256);
	return rc ? txn_fail(t, rc, "%s: %s", path, strerror(-rc)) : 0;
}

/* WantedBy=a.target b.target */
static int add_links(struct txn *t, struct txn_step *step, const struct unit_assignment *a,
		     const char *kind, const char *target)
{
	struct span rest = a->value, word;
	int rc = 0;

	while (rc == 0 && span_word(&rest, &word)) {
		const char *name = arena_strndup(t->arena, word.p, word.n);

		if (!txn_form_is_unit(name))
			return by_hand(t, step, "its [Install] section names no plain units");
		rc = kind ? add_link(t, step, arena_printf(t->arena, LINKS "/%s%s", name, kind),
				     step->subject, target)
			  : add_link(t, step, LINKS, name, target);
	}
	return rc;
}

static int take_assignment(struct txn *t, struct txn_step *step, const struct unit_assignment *a,
			   const char *target)
{
	static const struct {
		const char *key, *kind;
	} keys[] = { { "WantedBy", ".wants" },
		     { "RequiredBy", ".requires" },
		     { "UpheldBy", ".upholds" },
		     { "Alias", NULL } };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (span_is(a->key, keys[i].key) && a->value.n)
			return add_links(t, step, a, keys[i].kind, target);
	return by_hand(t, step, "its [Install] section has more than WantedBy= and RequiredBy=");
}

int txn_links_enable(struct txn *t, struct txn_step *step)
{
	struct unit_file unit = { 0 };
	struct unit_reader reader;
	struct unit_assignment a;
	int rc = find_unit(t, step, &unit);

	if (rc == 0)
		return txn_fail(t, -ENOENT, "%s: there is no such unit%s", step->subject,
				t->options->root ? " in this root" : "");
	if (rc > 0)
		rc = check_drop_ins(t, step);
	if (rc == 0 && !has_install(unit.text))
		rc = by_hand(t, step, "it has no [Install] section");
	reader = (struct unit_reader){ .rest = unit.text };
	while (rc == 0 && unit_next(&reader, &a))
		if (span_is(a.section, "Install"))
			rc = take_assignment(t, step, &a, unit.path);
	step->idle = rc == 0 && step->kept.count == 0;
	return rc;
}

/* ---- links to remove ---- */

static int drop_link(struct txn *t, struct txn_step *step, const char *path)
{
	struct file_seen now;
	struct kept *kept;
	int rc = write_see_link(&t->w, path, &now);

	if (rc)
		return txn_fail(t, rc, NULL);
	if (!now.there)
		return 0;
	kept = txn_step_writes(t, step, path);
	kept->is_link = kept->after_known = true;
	return 0;
}

static bool holds_links(const char *name)
{
	struct span s = span_of(name);

	return span_ends(s, ".wants") || span_ends(s, ".requires") || span_ends(s, ".upholds");
}

/* dcgm.service -> nvidia-dcgm.service: another name of the unit. */
static bool is_alias(struct txn *t, const char *name, const char *unit)
{
	char target[NAME_MAX + 1];

	return strcmp(name, unit) != 0 && host_link_name(t->host, target, LINKS "/%s", name) == 0 &&
	       strcmp(target, unit) == 0;
}

static int drop_unit_links(struct txn *t, struct txn_step *step)
{
	_cleanup_names_ struct names names = { 0 };
	int rc = host_list(t->host, &names, LINKS);

	if (rc && rc != -ENOENT)
		return txn_fail(t, rc, LINKS ": %s", host_error_word(rc));
	rc = 0;
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		const char *name = names.items[i];

		if (holds_links(name))
			rc = drop_link(t, step,
				       arena_printf(t->arena, LINKS "/%s/%s", name, step->subject));
		else if (is_alias(t, name, step->subject))
			rc = drop_link(t, step, arena_printf(t->arena, LINKS "/%s", name));
	}
	return rc;
}

/* Debian's place, and that of RHEL and SUSE. */
static int drop_start_links(struct txn *t, struct txn_step *step, const char *script, int level)
{
	_cleanup_names_ struct names names = { 0 };
	const char *folder = arena_printf(t->arena, "/etc/rc.d/rc%d.d", level);
	int rc = host_list(t->host, &names, "%s", folder);

	if (rc) {
		folder = arena_printf(t->arena, "/etc/rc%d.d", level);
		rc = host_list(t->host, &names, "%s", folder);
	}
	if (rc && rc != -ENOENT)
		return txn_fail(t, rc, "%s: %s", folder, host_error_word(rc));
	rc = 0;
	for (size_t i = 0; rc == 0 && i < names.count; i++)
		if (unit_is_start_link(span_of(names.items[i]), script))
			rc = drop_link(t, step,
				       arena_printf(t->arena, "%s/%s", folder, names.items[i]));
	return rc;
}

/* systemd starts an init script that has a start link in one of these: systemd-sysv-generator(8).
 */
static int drop_script_links(struct txn *t, struct txn_step *step)
{
	const char *dot = strrchr(step->subject, '.');
	const char *script = arena_strndup(t->arena, step->subject, (size_t)(dot - step->subject));
	int rc = 0;

	if (!host_exists(t->host, arena_printf(t->arena, "/etc/init.d/%s", script)))
		return 0;
	for (int level = 2; rc == 0 && level <= 5; level++)
		rc = drop_start_links(t, step, script, level);
	return rc;
}

int txn_links_disable(struct txn *t, struct txn_step *step)
{
	struct unit_file unit = { 0 };
	int found = find_unit(t, step, &unit);
	int rc = found < 0 ? found : drop_unit_links(t, step);

	if (rc == 0 && found == 0)
		rc = drop_script_links(t, step);
	step->idle = rc == 0 && step->kept.count == 0;
	return rc;
}

/* ---- making and removing them ---- */

static int make_folders(struct txn *t, const struct kept *kept)
{
	int rc = 0;

	for_each(folder, &kept->folders) {
		rc = write_make_folder(&t->w, *folder, 0755);
		if (rc && rc != -EEXIST)
			return txn_fail(t, rc, NULL);
	}
	return 0;
}

static int change_link(struct txn *t, const struct kept *kept)
{
	const struct write_request request = {
		.path = kept->path, .link = kept->after.link, .from = -1, .expected = &kept->before
	};
	int rc = make_folders(t, kept);

	if (rc || write_same(&kept->before, &kept->after))
		return rc;
	if (kept->after.there && kept->before.there)
		return txn_fail(t, -ESTALE, "%s: another program created it at the same time",
				kept->path);
	rc = kept->after.there ? write_put(&t->w, &request)
			       : write_remove(&t->w, kept->path, &kept->before);
	return rc ? txn_fail(t, rc, NULL) : 0;
}

int txn_links_change(struct txn *t, const struct txn_step *step)
{
	int rc = 0;

	for_each(kept, &step->kept) {
		rc = change_link(t, kept);
		if (rc)
			return rc;
	}
	return rc;
}
