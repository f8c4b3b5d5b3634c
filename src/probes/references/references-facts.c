/* SPDX-License-Identifier: GPL-2.0-or-later */
/* references-facts.c - names in files that other probes have read: modules-load.d, modprobe.d, the job's variables
 * and NCCL's files. */
#include <string.h>

#include "probes/processes.h"
#include "probes/references/references.h"
#include "query/node-find.h"

static struct reference *references_facts_add(struct probe_context *ctx,
					      enum reference_format format,
					      enum reference_kind kind, const char *role,
					      const char *name, struct fact_str file,
					      struct fact_u64 line)
{
	struct references_facts *all = &ctx->node->references;
	struct reference *r;

	if (all->items.count == REFERENCES_MAX) {
		all->complete = fact_bool(false);
		return NULL;
	}
	r = LIST_ADD(ctx->arena, &all->items);
	*r = (struct reference){ .name = fact_str(ctx->arena, name),
				 .kind = fact_enum(kind),
				 .format = fact_enum(format),
				 .role = fact_str(ctx->arena, role),
				 .claim = FACT_NONE(fact_str),
				 .file = file,
				 .line = line };
	return r;
}

static bool has_file(const struct references_facts *all, struct fact_str path)
{
	for_each(f, &all->files)
		if (str_is(f->path, path.value))
			return true;
	return false;
}

static void add_file(struct probe_context *ctx, enum reference_format format, struct fact_str path,
		     bool complete)
{
	struct references_facts *all = &ctx->node->references;
	struct reference_file *file;

	if (has_file(all, path))
		return;
	file = LIST_ADD(ctx->arena, &all->files);
	file->path = path;
	file->format = fact_enum(format);
	file->complete = fact_bool(complete);
	file->compared = FACT_NONE(fact_bool);
}

static void read_at_boot(struct probe_context *ctx)
{
	for_each(m, &ctx->node->modules.at_boot) {
		add_file(ctx, REFERENCE_MODULES_LOAD, m->file, true);
		references_facts_add(ctx, REFERENCE_MODULES_LOAD, REFERENCE_MODULE, "load",
				     m->name.value, m->file, m->line);
	}
}

/* ---- modprobe.d ---- */

static void add_modules(struct probe_context *ctx, const struct modprobe_command *c)
{
	struct span rest = span_of(c->text.value), word;

	while (span_word(&rest, &word))
		if (!span_ends(word, ":"))
			references_facts_add(ctx, REFERENCE_MODPROBE, REFERENCE_MODULE, "softdep",
					     arena_strndup(ctx->arena, word.p, word.n), c->file,
					     c->line);
}

/* "alias nvidia off" makes modprobe look for a module named off. */
static void add_alias(struct probe_context *ctx, const struct modprobe_command *c)
{
	struct reference *r = references_facts_add(ctx, REFERENCE_MODPROBE, REFERENCE_MODULE,
						   "alias", c->module.value, c->file, c->line);

	if (r)
		r->claim = c->text;
}

/* The command is a shell's. Only its first word is looked at, and only where it is a path. */
static void add_install(struct probe_context *ctx, const struct modprobe_command *c)
{
	struct span rest = span_of(c->text.value), word;
	struct reference *r;

	if (!span_word(&rest, &word) || word.p[0] != '/' || memchr(word.p, ';', word.n) ||
	    memchr(word.p, '$', word.n))
		return;
	r = references_facts_add(ctx, REFERENCE_MODPROBE, REFERENCE_PROGRAM, "install",
				 arena_strndup(ctx->arena, word.p, word.n), c->file, c->line);
	if (r)
		r->claim = c->module;
}

static void read_modprobe(struct probe_context *ctx)
{
	const struct modprobe_facts *modprobe = &ctx->node->modprobe;

	for_each(c, &modprobe->softdep)
		add_modules(ctx, c);
	for_each(c, &modprobe->alias)
		add_alias(ctx, c);
	for_each(c, &modprobe->install)
		add_install(ctx, c);
	for_each(r, &ctx->node->references.items)
		if (known_is(r->format, REFERENCE_MODPROBE))
			add_file(ctx, REFERENCE_MODPROBE, r->file, true);
}

/* ---- the job's variables ---- */

/* Variables that name a file which is read (NCCL 2.30: src/graph/topo.cc, search.cc, misc/param.cc,
 * plugins/tuner/example/plugin.c; NVSHMEM 3.5: src/host/bootstrap/bootstrap_loader.cpp). */
static const char *const file_variables[] = { "NCCL_TOPO_FILE",		  "NCCL_GRAPH_FILE",
					      "NCCL_CONF_FILE",		  "NCCL_TUNER_CONFIG_FILE",
					      "NVSHMEM_BOOTSTRAP_PLUGIN", NULL };

static bool names_file(struct fact_str variable)
{
	for (const char *const *name = file_variables; *name; name++)
		if (str_is(variable, *name))
			return true;
	return false;
}

static void read_environment(struct probe_context *ctx)
{
	const struct env_facts *env = &ctx->node->env;
	/* A path of a process in a container is not one of the node's. */
	bool elsewhere = ctx->pid && process_is_elsewhere(ctx->host, ctx->pid);
	struct fact_str process_file = fact_str(
		ctx->arena, ctx->pid ? arena_printf(ctx->arena, "/proc/%d/environ", (int)ctx->pid)
				     : "/proc/self/environ");

	for_each(v, &env->variables)
		if (names_file(v->name) && v->value.value[0] == '/') {
			add_file(ctx, REFERENCE_ENVIRONMENT, process_file, !elsewhere);
			references_facts_add(ctx, REFERENCE_ENVIRONMENT, REFERENCE_FILE,
					     v->name.value, v->value.value, process_file,
					     FACT_NONE(fact_u64));
		}
	/* The environment overrides the files. */
	for_each(s, &env->nccl_conf)
		if (names_file(s->name) && s->value.value[0] == '/' &&
		    !node_env(ctx->node, s->name.value)) {
			add_file(ctx, REFERENCE_ENVIRONMENT, s->file, !elsewhere);
			references_facts_add(ctx, REFERENCE_ENVIRONMENT, REFERENCE_FILE,
					     s->name.value, s->value.value, s->file, s->line);
		}
	if (elsewhere)
		host_gap_note(ctx->host, process_file.value, -EXDEV, PROCESS_IS_ELSEWHERE);
}

void references_from_facts(struct probe_context *ctx)
{
	read_at_boot(ctx);
	read_modprobe(ctx);
	read_environment(ctx);
}
