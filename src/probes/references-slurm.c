/* SPDX-License-Identifier: GPL-2.0-or-later */
/* references-slurm.c - what gres.conf names on this node: device files and cores, and the library that finds the
 * GPUs with AutoDetect=nvml (Slurm 25.11: src/interfaces/gres.c, gpu.c; gres.conf(5)). */
#include <string.h>
#include <strings.h>

#include "parse/gres.h"
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
