/* SPDX-License-Identifier: GPL-2.0-or-later */
/* references-units.c - what the units of services that matter name: programs, files of variables, users
 * (systemd.exec(5), systemd.service(5)). */
#include <errno.h>
#include <string.h>

#include "probes/references.h"
#include "probes/unit-fragments.h"
#include "probes/units.h"

struct reading {
	struct probe_context *ctx;
	struct references refs;
	const char *unit;
};

static bool is_exec(struct span key)
{
	return span_is(key, "ExecStart") || span_is(key, "ExecStartPre");
}

static bool is_number(struct span value)
{
	uint64_t number;

	return span_u64(value, 10, &number) == 0;
}

static void add_program(struct reading *r, const struct unit_assignment *a)
{
	struct span program;
	bool optional;

	if (unit_program(a->value, &program, &optional) && !optional)
		reference_add(&r->refs, REFERENCE_PROGRAM,
			      arena_strndup(r->refs.arena, a->key.p, a->key.n), program, r->unit,
			      a->line);
}

/* The claim is the unit, since several of them can name the same program. */
static void take(void *user, const char *path, const struct unit_assignment *a)
{
	struct reading *r = user;

	if (!span_is(a->section, "Service"))
		return;
	r->refs.file = path;
	if (is_exec(a->key)) {
		/* An empty line forgets what stood before it. */
		if (!a->value.n)
			reference_forget(&r->refs,
					 arena_strndup(r->refs.arena, a->key.p, a->key.n));
		else
			add_program(r, a);
	} else if (span_is(a->key, "EnvironmentFile") && a->value.n && a->value.p[0] == '/' &&
		   !memchr(a->value.p, '%', a->value.n) && !memchr(a->value.p, '*', a->value.n)) {
		reference_add(&r->refs, REFERENCE_FILE, "EnvironmentFile", a->value, r->unit,
			      a->line);
	} else if (span_is(a->key, "User")) {
		reference_forget(&r->refs, "User");
		if (a->value.n && !is_number(a->value) && !memchr(a->value.p, '%', a->value.n))
			reference_add(&r->refs, REFERENCE_USER, "User", a->value, r->unit, a->line);
	} else if (span_is(a->key, "DynamicUser") && !span_is(a->value, "no")) {
		r->refs.complete = false; /* systemd makes the user */
	}
}

static void add_file(struct probe_context *ctx, const char *path, bool complete)
{
	struct references_facts *all = &ctx->node->references;
	struct reference_file *file;

	for_each(f, &all->files)
		if (str_is(f->path, path))
			return;
	file = LIST_ADD(ctx->arena, &all->files);
	file->path = fact_str(ctx->arena, path);
	file->format = fact_enum(REFERENCE_UNIT);
	file->complete = fact_bool(complete);
}

static void read_unit(struct probe_context *ctx, struct unit_fragments *fragments, const char *unit)
{
	struct references_facts found = { 0 };
	struct reading r = { .ctx = ctx,
			     .unit = unit,
			     .refs = { .arena = ctx->arena,
				       .node = ctx->node,
				       .facts = &found,
				       .format = REFERENCE_UNIT,
				       .complete = true } };
	int rc = unit_fragments_read(fragments, unit, take, &r);

	if (rc && rc != -ENOENT)
		ctx->node->references.complete = fact_bool(false);
	if (!r.refs.complete)
		reference_forget(&r.refs, "User");
	for_each(item, &found.items) {
		if (ctx->node->references.items.count == REFERENCES_MAX)
			return;
		*LIST_ADD(ctx->arena, &ctx->node->references.items) = *item;
		add_file(ctx, item->file.value, rc == 0);
	}
}

void references_from_units(struct probe_context *ctx)
{
	_cleanup_fragments_ struct unit_fragments fragments;

	unit_fragments_open(&fragments, ctx->host, ctx->arena);
	if (fragments.error)
		ctx->node->references.complete = fact_bool(false);
	for_each(s, &ctx->node->services.units)
		if (str_is(s->load, "loaded"))
			read_unit(ctx, &fragments, s->unit.value);
}
