/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references-slurm.c - the names in gres.conf for this node: device files and cores, and the library that finds the
 * GPUs with AutoDetect=nvml (Slurm 25.11: src/interfaces/gres.c, gpu.c; gres.conf(5)).
 */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "parse/gres.h"
#include "parse/unit.h"
#include "probes/references.h"

#define FILES_MAX 256
#define NODES_MAX 65536

/* ---- is a line for this node? ---- */

struct names_search {
	const char *hostname;
	bool found;
};

/* NodeName= has short names. */
static bool is_host(void *user, const char *name)
{
	struct names_search *s = user;

	s->found = strcmp(name, s->hostname) == 0;
	return !s->found;
}

/* 1, 0, or negative where the list or the host's name is not understood. */
static int is_for_us(struct references *refs, struct span nodes)
{
	const struct fact_str hostname = refs->node->os.hostname;
	struct names_search s = { 0 };
	int rc;

	if (!nodes.n || span_is(nodes, "ALL"))
		return 1;
	if (!is_known(hostname))
		return -1;
	s.hostname = arena_strndup(refs->arena, hostname.value, strcspn(hostname.value, "."));
	rc = hostlist_expand(nodes, NODES_MAX, is_host, &s);
	return s.found ? 1 : rc;
}

/* ---- what it names ---- */

struct files {
	struct references *refs;
	size_t line;
};

static bool add_file(void *user, const char *name)
{
	struct files *f = user;

	reference_add(f->refs, REFERENCE_DEVICE, "File", span_of(name), NULL, f->line);
	return true;
}

static bool value_is(struct span value, const char *word)
{
	return value.n == strlen(word) && strncasecmp(value.p, word, value.n) == 0;
}

/* A word of a line for this node stands over one for all. */
struct autodetect {
	struct span word;
	size_t line;
	bool own;
};

static void take_line(struct references *refs, const struct gres_line *line, struct autodetect *how)
{
	struct files files = { refs, line->line };

	if (line->autodetect.n && (!how->own || line->nodes.n))
		*how = (struct autodetect){ line->autodetect, line->line, line->nodes.n > 0 };
	if (line->file.n && hostlist_expand(line->file, FILES_MAX, add_file, &files))
		refs->complete = false;
	if (line->cores.n)
		reference_add(refs, REFERENCE_PROCESSOR, "Cores", line->cores, NULL, line->line);
}

/* ---- settings of slurm.conf and cgroup.conf ---- */

static void take_setting(struct references *refs, const struct unit_assignment *a)
{
	static const char *const keys[] = { SLURM_GRES_TYPES, SLURM_TASK_PLUGIN, SLURM_DEVICES };
	struct span value = a->value;

	value.n = span_find(value, '#');
	value = span_trim(value);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct reference *item;

		if (!value_is(a->key, keys[i]) || !value.n)
			continue;
		item = reference_add(refs, REFERENCE_VALUE, keys[i], value, NULL, a->line);
		if (item)
			item->found = item->name;
	}
}

void reference_read_slurm_settings(struct references *refs, struct span text)
{
	struct unit_reader reader = { .rest = text };
	struct unit_assignment a;

	while (unit_next(&reader, &a))
		take_setting(refs, &a);
}

/* ---- plugstack.conf: "required /usr/lib/slurm/spank_pyxis.so KEY=VALUE" (Slurm 26.05: src/common/spank.c) ---- */

void reference_read_spank(struct references *refs, struct span text)
{
	struct span line, type, path;

	for (size_t number = 1; span_cut(&text, '\n', &line); number++) {
		line.n = span_find(line, '#');
		if (!span_word(&line, &type) || !span_word(&line, &path))
			continue;
		/* Without a slash it is looked for in PluginDir. */
		if ((span_is(type, SPANK_REQUIRED) || span_is(type, "optional")) &&
		    path.p[0] == '/')
			reference_add(refs, REFERENCE_FILE,
				      arena_strndup(refs->arena, type.p, type.n), path, NULL,
				      number);
	}
}

/* The lines of slurm.conf that are about this node: what it is said to have at least. */
void reference_read_slurm(struct references *refs, struct span text)
{
	struct gres_reader reader = { .rest = text };
	struct gres_line line;
	uint64_t count;

	reference_read_slurm_settings(refs, text);
	while (gres_next(&reader, &line)) {
		int ours = line.nodes.n && !span_is(line.nodes, "DEFAULT")
				   ? is_for_us(refs, line.nodes)
				   : 0;

		if (line.include.n || ours < 0)
			refs->complete = false;
		if (ours <= 0)
			continue;
		if (gres_count_gpus(line.gres, &count))
			reference_add(refs, REFERENCE_AMOUNT, "Gres", line.gres,
				      arena_printf(refs->arena, "%" PRIu64, count), line.line);
		if (line.memory.n && span_u64(line.memory, 10, &count) == 0)
			reference_add(refs, REFERENCE_AMOUNT, "RealMemory", line.memory,
				      arena_printf(refs->arena, "%" PRIu64, count), line.line);
	}
}

void reference_read_gres(struct references *refs, struct span text)
{
	struct gres_reader reader = { .rest = text };
	struct autodetect how = { 0 };
	struct gres_line line;

	while (gres_next(&reader, &line)) {
		int ours = is_for_us(refs, line.nodes);

		if (line.include.n || ours < 0)
			refs->complete = false;
		if (ours > 0)
			take_line(refs, &line, &how);
	}
	if (!value_is(how.word, "nvml"))
		return;
	reference_add(refs, REFERENCE_LIBRARY, "AutoDetect", SPAN("libnvidia-ml.so"), NULL,
		      how.line);
	reference_add(refs, REFERENCE_LIBRARY, "AutoDetect", SPAN("libnvidia-ml.so.1"), NULL,
		      how.line);
}
