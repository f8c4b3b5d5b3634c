/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * env.c - the process that was asked about, or this one: who it is, what it may do and how its
 * environment configures NCCL, NVSHMEM and their like.
 */
#include <string.h>

#include "parse/process.h"
#include "probe.h"
#include "readers/lines.h"

/* An environment and the arguments share a quarter of the stack at most: 2 MiB by default. */
#define ENVIRON_MAX (4u << 20)
#define VARIABLES_MAX 1024
#define HOME_CONF "~/.nccl.conf"
#define STANDARD_CONF "/etc/nccl.conf"

static void read_status(struct probe_context *ctx, const char *folder)
{
	struct env_facts *env = &ctx->node->env;
	_cleanup_text_ struct text text = { 0 };
	uint64_t value;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, "%s/status", folder);

	if (rc == -ENOENT)
		host_gap_note(ctx->host, folder, -ENODATA,
			      ctx->pid ? "there is no such process"
				       : "no process of the node's own was recorded");
	if (rc)
		return;
	if (process_uid(text_span(&text), &value))
		env->uid = fact_u64(value);
	if (process_capabilities(text_span(&text), &value))
		env->capabilities = fact_u64(value);
	if (!is_known(env->uid) || !is_known(env->capabilities))
		host_gap_note(ctx->host, arena_printf(ctx->arena, "%s/status", folder), -EBADMSG,
			      "no Uid or CapEff line");
}

/* A kernel without user namespaces has only the first. */
static void read_namespace(struct probe_context *ctx, const char *folder)
{
	struct env_facts *env = &ctx->node->env;
	_cleanup_text_ struct text text = { 0 };
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, "%s/uid_map", folder);

	if (rc == 0)
		env->initial_user_namespace =
			fact_bool(process_is_initial_namespace(text_span(&text)));
	else if (rc == -ENOENT && is_known(env->uid))
		env->initial_user_namespace = fact_bool(true);
}

static int compare_variables(const void *a, const void *b)
{
	const struct env_variable *x = a, *y = b;

	return strcmp(x->name.value, y->name.value);
}

/* Environments hold passwords and tokens: only the variables that matter leave this function. */
static int ask_environ(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct env_facts *answer = facts;
	_cleanup_text_ struct text text = { 0 };
	struct span rest, name, value;
	int rc = host_read(host, &text, ENVIRON_MAX, "%s", (const char *)user);

	if (rc)
		return rc;
	answer->variables.state = FACT_KNOWN;
	rest = text_span(&text);
	while (answer->variables.count < VARIABLES_MAX &&
	       process_environ_next(&rest, &name, &value)) {
		struct env_variable *variable;

		if (!process_variable_matters(name))
			continue;
		variable = LIST_ADD(arena, &answer->variables);
		variable->name = fact_strn(arena, name.p, name.n);
		variable->value = fact_strn(arena, value.p, value.n);
	}
	fact_list_sort(&answer->variables, sizeof(answer->variables.items[0]), compare_variables);
	return 0;
}

static void read_variables(struct probe_context *ctx, const char *folder)
{
	struct env_facts *env = &ctx->node->env, answer = { 0 };
	char *path = arena_printf(ctx->arena, "%s/environ", folder);
	int rc = host_query(ctx->host, arena_printf(ctx->arena, "variables in %s", path),
			    &env_facts_desc, &answer, ctx->arena, ask_environ, path);

	if (rc && rc != -ENOENT)
		host_gap_note(ctx->host, path, rc, NULL);
	if (rc)
		return;
	env->variables.state = FACT_KNOWN;
	env->variables.items = answer.variables.items;
	env->variables.count = answer.variables.count;
}

/* ---- libraries ---- */

struct maps {
	struct arena *arena;
	struct env_facts *answer;
};

static bool is_listed(const struct env_facts *answer, struct span path)
{
	for_each (listed, &answer->nccl)
		if (span_is(path, *listed))
			return true;
	return false;
}

/* 7f1e...-7f1e... r-xp 0001a000 fd:00 1234	/usr/lib/x86_64-linux-gnu/libnccl.so.2.28.9 */
static bool map_line(void *user, struct span line)
{
	struct maps *maps = user;
	struct span path = { line.p + span_find(line, '/'), line.n - span_find(line, '/') };

	if (span_search(path, "/libnccl.so") && !is_listed(maps->answer, path))
		*LIST_ADD(maps->arena, &maps->answer->nccl) =
			fact_strn(maps->arena, path.p, path.n).value;
	return true;
}

/* USER is the file. Of thousands of lines a capture keeps these. */
static int ask_maps(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct env_facts *answer = facts;
	struct maps maps = { .arena = arena, .answer = answer };
	_cleanup_close_ int fd = host_open(host, user);

	if (fd < 0)
		return fd;
	answer->nccl.state = FACT_KNOWN;
	return lines_read(fd, map_line, &maps);
}

static void read_maps(struct probe_context *ctx, const char *folder)
{
	struct env_facts *env = &ctx->node->env, answer = { 0 };
	char *path = arena_printf(ctx->arena, "%s/maps", folder);

	if (!ctx->pid) {
		env->nccl.state = FACT_ABSENT;
		return;
	}
	if (host_query(ctx->host, path, &env_facts_desc, &answer, ctx->arena, ask_maps, path))
		return;
	env->nccl.state = FACT_KNOWN;
	env->nccl.items = answer.nccl.items;
	env->nccl.count = answer.nccl.count;
}

/* ---- files that NCCL takes variables from ---- */

/* What is meant by the text before an "=": a shell's "export" and blanks are part of the name for NCCL. */
static struct span meant_name(struct span name)
{
	static const char export[] = "export ";

	name = span_trim(name);
	if (span_starts(name, export))
		name = span_trim((struct span){ name.p + strlen(export), name.n - strlen(export) });
	return name;
}

/* As NCCL reads them (src/misc/param.cc, setEnvFile): NAME=VALUE, and "#" at the beginning alone is
 * a comment. A job can name any file: again only the variables that matter leave this function. */
static int read_settings(struct host *host, struct env_facts *answer, struct arena *arena,
			 const char *path, const char *shown)
{
	_cleanup_text_ struct text text = { 0 };
	struct span rest, line;
	uint64_t number = 0;
	int rc = host_read(host, &text, HOST_FILE_MAX, "%s", path);

	if (rc)
		return rc;
	answer->nccl_conf.state = FACT_KNOWN;
	rest = text_span(&text);
	while (span_cut(&rest, '\n', &line) && answer->nccl_conf.count < VARIABLES_MAX) {
		size_t equals = span_find(line, '=');
		struct span name = { line.p, equals };
		struct env_setting *setting;

		number++;
		if (equals == line.n || span_starts(line, "#") ||
		    !process_variable_matters(meant_name(name)))
			continue;
		setting = LIST_ADD(arena, &answer->nccl_conf);
		setting->name = fact_strn(arena, name.p, name.n);
		setting->value = fact_strn(arena, line.p + equals + 1, line.n - equals - 1);
		setting->file = fact_str(arena, shown);
		setting->line = fact_u64(number);
	}
	return 0;
}

static int ask_conf(struct host *host, void *facts, struct arena *arena, void *user)
{
	return read_settings(host, facts, arena, user, user);
}

/* The name of a home is its owner's: the path does not leave this function. USER is the folder of the process.
 * NCCL asks for its user's home in passwd, which HOME mostly is. */
static int ask_home(struct host *host, void *facts, struct arena *arena, void *user)
{
	_cleanup_text_ struct text text = { 0 };
	struct span rest, name, value;
	int rc = host_read(host, &text, ENVIRON_MAX, "%s/environ", (const char *)user);

	rest = text_span(&text);
	while (rc == 0 && process_environ_next(&rest, &name, &value))
		if (span_is(name, "HOME") && span_starts(value, "/"))
			return read_settings(host, facts, arena,
					     arena_printf(arena, "%.*s/.nccl.conf", SPAN_FMT(value)), HOME_CONF);
	return rc ? rc : -ENOENT;
}

static int add_settings(struct probe_context *ctx, const char *path, host_ask *ask, const char *user)
{
	struct env_facts *env = &ctx->node->env, answer = { 0 };
	int rc = host_query(ctx->host, arena_printf(ctx->arena, "variables in %s", path), &env_facts_desc,
			    &answer, ctx->arena, ask, arena_printf(ctx->arena, "%s", user));

	if (rc && rc != -ENOENT)
		host_gap_note(ctx->host, path, rc, NULL);
	if (rc)
		return rc;
	env->nccl_conf.state = FACT_KNOWN;
	for_each(setting, &answer.nccl_conf)
		*LIST_ADD(ctx->arena, &env->nccl_conf) = *setting;
	return 0;
}

static int read_first(struct probe_context *ctx, const char *folder)
{
	const char *own = node_env(ctx->node, "NCCL_CONF_FILE");
	int rc;

	if (own && *own)
		return *own == '/' ? add_settings(ctx, own, ask_conf, own) : -ENOENT;
	rc = add_settings(ctx, HOME_CONF, ask_home, folder);
	/* A copy of a node has nobody's home. */
	return rc == -ENODATA ? -ENOENT : rc;
}

static void read_nccl_conf(struct probe_context *ctx, const char *folder)
{
	struct env_facts *env = &ctx->node->env;
	int first = read_first(ctx, folder);
	int standard = add_settings(ctx, STANDARD_CONF, ask_conf, STANDARD_CONF);

	if ((first && first != -ENOENT) || (standard && standard != -ENOENT))
		env->nccl_conf.state = FACT_UNKNOWN;
	else if (first && standard)
		env->nccl_conf.state = FACT_ABSENT;
}

static void run(struct probe_context *ctx)
{
	struct env_facts *env = &ctx->node->env;
	char folder[32] = "/proc/self";

	env->pid.state = FACT_ABSENT;
	if (ctx->pid) {
		snprintf(folder, sizeof(folder), "/proc/%d", ctx->pid);
		env->pid = fact_u64((uint64_t)ctx->pid);
	}
	read_status(ctx, folder);
	read_namespace(ctx, folder);
	read_variables(ctx, folder);
	read_maps(ctx, folder);
	read_nccl_conf(ctx, folder);
}

const struct probe probe_env = {
	.name = "env",
	.phase = 1,
	PROBE_SECTION(env),
	.run = run,
	.brief = run,
};
