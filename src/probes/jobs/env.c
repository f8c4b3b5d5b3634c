/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * env.c - the process that was asked about, or this one: who it is, what it may do and how its
 * environment configures NCCL, NVSHMEM and their like.
 */
#include <errno.h>
#include <string.h>

#include "parse/cpulist.h"
#include "parse/field.h"
#include "parse/process.h"
#include "parse/unit.h"
#include "parse/virt.h"
#include "probes/jobs/env-cache.h"
#include "probes/jobs/env-conf.h"
#include "probes/jobs/env-login.h"
#include "probes/log/log-lines.h"
#include "probes/probe.h"
#include "probes/processes.h"
#include "query/node-find.h"

#define VARIABLES_MAX 1024

/* USER is the real one. */
static void read_status(struct probe_context *ctx, const char *folder, struct fact_u64 *user)
{
	struct env_facts *env = &ctx->node->env;
	_cleanup_text_ struct text text = { 0 };
	uint64_t value, real;
	struct cpulist list;
	struct span cpus;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, "%s/status", folder);

	if (rc == -ENOENT)
		host_gap_note(ctx->host, folder, -ENODATA,
			      ctx->pid ? "there is no such process"
				       : "no process of the node's own was recorded");
	if (rc)
		return;
	if (process_uids(text_span(&text), &real, &value)) {
		*user = fact_u64(real);
		env->uid = fact_u64(value);
	}
	if (process_capabilities(text_span(&text), "CapEff:", &value))
		env->capabilities = fact_u64(value);
	if (process_capabilities(text_span(&text), "CapBnd:", &value))
		env->bounding = fact_u64(value);
	if (process_number(text_span(&text), "Seccomp:", &value) && value <= SECCOMP_FILTER)
		env->seccomp = fact_enum((int)value);
	if (!ctx->preflight && field_find(text_span(&text), ':', "Cpus_allowed_list", &cpus) &&
	    cpulist_parse(cpus, &list) == 0 && list.count)
		env->cpus = probe_span(ctx, span_trim(cpus));
	if (!is_known(env->uid) || !is_known(env->capabilities))
		host_gap_note(ctx->host, arena_printf(ctx->arena, "%s/status", folder), -EBADMSG,
			      "no Uid or CapEff line");
}

/* A process without a login has -1 (proc(5)). Kernels without audit have no such file, and a copy
 * may lack it: then systemd's slice tells. */
static void read_login(struct probe_context *ctx, const char *folder)
{
	struct fact_u64 *login = &ctx->node->env.login_uid;
	_cleanup_text_ struct text text = { 0 };
	uint64_t value;

	if (host_read(ctx->host, &text, HOST_FILE_MAX, "%s/loginuid", folder) == 0 &&
	    span_u64(span_trim(text_span(&text)), 10, &value) == 0) {
		*login = value == UINT32_MAX ? FACT_NONE(fact_u64) : fact_u64(value);
		return;
	}
	text_free(&text);
	text = (struct text){ 0 };
	if (host_read(ctx->host, &text, HOST_FILE_MAX, "%s/cgroup", folder) == 0 &&
	    unit_user_of_cgroup(text_span(&text), &value))
		*login = fact_u64(value);
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

/* Below a control group namespace a process sees "/" as its own, and no container. */
static void read_container(struct probe_context *ctx, const char *folder)
{
	struct fact_str *container = &ctx->node->env.container;
	_cleanup_text_ struct text text = { 0 };
	const char *word;
	int rc = host_read(ctx->host, &text, HOST_FILE_MAX, "%s/cgroup", folder);

	if (rc)
		return;
	container->state = FACT_ABSENT;
	word = container_from_cgroup(text_span(&text));
	if (word)
		*container = fact_str(ctx->arena, word);
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
	int rc = process_read_environ(host, &text, user);

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
			    &env_facts_desc, &answer, ctx->arena, ask_environ,
			    arena_strdup(ctx->arena, folder));

	if (rc && rc != -ENOENT)
		host_gap_note(ctx->host, path, rc, process_environ_error(rc));
	if (rc)
		return;
	env->variables.state = FACT_KNOWN;
	env->variables.items = answer.variables.items;
	env->variables.count = answer.variables.count;
	for_each_mut(v, &env->variables) {
		v->file.state = FACT_ABSENT;
		v->line.state = FACT_ABSENT;
	}
}

/* ---- libraries ---- */

struct maps {
	struct arena *arena;
	struct env_facts *answer;
};

static bool is_listed(const struct env_facts *answer, struct span path)
{
	for_each(listed, &answer->nccl)
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
		*LIST_ADD(maps->arena,
			  &maps->answer->nccl) = fact_strn(maps->arena, path.p, path.n).value;
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

/* ---- the topology ---- */

/* NCCL: src/graph/topo.cc, ncclTopoGetSystem() */
#define VIRTUAL_TOPOLOGY "/var/run/nvidia-topologyd/virtualTopology.xml"

/* NULL: it is not known which. The environment overrides the files, the first of those over the
 * second. */
static const char *topology_path(const struct node *node)
{
	const char *path = node_env(node, "NCCL_TOPO_FILE");

	if (path || !is_known(node->env.variables) || is_unknown(node->env.nccl_conf))
		return path;
	for_each(setting, &node->env.nccl_conf)
		if (str_is(setting->name, "NCCL_TOPO_FILE"))
			return setting->value.value;
	return VIRTUAL_TOPOLOGY;
}

static void read_topology(struct probe_context *ctx)
{
	struct fact_str *topology = &ctx->node->env.nccl_topology;
	const char *path = topology_path(ctx->node);
	struct host_stat stat;
	int rc;

	/* A relative path is of the folder that the process is in. */
	if (!path || *path != '/')
		return;
	if (ctx->pid && process_is_elsewhere(ctx->host, ctx->pid)) {
		host_gap_note(ctx->host, path, -EXDEV, PROCESS_IS_ELSEWHERE);
		return;
	}
	rc = host_stat(ctx->host, &stat, "%s", path);
	if (rc == 0)
		*topology = fact_str(ctx->arena, path);
	else
		topology->state = probe_state(rc);
}

static void env_run(struct probe_context *ctx)
{
	struct env_facts *env = &ctx->node->env;
	struct fact_u64 user = { 0 };
	char folder[32] = "/proc/self";

	env->pid.state = FACT_ABSENT;
	if (ctx->pid) {
		snprintf(folder, sizeof(folder), "/proc/%d", ctx->pid);
		env->pid = fact_u64((uint64_t)ctx->pid);
	}
	read_status(ctx, folder, &user);
	read_namespace(ctx, folder);
	read_login(ctx, folder);
	read_variables(ctx, folder);
	if (!ctx->preflight) {
		login_variables_read(ctx);
		fact_list_sort(&env->variables, sizeof(env->variables.items[0]), compare_variables);
	}
	read_maps(ctx, folder);
	nccl_conf_read(ctx, folder, user);
	nvshmem_conf_read(ctx, folder);
	if (ctx->preflight)
		return;
	read_container(ctx, folder);
	read_topology(ctx);
	env_cache_read(ctx, folder);
}

const struct probe probe_env = {
	.name = "env",
	.phase = PHASE_ALONE,
	.needs = NEEDS_PROCESSES,
	.is_running = true,
	PROBE_SECTION(env),
	.run = env_run,
	.preflight = { .run = env_run },
};
