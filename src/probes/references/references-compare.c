/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references-compare.c - compares a file with the keys that its reader knows (data/conf-keys.tsv). Of what is wrong
 * only plain words leave this probe, and a capture keeps of these what the table has: a key or value can be a password.
 */
#include <ctype.h>
#include <errno.h>

#include "parse/conf-keys.h"
#include "probes/references/references.h"
#include "probes/services/unit-fragments.h"

#define FAULTS_MAX 32
#define WORD_MAX 48 /* the longest key of the table has 52 characters with its section */

struct comparing {
	struct references *refs;
	enum conf_format format;
	bool too_many;
};

static bool is_word(struct span s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '_' && s.p[i] != '-')
			return false;
	return s.n && s.n <= WORD_MAX;
}

static struct fact_str word_of(struct arena *arena, struct span s)
{
	return is_word(s) ? fact_strn(arena, s.p, s.n) : FACT_NONE(fact_str);
}

static struct fact_str text_of(struct arena *arena, const char *text)
{
	return text ? fact_str(arena, text) : FACT_NONE(fact_str);
}

/* Sections are those of the table, except the keys of objects in daemon.json and tables that the toolkit lacks. */
static struct fact_str section_of(const struct comparing *c, struct span section)
{
	struct span rest = section, part;

	if (!section.n)
		return FACT_NONE(fact_str);
	if (c->format == CONF_CONTAINERD)
		return fact_strn(c->refs->arena, section.p, section.n);
	while (span_cut(&rest, '.', &part))
		if (!is_word(part))
			return FACT_NONE(fact_str);
	return fact_strn(c->refs->arena, section.p, section.n);
}

/* A drop-in of containerd has the version of the file that imports it. */
static bool is_of_main_file(const struct comparing *c, const struct conf_wrong *wrong)
{
	return c->format != CONF_CONTAINERD || !wrong->since ||
	       span_ends(span_of(c->refs->file), "/config.toml");
}

static void references_compare_take(void *user, const struct conf_wrong *wrong)
{
	struct comparing *c = user;
	struct arena *arena = c->refs->arena;
	struct conf_fault *fault;

	if (!is_of_main_file(c, wrong))
		return;
	if (c->refs->facts->faults.count == FAULTS_MAX) {
		c->too_many = true;
		return;
	}
	fault = LIST_ADD(arena, &c->refs->facts->faults);
	*fault = (struct conf_fault){
		.file = fact_str(arena, c->refs->file),
		.line = wrong->line ? fact_u64(wrong->line) : FACT_NONE(fact_u64),
		.format = fact_enum((int)c->format),
		.kind = fact_enum((int)wrong->kind),
		.section = section_of(c, wrong->section),
		.key = word_of(arena, wrong->key),
		.value = wrong->kind == CONF_TYPE ? word_of(arena, wrong->value)
						  : FACT_NONE(fact_str),
		.wanted = text_of(arena, wrong->wanted),
		.since = text_of(arena, wrong->since),
		.gone = text_of(arena, wrong->gone),
	};
}

/* CRI-O's files are TOML too, and no table has their keys. */
static bool format_of(const struct references *refs, enum conf_format *format)
{
	struct span file = span_of(refs->file);

	if (refs->format == REFERENCE_TOOLKIT)
		*format = CONF_TOOLKIT;
	else if (refs->format == REFERENCE_LIMITS)
		*format = CONF_LIMITS;
	else if (span_ends(file, "/daemon.json"))
		*format = CONF_DOCKER;
	else if (refs->format == REFERENCE_ENGINE && span_search(file, "/containerd/") &&
		 span_ends(file, ".toml"))
		*format = CONF_CONTAINERD;
	else if (span_ends(file, "/slurm.conf"))
		*format = CONF_SLURM;
	else if (span_ends(file, "/gres.conf"))
		*format = CONF_GRES;
	else if (span_ends(file, "/cgroup.conf"))
		*format = CONF_CGROUP;
	else
		return false;
	return true;
}

void references_compare_unit(struct references *refs, const struct unit_assignment *a)
{
	struct comparing c = { .refs = refs, .format = CONF_UNIT };

	conf_check_unit(a, references_compare_take, &c);
}

/* ---- the command line of dockerd ---- */

struct command_line {
	struct arena *arena;
	const char *command; /* of the last ExecStart=; NULL: none */
	bool more;	     /* it continues in the next line */
};

static void take_command(void *user, const char *path, const struct unit_assignment *a)
{
	struct command_line *line = user;

	(void)path;
	if (!span_is(a->section, "Service") || !span_is(a->key, "ExecStart"))
		return;
	line->command = a->value.n ? arena_strndup(line->arena, a->value.p, a->value.n) : NULL;
	line->more = a->more.n;
}

/* Without the unit the options are not known, which says nothing of the file. */
static bool read_options(const struct references *refs, struct conf_options *options)
{
	struct command_line line = { .arena = refs->arena };
	_cleanup_fragments_ struct unit_fragments fragments;
	int rc;

	unit_fragments_open(&fragments, refs->host, refs->arena);
	rc = unit_fragments_read(&fragments, "docker.service", take_command, &line);
	if (rc || !line.command)
		return rc == 0 || rc == -ENOENT;
	return conf_docker_options(span_of(line.command), options) && !line.more;
}

static bool compare_docker(struct comparing *c, struct span text)
{
	struct conf_options options = { .count = 0 };
	bool known = read_options(c->refs, &options);

	return conf_check_docker(text, &options, references_compare_take, c) && known;
}

struct fact_bool references_compare(struct references *refs, struct span text)
{
	struct comparing c = { .refs = refs };
	bool whole;

	if (!format_of(refs, &c.format))
		return FACT_NONE(fact_bool);
	if (c.format == CONF_DOCKER)
		whole = compare_docker(&c, text);
	else if (c.format == CONF_LIMITS)
		whole = conf_check_limits(text, references_compare_take, &c);
	else if (c.format == CONF_TOOLKIT || c.format == CONF_CONTAINERD)
		whole = conf_check_toml(c.format, text, references_compare_take, &c);
	else
		whole = conf_check_slurm(c.format, text, references_compare_take, &c);
	return fact_bool(whole && !c.too_many);
}
