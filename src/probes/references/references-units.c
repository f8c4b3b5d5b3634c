/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references-units.c - the names in units of services: programs, files of variables, users (systemd.exec(5),
 * systemd.service(5)).
 */
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "probes/references/references.h"
#include "probes/services/unit-fragments.h"
#include "probes/services/units.h"

struct reading {
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

/* A shell's arguments are a script. */
static bool is_shell(struct span program)
{
	return span_ends(program, "/sh") || span_ends(program, "/bash") ||
	       span_ends(program, "/env");
}

/* Returns true for an option whose argument is a daemon's configuration file. */
static bool is_configuration(struct span option)
{
	static const char *const options[] = { "-c", "--config", "--config-file",
					       "--fm-config-file", "--nvlsm-config-file" };

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (span_is(option, options[i]))
			return true;
	return false;
}

static bool is_plain_path(struct span s)
{
	return s.n && s.p[0] == '/' && !memchr(s.p, '%', s.n) && !memchr(s.p, '$', s.n);
}

/* "-c FILE" and "--config=FILE" */
static void add_configuration(struct reading *r, const struct unit_assignment *a)
{
	struct span rest = a->value, word, option;
	bool next = false;

	while (span_word(&rest, &word)) {
		bool is_file = next;

		next = false;
		option = (struct span){ word.p, span_find(word, '=') };
		if (!is_file && is_configuration(option)) {
			is_file = option.n < word.n;
			next = !is_file;
			word = (struct span){ word.p + option.n + is_file,
					      word.n - option.n - is_file };
		}
		if (is_file && is_plain_path(word))
			reference_add(&r->refs, REFERENCE_FILE, "ExecStart", word, r->unit,
				      a->line);
	}
}

static void add_program(struct reading *r, const struct unit_assignment *a)
{
	struct span program;
	bool optional;

	if (!unit_program(a->value, &program, &optional) || optional)
		return;
	if (span_is(a->key, "ExecStart") && !is_shell(program))
		add_configuration(r, a);
	reference_add(&r->refs, REFERENCE_PROGRAM, arena_strndup(r->refs.arena, a->key.p, a->key.n),
		      program, r->unit, a->line);
}

/* Those below /usr are their makers', who write for several releases of systemd. */
static bool is_of_site(const char *path)
{
	return starts_with(path, "/etc/");
}

static void note_file(struct reading *r, const char *path)
{
	struct reference_file *file;

	for_each(f, &r->refs.facts->files)
		if (str_is(f->path, path))
			return;
	file = LIST_ADD(r->refs.arena, &r->refs.facts->files);
	file->path = fact_str(r->refs.arena, path);
}

/* The claim is the unit, since several of them can name the same program. */
static void references_units_take(void *user, const char *path, const struct unit_assignment *a)
{
	struct reading *r = user;

	r->refs.file = path;
	if (is_of_site(path)) {
		note_file(r, path);
		references_compare_unit(&r->refs, a);
	}
	if (!span_is(a->section, "Service"))
		return;
	if (is_exec(a->key)) {
		/* An empty assignment clears the earlier ones. */
		if (!a->value.n)
			reference_forget(&r->refs,
					 arena_strndup(r->refs.arena, a->key.p, a->key.n));
		else
			add_program(r, a);
	} else if (span_is(a->key, "EnvironmentFile") && a->value.n && a->value.p[0] == '/' &&
		   !memchr(a->value.p, '%', a->value.n) && !memchr(a->value.p, '*', a->value.n)) {
		reference_add(&r->refs, REFERENCE_FILE, "EnvironmentFile", a->value, r->unit,
			      a->line);
	} else if (span_is(a->key, "WorkingDirectory") && a->value.n && a->value.p[0] == '/' &&
		   !memchr(a->value.p, '%', a->value.n)) {
		reference_add(&r->refs, REFERENCE_FILE, "WorkingDirectory", a->value, r->unit,
			      a->line);
	} else if (span_is(a->key, "User")) {
		reference_forget(&r->refs, "User");
		if (a->value.n && !is_number(a->value) && !memchr(a->value.p, '%', a->value.n))
			reference_add(&r->refs, REFERENCE_USER, "User", a->value, r->unit, a->line);
	} else if (span_is(a->key, "DynamicUser") && !span_is(a->value, "no")) {
		r->refs.complete = false; /* systemd makes the user */
	}
}

static void add_file(struct references_facts *all, struct arena *arena, const char *path,
		     bool complete, bool compared)
{
	struct reference_file *file;

	for_each(f, &all->files)
		if (str_is(f->path, path))
			return;
	file = LIST_ADD(arena, &all->files);
	file->path = fact_str(arena, path);
	file->format = fact_enum(REFERENCE_UNIT);
	file->complete = fact_bool(complete);
	file->compared = compared ? fact_bool(complete) : FACT_NONE(fact_bool);
}

/* Adds the names of one unit to ANSWER after all its lines are read, because later lines can reset earlier ones. */
static void read_unit(struct references_facts *answer, struct arena *arena,
		      struct unit_fragments *fragments, const char *unit)
{
	struct references_facts found = { 0 };
	struct reading r = { .unit = unit,
			     .refs = { .arena = arena,
				       .facts = &found,
				       .format = REFERENCE_UNIT,
				       .complete = true } };
	int rc = unit_fragments_read(fragments, unit, references_units_take, &r);

	if (rc && rc != -ENOENT)
		answer->complete = fact_bool(false);
	if (!r.refs.complete)
		reference_forget(&r.refs, "User");
	for_each(f, &found.files)
		add_file(answer, arena, f->path.value, rc == 0, true);
	for_each(item, &found.items) {
		*LIST_ADD(arena, &answer->items) = *item;
		add_file(answer, arena, item->file.value, rc == 0, false);
	}
	for_each(fault, &found.faults)
		*LIST_ADD(arena, &answer->faults) = *fault;
}

/* USER: the services. */
static int references_units_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	const struct services_facts *services = user;
	struct references_facts *answer = facts;
	_cleanup_fragments_ struct unit_fragments fragments;

	unit_fragments_open(&fragments, host, arena);
	answer->complete = fact_bool(!fragments.error);
	answer->faults.state = FACT_KNOWN;
	for_each(s, &services->units)
		if (str_is(s->load, "loaded"))
			read_unit(answer, arena, &fragments, s->unit.value);
	return 0;
}

void references_from_units(struct probe_context *ctx)
{
	struct references_facts *all = &ctx->node->references, answer = { 0 };
	int rc = host_query(ctx->host, "names in units", &references_facts_desc, &answer,
			    ctx->arena, references_units_ask, &ctx->node->services);

	if (rc || !known_is(answer.complete, true))
		all->complete = fact_bool(false);
	for_each(f, &answer.files)
		*LIST_ADD(ctx->arena, &all->files) = *f;
	for_each(f, &answer.faults)
		*LIST_ADD(ctx->arena, &all->faults) = *f;
	for_each(r, &answer.items)
		if (all->items.count < REFERENCES_MAX)
			*LIST_ADD(ctx->arena, &all->items) = *r;
}
