/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * references.c - files that name devices, modules, programs, interfaces and numbers of the node, and whether
 * those are there. Of the files nothing else leaves this probe: some can hold passwords.
 */
#include "probes/references/references.h"

#include <string.h>

#include "probes/conf-d.h"

/* ---- what a file names ---- */

static bool is_same(const struct reference *r, enum reference_kind kind, const char *role,
		    struct span name, const char *claim)
{
	return known_is(r->kind, (int)kind) && str_is(r->role, role) &&
	       span_is(name, r->name.value) &&
	       same_text(is_known(r->claim) ? r->claim.value : NULL, claim);
}

struct reference *reference_add(struct references *refs, enum reference_kind kind, const char *role,
				struct span name, const char *claim, size_t line)
{
	struct reference *item;

	for_each_mut(r, &refs->facts->items)
		if (is_same(r, kind, role, name, claim))
			return r;
	if (refs->facts->items.count == REFERENCES_OF_FILE_MAX) {
		refs->complete = false;
		return NULL;
	}
	item = LIST_ADD(refs->arena, &refs->facts->items);
	item->name = fact_strn(refs->arena, name.p, name.n);
	item->kind = fact_enum(kind);
	item->format = fact_enum(refs->format);
	item->role = fact_str(refs->arena, role);
	item->claim = claim ? fact_str(refs->arena, claim) : FACT_NONE(fact_str);
	item->file = fact_str(refs->arena, refs->file);
	item->line = line ? fact_u64(line) : FACT_NONE(fact_u64);
	return item;
}

void reference_forget(struct references *refs, const char *role)
{
	struct references_facts *facts = refs->facts;
	uint32_t kept = 0;

	if (!facts->items.count)
		return;
	for (uint32_t i = 0; i < facts->items.count; i++)
		if (!str_is(facts->items.items[i].role, role))
			facts->items.items[kept++] = facts->items.items[i];
	memset(&facts->items.items[kept], 0,
	       (facts->items.count - kept) * sizeof(facts->items.items[0]));
	facts->items.count = kept;
}

/* ---- the files ---- */

struct question {
	const struct reference_source *source;
	const struct node *node;
	const char *path;
};

static int references_ask(struct host *host, void *facts, struct arena *arena, void *user)
{
	const struct question *q = user;
	struct references_facts *answer = facts;
	struct references refs = { .arena = arena,
				   .host = host,
				   .node = q->node,
				   .facts = answer,
				   .file = q->path,
				   .format = q->source->format,
				   .complete = true };
	_cleanup_text_ struct text text = { 0 };
	int rc = host_read(host, &text, REFERENCE_TEXT_MAX, "%s", q->path);

	if (rc)
		return rc;
	answer->gres.state = FACT_KNOWN;
	answer->faults.state = FACT_KNOWN;
	q->source->read(&refs, text_span(&text));
	answer->complete = fact_bool(refs.complete);
	/* What was compared is said of the file, in the only row of this list. */
	LIST_ADD(arena, &answer->files)->compared = references_compare(&refs, text_span(&text));
	return refs.error;
}

static void take_over(struct probe_context *ctx, const struct question *q,
		      const struct references_facts *answer)
{
	struct references_facts *all = &ctx->node->references;
	struct reference_file *file = LIST_ADD(ctx->arena, &all->files);

	file->path = fact_str(ctx->arena, q->path);
	file->format = fact_enum(q->source->format);
	file->complete = answer->complete;
	if (answer->files.count)
		file->compared = answer->files.items[0].compared;
	/* A capture of an earlier release has no such list. */
	if (q->source->format == REFERENCE_GRES && is_known(answer->complete) &&
	    is_unknown(answer->gres))
		all->gres.state = FACT_UNKNOWN;
	for_each(g, &answer->gres)
		*LIST_ADD(ctx->arena, &all->gres) = *g;
	for_each(f, &answer->faults)
		*LIST_ADD(ctx->arena, &all->faults) = *f;
	for_each(r, &answer->items) {
		if (all->items.count == REFERENCES_MAX) {
			host_gap_note(ctx->host, q->path, -EOVERFLOW,
				      "files name more than 4096 things");
			file->complete = fact_bool(false);
			return;
		}
		*LIST_ADD(ctx->arena, &all->items) = *r;
	}
}

/* A file that is not there names nothing. */
static void read_file(struct probe_context *ctx, const struct reference_source *source,
		      const char *path)
{
	struct question q = { source, ctx->node, path };
	struct references_facts answer = { 0 };
	int rc = host_exists(ctx->host, path)
			 ? host_query(ctx->host, arena_printf(ctx->arena, "names in %s", path),
				      &references_facts_desc, &answer, ctx->arena, references_ask,
				      &q)
			 : -ENOENT;

	if (rc == -ENOENT || rc == -ENODATA)
		return;
	/* The file exists but could not be understood, which a rule reports. */
	if (rc)
		host_gap_note(ctx->host, path, rc,
			      rc == -ELIBACC ? "libyaml is not installed" : strerror(-rc));
	take_over(ctx, &q, &answer);
}

static void note_error(struct probe_context *ctx, int rc)
{
	if (rc && rc != -ENOENT && rc != -ENODATA)
		ctx->node->references.complete = fact_bool(false);
}

static void read_folder(struct probe_context *ctx, const struct reference_source *source,
			const char *folder)
{
	_cleanup_names_ struct names names = { 0 };

	note_error(ctx, host_list(ctx->host, &names, "%s", folder));
	for (size_t i = 0; i < names.count; i++)
		if (span_ends(span_of(names.items[i]), source->suffix))
			read_file(ctx, source,
				  arena_printf(ctx->arena, "%s/%s", folder, names.items[i]));
}

static void read_conf_d(struct probe_context *ctx, const struct reference_source *source)
{
	struct conf_d *list = arena_alloc(ctx->arena, sizeof(*list));

	conf_d_list(ctx->host, ctx->arena,
		    conf_d_folders(ctx->host, ctx->arena, source->first, source->last),
		    source->suffix, list);
	note_error(ctx, list->error);
	for (size_t i = 0; i < list->count; i++)
		read_file(ctx, source, conf_d_path(ctx->arena, &list->items[i]));
}

static void read_source(struct probe_context *ctx, const struct reference_source *source)
{
	if (source->last)
		read_conf_d(ctx, source);
	for (size_t i = 0; source->paths && source->paths[i]; i++)
		if (source->suffix)
			read_folder(ctx, source, source->paths[i]);
		else
			read_file(ctx, source, source->paths[i]);
}

/* Reads the topology file of the job: env.nccl_topology. */
static void read_topology(struct probe_context *ctx)
{
	static const struct reference_source source = { .format = REFERENCE_TOPOLOGY,
							.read = reference_read_topology };
	const struct fact_str *path = &ctx->node->env.nccl_topology;

	if (!is_known(*path))
		return;
	host_distrust_names(ctx->host, true);
	read_file(ctx, &source, path->value);
	host_distrust_names(ctx->host, false);
}

static int compare_files(const void *a, const void *b)
{
	return strcmp(((const struct reference_file *)a)->path.value,
		      ((const struct reference_file *)b)->path.value);
}

static void references_run(struct probe_context *ctx)
{
	struct references_facts *all = &ctx->node->references;
	struct host_stat stat;

	/* Without /etc nothing could have been found. */
	if (host_stat(ctx->host, &stat, "/etc"))
		return;
	all->complete = fact_bool(true);
	all->files.state = FACT_KNOWN;
	all->items.state = FACT_KNOWN;
	all->gres.state = FACT_KNOWN;
	all->faults.state = FACT_KNOWN;
	for (const struct reference_source *s = reference_sources; s->read; s++)
		read_source(ctx, s);
	read_topology(ctx);
	references_from_facts(ctx);
	references_from_units(ctx);
	references_from_numbers(ctx);
	references_find_skipped(ctx);
	references_find(ctx);
	references_from_slurm(ctx);
	fact_list_sort(&all->files, sizeof(all->files.items[0]), compare_files);
}

const struct probe probe_references = {
	.name = "references",
	.phase = PHASE_THIRD,
	.needs = NEEDS_PROCESSES,
	PROBE_SECTION(references),
	.run = references_run,
};
