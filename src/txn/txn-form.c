/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * txn-form.c - the valid values of each field of a step. A plan is checked before anything is prepared, and a record
 * before any of it is used: it may be damaged, or forged by the creator of the tree.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/utf8.h"
#include "txn/driver-holders.h"
#include "txn/txn-private.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define NAME_PART_MAX 255

/* ---- words ---- */

static bool is_word(const char *s, const char *letters)
{
	size_t n = s ? strlen(s) : 0;

	return n && n <= NAME_PART_MAX && strspn(s, letters) == n && s[0] != '-' && s[0] != '.';
}

static bool is_kernel(const char *s)
{
	return is_word(s, LETTERS DIGITS "._+~:-");
}

static bool is_module(const char *s)
{
	return is_word(s, LETTERS DIGITS "_-");
}

bool txn_form_is_unit(const char *s)
{
	return is_word(s, LETTERS DIGITS ":_.\\@-") && strchr(s, '.') && s[0] != '@';
}

/* net.ipv4.ip_forward, or with slashes if a part has a dot in it: sysctl(8). */
bool txn_form_split_sysctl(struct arena *arena, const char *subject, const char **path,
			   const char **value)
{
	const char *equal = subject ? strchr(subject, '=') : NULL;
	char *name;

	if (!equal || equal == subject || *subject == '/' || strstr(subject, "..") ||
	    strchr(equal, '\n') ||
	    strspn(subject, LETTERS DIGITS "._/-") != (size_t)(equal - subject))
		return false;
	name = arena_strndup(arena, subject, (size_t)(equal - subject));
	if (!strchr(name, '/'))
		for (char *p = name; *p; p++)
			if (*p == '.')
				*p = '/';
	*path = arena_printf(arena, "/proc/sys/%s", name);
	*value = equal + 1;
	return !txn_path_problem(*path);
}

bool txn_form_split_node(struct arena *arena, const char *subject, struct dev_node *node)
{
	struct span rest = span_of(subject ? subject : ""), path, type;
	char tail[64], more;

	if (!span_word(&rest, &path) || !span_word(&rest, &type) || !span_is(type, "c") ||
	    !span_starts(path, "/dev/") || rest.n >= sizeof(tail))
		return false;
	memcpy(tail, rest.p, rest.n);
	tail[rest.n] = '\0';
	node->path = arena_strndup(arena, path.p, path.n);
	return sscanf(tail, "%u:%u %o%c", &node->major, &node->minor, &node->mode, &more) == 3 &&
	       node->mode <= 0777 && !txn_path_problem(node->path);
}

/* U+0080 to U+009F are control characters too. */
bool txn_form_is_text(const char *s)
{
	size_t rest = strlen(s), n;

	for (; rest; s += n, rest -= n) {
		n = utf8_length(s, rest);
		if (!n || (unsigned char)*s < ' ' || *s == 127 ||
		    (n == 2 && s[0] == '\xc2' && (unsigned char)s[1] < 0xa0))
			return false;
	}
	return true;
}

const char *txn_path_problem(const char *path)
{
	if (!path || path[0] != '/' || strlen(path) >= PATH_MAX)
		return "not an absolute path";
	if (!txn_form_is_text(path))
		return "a control character, or no UTF-8, in a path";
	for (const char *p = path; *p; p++) {
		size_t n;

		if (*p != '/')
			continue;
		n = strcspn(p + 1, "/");
		if (n == 0 || n > NAME_PART_MAX || (n == 1 && p[1] == '.') ||
		    (n == 2 && p[1] == '.' && p[2] == '.'))
			return "not a plain path";
	}
	return NULL;
}

/* ---- kinds ---- */

enum subject_form { NO_SUBJECT, KERNEL, MODULE, UNIT, SYSCTL, NODE };
enum was_form { NO_WAS, LOADED, STATE, VALUE, OLD_NODE, MODULES };

/* The fields of each kind of step. */
static const struct form {
	enum subject_form subject;
	enum was_form was;
	bool path;
	const char *tools[4];
	uint32_t files; /* at most */
} forms[] = {
	[PLAN_INITRAMFS] = { KERNEL,
			     NO_WAS,
			     true,
			     { "initramfs-tools", "dracut", "mkinitcpio" },
			     1 },
	[PLAN_BOOT_LOADER] = { NO_SUBJECT,
			       NO_WAS,
			       true,
			       { "grub-mkconfig", "grub2-mkconfig" },
			       4096 },
	[PLAN_DAEMON_RELOAD] = { NO_SUBJECT },
	[PLAN_LOAD_MODULE] = { MODULE, LOADED },
	[PLAN_UNLOAD_MODULE] = { MODULE, LOADED },
	[PLAN_UNIT_ENABLE] = { UNIT, .files = 64 },
	[PLAN_UNIT_DISABLE] = { UNIT, .files = 4096 },
	[PLAN_UNIT_START] = { UNIT, STATE },
	[PLAN_UNIT_STOP] = { UNIT, STATE },
	[PLAN_SYSCTL] = { SYSCTL, VALUE },
	[PLAN_DEVICE_NODE] = { NODE, OLD_NODE },
	[PLAN_DEPMOD] = { KERNEL },
	[PLAN_RELOAD_DRIVER] = { NO_SUBJECT, MODULES },
};

static bool fits_subject(struct arena *arena, enum subject_form form, const char *s)
{
	const char *path, *value;
	struct dev_node node;

	switch (form) {
	case NO_SUBJECT:
		return !s;
	case KERNEL:
		return is_kernel(s);
	case MODULE:
		return is_module(s);
	case UNIT:
		return txn_form_is_unit(s);
	case SYSCTL:
		return txn_form_split_sysctl(arena, s, &path, &value);
	case NODE:
		return txn_form_split_node(arena, s, &node);
	}
	return false;
}

static bool is_driver_module(struct span word)
{
	for (size_t i = 0; driver_modules[i]; i++)
		if (span_is(word, driver_modules[i]))
			return true;
	return false;
}

static bool are_driver_modules(const char *was)
{
	struct span rest = span_of(was ? was : ""), word;
	bool any = false;

	while (span_word(&rest, &word)) {
		if (!is_driver_module(word))
			return false;
		any = true;
	}
	return any;
}

/* Returns true if WAS is a valid name for the node that was in the place of SUBJECT. */
static bool is_old_node(struct arena *arena, const char *subject, const char *was)
{
	struct dev_node node, old;

	return strcmp(was, "there") == 0 ||
	       (txn_form_split_node(arena, was, &old) &&
		txn_form_split_node(arena, subject, &node) && strcmp(old.path, node.path) == 0);
}

static bool fits_was(struct arena *arena, enum was_form form, const struct txn_step *step)
{
	const char *was = step->was;

	switch (form) {
	case NO_WAS:
		return !was;
	case LOADED:
		return !was || strcmp(was, "loaded") == 0;
	case STATE:
		return !was || is_word(was, LETTERS "-");
	case VALUE:
		return was != NULL;
	case OLD_NODE:
		return !was || is_old_node(arena, step->subject, was);
	case MODULES:
		return are_driver_modules(was);
	}
	return false;
}

static bool has_tool(const struct form *form, const char *tool)
{
	size_t n = ARRAY_SIZE(form->tools);

	if (!tool || !form->tools[0])
		return !tool && !form->tools[0];
	for (size_t i = 0; i < n && form->tools[i]; i++)
		if (strcmp(form->tools[i], tool) == 0)
			return true;
	return false;
}

const char *txn_step_problem(struct arena *arena, const struct txn_step *step)
{
	const struct form *form = &forms[step->kind];

	if (!fits_subject(arena, form->subject, step->subject))
		return "the subject does not fit this kind of step";
	if (!has_tool(form, step->tool))
		return "the tool does not fit this kind of step";
	if (form->path ? txn_path_problem(step->path) != NULL : step->path != NULL)
		return "the path does not fit this kind of step";
	return NULL;
}

/* ---- other fields of a record ---- */

static const char *form_of_files(const struct form *form, const struct txn_step *step)
{
	if (step->kept.count > form->files)
		return "more files than this kind of step writes";
	if (form->path && !step->left &&
	    (!step->kept.count || strcmp(step->kept.items[0].path, step->path) != 0))
		return "the file that it writes is not kept";
	for_each(kept, &step->kept) {
		if (kept->is_link != (form->subject == UNIT))
			return "a link in place of a file, or a file in place of a link";
		if (kept->is_link && !starts_with(kept->path, "/etc/systemd/system/") &&
		    !starts_with(kept->path, "/etc/rc"))
			return "a link that enables no unit";
	}
	return NULL;
}

const char *txn_record_problem(struct arena *arena, const struct txn_step *step)
{
	const struct form *form = &forms[step->kind];
	const char *wrong = txn_step_problem(arena, step);

	if (wrong)
		return wrong;
	if (!step->left && !fits_was(arena, form->was, step))
		return "the recorded earlier state does not fit this kind of step";
	if ((step->boot != NULL) != (txn_step_is_live(step) && !step->left))
		return "it does not say which boot it belongs to";
	return form_of_files(form, step);
}
