/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysctl.c - kernel settings, now and at boot. */
#include <errno.h>
#include <string.h>

#include "fixes/fix.h"
#include "probes/conf-d.h"

/* ---- files that are read later ---- */

static bool begins_line(struct span text, const char *name, uint64_t *number)
{
	struct span line;

	for (*number = 1; span_cut(&text, '\n', &line); ++*number) {
		struct span rest = span_trim(line);

		if (span_starts(rest,
				"-")) /* "-name = value": sysctl ignores errors of such a line */
			rest = (struct span){ rest.p + 1, rest.n - 1 };
		if (!span_starts(rest, name))
			continue;
		rest = span_trim((struct span){ rest.p + strlen(name), rest.n - strlen(name) });
		if (span_starts(rest, "="))
			return true;
	}
	return false;
}

/* Refuses if a file that is read after ours (by name, in any folder) sets NAME. */
static bool is_last(struct fixing *f, const char *name)
{
	struct conf_d *list = arena_alloc(f->arena, sizeof(*list));
	uint64_t number;

	if (!f->host)
		return true;
	conf_d_list(f->host, f->arena, conf_d_folders(f->host, f->arena, "/", "sysctl.d"), ".conf",
		    list);
	if (list->error)
		return fix_refuse(
			f,
			"the folders of sysctl.d could not be read (%s), and a file in them could "
			"override this repair",
			host_error_word(list->error));
	for (size_t i = 0; i < list->count; i++) {
		const char *path = conf_d_path(f->arena, &list->items[i]);
		_cleanup_text_ struct text text = { 0 };
		int rc;

		if (strcmp(list->items[i].name, span_base_name(OWN_SYSCTL)) <= 0)
			continue;
		rc = host_read(f->host, &text, HOST_FILE_MAX, "%s", path);
		/* A dangling link has no content. */
		if (rc == -ENOENT)
			continue;
		if (rc)
			return fix_refuse(f,
					  "%s is read after " OWN_SYSCTL
					  " and could not be read here (%s); its values "
					  "could override this repair",
					  path, host_error_word(rc));
		if (begins_line(text_span(&text), name, &number))
			return fix_refuse(f,
					  "%s:%llu is read after " OWN_SYSCTL
					  " and sets %s, which would override this "
					  "repair; change that line first",
					  path, (unsigned long long)number, name);
	}
	return true;
}

/* ---- the repair ---- */

static void set_sysctl(struct fixing *f, struct draft *draft, const char *name, const char *value)
{
	if (!is_last(f, name))
		return;
	draft_line(f, draft, arena_printf(f->arena, "%s =", name),
		   arena_printf(f->arena, "%s = %s", name, value));
	fix_step(f, PLAN_SYSCTL, arena_printf(f->arena, "%s=%s", name, value), NULL);
	fix_does(f, ACTIVATION_NOW, "set %s to %s", name, value);
}

/* Arguments: name and value, once or twice. */
static void sysctl_plan(struct fixing *f)
{
	struct draft *draft = draft_open(f, OWN_SYSCTL, "kernel settings");

	for (size_t i = 0; draft && i < FIX_ARGS_MAX && fix_arg(f, i); i += 2)
		set_sysctl(f, draft, fix_arg(f, i), fix_arg(f, i + 1));
}

const struct fix fix_set_sysctl = {
	.name = "set-sysctl",
	.title = "Kernel settings, now and by " OWN_SYSCTL,
	.plan = sysctl_plan,
};
