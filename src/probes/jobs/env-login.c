/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * env-login.c - the variables of /etc/environment. pam_env gives them to login sessions, and so to jobs that start
 * from one: torchrun and mpirun over ssh, and batch scripts of Slurm with --get-user-env, which runs su. The
 * environments of slurmd, of container engines and of the kubelet are not those of jobs: slurmstepd takes the
 * submitter's (Slurm 26.11, src/slurmd/slurmstepd/slurmstepd_job.c), and an engine its own from the image and the request.
 */
#include "probes/jobs/env-login.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parse/process.h"
#include "probes/jobs/logins.h"
#include "probes/processes.h"

#define ENVIRONMENT "/etc/environment"
#define VARIABLES_MAX 1024

static bool is_name(struct span name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!isalnum((unsigned char)name.p[i]) && name.p[i] != '_')
			return false;
	return name.n;
}

/* The quote before the value goes, and one at its end. */
static struct span without_quotes(struct span value)
{
	if (!span_starts(value, "\"") && !span_starts(value, "'"))
		return value;
	value = (struct span){ value.p + 1, value.n - 1 };
	if (span_ends(value, "\"") || span_ends(value, "'"))
		value.n--;
	return value;
}

/* As pam_env reads a line (Linux-PAM, modules/pam_env/pam_env.c, _parse_env_file()). */
static bool cut_variable(struct span line, struct span *name, struct span *value)
{
	static const char export[] = "export ";
	size_t equals;

	line = span_trim((struct span){ line.p, span_find(line, '#') });
	if (span_starts(line, export))
		line = (struct span){ line.p + strlen(export), line.n - strlen(export) };
	equals = span_find(line, '=');
	if (equals == line.n)
		return false;
	*name = (struct span){ line.p, equals };
	*value = without_quotes((struct span){ line.p + equals + 1, line.n - equals - 1 });
	return is_name(*name) && process_variable_matters(*name);
}

static struct env_variable *find_variable(struct env_facts *env, const char *name)
{
	for_each_mut(v, &env->variables)
		if (str_is(v->name, name))
			return v;
	return NULL;
}

/* The last line of a name counts. */
static void take_lines(struct span rest, struct env_facts *answer, struct arena *arena)
{
	struct span line, name, value;
	struct env_variable *variable;

	for (uint64_t number = 1;
	     answer->variables.count < VARIABLES_MAX && span_cut(&rest, '\n', &line); number++) {
		/* A line that continues in the next one is rare: it is left out. */
		if (span_ends(span_trim(line), "\\") || !cut_variable(line, &name, &value))
			continue;
		variable = find_variable(answer, arena_strndup(arena, name.p, name.n));
		if (!variable)
			variable = LIST_ADD(arena, &answer->variables);
		*variable = (struct env_variable){
			.name = fact_strn(arena, name.p, name.n),
			.value = fact_strn(arena, value.p, value.n),
			.file = fact_str(arena, ENVIRONMENT),
			.line = fact_u64(number),
		};
	}
}

static int ask_login_variables(struct host *host, void *facts, struct arena *arena, void *user)
{
	struct env_facts *answer = facts;
	_cleanup_text_ struct text text = { 0 };
	bool reads = false;
	int rc = host_read(host, &text, HOST_FILE_MAX, ENVIRONMENT);

	(void)user;
	if (rc == 0)
		rc = logins_read_environment(host, arena, &reads);
	if (rc)
		return rc;
	answer->variables.state = FACT_KNOWN;
	if (reads)
		take_lines(text_span(&text), answer, arena);
	return 0;
}

/* A session of the user's own has what its login gave it. sudo, su, services and timers drop variables. */
static bool is_own_session(const struct env_facts *env)
{
	return is_known(env->pid) || (is_known(env->login_uid) && is_known(env->uid) &&
				      env->login_uid.value == env->uid.value);
}

static void add_variables(struct probe_context *ctx, const struct env_facts *answer)
{
	struct env_facts *env = &ctx->node->env;

	for_each(v, &answer->variables) {
		struct env_variable *own = find_variable(env, v->name.value);

		if (own && str_is(own->value, v->value.value)) {
			own->file = v->file;
			own->line = v->line;
		} else if (!own && !is_own_session(env)) {
			*LIST_ADD(ctx->arena, &env->variables) = *v;
		}
	}
}

void login_variables_read(struct probe_context *ctx)
{
	struct env_facts *env = &ctx->node->env, answer = { 0 };
	int rc;

	/* No user logs in to a container. */
	if (!is_known(env->variables) || is_known(ctx->node->os.container) ||
	    (ctx->pid && process_is_elsewhere(ctx->host, ctx->pid)))
		return;
	rc = host_query(ctx->host, "variables in " ENVIRONMENT, &env_facts_desc, &answer,
			ctx->arena, ask_login_variables, NULL);
	if (rc == 0)
		add_variables(ctx, &answer);
	/* A capture that was made before this was asked has no answer. */
	if (rc == 0 || rc == -ENOENT || rc == -ENODATA)
		return;
	host_gap_note(ctx->host, ENVIRONMENT, rc, NULL);
	if (!is_own_session(env))
		env->variables.state = FACT_UNKNOWN;
}
