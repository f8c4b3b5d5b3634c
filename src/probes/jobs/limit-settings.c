/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * limit-settings.c - the lines of configuration that set limits: limits.conf for logins, the unit
 * files and drop-ins of what starts jobs, systemd's defaults for all units, and what Docker gives its
 * containers. Values stay as they are written: KiB in limits.conf, bytes or 8M, 64G, infinity for
 * systemd, bytes or -1 for Docker.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "parse/limits.h"
#include "parse/unit.h"
#include "probes/conf-d.h"
#include "probes/jobs/limit-launchers.h"
#include "probes/probe.h"
#include "probes/services/unit-fragments.h"

/* The first error that leaves the list incomplete. */
static void note_error(int *error, int rc)
{
	if (!*error && rc != -ENOENT)
		*error = rc;
}

static void add_setting(struct probe_context *ctx, const char *item, struct span scope,
			struct span kind, struct span value, const char *file, size_t line)
{
	struct limit_setting *s = LIST_ADD(ctx->arena, &ctx->node->limits.settings);

	s->item = fact_str(ctx->arena, item);
	s->scope = probe_span(ctx, scope);
	s->kind = probe_span(ctx, kind);
	s->value = probe_span(ctx, value);
	s->file = fact_str(ctx->arena, file);
	s->line = fact_u64(line);
}

static int read_pam_file(struct probe_context *ctx, const char *path)
{
	_cleanup_text_ struct text text = { 0 };
	struct span rest, line;
	struct limits_line l;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, "%s", path);

	if (rc)
		return rc;
	rest = text_span(&text);
	for (size_t number = 1; span_cut(&rest, '\n', &line); number++) {
		if (limits_line_parse(line, &l))
			add_setting(ctx, span_is(l.item, "nofile") ? "nofile" : "memlock", l.domain,
				    l.type, l.value, path, number);
	}
	return 0;
}

/* pam_limits(8): the file, then the folder's in the order of their names. */
static int read_pam(struct probe_context *ctx, struct conf_d *files)
{
	static const char *const folders[] = { "/etc/security/limits.d", NULL };
	int error = 0, rc = read_pam_file(ctx, "/etc/security/limits.conf");

	if (rc != -ENOENT)
		note_error(&error, rc);
	conf_d_list(ctx->host, ctx->arena, folders, ".conf", files);
	note_error(&error, files->error);
	for (size_t i = 0; i < files->count; i++)
		note_error(&error, read_pam_file(ctx, conf_d_path(ctx->arena, &files->items[i])));
	return error == -ENOENT ? 0 : error;
}

/* ---- systemd ---- */

/* A source of settings: a unit's section [Service], or system.conf with the default of all units. */
struct source {
	const char *scope;
	const char *section;
	const char *prefix; /* of the keys */
};

#define VALUE_MAX 256 /* longer than any limit */

static struct span whole_value(struct probe_context *ctx, const struct unit_assignment *a)
{
	struct span more = a->more, part, value = a->value;

	while (value.n < VALUE_MAX && unit_value_part(&more, &part))
		value = span_of(
			arena_printf(ctx->arena, "%.*s %.*s", SPAN_FMT(value), SPAN_FMT(part)));
	return value;
}

static int read_unit_file(struct probe_context *ctx, const struct source *source, const char *path)
{
	static const char *const items[][2] = { { "LimitMEMLOCK", "memlock" },
						{ "LimitNOFILE", "nofile" } };
	_cleanup_text_ struct text text = { 0 };
	struct unit_reader reader = { 0 };
	struct unit_assignment a;
	size_t n = strlen(source->prefix);
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, "%s", path);

	if (rc)
		return rc;
	reader.rest = text_span(&text);
	while (unit_next(&reader, &a)) {
		if (!span_is(a.section, source->section) || !span_starts(a.key, source->prefix))
			continue;
		a.key = (struct span){ a.key.p + n, a.key.n - n };
		for (size_t i = 0; i < ARRAY_SIZE(items); i++)
			if (span_is(a.key, items[i][0]))
				add_setting(ctx, items[i][1], span_of(source->scope), SPAN("-"),
					    whole_value(ctx, &a), path, a.line);
	}
	return 0;
}

/* The first of the folders that has the file is the one that counts. */
static int read_main_file(struct probe_context *ctx, const struct source *source,
			  const char *const *folders, const char *name)
{
	char target[PATH_MAX];
	int missing = 0;

	for (; *folders; folders++) {
		char *path = arena_printf(ctx->arena, "%s/%s", *folders, name);
		int rc;

		if (host_link(ctx->host, target, "%s", path) == 0 &&
		    strcmp(target, "/dev/null") == 0)
			return 0;
		rc = read_unit_file(ctx, source, path);
		if (rc != -ENOENT && rc != -ENODATA)
			return rc;
		/* Most copies are made without what is of this boot alone. */
		if (rc == -ENODATA && !starts_with(*folders, "/run/"))
			missing = rc;
	}
	return missing;
}

static int read_drop_ins(struct probe_context *ctx, const struct source *source,
			 const char *const *folders, struct conf_d *files)
{
	int error;

	conf_d_list(ctx->host, ctx->arena, folders, ".conf", files);
	error = files->error;
	for (size_t i = 0; i < files->count; i++)
		note_error(&error,
			   read_unit_file(ctx, source, conf_d_path(ctx->arena, &files->items[i])));
	return error;
}

static int read_unit_settings(struct probe_context *ctx, struct conf_d *files,
			      const struct unit_fragments *fragments, const char *unit)
{
	const struct source source = { unit, "Service", "" };
	int error;

	if (!unit_fragments_have(fragments, unit))
		return 0;
	error = read_main_file(ctx, &source, fragments->folders, unit);
	note_error(&error,
		   read_drop_ins(ctx, &source, unit_drop_in_folders(fragments, unit), files));
	return error;
}

static int read_defaults(struct probe_context *ctx, struct conf_d *files)
{
	const struct source source = { "systemd", "Manager", "Default" };
	int error = read_main_file(
		ctx, &source, conf_d_folders(ctx->host, ctx->arena, "systemd", ""), "system.conf");

	note_error(&error,
		   read_drop_ins(ctx, &source,
				 conf_d_folders(ctx->host, ctx->arena, "systemd/", "system.conf.d"),
				 files));
	return error;
}

/* ---- Docker ---- */

#define DAEMON_JSON "/etc/docker/daemon.json"
#define DAEMON_JSON_MAX (1u << 20)

static void add_docker(struct arena *arena, struct limits_facts *answer, const char *kind,
		       struct json_object *value)
{
	struct limit_setting *s;

	if (!json_object_is_type(value, json_type_int))
		return;
	s = LIST_ADD(arena, &answer->settings);
	s->item = fact_str(arena, "memlock");
	s->scope = fact_str(arena, "docker");
	s->kind = fact_str(arena, kind);
	s->value = fact_str(arena, arena_printf(arena, "%" PRId64, json_object_get_int64(value)));
	s->file = fact_str(arena, DAEMON_JSON);
	s->line.state = FACT_ABSENT;
}

/* "default-ulimits": { "memlock": { "Name": "memlock", "Soft": -1, "Hard": -1 } } (dockerd(8)). The file can
 * hold secrets: these numbers alone leave this function. */
static int ask_docker(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct limits_facts *answer = facts;
	_cleanup_text_ struct text text = { 0 };
	struct json_error error;
	struct json_object *document, *memlock;
	int rc = host_read(host, &text, DAEMON_JSON_MAX, DAEMON_JSON);

	(void)user;
	if (rc)
		return rc;
	document = json_parse(text.data, text.size, &error);
	if (!document)
		return -EBADMSG;
	memlock = json_member(json_member(document, "default-ulimits"), "memlock");
	add_docker(arena, answer, "soft", json_member(memlock, "Soft"));
	add_docker(arena, answer, "hard", json_member(memlock, "Hard"));
	json_object_put(document);
	return 0;
}

static int read_docker(struct probe_context *ctx)
{
	struct limits_facts answer = { 0 };
	int rc;

	if (!host_exists(ctx->host, DAEMON_JSON))
		return 0;
	rc = host_query(ctx->host, "limits in " DAEMON_JSON, &limits_facts_desc, &answer,
			ctx->arena, ask_docker, NULL);

	for_each(s, &answer.settings)
		*LIST_ADD(ctx->arena, &ctx->node->limits.settings) = *s;
	return rc;
}

static bool is_listed(const char *unit)
{
	for (const struct launcher *l = launchers; l->comm; l++)
		if (l->unit && strcmp(l->unit, unit) == 0)
			return true;
	return false;
}

static void read_units(struct probe_context *ctx, struct conf_d *files, int *error)
{
	struct limits_facts *limits = &ctx->node->limits;
	_cleanup_fragments_ struct unit_fragments fragments = { 0 };

	unit_fragments_open(&fragments, ctx->host, ctx->arena);
	note_error(error, fragments.error);
	for (const struct launcher *l = launchers; l->comm; l++)
		if (l->unit)
			note_error(error, read_unit_settings(ctx, files, &fragments, l->unit));
	/* A launcher that runs under another name than the usual. */
	for_each(p, &limits->launchers)
		if (is_known(p->unit) && span_ends(span_of(p->unit.value), ".service") &&
		    !is_listed(p->unit.value))
			note_error(error,
				   read_unit_settings(ctx, files, &fragments, p->unit.value));
	for_each(p, &limits->daemons)
		if (is_known(p->unit) && span_ends(span_of(p->unit.value), ".service"))
			note_error(error,
				   read_unit_settings(ctx, files, &fragments, p->unit.value));
}

static void limit_settings_run(struct probe_context *ctx)
{
	struct conf_d *files = arena_alloc(ctx->arena, sizeof(*files));
	int error = read_pam(ctx, files);

	note_error(&error, read_defaults(ctx, files));
	read_units(ctx, files, &error);
	note_error(&error, read_docker(ctx));
	ctx->node->limits.settings.state = probe_state(error);
}

const struct probe probe_limit_settings = {
	.name = "limit-settings",
	.phase = PHASE_SECOND,
	PROBE_SECTION(limits.settings),
	.run = limit_settings_run,
};
